//! A memory as a folder of Markdown files. What somebody else put or changed there is never overwritten.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::manifest::{self, Manifest};
use super::report::Problem;
use super::{TransferError, page, write};
use crate::config;
use crate::git;
use crate::model::{Carried, CarriedProject, Status};
use crate::privacy::Cleaner;
use crate::retrieve::{RecordKind, Selection};
use crate::store::Store;

/// Longest part of a file's name that says what it is about.
const MAX_SLUG: usize = 60;
/// Largest file that is looked at.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// What became of the files of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FolderReport {
    /// Made or replaced.
    pub written: u64,
    /// As they should be.
    pub unchanged: u64,
    /// Taken away, because their record is gone or archived.
    pub removed: u64,
    /// Left as they are, because they hold changes that are not in memory yet.
    pub kept: u64,
    /// Files that could not be written.
    pub problems: Vec<Problem>,
}

/// The pages that lie in a folder.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Every page, with its uid where it has one.
    pub pages: Vec<(String, Option<String>)>,
    /// Path and hash by uid; of two of one uid the first by name.
    pub by_uid: BTreeMap<String, (String, String)>,
    pub projects: Vec<CarriedProject>,
}

/// Names of projects: here, and in a folder.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<String, String>);

impl Scan {
    /// Looks at every Markdown file; those that are not ours are passed by.
    pub(super) fn of(dir: &Path) -> Result<Self, TransferError> {
        let mut scan = Self::default();
        let mut paths = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            let at = dir.join(&folder);
            let fail = |source| TransferError::File { path: at.clone(), source };
            for entry in fs::read_dir(&at).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                let (kind, name) = (entry.file_type().map_err(fail)?, entry.file_name());
                let path = folder.join(&name);
                if name.to_string_lossy().starts_with('.') {
                    continue;
                }
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file()
                    && let Some(path) = path.to_str().filter(|path| path.ends_with(".md"))
                    && entry.metadata().map_err(fail)?.len() <= MAX_FILE
                {
                    paths.push(path.to_owned());
                }
            }
        }
        paths.sort();
        for path in paths {
            let Some(text) = load(dir, &path)?.filter(|text| page::is_ours(text)) else { continue };
            if let Ok(Carried::Project(project)) = page::read(&text) {
                scan.projects.push(project);
                continue;
            }
            let uid = page::uid_of(&text);
            if let Some(uid) = &uid {
                let found = (path.clone(), manifest::hash(&text));
                scan.by_uid.entry(uid.clone()).or_insert(found);
            }
            scan.pages.push((path, uid));
        }
        Ok(scan)
    }

    /// What a folder calls the projects of this memory.
    pub(super) fn names(&self, projects: &[CarriedProject]) -> Names {
        let mut names = HashMap::new();
        for ours in projects {
            let same = |theirs: &&CarriedProject| {
                theirs.worktree == ours.worktree
                    && match (&theirs.remote, &ours.remote) {
                        (Some(a), Some(b)) => git::remote_id(a) == git::remote_id(b),
                        (None, None) => theirs.key == ours.key,
                        _ => false,
                    }
            };
            let of_its_name = self.projects.iter().any(|theirs| same(&theirs) && theirs.name == ours.name);
            if !of_its_name && let Some(theirs) = self.projects.iter().find(same) {
                names.insert(ours.name.clone(), theirs.name.clone());
            }
        }
        Names(names)
    }
}

impl Names {
    /// The page of a record, with the names of the folder.
    pub(super) fn page(&self, record: &Carried) -> Option<String> {
        let mut record = record.clone();
        let (project, merged_into) = match &mut record {
            Carried::Observation(record) => (&mut record.project, &mut record.merged_into),
            Carried::Summary(record) => (&mut record.project, &mut record.merged_into),
            Carried::Prompt(record) => (&mut record.project, &mut record.merged_into),
            _ => return page::write(&record),
        };
        for name in [Some(project), merged_into.as_mut()].into_iter().flatten() {
            if let Some(other) = self.0.get(name) {
                name.clone_from(other);
            }
        }
        page::write(&record)
    }
}

