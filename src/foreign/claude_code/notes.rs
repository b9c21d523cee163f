//! Its notes: `CLAUDE.md` of the user, and what it keeps in a project's `memory` folder. Each file is one memory here;
//! one that changed there is revised.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::TranscriptError;
use super::folders::{Folders, directory_of};
use crate::adopt;
use crate::config::Paths;
use crate::foreign::{Problems, claude_mem, home};
use crate::git;
use crate::index;
use crate::model::{Draft, Identity, Priority, Source, Status, Timestamp};
use crate::observer::{one_line, shorten, title_of};
use crate::privacy::Cleaner;
use crate::spool::{Spool, SpoolError, Taken};
use crate::store::{Kept, Place, Restored, Revised, State, Store, StoreError, Trace, Transaction};

/// Longest title, in characters.
const MAX_TITLE: usize = 200;
/// Most bytes of one file that are read.
const MOST: u64 = 4 << 20;
/// What such a memory is.
const KIND: &str = "note";

/// What became of the notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NoteTally {
    /// Files there.
    pub read: u64,
    /// Remembered now, or would be.
    pub new: u64,
    /// Changed there since they were remembered.
    pub changed: u64,
    /// Remembered before, or said by another memory.
    pub known: u64,
    /// Without a text, or private.
    pub empty: u64,
    /// What cannot be read.
    pub problems: Problems,
}

/// Takes the notes over. What was remembered of a file is left alone until the file changes, also where it was edited or
/// forgotten here. With `dry_run` nothing is written.
///
/// # Errors
/// [`TranscriptError`] when a database fails.
pub fn take_notes(
    folders: &Folders,
    paths: &Paths,
    redact_patterns: &[String],
    dry_run: bool,
) -> Result<NoteTally, TranscriptError> {
    let mut tally = NoteTally::default();
    let files = folders.notes();
    if files.is_empty() {
        return Ok(tally);
    }
    let cleaner = Cleaner::new(redact_patterns);
    let opened = if dry_run { Spool::open_for_reading(paths) } else { Spool::open(paths) };
    let spool = super::or_missing(opened, SpoolError::is_missing)?;
    let store = if dry_run { None } else { Some(Store::open(paths)?) };
    for (file, folder) in files {
        tally.read += 1;
        let name = file.to_string_lossy().into_owned();
        let note = match Note::read(&file, &name, &cleaner) {
            Ok(Some(note)) => note,
            Ok(None) => {
                tally.empty += 1;
                continue;
            }
            Err(error) => {
                tally.problems.add(&name, 0, &error.to_string());
                continue;
            }
        };
        let before = match &spool {
            Some(spool) => spool.taken(&name)?.map(|taken| taken.digest),
            None => None,
        };
        if before.as_ref() == Some(&note.digest) {
            tally.known += 1;
            continue;
        }
        let fate = match &store {
            Some(store) => note.remember(store, folder.as_deref(), before.is_some())?,
            None if before.is_some() => Fate::Changed,
            None => Fate::New,
        };
        match fate {
            Fate::New => tally.new += 1,
            Fate::Changed => tally.changed += 1,
            Fate::Known => tally.known += 1,
        }
        if let Some(spool) = spool.as_ref().filter(|_| !dry_run) {
            // After the memory: what was not remembered is tried again.
            spool.take(&name, &Taken { bytes: note.bytes, digest: note.digest }, &[])?;
        }
    }
    if let Some(store) = &store {
        // Searches work without it.
        let _ = index::refresh(store);
    }
    Ok(tally)
}

enum Fate {
    New,
    Changed,
    Known,
}

struct Note {
    uid: String,
    digest: String,
    bytes: u64,
    draft: Draft,
    /// When the file was written.
    at: Timestamp,
}

