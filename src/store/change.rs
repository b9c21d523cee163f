//! What becomes of memories after they were stored. No method here touches an index: `index` does, in the same
//! transaction.

use rusqlite::{Connection, OptionalExtension};

use super::consolidate::own_key;
use super::rows;
use super::write::content_key;
use super::{Store, StoreError, Transaction};
use crate::model::{Draft, Priority, Status, Timestamp};

/// What an edit came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revised {
    /// The texts are replaced, and the old ones kept as a revision.
    Changed,
    /// It says so already.
    Unchanged,
    /// Another observation of the project says just that: nothing was changed.
    SameAs(i64),
}

impl Store {
    /// What an observation says.
    ///
    /// # Errors
    /// [`StoreError::Sql`], also when there is none of this id.
    pub fn texts_of(&self, id: i64) -> Result<Draft, StoreError> {
        texts_of(&self.conn, id)
    }
}

impl Transaction<'_> {
    /// Replaces the texts of an observation; what they were is kept.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn revise(&self, id: i64, draft: &Draft, at: Timestamp) -> Result<Revised, StoreError> {
        let old = self.texts_of(id)?;
        if old == (Draft { supersedes: Vec::new(), ..draft.clone() }) {
            return Ok(Revised::Unchanged);
        }
        let put_together: Option<String> = self
            .tx
            .prepare_cached(
                "SELECT uid FROM observations WHERE id = ?1 AND id IN (SELECT observation FROM sources)",
            )?
            .query_row([id], |row| row.get(0))
            .optional()?;
        let key = match put_together {
            Some(uid) => own_key(&uid),
            None => content_key(&draft.title, &draft.narrative),
        };
        let same: Option<i64> = self
            .tx
            .prepare_cached(
                "SELECT id FROM observations
                 WHERE project = (SELECT project FROM observations WHERE id = ?1) AND content_key = ?2 AND id <> ?1",
            )?
            .query_row((id, &key[..]), |row| row.get(0))
            .optional()?;
        if let Some(same) = same {
            return Ok(Revised::SameAs(same));
        }
        self.tx
            .prepare_cached("INSERT INTO revisions (observation, draft, until) VALUES (?1, ?2, ?3)")?
            .execute((id, serde_json::to_string(&old)?, at.0))?;
        self.tx
            .prepare_cached(
                "UPDATE observations SET type = ?2, title = ?3, subtitle = ?4, narrative = ?5, facts = ?6,
                   concepts = ?7, keywords = ?8, files_read = ?9, files_modified = ?10, content_key = ?11,
                   updated_at = max(updated_at, ?12) WHERE id = ?1",
            )?
            .execute(rusqlite::params![
                id,
                draft.r#type,
                draft.title,
                draft.subtitle,
                draft.narrative,
                serde_json::to_string(&draft.facts)?,
                serde_json::to_string(&draft.concepts)?,
                serde_json::to_string(&draft.keywords)?,
                serde_json::to_string(&draft.files_read)?,
                serde_json::to_string(&draft.files_modified)?,
                &key[..],
                at.0,
            ])?;
        Ok(Revised::Changed)
    }

    /// What an observation says.
    ///
    /// # Errors
    /// [`StoreError::Sql`], also when there is none of this id.
    pub fn texts_of(&self, id: i64) -> Result<Draft, StoreError> {
        texts_of(&self.tx, id)
    }

    /// Keeps an observation in every context, or no longer; tells whether that is a change.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn pin(&self, id: i64, pinned: bool) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET pinned = ?2 WHERE id = ?1 AND pinned <> ?2";
        Ok(self.tx.prepare_cached(sql)?.execute((id, pinned))? > 0)
    }

    /// Says how much an observation matters; tells whether that is a change.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prioritise(&self, id: i64, priority: Priority) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET priority = ?2 WHERE id = ?1 AND priority <> ?2";
        Ok(self.tx.prepare_cached(sql)?.execute((id, priority.name()))? > 0)
    }

    /// Says until when an observation holds; tells whether that is a change.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn expire(&self, id: i64, at: Option<Timestamp>) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET expires_at = ?2 WHERE id = ?1 AND expires_at IS NOT ?2";
        Ok(self.tx.prepare_cached(sql)?.execute((id, at.map(|at| at.0)))? > 0)
    }

    /// Puts an observation into use, or away. It supersedes nothing and is superseded by nothing that way; what it
    /// contested stands.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn set_status(&self, id: i64, status: Status) -> Result<bool, StoreError> {
        let sql = "UPDATE observations SET status = ?2, superseded_by = NULL
                   WHERE id = ?1 AND status <> ?2";
        Ok(self.tx.prepare_cached(sql)?.execute((id, status.name()))? > 0)
    }

    /// Says that one observation takes the place of another, whatever that one's standing.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn replace(&self, old: i64, new: i64) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET status = 'superseded', superseded_by = ?2 WHERE id = ?1",
            )?
            .execute((old, new))?;
        self.tx
            .prepare_cached("UPDATE observations SET status = 'active' WHERE id = ?1 AND status = 'review'")?
            .execute([new])?;
        Ok(())
    }

    /// Takes an observation away for good. What it superseded is superseded by what superseded it, or in use again; what was
    /// put together from it alone is known by what it says, as any other.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub(crate) fn delete_observation(&self, id: i64) -> Result<(), StoreError> {
        self.tx.execute(
            "UPDATE observations SET superseded_by = later.superseded_by,
               status = CASE WHEN later.superseded_by IS NULL THEN 'active' ELSE 'superseded' END
             FROM (SELECT superseded_by FROM observations WHERE id = ?1) later WHERE observations.superseded_by = ?1",
            [id],
        )?;
        let sql = "SELECT observation FROM sources GROUP BY observation HAVING min(source) = ?1 AND max(source) = ?1";
        let wholes: Vec<i64> =
            self.tx.prepare_cached(sql)?.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
        self.tx.prepare_cached("DELETE FROM observations WHERE id = ?1")?.execute([id])?;
        wholes.into_iter().try_for_each(|whole| self.know_by_text(whole))
    }

    /// Gives an observation the key of its text, unless another one of the project has it.
    fn know_by_text(&self, id: i64) -> Result<(), StoreError> {
        let draft = self.texts_of(id)?;
        self.tx
            .prepare_cached("UPDATE OR IGNORE observations SET content_key = ?2 WHERE id = ?1")?
            .execute((id, &content_key(&draft.title, &draft.narrative)[..]))?;
        Ok(())
    }
}

fn texts_of(conn: &Connection, id: i64) -> Result<Draft, StoreError> {
    let sql = format!("SELECT {} FROM observations o WHERE o.id = ?1", rows::DRAFT_COLUMNS);
    Ok(conn.prepare_cached(&sql)?.query_row([id], rows::draft)?)
}
