//! The hook's half: one event, one short transaction under the file lock.

use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

use super::ledger::{add, skipped};
use super::open::{HOOK_PATIENCE, append_lock};
use super::{Shown, Spool, SpoolError};
use crate::model::{Event, EventKind, Identity, Timestamp};

/// Two deliveries without an id of their own are the same if they are equal and this close together: the
/// same call from two hook registrations, not a user who says "continue" twice.
const TWIN_WINDOW_MS: i64 = 10_000;

/// One thing for the spool to take in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// An event to keep.
    Event {
        /// The event, cleaned.
        event: Box<Event>,
        /// Where it happened.
        identity: Box<Identity>,
        /// What makes two deliveries of it the same.
        key: Vec<u8>,
        /// Whether the key holds an id from the client, so that it never recurs by chance.
        exact: bool,
    },
    /// An event that is left out, by reason; only counted.
    Skipped {
        /// Stable name of the reason.
        reason: String,
    },
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It waits in the queue.
    Queued,
    /// It was delivered before, or was skipped; only counted.
    Counted,
}

impl Spool {
    /// Takes in one arrival, and what the reply to it will show the session.
    ///
    /// # Errors
    /// [`SpoolError`] when the spool cannot be written in time; nothing was changed then.
    pub fn append(&self, arrival: &Arrival, shown: Option<&Shown>) -> Result<Appended, SpoolError> {
        let _lock = append_lock(&self.paths, HOOK_PATIENCE)?;
        let transaction = self.begin()?;
        let appended = take_in(&transaction, arrival)?;
        if let (Some(shown), Arrival::Event { event, .. }) = (shown, arrival) {
            shown.record(&transaction, event)?;
        }
        transaction.commit()?;
        Ok(appended)
    }

    /// The identity stored at the session's last event in this directory.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn place(&self, session: &str, cwd: &str) -> Result<Option<Identity>, SpoolError> {
        Ok(latest_place(&self.conn, session, cwd)?.map(|(_, identity)| identity))
    }
}

/// Counts and stores one arrival inside the caller's transaction.
pub(super) fn take_in(conn: &Connection, arrival: &Arrival) -> Result<Appended, SpoolError> {
    add(conn, "seen", 1)?;
    let (event, identity, key, exact) = match arrival {
        Arrival::Event { event, identity, key, exact } => (event, identity, key, *exact),
        Arrival::Skipped { reason } => {
            add(conn, &skipped(reason), 1)?;
            return Ok(Appended::Counted);
        }
    };
    if !first_delivery(conn, key, exact, event.at)? {
        add(conn, &skipped("duplicate"), 1)?;
        return Ok(Appended::Counted);
    }
    if let EventKind::Prompt { private, .. } = event.kind {
        mark_turn(conn, event, private)?;
    }
    let place = settle_place(conn, event, identity)?;
    let tool = match &event.kind {
        EventKind::Tool { tool, .. } => Some(tool.as_str()),
        _ => None,
    };
    let ends_turn = event.agent.is_none() && event.kind.ends_turn();
    conn.prepare_cached(
        "INSERT INTO events (session, place, kind, tool, body, at, ends_turn) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute((
        &event.session,
        place,
        event.kind.name(),
        tool,
        serde_json::to_string(event)?,
        event.at.0,
        ends_turn,
    ))?;
    Ok(Appended::Queued)
}

fn first_delivery(conn: &Connection, key: &[u8], exact: bool, at: Timestamp) -> Result<bool, SpoolError> {
    let oldest_twin = if exact { i64::MIN } else { at.0 - TWIN_WINDOW_MS };
    let changed = conn
        .prepare_cached(
            "INSERT INTO deliveries (key, at) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE deliveries.at < ?3",
        )?
        .execute((key, at.0, oldest_twin))?;
    Ok(changed == 1)
}

fn mark_turn(conn: &Connection, event: &Event, private: bool) -> Result<(), SpoolError> {
    conn.prepare_cached(
        "INSERT INTO sessions (session, cwd, private, at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session) DO UPDATE SET private = excluded.private, at = excluded.at",
    )?
    .execute((&event.session, &event.cwd, private, event.at.0))?;
    Ok(())
}

fn settle_place(conn: &Connection, event: &Event, identity: &Identity) -> Result<i64, SpoolError> {
    if let Some((id, known)) = latest_place(conn, &event.session, &event.cwd)? {
        if known == *identity {
            return Ok(id);
        }
        // The same checkout at another commit or branch: one place. Another repository: another place.
        if (&known.key, &known.root) == (&identity.key, &identity.root) {
            conn.prepare_cached("UPDATE places SET identity = ?2, seen_at = ?3 WHERE id = ?1")?.execute((
                id,
                serde_json::to_string(identity)?,
                event.at.0,
            ))?;
            return Ok(id);
        }
    }
    conn.prepare_cached("INSERT INTO places (session, cwd, identity, seen_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute((&event.session, &event.cwd, serde_json::to_string(identity)?, event.at.0))?;
    Ok(conn.last_insert_rowid())
}

fn latest_place(conn: &Connection, session: &str, cwd: &str) -> Result<Option<(i64, Identity)>, SpoolError> {
    let row: Option<(i64, String)> = conn
        .prepare_cached(
            "SELECT id, identity FROM places WHERE session = ?1 AND cwd = ?2 ORDER BY id DESC LIMIT 1",
        )?
        .query_row((session, cwd), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match row {
        Some((id, identity)) => Ok(Some((id, serde_json::from_str(&identity)?))),
        None => Ok(None),
    }
}
