//! `cmem hook`: read one event, strip and redact it, append it, maybe wake the drainer, answer.
//!
//! Never calls a model or the network, never waits for the drainer, always exits 0. What it cannot do it
//! leaves to the next hook.

pub mod agents;
mod decode;
mod gate;
mod guard;
pub mod install;
mod past;
mod prompt;
mod read;
mod reply;
mod triage;
mod wire;
mod words;

use std::env;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use decode::Delivery;
pub use decode::{Decoded, Ignored, decode};
pub(crate) use guard::{exclusion, is_observer};
pub use past::Past;
pub use read::{ReadError, parse_value, read_value};

use crate::config::{Paths, Settings, Sources};
use crate::drain;
use crate::git;
use crate::model::{Event, EventKind, Identity, Platform, Timestamp};
use crate::privacy::Cleaner;
use crate::spool::{Arrival, Pause, SpoolError, Trail};

/// How long stdin may stay incomplete: some clients never close it, some never write to it.
const STDIN_PATIENCE: Duration = Duration::from_secs(1);

/// Handles one hook call; returns what belongs on stdout, if anything. Without a `platform` it is Claude Code that calls,
/// or an agent whose payload says so.
pub fn run(
    platform: Option<Platform>,
    event_argument: Option<&str>,
    data_dir: Option<&Path>,
    stdin: impl AsFd,
) -> Option<String> {
    if guard::is_observer() {
        return None;
    }
    let value = read_value(stdin, STDIN_PATIENCE).ok()?;
    let platform = platform.unwrap_or_else(|| agents::sender(&value));
    let value = somewhere(platform, agents::translate(platform, event_argument, value)?);
    let reply = heard(platform, event_argument, data_dir, value)?;
    agents::answer(platform, reply)
}

/// Some agents do not say where it happens: they start their hooks there.
fn somewhere(platform: Platform, mut value: Value) -> Value {
    if let (false, Value::Object(fields)) = (platform.is_claude(), &mut value)
        && fields.get("cwd").is_none_or(|cwd| cwd.as_str().is_none_or(str::is_empty))
        && let Ok(cwd) = env::current_dir()
    {
        fields.insert(String::from("cwd"), Value::from(cwd.to_string_lossy()));
    }
    value
}

/// Handles a payload in the terms of Claude Code; the answer is in its form.
fn heard(
    platform: Platform,
    event_argument: Option<&str>,
    data_dir: Option<&Path>,
    value: Value,
) -> Option<String> {
    let paths = Paths::resolve(data_dir).ok()?;
    let (settings, _) = Settings::resolve_lenient(
        &Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only()),
    );
    if settings.off {
        return None;
    }
    let cleaner = Cleaner::new(&settings.redact_patterns);
    if gate::asks(event_argument, &value) {
        return gate::answer(&paths, &settings, platform, value, &cleaner);
    }
    let decoded = match decode(platform, event_argument, value, &cleaner, Timestamp::now()) {
        Ok(decoded) => decoded,
        Err(ignored) => {
            if ignored.counts() {
                let _ = paths.create().map(|()| skipped(ignored.reason()).append(&paths));
            }
            return None;
        }
    };
    let is_start = matches!(decoded.event.kind, EventKind::SessionStart { .. });
    let taken = paths
        .create()
        .map_err(|error| error.to_string())
        .and_then(|()| handle(&paths, &settings, decoded).map_err(|error| error.to_string()));
    match taken {
        Ok(output) => output,
        // Nothing else of this session will be kept either: the one place where the user is told.
        Err(why) => is_start.then(|| reply::cannot_write(&paths, &settings, &why)).flatten(),
    }
}

