//! What a hook says: the context at session start, memories beside a prompt, and a notice when only the user can mend something.

use std::cell::LazyCell;
use std::ops::Deref;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::agents;
use crate::adopt;
use crate::config::{Paths, Settings};
use crate::git;
use crate::log;
use crate::mode::{Mode, fill};
use crate::model::{Event, Identity, Platform, StartSource, Timestamp};
use crate::render;
use crate::retrieve::{self, Branch, Ground};
use crate::spool::{Pause, Relief, SessionState, Shown, Spool, SpoolError, Trail};
use crate::store::{Store, StoreError};

/// The answer to a SessionStart, if there is anything to say. A spool that is only busy does not keep the context
/// back.
///
/// # Errors
/// [`SpoolError`] when events can be left for the drainer, but not taken in: the user must be told.
pub(super) fn session_start(
    paths: &Paths,
    settings: &Settings,
    trail: &Trail,
    event: &Event,
    identity: &Identity,
    source: StartSource,
) -> Result<Option<String>, SpoolError> {
    let spool = match Spool::open_for_hook(paths) {
        Ok(spool) => Some(spool),
        Err(error) if error.is_busy() => None,
        Err(error) => return Err(error),
    };
    let session = spool.as_ref().and_then(|spool| spool.session(&event.session).ok()).unwrap_or_default();
    let known = already_shown(spool.as_ref(), &session, trail, event, source);
    // Read only when there is something to say.
    let mode = LazyCell::new(|| mode(paths, settings));
    let shown_before = known.as_deref().unwrap_or_default();
    let asker = (event.platform, identity);
    let Memory { context, in_review } = match memory(paths, settings, &mode, asker, shown_before, &session) {
        Ok(memory) => memory,
        Err(StoreError::Missing { .. }) => Memory::default(),
        Err(error) => {
            log::error(paths, &format!("context at session start: {error}"));
            Memory::default()
        }
    };
    let notice = if session.notified { None } else { notice(paths, settings, &mode, spool.as_ref()) };
    let mut shown = Shown { observations: known.unwrap_or_default(), notice: notice.is_some() };
    let mut text = None;
    if let Some(context) = context {
        shown.observations.extend(&context.shown);
        text = Some(context.text);
    }
    // For the prompts to come, which do not open the spool.
    trail.add_told(&shown.observations, true)?;
    if let Some(spool) = spool {
        spool.set_shown(event, &shown)?;
    }
    // Said where a session begins; what goes on has heard it.
    let waiting = (in_review > 0 && source == StartSource::Startup)
        .then(|| format!("cmem: {}: `cmem review`", render::waiting_for_review(in_review)));
    let notices: Vec<String> = notice.into_iter().chain(waiting).collect();
    Ok(message(text.as_deref(), (!notices.is_empty()).then(|| notices.join("\n")).as_deref()))
}

/// What the memory has for a session that starts.
#[derive(Default)]
struct Memory {
    context: Option<render::RenderedContext>,
    /// How many memories of the project wait for the user.
    in_review: u64,
}

/// What the session's history holds already: nothing when it starts or was emptied.
fn already_shown(
    spool: Option<&Spool>,
    session: &SessionState,
    trail: &Trail,
    event: &Event,
    source: StartSource,
) -> Option<Vec<i64>> {
    match source {
        StartSource::Startup | StartSource::Clear | StartSource::Compact => None,
        StartSource::Resume | StartSource::Fork => {
            let latest = || spool.and_then(|spool| spool.latest_shown(&event.cwd).ok().flatten());
            let at_start = session.shown.clone().or_else(latest);
            let with_prompts = [at_start.clone().unwrap_or_default(), trail.told().to_vec()].concat();
            (at_start.is_some() || !with_prompts.is_empty()).then_some(with_prompts)
        }
    }
}

fn memory(
    paths: &Paths,
    settings: &Settings,
    mode: &impl Deref<Target = Mode>,
    (reader, identity): (Platform, &Identity),
    already_shown: &[i64],
    session: &SessionState,
) -> Result<Memory, StoreError> {
    let may = agents::abilities(reader).starts;
    if !may || settings.context_observations == 0 || settings.context_tokens == 0 {
        return Ok(Memory::default());
    }
    let store = Store::open_read_only(paths)?;
    bring_home(paths, &store, identity);
    let scope = retrieve::scope(&store, identity)?;
    let root = Path::new(&identity.root);
    let branch = Branch {
        name: identity.branch.clone(),
        files: git::changed_files(identity),
        ground: Ground::new(root, git::checkouts(root)),
    };
    let most = settings.context_observations;
    let mut plan = retrieve::context(&store, &scope, &identity.name, &branch, most, already_shown)?;
    retrieve::as_read_by(reader, &mut plan.observations);
    if !already_shown.is_empty() {
        // A session that goes on has seen every summary up to then.
        let seen_until = session.shown_at.unwrap_or_default();
        plan.summary = plan.summary.filter(|summary| summary.created_at > seen_until);
    }
    let in_review = retrieve::count_in_review(&store, &scope)?;
    if plan.observations.is_empty() && plan.summary.is_none() {
        return Ok(Memory { context: None, in_review });
    }
    let context = render::context(&plan, mode, settings.context_tokens, render::MAX_UNITS);
    Ok(Memory { context: (!context.text.is_empty()).then_some(context), in_review })
}

