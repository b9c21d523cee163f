//! What a prompt reminds of, unasked. Nobody looks for it, so that it must be right rather than complete.

use std::collections::HashSet;

use super::copies::each_once;
use super::everyday;
use super::hydrate::observations;
use super::question::{Question, Similarity, by_chance, cosine};
use super::search::{passing, projects};
use super::{Filter, RecordKind, Scope};
use crate::index::{self, Near, query_terms};
use crate::model::{Observation, RecordId, Status};
use crate::store::{Store, StoreError};

/// How relevant a memory must be, beside what is so by chance. Chosen by
/// `scripts/bench/retrieval` (`prompt` rows) for few hits where there is nothing to hit: at most 3 % of the prompts in
/// `tests/eval/unanswerable.jsonl`, over all sets, and less than a tenth of those in `everyday.jsonl`.
const LEAST: f64 = 0.15;
const LEAST_MOST: f64 = 0.5;
/// How much more a prompt needs that is about the work itself.
const EVERYDAY: f64 = 0.4;

/// So many of the nearest vectors are compared word by word.
const COMPARED: usize = 50;

/// Both similarities must speak for a memory: pieces alone meet by chance, and a vector alone says little of names.
pub(super) fn relevance(similarity: Similarity) -> f64 {
    (similarity.cosine.max(0.0) * similarity.maxsim.max(0.0)).sqrt()
}

/// The relevance from which on a memory is worth telling.
///
/// # Errors
/// [`StoreError`].
pub(super) fn least(store: &Store) -> Result<f64, StoreError> {
    Ok((LEAST + by_chance(store)?).min(LEAST_MOST))
}

/// Whether a prompt can remind of anything; found out without a look at the memory.
pub fn may_recall(prompt: &str) -> bool {
    !everyday::is_short(prompt)
}

/// What a session has in its history.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Its id: what was learned in it is nothing to be reminded of.
    pub session: &'a str,
    /// Ids of the memories that it was told.
    pub told: &'a [i64],
}

/// The `most` memories of a scope that a prompt is about, most relevant first; seldom any, and none that is `known`.
///
/// # Errors
/// [`StoreError`].
pub fn recall(
    store: &Store,
    scope: &Scope,
    prompt: &str,
    known: &Known<'_>,
    most: usize,
) -> Result<Vec<Observation>, StoreError> {
    if !may_recall(prompt) {
        return Ok(Vec::new());
    }
    let least = least(store)? + EVERYDAY * everyday::likeness(prompt);
    let Some(mut question) = Question::new(store, prompt, &query_terms(prompt))? else {
        return Ok(Vec::new());
    };
    let relevant = relevant(store, scope, &mut question, least)?;
    let shown: HashSet<i64> = known.told.iter().copied().collect();
    let ids: Vec<i64> = relevant.iter().map(|(id, _)| *id).collect();
    let mut found = observations(store, &ids)?;
    found.retain(|row| row.status == Status::Active);
    found.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
    // What the session has seen keeps its older copies away.
    // What a user remembered outside a session belongs to none.
    let is_own = |row: &Observation| !row.session.is_empty() && row.session == known.session;
    let own = found.iter().filter(|row| is_own(row)).count();
    let mut found = each_once(store, found, most + shown.len() + own)?;
    found.retain(|row| !shown.contains(&row.id) && !is_own(row));
    found.truncate(most);
    Ok(found)
}

/// Memories of a scope that are at least so relevant to a text, most relevant first.
pub(super) fn relevant(
    store: &Store,
    scope: &Scope,
    question: &mut Question,
    least: f64,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let projects = projects(store, scope)?;
    let near = index::nearest(store, &question.vector, projects.as_deref(), COMPARED)?;
    // The other similarity is at most 1: most are settled without a look at them.
    let may_be = |near: &Near| cosine(near.product) >= least * least;
    let ids: Vec<i64> = near.iter().filter(|near| may_be(near)).map(|near| near.observation).collect();
    let relevant = relevant_of(store, question, &ids, least)?;
    let filter = Filter { kinds: vec![RecordKind::Observation], ..Filter::all(scope.clone()) };
    let ids: Vec<i64> = relevant.iter().map(|(id, _)| *id).collect();
    let inside: HashSet<RecordId> = passing(store, &ids, &filter)?.iter().map(|row| row.id).collect();
    Ok(relevant.into_iter().filter(|(id, _)| inside.contains(&RecordId::Observation(*id))).collect())
}

/// Those of some memories.
pub(super) fn relevant_of(
    store: &Store,
    question: &mut Question,
    ids: &[i64],
    least: f64,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let mut relevant: Vec<(i64, f64)> = index::kept(store, ids)?
        .iter()
        .filter_map(|(id, kept)| {
            let may_be = question.cosine(kept) >= least * least;
            let found = may_be.then(|| relevance(question.similarity(kept)))?;
            (found >= least).then_some((*id, found))
        })
        .collect();
    relevant.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(relevant)
}
