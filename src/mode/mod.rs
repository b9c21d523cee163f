//! Modes as data: what kinds of memory there are, and what the observer is asked to look for.
//!
//! `a` is a whole mode; `a--b` is a set of overrides merged into `a` (objects key by key, anything else replaced). A
//! file that names its `parent` is a set of overrides of that one.
//! The user's files in the data directory's `modes/` come before the ones in the binary. Where `b` is the locale of a
//! bundled language, `a--b` needs no file: language and labels come from the binary.

mod bundled;
mod foreign;
mod keys;
mod labels;
mod outline;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use labels::{Labels, fill};
pub use outline::Outline;

use crate::config::{Paths, Settings};

/// Longest mode id: it becomes a file name.
const MAX_ID: usize = 64;

/// A mode, overrides merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub types: Vec<Term>,
    /// Concepts that an observation may carry.
    #[serde(default)]
    pub concepts: Vec<Term>,
    /// What the observer is told.
    pub prompts: Prompts,
    /// The words around memories. English ones are left out of a printed mode, so that a copy of it takes on the words
    /// of the locale that it is given.
    #[serde(default, skip_serializing_if = "Labels::are_english")]
    pub labels: Labels,
    /// Keys of its own file that mean nothing, such as `prompts.skpi`.
    #[serde(skip)]
    pub unknown_keys: Vec<String>,
}

/// One type or concept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term {
    /// Stable id, the same in every language.
    pub id: String,
    /// Display name.
    #[serde(default)]
    pub label: String,
    /// What it stands for; becomes part of the prompt.
    #[serde(default)]
    pub description: String,
    /// One character; of the basic plane in the binary's modes.
    #[serde(default)]
    pub glyph: String,
}

impl Term {
    /// A term without label and sign.
    pub fn new(id: &str, description: &str) -> Self {
        Self { id: id.to_owned(), description: description.to_owned(), ..Self::default() }
    }

    /// Whether a text can be the id of a type or concept.
    pub fn is_id(text: &str) -> bool {
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
        (1..=40).contains(&text.len()) && text.bytes().all(allowed)
    }
}

/// The parts of the prompt that a mode decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompts {
    /// Who the observer is.
    pub role: String,
    /// What to record.
    pub record: String,
    /// What to leave out.
    #[serde(default)]
    pub skip: String,
    /// How to fill the fields.
    #[serde(default)]
    pub fields: String,
    /// How to choose a type, beside the descriptions of the types.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub types: String,
    /// How to choose concepts, beside their descriptions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub concepts: String,
    /// What a session summary is.
    #[serde(default)]
    pub summary: String,
}

