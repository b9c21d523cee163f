//! Where Claude Code keeps its transcripts and its notes.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::foreign::home;
use crate::hook;

/// A directory that is named in none of the first lines is named in none.
const FIRST_LINES: usize = 50;
const NOTES: &str = "memory";
const OWN_NOTES: &str = "CLAUDE.md";
/// The end of a folder whose sessions are those of an observer (claude-mem's), which watch other sessions.
const OBSERVERS: &str = "-observer-sessions";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// The user's own notes, read by the client in every project.
    own_notes: Option<PathBuf>,
    /// One for each directory that sessions were started in.
    projects: Vec<PathBuf>,
    /// Transcripts that were named one by one.
    named: Vec<PathBuf>,
}

impl Folders {
    /// In `given` (the client's folder, its `projects`, one project in there, or a transcript), else where the client
    /// keeps them; `None` when there is nothing.
    pub fn find(given: Option<&Path>) -> Option<Self> {
        let root = match given {
            Some(path) => path.to_owned(),
            None => env::var_os("CLAUDE_CONFIG_DIR")
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
                .or_else(|| home().map(|home| home.join(".claude")))?,
        };
        let root = fs::canonicalize(root).ok()?;
        if root.is_file() {
            return is_transcript(&root).then(|| Self { named: vec![root], ..Self::default() });
        }
        let projects = root.join("projects");
        if projects.is_dir() {
            let own_notes = Some(root.join(OWN_NOTES)).filter(|notes| notes.is_file());
            return Some(Self { own_notes, projects: projects_in(&projects), named: Vec::new() });
        }
        if root.join(NOTES).is_dir() || !transcripts_in(&root).is_empty() {
            return Some(Self { projects: vec![root], ..Self::default() });
        }
        let below = projects_in(&root);
        let own_notes = Some(root.join(OWN_NOTES)).filter(|notes| notes.is_file());
        (!below.is_empty() || own_notes.is_some()).then(|| Self {
            own_notes,
            projects: below,
            named: Vec::new(),
        })
    }

    /// Every transcript of a session, by folder and name.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let found = self.projects.iter().flat_map(|folder| transcripts_in(folder));
        found.chain(self.named.iter().cloned()).collect()
    }

    /// The transcript of each session.
    pub(in crate::foreign) fn by_session(&self) -> HashMap<String, PathBuf> {
        let session = |path: PathBuf| Some((path.file_stem()?.to_str()?.to_owned(), path));
        self.transcripts().into_iter().filter_map(session).collect()
    }

    /// Every file of notes, with the folder of its project; `None` for the user's own.
    pub(super) fn notes(&self) -> Vec<(PathBuf, Option<PathBuf>)> {
        let of_project = self.projects.iter().flat_map(|folder| {
            let notes = files_in(&folder.join(NOTES), "md");
            notes.into_iter().map(move |path| (path, Some(folder.clone())))
        });
        self.own_notes.iter().map(|path| (path.clone(), None)).chain(of_project).collect()
    }
}

/// The directory in which the session of a transcript began.
pub(in crate::foreign) fn first_cwd(transcript: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(transcript).ok()?);
    let mut line = Vec::new();
    for _ in 0..FIRST_LINES {
        line.clear();
        if reader.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let Ok(value) = hook::parse_value(&line) else { continue };
        if let Some(cwd) = value["cwd"].as_str().filter(|cwd| !cwd.is_empty()) {
            return Some(cwd.to_owned());
        }
    }
    None
}

/// The directory that a folder of the client stands for: as its transcripts say, else the one on disk whose name,
/// with everything but letters and digits as `-`, is that of the folder.
pub(super) fn directory_of(folder: &Path) -> Option<PathBuf> {
    let mut transcripts = transcripts_in(folder);
    transcripts.reverse();
    let told = transcripts.iter().take(5).find_map(|path| first_cwd(path)).map(PathBuf::from);
    // A session may have begun below it.
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let told = told.map(|told| {
        let own = told.ancestors().find(|above| escaped(above) == name).map(Path::to_owned);
        own.unwrap_or(told)
    });
    told.or_else(|| unescaped(Path::new("/"), &name))
}

fn escaped(path: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    path.to_string_lossy().chars().map(plain).collect()
}

/// The directory at or below `from` whose escaped name is `wanted`.
fn unescaped(from: &Path, wanted: &str) -> Option<PathBuf> {
    let name = escaped(from);
    if name == wanted {
        return Some(from.to_owned());
    }
    let prefix = if name.ends_with('-') { name } else { format!("{name}-") };
    if !wanted.starts_with(&prefix) {
        return None;
    }
    folders_in(from).iter().find_map(|folder| unescaped(folder, wanted))
}

fn transcripts_in(folder: &Path) -> Vec<PathBuf> {
    files_in(folder, "jsonl")
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == ending) && path.is_file());
    files.sort();
    files
}

fn projects_in(folder: &Path) -> Vec<PathBuf> {
    let mut projects = folders_in(folder);
    projects.retain(|project| !project.to_string_lossy().ends_with(OBSERVERS));
    projects
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut folders: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_a_directory() {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let project = root.join("my.app-2/sub");
        fs::create_dir_all(&project).unwrap();
        let folder = root.join("claude").join(escaped(&project));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(directory_of(&folder), Some(project.clone()));
        let line = serde_json::json!({"type":"user","cwd": project.join("deeper")}).to_string();
        fs::write(folder.join("s.jsonl"), format!("{{\"type\":\"mode\"}}\n{line}\n")).unwrap();
        assert_eq!(directory_of(&folder), Some(project));
        fs::write(folder.join("t.jsonl"), "{\"cwd\":\"/gone/elsewhere\"}\n").unwrap();
        assert_eq!(directory_of(&folder), Some(PathBuf::from("/gone/elsewhere")));
        assert_eq!(directory_of(&root.join("-no-such")), None);
    }

    #[test]
    fn any_level_may_be_named() {
        let world = tempfile::tempdir().unwrap();
        let root = world.path().canonicalize().unwrap();
        let folder = root.join("projects/-x");
        fs::create_dir_all(folder.join("memory")).unwrap();
        fs::write(folder.join("s.jsonl"), "").unwrap();
        fs::write(folder.join("memory/note.md"), "").unwrap();
        fs::write(root.join("CLAUDE.md"), "").unwrap();
        let observer = root.join("projects/-home-me--claude-mem-observer-sessions");
        fs::create_dir_all(&observer).unwrap();
        fs::write(observer.join("o.jsonl"), "").unwrap();
        let found = |path: &Path| {
            let folders = Folders::find(Some(path)).unwrap();
            (folders.transcripts().len(), folders.notes().len())
        };
        assert_eq!(found(&root), (1, 2));
        assert_eq!(found(&root.join("projects")), (1, 1));
        assert_eq!(found(&folder), (1, 1));
        assert_eq!(found(&folder.join("s.jsonl")), (1, 0));
        assert_eq!(Folders::find(Some(&folder.join("memory/note.md"))), None);
        assert_eq!(Folders::find(Some(&root.join("nowhere"))), None);
    }
}
