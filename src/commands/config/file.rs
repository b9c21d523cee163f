//! `settings.json` as a text that other tools and people write too: what is not ours stays as it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The file's object, keys in their order.
#[derive(Debug)]
pub(super) struct SettingsFile {
    path: PathBuf,
    map: Map<String, Value>,
}

impl SettingsFile {
    /// Reads the file; a missing or empty one is an empty object.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        // Where the file is a link, its target is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let text = text.trim_start_matches('\u{feff}').trim();
        let map = if text.is_empty() { Map::new() } else { serde_json::from_str(text)? };
        Ok(Self { path, map })
    }

    /// Sets a key, where it stands or at the end.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.map.insert(key.to_owned(), Value::from(value));
    }

    /// Removes a key and its `CLAUDE_MEM_*` twin; tells whether there was one.
    pub(super) fn unset(&mut self, key: &str) -> bool {
        let twin = key.strip_prefix("CMEM_").map(|rest| format!("CLAUDE_MEM_{rest}"));
        let names = [Some(key.to_owned()), twin];
        names.into_iter().flatten().filter(|name| self.map.shift_remove(name).is_some()).count() > 0
    }

    /// Replaces the file as a whole, mode 0600: a reader sees the old one or the new one.
    pub(super) fn write(&self) -> io::Result<()> {
        let text = serde_json::to_string_pretty(&self.map)?;
        let temporary = self.path.with_extension(format!("json.{}", std::process::id()));
        let written = write_new(&temporary, &text).and_then(|()| fs::rename(&temporary, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_keys_and_their_order_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "\u{feff}{\"z\":{\"b\":1,\"a\":[2]},\"CMEM_MODEL\":\"x\",\"a\":null}").unwrap();
        let mut file = SettingsFile::read(&path).unwrap();
        file.set("CMEM_MODEL", "new");
        file.set("CMEM_MODE", "code");
        file.write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let compact = serde_json::from_str::<Value>(&text).unwrap().to_string();
        assert_eq!(compact, r#"{"z":{"b":1,"a":[2]},"CMEM_MODEL":"new","a":null,"CMEM_MODE":"code"}"#);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn unset_takes_both_spellings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, r#"{"CLAUDE_MEM_MODEL":"a","CMEM_MODEL":"b","k":1}"#).unwrap();
        let mut file = SettingsFile::read(&path).unwrap();
        assert!(file.unset("CMEM_MODEL"));
        assert!(!file.unset("CMEM_MODEL"));
        file.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\n  \"k\": 1\n}\n");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        for text in ["[1]", "{", "{\"a\":1} x"] {
            fs::write(&path, text).unwrap();
            assert!(SettingsFile::read(&path).is_err(), "{text}");
        }
    }
}
