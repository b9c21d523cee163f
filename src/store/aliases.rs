//! Projects that the user says are one: a repository that moved, or a clone that is the same thing.

use rusqlite::OptionalExtension;
use serde::Serialize;

use super::{Store, StoreError, Transaction};
use crate::model::Timestamp;

/// A project as `cmem project list` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectRow {
    /// Its number.
    #[serde(skip)]
    pub id: i64,
    /// Display name.
    pub name: String,
    /// Common directory of the repository, or the directory itself outside git.
    pub key: String,
    /// Root of the linked worktree; empty for a main checkout.
    pub worktree: String,
    /// Root of the checkout.
    pub root: String,
    /// URL of the remote `origin`.
    pub remote: Option<String>,
    /// Observations written there.
    pub observations: i64,
    /// Other places whose memory it is.
    pub aliases: Vec<String>,
    /// When something was last written there.
    pub last_at: Option<Timestamp>,
}

impl Store {
    /// Every project, by name.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn projects(&self) -> Result<Vec<ProjectRow>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT id, name, key, worktree, root, remote,
                    (SELECT count(*) FROM observations WHERE project = p.id),
                    (SELECT max(created_at) FROM observations WHERE project = p.id)
             FROM projects p ORDER BY name",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(ProjectRow {
                id: row.get(0)?,
                name: row.get(1)?,
                key: row.get(2)?,
                worktree: row.get(3)?,
                root: row.get(4)?,
                remote: row.get(5)?,
                observations: row.get(6)?,
                aliases: Vec::new(),
                last_at: row.get::<_, Option<i64>>(7)?.map(Timestamp),
            })
        })?;
        let mut projects: Vec<ProjectRow> = rows.collect::<Result<_, _>>()?;
        for project in projects.iter_mut().filter(|project| project.worktree.is_empty()) {
            project.aliases = self.spellings(&project.key)?;
        }
        Ok(projects)
    }

    /// Other keys that stand for this one.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn spellings(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare("SELECT key FROM aliases WHERE means = ?1 ORDER BY key")?;
        Ok(statement.query_map([key], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

impl Transaction<'_> {
    /// From now on what happens at `key` belongs to the project at `means`. A chain is never made: `means` is what it
    /// stands for itself, and who stood for `key` stands for it as well.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn alias(&self, key: &str, means: &str) -> Result<(), StoreError> {
        let means = &self.meaning(means)?;
        if key == means {
            return Ok(());
        }
        self.tx.execute("UPDATE aliases SET means = ?2 WHERE means = ?1", (key, means))?;
        self.tx.execute(
            "INSERT INTO aliases (key, means) VALUES (?1, ?2)
             ON CONFLICT (key) DO UPDATE SET means = excluded.means",
            (key, means),
        )?;
        Ok(())
    }

    /// Lets `into` see everything of `from`, and gives it the worktrees of `from`; returns how many observations it
    /// sees now. Rows stay where they were written.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn merge_project(&self, from: &ProjectRow, into: &ProjectRow) -> Result<usize, StoreError> {
        self.alias(&from.key, &into.key)?;
        // Worktrees that both know are one place; the others change hands.
        for table in ["observations", "summaries", "prompts", "branches", "sessions"] {
            self.tx.execute(
                &format!(
                    "UPDATE OR IGNORE {table} SET project = (SELECT new.id FROM projects old JOIN projects new
                       ON new.worktree = old.worktree AND new.key = ?2 WHERE old.id = {table}.project)
                     WHERE project IN (SELECT old.id FROM projects old JOIN projects new
                       ON new.worktree = old.worktree AND new.key = ?2 WHERE old.key = ?1 AND old.worktree <> '')"
                ),
                (&from.key, &into.key),
            )?;
        }
        self.tx.execute(
            "UPDATE OR IGNORE projects SET key = ?2 WHERE key = ?1 AND worktree <> ''",
            (&from.key, &into.key),
        )?;
        let point = |table: &str| {
            let sql =
                format!("UPDATE {table} SET merged_into = ?2 WHERE project = ?1 AND merged_into IS NULL");
            self.tx.execute(&sql, (from.id, into.id))
        };
        let observations = point("observations")?;
        point("summaries")?;
        point("prompts")?;
        // What was adopted into the one was meant for the other as well.
        for table in ["observations", "summaries", "prompts"] {
            self.tx.execute(
                &format!("UPDATE {table} SET merged_into = ?2 WHERE merged_into = ?1"),
                (from.id, into.id),
            )?;
        }
        self.tx
            .execute("UPDATE branches SET adopted_into = ?2 WHERE adopted_into = ?1", (from.id, into.id))?;
        self.tx.execute("UPDATE vector_epoch SET epoch = epoch + 1", [])?;
        Ok(observations)
    }

    /// The key that this one stands for.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn meaning(&self, key: &str) -> Result<String, StoreError> {
        let mut statement = self.tx.prepare_cached("SELECT means FROM aliases WHERE key = ?1")?;
        let found: Option<String> = statement.query_row([key], |row| row.get(0)).optional()?;
        Ok(found.unwrap_or_else(|| key.to_owned()))
    }
}
