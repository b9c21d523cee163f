//! The user's own modes: files that are read here as they are.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use crate::config::Paths;
use crate::mode::Mode;

/// A mode that lies beside the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TakenMode {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub state: ModeState,
    /// Why, where that is not plain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What becomes of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModeState {
    /// Copied, or would be.
    New,
    /// The same file is here.
    Known,
    /// Another file of that name is here; it was left as it is.
    Kept,
    /// It cannot be used.
    Failed,
}

/// Copies the modes in the folder of the database that are not here yet. With `dry_run` nothing is written.
pub fn take_modes(folder: &Path, paths: &Paths, dry_run: bool) -> Vec<TakenMode> {
    let files = fs::read_dir(folder.join("modes")).into_iter().flatten().flatten();
    let mut names: Vec<_> = files.map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "json"));
    names.sort();
    names.iter().map(|path| take(path, paths, dry_run)).collect()
}

fn take(path: &Path, paths: &Paths, dry_run: bool) -> TakenMode {
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let outcome = |state, reason| TakenMode { id: id.clone(), state, reason };
    let failed = |error: &dyn std::fmt::Display| outcome(ModeState::Failed, Some(error.to_string()));
    if let Err(error) = Mode::from_file(path, paths) {
        return failed(&error);
    }
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) => return failed(&error),
    };
    let target = paths.modes().join(format!("{id}.json"));
    match fs::read(&target) {
        Ok(here) if here == text => outcome(ModeState::Known, None),
        Ok(_) => outcome(ModeState::Kept, Some(String::from("another mode of that id is here"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && dry_run => outcome(ModeState::New, None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match write(&target, &text) {
            Ok(()) => outcome(ModeState::New, None),
            Err(error) => failed(&error),
        },
        Err(error) => failed(&error),
    }
}

fn write(target: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
    file.write_all(text)
}
