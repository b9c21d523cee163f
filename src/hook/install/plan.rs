//! What has to change in a settings file, as data, before anything is written.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::InstallError;
use super::command::{hook_command, own_program, with_program};
use super::document::{Document, Step};
use super::file;
use crate::hook::agents::{CLAUDE_CODE, HookEvent, Version};

/// One entry that changes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// An event is registered.
    Add {
        /// The event.
        event: String,
        /// Its command.
        command: String,
    },
    /// An entry of another path, as after the binary was moved.
    Update {
        /// The event.
        event: String,
        /// The command there was.
        from: String,
        /// The command there will be.
        to: String,
    },
    /// An entry goes away.
    Remove {
        /// The event.
        event: String,
        /// Its command.
        command: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add { event, command } => write!(f, "+ {event:<18} {command}"),
            Self::Update { event, from, to } => write!(f, "~ {event:<18} {from} -> {to}"),
            Self::Remove { event, command } => write!(f, "- {event:<18} {command}"),
        }
    }
}

/// The changes of one file, computed and not yet made.
#[derive(Debug)]
pub struct Plan {
    path: PathBuf,
    old: Option<String>,
    document: Document,
    changes: Vec<Change>,
    keeps_backup: bool,
}

impl Plan {
    /// Registers `program` for every event that `version` of the agent takes. Entries of cmem that name the program
    /// already stay as they are, with whatever the user added to them; further ones for the same event go.
    ///
    /// Without a version, the events that not every version knows are left as they are.
    ///
    /// # Errors
    /// [`InstallError`] when the file cannot be read or understood.
    pub fn install(path: &Path, program: &str, version: Option<Version>) -> Result<Self, InstallError> {
        Self::new(path, true, |document| next_installation(document, path, program, version, false))
    }

    /// The same where a plugin registers what every version knows: only further events are registered here, and entries
    /// for the others go.
    ///
    /// # Errors
    /// [`InstallError`] when the file cannot be read or understood.
    pub fn install_beside_plugin(
        path: &Path,
        program: &str,
        version: Option<Version>,
    ) -> Result<Self, InstallError> {
        Self::new(path, true, |document| next_installation(document, path, program, version, true))
    }

    /// Removes every entry of cmem, and the containers that this leaves empty. What is left is what there was without cmem:
    /// no backup is kept.
    ///
    /// # Errors
    /// [`InstallError`] when the file cannot be read or understood.
    pub fn uninstall(path: &Path, program: &str) -> Result<Self, InstallError> {
        Self::new(path, false, |document| {
            let own = own_entries(document, path, Some(program))?;
            Ok(own.into_iter().next().map(Next::Remove))
        })
    }

    fn new(
        path: &Path,
        keeps_backup: bool,
        mut next: impl FnMut(&Document) -> Result<Option<Next>, InstallError>,
    ) -> Result<Self, InstallError> {
        let old = file::read(path)?;
        let unusable = |reason: String| InstallError::Parse { path: path.to_owned(), reason };
        let mut document = Document::parse(old.as_deref().unwrap_or_default())
            .map_err(|error| unusable(error.to_string()))?;
        let mut changes = Vec::new();
        // One change at a time: each moves the places of the others.
        while let Some(step) = next(&document)? {
            let change = step.change();
            step.apply(&mut document).ok_or_else(|| unusable(format!("no place for `{change}`")))?;
            changes.push(change);
        }
        Ok(Self { path: path.to_owned(), old, document, changes, keeps_backup })
    }

    /// The settings file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What will change; empty when everything is as it should be.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether the file switches every hook off (`disableAllHooks`).
    pub fn hooks_disabled(&self) -> bool {
        self.document.value().get("disableAllHooks").is_some_and(|value| value == true)
    }

    /// Writes the file at once, with a backup of the old one beside it; taking cmem out removes that instead. Writes
    /// nothing without changes. Returns the path of the backup.
    ///
    /// # Errors
    /// [`InstallError::Write`], or [`InstallError::Changed`] when the file is no longer what was read.
    pub fn apply(&self) -> Result<Option<PathBuf>, InstallError> {
        let (old, new) = (self.old.as_deref(), self.document.text());
        if !self.keeps_backup {
            if !self.changes.is_empty() {
                file::replace_without_backup(&self.path, old, new)?;
            }
            return file::remove_backup(&self.path).map(|()| None);
        }
        if self.changes.is_empty() { Ok(None) } else { file::replace(&self.path, old, new) }
    }
}

/// A place in the file that runs cmem.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) event: String,
    pub(super) command: String,
    program: String,
    group: usize,
    hook: usize,
}

impl Entry {
    fn path(&self) -> [Step<'_>; 5] {
        let [a, b, c] = self.group_path();
        [a, b, c, Step::Key("hooks"), Step::Index(self.hook)]
    }

    fn group_path(&self) -> [Step<'_>; 3] {
        [Step::Key("hooks"), Step::Key(&self.event), Step::Index(self.group)]
    }
}

