use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{FileLock, SpoolError};
use crate::config::Paths;
use crate::store::{
    DatabaseSize, Schema, StoreError, empty_log, give_back, open_readable, open_writable, size,
};

static SCHEMA: Schema = Schema { migrations: &[include_str!("migrations/0001_spool.sql")] };

/// How long a hook waits for a lock. Two of these, the journal's and the database's, stay far below the 1.5 s
/// that a SessionEnd hook has.
pub(super) const HOOK_PATIENCE: Duration = Duration::from_millis(350);

/// How long the drainer and the operator's commands wait: longer than any hook holds the database.
pub(super) const OPERATOR_PATIENCE: Duration = Duration::from_secs(15);

/// An open `spool.db`.
#[derive(Debug)]
pub struct Spool {
    pub(super) conn: Connection,
    pub(super) paths: Paths,
}

impl Spool {
    /// Opens for a session start, whose answer depends on the spool: short waits, and the journal is left to the
    /// drainer.
    ///
    /// # Errors
    /// [`SpoolError`] when it cannot be opened in time.
    pub fn open_for_hook(paths: &Paths) -> Result<Self, SpoolError> {
        Self::open_within(paths, HOOK_PATIENCE)
    }

    /// Opens for the drainer and for operators, with the journal taken in.
    ///
    /// # Errors
    /// [`SpoolError`] when it cannot be opened.
    pub fn open(paths: &Paths) -> Result<Self, SpoolError> {
        let spool = Self::open_within(paths, OPERATOR_PATIENCE)?;
        spool.import()?;
        Ok(spool)
    }

    /// Opens for a look. The journal is taken in first, where that can be done: its events count as waiting, and
    /// nobody else may have come by since.
    ///
    /// # Errors
    /// [`StoreError::Missing`] inside when nothing was ever captured.
    pub fn open_for_reading(paths: &Paths) -> Result<Self, SpoolError> {
        if Self::has_journal(paths)
            && let Ok(spool) = Self::open(paths)
        {
            return Ok(spool);
        }
        let conn = open_readable(&paths.spool(), &SCHEMA, Duration::from_secs(2))?;
        Ok(Self { conn, paths: paths.clone() })
    }

    fn open_within(paths: &Paths, patience: Duration) -> Result<Self, SpoolError> {
        // Several processes may be the first at once: only one creates the file. Not under the journal's lock, since
        // that takes as long as the disk does.
        let _creation =
            if paths.spool().exists() { None } else { Some(locked(paths.spool_creation_lock(), patience)?) };
        let conn = open_writable(&paths.spool(), &SCHEMA, patience)?;
        Ok(Self { conn, paths: paths.clone() })
    }

    pub(super) fn begin(&self) -> Result<Transaction<'_>, SpoolError> {
        Ok(Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?)
    }

    /// Gives free pages back and empties the write-ahead log. For the drainer, when it leaves.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails; a log kept busy by a reader is no error.
    pub fn tidy(&self) -> Result<(), SpoolError> {
        self.scrub()?;
        Ok(())
    }

    /// As [`Spool::tidy`]; tells whether the log was emptied.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn scrub(&self) -> Result<bool, SpoolError> {
        give_back(&self.conn, 0)?;
        Ok(empty_log(&self.conn)?)
    }

    /// What the file consists of.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn size(&self) -> Result<DatabaseSize, SpoolError> {
        Ok(size(&self.conn)?)
    }
}

pub(super) fn append_lock(paths: &Paths, patience: Duration) -> Result<FileLock, SpoolError> {
    locked(paths.spool_lock(), patience)
}

pub(super) fn locked(path: PathBuf, patience: Duration) -> Result<FileLock, SpoolError> {
    match FileLock::acquire_within(&path, patience) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) => Err(SpoolError::Locked { path }),
        Err(source) => Err(SpoolError::File { path, source }),
    }
}

impl SpoolError {
    /// Whether somebody else holds the spool: another try will do.
    pub fn is_busy(&self) -> bool {
        match self {
            Self::Locked { .. } => true,
            Self::Database(error) => error.is_busy(),
            Self::File { .. } | Self::Row(_) => false,
        }
    }

    /// Whether there is no spool yet.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Database(StoreError::Missing { .. }))
    }
}
