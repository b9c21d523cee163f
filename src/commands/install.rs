//! `cmem install`: registers cmem's hooks with Claude Code, or with another agent.

pub(crate) mod agent;
mod plugin;
mod prices;

use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::hook::agents::{CLAUDE_CODE, Version};
use crate::hook::install::{self, Change, InstallError, Plan, Scope};
use crate::model::Platform;

/// Register cmem's hooks with Claude Code, or with another coding agent
///
/// Adds cmem's entries to Claude Code's settings and leaves everything else in the file as it is. The file as it
/// was is kept beside it (settings.json.cmem-backup). Run again, it changes nothing, or corrects the entries after
/// the program was moved or Claude Code was updated.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  cmem install --dry-run\n  cmem install --scope local\n  cmem install --plugin\n  cmem install --for codex"
)]
pub struct InstallArgs {
    /// The coding agent; others than Claude Code get the MCP server too
    #[arg(long = "for", value_name = "AGENT", default_value_t = Platform::Claude)]
    pub agent: Platform,
    /// Which settings to change; other agents have no local scope
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub scope: Scope,
    /// Show what would change and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// As a plugin, for all your projects: hooks, MCP server and skills
    #[arg(long, conflicts_with = "scope")]
    pub plugin: bool,
    /// Only write the plugin to this folder, to be published: its commands find cmem on the PATH
    #[arg(long, value_name = "DIR", requires = "plugin")]
    pub package: Option<PathBuf>,
}

#[derive(Serialize)]
struct Answer<'a> {
    client_version: Option<String>,
    /// The plugin that registers the other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    beside_plugin: Option<String>,
    prices: Vec<prices::Row>,
    #[serde(flatten)]
    file: FileAnswer<'a>,
}

/// What changed in one file, or would change.
#[derive(Serialize)]
pub(super) struct FileAnswer<'a> {
    file: String,
    dry_run: bool,
    changes: &'a [Change],
    backup: Option<String>,
    hooks_disabled: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the settings file cannot be read, understood or written; it is unchanged then.
pub fn run(args: &InstallArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    if !args.agent.is_claude() {
        refuse_plugin("install", args.plugin, args.agent)?;
        return agent::register(args.agent, args.scope, args.dry_run, printer);
    }
    if let Some(folder) = &args.package {
        return plugin::package(folder, args.dry_run, printer);
    }
    if args.plugin {
        return plugin::run(args.dry_run, paths, printer);
    }
    let failed = |error: InstallError| Failure::new("install", &error, error.hint());
    let cwd = env::current_dir().unwrap_or_default();
    let file = install::settings_file(args.scope, &cwd).map_err(failed)?;
    let program = install::program().map_err(failed)?;
    let asked = install::installed_version(&CLAUDE_CODE);
    let version = asked.ok();
    let plugin = plugin::registers_for(args.scope, &cwd);
    let plan = match plugin {
        Some(_) => Plan::install_beside_plugin(&file, &program, version),
        None => Plan::install(&file, &program, version),
    };
    let plan = plan.map_err(failed)?;
    let file = carry_out(&plan, args.dry_run).map_err(failed)?;
    let prices = prices::Prices::read(paths, prices::Look::of(args.dry_run, asked));
    if printer.wants_json() {
        let client_version = version.map(|version| version.to_string());
        let beside_plugin = plugin.map(|plugin| plugin.id);
        printer.json(&Answer { client_version, beside_plugin, prices: prices.rows, file });
        return Ok(());
    }
    tell(&file, printer);
    if let Some(plugin) = plugin {
        printer.talk(&plugin::registers_the_rest(&plugin, &program));
    }
    tell_version(version, printer);
    if file.hooks_disabled {
        printer.talk(&format!("\"disableAllHooks\" is true in this file: {} runs no hook", CLAUDE_CODE.name));
    }
    prices.lines().iter().for_each(|line| printer.talk(line));
    if !args.dry_run && !file.changes.is_empty() {
        printer.talk("Sessions that start from now on are remembered. `cmem doctor` checks it.");
    }
    Ok(())
}

/// The plugin is one of Claude Code.
pub(super) fn refuse_plugin(what: &str, plugin: bool, agent: Platform) -> Result<(), Failure> {
    let why = || format!("--plugin is for {} alone", CLAUDE_CODE.name);
    let hint = || format!("leave out --plugin, or --for {agent}");
    if plugin { Err(Failure::usage(what, why(), hint())) } else { Ok(()) }
}

fn tell_version(version: Option<Version>, printer: &mut Printer) {
    match version {
        Some(version) => printer.talk(&format!("{} {version}", CLAUDE_CODE.name)),
        None => printer.talk(&format!(
            "`{} --version` gives no answer: only events that every version knows are added",
            CLAUDE_CODE.program
        )),
    }
}

/// Makes the changes of one file, or only says what they are.
pub(super) fn carry_out(plan: &Plan, dry_run: bool) -> Result<FileAnswer<'_>, InstallError> {
    let backup = if dry_run { None } else { plan.apply()? };
    let answer = FileAnswer::new(plan.path(), dry_run, plan.changes(), backup);
    Ok(FileAnswer { hooks_disabled: plan.hooks_disabled(), ..answer })
}

impl<'a> FileAnswer<'a> {
    fn new(file: &Path, dry_run: bool, changes: &'a [Change], backup: Option<PathBuf>) -> Self {
        let backup = backup.map(|backup| backup.display().to_string());
        Self { file: file.display().to_string(), dry_run, changes, backup, hooks_disabled: false }
    }
}

/// What changed in one file, for people.
pub(super) fn tell(answer: &FileAnswer<'_>, printer: &mut Printer) {
    if answer.changes.is_empty() {
        printer.data(&format!("{}: nothing to do", answer.file));
        return;
    }
    printer.data(&format!("{}{}", answer.file, if answer.dry_run { " would change:" } else { ":" }));
    for change in answer.changes {
        printer.data(&format!("  {change}"));
    }
    if let Some(backup) = &answer.backup {
        printer.data(&format!("The file as it was: {backup}"));
    }
}