/// A mode that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModeError {
    /// The id could name anything in the file system.
    #[error("{0:?} is not a mode id (lower-case letters, digits and single hyphens, at most one `--`)")]
    BadId(String),
    /// Neither the user nor the binary has it.
    #[error("no mode {id:?}: no built-in one has that name, and there is no {path}")]
    Missing {
        /// The id.
        id: String,
        /// Where the user's own would be.
        path: PathBuf,
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
        let folders = [paths.modes()];
        Self::assemble(id, find(id, &folders)?, &folders)
    }

    /// The mode of the settings; where it cannot be used, the one of the binary in English, and why. For all that must
    /// go on.
    pub fn load_or_english(settings: &Settings, paths: &Paths) -> (Self, Option<ModeError>) {
        match Self::load(settings.mode.trim(), paths) {
            Ok(mode) => (mode, None),
            Err(problem) => (Self::english(), Some(problem)),
        }
    }

    /// The mode `code` of the binary, whatever the user's files say.
    pub fn english() -> Self {
        let value = bundled::text("code").and_then(|text| serde_json::from_str(text).ok());
        value.and_then(|value| Self::from_value("code", value).ok()).unwrap_or_default()
    }

    /// Reads a file that shall become a mode; its name without the ending is the id. The parent of an override is
    /// looked for beside it first.
    ///
    /// # Errors
    /// [`ModeError`], as for an installed one.
    pub fn from_file(path: &Path, paths: &Paths) -> Result<Self, ModeError> {
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        check_id(&id)?;
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders = [beside, paths.modes()];
        Self::assemble(&id, find(&id, &folders)?, &folders)
    }

    /// What a mode without parent would be with this as its file.
    ///
    /// # Errors
    /// [`ModeError`].
    pub fn from_value(id: &str, own: Value) -> Result<Self, ModeError> {
        Self::assemble(id, Own::from(object(id, own)?), &[])
    }

    /// Puts what a mode says itself over its parents, and judges the whole.
    fn assemble(id: &str, own: Own, folders: &[PathBuf]) -> Result<Self, ModeError> {
        let invalid = |reason: String| ModeError::Invalid { id: id.to_owned(), reason };
        let whole = inherit(id, own.parts, folders, &[id])?;
        let mode: Self =
            serde_json::from_value(Value::Object(whole)).map_err(|error| invalid(error.to_string()))?;
        mode.check().map_err(invalid)?;
        Ok(Self { id: id.to_owned(), unknown_keys: own.unknown, ..mode })
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
        bundled::ids()
    }

    /// Whether a text can be the id of a mode.
    ///
    /// # Errors
    /// [`ModeError::BadId`].
    pub fn check_id(id: &str) -> Result<(), ModeError> {
        check_id(id)
    }

    /// What people read in place of a type's id; the id itself where the mode does not have it, because the memory was
    /// written in another mode.
    pub fn type_name<'a>(&'a self, id: &'a str) -> &'a str {
        let own = || self.find_type(id).map(|term| term.label.as_str());
        self.labels
            .types
            .get(id)
            .map(String::as_str)
            .or_else(own)
            .filter(|name| !name.is_empty())
            .unwrap_or(id)
    }

    /// The sign of a type, if the mode has the type and a sign for it.
    pub fn type_glyph(&self, id: &str) -> Option<&str> {
        self.find_type(id).map(|term| term.glyph.as_str()).filter(|glyph| !glyph.is_empty())
    }

    /// The id of the type that a person calls so, by id or by name; other words stay as they are.
    pub fn type_id<'a>(&'a self, word: &'a str) -> &'a str {
        let called = |term: &&Term| self.type_name(&term.id).to_lowercase() == word.to_lowercase();
        let named = || self.types.iter().find(called);
        self.find_type(word).or_else(named).map_or(word, |term| &term.id)
    }

    /// The id of a type of the mode, by id or name, or of one of the user's own; `None` for what can be no id.
    pub(crate) fn type_for(&self, word: &str) -> Option<String> {
        let id = self.type_id(word).to_lowercase();
        Term::is_id(&id).then_some(id)
    }

    fn find_type(&self, id: &str) -> Option<&Term> {
        self.types.iter().find(|term| term.id == id)
    }

    /// `wanted` if the mode has that type, else its first.
    pub(crate) fn type_or_first<'a>(&'a self, wanted: &'a str) -> &'a str {
        if self.find_type(wanted).is_some() {
            wanted
        } else {
            self.types.first().map_or(wanted, |term| &term.id)
        }
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
                if !Term::is_id(&term.id) {
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
        ] {
            if text.trim().is_empty() {
                return Err(format!("{what} is empty"));
            }
        }
        self.labels.check()
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

/// Whether an id is a mode and a bundled language, such as `law-study--ja`: it needs no file of its own.
fn is_language_of_a_mode(id: &str) -> bool {
    id.split_once("--").is_some_and(|(_, locale)| bundled::language_pack(locale).is_some())
}

/// Puts a bundled language below what a file says: the one of its locale, else of the id's second half, else the one that
/// its texts ask for.
fn with_language(mut own: Map<String, Value>, variant: Option<&str>) -> Map<String, Value> {
    let pack = match own.get("locale") {
        Some(locale) => locale.as_str().and_then(bundled::language_pack),
        None => variant
            .and_then(bundled::language_pack)
            .or_else(|| foreign::told_locale(&own).and_then(bundled::language_pack)),
    };
    match pack {
        Some(pack) => {
            if own.get("language").and_then(Value::as_str) == Some("") {
                own.shift_remove("language");
            }
            merge(pack, own)
        }
        None => own,
    }
}

/// What one file says.
#[derive(Default)]
struct Own {
    /// In our names for its parts.
    parts: Map<String, Value>,
    /// Keys that mean nothing.
    unknown: Vec<String>,
}

impl From<Map<String, Value>> for Own {
    fn from(file: Map<String, Value>) -> Self {
        let unknown = keys::unknown(&file);
        Self { parts: foreign::renamed(file), unknown }
    }
}

/// The parts of a mode over those of its parent, and these over their own parent's. `below` = the ids that led here.
fn inherit(
    id: &str,
    mut own: Map<String, Value>,
    folders: &[PathBuf],
    below: &[&str],
) -> Result<Map<String, Value>, ModeError> {
    let invalid = |reason: String| ModeError::Invalid { id: id.to_owned(), reason };
    let (base, variant) = id.split_once("--").unzip();
    let parent = match own.shift_remove("parent") {
        None => base.map(str::to_owned),
        Some(Value::String(named)) => {
            check_id(&named).map_err(|error| invalid(format!("parent: {error}")))?;
            Some(named)
        }
        Some(_) => return Err(invalid(String::from("parent is not the id of a mode"))),
    };
    let own = with_language(own, variant);
    let Some(parent) = parent else { return Ok(own) };
    let line = [below, &[&parent]].concat();
    if below.contains(&parent.as_str()) {
        return Err(invalid(format!("its parents go in a circle: {}", line.join(", "))));
    }
    let parts = find(&parent, folders)?.parts;
    Ok(merge(inherit(&parent, parts, folders, &line)?, own))
}

/// What the file of a mode says: the user's in the first folder that has one, else the one in the binary. A bundled
/// language of a mode needs none.
fn find(id: &str, folders: &[PathBuf]) -> Result<Own, ModeError> {
    for folder in folders {
        if let Some(own) = read(id, &folder.join(format!("{id}.json")))? {
            return Ok(own);
        }
    }
    match bundled::text(id) {
        Some(text) => Ok(parse(id, text)?.into()),
        None if is_language_of_a_mode(id) => Ok(Own::default()),
        None => {
            let path = folders.last().map(|folder| folder.join(format!("{id}.json"))).unwrap_or_default();
            Err(ModeError::Missing { id: id.to_owned(), path })
        }
    }
}

/// A user's file; `None` when it is not there.
fn read(id: &str, path: &Path) -> Result<Option<Own>, ModeError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        // Also below a data directory that is a file.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(source) => return Err(ModeError::Read { path: path.to_owned(), source }),
    };
    let mut own = Own::from(parse(id, &text)?);
    if let Some(Value::Object(labels)) = own.parts.get_mut("labels") {
        labels.shift_remove("intro");
    }
    Ok(Some(own))
}

