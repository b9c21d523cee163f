//! What names the plugin in files and folders of the agent, and taking it out. The agent's own commands leave its copies
//! and its notes behind, and are not there where the agent is not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ID, MARKETPLACE, Places, PluginError};
use crate::hook::install::document::{Document, Step};
use crate::hook::install::{InstallError, file};

/// How often a file that the agent rewrites meanwhile is tried again.
const TRIES: usize = 5;

/// Members that hold the plugin by a name, among others.
const CONTAINERS: [(&str, &str); 5] = [
    ("enabledPlugins", ID),
    ("extraKnownMarketplaces", MARKETPLACE),
    ("plugins", ID),
    ("pluginUsage", ID),
    ("declinedPlugins", ID),
];

/// The plugin's MCP server, as the agent writes it.
const SERVER: &str = "plugin:cmem:cmem";
/// Lists of such names that it keeps for each project.
const SERVER_LISTS: [&str; 2] = ["disabledMcpServers", "enabledMcpServers"];

/// One thing that names the plugin.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Trace {
    /// The file or folder.
    pub path: PathBuf,
    /// The part of the file; nothing for the whole of it.
    pub part: Vec<String>,
}

/// Everything that names the plugin.
///
/// # Errors
/// [`PluginError::File`] when a file of the agent cannot be read or understood.
pub fn traces(places: &Places) -> Result<Vec<Trace>, PluginError> {
    let mut found = Vec::new();
    for path in files(places) {
        let Some(text) = text_of(places, &path)? else { continue };
        let parts = parts(parsed(&path, &text)?.value());
        found.extend(parts.into_iter().map(|part| Trace { path: path.clone(), part }));
    }
    let folders = folders(places).into_iter().filter(|path| path.symlink_metadata().is_ok());
    found.extend(folders.map(|path| Trace { path, part: Vec::new() }));
    Ok(found)
}

/// Takes all of that out; everything else in those files keeps its bytes.
///
/// # Errors
/// [`PluginError`] when a file cannot be understood or written, or a folder cannot be removed.
pub fn sweep(places: &Places) -> Result<(), PluginError> {
    for path in files(places) {
        let mut tries = 0;
        while let Err(error) = sweep_file(places, &path) {
            tries += 1;
            if tries == TRIES || !matches!(error, InstallError::Changed { .. }) {
                return Err(error.into());
            }
        }
    }
    for path in folders(places) {
        let removed = match path.symlink_metadata() {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(PluginError::Write { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

fn files(places: &Places) -> Vec<PathBuf> {
    let settings = places.settings.iter().map(|(_, path)| path.clone());
    settings.chain([places.installed(), places.marketplaces()]).chain(places.notes.clone()).collect()
}

/// The text of a file; `None` where there is nothing to look for. The agent's own notes can be no JSON without being in
/// the way of anybody, unless they name the plugin.
fn text_of(places: &Places, path: &Path) -> Result<Option<String>, InstallError> {
    let may_name = |text: &String| [MARKETPLACE, SERVER, "\"cmem:"].iter().any(|name| text.contains(name));
    let is_note = places.notes.iter().any(|note| note == path);
    Ok(file::read(path)?.filter(|text| !is_note || may_name(text)))
}

/// The agent's copies, the plugin's data and logs of its server. The agent writes `cmem-cmem-local` for what is no name of a
/// file.
fn folders(places: &Places) -> Vec<PathBuf> {
    let plain = |name: &str| name.replace(['@', ':'], "-");
    let copies = [("cache", MARKETPLACE), ("marketplaces", MARKETPLACE), ("data", &plain(ID))];
    let copies = copies.map(|(folder, name)| places.plugins.join(folder).join(name));
    let logs = fs::read_dir(&places.logs).into_iter().flatten().flatten();
    let logs = logs.map(|project| project.path().join(format!("mcp-logs-{}", plain(SERVER))));
    copies.into_iter().chain(logs).collect()
}

fn sweep_file(places: &Places, path: &Path) -> Result<(), InstallError> {
    let Some(old) = text_of(places, path)? else { return Ok(()) };
    let mut document = parsed(path, &old)?;
    let lost = |part: &[String]| InstallError::Parse {
        path: path.to_owned(),
        reason: format!("no way to take {} out", part.join(".")),
    };
    // One at a time: each moves the places of the others.
    let next = |value: &Value| parts(value).into_iter().next().or_else(|| empty_container(value));
    while let Some(part) = next(document.value()) {
        take_out(&mut document, &part).ok_or_else(|| lost(&part))?;
    }
    if document.text() == old {
        Ok(())
    } else {
        file::replace_without_backup(path, Some(&old), document.text())
    }
}

fn take_out(document: &mut Document, part: &[String]) -> Option<()> {
    let (name, container) = part.split_last()?;
    let holder = container.iter().try_fold(document.value(), |value, key| value.get(key))?;
    let last = match holder.as_array() {
        Some(items) => Step::Index(items.iter().position(|item| item == name.as_str())?),
        None => Step::Key(name),
    };
    let steps: Vec<Step<'_>> = container.iter().map(|key| Step::Key(key)).chain([last]).collect();
    document.remove(&steps)
}

/// Where a file names the plugin, as keys from the root. No two files of the agent mean different things by them.
fn parts(value: &Value) -> Vec<Vec<String>> {
    let holds = |held: &Value, name: &str| match held.as_array() {
        Some(items) => items.iter().any(|item| item == name),
        None => held.get(name).is_some(),
    };
    let part = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for (container, name) in CONTAINERS {
        if value.get(container).is_some_and(|held| holds(held, name)) {
            found.push(part(&[container, name]));
        }
    }
    let used = value.get("skillUsage").and_then(Value::as_object);
    let skills = used.into_iter().flat_map(|skills| skills.keys());
    found.extend(skills.filter(|skill| skill.starts_with("cmem:")).map(|skill| part(&["skillUsage", skill])));
    // What the user switched off in a project.
    for (project, noted) in value.get("projects").and_then(Value::as_object).into_iter().flatten() {
        for list in
            SERVER_LISTS.into_iter().filter(|list| noted.get(*list).is_some_and(|held| holds(held, SERVER)))
        {
            found.push(part(&["projects", project, list, SERVER]));
        }
    }
    let whole = [MARKETPLACE, SERVER].into_iter().filter(|key| value.get(key).is_some());
    found.extend(whole.map(|key| part(&[key])));
    found
}

/// The settings hold these for plugins alone: empty ones say nothing, and the agent's own commands leave them.
fn empty_container(value: &Value) -> Option<Vec<String>> {
    let is_empty =
        |name: &&str| value.get(*name).and_then(Value::as_object).is_some_and(|held| held.is_empty());
    ["enabledPlugins", "extraKnownMarketplaces"]
        .iter()
        .find(|name| is_empty(name))
        .map(|name| vec![(*name).to_owned()])
}

fn parsed(path: &Path, text: &str) -> Result<Document, InstallError> {
    Document::parse(text)
        .map_err(|error| InstallError::Parse { path: path.to_owned(), reason: error.to_string() })
}
