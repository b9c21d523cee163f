//! Observations whose meaning is not kept, or kept by another model.

use rusqlite::OptionalExtension;

use super::meaning::{self, Meaning};
use crate::embed;
use crate::model::Draft;
use crate::store::{OBSERVATION_COLUMNS, Store, StoreError, observation};

/// Rows in one transaction: writers wait no longer than for these.
const CHUNK: i64 = 200;

/// How many there are.
///
/// # Errors
/// [`StoreError`].
pub fn unembedded(store: &Store) -> Result<u64, StoreError> {
    let sql = format!("SELECT count(*) {MISSING}");
    let count: i64 = store.conn().query_row(&sql, [embed::MODEL], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Keeps the meaning of some of them; returns how many, 0 when none is left.
///
/// # Errors
/// [`StoreError`].
pub fn embed_some(store: &Store) -> Result<u64, StoreError> {
    let tx = store.begin()?;
    let sql = format!("SELECT o.id, v.tokens {MISSING} LIMIT {CHUNK}");
    let rows: Vec<(i64, Option<Vec<u8>>)> = tx
        .conn()
        .prepare_cached(&sql)?
        .query_map([embed::MODEL], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (id, kept) in &rows {
        let sql = format!(
            "SELECT {OBSERVATION_COLUMNS} FROM observations o JOIN projects q ON q.id = o.project
             LEFT JOIN projects m ON m.id = o.merged_into WHERE o.id = ?1"
        );
        let Some(row) = tx.conn().prepare_cached(&sql)?.query_row([id], observation).optional()? else {
            continue;
        };
        let draft = Draft {
            title: row.title,
            subtitle: row.subtitle,
            narrative: row.narrative,
            facts: row.facts,
            keywords: row.keywords,
            ..Draft::default()
        };
        if let Some(kept) = kept {
            meaning::forget(&tx, *id, &meaning::unpack(kept))?;
        }
        meaning::record(&tx, *id, &Meaning::of(&draft))?;
    }
    tx.commit()?;
    Ok(rows.len() as u64)
}

const MISSING: &str = "FROM observations o LEFT JOIN vectors v ON v.observation = o.id
    WHERE v.id IS NULL OR v.model <> (SELECT id FROM models WHERE name = ?1)";
