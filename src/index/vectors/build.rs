//! Making and renewing the caches.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Cache, Run, Section, State, Writer};
use super::lists::{self, Centroids, INDEXED_FROM};
use super::vector_of;
use crate::embed::{self, DIM};
use crate::store::{Store, StoreError};

/// So many rows that no cache holds are compared with as fast as a cache is opened.
const BEHIND: i64 = 1_000;
/// Vectors in a run that is no list.
const RUN: usize = 1_024;
/// New centroids are made when the set has grown so many times.
const GROWTH: u64 = 4;

/// Where the caches of a memory lie; `None` for one that is not in a file.
pub(super) fn places(store: &Store) -> Option<(PathBuf, PathBuf)> {
    let folder = store.folder()?;
    let name = |what: &str| folder.join(format!("{what}-{}.bin", embed::MODEL));
    Some((name("vectors"), name("centroids")))
}

/// The state of the rows now.
pub(super) fn state(store: &Store) -> Result<State, StoreError> {
    let conn = store.conn();
    Ok(State {
        epoch: conn.prepare_cached("SELECT epoch FROM vector_epoch")?.query_row([], |row| row.get(0))?,
        watermark: conn
            .prepare_cached("SELECT coalesce(max(id), 0) FROM vectors")?
            .query_row([], |row| row.get(0))?,
    })
}

/// Renews the caches when too many rows are not in them; tells whether it did.
///
/// # Errors
/// [`StoreError`].
pub fn refresh(store: &Store) -> Result<bool, StoreError> {
    let Some((vectors, _)) = places(store) else { return Ok(false) };
    let now = state(store)?;
    let known = Cache::open(&vectors);
    let usable = known.as_ref().filter(|cache| cache.state.epoch == now.epoch);
    let behind = now.watermark - usable.map_or(0, |cache| cache.state.watermark);
    if behind < BEHIND {
        return Ok(false);
    }
    build(store, known)?;
    Ok(true)
}

/// Renews the caches, if there are any, so that they hold nothing that was taken away or changed.
///
/// # Errors
/// [`StoreError`].
pub fn renew(store: &Store) -> Result<(), StoreError> {
    let Some((vectors, _)) = places(store) else { return Ok(()) };
    match Cache::open(&vectors) {
        Some(known) if known.state != state(store)? => build(store, Some(known)),
        _ => Ok(()),
    }
}

/// Makes the caches anew, from the rows alone.
///
/// # Errors
/// [`StoreError`].
pub fn rebuild(store: &Store) -> Result<(), StoreError> {
    build(store, None)
}

fn build(store: &Store, known: Option<Cache>) -> Result<(), StoreError> {
    let Some((vectors, centroids)) = places(store) else { return Ok(()) };
    // One state of the rows throughout.
    let snapshot = store.conn().unchecked_transaction()?;
    let now = state(store)?;
    let known = known.filter(|cache| cache.state.watermark <= now.watermark);
    let after = known.as_ref().map_or(0, |cache| cache.state.watermark);
    let fresh = rows_after(store, after)?;
    let old = match known {
        Some(cache) => {
            let present = if cache.state.epoch == now.epoch { None } else { Some(rows_until(store, after)?) };
            Some(Old { cache, present })
        }
        None => None,
    };
    snapshot.finish()?;
    write(old.as_ref(), fresh, now, &vectors, &centroids)
        .map_err(|source| StoreError::Io { path: vectors, source })
}

/// The cache before.
struct Old {
    cache: Cache,
    /// The project of each row of its time that is still there, if some are not.
    present: Option<HashMap<i64, i64>>,
}

impl Old {
    fn section(&self, project: i64) -> Option<&Section> {
        self.cache.sections.iter().find(|section| section.project == project)
    }

    /// What still holds of a project, run by run.
    fn runs(&self, section: &Section) -> io::Result<Vec<Entries>> {
        let holds =
            |id: &i64| self.present.as_ref().is_none_or(|rows| rows.get(id) == Some(&section.project));
        let kept = |run| {
            let mut entries = self.cache.contents(run)?;
            entries.retain(|(id, _)| holds(id));
            Ok(entries)
        };
        section.runs.iter().map(kept).collect()
    }
}

