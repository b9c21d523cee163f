//! The folder of a marketplace with the plugin in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use serde_json::Value;

use super::{Bundle, NAME, PluginError};
use crate::git;

const CATALOGUE: &str = ".claude-plugin/marketplace.json";
/// Everything below it is the plugin's, and nobody else's.
const PLUGIN: &str = "plugins/cmem";
/// Names what is being written: `.NAME.cmem-PID`.
const TEMPORARY: &str = ".cmem-";

/// One file that is not as it should be, by its path in the folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum FileChange {
    /// It is missing, or has another text.
    Write {
        /// The file.
        file: String,
    },
    /// It belongs to an earlier version.
    Remove {
        /// The file.
        file: String,
    },
}

/// A folder for the marketplace, which may not be there yet.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// At this place.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both are the same place, by whatever path.
    pub fn is_same(&self, other: &Self) -> bool {
        git::resolve(&self.path) == git::resolve(&other.path)
    }

    /// What differs from `bundle`.
    ///
    /// # Errors
    /// [`PluginError::NotOurs`] when a marketplace or a plugin of somebody else is in the way.
    pub fn changes(&self, bundle: &Bundle) -> Result<Vec<FileChange>, PluginError> {
        if !self.is_free_or_ours() {
            return Err(PluginError::NotOurs { path: self.path.clone() });
        }
        let is_wanted = |file: &str| bundle.files().iter().any(|(wanted, _)| wanted == file);
        let stale = self.own_files().into_iter().filter(|file| !is_wanted(file));
        let missing = bundle
            .files()
            .iter()
            .filter(|(file, text)| fs::read(self.path.join(file)).ok().as_deref() != Some(text.as_bytes()));
        let missing = missing.map(|(file, _)| FileChange::Write { file: file.clone() });
        Ok(missing.chain(stale.map(|file| FileChange::Remove { file })).collect())
    }

    /// Makes the folder what `bundle` says. Each file is replaced at once: sessions that run may read it.
    ///
    /// # Errors
    /// [`PluginError::Write`] with what the system said.
    pub fn write(&self, bundle: &Bundle, changes: &[FileChange]) -> Result<(), PluginError> {
        for change in changes {
            let (file, done) = match change {
                FileChange::Write { file } => {
                    let text = bundle.files().iter().find(|(wanted, _)| wanted == file);
                    let text = text.map(|(_, text)| text.as_str()).unwrap_or_default();
                    (file, replace(&self.path.join(file), text))
                }
                FileChange::Remove { file } => (file, fs::remove_file(self.path.join(file))),
            };
            done.map_err(|source| PluginError::Write { path: self.path.join(file), source })?;
        }
        Ok(())
    }

    /// Whether there is anything of the plugin to remove.
    pub fn holds_plugin(&self) -> bool {
        self.is_free_or_ours() && (self.path.join(CATALOGUE).exists() || self.path.join(PLUGIN).exists())
    }

    /// Removes the plugin, and the folders that this leaves empty.
    ///
    /// # Errors
    /// [`PluginError::Write`] with what the system said.
    pub fn remove(&self) -> Result<(), PluginError> {
        let plugin = self.path.join(PLUGIN);
        let missing_is_fine = |result: io::Result<()>, path: PathBuf| match result {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(PluginError::Write { path, source })
            }
            _ => Ok(()),
        };
        missing_is_fine(fs::remove_dir_all(&plugin), plugin)?;
        let catalogue = self.path.join(CATALOGUE);
        missing_is_fine(fs::remove_file(&catalogue), catalogue)?;
        for file in self.own_files() {
            let temporary = self.path.join(file);
            missing_is_fine(fs::remove_file(&temporary), temporary)?;
        }
        for folder in ["plugins", ".claude-plugin", ""] {
            // What somebody else put there stays.
            let _ = fs::remove_dir(self.path.join(folder));
        }
        Ok(())
    }

    fn is_free_or_ours(&self) -> bool {
        let parsed = |file: &str| {
            let text = fs::read_to_string(self.path.join(file)).ok()?;
            serde_json::from_str::<Value>(&text).ok()
        };
        let names = |value: &Value, at: &str| value.pointer(at).is_some_and(|name| name == NAME);
        let is_ours = |file: &str, at: &str| parsed(file).is_some_and(|value| names(&value, at));
        let manifest = format!("{PLUGIN}/.claude-plugin/plugin.json");
        // A write that stopped before the manifest left folders, and nothing whole in them.
        (!self.path.join(CATALOGUE).exists() || is_ours(CATALOGUE, "/plugins/0/name"))
            && (is_ours(&manifest, "/name")
                || self.own_files().iter().all(|file| is_temporary(Path::new(file))))
    }

    /// Everything below the plugin's folder, and what was being written beside the catalogue.
    fn own_files(&self) -> Vec<String> {
        let beside = fs::read_dir(self.path.join(".claude-plugin")).into_iter().flatten().flatten();
        let beside = beside.map(|entry| entry.path()).filter(|path| is_temporary(path));
        let relative = |path: &Path| Some(path.strip_prefix(&self.path).ok()?.to_string_lossy().into_owned());
        let mut files: Vec<String> = beside.filter_map(|path| relative(&path)).collect();
        let mut folders = vec![self.path.join(PLUGIN)];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else {
                    files.extend(relative(&path));
                }
            }
        }
        files.sort();
        files
    }
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.starts_with('.') && name.contains(TEMPORARY)
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}{TEMPORARY}{}", process::id()));
    fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_becomes_what_the_bundle_says_and_goes_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(root.path().join("marketplace"));
        let (old, new) = (Bundle::local("/a/cmem"), Bundle::local("/b/cmem"));
        let changes = folder.changes(&old).unwrap();
        assert_eq!(changes.len(), old.files().len());
        assert!(!folder.path().exists(), "only looked");
        folder.write(&old, &changes).unwrap();
        assert_eq!(folder.changes(&old).unwrap(), []);

        let stale = "plugins/cmem/skills/gone/SKILL.md";
        replace(&folder.path().join(stale), "old").unwrap();
        let changes = folder.changes(&new).unwrap();
        assert!(changes.contains(&FileChange::Remove { file: stale.to_owned() }), "{changes:?}");
        folder.write(&new, &changes).unwrap();
        assert_eq!(folder.changes(&new).unwrap(), []);

        fs::write(folder.path().join("README"), "mine").unwrap();
        folder.remove().unwrap();
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["README"], "what is not of the plugin stays");
        fs::remove_file(folder.path().join("README")).unwrap();
        folder.remove().unwrap();
        assert!(!folder.path().exists());
    }

    #[test]
    fn a_write_that_stopped_anywhere_is_finished_or_taken_away() {
        let bundle = Bundle::local("/a/cmem");
        for written in 0..bundle.files().len() {
            for finish in [true, false] {
                let root = tempfile::tempdir().unwrap();
                let folder = Folder::new(root.path().join("marketplace"));
                let changes = folder.changes(&bundle).unwrap();
                folder.write(&bundle, &changes[..written]).unwrap();
                let half = folder.path().join(&bundle.files()[written].0);
                let half = half
                    .with_file_name(format!(".{}{TEMPORARY}1", half.file_name().unwrap().to_string_lossy()));
                replace(&half, "{").unwrap();
                if finish {
                    let changes = folder.changes(&bundle).unwrap();
                    folder.write(&bundle, &changes).unwrap();
                    assert_eq!(folder.changes(&bundle).unwrap(), []);
                    assert!(!half.exists(), "{}", half.display());
                } else {
                    folder.remove().unwrap();
                    assert!(!folder.path().exists(), "{}", half.display());
                }
            }
        }
    }

    #[test]
    fn what_is_of_somebody_else_is_not_touched() {
        for (file, text) in [
            (CATALOGUE, "{\"plugins\": [{\"name\": \"other\"}]}"),
            (CATALOGUE, "{"),
            ("plugins/cmem/notes.txt", "mine"),
        ] {
            let root = tempfile::tempdir().unwrap();
            replace(&root.path().join(file), text).unwrap();
            let folder = Folder::new(root.path().to_owned());
            let error = folder.changes(&Bundle::local("/a/cmem")).unwrap_err();
            assert!(matches!(error, PluginError::NotOurs { .. }), "{file}: {error}");
            assert!(!folder.holds_plugin());
        }
    }
}
