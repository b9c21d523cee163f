//! Search over the text indexes. Filters come before the cut, with or without a query text.

use std::collections::HashSet;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::conditions::{Condition, Table, condition, tables};
use super::hydrate::{get, hits};
use super::{Filter, Found, Record, Scope};
use crate::index::{Term, query_terms, tokens};
use crate::model::{RecordId, Status};
use crate::store::{Store, StoreError};

/// How many rows with all terms are ranked by more than BM25; a page beyond them is in BM25's order.
const CANDIDATES: usize = 100;
/// What so many rows hold is common. Matches are counted up to here (a person reads "10,000" as "many"), and of
/// more only the last stored are ranked: BM25 takes about a microsecond for each row and term, and says least
/// about terms that are everywhere.
const COMMON: usize = if cfg!(test) { 50 } else { 10_000 };
/// The part of a query's meaningful terms that a row must hold to be worth showing at all.
const COVERAGE: f64 = 0.5;

struct Scored {
    id: RecordId,
    score: f64,
    at: i64,
}

/// Finds records. Rows with all terms come first, then rows with at least half of the meaningful ones. An
/// empty query or `*` gives the newest; a query of other signs alone gives nothing.
///
/// # Errors
/// [`StoreError`]; a query text never makes one.
pub fn search(
    store: &Store,
    query: &str,
    filter: &Filter,
    limit: usize,
    offset: usize,
) -> Result<Found, StoreError> {
    let trimmed = query.trim();
    if trimmed.is_empty() || trimmed == "*" {
        return newest(store, filter, limit, offset);
    }
    let terms = query_terms(trimmed);
    let wanted = offset.saturating_add(limit);
    let (mut scored, mut total) = with_all(store, trimmed, &terms, filter, wanted)?;
    if scored.len() < wanted && scored.len() == total {
        let known: HashSet<RecordId> = scored.iter().map(|row| row.id).collect();
        let partly = with_some(store, &terms, filter, &known)?;
        total += partly.len();
        scored.extend(partly);
    }
    let page: Vec<_> = scored.iter().skip(offset).take(limit).map(|row| (row.id, row.score)).collect();
    Ok(Found { total, indexes: vec!["fts"], hits: hits(store, &page)? })
}

/// Observations that look related to a text, for the observer: id, type and title.
///
/// # Errors
/// [`StoreError`].
pub fn similar(
    store: &Store,
    scope: &Scope,
    text: &str,
    limit: usize,
) -> Result<Vec<(i64, String, String)>, StoreError> {
    let terms = query_terms(text);
    let filter = Filter { kinds: vec![super::RecordKind::Observation], ..Filter::all(scope.clone()) };
    let related = with_some(store, &terms[..terms.len().min(40)], &filter, &HashSet::new())?;
    let page: Vec<_> = related.iter().take(limit).map(|row| (row.id, row.score)).collect();
    let rows = hits(store, &page)?.into_iter().filter_map(|hit| match (hit.id, hit.status) {
        (RecordId::Observation(id), Status::Active) => Some((id, hit.r#type, hit.title)),
        _ => None,
    });
    Ok(rows.collect())
}

fn newest(store: &Store, filter: &Filter, limit: usize, offset: usize) -> Result<Found, StoreError> {
    let wanted = offset.saturating_add(limit);
    let (mut rows, mut total) = (Vec::new(), 0);
    for table in tables(filter) {
        let condition = condition(filter, table);
        rows.extend(newest_of(store, table, &condition, wanted)?);
        let Table { name, alias, .. } = table;
        let sql = format!("SELECT 1 FROM {name} {alias} WHERE 1 {}", condition.sql);
        total += count(store, &sql, &condition.values)?;
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.at, row.id)));
    let page: Vec<_> = rows.iter().skip(offset).take(limit).map(|row| (row.id, 0.0)).collect();
    Ok(Found { total, indexes: vec!["fts"], hits: hits(store, &page)? })
}

fn newest_of(
    store: &Store,
    table: Table,
    condition: &Condition,
    limit: usize,
) -> Result<Vec<Scored>, StoreError> {
    let Table { name, alias, .. } = table;
    let sql = format!(
        "SELECT {alias}.id, {alias}.created_at, 0.0 FROM {name} {alias} WHERE 1 {}
         ORDER BY {alias}.created_at DESC, {alias}.id DESC LIMIT ?",
        condition.sql
    );
    scored(store, &sql, table, condition.values.clone(), limit)
}

/// Rows that hold every term, best first, and how many there are.
fn with_all(
    store: &Store,
    query: &str,
    terms: &[Term],
    filter: &Filter,
    wanted: usize,
) -> Result<(Vec<Scored>, usize), StoreError> {
    if terms.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let expression = terms.iter().map(matching).collect::<Vec<_>>().join(" AND ");
    let (mut rows, mut total) = (Vec::new(), 0);
    for table in tables(filter) {
        let found = matches(store, table, &expression, filter, Some(COMMON), wanted.max(CANDIDATES))?;
        total += if found.len() < wanted.max(CANDIDATES) {
            found.len()
        } else {
            count_matches(store, table, &expression, filter)?
        };
        rows.extend(found);
    }
    sort(&mut rows);
    let best = rows.len().min(CANDIDATES);
    lift_exact(store, query, &mut rows[..best])?;
    sort(&mut rows[..best]);
    Ok((rows, total))
}

