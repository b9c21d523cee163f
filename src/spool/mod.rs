//! `spool.db`: events on their way to the observer, and the ledger that proves none vanished.
//!
//! Hooks append under `spool.lock`; the one drainer claims leased batches and settles them; operators list,
//! retry and drop. Every change to a row and to the ledger is one transaction.

mod append;
mod claim;
mod error;
mod health;
mod ledger;
mod lock;
mod open;
mod overflow;
mod queue;
mod session;
#[cfg(test)]
mod tests;

pub use append::{Appended, Arrival};
pub use claim::{Claim, Claimed, Patience, RowUpdate};
pub use error::SpoolError;
pub use health::{LastError, Pause};
pub use ledger::Ledger;
pub use lock::FileLock;
pub use open::Spool;
pub use queue::{QueueRow, Selection, SpoolStatus};
pub use session::{SessionState, Shown};
