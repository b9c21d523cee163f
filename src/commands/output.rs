//! The file that a user names for what a command writes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// Has `write` fill a file, which takes the place of the old one when all is written. What is no file, such as a pipe, is
/// written to, and so is what a link leads to: `/dev/stdout` is one.
///
/// # Errors
/// That of `write`, or the system's; an old file is as it was then.
pub(super) fn to_file<T, E: From<io::Error>>(
    file: &Path,
    write: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    if file.is_symlink() || file.exists() && !file.is_file() {
        return write(file);
    }
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{}", process::id()));
    let temporary = PathBuf::from(name);
    let outcome = write(&temporary).and_then(|written| {
        fs::rename(&temporary, file)?;
        Ok(written)
    });
    if outcome.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    outcome
}
