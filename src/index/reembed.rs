//! Observations whose meaning is not kept, or kept by another model.

use super::Space;
use super::meaning::{self, Meaning};
use crate::store::{Store, StoreError};

/// Rows in one transaction: writers wait no longer than for these.
const CHUNK: i64 = 200;

/// How many there are.
///
/// # Errors
/// [`StoreError`].
pub fn unembedded(store: &Store) -> Result<u64, StoreError> {
    let sql = format!("SELECT count(*) {MISSING}");
    let count: i64 = store.conn().query_row(&sql, Space::embedded().key(), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Keeps the meaning of some of them; returns how many, 0 when none is left.
///
/// # Errors
/// [`StoreError`].
pub fn embed_some(store: &Store) -> Result<u64, StoreError> {
    let tx = store.begin()?;
    let sql = format!("SELECT o.id {MISSING} LIMIT {CHUNK}");
    let ids: Vec<i64> = tx
        .conn()
        .prepare_cached(&sql)?
        .query_map(Space::embedded().key(), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for id in &ids {
        meaning::forget_embedded(&tx, *id)?;
        meaning::record(&tx, *id, &Meaning::of(&tx.texts_of(*id)?))?;
    }
    tx.commit()?;
    Ok(ids.len() as u64)
}

const MISSING: &str =
    "FROM observations o LEFT JOIN vectors v ON v.observation = o.id AND v.tokens IS NOT NULL
    WHERE v.id IS NULL OR v.model <> (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)";
