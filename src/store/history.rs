//! What stands around an observation: what it said before, and which others point to it.

use rusqlite::OptionalExtension;

use super::{Store, StoreError, Transaction};
use crate::model::{Links, Priority, Revision, Status, Timestamp};

/// How an observation stands at the moment of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Position {
    pub project: i64,
    pub project_name: String,
    pub status: Status,
    pub superseded_by: Option<i64>,
    pub priority: Priority,
    pub expires_at: Option<Timestamp>,
}

impl Store {
    /// What an observation said before each edit, oldest first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn revisions(&self, id: i64) -> Result<Vec<Revision>, StoreError> {
        super::rows::revisions(&self.conn, id)
    }

    /// Which observations point to one, in the order in which they were stored.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn links(&self, id: i64) -> Result<Links, StoreError> {
        let ids = |sql: &str| -> Result<Vec<i64>, StoreError> {
            let mut statement = self.conn.prepare_cached(sql)?;
            Ok(statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
        };
        Ok(Links {
            supersedes: ids("SELECT id FROM observations WHERE superseded_by = ?1 ORDER BY id")?,
            contested_by: ids("SELECT observation FROM contested WHERE old = ?1 ORDER BY observation")?,
            put_together_from: ids("SELECT source FROM sources WHERE observation = ?1 ORDER BY source")?,
            put_together_into: ids("SELECT observation FROM sources WHERE source = ?1 ORDER BY observation")?,
        })
    }
}

impl Transaction<'_> {
    /// How an observation stands; `None` when there is none of this id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn position(&self, id: i64) -> Result<Option<Position>, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT o.project, q.name, o.status, o.superseded_by, o.priority, o.expires_at
                 FROM observations o JOIN projects q ON q.id = o.project WHERE o.id = ?1",
            )?
            .query_row([id], |row| {
                Ok(Position {
                    project: row.get(0)?,
                    project_name: row.get(1)?,
                    status: super::rows::word(row, 2)?,
                    superseded_by: row.get(3)?,
                    priority: super::rows::word(row, 4)?,
                    expires_at: super::rows::time(row, 5)?,
                })
            })
            .optional()?)
    }
}
