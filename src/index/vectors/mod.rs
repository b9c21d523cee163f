//! The vector index: which observations are near to a question, whatever words they use.

mod build;
mod cache;
mod entries;
mod lists;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rusqlite::OptionalExtension;

pub(super) use build::remove as remove_caches;
pub use build::{rebuild, refresh, renew};

use self::cache::Cache;
use self::lists::Centroids;
use super::meaning::{self, ALL, Meaning};
use super::{Probe, Space};
use crate::embed::{self, DIM, Token};
use crate::store::{Store, StoreError};

/// An observation, and the product of its vector with the question's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Near {
    /// Larger is nearer.
    pub product: i32,
    /// Its id.
    pub observation: i64,
}

/// Keeps the nearest.
#[derive(Debug)]
pub(super) struct Nearest {
    most: usize,
    heap: BinaryHeap<Reverse<Near>>,
}

impl Nearest {
    pub(super) fn new(most: usize) -> Self {
        Self { most, heap: BinaryHeap::new() }
    }

    /// Whether one of this product would be kept.
    pub(super) fn wants(&self, product: i32) -> bool {
        self.heap.len() < self.most || self.heap.peek().is_some_and(|least| least.0.product <= product)
    }

    pub(super) fn offer(&mut self, near: Near) {
        if self.heap.len() < self.most {
            self.heap.push(Reverse(near));
        } else if self.heap.peek().is_some_and(|least| least.0 < near) {
            self.heap.pop();
            self.heap.push(Reverse(near));
        }
    }

    /// Nearest first.
    fn sorted(self) -> Vec<Near> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(near)| near).collect()
    }
}

/// The `most` nearest observations of some projects (`None` = of all), nearest first, as the embedded model has it.
///
/// # Errors
/// [`StoreError`].
pub fn nearest(
    store: &Store,
    question: &[i8; DIM],
    projects: Option<&[i64]>,
    most: usize,
) -> Result<Vec<Near>, StoreError> {
    nearest_in(store, &Space::embedded(), question, projects, most)
}

/// The same as a model behind an endpoint has it.
///
/// # Errors
/// [`StoreError`].
pub fn nearest_to(
    store: &Store,
    probe: &Probe,
    projects: Option<&[i64]>,
    most: usize,
) -> Result<Vec<Near>, StoreError> {
    nearest_in(store, &probe.space, &probe.vector, projects, most)
}

fn nearest_in(
    store: &Store,
    space: &Space,
    question: &[i8],
    projects: Option<&[i64]>,
    most: usize,
) -> Result<Vec<Near>, StoreError> {
    let mut nearest = Nearest::new(most);
    let after = match scan_cache(store, space, question, projects, most, &mut nearest)? {
        Some(watermark) => watermark,
        None => {
            nearest = Nearest::new(most);
            0
        }
    };
    scan_rows(store, space, question, projects, after, &mut nearest)?;
    Ok(nearest.sorted())
}

/// Compares with what the cache holds; returns the last row that it knows, or `None` if it is of no use.
fn scan_cache(
    store: &Store,
    space: &Space,
    question: &[i8],
    projects: Option<&[i64]>,
    most: usize,
    nearest: &mut Nearest,
) -> Result<Option<i64>, StoreError> {
    let Some((vectors, centroids)) = build::places(store, space) else { return Ok(None) };
    let Some(cache) = Cache::open(&vectors, space.dim()) else { return Ok(None) };
    let now = build::state(store, space)?;
    if cache.state.epoch != now.epoch || cache.state.watermark > now.watermark {
        return Ok(None);
    }
    let wanted = |project: i64| projects.is_none_or(|ids| ids.contains(&project));
    let sections = || cache.sections.iter().filter(|section| wanted(section.project));
    // Whoever asks for all of them does not want a part of the lists.
    let indexed = most < usize::MAX && sections().any(|section| section.trained > 0);
    let centroids = if indexed { Centroids::open(&centroids, cache.mark) } else { None };
    let scanned = sections().try_for_each(|section| {
        let runs = build::runs_for(section, centroids.as_ref(), question);
        cache.scan(runs.into_iter(), question, nearest)
    });
    Ok(scanned.is_ok().then_some(cache.state.watermark))
}

/// Every row after one.
fn scan_rows(
    store: &Store,
    space: &Space,
    question: &[i8],
    projects: Option<&[i64]>,
    after: i64,
    nearest: &mut Nearest,
) -> Result<(), StoreError> {
    let scope = match projects {
        None => String::new(),
        Some(ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            format!("JOIN observations o ON o.id = v.observation AND o.project IN ({})", ids.join(","))
        }
    };
    let sql = format!(
        "SELECT v.observation, v.vector FROM vectors v {scope}
         WHERE v.id > ?1 AND v.model = (SELECT id FROM models WHERE name = ?2 AND dimension = ?3)
           AND v.vector IS NOT NULL"
    );
    let mut statement = store.conn().prepare(&sql)?;
    let (name, dim) = space.key();
    let mut rows = statement.query((after, name, dim))?;
    while let Some(row) = rows.next()? {
        let blob = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        if let Some(vector) = vector_of(blob, space.dim()) {
            nearest.offer(Near { product: embed::dot(question, vector), observation: row.get(0)? });
        }
    }
    Ok(())
}

/// The vector in a blob; `None` if it has another dimension.
pub(super) fn vector_of(blob: &[u8], dim: usize) -> Option<&[i8]> {
    (blob.len() == dim).then(|| bytemuck::cast_slice(blob))
}

/// What is kept of some observations, by the embedded model.
///
/// # Errors
/// [`StoreError`].
pub fn kept(store: &Store, observations: &[i64]) -> Result<HashMap<i64, Meaning>, StoreError> {
    let sql = "SELECT observation, vector, tokens FROM vectors
               WHERE observation IN (?ids) AND model = (SELECT id FROM models WHERE name = ? AND dimension = ?)";
    let found = store.of_ids(observations, sql, &Space::embedded().values(), |row| {
        let vector = row.get_ref(1)?.as_blob_or_null()?.and_then(|blob| vector_of(blob, DIM));
        let vector = vector.and_then(|vector| vector.try_into().ok());
        Ok((row.get(0)?, Meaning { vector, tokens: meaning::unpack(row.get_ref(2)?.as_blob()?) }))
    })?;
    Ok(found.into_iter().collect())
}

/// How many observations there are.
///
/// # Errors
/// [`StoreError`].
pub fn observations(store: &Store) -> Result<i64, StoreError> {
    holding(store, ALL)
}

/// How many observations hold a word piece.
fn holding(store: &Store, piece: i64) -> Result<i64, StoreError> {
    let mut statement = store.conn().prepare_cached("SELECT observations FROM pieces WHERE piece = ?1")?;
    Ok(statement.query_row([piece], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// How rare each word piece is among the observations: 1 = in none, near 0 = in all (the inverse document frequency of
/// BM25, divided by its largest value).
///
/// # Errors
/// [`StoreError`].
#[expect(clippy::cast_precision_loss, reason = "a ratio")]
pub fn rarity(store: &Store, tokens: &[Token]) -> Result<Vec<f32>, StoreError> {
    let all = observations(store)? as f32;
    let inverse = |count: f32| ((all - count + 0.5).max(0.5) / (count + 0.5) + 1.0).ln();
    let rarity = |token: &Token| Ok(inverse(holding(store, i64::from(*token))? as f32) / inverse(0.0));
    tokens.iter().map(rarity).collect()
}
