//! `cmem uninstall`: takes cmem out of Claude Code again, hooks and plugin.

mod plugin;

use std::env;

use serde::Serialize;

use super::install::{FileAnswer, agent, carry_out, refuse_plugin, tell};
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::hook::install::{self, InstallError, Plan, Scope};
use crate::model::Platform;

const WHAT: &str = "uninstall";

/// Take cmem out of Claude Code, or of another coding agent
///
/// Removes exactly the entries that run cmem from the settings of every scope or of one, and the plugin with everything that
/// Claude Code keeps of it. What was remembered stays in the data directory.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cmem uninstall --dry-run\n  cmem uninstall --scope project\n  cmem uninstall --plugin\n  cmem uninstall --for codex"
)]
pub struct UninstallArgs {
    /// The coding agent; from others than Claude Code the MCP server is removed too
    #[arg(long = "for", value_name = "AGENT", default_value_t = Platform::Claude)]
    pub agent: Platform,
    /// Only the settings of this scope; without it all, as seen from the current directory, and the plugin
    #[arg(long, value_enum)]
    pub scope: Option<Scope>,
    /// Only the plugin
    #[arg(long, conflicts_with = "scope")]
    pub plugin: bool,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    files: &'a [FileAnswer<'a>],
    plugin: Option<plugin::Answer>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a settings file or a file of the plugin cannot be read, understood or written. Nothing is written unless
/// all of them were understood.
pub fn run(args: &UninstallArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    if !args.agent.is_claude() {
        refuse_plugin(WHAT, args.plugin, args.agent)?;
        return agent::unregister(args.agent, args.scope, args.dry_run, printer);
    }
    let failed = |error: InstallError| Failure::new(WHAT, &error, error.hint());
    plans(args).map_err(failed)?;
    let plugin = match args.scope {
        Some(_) => None,
        None => plugin::take_out(args.dry_run, paths)?,
    };
    // The client rewrites its settings when the plugin goes: they are read again.
    let plans = plans(args).map_err(failed)?;
    let mut files = Vec::new();
    for plan in &plans {
        files.push(carry_out(plan, args.dry_run).map_err(failed)?);
    }
    if printer.wants_json() {
        printer.json(&Answer { files: &files, plugin });
        return Ok(());
    }
    match plugin {
        Some(plugin) => plugin.tell(printer),
        None if args.plugin => printer.data("the plugin is not installed: nothing to do"),
        None => {}
    }
    files.iter().for_each(|file| tell(file, printer));
    Ok(())
}

/// What has to go from the settings.
fn plans(args: &UninstallArgs) -> Result<Vec<Plan>, InstallError> {
    let cwd = env::current_dir().unwrap_or_default();
    let program = install::program()?;
    let mut plans: Vec<Plan> = Vec::new();
    for scope in Scope::ALL.into_iter().filter(|scope| args.scope.is_none_or(|only| only == *scope)) {
        let file = install::settings_file(scope, &cwd)?;
        if args.plugin && !plugin::left_its_events(&file)? {
            continue;
        }
        // In the home directory the user's file and the project's are one.
        if plans.iter().all(|plan| git::resolve(plan.path()) != git::resolve(&file)) {
            plans.push(Plan::uninstall(&file, &program)?);
        }
    }
    Ok(plans)
}
