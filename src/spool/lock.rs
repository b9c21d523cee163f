//! File locks that die with their process. The one place that names fs2.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fs2::FileExt;

/// An exclusive lock on a file, held until dropped (or until every process that inherited it has ended).
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock if nobody holds it.
    ///
    /// # Errors
    /// What the system says when the file cannot be opened or locked.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        Self::attempt(open(path)?).map(Result::ok)
    }

    /// Takes the lock, waiting up to `limit`; `None` when it stays held.
    ///
    /// # Errors
    /// What the system says when the file cannot be opened or locked.
    pub fn acquire_within(path: &Path, limit: Duration) -> io::Result<Option<Self>> {
        let deadline = Instant::now() + limit;
        let mut file = open(path)?;
        let mut pause = Duration::from_micros(200);
        loop {
            file = match Self::attempt(file)? {
                Ok(lock) => return Ok(Some(lock)),
                Err(file) => file,
            };
            if Instant::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }

    /// Adopts a file on which this process inherited the lock.
    pub fn inherited(file: File) -> Self {
        Self { file }
    }

    /// Gives the lock up at once, also where a child or parent still has the file open.
    ///
    /// # Errors
    /// What the system says.
    pub fn release(self) -> io::Result<()> {
        FileExt::unlock(&self.file)
    }

    /// The locked file, to hand it on to a child.
    pub fn file(&self) -> &File {
        &self.file
    }

    fn attempt(file: File) -> io::Result<Result<Self, File>> {
        match file.try_lock_exclusive() {
            Ok(()) => Ok(Ok(Self { file })),
            Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => Ok(Err(file)),
            Err(error) => Err(error),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}
