//! The files of a directory, by git's rules, and what each holds.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use serde::Serialize;
use thiserror::Error;

use super::{Item, Outline, Source, languages, whole};

/// Most files that are looked into.
const MOST_FILES: usize = 10_000;
/// Most directories below each other.
const DEEPEST: usize = 40;
/// What is larger holds what machines wrote.
const LARGEST: u64 = 1024 * 1024;
/// What one file may take.
const PATIENCE: Duration = Duration::from_millis(500);
/// What all of them may take.
const ALL: Duration = Duration::from_secs(20);
/// Most items that are listed of one file of a directory.
const OF_ONE: usize = 25;
/// Most items that are listed of a directory.
const OF_ALL: usize = 400;

/// Why there is no listing.
#[derive(Debug, Error)]
pub enum TreeError {
    /// There is no such directory.
    #[error("{} is no directory", path.display())]
    Missing {
        /// What was asked for.
        path: PathBuf,
    },
}

/// A file of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its path, beginning with that of the directory as it was named (without `.`).
    pub file: String,
    /// The language.
    pub language: &'static str,
    /// How many lines the file has.
    pub lines: usize,
    /// What lies in nothing else.
    pub items: Vec<Item>,
    /// How many items of the file are not listed.
    pub left_out: usize,
}

/// What the files of a directory hold, in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// The files.
    pub files: Vec<Listed>,
    /// How many more files there are with something to list.
    pub files_left_out: usize,
    /// Whether there are more files than were looked into, or no time was left for them.
    pub is_cut: bool,
}

/// Lists the files of a directory that a grammar reads.
///
/// # Errors
/// [`TreeError`] when it is none.
pub fn tree(directory: &Path) -> Result<Listing, TreeError> {
    let (outlines, is_cut) = outlines(directory)?;
    let mut listing = Listing { is_cut, ..Listing::default() };
    let mut room = OF_ALL;
    for (file, outline) in outlines {
        if room == 0 {
            listing.files_left_out += 1;
            continue;
        }
        let found = outline.items.len();
        let items = outline.items.into_iter().filter(|item| item.depth == 0);
        let items: Vec<Item> = items.take(OF_ONE.min(room)).collect();
        room -= items.len();
        let left_out = found - items.len();
        let language = outline.language.unwrap_or_default();
        listing.files.push(Listed { file, language, lines: outline.lines, items, left_out });
    }
    Ok(listing)
}

/// The outlines of all files that a grammar read something of, by their names, and whether some were not looked into.
pub(super) fn outlines(directory: &Path) -> Result<(Vec<(String, Outline)>, bool), TreeError> {
    if !directory.is_dir() {
        return Err(TreeError::Missing { path: directory.to_owned() });
    }
    let deadline = Instant::now() + ALL;
    let (files, is_full) = files(directory, deadline);
    let next = AtomicUsize::new(0);
    let found: Mutex<Vec<(usize, Outline)>> = Mutex::new(Vec::new());
    let work = || {
        let mut own = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(number).filter(|_| Instant::now() < deadline) else { break };
            own.extend(look(path).map(|outline| (number, outline)));
        }
        if let Ok(mut found) = found.lock() {
            found.extend(own);
        }
    };
    let helpers = thread::available_parallelism().map_or(1, usize::from).min(8) - 1;
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
    });
    let is_late = Instant::now() >= deadline;
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(number, _)| *number);
    let named = |(number, outline): (usize, Outline)| Some((shown(files.get(number)?), outline));
    Ok((found.into_iter().filter_map(named).collect(), is_full || is_late))
}

/// Files that git would not ignore and a grammar knows, in the order of their names; whether there are more.
fn files(directory: &Path, deadline: Instant) -> (Vec<PathBuf>, bool) {
    let mut builder = WalkBuilder::new(directory);
    // Git's own files count also where there is no repository; those of other tools do not.
    builder.require_git(false).ignore(false).max_depth(Some(DEEPEST)).max_filesize(Some(LARGEST));
    builder.sort_by_file_name(std::ffi::OsStr::cmp);
    let mut files = Vec::new();
    for entry in builder.build().flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !is_file || !languages::has_grammar(entry.path()) {
            continue;
        }
        if files.len() == MOST_FILES || Instant::now() >= deadline {
            return (files, true);
        }
        files.push(entry.into_path());
    }
    (files, false)
}

/// Whoever cannot be read is not there.
fn look(path: &Path) -> Option<Outline> {
    let source = Source::read(path).ok()?;
    let outline = whole(path, &source, PATIENCE);
    (outline.plain.is_none()).then_some(outline)
}

/// As it can be named from where the directory can.
fn shown(file: &Path) -> String {
    file.strip_prefix(".").unwrap_or(file).to_string_lossy().into_owned()
}
