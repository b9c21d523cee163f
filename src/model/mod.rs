//! The nouns of cmem. Plain data: no file, no network, no SQL.

mod caller;
mod carried;
mod event;
mod history;
mod identity;
mod memory;
mod passages;
mod platform;
mod record_id;
mod references;
mod time;
mod tokens;

pub use caller::{Caller, Gone};
pub use carried::{
    BranchName, Carried, CarriedBranch, CarriedObservation, CarriedProject, CarriedPrompt, CarriedSession,
    CarriedSummary,
};
pub use event::{Agent, Event, EventKind, Outcome, StartSource};
pub use history::{Links, Revision};
pub use identity::Identity;
pub use memory::{ASSISTANT, Draft, Observation, Priority, Prompt, Source, Status, Summary, SummaryDraft};
pub use passages::Passages;
pub use platform::Platform;
pub use record_id::{ParseRecordIdError, RecordId};
pub use references::{Part, parts};
pub use time::Timestamp;
pub(crate) use time::local_zone;
pub use tokens::estimate_tokens;

/// Part of every request to a model, so that a request that comes back as a prompt or as an answer is known and
/// never observed again. It reads the same inside JSON, however often that was quoted.
pub const OBSERVER_MARKER: &str = "cmem-observer-request";
