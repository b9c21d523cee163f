//! Ids as people type them: `123` (observation), `S12` (summary), `P7` (prompt).

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The id of one record in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordId {
    /// `123`
    Observation(i64),
    /// `S12`
    Summary(i64),
    /// `P7`
    Prompt(i64),
}

/// The text is not an id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not an id (an observation is 123, a summary S12, a prompt P7)")]
pub struct ParseRecordIdError(String);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Observation(n) => write!(f, "{n}"),
            Self::Summary(n) => write!(f, "S{n}"),
            Self::Prompt(n) => write!(f, "P{n}"),
        }
    }
}

impl FromStr for RecordId {
    type Err = ParseRecordIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim().trim_start_matches('#');
        let (build, digits): (fn(i64) -> Self, &str) = match trimmed.as_bytes().first() {
            Some(b'S' | b's') => (Self::Summary, &trimmed[1..]),
            Some(b'P' | b'p') => (Self::Prompt, &trimmed[1..]),
            _ => (Self::Observation, trimmed),
        };
        match digits.parse::<i64>() {
            Ok(n) if n > 0 && digits.bytes().all(|b| b.is_ascii_digit()) => Ok(build(n)),
            _ => Err(ParseRecordIdError(text.to_owned())),
        }
    }
}

impl Serialize for RecordId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Observation(n) => serializer.serialize_i64(*n),
            other => serializer.collect_str(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for id in [RecordId::Observation(123), RecordId::Summary(12), RecordId::Prompt(7)] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        assert_eq!(" #25 ".parse(), Ok(RecordId::Observation(25)));
        assert_eq!("#S4".parse(), Ok(RecordId::Summary(4)));
    }

    #[test]
    fn refuses_what_is_not_an_id() {
        for text in ["", "S", "0", "-3", "+3", "12x", "S-1", "1.5", "日"] {
            assert!(text.parse::<RecordId>().is_err(), "{text}");
        }
    }
}
