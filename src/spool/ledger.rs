use std::collections::BTreeMap;

use rusqlite::Connection;
use serde::Serialize;

use super::SpoolError;

/// What became of every event that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Events that reached a hook.
    pub seen: i64,
    /// Events whose content is in memory.
    pub stored: i64,
    /// Events in which the observer found nothing to record.
    pub nothing: i64,
    /// Events left out on purpose, by reason.
    pub skipped: BTreeMap<String, i64>,
    /// Events that the user dropped from the queue.
    pub dropped: i64,
    /// Events in the queue that will be tried.
    pub waiting: i64,
    /// Events in the queue that wait for the user.
    pub parked: i64,
}

impl Ledger {
    /// Events seen minus events accounted for: zero, unless something vanished.
    pub fn balance(&self) -> i64 {
        let accounted = self.stored
            + self.nothing
            + self.skipped.values().sum::<i64>()
            + self.dropped
            + self.waiting
            + self.parked;
        self.seen - accounted
    }

    /// All of it from one consistent read.
    pub(super) fn read(conn: &Connection) -> Result<Self, SpoolError> {
        let mut ledger = Self::default();
        let mut statement = conn.prepare_cached(
            "SELECT entry, count FROM ledger
             UNION ALL SELECT 'waiting', count(*) FROM events WHERE parked = 0
             UNION ALL SELECT 'parked', count(*) FROM events WHERE parked = 1",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (entry, count): (String, i64) = (row.get(0)?, row.get(1)?);
            match entry.as_str() {
                "seen" => ledger.seen = count,
                "stored" => ledger.stored = count,
                "nothing" => ledger.nothing = count,
                "dropped" => ledger.dropped = count,
                "waiting" => ledger.waiting = count,
                "parked" => ledger.parked = count,
                other => {
                    let reason = other.strip_prefix(SKIPPED).unwrap_or(other).to_owned();
                    *ledger.skipped.entry(reason).or_default() += count;
                }
            }
        }
        Ok(ledger)
    }
}

const SKIPPED: &str = "skipped:";

pub(super) fn skipped(reason: &str) -> String {
    format!("{SKIPPED}{reason}")
}

/// Adds to one entry, inside the caller's transaction.
pub(super) fn add(conn: &Connection, entry: &str, count: i64) -> Result<(), SpoolError> {
    if count != 0 {
        conn.prepare_cached(
            "INSERT INTO ledger (entry, count) VALUES (?1, ?2)
             ON CONFLICT (entry) DO UPDATE SET count = count + excluded.count",
        )?
        .execute((entry, count))?;
    }
    Ok(())
}