/// Rows that hold a good part of the meaningful terms, best covered first.
fn with_some(
    store: &Store,
    terms: &[Term],
    filter: &Filter,
    known: &HashSet<RecordId>,
) -> Result<Vec<Scored>, StoreError> {
    let content: Vec<&Term> = terms.iter().filter(|term| !term.stop).collect();
    if content.is_empty() || (content.len() == terms.len() && content.len() == 1) {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    for table in tables(filter) {
        let mut rare = Vec::new();
        for term in &content {
            if !is_common(store, table, term)? {
                rare.push(*term);
            }
        }
        // Beside a common word, a rare one in an old row must not go under.
        let pools = [(rare.as_slice(), None), (content.as_slice(), Some(COMMON))];
        let pools = if rare.len() == content.len() { &pools[..1] } else { &pools[..] };
        for (terms, most) in pools.iter().filter(|(terms, _)| !terms.is_empty()) {
            let expression = terms.iter().map(|term| matching(term)).collect::<Vec<_>>().join(" OR ");
            rows.extend(matches(store, table, &expression, filter, *most, CANDIDATES)?);
        }
    }
    let mut seen = known.clone();
    rows.retain(|row| seen.insert(row.id));
    let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
    let (records, _) = get(store, &ids)?;
    let mut covered = Vec::new();
    for (mut row, record) in rows.into_iter().zip(&records) {
        let text = tokens(&text_of(record));
        let held: HashSet<&str> = text.split(' ').collect();
        let has = |token: &String| held.contains(token.as_str());
        let count = content
            .iter()
            .filter(|term| term.whole.as_ref().is_some_and(has) || term.parts.iter().all(has))
            .count();
        let coverage = count as f64 / content.len() as f64;
        if coverage >= COVERAGE {
            row.score *= coverage * coverage * retired(record);
            covered.push(row);
        }
    }
    sort(&mut covered);
    Ok(covered)
}

/// A row whose text holds the query as it was typed is what was meant: above all others, titles first.
fn lift_exact(store: &Store, query: &str, rows: &mut [Scored]) -> Result<(), StoreError> {
    let ids: Vec<RecordId> = rows.iter().map(|row| row.id).collect();
    let (records, _) = get(store, &ids)?;
    let typed = query.to_lowercase();
    for (row, record) in rows.iter_mut().zip(&records) {
        // What was learned stands above the question that led to it.
        let (title, in_text) = match record {
            Record::Observation(o) => (o.title.to_lowercase(), 100.0),
            Record::Summary(_) | Record::Prompt(_) => (String::new(), 50.0),
        };
        if title.contains(&typed) {
            row.score += 200.0;
        } else if typed.chars().count() > 2 && text_of(record).to_lowercase().contains(&typed) {
            row.score += in_text;
        }
        row.score *= retired(record);
    }
    Ok(())
}

/// What was superseded or put away stays findable, at the end.
fn retired(record: &Record) -> f64 {
    match record {
        Record::Observation(o) if o.status != Status::Active => 0.001,
        _ => 1.0,
    }
}

fn text_of(record: &Record) -> String {
    match record {
        Record::Observation(o) => [
            o.title.as_str(),
            &o.subtitle,
            &o.narrative,
            &o.facts.join("\n"),
            &o.keywords.join("\n"),
            &o.concepts.join("\n"),
            &o.files_modified.join("\n"),
            &o.files_read.join("\n"),
        ]
        .join("\n"),
        Record::Summary(s) => s.text.texts().join("\n"),
        Record::Prompt(p) => p.text.clone(),
    }
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
fn is_common(store: &Store, table: Table, term: &Term) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM {index} WHERE {index} MATCH ?", index = table.index);
    Ok(count(store, &sql, &[Value::from(matching(term))])? >= COMMON)
}

/// The best of the rows that match an expression, of the `most` last stored ones if there is such a bound.
fn matches(
    store: &Store,
    table: Table,
    expression: &str,
    filter: &Filter,
    most: Option<usize>,
    limit: usize,
) -> Result<Vec<Scored>, StoreError> {
    let Table { alias, rank, index, .. } = table;
    let rows = matching_rows(table, expression, filter);
    let newest = most.map(|most| format!("ORDER BY {index}.rowid DESC LIMIT {most}")).unwrap_or_default();
    let sql = format!(
        "SELECT id, at, score FROM
           (SELECT {alias}.id AS id, {alias}.created_at AS at, -{rank} AS score {} {newest})
         ORDER BY score DESC, at DESC LIMIT ?",
        rows.sql
    );
    scored(store, &sql, table, rows.values, limit)
}

fn count_matches(
    store: &Store,
    table: Table,
    expression: &str,
    filter: &Filter,
) -> Result<usize, StoreError> {
    let rows = matching_rows(table, expression, filter);
    count(store, &format!("SELECT 1 {}", rows.sql), &rows.values)
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
) -> Result<Vec<Scored>, StoreError> {
    values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    let mut statement = store.conn().prepare_cached(sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        let (id, at, score): (i64, i64, f64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Scored { id: table.kind.id(id), score: score * table.weight, at })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn sort(rows: &mut [Scored]) {
    rows.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.at, b.id).cmp(&(a.at, a.id))));
}
