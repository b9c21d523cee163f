//! `spool-overflow.jsonl`: where a hook writes when the database is held by somebody else. One arrival a
//! line; the drainer sets the file aside and takes the lines in.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::append::take_in;
use super::lock::lock_file;
use super::{Arrival, Spool, SpoolError};
use crate::config::Paths;

impl Arrival {
    /// Appends this arrival to the overflow file.
    ///
    /// # Errors
    /// [`SpoolError::File`] when that cannot be written either.
    pub fn append_to_overflow(&self, paths: &Paths) -> Result<(), SpoolError> {
        let path = paths.overflow();
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        append_line(&path, &line).map_err(|source| SpoolError::File { path, source })
    }
}

fn append_line(path: &Path, line: &[u8]) -> io::Result<()> {
    let mut file = open_locked(path)?;
    if !ends_with_newline(&mut file)? {
        file.write_all(b"\n")?;
    }
    file.write_all(line)
}

/// Opens the file that has this name once the lock is held: the drainer may set it aside in between.
fn open_locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        lock_file(&file)?;
        match fs::metadata(path) {
            Ok(named) if named.ino() == file.metadata()?.ino() => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

fn ends_with_newline(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl Spool {
    /// Takes in every line of the overflow file; returns how many there were. A line cut off by a crash is
    /// counted as skipped. Lines that a killed drainer had set aside are taken in first, and those of them
    /// that it had already stored are recognised by their keys.
    ///
    /// # Errors
    /// [`SpoolError`] when a file or the database fails; the lines then stay where they are.
    pub fn import_overflow(&self) -> Result<usize, SpoolError> {
        let path = self.paths.overflow();
        let aside = path.with_extension("importing");
        let left_over = self.import_file(&aside)?;
        match set_aside(&path, &aside) {
            Ok(true) => Ok(left_over + self.import_file(&aside)?),
            Ok(false) => Ok(left_over),
            Err(source) => Err(SpoolError::File { path, source }),
        }
    }

    fn import_file(&self, path: &PathBuf) -> Result<usize, SpoolError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(source) => return Err(SpoolError::File { path: path.clone(), source }),
        };
        let transaction = self.begin()?;
        let mut lines = 0;
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let arrival = serde_json::from_slice(line)
                .unwrap_or_else(|_| Arrival::Skipped { reason: String::from("cut_off") });
            take_in(&transaction, &arrival)?;
            lines += 1;
        }
        transaction.commit()?;
        fs::remove_file(path).map_err(|source| SpoolError::File { path: path.clone(), source })?;
        Ok(lines)
    }
}

fn set_aside(path: &Path, aside: &Path) -> io::Result<bool> {
    if !path.exists() {
        return Ok(false);
    }
    let _file = open_locked(path)?;
    fs::rename(path, aside)?;
    Ok(true)
}
