//! Checks of what the user set up: the build, the settings, the observer, the registration.

use std::env;
use std::path::Path;

use super::{Check, plugin};
use crate::config::{Paths, Price, Provider, ReadGate, Settings, SettingsError, Sources};
use crate::hook::install::{self, Registration, Scope};
use crate::mode::Mode;
use crate::model::Timestamp;
use crate::observer;
use crate::store::{Store, require_sqlite_version};

/// Without these nothing is captured, or nothing is recalled.
const NEEDED: [&str; 4] = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"];
/// What the gate before reads is asked by.
const GATE: &str = "PreToolUse";

pub(super) fn sqlite() -> Check {
    match require_sqlite_version() {
        Ok(()) => Check::ok("sqlite", rusqlite::version()),
        Err(error) => Check::fail("sqlite", error.to_string(), "build cmem with its bundled SQLite"),
    }
}

pub(super) fn settings(sources: &Result<Sources, SettingsError>) -> Check {
    const NAME: &str = "settings";
    let sources = match sources {
        Ok(sources) => sources,
        Err(error) => return Check::fail(NAME, error.to_string(), "correct the file, or move it away"),
    };
    let (_, problems) = Settings::resolve_lenient(sources);
    if !problems.is_empty() {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Check::fail(NAME, problems.join("; "), "correct it with `cmem config set`");
    }
    let unknown = sources.unknown_keys();
    if !unknown.is_empty() {
        return Check::warn(
            NAME,
            format!("unknown: {}", unknown.join(", ")),
            "see `cmem config list` for the names",
        );
    }
    Check::ok(NAME, "every value is valid")
}

pub(super) fn observer(settings: &Settings, paths: &Paths) -> Check {
    const NAME: &str = "observer";
    if settings.off {
        return Check::warn(NAME, "capture and injection are switched off", "`cmem config set CMEM_OFF 0`");
    }
    let set_up = |settings: &Settings| {
        let mode = Mode::load(settings.mode.trim(), paths)?;
        observer::new(settings, paths, mode).map(|observer| observer.provider().name())
    };
    let provider = match set_up(settings) {
        Ok(provider) => provider,
        Err(error) => return Check::fail(NAME, error.to_string(), error.remedy()),
    };
    match settings.fallback_provider.map(|fallback| set_up(&settings.of_fallback(fallback))) {
        None => Check::ok(NAME, format!("provider {provider}")),
        Some(Ok(fallback)) => Check::ok(NAME, format!("provider {provider}, fallback {fallback}")),
        Some(Err(error)) => Check::warn(NAME, format!("CMEM_FALLBACK_PROVIDER: {error}"), error.remedy()),
    }
}

/// Whether a limit in dollars can count what is used.
pub(super) fn daily_limit(settings: &Settings, paths: &Paths) -> Option<Check> {
    const NAME: &str = "daily limit";
    if settings.daily_usd <= 0.0 {
        return None;
    }
    let week_ago = Timestamp::now().minus_days(7);
    let calls = Store::open_read_only(paths).and_then(|store| store.calls(week_ago)).unwrap_or_default();
    let used = calls.into_iter().filter(|count| count.dollars(&settings.prices).is_none());
    let mut unpriced: Vec<String> = used.map(|count| count.model).collect();
    // The command takes an alias, and says only with its answer which model that is.
    let provider = observer::effective(settings, paths);
    let asked = match settings.model.trim() {
        "" => observer::default_model(provider).unwrap_or_default(),
        model => model,
    };
    if !asked.is_empty()
        && !matches!(provider, Provider::Builtin | Provider::Claude)
        && Price::of(asked, &settings.prices).is_none()
        && !unpriced.iter().any(|model| model == asked)
    {
        unpriced.push(asked.to_owned());
    }
    let limit = settings.daily_usd;
    Some(if unpriced.is_empty() {
        Check::ok(NAME, format!("CMEM_DAILY_USD {limit}, and every model has a price"))
    } else {
        Check::warn(
            NAME,
            format!(
                "CMEM_DAILY_USD counts {} at the dearest price of CMEM_PRICES, which has none for it",
                unpriced.join(", ")
            ),
            "add its price to CMEM_PRICES (MODEL=0/0/0 if it is free), or use CMEM_DAILY_TOKENS",
        )
    })
}

const HOOKS: &str = "hooks";

fn gone(program: &Path, place: &str, remedy: &str) -> Check {
    let message = format!("{place} name {}, which is not there: these hooks do nothing", program.display());
    Check::warn(HOOKS, message, remedy)
}

pub(super) fn registration(settings: &Settings) -> Check {
    const NAME: &str = HOOKS;
    let cwd = env::current_dir().unwrap_or_default();
    let mut found = Vec::new();
    for scope in Scope::ALL {
        let registered = install::settings_file(scope, &cwd).and_then(|file| install::registered(&file));
        match registered {
            Ok(registration) if registration == Registration::default() => {}
            Ok(registration) => found.push((scope, registration)),
            Err(error) => return Check::fail(NAME, error.to_string(), error.hint()),
        }
    }
    if let Some((scope, _)) = found.iter().find(|(_, registration)| registration.hooks_disabled) {
        return Check::warn(
            NAME,
            format!("the {scope} settings switch every hook off"),
            "take disableAllHooks out of Claude Code's settings",
        );
    }
    let in_settings = found.iter().flat_map(|(_, registration)| &registration.commands);
    let mut events: Vec<String> = in_settings.map(|(event, _)| event.clone()).collect();
    let mut places: Vec<String> = found.iter().map(|(scope, _)| format!("the {scope} settings")).collect();
    let gone_of = |commands: &[(String, String)]| {
        commands.iter().find_map(|(_, command)| install::missing_program(command))
    };
    for (scope, registration) in &found {
        if let Some(program) = gone_of(&registration.commands) {
            let place = format!("the {scope} settings");
            let remedy = match scope {
                Scope::User => String::from("`cmem install`"),
                _ => format!("`cmem install --scope {scope}`"),
            };
            return gone(&program, &place, &remedy);
        }
    }
    if let Some((id, held)) = plugin::commands_in_use(&cwd) {
        if let Some(program) = gone_of(&held) {
            return gone(&program, &format!("the hooks of the plugin {id}"), plugin::RENEW);
        }
        events.extend(held.into_iter().map(|(event, _)| event));
        places.push(format!("the plugin {id}"));
    }
    let gate = (settings.read_gate != ReadGate::Off).then_some(GATE);
    let missing: Vec<&str> =
        NEEDED.into_iter().chain(gate).filter(|needed| events.iter().all(|event| event != needed)).collect();
    if !missing.is_empty() && plugin::is_off_here(&cwd) {
        let message = "the settings of this project switch the plugin off: nothing is captured";
        Check::warn(NAME, message, "take it out of their enabledPlugins, unless that is meant")
    } else if events.is_empty() {
        Check::warn(NAME, "not registered with Claude Code: nothing is captured", "`cmem install`")
    } else if missing.is_empty() {
        events.sort();
        events.dedup();
        Check::ok(NAME, format!("{} events in {}", events.len(), places.join(" and ")))
    } else {
        Check::warn(NAME, format!("not registered for {}", missing.join(", ")), "`cmem install`")
    }
}
