//! The text indexes: rows by the words that they hold. Filters come before the cut.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::conditions::{Condition, Table, condition, conditions_in_time_order, tables};
use super::{Filter, RecordKind};
use crate::index::Term;
use crate::model::RecordId;
use crate::store::{Store, StoreError};

/// What so many rows hold is common. Matches are counted up to here (a person reads "10,000" as "many"), and of
/// more only the last stored are ranked: BM25 takes about a microsecond for each row and term, and says least
/// about terms that are everywhere.
pub(super) const COMMON: usize = if cfg!(test) { 50 } else { 10_000 };

/// A row with its BM25 score (higher is better), or 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) id: RecordId,
    pub(super) score: f64,
    pub(super) at: i64,
}

/// The newest rows, newest first, and how many there are.
pub(super) fn newest(store: &Store, filter: &Filter, most: usize) -> Result<(Vec<Row>, usize), StoreError> {
    let (mut rows, mut total) = (Vec::new(), 0);
    for table in tables(filter) {
        for condition in conditions_in_time_order(filter, table) {
            rows.extend(newest_of(store, table, &condition, most)?);
            let Table { name, alias, .. } = table;
            let sql = format!("SELECT 1 FROM {name} {alias} WHERE 1 {}", condition.sql);
            total += count(store, &sql, &condition.values)?;
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
    Ok((rows, total))
}

fn newest_of(
    store: &Store,
    table: Table,
    condition: &Condition,
    limit: usize,
) -> Result<Vec<Row>, StoreError> {
    let Table { name, alias, .. } = table;
    let sql = format!(
        "SELECT {alias}.id, {alias}.created_at, 0.0 FROM {name} {alias} WHERE 1 {}
         ORDER BY {alias}.created_at DESC, {alias}.id DESC LIMIT ?",
        condition.sql
    );
    scored(store, &sql, table, condition.values.clone(), limit)
}

/// The `most` best rows that hold every term, best first, and how many there are.
pub(super) fn with_all(
    store: &Store,
    terms: &[&Term],
    filter: &Filter,
    most: usize,
) -> Result<(Vec<Row>, usize), StoreError> {
    if terms.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let expression = join(terms, " AND ");
    let (mut rows, mut total) = (Vec::new(), 0);
    for table in tables(filter) {
        let found = matches(store, table, &expression, filter, Some(COMMON), most)?;
        total +=
            if found.len() < most { found.len() } else { count_matches(store, table, &expression, filter)? };
        rows.extend(found);
    }
    sort(&mut rows);
    Ok((rows, total))
}

/// The `most` best rows of each table that hold any of the terms, in no order; some may be there twice.
pub(super) fn with_any(
    store: &Store,
    terms: &[&Term],
    filter: &Filter,
    most: usize,
) -> Result<Vec<Row>, StoreError> {
    let mut rows = Vec::new();
    for table in tables(filter) {
        let mut rare = Vec::new();
        for term in terms {
            if !is_common(store, table, term)? {
                rare.push(*term);
            }
        }
        // Beside a common word, a rare one in an old row must not go under.
        let pools = [(rare.as_slice(), None), (terms, Some(COMMON))];
        let pools = if rare.len() == terms.len() { &pools[..1] } else { &pools[..] };
        for (terms, newest) in pools.iter().filter(|(terms, _)| !terms.is_empty()) {
            rows.extend(matches(store, table, &join(terms, " OR "), filter, *newest, most)?);
        }
    }
    Ok(rows)
}

fn join(terms: &[&Term], operator: &str) -> String {
    terms.iter().map(|term| matching(term)).collect::<Vec<_>>().join(operator)
}

/// A term as an FTS5 expression; every token is quoted, so that nothing in a query is an operator.
fn matching(term: &Term) -> String {
    let quote = |token: &String| format!("\"{token}\"");
    let parts = term.parts.iter().map(quote).collect::<Vec<_>>().join(" AND ");
    match &term.whole {
        Some(whole) => format!("({} OR ({parts}))", quote(whole)),
        None => format!("({parts})"),
    }
}

/// Whether a term stands in so many rows of a table that it tells them hardly apart.
pub(super) fn is_common(store: &Store, table: Table, term: &Term) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM {index} WHERE {index} MATCH ?", index = table.index);
    Ok(count(store, &sql, &[Value::from(matching(term))])? >= COMMON)
}

/// The newest record of a table that holds a term and passes the filter, of the `most` last that hold it.
pub(super) fn holder(
    store: &Store,
    table: Table,
    term: &Term,
    filter: &Filter,
    most: usize,
) -> Result<Option<RecordId>, StoreError> {
    let Table { name, alias, index, .. } = table;
    let condition = condition(filter, table);
    let sql = format!(
        "SELECT {alias}.id FROM
           (SELECT rowid AS row FROM {index} WHERE {index} MATCH ? ORDER BY rowid DESC LIMIT {most})
         CROSS JOIN {name} {alias} ON {alias}.id = row WHERE 1 {} LIMIT 1",
        condition.sql
    );
    let values = [Value::from(matching(term))].into_iter().chain(condition.values);
    let mut statement = store.conn().prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?.map(|id| table.kind.id(id)))
}

