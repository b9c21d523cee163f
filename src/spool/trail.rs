//! What a hook must know of its session, in a small file beside the database: whether the present turn is
//! private, which directories have their identity in the journal already, and which memories were told. The file only grows, by one line
//! where something changed, so that parallel hooks cannot undo each other.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use super::SpoolError;
use crate::config::Paths;

const PRIVATE: &str = "private";
const PUBLIC: &str = "public";
const PLACE: &str = "at ";
const TOLD: &str = "told ";
const ANEW: &str = "anew";

/// The trail of one session.
#[derive(Debug)]
pub struct Trail {
    path: PathBuf,
    private: bool,
    places: Vec<String>,
    told: Vec<i64>,
}

impl Trail {
    /// The trail of a session; an empty one when there is none yet.
    pub fn read(paths: &Paths, session: &str) -> Self {
        let path = paths.trails().join(file_name(session));
        let mut trail = Self { path, private: false, places: Vec::new(), told: Vec::new() };
        for line in fs::read_to_string(&trail.path).unwrap_or_default().lines() {
            match line {
                PRIVATE => trail.private = true,
                PUBLIC => trail.private = false,
                ANEW => trail.told.clear(),
                _ => {
                    trail.places.extend(line.strip_prefix(PLACE).map(str::to_owned));
                    let told = line.strip_prefix(TOLD).unwrap_or_default().split(' ');
                    trail.told.extend(told.filter_map(|id| id.parse::<i64>().ok()));
                }
            }
        }
        trail
    }

    /// Whether nothing of the present turn may be kept.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// Whether the journal holds the identity of this directory.
    pub fn knows(&self, cwd: &str) -> bool {
        self.places.iter().any(|place| place == cwd)
    }

    /// Ids of the memories that the session's history holds.
    pub fn told(&self) -> &[i64] {
        &self.told
    }

    /// Remembers that memories were told; `anew`: in a history that was empty.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_told(&self, observations: &[i64], anew: bool) -> Result<(), SpoolError> {
        let mut lines = Vec::new();
        if anew && !self.told.is_empty() {
            lines.push(ANEW.to_owned());
        }
        if !observations.is_empty() {
            let ids: Vec<String> = observations.iter().map(i64::to_string).collect();
            lines.push(format!("{TOLD}{}", ids.join(" ")));
        }
        if lines.is_empty() { Ok(()) } else { self.append(&lines.join("\n")) }
    }

    /// Begins a turn.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn begin_turn(&self, private: bool) -> Result<(), SpoolError> {
        if private == self.private {
            return Ok(());
        }
        self.append(if private { PRIVATE } else { PUBLIC })
    }

    /// Remembers that the identity of a directory is in the journal.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_place(&self, cwd: &str) -> Result<(), SpoolError> {
        // Only a directory with a line break in its name is looked up again each time.
        if self.knows(cwd) || cwd.contains(['\n', '\r']) {
            return Ok(());
        }
        self.append(&format!("{PLACE}{cwd}"))
    }

    fn append(&self, line: &str) -> Result<(), SpoolError> {
        let written = || -> io::Result<()> {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
            file.write_all(format!("{line}\n").as_bytes())
        };
        written().map_err(|source| SpoolError::File { path: self.path.clone(), source })
    }

    /// Removes the trails that nothing was added to for so long. Whoever misses one looks the place up again.
    pub(super) fn forget(paths: &Paths, unused_for: Duration) {
        let Some(before) = SystemTime::now().checked_sub(unused_for) else { return };
        for entry in fs::read_dir(paths.trails()).into_iter().flatten().flatten() {
            let is_old = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at < before);
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A session id is the client's own text and no file name.
fn file_name(session: &str) -> String {
    Sha256::digest(session.as_bytes()).iter().take(16).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privacy_lasts_until_the_next_prompt_and_places_stay() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, "../../s");
        assert!(!trail().is_private() && !trail().knows("/a"));
        trail().add_place("/a").unwrap();
        trail().begin_turn(true).unwrap();
        assert!(trail().is_private() && trail().knows("/a") && !trail().knows("/"));
        trail().add_place("/b\nprivate").unwrap();
        trail().begin_turn(false).unwrap();
        trail().begin_turn(false).unwrap();
        assert!(!trail().is_private() && trail().knows("/a"));
        assert!(!Trail::read(&paths, "other").knows("/a"));
        let files: Vec<_> = fs::read_dir(paths.trails()).unwrap().collect();
        assert_eq!(files.len(), 1);
    }

    #[test]
    fn what_was_told_adds_up_until_the_history_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, "s");
        trail().add_told(&[], true).unwrap();
        assert!(!paths.trails().exists(), "nothing to remember is no file");
        trail().add_told(&[3, 1], true).unwrap();
        trail().add_told(&[7], false).unwrap();
        assert_eq!(trail().told(), [3, 1, 7]);
        trail().add_told(&[9], true).unwrap();
        assert_eq!(trail().told(), [9]);
        trail().add_told(&[], true).unwrap();
        assert_eq!(trail().told(), Vec::<i64>::new());
    }

    #[test]
    fn an_old_trail_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        Trail::read(&paths, "s").add_place("/a").unwrap();
        Trail::forget(&paths, Duration::from_secs(60));
        assert!(Trail::read(&paths, "s").knows("/a"));
        Trail::forget(&paths, Duration::ZERO);
        assert!(!Trail::read(&paths, "s").knows("/a"));
    }
}
