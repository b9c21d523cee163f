//! Search over both indexes: rows that hold the words, and rows that mean the same.

use std::collections::{HashMap, HashSet};

use super::conditions::{TABLES, condition, tables};
use super::hydrate::{Records, hits, records};
use super::question::Question;
use super::rank::{self, Candidate};
use super::text::{self, Row};
use super::{Filter, Found, RecordKind, Scope};
use crate::index::{self, Near, Probe, Term, query_terms};
use crate::model::{RecordId, Status};
use crate::store::{Store, StoreError};

/// How many rows of each index are ranked together.
const BEST: usize = 50;
/// Rows of the vector index that are looked at to find [`BEST`] that pass a filter: more only when they are too few.
const LOOKS: [usize; 3] = [BEST, 512, usize::MAX];

/// Which indexes are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Using<'a> {
    /// What users get.
    Both,
    /// Words alone.
    Text,
    /// Vectors alone, in the order of their index.
    Vectors,
    /// Vectors, and word pieces of what they find.
    Meaning,
    /// Words, and meaning as the model behind an embeddings endpoint has it. What that has not embedded is measured by the
    /// embedded model, each by vectors of its own.
    Endpoint(&'a Probe),
}

/// Finds records, best first. An empty query or `*` gives the newest; a query of other signs alone gives nothing, and
/// so does one about nothing in memory.
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
    search_with(store, query, filter, limit, offset, Using::Both)
}

