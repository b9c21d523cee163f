//! What stands around an observation.

use serde::{Deserialize, Serialize};

use super::{Draft, Timestamp};

/// What an observation said before an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// When it was edited.
    pub until: Timestamp,
    /// What it said.
    #[serde(flatten)]
    pub draft: Draft,
}

/// The observations that one belongs together with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Links {
    /// Those that it took the place of.
    pub supersedes: Vec<i64>,
    /// Those that wait for review because of it.
    pub contested_by: Vec<i64>,
    /// Those that it was put together from, oldest first.
    pub put_together_from: Vec<i64>,
    /// Those that were put together from it.
    pub put_together_into: Vec<i64>,
}
