//! What waits for the user's decision, with what it contests.

use serde::Serialize;

use super::Scope;
use super::hydrate::observations;
use crate::model::{ASSISTANT, Observation};
use crate::store::{Store, StoreError};

/// Why a memory waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// The assistant suggested it.
    Suggested,
    /// It would take the place of others.
    Contests,
}

/// A memory that waits for review.
#[derive(Debug, Clone, Serialize)]
pub struct Waiting {
    /// Both may be so.
    pub why: Vec<Why>,
    /// What it would supersede, as far as that is still there.
    pub contests: Vec<Observation>,
    /// It.
    pub memory: Observation,
}

/// What an observation has to do with others.
#[derive(Debug, Clone, Default)]
pub struct Others {
    /// What it took the place of.
    pub superseded: Vec<Observation>,
    /// What it would take the place of, while it waits.
    pub contested: Vec<Observation>,
}

/// The memories of a scope that wait, oldest first.
///
/// # Errors
/// [`StoreError`].
pub fn in_review(store: &Store, scope: &Scope) -> Result<Vec<Waiting>, StoreError> {
    let (condition, projects) = condition(scope);
    let sql = format!("SELECT id FROM observations WHERE status = 'review' {condition}");
    let mut statement = store.conn().prepare_cached(&sql)?;
    let ids = statement
        .query_map(rusqlite::params_from_iter(projects), |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    let mut rows = observations(store, &ids)?;
    rows.sort_by_key(|row| (row.created_at, row.id));
    rows.into_iter()
        .map(|memory| {
            let contests = by_id(store, &store.contested_by(memory.id)?)?;
            let suggested = (memory.model == ASSISTANT).then_some(Why::Suggested);
            let contested = (!contests.is_empty()).then_some(Why::Contests);
            Ok(Waiting { why: suggested.into_iter().chain(contested).collect(), contests, memory })
        })
        .collect()
}

/// How many memories of a scope wait.
///
/// # Errors
/// [`StoreError`].
pub fn count_in_review(store: &Store, scope: &Scope) -> Result<u64, StoreError> {
    let (condition, projects) = condition(scope);
    let sql = format!("SELECT count(*) FROM observations WHERE status = 'review' {condition}");
    let count: i64 = store
        .conn()
        .prepare_cached(&sql)?
        .query_row(rusqlite::params_from_iter(projects), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// What an observation has put away, or would.
///
/// # Errors
/// [`StoreError`].
pub fn others(store: &Store, id: i64) -> Result<Others, StoreError> {
    let mut statement =
        store.conn().prepare_cached("SELECT id FROM observations WHERE superseded_by = ?1")?;
    let superseded = statement.query_map([id], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    Ok(Others { superseded: by_id(store, &superseded)?, contested: by_id(store, &store.contested_by(id)?)? })
}

fn by_id(store: &Store, ids: &[i64]) -> Result<Vec<Observation>, StoreError> {
    let mut rows = observations(store, ids)?;
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

/// The scope as a condition; each of its parts follows an index.
fn condition(scope: &Scope) -> (String, Vec<i64>) {
    match scope {
        Scope::All => (String::new(), Vec::new()),
        Scope::Projects(ids) => {
            let marks = vec!["?"; ids.len()].join(",");
            (
                format!("AND (project IN ({marks}) OR merged_into IN ({marks}))"),
                [ids.as_slice(), ids].concat(),
            )
        }
    }
}
