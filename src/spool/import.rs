//! From the journal to the queue: each arrival is recognised, counted and stored once.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use super::ledger::{add, skipped};
use super::{Arrival, SpoolError};
use crate::git;
use crate::model::{Event, EventKind, Identity, Timestamp};

/// Two deliveries without an id of their own are the same if they are equal and this close together: the
/// same call from two hook registrations, not a user who says "continue" twice.
const TWIN_WINDOW_MS: i64 = 10_000;

/// Counts and stores one arrival inside the caller's transaction.
pub(super) fn take_in(conn: &Connection, arrival: &Arrival) -> Result<(), SpoolError> {
    add(conn, "seen", 1)?;
    let (event, identity, key, exact) = match arrival {
        Arrival::Event { event, identity, key, exact } => (event, identity, key, *exact),
        Arrival::Skipped { reason } => {
            return add(conn, &skipped(reason), 1);
        }
    };
    if !first_delivery(conn, key, exact, event.at)? {
        return add(conn, &skipped("duplicate"), 1);
    }
    let place = settle_place(conn, event, identity.as_deref())?;
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
    Ok(())
}

/// Whether this key comes for the first time; it is remembered then.
pub(super) fn first_delivery(
    conn: &Connection,
    key: &[u8],
    exact: bool,
    at: Timestamp,
) -> Result<bool, SpoolError> {
    let oldest_twin = if exact { i64::MIN } else { at.0 - TWIN_WINDOW_MS };
    let changed = conn
        .prepare_cached(
            "INSERT INTO deliveries (key, at) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET at = excluded.at WHERE deliveries.at < ?3",
        )?
        .execute((key, at.0, oldest_twin))?;
    Ok(changed == 1)
}

fn settle_place(conn: &Connection, event: &Event, identity: Option<&Identity>) -> Result<i64, SpoolError> {
    let known = latest_place(conn, &event.session, &event.cwd)?;
    let identity = match (&known, identity) {
        (Some((id, _)), None) => return Ok(*id),
        (_, Some(identity)) => identity,
        // The place was forgotten since its hook saw it.
        (None, None) => &git::identify(Path::new(&event.cwd)),
    };
    if let Some((id, known)) = known {
        if known == *identity {
            return Ok(id);
        }
        // The same checkout at another commit: one place. Another branch is another place: what waits belongs to the
        // branch that was there.
        if (&known.key, &known.root, &known.branch) == (&identity.key, &identity.root, &identity.branch) {
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