impl Note {
    /// `None` when there is nothing to remember.
    fn read(file: &Path, name: &str, cleaner: &Cleaner) -> std::io::Result<Option<Self>> {
        let meta = fs::metadata(file)?;
        let mut bytes = Vec::new();
        fs::File::open(file)?.take(MOST).read_to_end(&mut bytes)?;
        let written = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let text = String::from_utf8_lossy(&bytes).replace('\0', "");
        let (front, body) = front_matter(&text);
        let clean = |text: &str| cleaner.clean_text(text).trim().to_owned();
        let narrative = clean(body);
        if narrative.is_empty() {
            return Ok(None);
        }
        let line = |key: &str| one_line(&clean(front.get(key).map_or("", String::as_str)));
        let title = [line("name"), line("title")].into_iter().find(|title| !title.is_empty());
        let digest = Sha256::digest(&bytes).iter().take(16).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Some(Self {
            uid: claude_mem::uid(&["claude-code", "notes", name]),
            digest,
            bytes: bytes.len() as u64,
            draft: Draft {
                r#type: KIND.to_owned(),
                title: shorten(&title.unwrap_or_else(|| title_of(&narrative)), MAX_TITLE),
                subtitle: line("description"),
                narrative,
                ..Draft::default()
            },
            at: i64::try_from(written).map_or_else(|_| Timestamp::now(), Timestamp),
        }))
    }

    /// `before` = it was remembered once; if it is gone since, it was forgotten on purpose, but what it says is new.
    fn remember(&self, store: &Store, folder: Option<&Path>, before: bool) -> Result<Fate, TranscriptError> {
        // What git says is asked before other writers have to wait.
        let place = At::of(folder);
        let transaction = store.begin()?;
        let fate = match transaction.observation_of_uid(&self.uid)? {
            Some(id) => match index::revise_observation(&transaction, id, &self.draft, self.at)? {
                Revised::Changed => Fate::Changed,
                Revised::Unchanged | Revised::SameAs(_) => Fate::Known,
            },
            None => match self.add(&transaction, place.place(&transaction)?)? {
                Kept::New(_) if before => Fate::Changed,
                Kept::New(_) => Fate::New,
                Kept::SameUid(_) | Kept::SameText(_) => Fate::Known,
            },
        };
        transaction.commit()?;
        Ok(fate)
    }

    fn add(&self, transaction: &Transaction<'_>, place: Place) -> Result<Kept, StoreError> {
        let new = Restored {
            put_together: false,
            uid: &self.uid,
            place,
            draft: &self.draft,
            session: "",
            prompt_number: None,
            agent: None,
            model: "",
            tokens_spent: 0,
            source: Source::Import,
            state: State {
                priority: Priority::Normal,
                pinned: false,
                status: Status::Active,
                expires_at: None,
                hit_count: 0,
                last_hit_at: None,
                updated_at: self.at,
            },
            created_at: self.at,
        };
        index::restore_observation(transaction, &new)
    }
}

/// Whose notes they are.
enum At {
    Directory(Box<Identity>, Trace),
    /// The directory cannot be found out: the folder's own name stands for it.
    Name(String),
}

impl At {
    /// Of a project's folder; without one, of the user's home directory.
    fn of(folder: Option<&Path>) -> Self {
        let directory = match folder {
            Some(folder) => directory_of(folder),
            None => home(),
        };
        match (directory, folder) {
            (Some(directory), _) => {
                let identity = git::identify(&directory);
                let trace = adopt::trace(&identity);
                Self::Directory(Box::new(identity), trace)
            }
            (None, folder) => {
                let name = folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
                Self::Name(name.unwrap_or_else(|| String::from("home")))
            }
        }
    }

    fn place(&self, transaction: &Transaction<'_>) -> Result<Place, StoreError> {
        match self {
            Self::Directory(identity, trace) => transaction.place(identity, trace),
            Self::Name(name) => Ok(transaction.place_named(name)?.0),
        }
    }
}

/// What stands between two lines of `---` at the head, as far as it is `key: value`, and the text after it.
fn front_matter(text: &str) -> (HashMap<String, String>, &str) {
    let text = text.trim_start_matches('\u{feff}');
    let parts = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    let Some((head, body)) = parts else { return (HashMap::new(), text) };
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim().trim_matches(['"', '\'']);
        Some((key.trim().to_lowercase(), value.to_owned()))
    };
    (head.lines().filter_map(value).collect(), body.trim_start_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_names_a_note() {
        let (front, body) =
            front_matter("---\nname: \"Deploys\"\ndescription: how: and when\n---\n\nOn Tuesdays.\n");
        assert_eq!((front["name"].as_str(), front["description"].as_str()), ("Deploys", "how: and when"));
        assert_eq!(body.trim(), "On Tuesdays.");
        assert_eq!(front_matter("---\nnot closed").1, "---\nnot closed");
    }
}
