//! What a word of a query was meant to be, when no record holds it.

use serde::Serialize;

use super::conditions::{TABLES, tables};
use super::hydrate::observations;
use super::rank::text_of;
use super::{Filter, Record, RecordKind, text};
use crate::index::{self, Term, query_terms, spelled};
use crate::model::RecordId;
use crate::store::{Store, StoreError};

/// Most words of a query, and most parts of one, that are looked at; and most of all these for which near ones are
/// looked up.
const WORDS: usize = 16;
const UNKNOWN: usize = 4;
/// Most spellings that are offered for one.
const OFFERED: usize = 3;
/// Most words of the index that are looked up for that: some stand only in records that the reader does not see.
const TRIED: usize = 20;
/// So many of the last records with such a word are searched for one that the reader sees.
const LAST: usize = 1_000;

/// A word of a query that no record of the reader's projects holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The word as it was typed.
    pub typed: String,
    /// What comes near to it, as a record that the reader sees writes it; nearest first, never empty.
    pub nearest: Vec<String>,
}

/// What the words of a query that nothing holds were meant to be: identifiers as a whole, else by their parts.
///
/// # Errors
/// [`StoreError`]; a query text never makes one.
pub fn did_you_mean(store: &Store, query: &str, filter: &Filter) -> Result<Vec<Suggestion>, StoreError> {
    let everything = Filter::all(filter.scope.clone());
    let terms = query_terms(query);
    let (mut suggestions, mut unknown) = (Vec::new(), 0);
    let can_be_a_slip = |term: &&Term| {
        !term.stop && term.whole.iter().chain(&term.parts).any(|word| index::is_comparable(word))
    };
    for term in terms.iter().filter(can_be_a_slip).take(WORDS) {
        if unknown >= UNKNOWN || is_held(store, term, &everything)? {
            continue;
        }
        if let Some(whole) = &term.whole {
            unknown += 1;
            if let Some(suggestion) = suggestion(store, query, whole, filter)? {
                suggestions.push(suggestion);
                continue;
            }
        }
        for part in term.parts.iter().filter(|part| index::is_comparable(part)).take(WORDS) {
            if unknown < UNKNOWN && !is_held(store, &word(part), &everything)? {
                unknown += 1;
                suggestions.extend(suggestion(store, query, part, filter)?);
            }
        }
    }
    Ok(suggestions)
}

fn suggestion(
    store: &Store,
    query: &str,
    word: &str,
    filter: &Filter,
) -> Result<Option<Suggestion>, StoreError> {
    let mut nearest = Vec::new();
    for near in index::nearest_words(store, word)?.iter().take(TRIED) {
        if let Some(written) = written(store, near, filter)?
            && !nearest.contains(&written)
        {
            nearest.push(written);
            if nearest.len() == OFFERED {
                break;
            }
        }
    }
    let typed = || spelled(query, word).unwrap_or_else(|| word.to_owned());
    Ok((!nearest.is_empty()).then(|| Suggestion { typed: typed(), nearest }))
}

/// A word as the newest observation that passes the filter writes it; `None` when there is none among the last.
fn written(store: &Store, near: &str, filter: &Filter) -> Result<Option<String>, StoreError> {
    let Some(table) = tables(filter).find(|table| table.kind == RecordKind::Observation) else {
        return Ok(None);
    };
    let Some(RecordId::Observation(id)) = text::holder(store, table, &word(near), filter, LAST)? else {
        return Ok(None);
    };
    let record = observations(store, &[id])?.pop().map(|found| Record::Observation(Box::new(found)));
    Ok(record.map(|record| spelled(&text_of(&record), near).unwrap_or_else(|| near.to_owned())))
}

/// Whether a record holds a term. One that many records hold is taken to be held here as well.
fn is_held(store: &Store, term: &Term, filter: &Filter) -> Result<bool, StoreError> {
    for table in TABLES {
        if text::holder(store, table, term, filter, text::COMMON)?.is_some()
            || text::is_common(store, table, term)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn word(token: &str) -> Term {
    Term { parts: vec![token.to_owned()], whole: None, stop: false, pair: false }
}
