//! From which observations one was put together, and into which.

use std::collections::HashMap;

use serde::Serialize;

use crate::store::{Store, StoreError};

/// The two ways to follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lineage {
    /// Its sources, oldest first.
    pub put_together_from: Vec<i64>,
    /// What it is a source of.
    pub put_together_into: Vec<i64>,
}

impl Lineage {
    /// Of some observations, those that have one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn of(store: &Store, ids: &[i64]) -> Result<HashMap<i64, Self>, StoreError> {
        let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let mut found: HashMap<i64, Self> = HashMap::new();
        let sql = "SELECT observation, source FROM sources WHERE observation IN (?ids) ORDER BY source";
        for (id, source) in store.of_ids::<(i64, i64)>(ids, sql, &[], pair)? {
            found.entry(id).or_default().put_together_from.push(source);
        }
        let sql = "SELECT source, observation FROM sources WHERE source IN (?ids) ORDER BY observation";
        for (id, whole) in store.of_ids::<(i64, i64)>(ids, sql, &[], pair)? {
            found.entry(id).or_default().put_together_into.push(whole);
        }
        Ok(found)
    }
}
