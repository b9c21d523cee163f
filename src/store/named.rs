//! Projects of which only the name is known, because their memories come from elsewhere. The first repository of that
//! name in which something is remembered takes the place over.

use rusqlite::OptionalExtension;

use super::{Place, StoreError, Transaction};
use crate::model::{Identity, Timestamp};

/// Before the name, in place of a directory.
const BY_NAME: &str = "name:";

/// The key of a project of which only the name is known.
pub(crate) fn key_of_name(name: &str) -> String {
    format!("{BY_NAME}{name}")
}

impl Transaction<'_> {
    /// The place of the project of this name, made if there is none; `parent/worktree` is a worktree of `parent`.
    /// Tells whether it is new.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn place_named(&self, name: &str) -> Result<(Place, bool), StoreError> {
        if let Some(place) = self.place_by_name(name)? {
            return Ok((place, false));
        }
        let (key, worktree) = match name.split_once('/') {
            Some((parent, worktree)) if !parent.is_empty() && !worktree.is_empty() => {
                let (parent, _) = self.place_named(parent)?;
                let sql = "SELECT key FROM projects WHERE id = ?1";
                let key: String =
                    self.tx.prepare_cached(sql)?.query_row([parent.project], |row| row.get(0))?;
                (key, worktree)
            }
            _ => (key_of_name(name), ""),
        };
        self.tx
            .prepare_cached(
                "INSERT INTO projects (key, worktree, name, root, created_at) VALUES (?1, ?2, ?3, '', ?4)",
            )?
            .execute((&key, worktree, name, Timestamp::now().0))?;
        Ok((Place { project: self.tx.last_insert_rowid(), branch: None, merged_into: None }, true))
    }

    /// Whether a session was in a project.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn knows_session(&self, session: &str, project: i64) -> Result<bool, StoreError> {
        let mut statement =
            self.tx.prepare_cached("SELECT 1 FROM sessions WHERE session = ?1 AND project = ?2")?;
        Ok(statement.query_row((session, project), |_| Ok(())).optional()?.is_some())
    }

    /// Gives what is known by this name alone to the place that has it; returns the project.
    pub(super) fn take_over(
        &self,
        identity: &Identity,
        key: &str,
        worktree: &str,
        root: &str,
        name: &str,
    ) -> Result<Option<i64>, StoreError> {
        let (known_key, known_worktree) = match worktree.rsplit('/').next().filter(|_| !worktree.is_empty()) {
            Some(folder) => (key.to_owned(), folder),
            None => (key_of_name(name), ""),
        };
        let id: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM projects WHERE key = ?1 AND worktree = ?2")?
            .query_row((&known_key, known_worktree), |row| row.get(0))
            .optional()?;
        let Some(id) = id else { return Ok(None) };
        self.tx.execute("UPDATE projects SET key = ?2 WHERE key = ?1", (&known_key, key))?;
        self.tx.execute(
            "UPDATE projects SET worktree = ?2, root = ?3, remote = ?4 WHERE id = ?1",
            (id, worktree, root, &identity.remote),
        )?;
        Ok(Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;
    use crate::store::{Store, Trace};

    fn identity(key: &str, worktree: Option<&str>) -> Identity {
        Identity {
            key: format!("{key}/.git"),
            name: String::from("shop"),
            root: worktree.unwrap_or(key).to_owned(),
            worktree: worktree.map(str::to_owned),
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        }
    }

    #[test]
    fn the_first_repository_of_a_name_takes_over_what_is_known_by_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        let tx = store.begin().unwrap();
        let named = |name: &str| tx.place_named(name).unwrap();
        let (tree, fresh) = named("shop/fix-1");
        assert!(fresh);
        let (main, fresh) = named("shop");
        assert!(!fresh && main.project != tree.project);
        let at = |identity: &Identity| tx.place(identity, &Trace::default()).unwrap().project;
        assert_eq!(at(&identity("/a/shop", None)), main.project);
        assert_eq!(at(&identity("/a/shop", Some("/trees/fix-1"))), tree.project);
        assert_eq!(named("shop/fix-1").0.project, tree.project);
        let other = at(&identity("/b/shop", None));
        assert!(other != main.project, "another repository of that name is another project");
        assert_eq!(at(&identity("/a/shop", None)), main.project);
    }
}
