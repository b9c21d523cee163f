//! `cmem hook`: read one event, strip and redact it, append it, maybe wake the drainer, answer.
//!
//! Never calls a model or the network, never waits for the drainer, always exits 0. What it cannot do it
//! leaves to the next hook.

pub mod agents;
mod decode;
mod guard;
pub mod install;
mod read;
mod reply;
mod triage;
mod wire;

use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use decode::Delivery;
pub use decode::{Decoded, Ignored, decode};
pub use read::{ReadError, read_value};

use crate::config::{Paths, Provider, Settings, Sources};
use crate::drain;
use crate::git;
use crate::log;
use crate::model::{Event, EventKind, Identity, Timestamp};
use crate::privacy::Cleaner;
use crate::spool::{Arrival, Shown, Spool, SpoolError};

/// How long stdin may stay incomplete: some clients never close it, some never write to it.
const STDIN_PATIENCE: Duration = Duration::from_secs(1);

/// Handles one hook call; returns what belongs on stdout, if anything.
pub fn run(event_argument: Option<&str>, data_dir: Option<&Path>, stdin: impl AsFd) -> Option<String> {
    if guard::is_observer() {
        return None;
    }
    let value = read_value(stdin, STDIN_PATIENCE).ok()?;
    let paths = Paths::resolve(data_dir).ok()?;
    let (settings, _) = Settings::resolve_lenient(
        &Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only()),
    );
    if settings.off {
        return None;
    }
    let cleaner = Cleaner::new(&settings.redact_patterns);
    let decoded = match decode(event_argument, value, &cleaner, Timestamp::now()) {
        Ok(decoded) => decoded,
        Err(ignored) => {
            if ignored.counts() {
                count_skipped(&paths, ignored.reason());
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
        Err(why) => is_start.then(|| reply::cannot_write(&paths, &why)).flatten(),
    }
}

fn handle(paths: &Paths, settings: &Settings, decoded: Decoded) -> Result<Option<String>, SpoolError> {
    let Decoded { event, delivery } = decoded;
    if let Some(reason) = guard::exclusion(Path::new(&event.cwd), settings) {
        count_skipped(paths, reason);
        return Ok(None);
    }
    let spool = match Spool::open_for_hook(paths) {
        Ok(spool) => spool,
        Err(error) => {
            let identity = git::identify(Path::new(&event.cwd));
            keep_aside(paths, &arrival(event, identity, &delivery), &error)?;
            // A database that is only busy will take the event in later; what is wrong with any other must be told.
            return if error.is_busy() { Ok(None) } else { Err(error) };
        }
    };
    let session = spool.session(&event.session).unwrap_or_default();
    let skip = match triage::skip_reason(&event, settings) {
        _ if session.private && event.kind.is_evidence() => Some("private"),
        reason => reason,
    };
    if let Some(reason) = skip {
        append(paths, &spool, &skipped(reason), None)?;
        return Ok(None);
    }
    let identity = identity(&spool, &event);
    let (output, shown) = match event.kind {
        EventKind::SessionStart { source } => {
            reply::session_start(paths, settings, &spool, &session, &event, &identity, source)
        }
        _ => (None, None),
    };
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let wakes = wakes_drainer(&event, settings);
    append(paths, &spool, &arrival(event, identity, &delivery), shown.as_ref())?;
    if wakes || spool.log_is_long() {
        drain::wake(paths, &spool, settings);
    }
    if starts {
        // After the wake: a session start itself does not call a provider that refuses the credentials.
        let _ = spool.grant_probe();
    }
    Ok(output)
}

/// Where the event happened: as stored at the session's first event there, looked up again only where the
/// commit matters, and never once the directory is gone.
fn identity(spool: &Spool, event: &Event) -> Identity {
    let known = spool.place(&event.session, &event.cwd).ok().flatten();
    let looks_again = matches!(
        event.kind,
        EventKind::SessionStart { .. } | EventKind::Stop { .. } | EventKind::WorktreeRemove { .. }
    );
    match known {
        Some(identity) if !looks_again || !Path::new(&event.cwd).is_dir() => identity,
        _ => git::identify(Path::new(&event.cwd)),
    }
}

/// A model may be shown any event; the builtin observer waits for whole turns, so that only what ends one
/// (also an interrupted one) is worth a process.
fn wakes_drainer(event: &Event, settings: &Settings) -> bool {
    settings.provider != Provider::Builtin
        || !matches!(event.kind, EventKind::Tool { .. } | EventKind::SubagentStop { .. })
}

fn arrival(event: Event, identity: Identity, delivery: &Delivery) -> Arrival {
    Arrival::Event {
        event: Box::new(event),
        identity: Box::new(identity),
        key: delivery.delivery_key().to_vec(),
        exact: delivery.is_exact(),
    }
}

fn skipped(reason: &str) -> Arrival {
    Arrival::Skipped { reason: reason.to_owned() }
}

fn count_skipped(paths: &Paths, reason: &str) {
    let arrival = skipped(reason);
    let _ = match paths.create().map(|()| Spool::open_for_hook(paths)) {
        Ok(Ok(spool)) => append(paths, &spool, &arrival, None),
        Ok(Err(error)) => keep_aside(paths, &arrival, &error),
        Err(_) => Ok(()),
    };
}

/// Appends to the spool, or beside it when the spool cannot be written in time.
fn append(paths: &Paths, spool: &Spool, arrival: &Arrival, shown: Option<&Shown>) -> Result<(), SpoolError> {
    match spool.append(arrival, shown) {
        Ok(_) => Ok(()),
        Err(error) => keep_aside(paths, arrival, &error),
    }
}

fn keep_aside(paths: &Paths, arrival: &Arrival, cause: &SpoolError) -> Result<(), SpoolError> {
    log::error(paths, &cause.to_string());
    arrival.append_to_overflow(paths)
}