fn write(
    old: Option<&Old>,
    mut fresh: HashMap<i64, Entries>,
    now: State,
    vectors: &Path,
    centroids: &Path,
) -> io::Result<()> {
    let old_centroids = old.and_then(|old| Centroids::open(centroids, old.cache.mark));
    let mut projects: BTreeSet<i64> = fresh.keys().copied().collect();
    projects.extend(old.into_iter().flat_map(|old| &old.cache.sections).map(|section| section.project));
    let mut writer = Writer::create(vectors)?;
    let mut new_centroids = Centroids::new();
    for project in projects {
        let section = old.and_then(|old| old.section(project).map(|section| (old, section)));
        let (runs, trained) = match section {
            Some((old, section)) => (old.runs(section)?, section.trained),
            None => (Vec::new(), 0),
        };
        let fresh = fresh.remove(&project).unwrap_or_default();
        let count = runs.iter().chain([&fresh]).map(Vec::len).sum::<usize>();
        if count < INDEXED_FROM {
            let entries: Entries = runs.into_iter().flatten().chain(fresh).collect();
            writer.section(project, 0);
            entries.chunks(RUN).try_for_each(|run| writer.run(run.iter()))?;
            continue;
        }
        let reusable = old_centroids.as_ref().filter(|_| (count as u64) < GROWTH * trained);
        let (of, mut lists, fresh, trained) = match reusable.and_then(|centroids| centroids.of(project)) {
            Some(known) => (known, runs, fresh, trained),
            None => {
                let entries: Entries = runs.into_iter().flatten().chain(fresh).collect();
                (lists::train(&entries), Vec::new(), entries, count as u64)
            }
        };
        lists.resize_with(of.len(), Vec::new);
        append(&mut lists, fresh, &of);
        writer.section(project, trained);
        lists.iter().try_for_each(|list| writer.run(list.iter()))?;
        new_centroids.add(project, &of);
    }
    let mark = writer.finish(vectors, now)?;
    new_centroids.save(centroids, mark)
}

/// Puts each vector into the list of its nearest centroid.
fn append(lists: &mut [Entries], entries: Entries, centroids: &[[i8; DIM]]) {
    let vectors: Vec<&[i8; DIM]> = entries.iter().map(|(_, vector)| vector).collect();
    let nearest = lists::assign(centroids, &vectors);
    for (entry, list) in entries.into_iter().zip(nearest) {
        lists[list].push(entry);
    }
}

type Entries = Vec<(i64, [i8; DIM])>;

/// Rows after one, by project.
fn rows_after(store: &Store, after: i64) -> Result<HashMap<i64, Entries>, StoreError> {
    let mut statement = store.conn().prepare_cached(
        "SELECT o.project, v.observation, v.vector FROM vectors v JOIN observations o ON o.id = v.observation
         WHERE v.id > ?1 AND v.model = (SELECT id FROM models WHERE name = ?2) AND v.vector IS NOT NULL ORDER BY v.id",
    )?;
    let mut rows = statement.query((after, embed::MODEL))?;
    let mut entries: HashMap<i64, Entries> = HashMap::new();
    while let Some(row) = rows.next()? {
        let blob = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if let Some(vector) = vector_of(blob) {
            entries.entry(row.get(0)?).or_default().push((row.get(1)?, vector));
        }
    }
    Ok(entries)
}

/// The project of each row up to one.
fn rows_until(store: &Store, until: i64) -> Result<HashMap<i64, i64>, StoreError> {
    let mut statement = store.conn().prepare(
        "SELECT v.observation, o.project FROM vectors v JOIN observations o ON o.id = v.observation WHERE v.id <= ?1",
    )?;
    let rows = statement.query_map([until], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The runs of a section that a question is compared with: all, or those of the nearest lists.
pub(super) fn runs_for<'a>(
    section: &'a Section,
    centroids: Option<&Centroids>,
    question: &[i8; DIM],
) -> Vec<&'a Run> {
    let lists = match centroids {
        Some(centroids) if section.trained > 0 => centroids.lists(section.project, question),
        _ => None,
    };
    match lists {
        Some(lists) => lists.into_iter().filter_map(|list| section.runs.get(list)).collect(),
        None => section.runs.iter().collect(),
    }
}
