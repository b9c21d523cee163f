//! The order of what both indexes found. The constants were chosen by `scripts/bench/retrieval` over sets in five
//! languages; fusing by rank instead drags a good list down to a poor one there.

use std::collections::{HashMap, HashSet};

use super::hydrate::Records;
use super::question::{Question, Similarity, by_chance};
use super::score::{Factors, Parts, PassedBy};
use super::{Ground, Record};
use crate::index::{self, Meaning, Term, tokens};
use crate::model::{Priority, RecordId, Status, Timestamp};
use crate::store::{Store, StoreError};

/// BM25 (from 0, seldom above 60) as a part of the score: a logarithm that tells low scores apart, and a share that is
/// nearly straight, so that a row which holds every word of a long question stands out.
const BM25_LOG: (f64, f64) = (0.07, 7.0);
const BM25_SHARE: (f64, f64) = (0.6, 100.0);
/// So many rows of the highest BM25 tell how far the words of the question are those of the memory at all.
const TRUSTED: usize = 10;
/// The part that is as much as all where a question has pairs of characters: many of those are no words.
const ENOUGH_PAIRS: f64 = 1.0 / 3.0;
/// What it counts for that words which stand together in the question stand together in the row.
const PAIRS_SHARE: f64 = 0.1;
/// How similar the best row must be for meaning alone to be an answer, beside what is so by chance. `scripts/bench/retrieval` shows how many questions without an answer get past it.
const ANSWER: f64 = 0.09;
const ANSWER_LEAST: f64 = 0.2;
const ANSWER_MOST: f64 = 0.36;
/// With an embeddings endpoint nothing is known of what its model takes for an answer: only what is hardly nearer than
/// usual is none, and the rest is up to the best.
const ANSWER_OF_ENDPOINT: f64 = ANSWER;
/// The part of the best similarity that a row must have to be shown for its meaning.
const NEAR_BEST: f64 = 0.4;
/// The part of a query's terms that any other row must hold.
const COVERAGE: f64 = 0.5;
/// How many rows are read word by word; the rest cannot come to the top by it.
const READ: usize = 30;
/// Mild factors, each at most so far from 1.
const PRIORITY: f64 = 0.05;
const RECENCY: f64 = 0.03;
const USE: f64 = 0.03;
/// After so many days a row is half as recent as one of now.
const RECENT_DAYS: f64 = 30.0;
/// What matters little and was of no use for long, and what was said about files that are no longer so.
const UNUSED: f64 = 0.05;
const FILES: f64 = 0.05;
/// After so many days without a use, half of that.
const UNUSED_DAYS: f64 = 90.0;
/// So many uses count as many.
const MANY_USES: f64 = 10.0;
/// What was superseded or put away stays findable, at the end.
const RETIRED: f64 = 0.001;

/// A row that one of the indexes found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) id: RecordId,
    pub(super) at: i64,
    /// Of the terms, in the text index; 0 if only its meaning is near.
    pub(super) bm25: f64,
    /// It holds every term.
    pub(super) has_all: bool,
}

/// A row in its place.
#[derive(Debug, Clone)]
pub(super) struct Ranked {
    pub(super) id: RecordId,
    pub(super) score: f64,
    pub(super) parts: Parts,
    at: i64,
}

impl Ranked {
    /// It holds every term.
    pub(super) fn has_all(&self) -> bool {
        self.parts.passed_by == PassedBy::AllWords
    }
}

