//! Project rows: one for each main checkout, linked worktree or directory outside git.

use std::path::Path;

use rusqlite::OptionalExtension;
use sha2::{Digest, Sha256};

use super::{StoreError, Transaction};
use crate::model::{Identity, Timestamp};

impl Transaction<'_> {
    /// The project of an identity, created with a name that no other has; returns its id. A worktree's
    /// parent is created with it.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn project(&self, identity: &Identity) -> Result<i64, StoreError> {
        let main_root = match &identity.worktree {
            None => identity.root.as_str(),
            Some(_) => identity.key.strip_suffix("/.git").unwrap_or(&identity.key),
        };
        let key = self.meaning(&identity.key)?;
        let parent = self.get_or_create(identity, &key, "", main_root, &identity.name)?;
        let Some(worktree) = &identity.worktree else { return Ok(parent) };
        let parent_name: String =
            self.tx.query_row("SELECT name FROM projects WHERE id = ?1", [parent], |row| row.get(0))?;
        let name = format!("{parent_name}/{}", last_part(worktree));
        self.get_or_create(identity, &key, worktree, worktree, &name)
    }

    fn get_or_create(
        &self,
        identity: &Identity,
        key: &str,
        worktree: &str,
        root: &str,
        name: &str,
    ) -> Result<i64, StoreError> {
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM projects WHERE key = ?1 AND worktree = ?2")?
            .query_row((key, worktree), |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            return Ok(id);
        }
        if let Some(id) = self.take_over(identity, key, worktree, root, name)? {
            return Ok(id);
        }
        let name = self.free_name(name, root)?;
        self.tx.execute(
            "INSERT INTO projects (key, worktree, name, root, remote, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (key, worktree, name, root, &identity.remote, Timestamp::now().0),
        )?;
        Ok(self.tx.last_insert_rowid())
    }

    /// The name itself, else qualified by the folder above, else by a hash of the path.
    pub(super) fn free_name(&self, name: &str, root: &str) -> Result<String, StoreError> {
        let above = Path::new(root).parent().map(|parent| last_part(&parent.to_string_lossy()).to_owned());
        let hash = Sha256::digest(root.as_bytes());
        let hash = format!("{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2]);
        let candidates =
            [Some(name.to_owned()), above.filter(|a| !a.is_empty()).map(|a| format!("{name} ({a})"))];
        for candidate in candidates.into_iter().flatten() {
            let taken = self
                .tx
                .prepare_cached("SELECT 1 FROM projects WHERE name = ?1")?
                .query_row([&candidate], |_| Ok(()))
                .optional()?;
            if taken.is_none() {
                return Ok(candidate);
            }
        }
        Ok(format!("{name} ({hash})"))
    }
}

fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}
