//! What time does to memories: they are of use or not, they expire, they are put away and brought back.

use rusqlite::OptionalExtension;

use super::{StoreError, Transaction};
use crate::model::{Status, Timestamp};

/// How often an observation was of use since that was last counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Which.
    pub observation: i64,
    /// How often.
    pub times: i64,
    /// The last time.
    pub last: Timestamp,
}

/// What became of an observation that was to be brought back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BroughtBack {
    /// It is in use again.
    Back,
    /// It was not put away, but stands so.
    Stands(Status),
    /// There is none of this id.
    Missing,
}

impl Transaction<'_> {
    /// Counts uses; those of observations that are not there count for nothing.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn count_uses(&self, uses: &[Use]) -> Result<(), StoreError> {
        let mut statement = self.tx.prepare_cached(
            "UPDATE observations SET hit_count = hit_count + ?2, last_hit_at = max(coalesce(last_hit_at, 0), ?3)
             WHERE id = ?1",
        )?;
        for used in uses {
            statement.execute((used.observation, used.times, used.last.0))?;
        }
        Ok(())
    }

    /// Notes that the lines of a file of uses are counted; `false` when they were before.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn begin_counting(&self, file: &str) -> Result<bool, StoreError> {
        let sql = "INSERT OR IGNORE INTO counted_uses (file) VALUES (?1)";
        Ok(self.tx.prepare_cached(sql)?.execute([file])? > 0)
    }

    /// Forgets a file of uses that is gone.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn end_counting(&self, file: &str) -> Result<(), StoreError> {
        self.tx.prepare_cached("DELETE FROM counted_uses WHERE file = ?1")?.execute([file])?;
        Ok(())
    }

    /// Puts away what has expired; returns how many that were.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn archive_due(&self, now: Timestamp) -> Result<usize, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "UPDATE observations SET status = 'archived'
                 WHERE status IN ('active', 'review') AND expires_at <= ?1",
            )?
            .execute([now.0])?)
    }

    /// Puts an observation away that is in use, unless it is pinned or of high priority; tells whether that is a change.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn put_away(&self, id: i64) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET status = 'archived'
                   WHERE id = ?1 AND status = 'active' AND pinned = 0 AND priority <> 'high'";
        Ok(self.tx.prepare_cached(sql)?.execute([id])? > 0)
    }

    /// What was put away or replaced, or has expired, and is said again by the user holds again, until then. What became
    /// part of another observation stays there.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn hold_again(&self, id: i64, until: Option<Timestamp>) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET status = 'active', superseded_by = NULL, expires_at = ?2
                 WHERE id = ?1 AND id NOT IN (SELECT source FROM sources)
                   AND (status IN ('archived', 'superseded') OR expires_at <= ?3)",
            )?
            .execute((id, until.map(|at| at.0), Timestamp::now().0))?;
        Ok(())
    }

    /// Brings back an observation that was put away; if it had expired, it holds from now on. It is of use: otherwise it
    /// would be the first to be put away again.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn bring_back(&self, id: i64, now: Timestamp) -> Result<BroughtBack, StoreError> {
        let row: Option<(String, Option<i64>)> = self
            .tx
            .prepare_cached("SELECT status, expires_at FROM observations WHERE id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((status, expires_at)) = row else { return Ok(BroughtBack::Missing) };
        let expires_at = expires_at.map(Timestamp);
        let status: Status = serde_json::from_value(status.into())?;
        match status.at(now, expires_at) {
            Status::Archived => {
                self.set_status(id, Status::Active)?;
                if expires_at.is_some_and(|end| end <= now) {
                    self.expire(id, None)?;
                }
                self.tx.execute("UPDATE observations SET last_hit_at = ?2 WHERE id = ?1", (id, now.0))?;
                Ok(BroughtBack::Back)
            }
            status => Ok(BroughtBack::Stands(status)),
        }
    }
}
