//! A database copied with what SQLite keeps beside it, into a folder that goes away.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use uuid::Uuid;

/// What SQLite keeps beside a database: without these it may be old, or half a transaction.
const BESIDE: [&str; 2] = ["-wal", "-journal"];
/// A copy is made anew when the database changed meanwhile.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// A folder for this process alone, gone with the value.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes one where temporary files belong.
    ///
    /// # Errors
    /// What the system says, with the path.
    pub(super) fn new() -> Result<Self, (PathBuf, io::Error)> {
        let path = env::temp_dir().join(format!("cmem-import-{}", Uuid::now_v7().simple()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(error) => Err((path, error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a database and what lies beside it look; two of the same look the same unless somebody wrote between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Look(Vec<Option<(u64, u64, i64, i64)>>);

impl Look {
    pub(super) fn at(database: &Path) -> Self {
        let stamp = |path: &PathBuf| {
            let meta = fs::metadata(path).ok()?;
            Some((meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
        };
        Self(names(database).iter().map(stamp).collect())
    }

    /// Whether the file holds everything.
    pub(super) fn is_alone(&self) -> bool {
        self.0.iter().skip(1).all(|stamp| stamp.is_none_or(|(_, length, ..)| length == 0))
    }
}

/// Copies a database to `target` as it was at one moment. `false` = somebody writes to it all the time.
///
/// # Errors
/// What the system says, with the path.
pub(super) fn copy(database: &Path, target: &Path) -> Result<bool, (PathBuf, io::Error)> {
    for _ in 0..TRIES {
        let before = Look::at(database);
        for (from, to) in names(database).iter().zip(names(target)) {
            match fs::copy(from, &to) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound && from != database => {
                    let _ = fs::remove_file(&to);
                }
                Err(error) => return Err((from.clone(), error)),
            }
        }
        if Look::at(database) == before {
            return Ok(true);
        }
        thread::sleep(PAUSE);
    }
    Ok(false)
}

fn names(database: &Path) -> Vec<PathBuf> {
    let beside = BESIDE.iter().map(|end| {
        let mut name = database.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    });
    [database.to_owned()].into_iter().chain(beside).collect()
}