/// What was merged since the last session is part of this one's context already, if that can be found out quickly.
/// The drainer goes on where there is no time.
fn bring_home(paths: &Paths, store: &Store, identity: &Identity) {
    const PATIENCE: Duration = Duration::from_millis(150);
    if identity.worktree.is_none()
        && git::is_repository(identity)
        && let Ok(Some(due)) = adopt::due(store, identity, PATIENCE)
        && due.is_quick()
        && let Ok(writable) = Store::open_within(paths, PATIENCE)
        && let Err(error) = due.adopt(&writable)
    {
        log::error(paths, &format!("adopting merged worktrees: {error}"));
    }
}

/// The mode of the settings. One that cannot be used is recorded, and English takes its place.
fn mode(paths: &Paths, settings: &Settings) -> Mode {
    let (mode, problem) = Mode::load_or_english(settings, paths);
    if let Some(problem) = problem {
        log::error_once(paths, &format!("CMEM_MODE: {problem}"));
    }
    mode
}

fn notice(
    paths: &Paths,
    settings: &Settings,
    mode: &impl Deref<Target = Mode>,
    spool: Option<&Spool>,
) -> Option<String> {
    let pause = Pause::read(paths).filter(Pause::needs_user)?;
    let now = Timestamp::now();
    let labels = &mode.labels;
    let until = match pause.until {
        Some(until) if until > now => fill(&labels.until, &[("time", &until.local("%Y-%m-%d %H:%M"))]),
        _ => String::new(),
    };
    let takes_over = |relief: &Relief| pause.relieved_by(now, &pause.fingerprint, Some(*relief)).is_some();
    if let Some(relief) = Relief::of(settings).filter(takes_over) {
        let who = if relief.is_named { "fallback" } else { "observer" };
        return Some(render::line(&format!(
            "cmem: the observer is paused{until}: {} ({}). The {who} {} takes its place. What to do: {}",
            pause.message,
            pause.class,
            relief.provider.name(),
            pause.remedy
        )));
    }
    let waiting = spool.and_then(|spool| waiting(spool).ok()).unwrap_or_default();
    let values = [
        ("until", until.as_str()),
        ("why", &format!("{} ({})", pause.message, pause.class)),
        ("count", &waiting.to_string()),
        ("remedy", &pause.remedy),
    ];
    Some(render::line(&fill(&labels.paused, &values)))
}

/// How many events wait, those among them that nobody has taken in since the observer was paused.
fn waiting(spool: &Spool) -> Result<i64, SpoolError> {
    // What cannot be taken in now is a small part of it.
    let _ = spool.import();
    Ok(spool.status()?.waiting)
}

/// The notice of a hook that cannot keep anything.
pub(super) fn cannot_write(paths: &Paths, settings: &Settings, why: &str) -> Option<String> {
    let (mode, _) = Mode::load_or_english(settings, paths);
    let values = [("why", why), ("folder", &paths.root().display().to_string())];
    message(None, Some(&render::line(&fill(&mode.labels.unwritable, &values))))
}

/// The answer to a prompt that memories are told beside.
pub(super) fn beside_prompt(memories: &str) -> String {
    json!({ "hookSpecificOutput": additional("UserPromptSubmit", memories) }).to_string()
}

fn additional(event: &str, context: &str) -> Value {
    json!({ "hookEventName": event, "additionalContext": context })
}

/// One JSON object, or nothing when there is nothing to say.
fn message(context: Option<&str>, notice: Option<&str>) -> Option<String> {
    if context.is_none() && notice.is_none() {
        return None;
    }
    let mut reply = serde_json::Map::new();
    if let Some(context) = context {
        reply.insert(String::from("hookSpecificOutput"), additional("SessionStart", context));
    }
    if let Some(notice) = notice {
        reply.insert(String::from("systemMessage"), Value::from(notice));
    }
    Some(Value::Object(reply).to_string())
}
