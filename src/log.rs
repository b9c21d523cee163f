//! The log: `logs/cmem.log`, one line an entry, at most two files of 1 MiB. It never holds what was observed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::config::{Paths, Settings, replace};
use crate::model::Timestamp;

const MAX_BYTES: u64 = 1 << 20;

/// Something went wrong.
pub fn error(paths: &Paths, message: &str) {
    write(paths, "ERROR", message);
}

/// Something is wrong for as long as the user does not mend it: told again only when the log has lost it.
pub fn error_once(paths: &Paths, message: &str) {
    let told = fs::read_to_string(paths.log()).unwrap_or_default();
    if !told.contains(&one_line(message)) {
        error(paths, message);
    }
}

/// Something ordinary was done.
pub fn info(paths: &Paths, settings: &Settings, message: &str) {
    if matches!(settings.log_level.as_str(), "DEBUG" | "INFO") {
        write(paths, "INFO", message);
    }
}

/// Takes out the lines that hold what is to be forgotten. The messages of others may quote it.
///
/// # Errors
/// What the system says of a log that cannot be read or written.
pub fn forget(paths: &Paths, holds: impl Fn(&str) -> bool) -> io::Result<()> {
    for path in [paths.log(), older(&paths.log())] {
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let kept: Vec<&str> = text.split_inclusive('\n').filter(|line| !holds(line)).collect();
        if kept.len() < text.split_inclusive('\n').count() {
            replace(&path, kept.concat().as_bytes())?;
        }
    }
    Ok(())
}

fn older(path: &Path) -> PathBuf {
    path.with_extension("log.1")
}

/// A log that cannot be written is no reason to fail.
fn write(paths: &Paths, level: &str, message: &str) {
    let path = paths.log();
    if path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_err()) {
        return;
    }
    if fs::metadata(&path).is_ok_and(|file| file.len() > MAX_BYTES) {
        let _ = fs::rename(&path, older(&path));
    }
    let line = format!("{} {level} {}\n", Timestamp::now(), one_line(message));
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(&path) {
        let _ = file.write_all(line.as_bytes());
    }
}

fn one_line(message: &str) -> String {
    message.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_forgets_lines_and_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        forget(&paths, |_| true).unwrap();
        error(&paths, "the first");
        fs::rename(paths.log(), older(&paths.log())).unwrap();
        for message in ["the second", "a third"] {
            error(&paths, message);
        }
        forget(&paths, |line| line.contains("the ")).unwrap();
        assert_eq!(fs::read_to_string(older(&paths.log())).unwrap(), "");
        assert!(fs::read_to_string(paths.log()).unwrap().ends_with("a third\n"));
        let long = "x".repeat(400_000);
        for _ in 0..12 {
            error(&paths, &long);
        }
        for path in [paths.log(), older(&paths.log())] {
            assert!(fs::metadata(path).unwrap().len() < 2 * MAX_BYTES);
        }
    }

    #[test]
    fn what_stays_wrong_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        for message in ["mode\n\"x\"", "mode\n\"x\"", "mode \"y\""] {
            error_once(&paths, message);
        }
        let told = fs::read_to_string(paths.log()).unwrap();
        assert_eq!(told.lines().count(), 2, "{told}");
    }
}
