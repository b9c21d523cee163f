//! What a hook must know of its session, in a small file beside the database: whether the present turn is
//! private, which directories have their identity in the journal already, which memories were told, and which files were
//! edited or had memories told before they were read (by a digest of the path), and who answers an event that two
//! registrations deliver. The file only grows, by one line where something changed, so that parallel hooks cannot undo each
//! other.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::SpoolError;
use crate::config::Paths;
use crate::model::{Platform, Timestamp};

const PRIVATE: &str = "private";
const PUBLIC: &str = "public";
const OVER: &str = "over";
const PLACE: &str = "at ";
const TOLD: &str = "told ";
const ANEW: &str = "anew";
const EDITED: &str = "edited ";
const GATED: &str = "gated ";
const ANSWER: &str = "answer ";

/// Two registrations deliver an event side by side; one that comes later than this is another event.
const TWIN_WINDOW_MS: i64 = 10_000;

/// A turn is no longer than this; a session that was killed in one is not at work for ever.
const LONGEST_TURN: Duration = Duration::from_secs(12 * 3_600);

/// The trail of one session.
#[derive(Debug)]
pub struct Trail {
    path: PathBuf,
    private: bool,
    /// It cannot be read or written: that the turn is private may be missing in it.
    is_closed: bool,
    /// Its last line is not whole.
    is_torn: bool,
    is_over: bool,
    places: Vec<String>,
    told: Vec<i64>,
    edited: Vec<String>,
    gates: Vec<Gate>,
}

/// Who called the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registrar {
    /// A settings file, by the command line there: the program and its arguments.
    Settings(Vec<OsString>),
    /// A plugin, by its folder.
    Plugin(PathBuf),
}

/// That memories of a file were told before it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The file, as [`Trail::file`] names it.
    pub file: String,
    /// A name that no other has; no blank in it.
    pub name: String,
    /// Whether the read was held back.
    pub is_block: bool,
    /// Ids of the memories.
    pub told: Vec<i64>,
}

impl Trail {
    /// The trail of an agent's session; an empty one when there is none yet.
    pub fn read(paths: &Paths, platform: Platform, session: &str) -> Self {
        Self::at(paths.trails().join(file_name(platform, session)))
    }

    fn at(path: PathBuf) -> Self {
        let (text, is_readable) = match fs::read(&path) {
            Ok(bytes) => (String::from_utf8_lossy(&bytes).into_owned(), true),
            Err(error) if error.kind() == ErrorKind::NotFound => (String::new(), !set_aside(&path).exists()),
            Err(_) => (String::new(), false),
        };
        let mut trail = Self {
            is_closed: !is_readable || !is_writable(&path) || path == set_aside(&path),
            is_torn: !text.is_empty() && !text.ends_with('\n'),
            path,
            private: false,
            is_over: false,
            places: Vec::new(),
            told: Vec::new(),
            edited: Vec::new(),
            gates: Vec::new(),
        };
        for line in text.lines() {
            match line {
                PRIVATE => (trail.private, trail.is_over) = (true, false),
                PUBLIC => (trail.private, trail.is_over) = (false, false),
                OVER => trail.is_over = true,
                ANEW => trail.told.clear(),
                _ => {
                    trail.places.extend(line.strip_prefix(PLACE).map(str::to_owned));
                    let told = line.strip_prefix(TOLD).unwrap_or_default().split(' ');
                    trail.told.extend(told.filter_map(|id| id.parse::<i64>().ok()));
                    trail.edited.extend(line.strip_prefix(EDITED).map(str::to_owned));
                    trail.gates.extend(line.strip_prefix(GATED).and_then(Gate::parse));
                }
            }
        }
        trail
    }

    /// Whether a session that is at work in one of these places, as far as anybody can tell, has a private turn; `of`:
    /// the sessions of one agent alone.
    pub fn any_private(paths: &Paths, of: Option<Platform>, is_here: impl Fn(&Path) -> bool) -> bool {
        let is_wanted = |entry: &fs::DirEntry| {
            of.is_none_or(|platform| entry.file_name().to_string_lossy().starts_with(&prefix(platform)))
        };
        let oldest = SystemTime::now().checked_sub(LONGEST_TURN);
        let is_young = |entry: &fs::DirEntry| {
            let changed = entry.metadata().and_then(|meta| meta.modified());
            changed.is_ok_and(|at| oldest.is_none_or(|oldest| at >= oldest))
        };
        let trails = fs::read_dir(paths.trails()).into_iter().flatten().flatten();
        let trails = trails.filter(|entry| is_wanted(entry) && is_young(entry));
        trails.map(|entry| Self::at(entry.path())).any(|trail| {
            trail.is_private() && !trail.is_over && trail.places.iter().any(|place| is_here(Path::new(place)))
        })
    }

