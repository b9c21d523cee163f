//! Modes as data: what kinds of memory there are, and what the observer is asked to look for.
//!
//! `a` is a whole mode; `a--b` is a set of overrides merged into `a` (objects key by key, anything else replaced).
//! The user's files in the data directory's `modes/` come before the ones in the binary.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Paths;

/// Longest mode id: it becomes a file name.
const MAX_ID: usize = 64;

macro_rules! bundled {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/modes/", $id, ".json")))),*]
    };
}

/// Modes in the binary: id and JSON text.
static BUNDLED: &[(&str, &str)] = bundled![
    "code",
    "code--ar",
    "code--bn",
    "code--concise",
    "code--cs",
    "code--da",
    "code--de",
    "code--el",
    "code--es",
    "code--fi",
    "code--fr",
    "code--he",
    "code--hi",
    "code--hu",
    "code--id",
    "code--it",
    "code--ja",
    "code--ko",
    "code--nl",
    "code--no",
    "code--pl",
    "code--pt-br",
    "code--ro",
    "code--ru",
    "code--sv",
    "code--th",
    "code--tr",
    "code--uk",
    "code--ur",
    "code--vi",
    "code--zh",
    "code--zh-tw",
    "email-investigation",
    "law-study",
    "ops-incident",
];

/// A mode, overrides merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mode {
    /// Its id, such as `code--zh`.
    #[serde(skip)]
    pub id: String,
    /// Display name.
    pub name: String,
    /// What it is for, in one line.
    #[serde(default)]
    pub description: String,
    /// Language in which memories are written; empty = the user's own.
    #[serde(default)]
    pub language: String,
    /// BCP 47 tag of that language, lower case, such as `zh-tw`; empty = the user's own.
    #[serde(default)]
    pub locale: String,
    /// Types of observation; the first is the fallback.
    #[serde(alias = "observation_types")]
    pub types: Vec<Term>,
    /// Concepts that an observation may carry.
    #[serde(alias = "observation_concepts")]
    pub concepts: Vec<Term>,
    /// What the observer is told.
    pub prompts: Prompts,
}

/// One type or concept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Stable id, the same in every language.
    pub id: String,
    /// Display name.
    #[serde(default)]
    pub label: String,
    /// What it stands for; becomes part of the prompt.
    #[serde(default)]
    pub description: String,
    /// One character of the basic plane.
    #[serde(default, alias = "emoji")]
    pub glyph: String,
}

/// The parts of the prompt that a mode decides. The aliases are claude-mem's names for the same parts, so that
/// a mode written for it loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    /// Who the observer is.
    #[serde(alias = "system_identity")]
    pub role: String,
    /// What to record.
    #[serde(alias = "recording_focus")]
    pub record: String,
    /// What to leave out.
    #[serde(alias = "skip_guidance")]
    pub skip: String,
    /// How to fill the fields.
    #[serde(default, alias = "field_guidance")]
    pub fields: String,
    /// What a session summary is.
    #[serde(default, alias = "summary_instruction")]
    pub summary: String,
}

/// A mode that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModeError {
    /// The id could name anything in the file system.
    #[error("{0:?} is not a mode id (lower-case letters, digits and single hyphens, at most one `--`)")]
    BadId(String),
    /// Neither the user nor the binary has it.
    #[error("no mode {id:?}: there is no {path}, and the built-in modes are {built_in}")]
    Missing {
        /// The id.
        id: String,
        /// Where the user's own would be.
        path: PathBuf,
        /// What there is.
        built_in: String,
    },
    /// The file is there and cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The mode is not what a mode must be.
    #[error("mode {id:?} is not usable: {reason}")]
    Invalid {
        /// The id.
        id: String,
        /// The first thing wrong with it.
        reason: String,
    },
}

impl Mode {
    /// Loads a mode by id.
    ///
    /// # Errors
    /// [`ModeError`] names the id, the file, and what is wrong.
    pub fn load(id: &str, paths: &Paths) -> Result<Self, ModeError> {
        check_id(id)?;
        let value = match id.split_once("--") {
            None => read(id, &paths.modes())?,
            Some((base, _)) => merge(read(base, &paths.modes())?, read(id, &paths.modes())?),
        };
        Self::from_value(id, value)
    }

    /// Mode `code` as it is in the binary.
    ///
    /// # Errors
    /// [`ModeError`]; a test shows that there is none.
    pub fn bundled() -> Result<Self, ModeError> {
        const ID: &str = "code";
        let text = bundled_text(ID, Path::new(""))?;
        Self::from_value(ID, parse(ID, &text)?)
    }

