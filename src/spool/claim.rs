//! The drainer's half: claim a batch under a lease, then settle it (gone, counted) or release it (kept).

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::ledger::{add, skipped};
use super::{Spool, SpoolError, Trail};
use crate::model::{Event, Identity, Timestamp};

/// From so many failures in a row on, a turn lets the later turns of its session pass.
const LETS_OTHERS_PASS: i64 = 2;

/// When a batch is ready.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How long an unfinished turn may wait for more events.
    pub unfinished_turn: Duration,
    /// Whether the drainer stays until then, rather than leave the turn to the hook that ends it.
    pub lingers: bool,
    /// Most events in one batch.
    pub max_events: u32,
    /// Most bytes of events in one batch (a single larger event is a batch of its own).
    pub max_bytes: i64,
    /// The user asked: take unfinished turns, and rows last tried before this time whenever they are due.
    pub force_since: Option<Timestamp>,
}

/// What there is to do.
#[derive(Debug)]
pub enum Claim {
    /// This batch, now leased.
    Batch(Box<Claimed>),
    /// Nothing yet; an unfinished turn to linger for is ready at this time.
    WaitUntil(Timestamp),
    /// Nothing that is due.
    Nothing,
}

/// Events of one session in one place, at most one turn of them.
#[derive(Debug)]
pub struct Claimed {
    /// Stable id: what makes processing exactly-once across the two databases.
    pub id: String,
    /// Where they happened.
    pub identity: Identity,
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Failures that are held against the events so far.
    pub attempts: i64,
    /// Failures in a row, those of the provider among them.
    pub failed: i64,
    /// When the last was; long ago for events that were never tried.
    pub tried_at: Timestamp,
}

/// How rows of a failed batch go back to the queue.
#[derive(Debug, Clone)]
pub struct RowUpdate {
    /// Failures that are held against them.
    pub attempts: i64,
    /// Failures in a row, those of the provider among them.
    pub failed: i64,
    /// Largest batch to try them in from now on; `None` leaves it.
    pub batch_limit: Option<u32>,
    /// Not before this time.
    pub due_at: Timestamp,
    /// They wait for the user.
    pub parked: bool,
    /// Class of the failure.
    pub class: &'static str,
    /// What it was.
    pub reason: String,
}

struct Head {
    id: i64,
    kind: String,
    bytes: i64,
    at: Timestamp,
    ends_turn: bool,
    due_at: Timestamp,
    tried_at: Timestamp,
    batch_limit: Option<u32>,
}

