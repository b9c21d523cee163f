//! What happened around one record.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::conditions::{Condition, Table, conditions_in_time_order, tables};
use super::hydrate::{Records, get, hits};
use super::{Filter, Record, Timeline, search};
use crate::model::{RecordId, Timestamp};
use crate::store::{Store, StoreError};

/// Rows of one batch share a time: so many beyond the window are read to put them in order.
const SAME_TIME: usize = 60;

/// What a timeline is around.
#[derive(Debug, Clone, PartialEq)]
pub enum Anchor {
    /// A record.
    Record(RecordId),
    /// The record nearest to a moment.
    Time(Timestamp),
    /// The best hit of a search.
    Query(String),
}

/// The records before and after an anchor, in time order; `None` when there is no such anchor. Every filter
/// applies to the others.
///
/// # Errors
/// [`StoreError`].
pub fn timeline(
    store: &Store,
    anchor: &Anchor,
    before: usize,
    after: usize,
    filter: &Filter,
) -> Result<Option<Timeline>, StoreError> {
    let (at, id) = match anchor {
        Anchor::Record(id) => match time_of(store, *id)? {
            Some(at) => (at, Some(*id)),
            None => return Ok(None),
        },
        Anchor::Time(at) => (*at, None),
        Anchor::Query(query) => match search(store, query, filter, 1, 0)?.hits.first() {
            Some(hit) => (hit.created_at, Some(hit.id)),
            None => return Ok(None),
        },
    };
    let mut rows = Vec::new();
    for table in tables(filter) {
        for condition in conditions_in_time_order(filter, table) {
            rows.extend(beside(store, table, &condition, at, ("<=", "DESC"), before)?);
            rows.extend(beside(store, table, &condition, at, (">", "ASC"), after)?);
        }
    }
    if let Some(id) = id {
        rows.push((at.0, id));
    }
    // A prompt comes before what it led to, a summary after it.
    let place = |id: &RecordId| match id {
        RecordId::Prompt(n) => (0, *n),
        RecordId::Observation(n) => (1, *n),
        RecordId::Summary(n) => (2, *n),
    };
    rows.sort_by_key(|(at, id)| (*at, place(id)));
    rows.dedup();
    let middle = match id {
        Some(id) => rows.iter().position(|(_, row)| *row == id),
        None => (0..rows.len()).min_by_key(|index| (rows[*index].0 - at.0).abs()),
    };
    let Some(middle) = middle else { return Ok(None) };
    let from = middle.saturating_sub(before);
    let to = middle.saturating_add(after).saturating_add(1).min(rows.len());
    let window: Vec<_> = rows[from..to].iter().map(|(_, id)| (*id, 0.0)).collect();
    Ok(Some(Timeline {
        anchor: rows[middle].1,
        items: hits(store, &window, Records::new(), filter.ground.as_ref())?,
    }))
}

/// The rows of a table on one side of a moment that meet a condition, nearest first.
fn beside(
    store: &Store,
    table: Table,
    condition: &Condition,
    at: Timestamp,
    (side, order): (&str, &str),
    depth: usize,
) -> Result<Vec<(i64, RecordId)>, StoreError> {
    let sql = format!(
        "SELECT {a}.id, {a}.created_at FROM {t} {a} WHERE {a}.created_at {side} ? {c}
         ORDER BY {a}.created_at {order}, {a}.id {order} LIMIT ?",
        a = table.alias,
        t = table.name,
        c = condition.sql
    );
    let most = Value::from(i64::try_from(depth + SAME_TIME).unwrap_or(i64::MAX));
    let values = [Value::from(at.0)].into_iter().chain(condition.values.iter().cloned()).chain([most]);
    let mut statement = store.conn().prepare_cached(&sql)?;
    let rows =
        statement.query_map(params_from_iter(values), |row| Ok((row.get(1)?, table.kind.id(row.get(0)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn time_of(store: &Store, id: RecordId) -> Result<Option<Timestamp>, StoreError> {
    let (records, _) = get(store, &[id])?;
    Ok(records.first().map(|record| match record {
        Record::Observation(o) => o.created_at,
        Record::Summary(s) => s.created_at,
        Record::Prompt(p) => p.created_at,
    }))
}