/// As [`search`], by some of the indexes.
///
/// # Errors
/// As [`search`].
pub fn search_with(
    store: &Store,
    query: &str,
    filter: &Filter,
    limit: usize,
    offset: usize,
    using: Using<'_>,
) -> Result<Found, StoreError> {
    let query = query.trim();
    let wanted = offset.saturating_add(limit);
    if query.is_empty() || query == "*" {
        let (rows, total) = text::newest(store, filter, wanted)?;
        let page: Vec<_> = rows.iter().skip(offset).take(limit).map(|row| (row.id, 0.0)).collect();
        let hits = hits(store, &page, Records::new(), filter.ground.as_ref())?;
        return Ok(Found { total, indexes: vec!["fts"], hits, parts: HashMap::new() });
    }
    let terms = query_terms(query);
    let content = content(&terms);
    let mut question = if using == Using::Text { None } else { Question::new(store, query, &terms)? };
    if using == Using::Vectors {
        let near =
            question.as_ref().map_or_else(|| Ok(Vec::new()), |question| near(store, question, filter))?;
        let page: Vec<_> = near.iter().skip(offset).take(limit).map(|row| (row.id, 0.0)).collect();
        let hits = hits(store, &page, Records::new(), filter.ground.as_ref())?;
        return Ok(Found { total: near.len(), indexes: vec!["vector"], hits, parts: HashMap::new() });
    }
    if let (Some(question), Using::Endpoint(probe)) = (&mut question, using) {
        question.probe = Some(probe.clone());
    }
    let mut candidates = Candidates::default();
    let (mut all, mut all_total) = (Vec::new(), 0);
    if using != Using::Meaning {
        (all, all_total) = text::with_all(store, &content, filter, wanted.max(BEST))?;
        all.iter().take(BEST).for_each(|row| candidates.add(*row, true));
        // Where enough rows hold all of it, those that hold some add nothing.
        if all.len() < BEST {
            text::with_any(store, &content, filter, BEST)?
                .into_iter()
                .for_each(|row| candidates.add(row, false));
        }
    }
    if let Some(question) = &question {
        near(store, question, filter)?.into_iter().for_each(|row| candidates.add(row, false));
    }
    let ids: Vec<RecordId> = candidates.rows.iter().map(|row| row.id).collect();
    let records = records(store, &ids)?;
    let ground = filter.ground.as_ref();
    let ranked = rank::rank(store, query, &content, question.as_mut(), candidates.rows, &records, ground)?;

    let known: HashSet<RecordId> = ranked.iter().map(|row| row.id).collect();
    let further = all.iter().map(|row| row.id).filter(|id| !known.contains(id));
    let total = ranked.iter().filter(|row| !row.has_all()).count() + all_total;
    let page: Vec<_> = ranked
        .iter()
        .map(|row| (row.id, row.score))
        .chain(further.map(|id| (id, 0.0)))
        .skip(offset)
        .take(limit)
        .collect();
    let mut indexes = Vec::new();
    if using != Using::Meaning {
        indexes.push("fts");
    }
    if question.is_some() {
        indexes.push("vector");
    }
    let hits = hits(store, &page, records, ground)?;
    let parts = ranked.iter().skip(offset).take(limit).map(|row| (row.id, row.parts)).collect();
    Ok(Found { total, indexes, hits, parts })
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
    let filter = Filter { kinds: vec![RecordKind::Observation], ..Filter::all(scope.clone()) };
    let found = search(store, text, &filter, limit * 2, 0)?;
    let rows = found.hits.into_iter().filter_map(|hit| match (hit.id, hit.status) {
        (RecordId::Observation(id), Status::Active) => Some((id, hit.r#type, hit.title)),
        _ => None,
    });
    Ok(rows.take(limit).collect())
}

/// The terms that carry meaning; of a query without any, all.
pub(super) fn content(terms: &[Term]) -> Vec<&Term> {
    let content: Vec<&Term> = terms.iter().filter(|term| !term.stop).collect();
    if content.is_empty() { terms.iter().collect() } else { content }
}

/// Every row once, with the best that is known of it.
#[derive(Debug, Default)]
struct Candidates {
    rows: Vec<Candidate>,
    places: HashMap<RecordId, usize>,
}

impl Candidates {
    fn add(&mut self, row: Row, has_all: bool) {
        let place = *self.places.entry(row.id).or_insert_with(|| {
            self.rows.push(Candidate { id: row.id, at: row.at, bm25: 0.0, has_all: false });
            self.rows.len() - 1
        });
        let known = &mut self.rows[place];
        known.bm25 = known.bm25.max(row.score);
        known.has_all |= has_all;
    }
}

/// The nearest observations that pass the filter: to an endpoint those that it has embedded, and beside them those that
/// are near for the embedded model as long as the endpoint lacks some.
fn near(store: &Store, question: &Question, filter: &Filter) -> Result<Vec<Row>, StoreError> {
    if !tables(filter).any(|table| table.kind == RecordKind::Observation) {
        return Ok(Vec::new());
    }
    let projects = projects(store, &filter.scope)?;
    let embedded = |most| index::nearest(store, &question.vector, projects.as_deref(), most);
    let Some(probe) = &question.probe else { return best(store, filter, embedded) };
    let mut rows = best(store, filter, |most| index::nearest_to(store, probe, projects.as_deref(), most))?;
    let coverage = index::coverage(store, Some(probe.space()))?;
    if coverage.waiting() + coverage.refused > 0 {
        rows.extend(best(store, filter, embedded)?);
    }
    Ok(rows)
}

/// The best that pass the filter of what an index has.
fn best(
    store: &Store,
    filter: &Filter,
    nearest: impl Fn(usize) -> Result<Vec<Near>, StoreError>,
) -> Result<Vec<Row>, StoreError> {
    let mut passed = Vec::new();
    for most in LOOKS {
        let found = nearest(most)?;
        let ids: Vec<i64> = found.iter().map(|near| near.observation).collect();
        passed = passing(store, &ids, filter)?;
        if passed.len() >= BEST || found.len() < most {
            break;
        }
    }
    passed.truncate(BEST);
    Ok(passed)
}

/// The projects of a scope, and those from which something was merged into them; `None` = all.
pub(super) fn projects(store: &Store, scope: &Scope) -> Result<Option<Vec<i64>>, StoreError> {
    let Scope::Projects(ids) = scope else { return Ok(None) };
    let sql = "SELECT DISTINCT project FROM observations WHERE merged_into IN (?ids)";
    let mut projects = store.of_ids(ids, sql, &[], |row| row.get(0))?;
    projects.extend(ids);
    projects.sort_unstable();
    projects.dedup();
    Ok(Some(projects))
}

/// Those of some observations that pass the filter, in their order.
pub(super) fn passing(store: &Store, ids: &[i64], filter: &Filter) -> Result<Vec<Row>, StoreError> {
    let condition = condition(filter, TABLES[0]);
    // By its id and by no index: to follow that of its project is to look at all of it.
    let sql = format!(
        "SELECT o.id, o.created_at FROM observations o NOT INDEXED WHERE o.id IN (?ids) {}",
        condition.sql
    );
    let found: HashMap<i64, i64> = store
        .of_ids(ids, &sql, &condition.values, |row| Ok((row.get(0)?, row.get(1)?)))?
        .into_iter()
        .collect();
    let row = |id: &i64| Some(Row { id: RecordId::Observation(*id), score: 0.0, at: *found.get(id)? });
    Ok(ids.iter().filter_map(row).collect())
}
