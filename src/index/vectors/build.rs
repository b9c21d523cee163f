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
    let known = Cache::open(&vectors).filter(|cache| cache.state.epoch == now.epoch);
    let behind = now.watermark - known.as_ref().map_or(0, |cache| cache.state.watermark);
    if behind < BEHIND {
        return Ok(false);
    }
    build(store, known)?;
    Ok(true)
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
    let fresh = rows_after(store, known.as_ref().map_or(0, |cache| cache.state.watermark))?;
    snapshot.finish()?;
    write(known.as_ref(), fresh, now, &vectors, &centroids)
        .map_err(|source| StoreError::Io { path: vectors, source })
}

fn write(
    known: Option<&Cache>,
    mut fresh: HashMap<i64, Entries>,
    now: State,
    vectors: &Path,
    centroids: &Path,
) -> io::Result<()> {
    let old_sections =
        || known.into_iter().flat_map(|cache| cache.sections.iter().map(move |old| (cache, old)));
    let old_centroids = known.and_then(|cache| Centroids::open(centroids, cache.mark));
    let mut projects: BTreeSet<i64> = fresh.keys().copied().collect();
    projects.extend(old_sections().map(|(_, old)| old.project));
    let mut writer = Writer::create(vectors)?;
    let mut new_centroids = Centroids::new();
    for project in projects {
        let (mut entries, mut trained) = (Vec::new(), 0);
        if let Some((cache, old)) = old_sections().find(|(_, old)| old.project == project) {
            trained = old.trained;
            for run in &old.runs {
                entries.extend(cache.contents(run)?);
            }
        }
        entries.extend(fresh.remove(&project).unwrap_or_default());
        if entries.len() < INDEXED_FROM {
            writer.section(project, 0);
            entries.chunks(RUN).try_for_each(|run| writer.run(run.iter()))?;
            continue;
        }
        let count = entries.len() as u64;
        let reusable = old_centroids.as_ref().filter(|_| trained > 0 && count < GROWTH * trained);
        let (of, trained) = match reusable.and_then(|centroids| centroids.of(project)) {
            Some(known) => (known, trained),
            None => (lists::train(&entries), count),
        };
        writer.section(project, trained);
        write_lists(&mut writer, &entries, &of)?;
        new_centroids.add(project, &of);
    }
    let mark = writer.finish(vectors, now)?;
    new_centroids.save(centroids, mark)
}

/// Each vector in the list of its nearest centroid.
fn write_lists(writer: &mut Writer, entries: &Entries, centroids: &[[i8; DIM]]) -> io::Result<()> {
    let vectors: Vec<&[i8; DIM]> = entries.iter().map(|(_, vector)| vector).collect();
    let mut members = vec![Vec::new(); centroids.len()];
    for (place, list) in lists::assign(centroids, &vectors).into_iter().enumerate() {
        members[list].push(place);
    }
    members.iter().try_for_each(|list| writer.run(list.iter().map(|place| &entries[*place])))
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
