//! The log: `logs/cmem.log`, one line an entry, at most two files of 1 MiB. It never holds what was observed.

use std::fs::{self, OpenOptions};
use std::io::Write;

use crate::config::{Paths, Settings};
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

/// A log that cannot be written is no reason to fail.
fn write(paths: &Paths, level: &str, message: &str) {
    let path = paths.log();
    if path.parent().is_some_and(|folder| fs::create_dir_all(folder).is_err()) {
        return;
    }
    if fs::metadata(&path).is_ok_and(|file| file.len() > MAX_BYTES) {
        let _ = fs::rename(&path, path.with_extension("log.1"));
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
