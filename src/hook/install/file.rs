//! Reading and replacing a settings file whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::InstallError;

/// The text of the file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, InstallError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        // A link to nowhere is somebody's set-up, not a missing file.
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(source) => return Err(InstallError::Read { path: path.to_owned(), source }),
    };
    let text = String::from_utf8(bytes).map_err(|error| InstallError::Parse {
        path: path.to_owned(),
        reason: format!("not UTF-8 from byte {} on", error.utf8_error().valid_up_to()),
    })?;
    Ok(Some(text))
}

/// Puts `new` in the place of a file that still holds `old` (`None`: of a file that still is not there), at once
/// and with the mode of the old one; a link stays a link. Returns the backup of `old`, made beside it.
pub(super) fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<Option<PathBuf>, InstallError> {
    let backup = match old {
        Some(old) => {
            let (target, backup) = (target(path), backup_of(path));
            write_new(&target, &backup, old).map_err(failed(&backup))?;
            Some(backup)
        }
        None => None,
    };
    replace_without_backup(path, old, new)?;
    Ok(backup)
}

/// The same for a change that takes out what was put in.
pub(super) fn replace_without_backup(path: &Path, old: Option<&str>, new: &str) -> Result<(), InstallError> {
    let target = target(path);
    let folder = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let temporary = beside(&target, ".", &format!(".cmem-{}", process::id()));
    let moved = write_new(&target, &temporary, new).map_err(failed(&target)).and_then(|()| {
        // As late as can be: to write takes long enough for somebody else.
        unchanged(path, old)?;
        fs::rename(&temporary, &target).map_err(failed(&target))
    });
    if moved.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    moved
}

fn unchanged(path: &Path, old: Option<&str>) -> Result<(), InstallError> {
    match read(path)?.as_deref() == old {
        true => Ok(()),
        false => Err(InstallError::Changed { path: path.to_owned() }),
    }
}

/// Whether a file has a backup: it was there before anything of ours.
pub(super) fn has_backup(path: &Path) -> bool {
    backup_of(path).exists()
}

/// Removes the backup of a file, if there is one.
pub(super) fn remove_backup(path: &Path) -> Result<(), InstallError> {
    let backup = backup_of(path);
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&backup)(error)),
        _ => Ok(()),
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> InstallError + use<> {
    let path = path.to_owned();
    move |source| InstallError::Write { path: path.clone(), source }
}

/// The file itself, where the path is a link.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn backup_of(path: &Path) -> PathBuf {
    beside(&target(path), "", ".cmem-backup")
}

/// Removes a file that still holds `old`, with the folders below `top` that this leaves empty.
pub(super) fn remove(path: &Path, old: &str, top: &Path) -> Result<(), InstallError> {
    unchanged(path, Some(old))?;
    fs::remove_file(path).map_err(failed(path))?;
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(top) && *folder != top);
    for folder in folders {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn beside(path: &Path, before: &str, after: &str) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!("{before}{name}{after}"))
}

/// A new file with the mode of `model`, if that exists.
fn write_new(model: &Path, path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Ok(meta) = fs::metadata(model) {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
