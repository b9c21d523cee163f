//! The nouns of cmem. Plain data: no file, no network, no SQL.

mod event;
mod identity;
mod memory;
mod record_id;
mod time;
mod tokens;

pub use event::{Agent, Event, EventKind, Outcome, StartSource};
pub use identity::Identity;
pub use memory::{Draft, Observation, Priority, Prompt, Source, Status, Summary, SummaryDraft};
pub use record_id::{ParseRecordIdError, RecordId};
pub use time::Timestamp;
pub use tokens::estimate_tokens;