    /// Reads a file that shall become a mode; its name without the ending is the id.
    ///
    /// # Errors
    /// [`ModeError`], as for an installed one.
    pub fn from_file(path: &Path, paths: &Paths) -> Result<Self, ModeError> {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        check_id(&id)?;
        let own = read(&id, path.parent().unwrap_or(Path::new("")))?;
        let value = match id.split_once("--") {
            None => own,
            Some((base, _)) => merge(read(base, &paths.modes())?, own),
        };
        Self::from_value(&id, value)
    }

    fn from_value(id: &str, value: Value) -> Result<Self, ModeError> {
        let invalid = |reason: String| ModeError::Invalid { id: id.to_owned(), reason };
        let mode: Self = serde_json::from_value(value).map_err(|error| invalid(error.to_string()))?;
        mode.check().map_err(invalid)?;
        Ok(Self { id: id.to_owned(), ..mode })
    }

    /// Ids of all modes, sorted, and whether the user has a file for it.
    pub fn known(paths: &Paths) -> Vec<(String, bool)> {
        let files = fs::read_dir(paths.modes()).into_iter().flatten().flatten();
        let id = |path: PathBuf| {
            let is_json = path.extension().is_some_and(|end| end == "json");
            is_json.then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned())).flatten()
        };
        let mut known: BTreeMap<String, bool> = Self::built_in().map(|id| (id.to_owned(), false)).collect();
        known.extend(files.filter_map(|entry| Some((id(entry.path())?, true))));
        known.into_iter().collect()
    }

    /// Ids of the modes in the binary.
    pub fn built_in() -> impl Iterator<Item = &'static str> {
        BUNDLED.iter().map(|(id, _)| *id)
    }

    /// `wanted` if the mode has that type, else its first.
    pub(crate) fn type_or_first<'a>(&'a self, wanted: &'a str) -> &'a str {
        let known = self.types.iter().any(|term| term.id == wanted);
        if known { wanted } else { self.types.first().map_or(wanted, |term| &term.id) }
    }

    /// Whether the mode has this concept.
    pub(crate) fn has_concept(&self, wanted: &str) -> bool {
        self.concepts.iter().any(|term| term.id == wanted)
    }

    fn check(&self) -> Result<(), String> {
        if self.types.is_empty() {
            return Err(String::from("types is empty"));
        }
        for (what, terms) in [("types", &self.types), ("concepts", &self.concepts)] {
            for (index, term) in terms.iter().enumerate() {
                let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
                if term.id.is_empty() || term.id.len() > 40 || !term.id.bytes().all(allowed) {
                    return Err(format!("{what}: {:?} is not an id", term.id));
                }
                if terms.iter().take(index).any(|earlier| earlier.id == term.id) {
                    return Err(format!("{what}: {:?} is there twice", term.id));
                }
            }
        }
        for (what, text) in [
            ("name", &self.name),
            ("prompts.role", &self.prompts.role),
            ("prompts.record", &self.prompts.record),
            ("prompts.skip", &self.prompts.skip),
        ] {
            if text.trim().is_empty() {
                return Err(format!("{what} is empty"));
            }
        }
        Ok(())
    }
}

fn check_id(id: &str) -> Result<(), ModeError> {
    let word = |part: &str| {
        !part.is_empty()
            && part.split('-').all(|piece| {
                !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            })
    };
    let fits = match id.split_once("--") {
        None => word(id),
        Some((base, own)) => word(base) && word(own),
    };
    if fits && id.len() <= MAX_ID { Ok(()) } else { Err(ModeError::BadId(id.to_owned())) }
}

fn read(id: &str, folder: &Path) -> Result<Value, ModeError> {
    let path = folder.join(format!("{id}.json"));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => bundled_text(id, &path)?,
        Err(source) => return Err(ModeError::Read { path, source }),
    };
    parse(id, &text)
}

fn parse(id: &str, text: &str) -> Result<Value, ModeError> {
    let invalid = |reason: String| ModeError::Invalid { id: id.to_owned(), reason };
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(invalid(String::from("not a JSON object"))),
        Err(error) => Err(invalid(error.to_string())),
    }
}

fn bundled_text(id: &str, path: &Path) -> Result<String, ModeError> {
    let found = BUNDLED.iter().find(|(known, _)| *known == id);
    found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| ModeError::Missing {
        id: id.to_owned(),
        path: path.to_owned(),
        built_in: Mode::built_in().collect::<Vec<_>>().join(", "),
    })
}

