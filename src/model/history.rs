//! What stands around an observation.

use serde::Serialize;

use super::{Draft, Timestamp};

/// What an observation said before an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// When it was edited.
    pub until: Timestamp,
    /// What it said.
    #[serde(flatten)]
    pub draft: Draft,
}

/// The observations that point to one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Links {
    /// Those that it took the place of.
    pub supersedes: Vec<i64>,
    /// Those that wait for review because of it.
    pub contested_by: Vec<i64>,
}
