//! `cmem install --plugin`: cmem as a plugin of Claude Code, in a marketplace of this machine's own.

use std::env;
use std::path::{self, Path};

use serde::Serialize;

use super::prices::{self, Look, Prices};
use super::{FileAnswer, carry_out, tell, tell_version};
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::hook::agents::{AgentKind, CLAUDE_CODE, Version};
use crate::hook::install::plugin::{
    self, Bundle, Call, FileChange, Folder, ID, Installed, Places, PluginError, State,
};
use crate::hook::install::{self, InstallError, NoVersion, Plan, Scope};

const WHAT: &str = "install";

#[derive(Serialize)]
struct Answer<'a> {
    client_version: Option<String>,
    plugin: PluginAnswer<'a>,
    files: &'a [FileAnswer<'a>],
    prices: Vec<prices::Row>,
}

/// The plugin, and what was done or would be done for it.
#[derive(Serialize)]
struct PluginAnswer<'a> {
    id: &'a str,
    version: &'a str,
    folder: String,
    dry_run: bool,
    files: &'a [FileChange],
    /// Commands of the client.
    calls: Vec<String>,
    /// What the user has to type in a session of the client, since its program was not found.
    by_hand: Vec<String>,
}

/// Writes the plugin, tells the client of it, and takes out of the user's settings what would be doubled.
///
/// # Errors
/// [`Failure`] when the client has no plugins, is not found or refuses, or a file cannot be read or written. The hooks in
/// the settings stay until the client has the plugin.
pub(super) fn run(dry_run: bool, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let cwd = env::current_dir().unwrap_or_default();
    let asked = install::installed_version(&CLAUDE_CODE);
    let version = asked.ok();
    if let Some(version) = version.filter(|version| !plugin::takes_plugins(*version)) {
        return Err(Failure::new(
            WHAT,
            format!("{} {version} has no plugins", CLAUDE_CODE.name),
            "update it, or use `cmem install` without --plugin",
        ));
    }
    let program = install::program().map_err(|error| failed(error.into()))?;
    let bundle = Bundle::local(&program);
    let folder = Folder::new(path::absolute(paths.marketplace()).unwrap_or_else(|_| paths.marketplace()));
    let places = Places::find(&cwd).map_err(|error| failed(error.into()))?;
    let changes = folder.changes(&bundle).map_err(failed)?;
    let state = State::read(&places).map_err(|error| failed(error.into()))?;
    let calls = plugin::calls(&state, folder.path(), bundle.version());
    let by_hand: &[Call] = if version.is_none() { &calls } else { &[] };
    let plans = || settings(&places, (&cwd, &program), version).map_err(|error| failed(error.into()));
    let mut planned = plans()?;

    if !dry_run {
        paths.create().map_err(|error| Failure::new(WHAT, error, "name another with --data-dir"))?;
        folder.write(&bundle, &changes).map_err(failed)?;
        if by_hand.is_empty() {
            register(&calls, &bundle, &places)?;
            // The client has written its settings itself.
            planned = plans()?;
            remove_other(&state, &folder).map_err(failed)?;
        }
    }
    // Without the plugin the hooks there are the only ones.
    let waits = dry_run || !by_hand.is_empty();
    let files: Result<Vec<_>, _> = planned.iter().map(|plan| carry_out(plan, waits)).collect();
    let files = files.map_err(|error| failed(error.into()))?;
    let answer = PluginAnswer {
        id: ID,
        version: bundle.version(),
        folder: folder.path().display().to_string(),
        dry_run,
        files: &changes,
        calls: calls.iter().map(ToString::to_string).collect(),
        by_hand: by_hand.iter().map(Call::within).collect(),
    };
    let prices = Prices::read(paths, Look::of(dry_run, asked));
    if printer.wants_json() {
        let client_version = version.map(|version| version.to_string());
        printer.json(&Answer { client_version, plugin: answer, files: &files, prices: prices.rows });
    } else {
        describe(&answer, printer);
        files.iter().for_each(|file| tell(file, printer));
        tell_version(version, printer);
        prices.lines().iter().for_each(|line| printer.talk(line));
        let is_changed = !changes.is_empty() || !calls.is_empty();
        if is_changed && !waits {
            printer.talk("Sessions that start from now on have the plugin. `cmem doctor` checks it.");
        }
    }
    match asked {
        Err(reason) if !dry_run && !by_hand.is_empty() => Err(to_be_typed(by_hand, reason)),
        _ => Ok(()),
    }
}

/// The marketplace of another data directory, which the client has left for this one.
fn remove_other(state: &State, folder: &Folder) -> Result<(), PluginError> {
    let other = state.marketplace.clone().map(Folder::new);
    match other.filter(|other| !other.is_same(folder) && other.holds_plugin()) {
        Some(other) => other.remove(),
        None => Ok(()),
    }
}

