//! Files that others wrote and that are taken in piece by piece: how far that has come is written in the transaction of
//! the arrivals, so that nothing is taken in twice or left out.

use rusqlite::OptionalExtension;

use super::import::take_in;
use super::{Arrival, Spool, SpoolError};
use crate::model::{Event, EventKind, Timestamp};

/// How much of a file was taken in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes from its beginning.
    pub bytes: u64,
    /// Digest of the whole, of one that is read as a whole.
    pub digest: String,
}

impl Spool {
    /// How much of a file was taken in.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn taken(&self, path: &str) -> Result<Option<Taken>, SpoolError> {
        let found: Option<(i64, String)> = self
            .conn
            .prepare_cached("SELECT bytes, digest FROM taken_files WHERE path = ?1")?
            .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found.map(|(bytes, digest)| Taken { bytes: bytes.unsigned_abs(), digest }))
    }

    /// Takes in what comes from a file, and remembers how far that goes.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails; nothing was taken in then.
    pub fn take(&self, path: &str, taken: &Taken, arrivals: &[Arrival]) -> Result<(), SpoolError> {
        let transaction = self.begin()?;
        for arrival in arrivals {
            take_in(&transaction, arrival)?;
        }
        transaction
            .prepare_cached(
                "INSERT INTO taken_files (path, bytes, digest) VALUES (?1, ?2, ?3)
                 ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes, digest = excluded.digest",
            )?
            .execute((path, i64::try_from(taken.bytes).unwrap_or(i64::MAX), &taken.digest))?;
        transaction.commit()?;
        Ok(())
    }

    /// The prompts of a session that still wait, and when they were sent.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn prompts_of(&self, session: &str) -> Result<Vec<(Timestamp, String)>, SpoolError> {
        let sql = "SELECT body FROM events WHERE session = ?1 AND kind = 'prompt'";
        let mut statement = self.conn.prepare_cached(sql)?;
        let mut rows = statement.query([session])?;
        let mut prompts = Vec::new();
        while let Some(row) = rows.next()? {
            let body: String = row.get(0)?;
            let event: Event = serde_json::from_str(&body)?;
            if let EventKind::Prompt { text, .. } = event.kind {
                prompts.push((event.at, text));
            }
        }
        Ok(prompts)
    }
}