    /// Whether the session is known, and has not ended.
    pub fn is_live(&self) -> bool {
        !self.places.is_empty() && !self.is_over
    }

    /// Whether nothing of the present turn may be kept: it is private, or nobody knows.
    pub fn is_private(&self) -> bool {
        self.private || self.is_closed
    }

    /// Whether the journal holds the identity of this directory.
    pub fn knows(&self, cwd: &str) -> bool {
        self.places.iter().any(|place| place == cwd)
    }

    /// Ids of the memories that the session's history holds.
    pub fn told(&self) -> &[i64] {
        &self.told
    }

    /// Remembers that memories were told; `anew`: in a history that was empty.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_told(&self, observations: &[i64], anew: bool) -> Result<(), SpoolError> {
        let mut lines = Vec::new();
        if anew && !self.told.is_empty() {
            lines.push(ANEW.to_owned());
        }
        if !observations.is_empty() {
            let ids: Vec<String> = observations.iter().map(i64::to_string).collect();
            lines.push(format!("{TOLD}{}", ids.join(" ")));
        }
        if lines.is_empty() { Ok(()) } else { self.append(&lines.join("\n")) }
    }

    /// The name of a file in a trail: a path is nobody else's business, and may be long.
    pub fn file(path: &Path) -> String {
        digest(path.as_os_str().as_encoded_bytes())
    }

    /// Whether the session edited a file.
    pub fn has_edited(&self, file: &str) -> bool {
        self.edited.iter().any(|edited| edited == file)
    }

    /// What was told before files were read, oldest first.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Remembers that the session edited a file.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_edit(&self, file: &str) -> Result<(), SpoolError> {
        if self.has_edited(file) { Ok(()) } else { self.append(&format!("{EDITED}{file}")) }
    }

    /// Remembers that memories of a file are told before it is read; `false` when somebody else was quicker.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_gate(&self, gate: &Gate) -> Result<bool, SpoolError> {
        self.append(&format!("{GATED}{}", gate.line()))?;
        // Calls in parallel all have their line here: the first one counts.
        let text = fs::read_to_string(&self.path)
            .map_err(|source| SpoolError::File { path: self.path.clone(), source })?;
        let mut gates = text.lines().filter_map(|line| Gate::parse(line.strip_prefix(GATED)?));
        Ok(gates.find(|other| other.file == gate.file).is_some_and(|first| first == *gate))
    }

    /// Claims the answer to an event, named by its delivery key; `false` when another registrar's delivery of the same
    /// event was quicker. One registrar's deliveries are never held against each other: a user may say the same twice.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn claim(&self, key: &[u8], by: &Registrar, now: Timestamp) -> Result<bool, SpoolError> {
        let (key, by, claim) = (digest(key), by.name(), Uuid::now_v7().simple().to_string());
        self.append(&format!("{ANSWER}{key} {by} {} {claim}", now.0))?;
        let text = fs::read_to_string(&self.path)
            .map_err(|source| SpoolError::File { path: self.path.clone(), source })?;
        // How many deliveries of it each registrar had, up to this one.
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for line in text.lines().filter_map(|line| line.strip_prefix(ANSWER)) {
            let &[other, registrar, at, name] = line.split(' ').collect::<Vec<_>>().as_slice() else {
                continue;
            };
            if name == claim {
                break;
            }
            if other == key && at.parse::<i64>().is_ok_and(|at| (at - now.0).abs() <= TWIN_WINDOW_MS) {
                *counts.entry(registrar).or_default() += 1;
            }
        }
        // The n-th of one registrar and the n-th of another are the same event.
        let own = counts.remove(by.as_str()).unwrap_or_default();
        Ok(counts.values().all(|others| *others <= own))
    }

    /// Begins a turn.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn begin_turn(&self, private: bool) -> Result<(), SpoolError> {
        if private == self.private && !self.is_closed && !self.is_over {
            return Ok(());
        }
        let aside = set_aside(&self.path);
        if !private {
            let _ = fs::rename(&aside, &self.path);
        }
        let written = self.append(if private { PRIVATE } else { PUBLIC });
        // On a full disk a name can still be changed: what says that this turn is public must not stay where it is.
        if private && written.is_err() && fs::rename(&self.path, &aside).is_err() {
            let _ = File::create(&aside);
        }
        written
    }

    /// Remembers that the session has ended. What comes late of its last turn is as private as that was.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn end(&self) -> Result<(), SpoolError> {
        if self.is_live() { self.append(OVER) } else { Ok(()) }
    }

    /// Remembers that the identity of a directory is in the journal.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn add_place(&self, cwd: &str) -> Result<(), SpoolError> {
        // Only a directory with a line break in its name is looked up again each time.
        if self.knows(cwd) || cwd.contains(['\n', '\r']) {
            return Ok(());
        }
        self.append(&format!("{PLACE}{cwd}"))
    }

    fn append(&self, line: &str) -> Result<(), SpoolError> {
        let written = || -> io::Result<()> {
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
            let start = if self.is_torn { "\n" } else { "" };
            file.write_all(format!("{start}{line}\n").as_bytes())
        };
        written().map_err(|source| SpoolError::File { path: self.path.clone(), source })
    }

    /// Removes the trails that nothing was added to for so long. Whoever misses one looks the place up again.
    pub(super) fn forget(paths: &Paths, unused_for: Duration) {
        let Some(before) = SystemTime::now().checked_sub(unused_for) else { return };
        for entry in fs::read_dir(paths.trails()).into_iter().flatten().flatten() {
            let is_old = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|at| at < before);
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Registrar {
    fn name(&self) -> String {
        match self {
            Self::Settings(command) => {
                let words: Vec<&[u8]> = command.iter().map(|word| word.as_encoded_bytes()).collect();
                digest(&words.join(&0))
            }
            Self::Plugin(folder) => digest(folder.as_os_str().as_encoded_bytes()),
        }
    }
}

impl Gate {
    fn line(&self) -> String {
        let way = if self.is_block { "block" } else { "hint" };
        let told: Vec<String> = self.told.iter().map(i64::to_string).collect();
        format!("{} {} {way} {}", self.file, self.name, told.join(" "))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let (file, name) = (words.next()?.to_owned(), words.next()?.to_owned());
        let is_block = words.next()? == "block";
        Some(Self { file, name, is_block, told: words.filter_map(|id| id.parse().ok()).collect() })
    }
}

/// Where a trail is put that should say that the turn is private, and cannot.
fn set_aside(path: &Path) -> PathBuf {
    path.with_extension("private")
}

/// Whether it can be told that a turn is private; where there is no folder yet, one can be made.
fn is_writable(path: &Path) -> bool {
    match access(path, Access::WRITE_OK) {
        Err(Errno::NOENT) => {
            let folder = path.parent().unwrap_or(path);
            matches!(access(folder, Access::WRITE_OK), Ok(()) | Err(Errno::NOENT))
        }
        outcome => outcome.is_ok(),
    }
}

/// A session id is the client's own text and no file name; two agents may have the same.
fn file_name(platform: Platform, session: &str) -> String {
    prefix(platform) + &digest(session.as_bytes())
}

fn prefix(platform: Platform) -> String {
    format!("{platform}-")
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).fold(String::new(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn privacy_lasts_until_the_next_prompt_and_places_stay() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "../../s");
        assert!(!trail().is_private() && !trail().knows("/a"));
        trail().add_place("/a").unwrap();
        trail().begin_turn(true).unwrap();
        assert!(trail().is_private() && trail().knows("/a") && !trail().knows("/"));
        trail().add_place("/b\nprivate").unwrap();
        trail().begin_turn(false).unwrap();
        trail().begin_turn(false).unwrap();
        assert!(!trail().is_private() && trail().knows("/a"));
        assert!(!Trail::read(&paths, Platform::Claude, "other").knows("/a"));
        let files: Vec<_> = fs::read_dir(paths.trails()).unwrap().collect();
        assert_eq!(files.len(), 1);
    }

    #[test]
    fn where_it_cannot_be_said_that_a_turn_is_private_every_turn_is() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "s");
        trail().add_place("/a").unwrap();
        let path = trail().path;
        // As on a full disk: it can be read, and nothing can be added.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(trail().is_private());
        assert!(trail().begin_turn(true).is_err() && !path.exists());
        assert!(trail().is_private());
        // Another turn, and the disk has room again.
        fs::remove_dir(set_aside(&path)).unwrap();
        fs::write(set_aside(&path), "at /a\n").unwrap();
        assert!(trail().is_private());
        trail().begin_turn(false).unwrap();
        assert!(!trail().is_private() && trail().knows("/a"));
    }

    #[test]
    fn a_damaged_trail_still_tells() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "s");
        trail().begin_turn(true).unwrap();
        let path = trail().path;
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(b"at /\xff\nedited 12");
        fs::write(&path, bytes).unwrap();
        assert!(trail().is_private());
        trail().add_edit("34").unwrap();
        assert!(trail().has_edited("34") && trail().is_private());
    }

    #[test]
    fn what_was_told_adds_up_until_the_history_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "s");
        trail().add_told(&[], true).unwrap();
        assert!(!paths.trails().exists(), "nothing to remember is no file");
        trail().add_told(&[3, 1], true).unwrap();
        trail().add_told(&[7], false).unwrap();
        assert_eq!(trail().told(), [3, 1, 7]);
        trail().add_told(&[9], true).unwrap();
        assert_eq!(trail().told(), [9]);
        trail().add_told(&[], true).unwrap();
        assert_eq!(trail().told(), Vec::<i64>::new());
    }

    #[test]
    fn a_file_is_gated_once_by_whoever_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "s");
        let file = Trail::file(Path::new("/a/b\nprivate"));
        let gate =
            |name: &str| Gate { file: file.clone(), name: name.to_owned(), is_block: true, told: vec![3, 1] };
        let (first, second) = (trail(), trail());
        assert!(first.add_gate(&gate("one")).unwrap());
        assert!(!second.add_gate(&gate("two")).unwrap());
        assert_eq!(trail().gates()[0], gate("one"));
        assert!(!trail().has_edited(&file));
        trail().add_edit(&file).unwrap();
        trail().add_edit(&file).unwrap();
        assert!(trail().has_edited(&file) && !trail().is_private());
        assert_eq!(trail().edited.len(), 1);
    }

    #[test]
    fn of_two_deliveries_of_an_event_one_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = Trail::read(&paths, Platform::Claude, "s");
        let plugin = Registrar::Plugin(PathBuf::from("/a plugin"));
        let other = Registrar::Plugin(PathBuf::from("/another"));
        let settings = Registrar::Settings(vec![OsString::from("/cmem"), OsString::from("hook")]);
        let claim = |key: &str, by, at| trail.claim(key.as_bytes(), by, Timestamp(at)).unwrap();
        // Twice said is twice answered, by whoever is first.
        assert_eq!(
            [claim("a", &settings, 0), claim("a", &plugin, 5), claim("a", &other, 6)],
            [true, false, false]
        );
        assert_eq!(
            [claim("a", &plugin, 900), claim("a", &settings, 901), claim("a", &other, 902)],
            [true, false, false]
        );
        let of_project = Registrar::Settings(vec![OsString::from("/other/cmem"), OsString::from("hook")]);
        assert_eq!([claim("d", &of_project, 0), claim("d", &settings, 5)], [true, false]);
        // One registrar alone answers everything.
        assert_eq!([claim("b", &plugin, 0), claim("b", &plugin, 1), claim("b", &plugin, 2)], [true; 3]);
        // Another event, another session, and a time long after.
        assert!(claim("c", &plugin, 3));
        assert!(claim("a", &plugin, 60_000));
        assert!(Trail::read(&paths, Platform::Claude, "t").claim(b"c", &settings, Timestamp(4)).unwrap());
        assert!(!Trail::read(&paths, Platform::Claude, "s").is_private());
    }

    #[test]
    fn a_private_turn_is_known_by_its_place_until_its_session_ends() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = |session: &str| Trail::read(&paths, Platform::Claude, session);
        let is_private = |dir: &str| Trail::any_private(&paths, None, |place| place.starts_with(dir));
        assert!(!is_private("/a") && !trail("s").is_live());
        trail("s").add_place("/a/src").unwrap();
        trail("s").begin_turn(true).unwrap();
        trail("t").add_place("/a").unwrap();
        assert!(is_private("/a") && !is_private("/b") && trail("s").is_live());
        trail("s").end().unwrap();
        assert!(!is_private("/a") && !trail("s").is_live() && trail("s").is_private());
        // It goes on.
        trail("s").begin_turn(true).unwrap();
        assert!(is_private("/a") && trail("s").is_live());
        let old = SystemTime::now() - LONGEST_TURN - Duration::from_secs(1);
        OpenOptions::new().append(true).open(&trail("s").path).unwrap().set_modified(old).unwrap();
        assert!(!is_private("/a"), "nobody ended it");
        let codex = Trail::read(&paths, Platform::Codex, "s");
        assert!(!codex.is_private() && !codex.knows("/a/src"), "another agent's session of the same id");
        codex.add_place("/c").unwrap();
        codex.begin_turn(true).unwrap();
        let of = |platform| Trail::any_private(&paths, Some(platform), |place| place.starts_with("/c"));
        assert!(of(Platform::Codex) && !of(Platform::Claude));
    }

    #[test]
    fn an_old_trail_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        Trail::read(&paths, Platform::Claude, "s").add_place("/a").unwrap();
        Trail::forget(&paths, Duration::from_secs(60));
        assert!(Trail::read(&paths, Platform::Claude, "s").knows("/a"));
        Trail::forget(&paths, Duration::ZERO);
        assert!(!Trail::read(&paths, Platform::Claude, "s").knows("/a"));
    }
}
