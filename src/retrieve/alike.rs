//! Which memories of a project say the same, or say something of the same thing.

use std::collections::{BTreeMap, HashMap};

use super::hydrate::observations;
use super::question::cosine;
use super::{Observation, Scope};
use crate::embed::{self, Query};
use crate::index::{self, Meaning, tokens};
use crate::store::{Store, StoreError};

/// From so alike on two memories say the same in other words, or are about the same thing. Chosen on the sets in
/// `tests/eval` (see the tests of this file): no two passages of the React documentation come to 0.62, two commits in a
/// thousand do; a passage with its sentences in another order and every tenth word left out comes to 0.85 or more, and
/// one with its half to between 0.6 and 0.85.
const NEAR: f64 = 0.80;
const TOPIC: f64 = 0.62;
/// So many neighbours of each memory are looked at: those that are put away already are among them.
const NEIGHBOURS: usize = 64;
/// Most memories in one group: what was put together must still be read.
const MOST: usize = 12;

/// How alike the memories of a group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kinship {
    /// Word by word, but for case, accents and punctuation.
    Exact,
    /// In other words.
    Near,
    /// They are about the same thing.
    Topic,
}

/// Memories that could be one.
#[derive(Debug, Clone)]
pub struct Group {
    /// How alike the least alike two of them are.
    pub kinship: Kinship,
    /// The same as a number, up to 1.
    pub likeness: f64,
    /// Oldest first; at least two.
    pub members: Vec<Observation>,
}

/// The groups of the memories in use, of each project of a scope by itself: of one never with those of another. The
/// most alike come first, and each memory is in one group at most. `looked_at` is told of each memory.
///
/// # Errors
/// [`StoreError`].
pub fn alike(store: &Store, scope: &Scope, mut looked_at: impl FnMut()) -> Result<Vec<Group>, StoreError> {
    let mut groups = Vec::new();
    for (_, ids) in by_home(store, scope)? {
        groups.extend(groups_of(store, &ids, &mut looked_at)?);
    }
    groups.sort_by(|a, b| a.kinship.cmp(&b.kinship).then(b.likeness.total_cmp(&a.likeness)));
    Ok(groups)
}

/// How many memories [`alike`] looks at.
///
/// # Errors
/// [`StoreError`].
pub fn in_use(store: &Store, scope: &Scope) -> Result<usize, StoreError> {
    Ok(by_home(store, scope)?.values().map(Vec::len).sum())
}

