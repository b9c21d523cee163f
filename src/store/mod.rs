//! `memory.db`: the truth about everything remembered. Knows SQL and nothing about ranking.

mod ageing;
mod aliases;
mod branches;
mod calls;
mod carry;
mod change;
mod consolidate;
mod error;
mod forget;
mod history;
mod named;
mod open;
mod outbox;
mod projects;
mod read;
mod restore;
mod review;
mod rows;
mod tidy;
mod write;

pub use ageing::{BroughtBack, Use};
pub use aliases::ProjectRow;
pub use branches::{Adoption, BranchRow, Place, Trace};
pub use calls::{Call, CallCount, Spent};
pub use change::Revised;
pub use error::StoreError;
pub use history::Position;
pub(crate) use named::key_of_name;
pub(crate) use open::{Schema, open_readable, open_writable};
pub use open::{Store, require_sqlite_version};
pub use outbox::{Fate, Notice, NoticeCount};
pub use read::Counts;
pub use restore::{Kept, MainProject, Pointer, Restored, RestoredProject, State};
pub use review::Accepted;
pub(crate) use rows::{
    OBSERVATION_COLUMNS, PROMPT_COLUMNS, SUMMARY_COLUMNS, observation, prompt, summary, word,
};
pub use tidy::{DatabaseSize, TableSize};
pub(crate) use tidy::{empty_log, give_back, size};
pub use write::{NewObservation, NewPrompt, NewSummary, Standing, Stored, Transaction};
