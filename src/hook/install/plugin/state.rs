//! What the agent knows of cmem's plugin, by its files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ID, MARKETPLACE, NAME, Places};
use crate::git;
use crate::hook::install::document::Document;
use crate::hook::install::{InstallError, Scope, file};

/// One plugin named cmem, of whatever marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// As the agent writes it: `cmem@MARKETPLACE`.
    pub id: String,
    /// For whom, as far as that concerns the directory it is seen from.
    pub reach: Reach,
    /// The version that the agent noted.
    pub version: String,
    /// Whether it is used here: the nearest settings decide, and what was never said is no.
    pub is_enabled: bool,
    /// Whether the user's own settings say so.
    pub is_enabled_by_user: bool,
    /// The agent's copy.
    pub copy: PathBuf,
}

/// Where an installed plugin can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// In every project of the user.
    User,
    /// In this project, and maybe in others.
    Here,
    /// In other projects alone.
    Elsewhere,
}

impl Installed {
    /// Whether every project has it, unless that says otherwise.
    pub fn serves_user(&self) -> bool {
        self.reach == Reach::User && self.is_enabled_by_user
    }
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Where the marketplace `cmem-local` is, if it was added.
    pub marketplace: Option<PathBuf>,
    /// What is installed, each once: for the user if it is.
    pub plugins: Vec<Installed>,
    /// The projects that have `cmem@cmem-local` for themselves, by their roots.
    pub projects: Vec<PathBuf>,
}

impl State {
    /// Reads it.
    ///
    /// # Errors
    /// [`InstallError`] when a file of the agent cannot be read or understood.
    pub fn read(places: &Places) -> Result<Self, InstallError> {
        let markets = json(&places.marketplaces())?;
        let path = |market: &Value| {
            let text = market.pointer("/source/path").or_else(|| market.get("installLocation"))?;
            text.as_str().map(PathBuf::from)
        };
        let marketplace = markets.get(MARKETPLACE).map(|market| path(market).unwrap_or_default());
        let installed = json(&places.installed())?;
        let listed = installed.get("plugins").and_then(Value::as_object);
        let root = git::resolve(&places.root).0;
        let (mut plugins, mut projects) = (Vec::new(), Vec::new());
        for (id, entries) in listed.into_iter().flatten().filter(|(id, _)| is_cmem(id)) {
            // One entry for each scope and project; an object in the first version of the file, which knew no scopes.
            let entries = entries.as_array().map_or(std::slice::from_ref(entries), Vec::as_slice);
            if id == ID {
                projects.extend(entries.iter().filter_map(project));
            }
            let reaching = entries.iter().map(|entry| (reach(entry, &root), entry));
            let Some((reach, entry)) = reaching.min_by_key(|(reach, _)| *reach) else { continue };
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            plugins.push(Installed {
                id: id.clone(),
                reach,
                version: text("version"),
                is_enabled: reach != Reach::Elsewhere && is_enabled(&places.settings, id)?,
                is_enabled_by_user: is_enabled(places.settings.get(..1).unwrap_or_default(), id)?,
                copy: PathBuf::from(text("installPath")),
            });
        }
        Ok(Self { marketplace, plugins, projects })
    }

    /// The one that `cmem install --plugin` made.
    pub fn own(&self) -> Option<&Installed> {
        self.plugins.iter().find(|plugin| plugin.id == ID)
    }

    /// One that is used here, if there is any: it registers the events that it holds.
    pub fn in_use(&self) -> Option<&Installed> {
        self.plugins.iter().find(|plugin| plugin.is_enabled)
    }

    /// One that every project has, if there is any.
    pub fn serving_user(&self) -> Option<&Installed> {
        self.plugins.iter().find(|plugin| plugin.serves_user())
    }

    /// Whether the user has one, and this project switches it off.
    pub fn is_off_here(&self) -> bool {
        self.in_use().is_none() && self.serving_user().is_some()
    }

    /// What the hooks of one run, by event: those of the folder, which later versions of the agent read in place, or else of
    /// the agent's copy.
    pub fn commands(&self, plugin: &Installed) -> Vec<(String, String)> {
        let folder =
            self.marketplace.as_ref().filter(|_| plugin.id == ID).map(|path| path.join("plugins/cmem"));
        let places = folder.into_iter().chain([plugin.copy.clone()]);
        let text = places.filter_map(|place| fs::read_to_string(place.join("hooks/hooks.json")).ok()).next();
        let value: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
        let events = value.get("hooks").and_then(Value::as_object);
        let command = |groups: &Value| groups.pointer("/0/hooks/0/command")?.as_str().map(str::to_owned);
        let events = events.into_iter().flatten();
        events.map(|(event, groups)| (event.clone(), command(groups).unwrap_or_default())).collect()
    }
}

fn is_cmem(id: &str) -> bool {
    id.split_once('@').is_some_and(|(name, _)| name == NAME)
}

/// The project that an entry is for; `None` = the user.
fn project(entry: &Value) -> Option<PathBuf> {
    let is_users = entry.get("scope").is_none_or(|scope| scope == "user");
    let path = entry.get("projectPath").and_then(Value::as_str).filter(|_| !is_users)?;
    Some(PathBuf::from(path))
}

fn reach(entry: &Value, root: &Path) -> Reach {
    match project(entry) {
        None => Reach::User,
        Some(path) if git::resolve(&path).0 == root => Reach::Here,
        Some(_) => Reach::Elsewhere,
    }
}

/// The nearest of these settings decide: of the checkout, of the project, of the user.
fn is_enabled(settings: &[(Scope, PathBuf)], id: &str) -> Result<bool, InstallError> {
    for (_, path) in settings.iter().rev() {
        let value = json(path)?;
        if let Some(said) = value.get("enabledPlugins").and_then(|all| all.get(id)) {
            return Ok(said != false);
        }
    }
    Ok(false)
}

/// A missing file says nothing.
fn json(path: &Path) -> Result<Value, InstallError> {
    let Some(text) = file::read(path)? else { return Ok(Value::Null) };
    let document = Document::parse(&text)
        .map_err(|error| InstallError::Parse { path: path.to_owned(), reason: error.to_string() })?;
    Ok(document.value().clone())
}
