//! What the drainer and `cmem status` ask; searching is `retrieve`'s.

use rusqlite::OptionalExtension;

use super::{Store, StoreError};
use crate::config::Price;
use crate::model::Timestamp;

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

/// What was asked of one model.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct CallCount {
    pub model: String,
    pub calls: i64,
    pub input: i64,
    pub cached: i64,
    pub output: i64,
}

impl CallCount {
    /// What the tokens cost at the price of the model, if that is known; nothing for the embedded observer.
    pub fn dollars(&self, prices: &[Price]) -> Option<f64> {
        if self.model == "builtin" {
            return Some(0.0);
        }
        let price = Price::of(&self.model, prices)?;
        Some(price.dollars(self.input as f64, self.cached as f64, self.output as f64))
    }
}

impl Store {
    /// Confirmed calls by model, and how many observations were written since then.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn calls(&self, since: Timestamp) -> Result<(Vec<CallCount>, i64), StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT model, count(*), sum(input_tokens), sum(cached_tokens), sum(output_tokens) FROM batches
             WHERE created_at >= ?1 AND model <> '' GROUP BY model ORDER BY count(*) DESC, model",
        )?;
        let calls = statement.query_map([since.0], |row| {
            Ok(CallCount {
                model: row.get(0)?,
                calls: row.get(1)?,
                input: row.get(2)?,
                cached: row.get(3)?,
                output: row.get(4)?,
            })
        })?;
        let calls = calls.collect::<Result<_, _>>()?;
        let observations = self.conn.query_row(
            "SELECT count(*) FROM observations WHERE source = 'observer' AND created_at >= ?1",
            [since.0],
            |row| row.get(0),
        )?;
        Ok((calls, observations))
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

    /// Number and text of a session's latest prompt.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn last_prompt(&self, session: &str) -> Result<Option<(i64, String)>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT number, text FROM prompts WHERE session = ?1 ORDER BY number DESC LIMIT 1",
            )?
            .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }

    /// Empties the write-ahead log, as far as readers allow.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        Ok(self.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}