/// Best first; without what is neither similar nor holds enough of the terms.
pub(super) fn rank(
    store: &Store,
    query: &str,
    terms: &[&Term],
    mut question: Option<&mut Question>,
    candidates: Vec<Candidate>,
    records: &Records,
    ground: Option<&Ground>,
) -> Result<Vec<Ranked>, StoreError> {
    let kept = kept(store, &candidates)?;
    let asked = Asked::new(query, terms);
    let trust = trust(&asked, &candidates, records);
    let probe = question.as_ref().and_then(|question| question.probe.clone());
    let by_endpoint = match &probe {
        Some(probe) => index::nearness(store, probe, &observations(&candidates))?,
        None => HashMap::new(),
    };
    let mut rows: Vec<Row<'_>> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let record = records.get(&candidate.id)?;
            let mut similarity = question.as_mut().map(|question| match kept.get(&candidate.id) {
                Some(kept) => question.similarity(kept),
                // What is shorter than an observation is read now.
                None => question.similarity(&Meaning::of_text(&text_of(record))),
            });
            let nearness = match candidate.id {
                RecordId::Observation(id) => by_endpoint.get(&id),
                _ => None,
            };
            if let (Some(similarity), Some(nearness)) = (&mut similarity, nearness) {
                similarity.cosine = *nearness;
            }
            let words = bm25_share(trust * candidate.bm25);
            let similarity = similarity.unwrap_or_default();
            Some(Row { candidate, record, similarity, by_endpoint: nearness.is_some(), words })
        })
        .collect();
    rows.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let floors = Floors::of(&rows, (ANSWER + by_chance(store)?).clamp(ANSWER_LEAST, ANSWER_MOST));

    let now = Timestamp::now();
    let mut ranked = Vec::new();
    for (place, row) in rows.into_iter().enumerate() {
        let floor = if row.by_endpoint { floors.by_endpoint } else { floors.embedded };
        let passed_by = match row.candidate.has_all {
            true => Some(PassedBy::AllWords),
            false => (row.similarity.score() >= floor).then_some(PassedBy::Meaning),
        };
        if passed_by.is_none() && row.candidate.bm25 == 0.0 {
            continue;
        }
        let text = text_of(row.record);
        let read = if place < READ || passed_by.is_none() { asked.read(&text) } else { ReadWords::default() };
        let Some(passed_by) = passed_by.or((read.coverage >= COVERAGE).then_some(PassedBy::SomeWords)) else {
            continue;
        };
        let parts = Parts {
            cosine: row.similarity.cosine,
            maxsim: row.similarity.maxsim,
            meaning: row.similarity.score(),
            bm25: row.candidate.bm25,
            words: row.words,
            neighbours: PAIRS_SHARE * read.pairs,
            exact: asked.lift(row.record, &text),
            factors: factors(row.record, now, ground.filter(|_| place < READ)),
            floor,
            passed_by,
        };
        let Candidate { id, at, .. } = row.candidate;
        ranked.push(Ranked { id, score: parts.score(), parts, at });
    }
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then((b.at, b.id).cmp(&(a.at, a.id))));
    Ok(ranked)
}

/// A candidate with what is known of it.
struct Row<'a> {
    candidate: Candidate,
    record: &'a Record,
    similarity: Similarity,
    /// The cosine is that of an embeddings endpoint.
    by_endpoint: bool,
    /// What its BM25 counts for.
    words: f64,
}

impl Row<'_> {
    fn score(&self) -> f64 {
        self.similarity.score() + self.words
    }
}

/// How far BM25 is to be trusted: the part of the question's words that the row which holds most of them holds. Where
/// no row holds most, as in a memory in another language, the few that are met say little.
fn trust(asked: &Asked<'_>, candidates: &[Candidate], records: &Records) -> f64 {
    if candidates.iter().any(|row| row.has_all) {
        return 1.0;
    }
    let mut rows: Vec<&Candidate> = candidates.iter().filter(|row| row.bm25 > 0.0).collect();
    rows.sort_by(|a, b| b.bm25.total_cmp(&a.bm25));
    let most = rows
        .iter()
        .take(TRUSTED)
        .filter_map(|row| records.get(&row.id))
        .map(|record| asked.read(&text_of(record)).coverage)
        .fold(0.0, f64::max);
    let enough = if asked.terms.iter().any(|term| term.pair) { ENOUGH_PAIRS } else { 1.0 };
    (most / enough).min(1.0)
}

/// How similar a row must be to be shown for its meaning, by who measured it.
struct Floors {
    embedded: f64,
    by_endpoint: f64,
}

impl Floors {
    /// `answer` = what the best must be for the embedded model to know an answer.
    fn of(rows: &[Row<'_>], answer: f64) -> Self {
        let best = |of: &dyn Fn(&Row<'_>) -> bool| {
            let rows = rows.iter().filter(|row| of(row));
            rows.map(|row| row.similarity.score()).fold(0.0, f64::max)
        };
        let near_best = NEAR_BEST * best(&|_| true);
        let floor = |best: f64, answer: f64| if best < answer { answer } else { near_best };
        Self {
            embedded: floor(best(&|row| !row.by_endpoint), answer),
            by_endpoint: floor(best(&|row| row.by_endpoint), ANSWER_OF_ENDPOINT),
        }
    }
}

fn bm25_share(bm25: f64) -> f64 {
    BM25_LOG.0 * (bm25 / BM25_LOG.1).ln_1p() + BM25_SHARE.0 * bm25 / (bm25 + BM25_SHARE.1)
}

/// What is kept of the meaning of observations.
fn kept(store: &Store, candidates: &[Candidate]) -> Result<HashMap<RecordId, Meaning>, StoreError> {
    let kept = index::kept(store, &observations(candidates))?;
    Ok(kept.into_iter().map(|(id, meaning)| (RecordId::Observation(id), meaning)).collect())
}

fn observations(candidates: &[Candidate]) -> Vec<i64> {
    let observation = |id| if let RecordId::Observation(id) = id { Some(id) } else { None };
    candidates.iter().filter_map(|row| observation(row.id)).collect()
}

/// The words of a query.
struct Asked<'a> {
    typed: String,
    terms: &'a [&'a Term],
    pairs: Vec<(String, String)>,
    /// Every token of the terms and of the pairs.
    tokens: HashSet<String>,
}

