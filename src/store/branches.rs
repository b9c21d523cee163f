//! Branches of linked worktrees, as they were while somebody worked there, and the adoption of their rows: a
//! pointer on each row, so that no row moves and undoing it restores exactly what was.

use rusqlite::OptionalExtension;

use super::{Store, StoreError, Transaction};
use crate::model::{Identity, Timestamp};

/// Where a row belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The project: a main checkout, a linked worktree, or a directory outside git.
    pub project: i64,
    /// The branch of a linked worktree.
    pub branch: Option<i64>,
    /// The project into which that branch was adopted: what is written later follows.
    pub merged_into: Option<i64>,
}

/// A branch with everything that tells whether it was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchRow {
    /// Its number.
    pub id: i64,
    /// Display name of the worktree, `parent/folder`.
    pub worktree: String,
    /// Name of the branch; `None` = detached.
    pub branch: Option<String>,
    /// When it was made: another branch of the same name is another one.
    pub born: Option<String>,
    /// Where it began.
    pub base: Option<String>,
    /// Its last commit.
    pub head: Option<String>,
    /// Its last commit that is its own work.
    pub own: Option<String>,
    /// Display name of the project into which it was adopted.
    pub adopted_into: Option<String>,
    /// How that was decided, in words.
    pub reason: Option<String>,
    /// The test that decided it.
    pub matched_by: Option<String>,
    /// The user took the adoption back: it is not repeated without him.
    pub held: bool,
    /// Observations written in it.
    pub observations: i64,
    /// Summaries written in it.
    pub summaries: i64,
}

/// What is known of a branch beside its name and its commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// When it was made; `None` = that cannot be told.
    pub born: Option<String>,
    /// Where it began.
    pub base: Option<String>,
    /// Its last commit that is its own work.
    pub own: Option<String>,
}

/// Why a branch is adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adoption {
    /// Stable name of the test, or `branch` when the user named it.
    pub matched_by: String,
    /// The same in words.
    pub reason: String,
}

impl Transaction<'_> {
    /// The place of an identity, made if it is new, with what is known of its branch.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn place(&self, identity: &Identity, trace: &Trace) -> Result<Place, StoreError> {
        let project = self.project(identity)?;
        if identity.worktree.is_none() {
            return Ok(Place { project, branch: None, merged_into: None });
        }
        let name = identity.branch.as_deref().unwrap_or_default();
        let latest: Option<String> = self
            .tx
            .prepare_cached(
                "SELECT born FROM branches WHERE project = ?1 AND name = ?2 ORDER BY id DESC LIMIT 1",
            )?
            .query_row((project, name), |row| row.get(0))
            .optional()?;
        // Where it cannot be told, it is the one that was there last.
        let born = trace.born.clone().or(latest).unwrap_or_default();
        let (branch, merged_into) = self
            .tx
            .prepare_cached(
                "INSERT INTO branches (project, name, born, base, head, own) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (project, name, born) DO UPDATE SET base = coalesce(base, excluded.base),
                   head = coalesce(excluded.head, head), own = coalesce(excluded.own, own)
                 RETURNING id, adopted_into",
            )?
            .query_row((project, name, &born, &trace.base, &identity.head, &trace.own), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        Ok(Place { project, branch: Some(branch), merged_into })
    }

    /// The place of a known project, by its display name; of a worktree the branch that was there last. `None` = no
    /// project is called so.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn place_by_name(&self, name: &str) -> Result<Option<Place>, StoreError> {
        let named: Option<(i64, String, String)> = self
            .tx
            .prepare_cached("SELECT id, key, worktree FROM projects WHERE name = ?1")?
            .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        let Some((id, key, worktree)) = named else { return Ok(None) };
        let project: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM projects WHERE key = ?1 AND worktree = ?2")?
            .query_row((self.meaning(&key)?, &worktree), |row| row.get(0))
            .optional()?;
        let project = project.unwrap_or(id);
        let branch: Option<(i64, Option<i64>)> = self
            .tx
            .prepare_cached(
                "SELECT id, adopted_into FROM branches WHERE project = ?1 ORDER BY id DESC LIMIT 1",
            )?
            .query_row([project], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (branch, merged_into) = branch.map_or((None, None), |(id, into)| (Some(id), into));
        Ok(Some(Place { project, branch, merged_into }))
    }

    /// Points every row of a branch to `parent`; returns how many observations and summaries.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn adopt(
        &self,
        branch: i64,
        parent: i64,
        why: &Adoption,
        at: Timestamp,
    ) -> Result<(usize, usize), StoreError> {
        self.tx.execute(
            "UPDATE branches SET adopted_into = ?2, matched_by = ?3, reason = ?4, adopted_at = ?5, held = 0
             WHERE id = ?1",
            (branch, parent, &why.matched_by, &why.reason, at.0),
        )?;
        self.point(branch, Some(parent))
    }

    /// Takes the adoption of a branch back; returns how many observations and summaries are its own again.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn release(&self, branch: i64) -> Result<(usize, usize), StoreError> {
        self.tx.execute(
            "UPDATE branches SET adopted_into = NULL, matched_by = NULL, reason = NULL, adopted_at = NULL, held = 1
             WHERE id = ?1",
            [branch],
        )?;
        self.point(branch, None)
    }

    fn point(&self, branch: i64, parent: Option<i64>) -> Result<(usize, usize), StoreError> {
        let set = |table: &str| {
            let sql =
                format!("UPDATE {table} SET merged_into = ?2 WHERE branch = ?1 AND merged_into IS NOT ?2");
            self.tx.execute(&sql, (branch, parent))
        };
        let counts = (set("observations")?, set("summaries")?);
        set("prompts")?;
        Ok(counts)
    }

    /// Remembers that the repository was looked at in this state, and what kept it from being understood.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn checked(
        &self,
        key: &str,
        state: &str,
        failure: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.tx.execute(
            "INSERT INTO adoption_checks (key, state, failure, at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (key) DO UPDATE SET state = excluded.state, failure = excluded.failure, at = excluded.at",
            (key, state, failure, at.0),
        )?;
        Ok(())
    }
}

