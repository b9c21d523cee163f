//! `uses.jsonl`: which memories were of use, a line for each time. Readers and hooks write nothing to `memory.db` and
//! wait for nobody who does, so they leave it here; the next drainer counts the lines.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::SpoolError;
use super::open::{OPERATOR_PATIENCE, locked};
use crate::config::Paths;
use crate::model::Timestamp;

/// The lock is held for one rename or one line. Who does not get it in this time goes on: one use less is no harm.
const PATIENCE: Duration = Duration::from_millis(50);
/// Nobody counted for long where the file is so large (some 20,000 lines); more would say nothing new.
const LARGEST: u64 = 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    at: i64,
    observations: Vec<i64>,
}

/// Leaves a note that observations were of use: read whole, or told beside a prompt. What cannot be noted at once is not.
pub fn note_use(paths: &Paths, observations: &[i64]) {
    if !observations.is_empty() {
        // A nudge in the ranking is not worth a word to anybody.
        let _ = append(paths, observations);
    }
}

fn append(paths: &Paths, observations: &[i64]) -> Result<(), SpoolError> {
    let line = Line { at: Timestamp::now().0, observations: observations.to_vec() };
    let mut line = serde_json::to_vec(&line)?;
    line.push(b'\n');
    let _lock = locked(paths.uses_lock(), PATIENCE)?;
    let path = paths.uses();
    let written = || -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
        let before = file.metadata()?.len();
        if before > LARGEST {
            return Ok(());
        }
        file.write_all(&line).inspect_err(|_| {
            let _ = file.set_len(before);
        })
    };
    written().map_err(|source| SpoolError::File { path: path.clone(), source })
}

/// A file of uses that was set aside to be counted. Its name is used once.
#[derive(Debug)]
pub struct Uses {
    /// The name, in the data directory.
    pub name: String,
    path: PathBuf,
}

impl Uses {
    /// Sets aside what was left; returns every file that waits to be counted, those of a killed process among them.
    ///
    /// # Errors
    /// [`SpoolError`] when a file or the lock fails; the lines then stay where they are.
    pub fn set_aside(paths: &Paths) -> Result<Vec<Self>, SpoolError> {
        let root = paths.root();
        if paths.uses().exists() {
            let _lock = locked(paths.uses_lock(), OPERATOR_PATIENCE)?;
            let name = format!("uses-{}.jsonl", Uuid::now_v7().simple());
            match fs::rename(paths.uses(), root.join(name)) {
                // Somebody else was quicker.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                outcome => outcome.map_err(|source| SpoolError::File { path: paths.uses(), source })?,
            }
        }
        let failed = |source| SpoolError::File { path: root.to_owned(), source };
        let mut files = Vec::new();
        for entry in fs::read_dir(root).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if name.starts_with("uses-") && name.ends_with(".jsonl") {
                files.push(Self { path: root.join(&name), name });
            }
        }
        Ok(files)
    }

    /// Each observation with how often it was of use and when last. A line that a crash cut off is no use; a file that
    /// somebody else has counted and removed holds none.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be read.
    pub fn counts(&self) -> Result<BTreeMap<i64, (i64, Timestamp)>, SpoolError> {
        let mut counts = BTreeMap::new();
        let bytes = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(counts),
            outcome => outcome.map_err(|source| SpoolError::File { path: self.path.clone(), source })?,
        };
        let lines = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
        for Line { at, observations } in lines {
            for id in observations {
                let (times, last) = counts.entry(id).or_insert((0, Timestamp(at)));
                *times += 1;
                *last = Timestamp(at).max(*last);
            }
        }
        Ok(counts)
    }

    /// Removes it.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it stays.
    pub fn remove(&self) -> Result<(), SpoolError> {
        match fs::remove_file(&self.path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(SpoolError::File { path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_of_use_adds_up_and_a_cut_line_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        note_use(&paths, &[]);
        assert!(!paths.uses().exists(), "nothing of use is no file");
        note_use(&paths, &[7, 3]);
        note_use(&paths, &[7]);
        let mut file = OpenOptions::new().append(true).open(paths.uses()).unwrap();
        file.write_all(b"{\"at\":5,\"observ").unwrap();
        let files = Uses::set_aside(&paths).unwrap();
        let [file] = &files[..] else { panic!("{files:?}") };
        let counts = file.counts().unwrap();
        assert_eq!(counts.iter().map(|(id, (times, _))| (*id, *times)).collect::<Vec<_>>(), [(3, 1), (7, 2)]);
        assert!(!paths.uses().exists());
        note_use(&paths, &[9]);
        assert_eq!(Uses::set_aside(&paths).unwrap().len(), 2, "what was not counted is still there");
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(Uses::set_aside(&paths).unwrap().len(), 1);
        assert!(file.counts().unwrap().is_empty());
    }

    #[test]
    fn nobody_waits_long_to_leave_a_note_and_the_file_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let lock = locked(paths.uses_lock(), PATIENCE).unwrap();
        note_use(&paths, &[1]);
        assert!(!paths.uses().exists());
        drop(lock);
        fs::write(paths.uses(), vec![b'\n'; 1024 * 1024 + 1]).unwrap();
        note_use(&paths, &[1]);
        assert_eq!(fs::metadata(paths.uses()).unwrap().len(), LARGEST + 1);
    }
}