impl Spool {
    /// Leases the oldest batch that is ready.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn claim(&self, now: Timestamp, lease: Duration, patience: &Patience) -> Result<Claim, SpoolError> {
        let transaction = self.begin()?;
        Ok(match next(&transaction, now, patience)? {
            Next::Ready { place, ids } => {
                let claimed = lease_rows(&transaction, &ids, place, now.plus_ms(millis(lease)))?;
                transaction.commit()?;
                Claim::Batch(Box::new(claimed))
            }
            Next::WaitUntil(at) => Claim::WaitUntil(at),
            Next::Nothing => Claim::Nothing,
        })
    }

    /// Whether a claim would find a batch, or an unfinished turn to wait for.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn has_due(&self, now: Timestamp, patience: &Patience) -> Result<bool, SpoolError> {
        // In this order: see there.
        Ok(Self::has_journal(&self.paths) || !matches!(next(&self.conn, now, patience)?, Next::Nothing))
    }

    /// The batch is in `memory.db`: its rows go, counted by what they were.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails; the rows then stay, and the next drainer settles them.
    pub fn settle(&self, batch: &str, class: &str) -> Result<(), SpoolError> {
        let transaction = self.begin()?;
        let (evidence, recorded): (i64, i64) = transaction.query_row(
            "SELECT count(*) FILTER (WHERE kind IN ('tool', 'stop', 'subagent_stop')),
                    count(*) FILTER (WHERE kind NOT IN ('tool', 'stop', 'subagent_stop'))
             FROM events WHERE batch = ?1",
            [batch],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        add(&transaction, class, evidence)?;
        add(&transaction, "stored", recorded)?;
        transaction.execute("DELETE FROM events WHERE batch = ?1", [batch])?;
        transaction.commit()?;
        Ok(())
    }

    /// The batch must not be kept: its rows go, counted as skipped.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn settle_skipped(&self, batch: &str, reason: &str) -> Result<(), SpoolError> {
        let transaction = self.begin()?;
        let count = transaction.execute("DELETE FROM events WHERE batch = ?1", [batch])?;
        add(&transaction, &skipped(reason), i64::try_from(count).unwrap_or(i64::MAX))?;
        transaction.commit()?;
        Ok(())
    }

    /// The batch failed: its rows go back to the queue.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails; the lease then runs out.
    pub fn release(&self, batch: &str, now: Timestamp, update: &RowUpdate) -> Result<(), SpoolError> {
        self.conn.execute(
            "UPDATE events SET batch = NULL, lease_until = NULL, tried_at = ?2, attempts = ?3, failed = ?9,
                    batch_limit = coalesce(?4, batch_limit), due_at = ?5, parked = ?6, class = ?7, reason = ?8
             WHERE batch = ?1",
            (
                batch,
                now.0,
                update.attempts,
                update.batch_limit,
                update.due_at.0,
                update.parked,
                update.class,
                &update.reason,
                update.failed,
            ),
        )?;
        Ok(())
    }

    /// Batches whose drainer is gone: those with a lease that ended before `before`. With `drain.lock` held
    /// there is no other drainer, so that every lease may be taken over.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn abandoned(&self, before: Timestamp) -> Result<Vec<String>, SpoolError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT DISTINCT batch FROM events WHERE batch IS NOT NULL AND lease_until < ?1",
        )?;
        let batches = statement.query_map([before.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(batches)
    }

    /// The provider answers again: what waited for that alone is due.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn end_waits(&self) -> Result<(), SpoolError> {
        self.conn.execute(
            "UPDATE events SET due_at = 0
             WHERE due_at > 0 AND attempts = 0 AND parked = 0 AND batch IS NULL",
            [],
        )?;
        Ok(())
    }

    /// When the first of the events that must wait is due again; `None` when none has to.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, SpoolError> {
        let due: Option<i64> = self.conn.query_row(
            "SELECT min(due_at) FROM events WHERE parked = 0 AND batch IS NULL AND due_at > ?1",
            [now.0],
            |row| row.get(0),
        )?;
        Ok(due.map(Timestamp))
    }

    /// Whether an event waits, due or not.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn has_waiting(&self) -> Result<bool, SpoolError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM events WHERE parked = 0)";
        Ok(Self::has_journal(&self.paths) || self.conn.query_row(sql, [], |row| row.get(0))?)
    }

    /// Makes the rows of an abandoned batch that was never recorded free again.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn free(&self, batch: &str) -> Result<(), SpoolError> {
        self.conn
            .prepare_cached("UPDATE events SET batch = NULL, lease_until = NULL WHERE batch = ?1")?
            .execute([batch])?;
        Ok(())
    }

    /// Forgets deliveries, places and sessions that no event has needed for so long.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn forget_before(&self, before: Timestamp) -> Result<(), SpoolError> {
        let transaction = self.begin()?;
        transaction.execute("DELETE FROM deliveries WHERE at < ?1", [before.0])?;
        transaction.execute(
            "DELETE FROM places WHERE seen_at < ?1 AND id NOT IN (SELECT place FROM events)",
            [before.0],
        )?;
        transaction.execute("DELETE FROM sessions WHERE shown_at < ?1", [before.0])?;
        transaction.commit()?;
        let age = Timestamp::now().since_ms(before).max(0).unsigned_abs();
        Trail::forget(&self.paths, Duration::from_millis(age));
        Ok(())
    }
}

