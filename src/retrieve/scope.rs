//! Which projects a reader sees: a worktree sees its parent and itself, a parent what was merged into it,
//! worktrees never each other.

use rusqlite::OptionalExtension;

use super::Scope;
use crate::model::Identity;
use crate::store::{Store, StoreError, key_of_name};

/// The scope of a reader who stands at `identity`. A place that was never recorded sees its parent alone.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn scope(store: &Store, identity: &Identity) -> Result<Scope, StoreError> {
    let worktree = identity.worktree.as_deref().unwrap_or_default();
    match parent_and_worktree(store, &identity.key, worktree)? {
        // Nothing was recorded here yet, but perhaps something is known by its name.
        Scope::Projects(ids) if ids.is_empty() => {
            parent_and_worktree(store, &key_of_name(&identity.name), worktree)
        }
        scope => Ok(scope),
    }
}

/// Under which display name a project is known: another one than its own where two have the same.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn name_of(store: &Store, identity: &Identity) -> Result<Option<String>, StoreError> {
    let sql = "SELECT name FROM projects WHERE key = ?1 AND worktree = ''";
    Ok(store.conn().query_row(sql, [&identity.key], |row| row.get(0)).optional()?)
}

/// The scope of a project by its display name; `None` when there is no such project.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn scope_by_name(store: &Store, name: &str) -> Result<Option<Scope>, StoreError> {
    let found: Option<(String, String)> = store
        .conn()
        .query_row("SELECT key, worktree FROM projects WHERE name = ?1", [name], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    found.map(|(key, worktree)| parent_and_worktree(store, &key, &worktree)).transpose()
}

fn parent_and_worktree(store: &Store, key: &str, worktree: &str) -> Result<Scope, StoreError> {
    let mut statement = store.conn().prepare_cached(
        "SELECT id FROM projects
         WHERE key = coalesce((SELECT means FROM aliases WHERE key = ?1), ?1) AND worktree IN ('', ?2, ?3)
         ORDER BY worktree",
    )?;
    // One that came from elsewhere is known by the name of its folder alone.
    let folder = worktree.rsplit('/').next().unwrap_or_default();
    let ids = statement.query_map((key, worktree, folder), |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(Scope::Projects(ids))
}

/// Display names of the projects of a scope; `None` = of all.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn names_in(store: &Store, scope: &Scope) -> Result<Option<Vec<String>>, StoreError> {
    let Scope::Projects(ids) = scope else { return Ok(None) };
    Ok(Some(store.of_ids(ids, "SELECT name FROM projects WHERE id IN (?ids)", &[], |row| row.get(0))?))
}

/// Root of the checkout that a project was recorded in, by its display name.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn root_of(store: &Store, name: &str) -> Result<Option<String>, StoreError> {
    let mut statement = store.conn().prepare_cached("SELECT root FROM projects WHERE name = ?1")?;
    Ok(statement.query_row([name], |row| row.get(0)).optional()?)
}

/// Display names of all projects, for a message about a name that is none of them.
///
/// # Errors
/// [`StoreError::Sql`].
pub fn project_names(store: &Store) -> Result<Vec<String>, StoreError> {
    let mut statement = store.conn().prepare("SELECT name FROM projects ORDER BY name")?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}
