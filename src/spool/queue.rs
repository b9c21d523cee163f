//! The operator's view: what waits, what is parked, and the two things one can do about it.

use rusqlite::Connection;
use serde::Serialize;

use super::ledger::{Ledger, add};
use super::{LastError, Pause, Spool, SpoolError};
use crate::model::{Identity, Timestamp};

/// One row of `cmem queue list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueRow {
    /// Number of the event, for `retry` and `drop`.
    pub id: i64,
    /// Session it belongs to.
    pub session: String,
    /// Project it happened in.
    pub project: String,
    /// What happened, such as `tool` or `stop`.
    pub kind: String,
    /// The tool, if one was called.
    pub tool: Option<String>,
    /// `waiting`, `working` or `parked`.
    pub state: &'static str,
    /// Class of the last failure.
    pub class: Option<String>,
    /// What the last failure was.
    pub reason: Option<String>,
    /// Failed attempts that count towards parking.
    pub attempts: i64,
    /// When it happened.
    pub at: Timestamp,
    /// Not before this time; `None` = now.
    pub due_at: Option<Timestamp>,
}

/// Which rows a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Every row.
    All,
    /// These.
    Ids(Vec<i64>),
}

/// Numbers for `cmem status`.
#[derive(Debug, Clone)]
pub struct SpoolStatus {
    /// Events that will be tried.
    pub waiting: i64,
    /// Events that wait for the user.
    pub parked: i64,
    /// When the oldest waiting event happened.
    pub oldest_at: Option<Timestamp>,
    /// Why the observer is not called for now.
    pub pause: Option<Pause>,
    /// The last failure.
    pub last_error: Option<LastError>,
    /// What became of every event.
    pub ledger: Ledger,
}

impl Spool {
    /// Numbers for `cmem status`, from one consistent read.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn status(&self) -> Result<SpoolStatus, SpoolError> {
        let snapshot = self.conn.unchecked_transaction()?;
        let oldest: Option<i64> =
            snapshot.query_row("SELECT min(at) FROM events WHERE parked = 0", [], |row| row.get(0))?;
        let ledger = Ledger::read(&snapshot)?;
        Ok(SpoolStatus {
            waiting: ledger.waiting,
            parked: ledger.parked,
            oldest_at: oldest.map(Timestamp),
            pause: Pause::read(&self.paths),
            last_error: self.last_error()?,
            ledger,
        })
    }

    /// Every row, oldest first.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn queue(&self) -> Result<Vec<QueueRow>, SpoolError> {
        let mut statement = self.conn.prepare(
            "SELECT e.id, e.session, p.identity, e.kind, e.tool, e.parked, e.batch IS NOT NULL, e.class,
                    e.reason, e.attempts, e.at, e.due_at
             FROM events e JOIN places p ON p.id = e.place ORDER BY e.id",
        )?;
        let mut rows = statement.query([])?;
        let mut queue = Vec::new();
        while let Some(row) = rows.next()? {
            let identity: Identity = serde_json::from_str(&row.get::<_, String>(2)?)?;
            let (parked, working): (bool, bool) = (row.get(5)?, row.get(6)?);
            let due_at: i64 = row.get(11)?;
            queue.push(QueueRow {
                id: row.get(0)?,
                session: row.get(1)?,
                project: identity.name,
                kind: row.get(3)?,
                tool: row.get(4)?,
                state: match (parked, working) {
                    (true, _) => "parked",
                    (false, true) => "working",
                    (false, false) => "waiting",
                },
                class: row.get(7)?,
                reason: row.get(8)?,
                attempts: row.get(9)?,
                at: Timestamp(row.get(10)?),
                due_at: (due_at > 0).then_some(Timestamp(due_at)),
            });
        }
        Ok(queue)
    }

    /// Makes rows due again, parked ones included, and ends the pause; returns how many.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn retry(&self, selection: &Selection) -> Result<usize, SpoolError> {
        let transaction = self.begin()?;
        let count = for_each(&transaction, selection, |conn, condition, ids| {
            let sql = format!(
                "UPDATE events SET parked = 0, attempts = 0, failed = 0, batch_limit = NULL, due_at = 0, tried_at = 0
                 WHERE batch IS NULL {condition}"
            );
            Ok(conn.execute(&sql, rusqlite::params_from_iter(ids))?)
        })?;
        transaction.commit()?;
        Pause::end(&self.paths)?;
        Ok(count)
    }

    /// Deletes rows for good, counted as dropped; returns how many. Rows a drainer works on stay.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn discard(&self, selection: &Selection) -> Result<usize, SpoolError> {
        let transaction = self.begin()?;
        let count = for_each(&transaction, selection, |conn, condition, ids| {
            let sql = format!("DELETE FROM events WHERE batch IS NULL {condition}");
            Ok(conn.execute(&sql, rusqlite::params_from_iter(ids))?)
        })?;
        add(&transaction, "dropped", i64::try_from(count).unwrap_or(i64::MAX))?;
        transaction.commit()?;
        self.tidy()?;
        Ok(count)
    }
}

fn for_each(
    conn: &Connection,
    selection: &Selection,
    run: impl Fn(&Connection, &str, &[i64]) -> Result<usize, SpoolError>,
) -> Result<usize, SpoolError> {
    match selection {
        Selection::All => run(conn, "", &[]),
        Selection::Ids(ids) => ids.iter().map(|id| run(conn, "AND id = ?1", &[*id])).sum(),
    }
}
