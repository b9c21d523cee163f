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
    /// The marketplace, if it was there.
    folder: Option<PathBuf>,
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
    let traces = plugin::traces(&places).map_err(failed)?;
    let folder = Folder::new(paths.marketplace());
    let others = state.plugins.iter().map(|plugin| plugin.id.clone()).filter(|id| id != ID).collect();
    if traces.is_empty() && !folder.holds_plugin() {
        return Ok(None);
    }
    let mut calls = plugin::calls_to_leave(&state);
    if !calls.is_empty() && !install::installed_version(&CLAUDE_CODE).is_some_and(plugin::takes_plugins) {
        calls.clear();
    }
    let folder_there = folder.holds_plugin().then(|| folder.path().to_owned());
    if !dry_run {
        // What the client cannot or will not do is done after it.
        calls.iter().for_each(|call| drop(plugin::carry_out(call)));
        plugin::sweep(&places).map_err(failed)?;
        if folder_there.is_some() {
            folder.remove().map_err(failed)?;
        }
    }
    let calls = calls.iter().map(ToString::to_string).collect();
    Ok(Some(Answer { id: ID, dry_run, calls, traces, folder: folder_there, others }))
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
        self.folder.iter().for_each(|folder| printer.data(&format!("  - {}", folder.display())));
        for other in &self.others {
            printer.talk(&format!(
                "{other} is of another marketplace and stays: `claude plugin uninstall {other}`"
            ));
        }
    }
}