/// Ids of the memories in use by the project that they are seen in.
fn by_home(store: &Store, scope: &Scope) -> Result<BTreeMap<i64, Vec<i64>>, StoreError> {
    let sql = "SELECT coalesce(merged_into, project), id FROM observations
               WHERE status = 'active' AND (expires_at IS NULL OR expires_at > ?1) ORDER BY id";
    let mut statement = store.conn().prepare(sql)?;
    let rows =
        statement.query_map([crate::model::Timestamp::now().0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in rows {
        let (home, id) = row?;
        if matches!(scope, Scope::All) || matches!(scope, Scope::Projects(ids) if ids.contains(&home)) {
            found.entry(home).or_default().push(id);
        }
    }
    Ok(found)
}

fn groups_of(store: &Store, ids: &[i64], looked_at: &mut impl FnMut()) -> Result<Vec<Group>, StoreError> {
    let memories: HashMap<i64, Observation> =
        observations(store, ids)?.into_iter().map(|memory| (memory.id, memory)).collect();
    let kept = index::kept(store, ids)?;
    let projects = projects_of(store, ids)?;
    let mut pairs = Vec::new();
    for id in ids {
        looked_at();
        let Some(meaning) = kept.get(id) else { continue };
        let Some(vector) = &meaning.vector else { continue };
        // Itself is among them.
        for near in index::nearest(store, vector, Some(&projects), NEIGHBOURS + 1)? {
            if near.observation > *id
                && cosine(near.product) >= TOPIC
                && let (Some(a), Some(b)) = (memories.get(id), memories.get(&near.observation))
                && let Some(other) = kept.get(&near.observation)
            {
                let likeness = if same_words(a, b) { 1.0 } else { likeness(meaning, other) };
                if likeness >= TOPIC {
                    pairs.push((likeness, *id, near.observation));
                }
            }
        }
    }
    Ok(joined(pairs)
        .into_iter()
        .map(|(likeness, ids)| {
            let mut members: Vec<Observation> =
                ids.iter().filter_map(|id| memories.get(id)).cloned().collect();
            members.sort_by_key(|memory| (memory.created_at, memory.id));
            let exact = members.iter().all(|other| same_words(&members[0], other));
            let kinship = if exact {
                Kinship::Exact
            } else if likeness >= NEAR {
                Kinship::Near
            } else {
                Kinship::Topic
            };
            Group { kinship, likeness, members }
        })
        .collect())
}

/// The most alike are joined first, and nothing that is not alike to all that it joins.
fn joined(mut pairs: Vec<(f64, i64, i64)>) -> Vec<(f64, Vec<i64>)> {
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let known: HashMap<(i64, i64), f64> =
        pairs.iter().map(|(likeness, a, b)| ((*a, *b), *likeness)).collect();
    let between = |a: i64, b: i64| known.get(&(a.min(b), a.max(b))).copied();
    let mut groups: Vec<(f64, Vec<i64>)> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for (_, a, b) in &pairs {
        let group = |id: &i64| places.get(id).map_or(vec![*id], |place| groups[*place].1.clone());
        let (first, second) = (group(a), group(b));
        if places.get(a).is_some_and(|place| places.get(b) == Some(place))
            || first.len() + second.len() > MOST
        {
            continue;
        }
        let across = first.iter().flat_map(|a| second.iter().map(move |b| between(*a, *b)));
        let Some(least) = across.reduce(|a, b| Some(a?.min(b?))).flatten() else { continue };
        let before: Vec<f64> =
            [a, b].into_iter().filter_map(|id| places.get(id)).map(|place| groups[*place].0).collect();
        // What says the same is not drowned in what is only about the same thing.
        if least < NEAR && before.iter().any(|likeness| *likeness >= NEAR) {
            continue;
        }
        let likeness = before.into_iter().fold(least, f64::min);
        let place = groups.len();
        let members = [first, second].concat();
        for id in [a, b] {
            if let Some(old) = places.get(id) {
                groups[*old].1.clear();
            }
        }
        members.iter().for_each(|id| {
            places.insert(*id, place);
        });
        groups.push((likeness, members));
    }
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

/// How alike two memories are, up to 1: their vectors, and their words piece by piece, whichever of the two ways is worse.
fn likeness(a: &Meaning, b: &Meaning) -> f64 {
    let (Some(first), Some(second)) = (&a.vector, &b.vector) else { return 0.0 };
    let pieces = |from: &Meaning, to: &Meaning| {
        let weighted: Vec<(embed::Token, f32)> = from.tokens.iter().map(|token| (*token, 1.0)).collect();
        Query::new(&weighted).map_or(0.0, |mut query| f64::from(query.maxsim(&to.tokens)))
    };
    let pieces = pieces(a, b).min(pieces(b, a));
    (cosine(embed::dot(first, second)).max(0.0) * pieces.max(0.0)).sqrt().min(1.0)
}

/// Whether two memories differ in case, accents and punctuation alone.
fn same_words(a: &Observation, b: &Observation) -> bool {
    let words = |memory: &Observation| {
        [tokens(&memory.title), tokens(&memory.narrative), tokens(&memory.facts.join("\n"))]
    };
    words(a) == words(b)
}

fn projects_of(store: &Store, ids: &[i64]) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT DISTINCT project FROM observations WHERE id IN (?ids)";
    let mut projects: Vec<i64> = store.of_ids(ids, sql, &[], |row| row.get(0))?;
    projects.sort_unstable();
    projects.dedup();
    Ok(projects)
}

#[cfg(test)]
mod tests;
