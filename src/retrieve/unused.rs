//! Memories that were of no use for long.

use super::hydrate::{Records, hits};
use super::{Hit, Scope};
use crate::model::{Priority, RecordId, Timestamp};
use crate::store::{Store, StoreError};

/// Active observations of a scope that matter at most so much and were neither said nor of use since a moment, longest
/// unused first. What is pinned or of high priority is never among them.
///
/// # Errors
/// [`StoreError`].
pub fn unused(
    store: &Store,
    scope: &Scope,
    at_most: Priority,
    since: Timestamp,
) -> Result<Vec<Hit>, StoreError> {
    let priorities = match at_most {
        Priority::Low => "('low')",
        Priority::Normal | Priority::High => "('low', 'normal')",
    };
    let within = match scope {
        Scope::All => String::from("1"),
        Scope::Projects(ids) => {
            let ids = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            format!("(project IN ({ids}) OR merged_into IN ({ids}))")
        }
    };
    let seen = "max(updated_at, coalesce(last_hit_at, 0))";
    let sql = format!(
        "SELECT id FROM observations WHERE {within} AND status = 'active' AND created_at < ?1 AND pinned = 0
           AND priority IN {priorities} AND {seen} < ?1 AND (expires_at IS NULL OR expires_at > ?2)
         ORDER BY {seen}, id"
    );
    let mut statement = store.conn().prepare(&sql)?;
    let ids = statement.query_map((since.0, Timestamp::now().0), |row| row.get(0))?;
    let ids: Vec<(RecordId, f64)> =
        ids.map(|id| Ok((RecordId::Observation(id?), 0.0))).collect::<Result<_, rusqlite::Error>>()?;
    hits(store, &ids, Records::new(), None)
}
