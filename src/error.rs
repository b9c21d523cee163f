//! The one error that reaches the command line: what failed, why, and what to do about it.

use std::fmt;

/// Fixes the exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The command was called in a way that it does not understand (exit code 2).
    Usage,
    /// The command understood the call and could not do it (exit code 1).
    Failed,
}

/// A failure as a person reads it: `cmem: {what}: {why}: {hint}`.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    what: String,
    why: String,
    hint: String,
}

impl Failure {
    /// A command that could not do its work.
    pub fn new(what: impl Into<String>, why: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, what: what.into(), why: why.to_string(), hint: hint.into() }
    }

    /// A call with a wrong value; `hint` names the allowed ones.
    pub fn usage(what: impl Into<String>, why: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { kind: Kind::Usage, ..Self::new(what, why, hint) }
    }

    /// The same failure with one more thing to do, or to know.
    #[must_use]
    pub fn with_hint(&self, more: &str) -> Self {
        let hint = if self.hint.is_empty() { more.to_owned() } else { format!("{}; {more}", self.hint) };
        Self { kind: self.kind, what: self.what.clone(), why: self.why.clone(), hint }
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.what, self.why, self.hint)
    }
}

impl std::error::Error for Failure {}
