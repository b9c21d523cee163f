//! `spool.db`: events on their way to the observer, and the ledger that proves none vanished.

mod lock;

pub use lock::FileLock;
