//! Newest wins, with a pointer; what the user has said to matter is not replaced without the user. What waits for that
//! decision, and what comes of it.

use rusqlite::{Connection, OptionalExtension};

use super::{Store, StoreError, Transaction};
use crate::model::{Status, Timestamp};

/// What became of one that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// What it took the place of.
    pub superseded: Vec<i64>,
}

impl Transaction<'_> {
    /// Lets an observation take the place of those of its project that are in use. If one of them is pinned or of high
    /// priority, or it waits for review as it is, all of them are for the user to decide, and nothing is replaced until then.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn supersede(&self, id: i64, obsolete: &[i64]) -> Result<(), StoreError> {
        let (usual, kept) = self.in_use(id, obsolete)?;
        let all = [kept.as_slice(), &usual].concat();
        if !kept.is_empty() || (!all.is_empty() && self.waits(id)?) {
            return self.hold(id, &all);
        }
        usual.iter().try_for_each(|old| self.replace(*old, id))
    }

    /// Lets an observation wait for review, because it would take the place of those of its project that are in use; if
    /// there are none, nothing changes.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn contest(&self, id: i64, obsolete: &[i64]) -> Result<(), StoreError> {
        let (usual, kept) = self.in_use(id, obsolete)?;
        let all = [kept, usual].concat();
        if all.is_empty() { Ok(()) } else { self.hold(id, &all) }
    }

    /// What was replaced and is said again takes the place of what is in use instead, by the same rules as something new,
    /// unless that was said later than `at`.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn say_again(&self, id: i64, at: Timestamp) -> Result<(), StoreError> {
        if self.state(id)?.status != Status::Superseded {
            return Ok(());
        }
        let last = self.in_place_of(id)?;
        if let Some(last) = last
            && self.state(last)?.updated_at > at
        {
            return Ok(());
        }
        self.set_status(id, Status::Active)?;
        self.supersede(id, last.as_slice())
    }

    /// Takes one that waits into use, and puts away what it contests, or what took the place of that meanwhile. `None` = it
    /// does not wait.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn accept(&self, id: i64) -> Result<Option<Accepted>, StoreError> {
        if !self.waits(id)? {
            return Ok(None);
        }
        let mut superseded = Vec::new();
        for old in contested_by(&self.tx, id)? {
            if let Some(last) =
                self.in_place_of(old)?.filter(|last| *last != id && !superseded.contains(last))
            {
                superseded.push(last);
            }
        }
        self.set_status(id, Status::Active)?;
        superseded.iter().try_for_each(|old| self.replace(*old, id))?;
        Ok(Some(Accepted { superseded }))
    }

    /// Puts one that waits away; tells whether it waited.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn reject(&self, id: i64) -> Result<bool, StoreError> {
        if !self.waits(id)? {
            return Ok(false);
        }
        self.set_status(id, Status::Archived)
    }

    /// Says who contests what; `old` are in use and of the same project.
    fn hold(&self, id: i64, old: &[i64]) -> Result<(), StoreError> {
        self.tx.prepare_cached("UPDATE observations SET status = 'review' WHERE id = ?1")?.execute([id])?;
        let mut statement =
            self.tx.prepare_cached("INSERT OR IGNORE INTO contested (observation, old) VALUES (?1, ?2)")?;
        for old in old {
            statement.execute((id, old))?;
        }
        Ok(())
    }

    /// Those of some observations that another one of the project could replace: at once, and only by the user.
    fn in_use(&self, id: i64, of: &[i64]) -> Result<(Vec<i64>, Vec<i64>), StoreError> {
        let mut statement = self.tx.prepare_cached(
            "SELECT pinned = 1 OR priority = 'high' FROM observations
             WHERE id = ?2 AND id <> ?1 AND status = 'active'
               AND project = (SELECT project FROM observations WHERE id = ?1)",
        )?;
        let (mut usual, mut kept) = (Vec::new(), Vec::new());
        for old in of {
            match statement.query_row((id, old), |row| row.get(0)).optional()? {
                Some(true) if !kept.contains(old) => kept.push(*old),
                Some(false) if !usual.contains(old) => usual.push(*old),
                _ => {}
            }
        }
        Ok((usual, kept))
    }

    fn waits(&self, id: i64) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM observations WHERE id = ?1 AND status = 'review'";
        Ok(self.tx.prepare_cached(sql)?.exists([id])?)
    }

    /// The observation itself, or the last of those that took its place, if that is in use.
    fn in_place_of(&self, id: i64) -> Result<Option<i64>, StoreError> {
        // `UNION` ends at an id that was met.
        let sql = "WITH RECURSIVE later (id) AS (VALUES (?1) UNION
                     SELECT o.superseded_by FROM observations o JOIN later USING (id) WHERE o.superseded_by IS NOT NULL)
                   SELECT o.id FROM observations o JOIN later USING (id) WHERE o.status = 'active' LIMIT 1";
        Ok(self.tx.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
    }
}

