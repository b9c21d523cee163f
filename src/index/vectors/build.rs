//! Making and renewing the caches.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cache::{Cache, Run, Section, State, Writer};
use super::entries::Entries;
use super::lists::{self, Centroids, INDEXED_FROM, Vectors};
use super::vector_of;
use crate::index::Space;
use crate::store::{Store, StoreError};

/// So many rows that no cache holds are compared with as fast as a cache is opened.
const BEHIND: i64 = 1_000;
/// Vectors in a run that is no list.
const RUN: usize = 1_024;
/// New centroids are made when the set has grown so many times.
const GROWTH: u64 = 4;

/// Where the caches of a space lie; `None` for a memory that is not in a file.
pub(super) fn places(store: &Store, space: &Space) -> Option<(PathBuf, PathBuf)> {
    let (folder, stem) = (store.folder()?, space.stem());
    let name = |what: &str| folder.join(format!("{what}-{stem}.bin"));
    Some((name("vectors"), name("centroids")))
}

/// The state of the rows of a space now.
pub(super) fn state(store: &Store, space: &Space) -> Result<State, StoreError> {
    let conn = store.conn();
    Ok(State {
        epoch: conn.prepare_cached("SELECT epoch FROM vector_epoch")?.query_row([], |row| row.get(0))?,
        watermark: conn
            .prepare_cached(
                "SELECT coalesce(max(id), 0) FROM vectors
                 WHERE model = (SELECT id FROM models WHERE name = ?1 AND dimension = ?2)",
            )?
            .query_row(space.key(), |row| row.get(0))?,
    })
}

/// Renews the caches when too many rows are not in them; tells whether it did.
///
/// # Errors
/// [`StoreError`].
pub fn refresh(store: &Store) -> Result<bool, StoreError> {
    let mut renewed = false;
    for space in Space::all(store)? {
        renewed |= refresh_one(store, &space)?;
    }
    Ok(renewed)
}

fn refresh_one(store: &Store, space: &Space) -> Result<bool, StoreError> {
    let Some((vectors, _)) = places(store, space) else { return Ok(false) };
    let now = state(store, space)?;
    let known = Cache::open(&vectors, space.dim());
    let usable = known.as_ref().filter(|cache| cache.state.epoch == now.epoch);
    let behind = now.watermark - usable.map_or(0, |cache| cache.state.watermark);
    if behind < BEHIND {
        return Ok(false);
    }
    build(store, space, known)?;
    Ok(true)
}

/// Renews the caches, if there are any, so that they hold nothing that was taken away or changed.
///
/// # Errors
/// [`StoreError`].
pub fn renew(store: &Store) -> Result<(), StoreError> {
    for space in Space::all(store)? {
        let Some((vectors, _)) = places(store, &space) else { return Ok(()) };
        match Cache::open(&vectors, space.dim()) {
            Some(known) if known.state != state(store, &space)? => build(store, &space, Some(known))?,
            _ => {}
        }
    }
    Ok(())
}

/// Makes the caches anew, from the rows alone.
///
/// # Errors
/// [`StoreError`].
pub fn rebuild(store: &Store) -> Result<(), StoreError> {
    Space::all(store)?.iter().try_for_each(|space| build(store, space, None))
}

/// Takes the caches of a space away.
pub(in crate::index) fn remove(store: &Store, space: &Space) {
    let Some((vectors, centroids)) = places(store, space) else { return };
    // What stays is of no use to anybody, and does no harm.
    let _ = fs::remove_file(vectors);
    let _ = fs::remove_file(centroids);
}

fn build(store: &Store, space: &Space, known: Option<Cache>) -> Result<(), StoreError> {
    let Some((vectors, centroids)) = places(store, space) else { return Ok(()) };
    // One state of the rows throughout.
    let snapshot = store.conn().unchecked_transaction()?;
    let now = state(store, space)?;
    let known = known.filter(|cache| cache.state.watermark <= now.watermark);
    let after = known.as_ref().map_or(0, |cache| cache.state.watermark);
    let fresh = rows_after(store, space, after)?;
    let old = match known {
        Some(cache) => {
            let present =
                if cache.state.epoch == now.epoch { None } else { Some(rows_until(store, space, after)?) };
            Some(Old { cache, present })
        }
        None => None,
    };
    snapshot.finish()?;
    write(space, old.as_ref(), fresh, now, &vectors, &centroids)
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
            |id: i64| self.present.as_ref().is_none_or(|rows| rows.get(&id) == Some(&section.project));
        let kept = |run| Ok(self.cache.contents(run)?.filtered(holds));
        section.runs.iter().map(kept).collect()
    }
}

