//! `cmem uninstall`: removes cmem's hooks from Claude Code's settings.

use std::env;

use serde::Serialize;

use super::install::{FileAnswer, agent, carry_out, tell};
use crate::cli::printer::Printer;
use crate::error::Failure;
use crate::hook::install::{self, InstallError, Plan, Scope};
use crate::model::Platform;

/// Remove cmem's hooks from Claude Code, or from another coding agent
///
/// Removes exactly the entries that run cmem, from the settings of every scope or of one. What was remembered
/// stays in the data directory.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cmem uninstall --dry-run\n  cmem uninstall --scope project\n  cmem uninstall --for codex"
)]
pub struct UninstallArgs {
    /// The coding agent; from others than Claude Code the MCP server is removed too
    #[arg(long = "for", value_name = "AGENT", default_value_t = Platform::Claude)]
    pub agent: Platform,
    /// Only the settings of this scope; without it all, as seen from the current directory
    #[arg(long, value_enum)]
    pub scope: Option<Scope>,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    files: &'a [FileAnswer<'a>],
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a settings file cannot be read, understood or written. Nothing is written unless all of them
/// were understood.
pub fn run(args: &UninstallArgs, printer: &mut Printer) -> Result<(), Failure> {
    if !args.agent.is_claude() {
        return agent::unregister(args.agent, args.scope, args.dry_run, printer);
    }
    let failed = |error: InstallError| Failure::new("uninstall", &error, error.hint());
    let cwd = env::current_dir().unwrap_or_default();
    let program = install::program().map_err(failed)?;
    let mut plans: Vec<Plan> = Vec::new();
    for scope in Scope::ALL.into_iter().filter(|scope| args.scope.is_none_or(|only| only == *scope)) {
        let file = install::settings_file(scope, &cwd).map_err(failed)?;
        // In the home directory the user's file and the project's are one.
        if plans.iter().all(|plan| plan.path() != file) {
            plans.push(Plan::uninstall(&file, &program).map_err(failed)?);
        }
    }
    let mut files = Vec::new();
    for plan in &plans {
        files.push(carry_out(plan, args.dry_run).map_err(failed)?);
    }
    if printer.wants_json() {
        printer.json(&Answer { files: &files });
        return Ok(());
    }
    files.iter().for_each(|file| tell(file, printer));
    Ok(())
}
