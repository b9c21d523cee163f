//! What others keep, taken over: the database of claude-mem, and what Claude Code itself keeps of its sessions.
//! Reads there and never writes.

mod cells;
pub mod claude_code;
pub mod claude_mem;
mod copy;

use std::path::PathBuf;

/// Most row errors that are told one by one; all are counted.
const MOST_TOLD: usize = 100;

/// Something that could not be taken over.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Where it stands: a table or a file.
    pub at: String,
    /// Row or line in it; 0 = as a whole.
    pub number: i64,
    /// What is wrong with it, without quoting it.
    pub reason: String,
}

/// Problems, of which the first are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Problems {
    /// How many there were.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Problem>,
}

impl Problems {
    fn add(&mut self, at: &str, number: i64, reason: &str) {
        self.count += 1;
        if self.first.len() < MOST_TOLD {
            self.first.push(Problem { at: at.to_owned(), number, reason: reason.to_owned() });
        }
    }
}

/// Is told how a run goes on.
pub trait Progress {
    /// So much is to be done, in `things`.
    fn begin(&mut self, length: u64, things: &'static str);
    /// So much of it is done.
    fn at(&mut self, position: u64);
}

/// The user's home directory.
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}
