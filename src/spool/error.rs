use std::io;
use std::path::PathBuf;

use crate::store::StoreError;

/// What can go wrong with the spool.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The database cannot be opened or written.
    #[error(transparent)]
    Database(#[from] StoreError),
    /// A file beside it cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else held the lock for too long.
    #[error("{path} is locked by another process")]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A row does not hold what this version writes.
    #[error("a spooled event cannot be read: {0}")]
    Row(#[from] serde_json::Error),
}

impl From<rusqlite::Error> for SpoolError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(StoreError::Sql(error))
    }
}