/// How a text holds them.
#[derive(Default)]
struct ReadWords {
    /// The part of the terms that it holds.
    coverage: f64,
    /// The part of the pairs of neighbours that are neighbours there.
    pairs: f64,
}

impl<'a> Asked<'a> {
    fn new(query: &str, terms: &'a [&'a Term]) -> Self {
        let words = tokens(query);
        let mut tokens: HashSet<String> = words.split(' ').map(str::to_owned).collect();
        tokens.extend(terms.iter().flat_map(|term| term.whole.iter().chain(&term.parts)).cloned());
        let pairs = words
            .split(' ')
            .zip(words.split(' ').skip(1))
            .filter(|(_, next)| !next.is_empty())
            .map(|(word, next)| (word.to_owned(), next.to_owned()))
            .collect();
        Self { typed: query.to_lowercase(), terms, pairs, tokens }
    }

    fn read(&self, text: &str) -> ReadWords {
        let words = tokens(text);
        let (mut held, mut together) = (HashSet::new(), HashSet::new());
        let mut before: Option<&String> = None;
        for word in words.split(' ') {
            let token = self.tokens.get(word);
            if let Some(token) = token {
                held.insert(token);
            }
            together.extend(before.zip(token));
            before = token;
        }
        let has = |token: &String| held.contains(token);
        let holds = |term: &&&Term| term.whole.as_ref().is_some_and(has) || term.parts.iter().all(has);
        let together = self.pairs.iter().filter(|(a, b)| together.contains(&(a, b))).count();
        ReadWords {
            coverage: share(self.terms.iter().filter(holds).count(), self.terms.len()),
            pairs: share(together, self.pairs.len()),
        }
    }

    /// A row whose text holds the query as it was typed is what was meant: above all others, titles first, and what was
    /// learned above the question that led to it.
    fn lift(&self, record: &Record, text: &str) -> f64 {
        let (title, in_text) = match record {
            Record::Observation(o) => (o.title.to_lowercase(), 2.0),
            Record::Summary(_) | Record::Prompt(_) => (String::new(), 1.0),
        };
        if title.contains(&self.typed) {
            4.0
        } else if self.typed.chars().count() > 2 && text.to_lowercase().contains(&self.typed) {
            in_text
        } else {
            0.0
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What speaks for a record beside its text.
fn factors(record: &Record, now: Timestamp, ground: Option<&Ground>) -> Factors {
    let recency = |at: Timestamp| {
        let days = now.days_since(at);
        RECENCY * RECENT_DAYS / (RECENT_DAYS + days)
    };
    match record {
        Record::Observation(o) => Factors {
            priority: match o.priority {
                Priority::High => PRIORITY,
                Priority::Normal => 0.0,
                Priority::Low => -PRIORITY,
            },
            recency: recency(o.created_at),
            used: USE * (o.hit_count.max(0) as f64 / MANY_USES).min(1.0),
            unused: match o.priority {
                Priority::Low if !o.pinned => -UNUSED * long(now.days_since(o.last_seen())),
                _ => 0.0,
            },
            files: ground.map_or(0.0, |ground| -FILES * ground.look(o).share_lost()),
            status: if o.status == Status::Active { 1.0 } else { RETIRED },
            kind: 1.0,
        },
        // They repeat what observations say better.
        Record::Summary(s) => Factors { recency: recency(s.created_at), kind: 0.8, ..Factors::default() },
        Record::Prompt(p) => Factors { recency: recency(p.created_at), kind: 0.6, ..Factors::default() },
    }
}

/// From 0 to 1: for how long something was of no use.
fn long(days: f64) -> f64 {
    days / (UNUSED_DAYS + days)
}

/// Every text of a record, titles first.
pub(super) fn text_of(record: &Record) -> String {
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