impl Store {
    /// How many observations wait for review, in all projects.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn waiting_for_review(&self) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM observations WHERE status = 'review'";
        Ok(self.conn.query_row(sql, [], |row| row.get(0))?)
    }

    /// What an observation that waits for review contests.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn contested_by(&self, id: i64) -> Result<Vec<i64>, StoreError> {
        contested_by(&self.conn, id)
    }
}

fn contested_by(conn: &Connection, id: i64) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT old FROM contested WHERE observation = ?1 ORDER BY old";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;
    use crate::model::{Draft, Identity};
    use crate::store::{NewObservation, Standing, Trace};

    fn identity(name: &str) -> Identity {
        Identity {
            key: format!("/{name}/.git"),
            name: name.to_owned(),
            root: format!("/{name}"),
            worktree: None,
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        }
    }

    fn put(tx: &Transaction<'_>, project: &str, title: &str) -> i64 {
        let draft = Draft { title: title.to_owned(), ..Draft::default() };
        let new = NewObservation {
            place: tx.place(&identity(project), &Trace::default()).unwrap(),
            session: "s",
            prompt_number: None,
            draft: &draft,
            agent: None,
            model: "test",
            tokens_spent: 0,
            created_at: Timestamp(1),
            standing: Standing::OBSERVED,
        };
        tx.observation(&new).unwrap().id
    }

    fn standing(tx: &Transaction<'_>, id: i64) -> (String, Option<i64>) {
        let sql =
            "SELECT status, coalesce(superseded_by, (SELECT min(old) FROM contested WHERE observation = id))
                   FROM observations WHERE id = ?1";
        tx.conn().query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    fn with(status: Status, of: Option<i64>) -> (String, Option<i64>) {
        (status.name().to_owned(), of)
    }

    #[test]
    fn only_what_is_in_use_in_the_same_project_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        let tx = store.begin().unwrap();
        let (old, away, elsewhere) = (put(&tx, "x", "old"), put(&tx, "x", "away"), put(&tx, "y", "old"));
        tx.set_status(away, Status::Archived).unwrap();
        let new = put(&tx, "x", "new");
        tx.supersede(new, &[old, away, elsewhere, new, 999]).unwrap();
        assert_eq!(standing(&tx, old), with(Status::Superseded, Some(new)));
        assert_eq!(standing(&tx, away), with(Status::Archived, None));
        assert_eq!(standing(&tx, elsewhere), with(Status::Active, None));
        assert_eq!(standing(&tx, new), with(Status::Active, None));
    }

    #[test]
    fn what_waits_replaces_nothing_and_what_was_decided_is_decided() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        let tx = store.begin().unwrap();
        let (first, second, new) = (put(&tx, "x", "first"), put(&tx, "x", "second"), put(&tx, "x", "new"));
        tx.contest(new, &[]).unwrap();
        assert_eq!(standing(&tx, new), with(Status::Active, None));
        tx.contest(new, &[first]).unwrap();
        tx.supersede(new, &[second]).unwrap();
        assert_eq!(standing(&tx, new), with(Status::Review, Some(first)));
        assert_eq!(standing(&tx, second), with(Status::Active, None));
        assert!(tx.reject(new).unwrap());
        assert!(!tx.reject(new).unwrap());
        assert_eq!(tx.accept(new).unwrap(), None);
        assert_eq!(standing(&tx, new), with(Status::Archived, None));
        // What it contested then is forgotten.
        tx.set_status(new, Status::Active).unwrap();
        tx.contest(new, &[second]).unwrap();
        assert_eq!(tx.accept(new).unwrap(), Some(Accepted { superseded: vec![second] }));
        assert_eq!(standing(&tx, second), with(Status::Superseded, Some(new)));
        assert_eq!(standing(&tx, first), with(Status::Active, None));
    }
}