/// How many rows are ranked before the filter looks at them: to look at each that matches costs more than all the rest.
const RANKED_FIRST: usize = if cfg!(test) { 20 } else { 400 };

/// The best of the rows that match an expression, of the `newest` last stored ones if there is such a bound.
fn matches(
    store: &Store,
    table: Table,
    expression: &str,
    filter: &Filter,
    newest: Option<usize>,
    most: usize,
) -> Result<Vec<Row>, StoreError> {
    if most <= RANKED_FIRST
        && let Some(rows) = best_then_filtered(store, table, expression, filter, newest, most)?
    {
        return Ok(rows);
    }
    let Table { alias, rank, index, .. } = table;
    let rows = matching_rows(table, expression, filter);
    let newest = newest.map(|most| format!("ORDER BY {index}.rowid DESC LIMIT {most}")).unwrap_or_default();
    let sql = format!(
        "SELECT id, at, score FROM
           (SELECT {alias}.id AS id, {alias}.created_at AS at, -{rank} AS score {} {newest})
         ORDER BY score DESC, at DESC LIMIT ?",
        rows.sql
    );
    scored(store, &sql, table, rows.values, most)
}

/// The same where the filter lets most rows pass; `None` if too few of the best do.
fn best_then_filtered(
    store: &Store,
    table: Table,
    expression: &str,
    filter: &Filter,
    newest: Option<usize>,
    most: usize,
) -> Result<Option<Vec<Row>>, StoreError> {
    let Table { name, alias, rank, index, .. } = table;
    let newest = newest.map(|most| format!("ORDER BY rowid DESC LIMIT {most}")).unwrap_or_default();
    let best = format!(
        "SELECT rowid AS id, score FROM
           (SELECT rowid, -{rank} AS score FROM {index} WHERE {index} MATCH ? {newest})
         ORDER BY score DESC, rowid DESC LIMIT {RANKED_FIRST}"
    );
    let Condition { sql, mut values } = condition(filter, table);
    values.insert(0, Value::from(expression.to_owned()));
    let sql = format!(
        "SELECT {alias}.id, {alias}.created_at, best.score FROM ({best}) best CROSS JOIN {name} {alias} ON {alias}.id = best.id
         WHERE 1 {sql} ORDER BY best.score DESC, {alias}.created_at DESC LIMIT ?"
    );
    let rows = scored(store, &sql, table, values, most)?;
    if rows.len() >= most {
        return Ok(Some(rows));
    }
    let matching = format!("SELECT 1 FROM {index} WHERE {index} MATCH ?");
    let matched = count(store, &matching, &[Value::from(expression.to_owned())])?;
    Ok((matched <= RANKED_FIRST).then_some(rows))
}

fn count_matches(
    store: &Store,
    table: Table,
    expression: &str,
    filter: &Filter,
) -> Result<usize, StoreError> {
    let rows = matching_rows(table, expression, filter);
    // An index holds all that a scope asks about, in a tenth of the pages.
    let sql = match table.kind {
        RecordKind::Observation if filter.is_scope_only() => rows.sql.replacen(
            "JOIN observations o ",
            "CROSS JOIN observations o INDEXED BY observations_scope ",
            1,
        ),
        _ => rows.sql,
    };
    count(store, &format!("SELECT 1 {sql}"), &rows.values)
}

/// `FROM … WHERE …` for the rows of a table that match an expression and pass the filter.
fn matching_rows(table: Table, expression: &str, filter: &Filter) -> Condition {
    let Table { name, alias, index, .. } = table;
    let Condition { sql, mut values } = condition(filter, table);
    values.insert(0, Value::from(expression.to_owned()));
    let sql =
        format!("FROM {index} JOIN {name} {alias} ON {alias}.id = {index}.rowid WHERE {index} MATCH ? {sql}");
    Condition { sql, values }
}

fn count(store: &Store, sql: &str, values: &[Value]) -> Result<usize, StoreError> {
    let sql = format!("SELECT count(*) FROM ({sql} LIMIT {COMMON})");
    let count: i64 =
        store.conn().prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

fn scored(
    store: &Store,
    sql: &str,
    table: Table,
    mut values: Vec<Value>,
    limit: usize,
) -> Result<Vec<Row>, StoreError> {
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let mut statement = store.conn().prepare_cached(sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        let (id, at, score): (i64, i64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Row { id: table.kind.id(id), score: score * table.weight, at })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn sort(rows: &mut [Row]) {
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.at, b.id).cmp(&(a.at, a.id))));
}