/// The text of a file; `None` for one that is no text, or is gone.
pub(super) fn load(dir: &Path, path: &str) -> Result<Option<String>, TransferError> {
    match fs::read(dir.join(path)) {
        Ok(bytes) => Ok(String::from_utf8(bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TransferError::File { path: dir.join(path), source }),
    }
}

/// Brings a folder up to date with what is selected.
///
/// # Errors
/// [`TransferError`].
pub fn write_folder(
    store: &Store,
    selection: &Selection,
    cleaner: Option<&Cleaner>,
    dir: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FolderReport, TransferError> {
    let _snapshot = store.snapshot()?;
    fs::create_dir_all(dir).map_err(|source| TransferError::File { path: dir.to_owned(), source })?;
    let mut manifest = Manifest::load(dir, &store.identity()?)?;
    let scan = Scan::of(dir)?;
    let projects = store.carried_projects(&selection.projects(store)?)?;
    let names = scan.names(&projects);
    let mut report = FolderReport::default();
    for project in projects {
        let is_there = scan.projects.iter().any(|theirs| theirs.name == project.name);
        if names.0.contains_key(&project.name) || is_there {
            report.unchanged += 1;
            continue;
        }
        let path = format!("projects/{}.md", file_name(&project.name, &manifest::hash(&project.name)));
        if let Some(text) = page::write(&Carried::Project(project)) {
            put(dir, &path, &text, &mut report);
        }
    }
    let mut seen = HashSet::new();
    for kind in [RecordKind::Observation, RecordKind::Summary, RecordKind::Prompt] {
        for id in selection.rows(store, kind)? {
            progress(1);
            let Some(mut record) = record(store, kind, id)? else { continue };
            if let Some(cleaner) = cleaner {
                write::clean(&mut record, cleaner);
            }
            let Some((uid, text)) = uid(&record).map(str::to_owned).zip(names.page(&record)) else {
                continue;
            };
            let wanted = manifest::hash(&text);
            let agreed = manifest.hash_of(&uid);
            match scan.by_uid.get(&uid) {
                Some((path, hash)) if *hash == wanted => {
                    report.unchanged += 1;
                    manifest.agree(&uid, path, &text);
                }
                Some((path, hash)) if agreed == Some(hash.as_str()) => {
                    if put(dir, path, &text, &mut report) {
                        manifest.agree(&uid, path, &text);
                    }
                }
                Some(_) => report.kept += 1,
                // Somebody deleted it, and that was not taken in yet.
                None if agreed.is_some() => report.kept += 1,
                None => {
                    let path = path_of(dir, &record, &uid);
                    if put(dir, &path, &text, &mut report) {
                        manifest.agree(&uid, &path, &text);
                    }
                }
            }
            seen.insert(uid);
        }
    }
    let archived_too = selection.statuses.contains(&Status::Archived);
    let others: Vec<String> = manifest.entries.keys().filter(|uid| !seen.contains(*uid)).cloned().collect();
    for uid in others {
        let is_gone = match store.status_of_uid(&uid)? {
            None => true,
            Some(status) => status == Status::Archived && !archived_too,
        };
        if !is_gone {
            continue;
        }
        match scan.by_uid.get(&uid) {
            Some((_, hash)) if manifest.hash_of(&uid) != Some(hash.as_str()) => {
                report.kept += 1;
                continue;
            }
            Some((path, _)) => match fs::remove_file(dir.join(path)) {
                Ok(()) => report.removed += 1,
                Err(error) => {
                    report.problems.push(Problem { at: path.clone(), why: error.to_string() });
                    continue;
                }
            },
            None => {}
        }
        manifest.entries.remove(&uid);
    }
    manifest.save(dir)?;
    Ok(report)
}

/// A record as its page tells it. What a folder does not hold, such as archived sources, no page points to.
pub(super) fn record(store: &Store, kind: RecordKind, id: i64) -> Result<Option<Carried>, TransferError> {
    Ok(match kind {
        RecordKind::Observation => {
            let Some(mut found) = store.carried_observation(id)? else { return Ok(None) };
            let mut shared = Vec::new();
            for uid in found.superseded_by.iter().chain(&found.contests).chain(&found.sources) {
                if matches!(store.status_of_uid(uid)?, Some(Status::Active | Status::Superseded)) {
                    shared.push(uid.clone());
                }
            }
            found.superseded_by = found.superseded_by.filter(|uid| shared.contains(uid));
            found.contests.retain(|uid| shared.contains(uid));
            found.sources.retain(|uid| shared.contains(uid));
            Some(Carried::Observation(Box::new(found)))
        }
        RecordKind::Summary => store.carried_summary(id)?.map(Carried::Summary),
        RecordKind::Prompt => store.carried_prompt(id)?.map(Carried::Prompt),
    })
}

pub(super) fn uid(record: &Carried) -> Option<&str> {
    match record {
        Carried::Observation(record) => Some(&record.uid),
        Carried::Summary(record) => Some(&record.uid),
        Carried::Prompt(record) => Some(&record.uid),
        _ => None,
    }
}

/// Replaces a file of ours, or makes one; never follows a link out of the folder.
fn put(dir: &Path, path: &str, text: &str, report: &mut FolderReport) -> bool {
    let file = dir.join(path);
    let parent = file.parent().unwrap_or(dir);
    let written = fs::create_dir_all(parent).and_then(|()| {
        if parent != dir && fs::symlink_metadata(parent)?.file_type().is_symlink() {
            return Err(io::Error::other("its folder is a link"));
        }
        config::replace(&file, text.as_bytes())
    });
    match written {
        Ok(()) => report.written += 1,
        Err(error) => report.problems.push(Problem { at: path.to_owned(), why: error.to_string() }),
    }
    report.problems.last().is_none_or(|problem| problem.at != path)
}

/// Where a record lies that lies nowhere yet: at the same place for the same record.
fn path_of(dir: &Path, record: &Carried, uid: &str) -> String {
    let (folder, about) = match record {
        Carried::Observation(record) => (slug(&record.text.r#type), slug(&record.text.title)),
        Carried::Summary(record) => {
            (String::from("session-summaries"), record.created_at.to_string()[..10].to_owned())
        }
        Carried::Prompt(record) => (String::from("prompts"), record.created_at.to_string()[..10].to_owned()),
        _ => (String::from("others"), String::new()),
    };
    let folder = if folder.is_empty() { String::from("others") } else { folder };
    let short = file_name(&about, &manifest::hash(uid));
    let path = format!("{folder}/{short}.md");
    if !dir.join(&path).exists() {
        return path;
    }
    format!("{folder}/{}.md", slug(uid))
}

/// What it is about, and what tells it from others.
fn file_name(about: &str, hash: &str) -> String {
    let (about, short) = (slug(about), &hash[..8]);
    if about.is_empty() { short.to_owned() } else { format!("{about}-{short}") }
}

/// Small letters and digits, which every file system knows and keeps.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() >= MAX_SLUG {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_small_letters_and_digits() {
        assert_eq!(
            file_name("Retries: three, then../../etc", "0123456789"),
            "retries-three-then-etc-01234567"
        );
        assert_eq!(file_name("登录", "0123456789"), "01234567");
        assert!(slug(&"word ".repeat(100)).len() <= MAX_SLUG);
    }
}
