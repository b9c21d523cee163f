//! Events on their way to the observer, and the ledger that proves none vanished.
//!
//! Hooks append to `spool.jsonl` under `spool.lock`; whoever opens `spool.db` takes the lines in; the one drainer
//! claims leased batches and settles them; operators list, retry and drop. Every change to a row and to the
//! ledger is one transaction.

mod claim;
mod error;
mod forget;
mod gates;
mod health;
mod import;
mod journal;
mod ledger;
mod lock;
mod open;
mod queue;
mod session;
mod taken;
#[cfg(test)]
mod tests;
mod trail;
mod uses;

pub use claim::{Claim, Claimed, Patience, RowUpdate};
pub use error::SpoolError;
pub use gates::{GateCount, Then, count_gates, note_gate, note_next};
pub use health::{LastError, Pause, Relief};
pub use journal::{Arrival, JournalLength};
pub use ledger::Ledger;
pub use lock::FileLock;
pub use open::Spool;
pub use queue::{QueueRow, Selection, SpoolStatus};
pub use session::{SessionState, Shown};
pub use taken::Taken;
pub use trail::{Gate, Registrar, Trail};
pub use uses::{Uses, note_use};
