//! Taking the plugin out: by the client's own commands where it is there, and then whatever names it still.

use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::WHAT;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::install::plugin::{self, Bundle, Folder, ID, Places, PluginError, State, Trace};
use crate::hook::install::{self, InstallError};

/// What was taken out, or would be.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    id: &'static str,
    dry_run: bool,
    /// Commands of the client.
    calls: Vec<String>,
    /// What named the plugin.
    traces: Vec<Trace>,
    /// The marketplace, if it was there; that of another data directory too.
    folders: Vec<PathBuf>,
    /// Plugins named cmem of other marketplaces. They stay.
    others: Vec<String>,
}

/// Takes it out; `None` when nothing of it is there.
///
/// # Errors
/// [`Failure`] when a file cannot be read, understood or written. Nothing is written unless all of them were understood.
pub(super) fn take_out(dry_run: bool, paths: &Paths) -> Result<Option<Answer>, Failure> {
    let failed = |error: PluginError| {
        let hint = error.hint();
        Failure::new(WHAT, error, hint)
    };
    let places =
        Places::find(&env::current_dir().unwrap_or_default()).map_err(|error| failed(error.into()))?;
    let state = State::read(&places).map_err(|error| failed(error.into()))?;
    let places = places.and_of(&state.projects);
    let traces = plugin::traces(&places).map_err(failed)?;
    let mut folders = vec![Folder::new(paths.marketplace())];
    folders.extend(state.marketplace.clone().map(Folder::new).filter(|other| !other.is_same(&folders[0])));
    folders.retain(Folder::holds_plugin);
    let others = state.plugins.iter().map(|plugin| plugin.id.clone()).filter(|id| id != ID).collect();
    if traces.is_empty() && folders.is_empty() {
        return Ok(None);
    }
    let mut calls = plugin::calls_to_leave(&state);
    if !calls.is_empty() && !install::installed_version(&CLAUDE_CODE).is_ok_and(plugin::takes_plugins) {
        calls.clear();
    }
    if !dry_run {
        // What the client cannot or will not do is done after it.
        calls.iter().for_each(|call| drop(plugin::carry_out(call)));
        plugin::sweep(&places).map_err(failed)?;
        folders.iter().try_for_each(Folder::remove).map_err(failed)?;
    }
    let folders = folders.iter().map(|folder| folder.path().to_owned()).collect();
    let calls = calls.iter().map(ToString::to_string).collect();
    Ok(Some(Answer { id: ID, dry_run, calls, traces, folders, others }))
}

/// Whether all that a settings file registers are the events that stand there because of the plugin.
pub(super) fn left_its_events(file: &Path) -> Result<bool, InstallError> {
    let registered = install::registered(file)?.commands;
    let is_further = |event: &str| Bundle::events().all(|held| held != event);
    Ok(!registered.is_empty() && registered.iter().all(|(event, _)| is_further(event)))
}

impl Answer {
    pub(super) fn tell(&self, printer: &mut Printer) {
        printer.data(&format!("{}{}", self.id, if self.dry_run { " would be taken out:" } else { ":" }));
        self.calls.iter().for_each(|call| printer.data(&format!("  {call}")));
        for Trace { path, part } in &self.traces {
            let part = if part.is_empty() { String::new() } else { format!(": {}", part.join(".")) };
            printer.data(&format!("  - {}{part}", path.display()));
        }
        self.folders.iter().for_each(|folder| printer.data(&format!("  - {}", folder.display())));
        for other in &self.others {
            printer.talk(&format!(
                "{other} is of another marketplace and stays: `claude plugin uninstall {other}`"
            ));
        }
    }
}
