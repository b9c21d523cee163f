//! Checks of cmem as a plugin of Claude Code, where anything of one is there.

use std::env;
use std::path::Path;

use super::Check;
use crate::config::Paths;
use crate::hook::install::plugin::{Bundle, Folder, ID, Installed, Places, Reach, State};
use crate::hook::install::{self, Scope};

const NAME: &str = "plugin";
pub(super) const RENEW: &str = "`cmem install --plugin`";

/// The plugin in use here with what it registers, by event.
pub(super) fn commands_in_use(cwd: &Path) -> Option<(String, Vec<(String, String)>)> {
    let state = State::read(&Places::find(cwd).ok()?).ok()?;
    let plugin = state.in_use()?;
    Some((plugin.id.clone(), state.commands(plugin)))
}

/// Whether the user has the plugin, and this project switches it off.
pub(super) fn is_off_here(cwd: &Path) -> bool {
    Places::find(cwd).and_then(|places| State::read(&places)).is_ok_and(|state| state.is_off_here())
}

pub(super) fn check(paths: &Paths) -> Option<Check> {
    let cwd = env::current_dir().unwrap_or_default();
    let state = match Places::find(&cwd).and_then(|places| State::read(&places)) {
        Ok(state) => state,
        Err(error) => return Some(Check::fail(NAME, error.to_string(), error.hint())),
    };
    let folder = Folder::new(paths.marketplace());
    if state == State::default() && !folder.holds_plugin() {
        return None;
    }
    let used: Vec<&Installed> = state.plugins.iter().filter(|plugin| plugin.is_enabled).collect();
    Some(match used[..] {
        [] => unused(&state),
        [plugin] => in_use(plugin, &state, &cwd),
        _ => {
            let names: Vec<&str> = used.iter().map(|plugin| plugin.id.as_str()).collect();
            Check::warn(
                NAME,
                format!("{} are all in use: each hook runs more than once", names.join(", ")),
                "`cmem uninstall --plugin`, or `claude plugin uninstall` the other",
            )
        }
    })
}

fn unused(state: &State) -> Check {
    match state.plugins.first() {
        Some(Installed { id, reach: Reach::Elsewhere, .. }) => {
            Check::ok(NAME, format!("{id} is for other projects alone"))
        }
        Some(plugin) if plugin.serves_user() => Check::warn(
            NAME,
            format!("{} is disabled by the settings of this project", plugin.id),
            "take it out of their enabledPlugins, unless that is meant",
        ),
        Some(plugin) => Check::warn(
            NAME,
            format!("{} is disabled", plugin.id),
            format!("`claude plugin enable {}`, or `cmem uninstall --plugin`", plugin.id),
        ),
        None => Check::warn(
            NAME,
            "its files are there, and Claude Code does not have it",
            format!("{RENEW}, or `cmem uninstall --plugin`"),
        ),
    }
}

fn in_use(plugin: &Installed, state: &State, cwd: &Path) -> Check {
    let Installed { id, version, .. } = plugin;
    if let Some(stale) = stale(plugin, state) {
        return stale;
    }
    let held: Vec<String> = state.commands(plugin).into_iter().map(|(event, _)| event).collect();
    if let Some((scope, events)) = doubled(&held, cwd) {
        let remedy = match scope {
            Scope::Project => String::from("`cmem uninstall --scope project`, if all who work on it agree"),
            _ => RENEW.to_owned(),
        };
        let count = match events {
            1 => String::from("1 event of it is"),
            more => format!("{more} events of it are"),
        };
        let message =
            format!("{count} in the {scope} settings too: kept and told once, but each hook runs twice");
        return Check::warn(NAME, message, remedy);
    }
    Check::ok(NAME, format!("{id} {version}: enabled"))
}

/// Another version than this program's, or files that are gone or were changed.
fn stale(plugin: &Installed, state: &State) -> Option<Check> {
    let Installed { id, version, .. } = plugin;
    if id != ID {
        let own = env!("CARGO_PKG_VERSION");
        let remedy = format!("`claude plugin update {id}`, or install that version of cmem");
        return (version != own)
            .then(|| Check::warn(NAME, format!("{id} is of version {version}, this is {own}"), remedy));
    }
    let bundle = match install::program() {
        Ok(program) => Bundle::local(&program),
        Err(error) => return Some(Check::fail(NAME, error.to_string(), error.hint())),
    };
    if version != bundle.version() {
        let message = format!("{id} {version} was written by another version of cmem, or from another path");
        return Some(Check::warn(NAME, message, RENEW));
    }
    let folder = Folder::new(state.marketplace.clone().unwrap_or_default());
    match folder.changes(&bundle) {
        Ok(changes) if changes.is_empty() => None,
        Ok(changes) => {
            let message = format!(
                "{} files in {} are not as they were written",
                changes.len(),
                folder.path().display()
            );
            Some(Check::warn(NAME, message, RENEW))
        }
        Err(error) => Some(Check::warn(NAME, error.to_string(), error.hint())),
    }
}

/// Settings that register what the plugin registers, with how many events.
fn doubled(held: &[String], cwd: &Path) -> Option<(Scope, usize)> {
    Scope::ALL.into_iter().find_map(|scope| {
        let file = install::settings_file(scope, cwd).ok()?;
        let commands = install::registered(&file).ok()?.commands;
        let count = commands.iter().filter(|(event, _)| held.contains(event)).count();
        (count > 0).then_some((scope, count))
    })
}
