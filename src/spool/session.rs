//! What the spool knows of a session beside its events: the notice, and what was shown.

use rusqlite::OptionalExtension;

use super::{Spool, SpoolError};
use crate::model::{Event, Timestamp};

/// A session as the hooks see it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionState {
    /// The health notice was shown.
    pub notified: bool,
    /// Observation ids already injected, if anything was.
    pub shown: Option<Vec<i64>>,
    /// When that was.
    pub shown_at: Option<Timestamp>,
}

/// What a reply at session start shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Every observation id that the session's history now holds.
    pub observations: Vec<i64>,
    /// Whether the health notice is part of it.
    pub notice: bool,
}

impl Spool {
    /// Remembers what the reply to a session start shows.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn set_shown(&self, event: &Event, shown: &Shown) -> Result<(), SpoolError> {
        self.conn
            .prepare_cached(
                "INSERT INTO sessions (session, cwd, notified, shown, shown_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (session) DO UPDATE SET cwd = excluded.cwd, shown = excluded.shown,
                   shown_at = excluded.shown_at, notified = max(notified, excluded.notified)",
            )?
            .execute((
                &event.session,
                &event.cwd,
                shown.notice,
                serde_json::to_string(&shown.observations)?,
                event.at.0,
            ))?;
        Ok(())
    }

    /// What is known of a session; the default for an unknown one.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn session(&self, session: &str) -> Result<SessionState, SpoolError> {
        let row = self
            .conn
            .prepare_cached("SELECT notified, shown, shown_at FROM sessions WHERE session = ?1")?
            .query_row([session], |row| {
                Ok((row.get(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, Option<i64>>(2)?))
            })
            .optional()?;
        let Some((notified, shown, shown_at)) = row else {
            return Ok(SessionState::default());
        };
        let shown = shown.map(|ids| serde_json::from_str(&ids)).transpose()?;
        Ok(SessionState { notified, shown, shown_at: shown_at.map(Timestamp) })
    }

    /// What the latest session in this directory was shown: a fork starts with a copy of its history.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn latest_shown(&self, cwd: &str) -> Result<Option<Vec<i64>>, SpoolError> {
        let shown: Option<String> = self
            .conn
            .query_row(
                "SELECT shown FROM sessions WHERE cwd = ?1 AND shown IS NOT NULL ORDER BY shown_at DESC LIMIT 1",
                [cwd],
                |row| row.get(0),
            )
            .optional()?;
        Ok(shown.map(|ids| serde_json::from_str(&ids)).transpose()?)
    }
}
