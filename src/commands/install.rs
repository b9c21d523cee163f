//! `cmem install`: registers cmem's hooks with Claude Code.

use std::env;
use std::io::{self, Write};
use std::path::Path;

use crate::error::Failure;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::install::{self, InstallError, Plan, Scope};

/// Register cmem's hooks with Claude Code
///
/// Adds cmem's entries to Claude Code's settings and leaves everything else in the file as it is. The file as it
/// was is kept beside it (settings.json.cmem-backup). Run again, it changes nothing, or corrects the entries after
/// the program was moved or Claude Code was updated.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cmem install --dry-run\n  cmem install --scope local")]
pub struct InstallArgs {
    /// Which settings file to change
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub scope: Scope,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Runs the command; what it did goes to `out`.
///
/// # Errors
/// [`Failure`] when the settings file cannot be read, understood or written; it is unchanged then.
pub fn run(args: &InstallArgs, out: &mut impl Write) -> Result<(), Failure> {
    let failed = |error: InstallError| Failure::new("install", &error, error.hint());
    let cwd = env::current_dir().unwrap_or_default();
    let file = install::settings_file(args.scope, &cwd).map_err(failed)?;
    let program = install::program().map_err(failed)?;
    let version = install::installed_version(&CLAUDE_CODE);
    let plan = Plan::install(&file, &program, version).map_err(failed)?;
    let backup = if args.dry_run { None } else { plan.apply().map_err(failed)? };
    let told = report(&plan, args.dry_run, backup.as_deref(), out).and_then(|()| {
        match version {
            Some(version) => writeln!(out, "{} {version}", CLAUDE_CODE.name)?,
            None => writeln!(
                out,
                "`{} --version` gives no answer: only events that every version knows are added",
                CLAUDE_CODE.program
            )?,
        }
        if plan.hooks_disabled() {
            writeln!(out, "\"disableAllHooks\" is true in this file: {} runs no hook", CLAUDE_CODE.name)?;
        }
        if args.dry_run || plan.changes().is_empty() {
            return Ok(());
        }
        writeln!(out, "Sessions that start from now on are remembered. `cmem doctor` checks it.")
    });
    told.map_err(unwritable)
}

/// Says what changed in one file, or would change.
pub(super) fn report(
    plan: &Plan,
    dry_run: bool,
    backup: Option<&Path>,
    out: &mut impl Write,
) -> io::Result<()> {
    let file = plan.path().display();
    if plan.changes().is_empty() {
        return writeln!(out, "{file}: nothing to do");
    }
    writeln!(out, "{file}{}", if dry_run { " would change:" } else { ":" })?;
    for change in plan.changes() {
        writeln!(out, "  {change}")?;
    }
    match backup {
        Some(backup) => writeln!(out, "The file as it was: {}", backup.display()),
        None => Ok(()),
    }
}

/// The output went away or cannot be written.
pub(super) fn unwritable(error: io::Error) -> Failure {
    Failure::new("output", error, "the settings are changed as far as they were listed")
}
