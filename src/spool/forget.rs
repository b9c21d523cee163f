//! Events that hold what the user wants forgotten: observed later, they would bring it back.

use rusqlite::Connection;

use super::ledger::add;
use super::{LastError, Pause, Spool, SpoolError};
use crate::model::Passages;

/// Stands where a message was.
const FORGOTTEN: &str = "[forgotten]";

impl Spool {
    /// How many events hold one of the passages.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn holding(&self, passages: &Passages) -> Result<usize, SpoolError> {
        Ok(ids_holding(&self.conn, passages)?.len())
    }

    /// Deletes every event that holds one of the passages, counted as dropped, and what failures said of them; returns
    /// how many events. The caller holds `drain.lock`, so that no drainer has one of them in its hands.
    ///
    /// # Errors
    /// [`SpoolError`] when the database or `pause.json` fails.
    pub fn forget(&self, passages: &Passages) -> Result<usize, SpoolError> {
        let transaction = self.begin()?;
        let ids = ids_holding(&transaction, passages)?;
        for id in &ids {
            transaction.prepare_cached("DELETE FROM events WHERE id = ?1")?.execute([id])?;
        }
        add(&transaction, "dropped", i64::try_from(ids.len()).unwrap_or(i64::MAX))?;
        transaction.commit()?;
        if let Some(error) = self.last_error()?
            && (passages.are_in(&error.message) || passages.are_in(&error.remedy))
        {
            let (message, remedy) = (FORGOTTEN.to_owned(), FORGOTTEN.to_owned());
            self.set_last_error(&LastError { message, remedy, ..error })?;
        }
        if let Some(mut pause) = Pause::read(&self.paths)
            && strike(&mut pause, passages)
        {
            pause.write(&self.paths)?;
        }
        Ok(ids.len())
    }
}

/// Strikes passages out of what a pause says; tells whether there were any.
fn strike(pause: &mut Pause, passages: &Passages) -> bool {
    let fallback = pause.fallback.as_mut().is_some_and(|pause| strike(pause, passages));
    let mut struck = fallback;
    for text in [&mut pause.message, &mut pause.remedy] {
        if passages.are_in(text) {
            FORGOTTEN.clone_into(text);
            struck = true;
        }
    }
    struck
}

fn ids_holding(conn: &Connection, passages: &Passages) -> Result<Vec<i64>, SpoolError> {
    let mut statement = conn.prepare_cached("SELECT id, body, reason FROM events ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let body = serde_json::from_str(&row.get::<_, String>(1)?)?;
        let reason: Option<String> = row.get(2)?;
        if passages.are_in_value(&body) || reason.is_some_and(|reason| passages.are_in(&reason)) {
            ids.push(row.get(0)?);
        }
    }
    Ok(ids)
}