enum Next {
    Ready { place: i64, ids: Vec<i64> },
    WaitUntil(Timestamp),
    Nothing,
}

/// The oldest batch that is ready, looking only.
fn next(conn: &Connection, now: Timestamp, patience: &Patience) -> Result<Next, SpoolError> {
    let mut earliest: Option<Timestamp> = None;
    for Start { session, place, id } in starts(conn)? {
        let heads = heads(conn, &session, place, id, patience.max_events)?;
        let Some(first) = heads.first() else { continue };
        let forced = patience.force_since.is_some_and(|start| first.tried_at < start);
        if first.due_at > now && !forced {
            continue;
        }
        let (count, complete) = cut(&heads, patience);
        let ready_at = first.at.plus_ms(millis(patience.unfinished_turn));
        let ready = complete
            || patience.force_since.is_some()
            || ready_at <= now
            || turn_is_over(conn, &session, heads[count - 1].id)?;
        if ready {
            return Ok(Next::Ready { place, ids: heads[..count].iter().map(|head| head.id).collect() });
        }
        if patience.lingers {
            earliest = Some(earliest.map_or(ready_at, |at| at.min(ready_at)));
        }
    }
    Ok(earliest.map_or(Next::Nothing, Next::WaitUntil))
}

/// An event with which a batch may begin.
struct Start {
    session: String,
    place: i64,
    id: i64,
}

/// Where a batch may begin, the best first: what was not tried for longest, so that no batch is in the way of others
/// for ever. Turns of a session go in order, but for those that fail again and again: they go last.
fn starts(conn: &Connection) -> Result<Vec<Start>, SpoolError> {
    // With min(), the other columns are those of its row.
    let mut statement = conn.prepare_cached(
        "SELECT session, place, min(id), tried_at, failed FROM events WHERE parked = 0 AND batch IS NULL
         GROUP BY session, place ORDER BY tried_at, min(id)",
    )?;
    let mut rows = statement.query([])?;
    let (mut starts, mut last) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let start = Start { session: row.get(0)?, place: row.get(1)?, id: row.get(2)? };
        let (tried_at, failed): (i64, i64) = (row.get(3)?, row.get(4)?);
        if failed < LETS_OTHERS_PASS {
            starts.push(start);
            continue;
        }
        let mut later = later_turns(conn, &start)?;
        if let Some(fresh) = later.iter().position(|(_, _, failed)| *failed < LETS_OTHERS_PASS) {
            let (id, ..) = later[fresh];
            starts.push(Start { id, session: start.session.clone(), ..start });
            later.truncate(fresh);
        }
        for (id, tried_at, _) in later {
            last.push((tried_at, Start { id, session: start.session.clone(), ..start }));
        }
        last.push((tried_at, start));
    }
    last.sort_by_key(|(tried_at, start)| (*tried_at, start.id));
    starts.extend(last.into_iter().map(|(_, start)| start));
    Ok(starts)
}