fn to_be_typed(calls: &[Call], reason: NoVersion) -> Failure {
    let AgentKind { name, program, .. } = CLAUDE_CODE;
    let typed: Vec<String> = calls.iter().map(|call| format!("`{}`", call.within())).collect();
    let why = match reason {
        NoVersion::NotFound => format!("the program `{program}` was not found on the PATH"),
        NoVersion::NoAnswer => format!("`{program} --version` gives no answer"),
    };
    Failure::new(
        WHAT,
        format!("{why}: the plugin is written and not registered"),
        format!("type {} in {name}, then run `cmem install --plugin` again", typed.join(" and ")),
    )
}

/// Has the client take the plugin, and looks whether it did.
fn register(calls: &[Call], bundle: &Bundle, places: &Places) -> Result<(), Failure> {
    calls.iter().try_for_each(plugin::carry_out).map_err(failed)?;
    let state = State::read(places).map_err(|error| failed(error.into()))?;
    let has_it = |own: &Installed| own.version == bundle.version() && own.serves_user();
    if state.own().is_some_and(has_it) {
        return Ok(());
    }
    Err(Failure::new(
        WHAT,
        format!("{} says that all went well, and does not use {ID} {}", CLAUDE_CODE.name, bundle.version()),
        "see `claude plugin list`",
    ))
}

/// What becomes of the settings that are the user's own: events that the plugin registers go, further ones stand in the
/// user's file. Those of a project are for everybody who works on it, and hooks in a checkout that has the plugin switched
/// off are its only ones.
fn settings(
    places: &Places,
    (cwd, program): (&Path, &str),
    version: Option<Version>,
) -> Result<Vec<Plan>, InstallError> {
    let user = install::settings_file(Scope::User, cwd)?;
    let mut plans = vec![Plan::install_beside_plugin(&user, program, version)?];
    if !State::read(places)?.is_off_here() {
        plans.push(Plan::uninstall(&install::settings_file(Scope::Local, cwd)?, program)?);
    }
    Ok(plans)
}

fn describe(answer: &PluginAnswer<'_>, printer: &mut Printer) {
    if answer.files.is_empty() && answer.calls.is_empty() {
        printer.data(&format!("{} {}: nothing to do", answer.id, answer.version));
        return;
    }
    let would = if answer.dry_run { " would change" } else { "" };
    printer.data(&format!("{} {} in {}{would}:", answer.id, answer.version, answer.folder));
    for change in answer.files {
        printer.data(&match change {
            FileChange::Write { file } => format!("  + {file}"),
            FileChange::Remove { file } => format!("  - {file}"),
        });
    }
    if answer.by_hand.is_empty() {
        let ran = if answer.dry_run { "would run" } else { "ran" };
        answer.calls.iter().for_each(|call| printer.data(&format!("{ran} {call}")));
    }
}

/// Writes the plugin for others, and tells nobody of it.
///
/// # Errors
/// [`Failure`] when the folder holds something else, or cannot be written.
pub(super) fn package(folder: &Path, dry_run: bool, printer: &mut Printer) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Packaged<'a> {
        version: &'a str,
        folder: String,
        dry_run: bool,
        files: &'a [FileChange],
    }
    let bundle = Bundle::published();
    let folder = Folder::new(folder.to_owned());
    let changes = folder.changes(&bundle).map_err(failed)?;
    if !dry_run {
        folder.write(&bundle, &changes).map_err(failed)?;
    }
    let shown = folder.path().display().to_string();
    if printer.wants_json() {
        printer.json(&Packaged { version: bundle.version(), folder: shown, dry_run, files: &changes });
    } else {
        let would = if dry_run { "would change" } else { "changed" };
        printer.data(&format!("{shown}: version {}, {} files {would}", bundle.version(), changes.len()));
    }
    Ok(())
}

/// The plugin that registers cmem's hooks already wherever settings of this scope count. What cannot be read is no reason to
/// register nothing.
pub(super) fn registers_for(scope: Scope, cwd: &Path) -> Option<Installed> {
    let state = State::read(&Places::find(cwd).ok()?).ok()?;
    match scope {
        Scope::User => state.serving_user().cloned(),
        // What is said for everybody in a repository does not depend on a plugin of one of them.
        Scope::Project => None,
        Scope::Local => state.in_use().cloned(),
    }
}

/// Why `cmem install` adds little.
pub(super) fn registers_the_rest(plugin: &Installed, program: &str) -> String {
    let Installed { id, version, .. } = plugin;
    let told = format!("The plugin {id} registers the other events");
    match id == ID && *version != Bundle::local(program).version() {
        true => format!("{told}; it is of another version: `cmem install --plugin`"),
        false => told,
    }
}

fn failed(error: PluginError) -> Failure {
    let hint = error.hint();
    Failure::new(WHAT, error, hint)
}
