//! The drainer: one process per data directory that brings events from the spool to memory and leaves.

mod consolidate;
mod detach;
mod elect;
mod inquiry;
mod lineup;
mod narrate;
mod policy;
mod record;
mod run;
mod suggestion;
mod transcript;
mod upkeep;

pub use consolidate::{Consolidated, Consolidator, without_observer};
pub use detach::{DetachError, inherited_lock, start_detached};
pub use elect::{waits_for_turns, wake};
pub use narrate::{Narrated, Narrator};
pub use policy::fingerprint;
pub use run::{DrainError, Drained, Drainer, MODEL_BATCH, Outlook, Progress};
pub use upkeep::upkeep;
