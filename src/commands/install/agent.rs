//! `cmem install --for AGENT` and `cmem uninstall --for AGENT`.

use std::env;

use serde::Serialize;

use super::{FileAnswer, tell};
use crate::cli::printer::Printer;
use crate::error::Failure;
use crate::git;
use crate::hook::install::agent::{self, AgentPlan};
use crate::hook::install::{self, InstallError, Scope};
use crate::model::Platform;

#[derive(Serialize)]
struct Answer<'a> {
    agent: Platform,
    /// One of its programs is on the PATH.
    installed: bool,
    files: Vec<FileAnswer<'a>>,
    /// What is left for the user to do.
    notes: Vec<String>,
}

/// Registers cmem's hooks and its MCP server with an agent.
///
/// # Errors
/// [`Failure`] when a file cannot be read, understood or written. Nothing is written unless all were understood.
pub(super) fn register(
    platform: Platform,
    scope: Scope,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let failed = |error: InstallError| Failure::new("install", &error, error.hint());
    let cwd = env::current_dir().unwrap_or_default();
    let program = install::program().map_err(failed)?;
    let plans = AgentPlan::install(platform, scope, &cwd, &program).map_err(failed)?;
    let files = carry_out(&plans, dry_run).map_err(failed)?;
    let changes = files.iter().any(|file| !file.changes.is_empty());
    let installed = agent::is_installed(platform);
    let notes = notes(platform, installed, changes && !dry_run);
    answer(Answer { agent: platform, installed, files, notes }, printer);
    Ok(())
}

/// Takes all of it out again, from the settings of a scope, or of every one that the agent has.
///
/// # Errors
/// As [`register`].
pub(crate) fn unregister(
    platform: Platform,
    scope: Option<Scope>,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let failed = |error: InstallError| Failure::new("uninstall", &error, error.hint());
    let cwd = env::current_dir().unwrap_or_default();
    let program = install::program().map_err(failed)?;
    let mut plans: Vec<AgentPlan> = Vec::new();
    for one in Scope::ALL.into_iter().filter(|one| scope.is_none_or(|only| only == *one)) {
        let found = match AgentPlan::uninstall(platform, one, &cwd, &program) {
            Err(InstallError::NoScope { .. } | InstallError::NoDirectory) if scope.is_none() => continue,
            found => found.map_err(failed)?,
        };
        // In the home directory the user's files and the project's are the same.
        let is_new = |plan: &AgentPlan| {
            plans.iter().all(|other| git::resolve(other.path()) != git::resolve(plan.path()))
        };
        let new = found.into_iter().filter(is_new);
        plans.extend(new.collect::<Vec<_>>());
    }
    let files = carry_out(&plans, dry_run).map_err(failed)?;
    let installed = agent::is_installed(platform);
    answer(Answer { agent: platform, installed, files, notes: Vec::new() }, printer);
    Ok(())
}

fn carry_out(plans: &[AgentPlan], dry_run: bool) -> Result<Vec<FileAnswer<'_>>, InstallError> {
    let one = |plan| {
        let plan: &AgentPlan = plan;
        let backup = if dry_run { None } else { plan.apply()? };
        Ok(FileAnswer::new(plan.path(), dry_run, plan.changes(), backup))
    };
    plans.iter().map(one).collect()
}

fn answer(answer: Answer<'_>, printer: &mut Printer) {
    if printer.wants_json() {
        printer.json(&answer);
        return;
    }
    answer.files.iter().for_each(|file| tell(file, printer));
    answer.notes.iter().for_each(|note| printer.talk(note));
}

fn notes(platform: Platform, installed: bool, written: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let name = platform.title();
    if !installed {
        notes.push(format!("{name} is not on the PATH: what is written waits for it"));
    }
    if written {
        notes.extend(
            match platform {
                Platform::Codex => {
                    Some("Codex CLI runs hooks that you trust: type /hooks in it, and trust those of cmem")
                }
                Platform::Gemini => Some("Gemini CLI shows new hooks when it starts; /hooks lists them"),
                Platform::Cursor => Some("Cursor reads its hooks when it starts: restart it"),
                Platform::Windsurf => {
                    Some("Windsurf adds no text of hooks to a session: it is told to ask cmem")
                }
                _ => None,
            }
            .map(str::to_owned),
        );
        notes.push(String::from("Sessions that start from now on are remembered. `cmem doctor` checks it."));
    }
    notes
}
