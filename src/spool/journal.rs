//! `spool.jsonl`: where a hook leaves what it has to say, one arrival a line. Opening a database costs a
//! short-lived process several times as much as all the rest of its work, so that is left to whoever reads the
//! spool next.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::import::{first_delivery, take_in};
use super::open::{HOOK_PATIENCE, OPERATOR_PATIENCE, append_lock};
use super::{Spool, SpoolError};
use crate::config::Paths;
use crate::model::{Event, Identity, Timestamp};

/// From this length on a hook asks for the journal to be taken in although no batch is ready.
const LONG: u64 = 256 * 1024;

/// One thing for the spool to take in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// An event to keep.
    Event {
        /// The event, cleaned.
        event: Box<Event>,
        /// Where it happened; `None` = where the session's last event in this directory did.
        identity: Option<Box<Identity>>,
        /// What makes two deliveries of it the same.
        key: Vec<u8>,
        /// Whether the key holds an id from the client, so that it never recurs by chance.
        exact: bool,
    },
    /// An event that is left out, by reason; only counted.
    Skipped {
        /// Stable name of the reason.
        reason: String,
    },
}

/// How long the journal is after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalLength(u64);

impl JournalLength {
    /// Whether it should be taken in although no batch is ready.
    pub fn is_long(self) -> bool {
        self.0 > LONG
    }
}

impl Arrival {
    /// Appends this arrival to the journal, whole or not at all. A process that holds the lock and does not go on
    /// costs the hook its patience, not the event: appends are atomic without it too, and when the journal was set
    /// aside meanwhile, the line is written once more. If both are read, the second is known by its key.
    ///
    /// # Errors
    /// [`SpoolError::File`] when the journal cannot be written.
    pub fn append(&self, paths: &Paths) -> Result<JournalLength, SpoolError> {
        let path = paths.journal();
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let lock = match append_lock(paths, HOOK_PATIENCE) {
            Ok(lock) => Some(lock),
            Err(SpoolError::Locked { .. }) => None,
            Err(error) => return Err(error),
        };
        let failed = |source| SpoolError::File { path: path.clone(), source };
        loop {
            let file = append_line(&path, &mut line).map_err(failed)?;
            let length = file.metadata().map_err(failed)?;
            if lock.is_some() || fs::metadata(&path).is_ok_and(|named| named.ino() == length.ino()) {
                return Ok(JournalLength(length.len()));
            }
        }
    }
}

fn append_line(path: &PathBuf, line: &mut Vec<u8>) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let before = file.metadata()?.len();
    if !ends_with_newline(&file, before)? {
        line.insert(0, b'\n');
    }
    if let Err(error) = file.write_all(line) {
        // Half a line is no use to anybody, and a full disk needs the room.
        let _ = file.set_len(before);
        return Err(error);
    }
    Ok(file)
}

/// Whether the last append was complete: its process may have been killed.
fn ends_with_newline(file: &File, length: u64) -> io::Result<bool> {
    let Some(end) = length.checked_sub(1) else { return Ok(true) };
    let mut last = [0];
    file.read_exact_at(&mut last, end)?;
    Ok(last == *b"\n")
}

impl Spool {
    /// Whether hooks have left something that is not taken in yet. A journal that somebody is taking in counts: its
    /// file goes after its rows are there, so that who asks this first and then looks for rows misses nothing.
    pub fn has_journal(paths: &Paths) -> bool {
        // A directory that cannot be listed cannot be ruled out.
        paths.journal().exists() || set_aside(paths).map_or(true, |names| !names.is_empty())
    }

    /// Takes in every line of the journal; returns how many there were. A line cut off by a crash is counted as
    /// skipped.
    ///
    /// The journal is set aside under a name that is used once. That name is a delivery like those in it, written in
    /// the transaction which takes its lines in: a file that a killed process left behind is known to be in or not.
    ///
    /// # Errors
    /// [`SpoolError`] when a file or the database fails; the lines then stay where they are.
    pub fn import(&self) -> Result<usize, SpoolError> {
        let mut lines = 0;
        if self.paths.journal().exists() {
            self.rename_journal()?;
        }
        for name in set_aside(&self.paths)? {
            lines += self.import_file(&name)?;
        }
        Ok(lines)
    }

    fn rename_journal(&self) -> Result<(), SpoolError> {
        let _lock = append_lock(&self.paths, OPERATOR_PATIENCE)?;
        let path = self.paths.journal();
        let name = format!("spool-{}.jsonl", Uuid::now_v7().simple());
        match fs::rename(&path, self.paths.root().join(name)) {
            // Somebody else was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome.map_err(|source| SpoolError::File { path, source }),
        }
    }

    fn import_file(&self, name: &str) -> Result<usize, SpoolError> {
        let path = self.paths.root().join(name);
        let failed = |source| SpoolError::File { path: path.clone(), source };
        // One at a time: who waits here finds the file gone or its name written.
        let transaction = self.begin()?;
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(source) => return Err(failed(source)),
        };
        let mut lines = 0;
        if first_delivery(&transaction, name.as_bytes(), true, Timestamp::now())? {
            for line in BufReader::new(file).split(b'\n') {
                let line = line.map_err(failed)?;
                if line.is_empty() {
                    continue;
                }
                let arrival = serde_json::from_slice(&line)
                    .unwrap_or_else(|_| Arrival::Skipped { reason: String::from("cut_off") });
                take_in(&transaction, &arrival)?;
                lines += 1;
            }
        }
        transaction.commit()?;
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(failed(source)),
            _ => Ok(lines),
        }
    }
}

/// Names of the journals that were set aside, oldest first.
fn set_aside(paths: &Paths) -> Result<Vec<String>, SpoolError> {
    let root = paths.root();
    let failed = |source| SpoolError::File { path: root.to_owned(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(root).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name.starts_with("spool-") && name.ends_with(".jsonl") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
