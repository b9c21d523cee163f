//! What became of an import.

use serde::Serialize;

/// What became of the records of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Added.
    pub new: u64,
    /// Here already, and something of it was taken over.
    pub changed: u64,
    /// Here already, just so.
    pub unchanged: u64,
}

/// One record that was not taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: `line 12`, or a file.
    pub at: String,
    /// What is wrong, and what to do.
    pub why: String,
}

/// What became of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Projects that were not known.
    pub projects: u64,
    /// Observations.
    pub observations: Tally,
    /// Of the unchanged observations those that are here under another uid, saying the same.
    pub same_text: u64,
    /// Summaries.
    pub summaries: Tally,
    /// Prompts.
    pub prompts: Tally,
    /// Pointers to observations that are not here.
    pub unresolved: u64,
    /// Observations archived because their file was deleted.
    pub archived: u64,
    /// Observations that wait for a decision, because both sides changed them.
    pub review: u64,
    /// Records that were not taken in.
    pub failed: u64,
    /// The first of those.
    pub problems: Vec<Problem>,
}

/// Problems that are told one by one.
const TOLD: usize = 100;

impl Report {
    /// Counts a record that was not taken in.
    pub(super) fn problem(&mut self, at: impl Into<String>, why: impl Into<String>) {
        self.failed += 1;
        if self.problems.len() < TOLD {
            self.problems.push(Problem { at: at.into(), why: why.into() });
        }
    }
}