fn parse(id: &str, text: &str) -> Result<Map<String, Value>, ModeError> {
    let value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ModeError::Invalid { id: id.to_owned(), reason: error.to_string() })?;
    object(id, value)
}

fn object(id: &str, value: Value) -> Result<Map<String, Value>, ModeError> {
    match value {
        Value::Object(map) => Ok(map),
        _ => Err(ModeError::Invalid { id: id.to_owned(), reason: String::from("not a JSON object") }),
    }
}

fn merge(mut base: Map<String, Value>, over: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in over {
        let merged = match (base.remove(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => Value::Object(merge(old, new)),
            (_, value) => value,
        };
        base.insert(key, merged);
    }
    base
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
        assert_eq!(Mode::english(), mode);
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
    fn a_missing_mode_names_the_file_and_not_every_other_mode() {
        let empty = tempfile::tempdir().unwrap();
        for id in ["poem", "code--xx"] {
            let message = Mode::load(id, &paths(empty.path())).unwrap_err().to_string();
            assert!(message.contains(&format!("{id}.json")) && !message.contains("code--zh-tw"), "{message}");
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

    #[test]
    fn the_nearest_word_about_the_language_counts() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("modes")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join("modes").join(name), text).unwrap();
        let whole = r#"{"name": "G", "locale": "de", "types": [{"id": "a"}], "prompts": {"role": "r", "record": "r"}}"#;
        write("garden.json", whole);
        write("garden--mine.json", "{}");
        write("garden--fr.json", r#"{"labels": {"notes": "mots"}}"#);
        let load = |id: &str| Mode::load(id, &paths(folder.path())).unwrap();
        assert_eq!(load("garden").labels.request, "Anliegen");
        assert_eq!(load("garden--mine").labels.request, "Anliegen");
        let french = load("garden--fr");
        assert_eq!((french.locale.as_str(), french.language.as_str()), ("fr", "French (français)"));
        assert_eq!((french.labels.request.as_str(), french.labels.notes.as_str()), ("demande", "mots"));
        assert_eq!(load("garden--ja").language, "Japanese (日本語)");
    }

    #[test]
    fn a_type_answers_to_its_id_and_to_its_name() {
        let mode = Mode::english();
        assert_eq!(mode.type_id("Security Alert"), "security_alert");
        assert_eq!(mode.type_id("security_alert"), "security_alert");
        assert_eq!(
            (mode.type_id("lead"), mode.type_name("lead"), mode.type_glyph("lead")),
            ("lead", "lead", None)
        );
        assert_eq!(mode.type_name("security_note"), "security note");
    }

    #[test]
    fn english_is_there_whatever_the_users_files_say() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("modes")).unwrap();
        fs::write(folder.path().join("modes/code.json"), "[]").unwrap();
        let settings = Settings::resolve(&crate::config::Sources::default()).unwrap();
        let (mode, problem) = Mode::load_or_english(&settings, &paths(folder.path()));
        assert_eq!((mode.id.as_str(), mode.types.len()), ("code", 9));
        assert!(problem.is_some());
        assert_eq!(mode.labels, Labels::default());
    }
}
