//! What the drainer and `cmem status` ask; searching is `retrieve`'s.

use rusqlite::{Connection, OptionalExtension};

use super::{Store, StoreError};
use crate::model::{ASSISTANT, Timestamp};

/// Numbers for `cmem status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Counts {
    pub observations: i64,
    pub summaries: i64,
    pub prompts: i64,
    pub projects: i64,
    #[serde(skip)]
    pub last_stored_at: Option<Timestamp>,
}

impl Store {
    /// How many observations an observer has written since then; what the assistant suggested cost nothing.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn observed(&self, since: Timestamp) -> Result<i64, StoreError> {
        Ok(self.conn.query_row(
            "SELECT count(*) FROM observations WHERE source = 'observer' AND model <> ?2 AND created_at >= ?1",
            (since.0, ASSISTANT),
            |row| row.get(0),
        )?)
    }

    /// How much is remembered, and since when nothing new was.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn counts(&self) -> Result<Counts, StoreError> {
        Ok(self.conn.query_row(
            "SELECT (SELECT count(*) FROM observations), (SELECT count(*) FROM summaries),
                    (SELECT count(*) FROM prompts), (SELECT count(*) FROM projects),
                    (SELECT max(created_at) FROM observations)",
            [],
            |row| {
                Ok(Counts {
                    observations: row.get(0)?,
                    summaries: row.get(1)?,
                    prompts: row.get(2)?,
                    projects: row.get(3)?,
                    last_stored_at: row.get::<_, Option<i64>>(4)?.map(Timestamp),
                })
            },
        )?)
    }

    /// The class of a batch that is recorded.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn batch_class(&self, batch: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT class FROM batches WHERE id = ?1")?
            .query_row([batch], |row| row.get(0))
            .optional()?)
    }

    /// Titles recorded in a session, oldest first, the last `limit` of them.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn titles(&self, session: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT title FROM observations WHERE session = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut titles =
            statement.query_map((session, limit), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        titles.reverse();
        Ok(titles)
    }

    /// The prompts of a session, and when they were sent.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prompts_of(&self, session: &str) -> Result<Vec<(Timestamp, String)>, StoreError> {
        let sql = "SELECT created_at, text FROM prompts WHERE session = ?1";
        let mut statement = self.conn.prepare_cached(sql)?;
        let prompts = statement.query_map([session], |row| Ok((Timestamp(row.get(0)?), row.get(1)?)))?;
        Ok(prompts.collect::<Result<_, _>>()?)
    }

    /// Text of the prompt that a session was at work on at a moment: turns may be recorded in another order.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prompt_at(&self, session: &str, moment: Timestamp) -> Result<Option<String>, StoreError> {
        Ok(prompt_at(&self.conn, session, moment)?.map(|(_, text)| text))
    }
}

/// Number and text of that prompt.
pub(super) fn prompt_at(
    conn: &Connection,
    session: &str,
    moment: Timestamp,
) -> Result<Option<(i64, String)>, StoreError> {
    Ok(conn
        .prepare_cached(
            "SELECT number, text FROM prompts WHERE session = ?1 AND created_at <= ?2
             ORDER BY created_at DESC, number DESC LIMIT 1",
        )?
        .query_row((session, moment.0), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}
