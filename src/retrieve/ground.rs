//! What became of the files that memories are about, where the reader stands. Looks at nothing but the times of files:
//! a walk through commits would take longer than all the rest of a search.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::model::{Observation, Timestamp};

/// So many files of one memory are looked at.
const MOST: usize = 20;
/// A formatter may still be at a file that a memory was just made of.
const SETTLING_MS: i64 = 60_000;
/// File systems count time more coarsely than git's log, or the other way round.
const COARSE_MS: i64 = 2_000;

/// A checkout, and when git itself wrote files of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ground {
    root: PathBuf,
    checkouts: Vec<(Timestamp, Timestamp)>,
}

/// What became of the files of a memory since it was made; nothing where that is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FilesSince {
    /// Those that somebody changed.
    pub changed: Vec<String>,
    /// Those that are not there.
    pub gone: Vec<String>,
    /// How many were looked at.
    #[serde(skip)]
    pub looked_at: usize,
}

impl Ground {
    /// The checkout at `root`; `None` when there is nothing there. `checkouts`: from when to when git may
    /// have written files of it.
    pub fn new(root: &Path, checkouts: Vec<(Timestamp, Timestamp)>) -> Option<Self> {
        root.is_dir().then(|| Self { root: root.to_owned(), checkouts })
    }

    /// Looks at the files of a memory. Those outside the checkout are left alone.
    pub fn look(&self, memory: &Observation) -> FilesSince {
        let mut since = FilesSince::default();
        let files = memory.files_modified.iter().chain(&memory.files_read);
        for file in files.filter(|file| is_inside(file)).take(MOST) {
            since.looked_at += 1;
            match fs::metadata(self.root.join(file)) {
                Ok(about) if about.is_file() => {
                    let changed = about.modified().map(Timestamp::from);
                    if changed.is_ok_and(|at| self.is_change(at, memory)) && !since.changed.contains(file) {
                        since.changed.push(file.clone());
                    }
                }
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    if !since.gone.contains(file) {
                        since.gone.push(file.clone());
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
        since
    }

    /// Whether a file of that time was changed since by somebody. A time of a checkout says nothing: the file may be
    /// what it was.
    fn is_change(&self, at: Timestamp, memory: &Observation) -> bool {
        at.since_ms(memory.updated_at) > SETTLING_MS && !self.is_by_git(at)
    }

    /// Whether a file of that time may be one that git itself wrote.
    pub fn is_by_git(&self, at: Timestamp) -> bool {
        self.checkouts.iter().any(|(from, to)| from.plus_ms(-COARSE_MS) <= at && at <= *to)
    }
}

impl FilesSince {
    /// Whether there is anything to say.
    pub fn is_something(&self) -> bool {
        !(self.changed.is_empty() && self.gone.is_empty())
    }

    /// How much of what was said may no longer be so, from 0 to 1: a file that changed counts half of one that is gone.
    pub(super) fn share_lost(&self) -> f64 {
        let lost = 0.5 * self.changed.len() as f64 + self.gone.len() as f64;
        if self.looked_at == 0 { 0.0 } else { lost / self.looked_at as f64 }
    }
}

/// Whether a path is one below the root.
fn is_inside(file: &str) -> bool {
    !file.is_empty()
        && !file.starts_with('~')
        && Path::new(file).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::super::tests::observed;
    use super::*;

    struct Checkout(tempfile::TempDir);

    impl Checkout {
        /// A file that was written so many seconds after the memory was made.
        fn file(&self, name: &str, seconds: u64) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds);
            File::create(path).unwrap().set_modified(at).unwrap();
        }

        fn look(&self, files: &[&str], checkouts: &[(i64, i64)]) -> FilesSince {
            let at = |seconds: &i64| Timestamp((1_000_000 + seconds) * 1_000);
            let checkouts = checkouts.iter().map(|(from, to)| (at(from), at(to))).collect();
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            let made = Timestamp(1_000_000_000);
            let memory = Observation { files_modified: files, updated_at: made, ..observed("a") };
            Ground::new(self.0.path(), checkouts).unwrap().look(&memory)
        }
    }

    #[test]
    fn a_file_is_as_it_was_or_changed_or_gone() {
        let c = Checkout(tempfile::tempdir().unwrap());
        c.file("src/same.rs", 0);
        c.file("src/formatted.rs", 30);
        c.file("src/later.rs", 3_600);
        let all = ["src/same.rs", "src/formatted.rs", "src/later.rs", "src/no.rs", "src/same.rs/x"];
        let since = c.look(&all, &[]);
        assert_eq!(since.changed, ["src/later.rs"]);
        assert_eq!(since.gone, ["src/no.rs", "src/same.rs/x"]);
        assert!((since.share_lost() - 0.5).abs() < 1e-9);
        assert!(!c.look(&all[..2], &[]).is_something());
    }

    #[test]
    fn what_git_wrote_was_changed_by_nobody() {
        let c = Checkout(tempfile::tempdir().unwrap());
        c.file("cloned.rs", 7_201);
        c.file("edited.rs", 9_000);
        let files = ["cloned.rs", "edited.rs"];
        assert_eq!(c.look(&files, &[]).changed, files);
        assert_eq!(c.look(&files, &[(7_200, 7_800)]).changed, ["edited.rs"]);
        assert!(!c.look(&files, &[(7_200, 7_800), (9_001, 9_061)]).is_something());
    }

    #[test]
    fn what_lies_elsewhere_is_left_alone() {
        let c = Checkout(tempfile::tempdir().unwrap());
        c.file("folder/in.rs", 0);
        for file in ["/no/such", "../no", "a/../../no", "~/no", "", "folder"] {
            assert!(!c.look(&[file], &[]).is_something(), "{file}");
        }
        assert_eq!(Ground::new(&c.0.path().join("no"), Vec::new()), None);
    }
}