/// Id, last try and failures in a row of the events that begin a later turn.
fn later_turns(conn: &Connection, start: &Start) -> Result<Vec<(i64, i64, i64)>, SpoolError> {
    let mut statement = conn.prepare_cached(
        // The prompt of a turn may have been looked at before the rest of it.
        "SELECT id, tried_at, failed FROM
           (SELECT id, kind, tried_at, failed, lag(ends_turn) OVER (ORDER BY id) AS follows_an_end FROM events
            WHERE session = ?1 AND place = ?2 AND id >= ?3 AND parked = 0 AND batch IS NULL)
         WHERE id > ?3 AND (kind IN ('prompt', 'session_start') OR follows_an_end) ORDER BY id",
    )?;
    let turns = statement.query_map((&start.session, start.place, start.id), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    Ok(turns.collect::<Result<_, _>>()?)
}

fn heads(
    conn: &Connection,
    session: &str,
    place: i64,
    from: i64,
    most: u32,
) -> Result<Vec<Head>, SpoolError> {
    let mut statement = conn.prepare_cached(
        "SELECT id, kind, length(body), at, ends_turn, due_at, tried_at, batch_limit FROM events
         WHERE session = ?1 AND place = ?2 AND id >= ?3 AND parked = 0 AND batch IS NULL ORDER BY id LIMIT ?4",
    )?;
    let rows = statement.query_map((session, place, from, i64::from(most) + 1), |row| {
        Ok(Head {
            id: row.get(0)?,
            kind: row.get(1)?,
            bytes: row.get(2)?,
            at: Timestamp(row.get(3)?),
            ends_turn: row.get(4)?,
            due_at: Timestamp(row.get(5)?),
            tried_at: Timestamp(row.get(6)?),
            batch_limit: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many rows from the first on make one batch, and whether it is complete: what only needs recording is
/// complete at once, the rest when its turn ends or the batch is full.
fn cut(heads: &[Head], patience: &Patience) -> (usize, bool) {
    let only_recorded =
        |head: &Head| !matches!(head.kind.as_str(), "prompt" | "tool" | "stop" | "subagent_stop");
    let recorded = heads.iter().take_while(|head| only_recorded(head)).count();
    if recorded > 0 {
        return (recorded, true);
    }
    let own_limit = heads.first().and_then(|head| head.batch_limit).unwrap_or(u32::MAX);
    let limit = usize::try_from(own_limit.min(patience.max_events).max(1)).unwrap_or(usize::MAX);
    let mut bytes = 0;
    for (index, head) in heads.iter().enumerate() {
        bytes += head.bytes;
        let next_turn = matches!(head.kind.as_str(), "prompt" | "session_start");
        if index > 0 && (next_turn || bytes > patience.max_bytes) {
            return (index, true);
        }
        if head.ends_turn || index + 1 == limit {
            return (index + 1, true);
        }
    }
    (heads.len(), false)
}

/// Whether the session went on to another turn, perhaps in another place: an interrupted turn has no end.
fn turn_is_over(conn: &Connection, session: &str, last: i64) -> Result<bool, SpoolError> {
    let later = conn
        .prepare_cached(
            "SELECT 1 FROM events WHERE session = ?1 AND id > ?2
             AND kind IN ('prompt', 'session_start', 'session_end') LIMIT 1",
        )?
        .query_row((session, last), |_| Ok(()))
        .optional()?;
    Ok(later.is_some())
}

fn lease_rows(
    conn: &Connection,
    ids: &[i64],
    place: i64,
    lease_until: Timestamp,
) -> Result<Claimed, SpoolError> {
    let batch = uuid::Uuid::now_v7().to_string();
    let identity: String =
        conn.query_row("SELECT identity FROM places WHERE id = ?1", [place], |row| row.get(0))?;
    let marks = vec!["?"; ids.len()].join(",");
    let mut lease = conn.prepare_cached("UPDATE events SET batch = ?1, lease_until = ?2 WHERE id = ?3")?;
    for id in ids {
        lease.execute((&batch, lease_until.0, id))?;
    }
    let mut statement = conn.prepare(&format!(
        "SELECT body, attempts, failed, tried_at FROM events WHERE id IN ({marks}) ORDER BY id"
    ))?;
    let mut rows = statement.query(params_from_iter(ids))?;
    let identity = serde_json::from_str(&identity)?;
    let mut claimed =
        Claimed { id: batch, identity, events: Vec::new(), attempts: 0, failed: 0, tried_at: Timestamp(0) };
    while let Some(row) = rows.next()? {
        claimed.events.push(serde_json::from_str(&row.get::<_, String>(0)?)?);
        claimed.attempts = row.get::<_, i64>(1)?.max(claimed.attempts);
        claimed.failed = row.get::<_, i64>(2)?.max(claimed.failed);
        claimed.tried_at = Timestamp(row.get(3)?).max(claimed.tried_at);
    }
    Ok(claimed)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
