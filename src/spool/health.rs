//! What keeps the observer from working, in one place: read by hooks, status, doctor and the drainer.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::{Spool, SpoolError};
use crate::model::Timestamp;

const PAUSE: &str = "pause";
const LAST_ERROR: &str = "last_error";

/// The observer is not called for now. Events go on being kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Class of the failure: `auth`, `quota`, `rate_limited`, `transient`, `unrecoverable` or `setup`.
    pub class: String,
    /// When to try again; `None` = when a setting changes or a new session starts.
    pub until: Option<Timestamp>,
    /// What happened.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
    /// Failures in a row.
    pub failures: u32,
    /// Fingerprint of the settings that failed: with others it is worth another try at once.
    pub fingerprint: String,
    /// A new session started since: one try is granted.
    pub probe: bool,
}

impl Pause {
    /// Whether the observer must not be called at `now` with settings of this fingerprint.
    pub fn holds(&self, now: Timestamp, fingerprint: &str) -> bool {
        let over = self.until.is_some_and(|until| until <= now);
        !(over || self.probe || self.fingerprint != fingerprint)
    }

    /// Whether only the user can end it.
    pub fn needs_user(&self) -> bool {
        !matches!(self.class.as_str(), "rate_limited" | "transient")
    }
}

/// The last failure, kept after it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    /// When.
    pub at: Timestamp,
    /// Class of the failure.
    pub class: String,
    /// What happened.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
}

impl Spool {
    /// The present pause.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn pause(&self) -> Result<Option<Pause>, SpoolError> {
        read(&self.conn, PAUSE)
    }

    /// The last failure.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn last_error(&self) -> Result<Option<LastError>, SpoolError> {
        read(&self.conn, LAST_ERROR)
    }

    /// Starts or prolongs a pause.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn set_pause(&self, pause: &Pause) -> Result<(), SpoolError> {
        write(&self.conn, PAUSE, pause)
    }

    /// Ends the pause: the observer answered, or the user asked for a retry.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn end_pause(&self) -> Result<(), SpoolError> {
        self.conn.prepare_cached("DELETE FROM state WHERE key = ?1")?.execute([PAUSE])?;
        Ok(())
    }

    /// A new session is an occasion to try again what only the user can mend: he may have mended it.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn grant_probe(&self) -> Result<(), SpoolError> {
        match self.pause()? {
            Some(pause) if pause.needs_user() && !pause.probe => {
                self.set_pause(&Pause { probe: true, ..pause })
            }
            _ => Ok(()),
        }
    }

    /// Remembers a failure.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn set_last_error(&self, error: &LastError) -> Result<(), SpoolError> {
        write(&self.conn, LAST_ERROR, error)
    }
}

fn read<T: for<'de> Deserialize<'de>>(conn: &Connection, key: &str) -> Result<Option<T>, SpoolError> {
    let value: Option<String> = conn
        .prepare_cached("SELECT value FROM state WHERE key = ?1")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    Ok(value.map(|json| serde_json::from_str(&json)).transpose()?)
}

fn write<T: Serialize>(conn: &Connection, key: &str, value: &T) -> Result<(), SpoolError> {
    conn.prepare_cached(
        "INSERT INTO state (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    )?
    .execute((key, serde_json::to_string(value)?))?;
    Ok(())
}
