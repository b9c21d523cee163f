//! `cmem doctor`: judges by what came out, not by what is running, and names a remedy for each finding.

mod agents;
mod data;
mod embeddings;
mod files;
mod notices;
mod plugin;
mod selftest;
mod setup;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::cli::printer::Printer;
use crate::config::{Paths, Settings, Sources};
use crate::error::Failure;
use crate::render;

/// What a check came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    Warn,
    Fail,
}

/// One line of the report.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    message: String,
    /// What the user can do; empty when all is well.
    remedy: String,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, state: State::Ok, message: message.into(), remedy: String::new() }
    }

    fn warn(name: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Warn, message: message.into(), remedy: remedy.into() }
    }

    fn fail(name: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name, state: State::Fail, message: message.into(), remedy: remedy.into() }
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    checks: &'a [Check],
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a check failed.
pub fn run(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let sources = Sources::load(&paths.settings());
    let fallback = Sources::environment_only();
    let (settings, _) = Settings::resolve_lenient(sources.as_ref().unwrap_or(&fallback));
    let mut checks = vec![
        setup::sqlite(),
        setup::settings(&sources),
        setup::observer(&settings, paths),
        setup::registration(&settings),
        files::permissions(paths),
        files::file_system(paths),
        files::write_ahead_logs(paths),
    ];
    checks.extend(plugin::check(paths));
    checks.extend(agents::checks());
    checks.extend(data::memory(paths));
    checks.push(embeddings::check(&settings, paths));
    checks.extend(notices::check(&settings, paths));
    checks.extend(setup::daily_limit(&settings, paths));
    checks.extend(data::spool(paths));
    checks.push(selftest::check());

    let failed = checks.iter().filter(|check| check.state == State::Fail).count();
    if printer.wants_json() {
        printer.json(&Answer { ok: failed == 0, checks: &checks });
    } else {
        checks.iter().for_each(|check| print(check, printer));
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::new("doctor", "1 check failed", "its remedy is above")),
        more => Err(Failure::new("doctor", format!("{more} checks failed"), "their remedies are above")),
    }
}

fn print(check: &Check, printer: &mut Printer) {
    let (style, word) = match check.state {
        State::Ok => (AnsiColor::Green.on_default(), "ok  "),
        State::Warn => (AnsiColor::Yellow.on_default(), "warn"),
        State::Fail => (AnsiColor::Red.on_default().effects(Style::new().bold().get_effects()), "FAIL"),
    };
    printer.data(&format!("{style}{word}{style:#}  {:<12}  {}", check.name, render::line(&check.message)));
    if !check.remedy.is_empty() {
        printer.data(&format!("                    → {}", render::line(&check.remedy)));
    }
}
