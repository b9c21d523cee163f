//! What one memory and a folder last agreed on. It lies in the folder and is not for git: it tells a file that was
//! deleted from one that never was there, and who changed what since. Each memory has its own.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::TransferError;

const FOLDER: &str = ".cmem";
const HEADER: &str = "cmem-folder 1";

/// Where a record lies, and as what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Of the text of the file.
    pub hash: String,
    /// From the folder on.
    pub path: String,
}

/// By uid.
#[derive(Debug)]
pub(super) struct Manifest {
    file: PathBuf,
    pub entries: BTreeMap<String, Agreed>,
}

impl Manifest {
    /// That of a memory in a folder; an empty one where nothing was agreed on.
    pub(super) fn load(dir: &Path, memory: &str) -> Result<Self, TransferError> {
        let path = dir.join(FOLDER).join(memory);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { file: path, entries: BTreeMap::new() });
            }
            Err(source) => return Err(TransferError::File { path, source }),
        };
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        if header != HEADER {
            let found = header.strip_prefix("cmem-folder ").and_then(|version| version.parse().ok());
            return Err(match found {
                Some(found) => TransferError::Newer { found },
                None => TransferError::Foreign(format!("{} is no manifest of cmem", path.display())),
            });
        }
        let entry = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let (hash, uid, path) = (parts.next()?, parts.next()?, parts.next()?);
            Some((uid.to_owned(), Agreed { hash: hash.to_owned(), path: path.to_owned() }))
        };
        Ok(Self { entries: lines.filter_map(entry).collect(), file: path })
    }

    /// Writes it, and keeps git from seeing it.
    pub(super) fn save(&self, dir: &Path) -> Result<(), TransferError> {
        let fail = |source| TransferError::File { path: self.file.clone(), source };
        fs::create_dir_all(dir.join(FOLDER)).map_err(fail)?;
        let ignore = dir.join(FOLDER).join(".gitignore");
        if !ignore.exists() {
            fs::write(&ignore, "*\n").map_err(fail)?;
        }
        let mut text = format!("{HEADER}\n");
        for (uid, Agreed { hash, path }) in &self.entries {
            text.push_str(&format!("{hash} {uid} {path}\n"));
        }
        crate::config::replace(&self.file, text.as_bytes()).map_err(fail)
    }

    /// Notes that both sides are the same now.
    pub(super) fn agree(&mut self, uid: &str, path: &str, text: &str) {
        self.entries.insert(uid.to_owned(), Agreed { hash: hash(text), path: path.to_owned() });
    }

    /// What the file was when both sides were last the same.
    pub(super) fn hash_of(&self, uid: &str) -> Option<&str> {
        self.entries.get(uid).map(|agreed| agreed.hash.as_str())
    }
}

/// Of a text, whatever the ends of its lines.
pub(super) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.replace("\r\n", "\n").as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