fn write(
    space: &Space,
    old: Option<&Old>,
    mut fresh: HashMap<i64, Entries>,
    now: State,
    vectors: &Path,
    centroids: &Path,
) -> io::Result<()> {
    let old_centroids = old.and_then(|old| Centroids::open(centroids, old.cache.mark));
    let mut projects: BTreeSet<i64> = fresh.keys().copied().collect();
    projects.extend(old.into_iter().flat_map(|old| &old.cache.sections).map(|section| section.project));
    let dim = space.dim();
    let mut writer = Writer::create(vectors, dim)?;
    let mut new_centroids = Centroids::new();
    for project in projects {
        let section = old.and_then(|old| old.section(project).map(|section| (old, section)));
        let (runs, trained) = match section {
            Some((old, section)) => (old.runs(section)?, section.trained),
            None => (Vec::new(), 0),
        };
        let fresh = fresh.remove(&project).unwrap_or_else(|| Entries::new(dim));
        let count = runs.iter().chain([&fresh]).map(Entries::len).sum::<usize>();
        if count < INDEXED_FROM {
            let entries = joined(dim, runs, fresh);
            writer.section(project, 0);
            entries.chunks(RUN).try_for_each(|(ids, vectors)| writer.run(ids, vectors))?;
            continue;
        }
        let reusable = old_centroids.as_ref().filter(|_| (count as u64) < GROWTH * trained);
        let (of, mut lists, fresh, trained) = match reusable.and_then(|centroids| centroids.of(project)) {
            Some(known) => (known, runs, fresh, trained),
            None => {
                let entries = joined(dim, runs, fresh);
                (lists::train(&entries, space.quantum()), Vec::new(), entries, count as u64)
            }
        };
        lists.resize_with(of.len(), || Entries::new(dim));
        append(&mut lists, &fresh, &of);
        writer.section(project, trained);
        for list in &lists {
            let (ids, vectors) = list.chunks(list.len().max(1)).next().unwrap_or_default();
            writer.run(ids, vectors)?;
        }
        new_centroids.add(project, &of);
    }
    let mark = writer.finish(vectors, now)?;
    new_centroids.save(centroids, mark)
}

/// Puts each vector into the list of its nearest centroid.
fn append(lists: &mut [Entries], entries: &Entries, centroids: &Vectors) {
    let vectors: Vec<&[i8]> = entries.iter().map(|(_, vector)| vector).collect();
    let nearest = lists::assign(centroids, &vectors);
    for ((id, vector), list) in entries.iter().zip(nearest) {
        lists[list].push(id, vector);
    }
}

fn joined(dim: usize, runs: Vec<Entries>, fresh: Entries) -> Entries {
    let mut entries = Entries::new(dim);
    runs.into_iter().chain([fresh]).for_each(|run| entries.append(run));
    entries
}

/// Rows after one, by project.
fn rows_after(store: &Store, space: &Space, after: i64) -> Result<HashMap<i64, Entries>, StoreError> {
    let mut statement = store.conn().prepare_cached(
        "SELECT o.project, v.observation, v.vector FROM vectors v JOIN observations o ON o.id = v.observation
         WHERE v.id > ?1 AND v.model = (SELECT id FROM models WHERE name = ?2 AND dimension = ?3)
           AND v.vector IS NOT NULL ORDER BY v.id",
    )?;
    let (name, dim) = space.key();
    let mut rows = statement.query((after, name, dim))?;
    let mut entries: HashMap<i64, Entries> = HashMap::new();
    while let Some(row) = rows.next()? {
        let blob = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
        if let Some(vector) = vector_of(blob, space.dim()) {
            let of_project = entries.entry(row.get(0)?).or_insert_with(|| Entries::new(space.dim()));
            of_project.push(row.get(1)?, vector);
        }
    }
    Ok(entries)
}

/// The project of each row up to one.
fn rows_until(store: &Store, space: &Space, until: i64) -> Result<HashMap<i64, i64>, StoreError> {
    let mut statement = store.conn().prepare(
        "SELECT v.observation, o.project FROM vectors v JOIN observations o ON o.id = v.observation
         WHERE v.id <= ?1 AND v.model = (SELECT id FROM models WHERE name = ?2 AND dimension = ?3)",
    )?;
    let (name, dim) = space.key();
    let rows = statement.query_map((until, name, dim), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The runs of a section that a question is compared with: all, or those of the nearest lists.
pub(super) fn runs_for<'a>(
    section: &'a Section,
    centroids: Option<&Centroids>,
    question: &[i8],
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