fn merge(base: Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (key, value) in over {
                let merged = match base.remove(&key) {
                    Some(old) => merge(old, value),
                    None => value,
                };
                base.insert(key, merged);
            }
            Value::Object(base)
        }
        (_, over) => over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths::resolve(Some(folder)).unwrap()
    }

    #[test]
    fn every_bundled_mode_is_valid_and_every_file_is_bundled() {
        let empty = tempfile::tempdir().unwrap();
        for id in Mode::built_in() {
            let mode = Mode::load(id, &paths(empty.path())).unwrap();
            assert_eq!(mode.id, id);
            for term in mode.types.iter().chain(&mode.concepts) {
                assert!(!term.label.is_empty() && !term.description.is_empty(), "{id}: {}", term.id);
            }
            for term in &mode.types {
                assert!(term.glyph.chars().all(|c| u32::from(c) < 0x1_0000), "{id}: {}", term.id);
                assert_eq!(term.glyph.chars().count(), 1, "{id}: {}", term.id);
            }
            // A variant is a language, but for one that is a manner.
            let language = id.split_once("--").map_or("", |(_, variant)| variant);
            let language = if language == "concise" { "" } else { language };
            assert_eq!(
                (mode.language.is_empty(), mode.locale.as_str()),
                (language.is_empty(), language),
                "{id}"
            );
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("modes");
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        files.sort();
        assert_eq!(files, Mode::built_in().collect::<Vec<_>>());
    }

    #[test]
    fn code_has_nine_types_and_seven_concepts() {
        let empty = tempfile::tempdir().unwrap();
        let mode = Mode::load("code", &paths(empty.path())).unwrap();
        assert_eq!((mode.types.len(), mode.concepts.len()), (9, 7));
        assert_eq!(Mode::bundled().unwrap(), mode);
        assert_eq!(mode.type_or_first("decision"), "decision");
        assert_eq!(mode.type_or_first("poem"), "bugfix");
    }

    #[test]
    fn ids_that_could_leave_the_folder_are_refused() {
        let empty = tempfile::tempdir().unwrap();
        for id in [
            "", "../code", "a/b", "Code", "a---b", "a--b--c", "-a", "a-", "a--", "--a", "a b", "ä", ".",
            "a.b",
        ] {
            assert!(matches!(Mode::load(id, &paths(empty.path())), Err(ModeError::BadId(_))), "{id:?}");
        }
    }

    #[test]
    fn a_missing_mode_names_the_file_and_what_there_is() {
        let empty = tempfile::tempdir().unwrap();
        for id in ["poem", "code--xx"] {
            let message = Mode::load(id, &paths(empty.path())).unwrap_err().to_string();
            assert!(message.contains(&format!("{id}.json")) && message.contains("code--zh-tw"), "{message}");
        }
    }

    #[test]
    fn the_users_overrides_are_merged_into_the_bundled_parent() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("modes")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join("modes").join(name), text).unwrap();
        write(
            "code--mine.json",
            "\u{feff}{\"prompts\":{\"skip\":\"Skip all.\"},\"concepts\":[{\"id\":\"only\"}]}",
        );
        let mode = Mode::load("code--mine", &paths(folder.path())).unwrap();
        assert_eq!(mode.prompts.skip, "Skip all.");
        assert!(mode.prompts.role.contains("memory"));
        assert_eq!(mode.concepts.len(), 1);
        assert_eq!(mode.types.len(), 9);
        write("code.json", "[]");
        let message = Mode::load("code", &paths(folder.path())).unwrap_err().to_string();
        assert!(message.contains("not a JSON object"), "{message}");
    }

    #[test]
    fn a_mode_with_a_defect_says_which() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("modes")).unwrap();
        for (text, reason) in [
            ("{\"name\":\"x\"", "line 1"),
            (
                "{\"name\":\"x\",\"types\":[],\"concepts\":[],\"prompts\":{\"role\":\"r\",\"record\":\"r\",\"skip\":\"s\"}}",
                "types is empty",
            ),
            (
                "{\"name\":\"x\",\"types\":[{\"id\":\"A b\"}],\"concepts\":[],\"prompts\":{\"role\":\"r\",\"record\":\"r\",\"skip\":\"s\"}}",
                "not an id",
            ),
            (
                "{\"name\":\"x\",\"types\":[{\"id\":\"a\"},{\"id\":\"a\"}],\"concepts\":[],\"prompts\":{\"role\":\"r\",\"record\":\"r\",\"skip\":\"s\"}}",
                "twice",
            ),
            (
                "{\"name\":\"x\",\"types\":[{\"id\":\"a\"}],\"concepts\":[],\"prompts\":{\"role\":\" \",\"record\":\"r\",\"skip\":\"s\"}}",
                "prompts.role",
            ),
            ("{\"name\":\"x\",\"types\":[{\"id\":\"a\"}],\"concepts\":[]}", "prompts"),
        ] {
            fs::write(folder.path().join("modes/own.json"), text).unwrap();
            let message = Mode::load("own", &paths(folder.path())).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains("own"), "{message}");
        }
    }
}