/// Every entry that runs cmem, in the order of the file. `also` is a further path that counts as cmem.
pub(super) fn own_entries(
    document: &Document,
    path: &Path,
    also: Option<&str>,
) -> Result<Vec<Entry>, InstallError> {
    let wrong = |part: String, wanted| InstallError::Shape { path: path.to_owned(), part, wanted };
    let root = document.value().as_object().ok_or_else(|| wrong(String::from("the file"), "an object"))?;
    let Some(events) = root.get("hooks") else { return Ok(Vec::new()) };
    let events = events.as_object().ok_or_else(|| wrong(String::from("hooks"), "an object"))?;
    let mut own = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().ok_or_else(|| wrong(format!("hooks.{event}"), "an array"))?;
        for (group, value) in groups.iter().enumerate() {
            let hooks = value.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for (hook, value) in hooks.iter().enumerate() {
                let Some(command) = value.get("command").and_then(Value::as_str) else { continue };
                let Some(program) = own_program(command, also) else { continue };
                let (event, command) = (event.clone(), command.to_owned());
                own.push(Entry { event, command, program, group, hook });
            }
        }
    }
    Ok(own)
}

/// The next change of a file.
enum Next {
    Add { event: &'static str, command: String },
    Update { entry: Entry, to: String },
    Remove(Entry),
}

fn next_installation(
    document: &Document,
    path: &Path,
    program: &str,
    version: Option<Version>,
    beside_plugin: bool,
) -> Result<Option<Next>, InstallError> {
    let mut own = own_entries(document, path, Some(program))?;
    let wanted = |event: &HookEvent| match (event.since, version) {
        (None, _) => !beside_plugin,
        (Some(since), Some(version)) => version >= since,
        (Some(_), None) => own.iter().any(|entry| entry.event == event.name),
    };
    let wanted: Vec<&str> =
        CLAUDE_CODE.events.iter().filter(|event| wanted(event)).map(|event| event.name).collect();
    let is_excess = |index: usize| {
        let entry: &Entry = &own[index];
        !wanted.contains(&entry.event.as_str())
            || own[..index].iter().any(|earlier| earlier.event == entry.event)
    };
    if let Some(index) = (0..own.len()).find(|index| is_excess(*index)) {
        return Ok(Some(Next::Remove(own.swap_remove(index))));
    }
    if let Some(index) = own.iter().position(|entry| entry.program != program) {
        let entry = own.swap_remove(index);
        // What the user put around it stays.
        let to = with_program(&entry.command, Some(program), program)
            .unwrap_or_else(|| hook_command(program, &entry.event));
        return Ok(Some(Next::Update { entry, to }));
    }
    let missing = wanted.into_iter().find(|event| own.iter().all(|entry| entry.event != **event));
    Ok(missing.map(|event| Next::Add { event, command: hook_command(program, event) }))
}

impl Next {
    fn change(&self) -> Change {
        match self {
            Self::Add { event, command } => {
                Change::Add { event: (*event).to_owned(), command: command.clone() }
            }
            Self::Update { entry, to } => {
                Change::Update { event: entry.event.clone(), from: entry.command.clone(), to: to.clone() }
            }
            Self::Remove(entry) => {
                Change::Remove { event: entry.event.clone(), command: entry.command.clone() }
            }
        }
    }

    fn apply(&self, document: &mut Document) -> Option<()> {
        match self {
            Self::Add { event, command } => add(document, event, command),
            Self::Update { entry, to } => {
                let [a, b, c, d, e] = entry.path();
                document.replace(&[a, b, c, d, e, Step::Key("command")], &Value::from(to.as_str()))
            }
            Self::Remove(entry) => remove(document, entry),
        }
    }
}

fn add(document: &mut Document, event: &str, command: &str) -> Option<()> {
    let hook = json!({ "type": "command", "command": command, "timeout": CLAUDE_CODE.timeout_secs });
    let matcher = CLAUDE_CODE.events.iter().find(|known| known.name == event).and_then(|known| known.matcher);
    let group = match matcher {
        Some(tool) => json!({ "matcher": tool, "hooks": [hook] }),
        None => json!({ "hooks": [hook] }),
    };
    match document.value().get("hooks").map(|events| events.get(event).is_some()) {
        None => document.insert(&[], "hooks", &json!({ event: [group] })),
        Some(false) => document.insert(&[Step::Key("hooks")], event, &json!([group])),
        Some(true) => document.push(&[Step::Key("hooks"), Step::Key(event)], &group),
    }
}

fn remove(document: &mut Document, entry: &Entry) -> Option<()> {
    document.remove(&entry.path())?;
    let [hooks, event, group] = entry.group_path();
    let inner = document.value().get("hooks")?.get(&entry.event)?.get(entry.group)?.get("hooks")?;
    if inner.as_array().is_some_and(|inner| !inner.is_empty()) {
        return Some(());
    }
    document.remove(&[hooks, event, group])?;
    let groups = document.value().get("hooks")?.get(&entry.event)?;
    if groups.as_array().is_some_and(|groups| !groups.is_empty()) {
        return Some(());
    }
    document.remove(&[hooks, event])?;
    match document.value().get("hooks")?.as_object() {
        Some(events) if events.is_empty() => document.remove(&[hooks]),
        _ => Some(()),
    }
}