impl Store {
    /// The recorded branches of a repository, in the order in which they came up.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn branches(&self, key: &str) -> Result<Vec<BranchRow>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT b.id, p.name, b.name, b.born, b.base, b.head, b.own, into_.name, b.reason, b.matched_by, b.held,
                    (SELECT count(*) FROM observations WHERE branch = b.id),
                    (SELECT count(*) FROM summaries WHERE branch = b.id)
             FROM branches b JOIN projects p ON p.id = b.project LEFT JOIN projects into_ ON into_.id = b.adopted_into
             WHERE p.key = coalesce((SELECT means FROM aliases WHERE key = ?1), ?1) ORDER BY b.id",
        )?;
        let rows = statement.query_map([key], |row| {
            Ok(BranchRow {
                id: row.get(0)?,
                worktree: row.get(1)?,
                branch: Some(row.get::<_, String>(2)?).filter(|name| !name.is_empty()),
                born: Some(row.get::<_, String>(3)?).filter(|born| !born.is_empty()),
                base: row.get(4)?,
                head: row.get(5)?,
                own: row.get(6)?,
                adopted_into: row.get(7)?,
                reason: row.get(8)?,
                matched_by: row.get(9)?,
                held: row.get(10)?,
                observations: row.get(11)?,
                summaries: row.get(12)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keys of the repositories of which worktrees were recorded.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn repositories(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT DISTINCT p.key FROM branches b JOIN projects p ON p.id = b.project ORDER BY p.key",
        )?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// The state in which a repository was last looked at.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn last_check(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.conn.prepare("SELECT state FROM adoption_checks WHERE key = ?1")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    /// Repositories that could not be understood when they were last looked at, with the reason.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn failed_checks(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut statement = self
            .conn
            .prepare("SELECT key, failure FROM adoption_checks WHERE failure IS NOT NULL ORDER BY at DESC")?;
        Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// The main checkout (or directory outside git) of a display name.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn project_named(&self, name: &str) -> Result<Option<i64>, StoreError> {
        let mut statement = self.conn.prepare("SELECT id FROM projects WHERE name = ?1 AND worktree = ''")?;
        Ok(statement.query_row([name], |row| row.get(0)).optional()?)
    }

    /// Display name of a repository's main checkout.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn main_name(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.conn.prepare(
            "SELECT name FROM projects
             WHERE key = coalesce((SELECT means FROM aliases WHERE key = ?1), ?1) AND worktree = ''",
        )?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }
}
