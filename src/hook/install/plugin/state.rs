//! What the agent knows of cmem's plugin, by its files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{ID, MARKETPLACE, NAME, Places};
use crate::hook::install::document::Document;
use crate::hook::install::{InstallError, file};

/// One plugin named cmem, of whatever marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// As the agent writes it: `cmem@MARKETPLACE`.
    pub id: String,
    /// The version that the agent noted.
    pub version: String,
    /// Whether it is used; what was never said counts as yes for what is installed.
    pub is_enabled: bool,
    /// The agent's copy.
    pub copy: PathBuf,
}

/// All of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Where the marketplace `cmem-local` is, if it was added.
    pub marketplace: Option<PathBuf>,
    /// What is installed.
    pub plugins: Vec<Installed>,
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
        let mut plugins = Vec::new();
        for (id, entries) in listed.into_iter().flatten().filter(|(id, _)| is_cmem(id)) {
            // One entry for each scope; an object in the first version of the file.
            let entry = entries.get(0).unwrap_or(entries);
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            plugins.push(Installed {
                id: id.clone(),
                version: text("version"),
                is_enabled: is_enabled(places, id)?,
                copy: PathBuf::from(text("installPath")),
            });
        }
        Ok(Self { marketplace, plugins })
    }

    /// The one that `cmem install --plugin` made.
    pub fn own(&self) -> Option<&Installed> {
        self.plugins.iter().find(|plugin| plugin.id == ID)
    }

    /// One that is used, if there is any: it registers the events that it holds.
    pub fn in_use(&self) -> Option<&Installed> {
        self.plugins.iter().find(|plugin| plugin.is_enabled)
    }

    /// The events that the hooks of one register: those of the folder, which later versions of the agent read in place, or
    /// else of the agent's copy.
    pub fn events(&self, plugin: &Installed) -> Vec<String> {
        let folder =
            self.marketplace.as_ref().filter(|_| plugin.id == ID).map(|path| path.join("plugins/cmem"));
        let places = folder.into_iter().chain([plugin.copy.clone()]);
        let text = places.filter_map(|place| fs::read_to_string(place.join("hooks/hooks.json")).ok()).next();
        let value: Value = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
        let events = value.get("hooks").and_then(Value::as_object);
        events.into_iter().flat_map(|events| events.keys().cloned()).collect()
    }
}

fn is_cmem(id: &str) -> bool {
    id.split_once('@').is_some_and(|(name, _)| name == NAME)
}

/// The nearest settings decide: of the checkout, of the project, of the user.
fn is_enabled(places: &Places, id: &str) -> Result<bool, InstallError> {
    for (_, path) in places.settings.iter().rev() {
        let value = json(path)?;
        if let Some(said) = value.get("enabledPlugins").and_then(|all| all.get(id)) {
            return Ok(said != false);
        }
    }
    Ok(true)
}

/// A missing file says nothing.
fn json(path: &Path) -> Result<Value, InstallError> {
    let Some(text) = file::read(path)? else { return Ok(Value::Null) };
    let document = Document::parse(&text)
        .map_err(|error| InstallError::Parse { path: path.to_owned(), reason: error.to_string() })?;
    Ok(document.value().clone())
}
