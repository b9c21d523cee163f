//! `memory.db`: the truth about everything remembered. Knows SQL and nothing about ranking.

mod error;
mod open;

pub use error::StoreError;
pub(crate) use open::{open_readable, open_writable};
pub use open::{Store, require_sqlite_version};