fn handle(paths: &Paths, settings: &Settings, decoded: Decoded) -> Result<Option<String>, SpoolError> {
    let Decoded { event, delivery } = decoded;
    if let Some(reason) = guard::exclusion_of(event.platform, Path::new(&event.cwd), settings) {
        skipped(reason).append(paths)?;
        return Ok(None);
    }
    let trail = Trail::read(paths, event.platform, &event.session);
    let at = event.at;
    // What cannot be claimed is said twice at worst.
    let may_answer = || trail.claim(&delivery.delivery_key(), &guard::registrar(), at).unwrap_or(true);
    gate::follow(paths, &trail, &event, &may_answer);
    if matches!(event.kind, EventKind::SessionEnd { .. }) {
        // Whoever misses it waits for the end of the turn.
        let _ = trail.end();
    }
    let skip = match triage::skip_reason(&event, settings) {
        _ if trail.is_private() && event.kind.is_evidence() => Some("private"),
        reason => reason,
    };
    if let Some(reason) = skip {
        skipped(reason).append(paths)?;
        return Ok(None);
    }
    let identity = identity(&trail, &event);
    let reply = match (&event.kind, &identity) {
        (EventKind::SessionStart { source }, Some(identity)) if may_answer() => {
            reply::session_start(paths, settings, &trail, &event, identity, *source)
        }
        _ => Ok(None),
    };
    let asked = prompt::asked(&event, settings).and_then(|asked| Some((asked, identity.clone()?)));
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let wakes = wakes_drainer(paths, &event, settings);
    let places = identity.is_some().then(|| event.cwd.clone());
    if let EventKind::Prompt { private, .. } = event.kind {
        // Before the prompt itself: what follows must not be kept by mistake. A public one is kept in any case.
        let begun = trail.begin_turn(private);
        if private {
            begun?;
        }
    }
    let length = arrival(event, identity, &delivery).append(paths)?;
    if let Some(cwd) = places {
        trail.add_place(&cwd)?;
    }
    // The prompt is kept already, whatever becomes of this.
    let recalled = asked.and_then(|(asked, identity)| {
        prompt::recalled(paths, settings, &trail, &identity, &asked, &may_answer)
    });
    if wakes || length.is_long() {
        drain::wake(paths, settings);
    }
    if starts {
        // After the wake: a session start itself does not call a provider that refuses the credentials.
        Pause::grant_probe(paths)?;
    }
    Ok(reply?.or_else(|| recalled.map(|text| reply::beside_prompt(&text))))
}

/// Where the event happened: looked up at the session's first event in a directory and where the commit matters.
/// `None` = as known, also because the directory is gone.
fn identity(trail: &Trail, event: &Event) -> Option<Identity> {
    let directory = Path::new(&event.cwd);
    let is_known = trail.knows(&event.cwd);
    let looks_again = match &event.kind {
        EventKind::Tool { input, .. } => moves_head(input),
        EventKind::SubagentStop { .. } => false,
        _ => true,
    };
    (!is_known || looks_again && directory.is_dir()).then(|| git::identify(directory))
}

/// Whether a command may have changed the branch or its commit.
fn moves_head(input: &Value) -> bool {
    const VERBS: [&str; 12] = [
        "commit",
        "merge",
        "rebase",
        "worktree",
        "branch",
        "push",
        "pull",
        "checkout",
        "switch",
        "reset",
        "cherry-pick",
        "revert",
    ];
    let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
    command.contains("git") && VERBS.iter().any(|verb| command.contains(verb))
}

/// A model may be shown any event; the builtin observer waits for whole turns, so that only what ends one
/// (also an interrupted one) is worth a process.
fn wakes_drainer(paths: &Paths, event: &Event, settings: &Settings) -> bool {
    !matches!(event.kind, EventKind::Tool { .. } | EventKind::SubagentStop { .. })
        || !drain::waits_for_turns(paths, settings)
}

fn arrival(event: Event, identity: Option<Identity>, delivery: &Delivery) -> Arrival {
    Arrival::Event {
        event: Box::new(event),
        identity: identity.map(Box::new),
        key: delivery.delivery_key().to_vec(),
        exact: delivery.is_exact(),
    }
}

fn skipped(reason: &str) -> Arrival {
    Arrival::Skipped { reason: reason.to_owned() }
}
