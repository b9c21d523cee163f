//! `memory.db`: the truth about everything remembered. Knows SQL and nothing about ranking.

mod aliases;
mod branches;
mod calls;
mod change;
mod error;
mod open;
mod outbox;
mod projects;
mod read;
mod rows;
mod write;

pub use aliases::ProjectRow;
pub use branches::{Adoption, BranchRow, Place, Trace};
pub use calls::{Call, CallCount, Spent};
pub use change::Revised;
pub use error::StoreError;
pub(crate) use open::{Schema, open_readable, open_writable};
pub use open::{Store, require_sqlite_version};
pub use outbox::{Fate, Notice, NoticeCount};
pub use read::Counts;
pub(crate) use rows::{OBSERVATION_COLUMNS, PROMPT_COLUMNS, SUMMARY_COLUMNS, observation, prompt, summary};
pub use write::{NewObservation, NewPrompt, NewSummary, Standing, Stored, Transaction};
