//! The files of a directory, by git's rules, and what each holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use ignore::WalkBuilder;
use serde::Serialize;
use thiserror::Error;

use super::{Item, Outline, Plain, Source, Until, languages, whole};
use crate::model::Gone;

/// Most files that are looked into.
const MOST_FILES: usize = 10_000;
/// Most directories below each other.
const DEEPEST: usize = 40;
/// What is larger holds what machines wrote.
const LARGEST: u64 = 1024 * 1024;
/// What one file may take.
const PATIENCE: Duration = Duration::from_millis(500);
/// What all of them may take.
pub(super) const ALL: Duration = Duration::from_secs(20);
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
    /// How many files are not listed because no grammar can be used on them: too large, minified, too deep, too slow.
    pub files_unread: usize,
    /// Whether there are more files than were looked into, or no time was left for them.
    pub is_cut: bool,
}

/// Lists the files of a directory that a grammar reads; it stops once `gone` is set.
///
/// # Errors
/// [`TreeError`] when it is none.
pub fn tree(directory: &Path, gone: &Gone) -> Result<Listing, TreeError> {
    let until = Until::after(ALL, gone);
    let found: Mutex<Vec<(usize, Listed)>> = Mutex::new(Vec::new());
    let each = |number: usize, file: String, outline: Outline| {
        let listed = listed(file, outline);
        if let Ok(mut found) = found.lock() {
            found.push((number, listed));
        }
    };
    let Looked { files_unread, is_cut } = outlines(directory, &until, each)?;
    let mut listing = Listing { files_unread, is_cut, ..Listing::default() };
    let mut room = OF_ALL;
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(number, _)| *number);
    for (_, mut file) in found {
        if room == 0 {
            listing.files_left_out += 1;
            continue;
        }
        file.left_out += file.items.len().saturating_sub(room);
        file.items.truncate(room);
        room -= file.items.len();
        listing.files.push(file);
    }
    Ok(listing)
}

/// What is told of one file, and nothing more: the others are in memory at the same time.
fn listed(file: String, outline: Outline) -> Listed {
    let found = outline.items.len();
    let top = outline.items.into_iter().filter(|item| item.depth == 0);
    let mut items: Vec<Item> = top.take(OF_ONE).collect();
    // The room of all of them would stay otherwise.
    items.shrink_to_fit();
    let left_out = found - items.len();
    Listed { file, language: outline.language.unwrap_or_default(), lines: outline.lines, items, left_out }
}

/// What is to be said of the files that were not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looked {
    /// Those on which no grammar can be used.
    pub files_unread: usize,
    /// Whether some were not looked into.
    pub is_cut: bool,
}

/// Gives the outline of each file that a grammar read something of to `each`, in several threads: its number in the
/// order of the names, its name, the outline.
pub(super) fn outlines(
    directory: &Path,
    until: &Until,
    each: impl Fn(usize, String, Outline) + Sync,
) -> Result<Looked, TreeError> {
    if !directory.is_dir() {
        return Err(TreeError::Missing { path: directory.to_owned() });
    }
    let (files, is_full) = files(directory, until);
    let (next, unread) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = files.get(number).filter(|_| !until.is_over()) else { break };
            match look(path, until) {
                Look::Read(outline) => each(number, shown(path), outline),
                Look::Unread => _ = unread.fetch_add(1, Ordering::Relaxed),
                Look::Nothing => {}
            }
        }
    };
    let helpers = thread::available_parallelism().map_or(1, usize::from).min(8) - 1;
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
    });
    Ok(Looked { files_unread: unread.into_inner(), is_cut: is_full || until.is_over() })
}

/// Files that git would not ignore and a grammar knows, in the order of their names; whether there are more.
fn files(directory: &Path, until: &Until) -> (Vec<PathBuf>, bool) {
    let mut builder = WalkBuilder::new(directory);
    // Git's own files count also where there is no repository; those of other tools do not.
    builder.require_git(false).ignore(false).max_depth(Some(DEEPEST));
    builder.sort_by_file_name(std::ffi::OsStr::cmp);
    let mut files = Vec::new();
    for entry in builder.build().flatten() {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if !is_file || !languages::has_grammar(entry.path()) {
            continue;
        }
        if files.len() == MOST_FILES || until.is_over() {
            return (files, true);
        }
        files.push(entry.into_path());
    }
    (files, false)
}

/// What came of a file.
enum Look {
    Read(Outline),
    /// A grammar knows its name and cannot be used on it.
    Unread,
    /// There is nothing to list.
    Nothing,
}

/// Whoever cannot be read is not there.
fn look(path: &Path, until: &Until) -> Look {
    if fs::metadata(path).is_ok_and(|about| about.len() > LARGEST) {
        return Look::Unread;
    }
    let Ok(source) = Source::read(path) else { return Look::Nothing };
    let outline = whole(path, &source, &until.at_most(PATIENCE));
    match outline.plain {
        None => Look::Read(outline),
        Some(Plain::TooLarge | Plain::Minified | Plain::TooDeep | Plain::TooSlow) => Look::Unread,
        Some(_) => Look::Nothing,
    }
}

/// As it can be named from where the directory can.
fn shown(file: &Path) -> String {
    file.strip_prefix(".").unwrap_or(file).to_string_lossy().into_owned()
}
