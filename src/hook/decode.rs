//! From a hook's payload to an event: the one place where strings of the client become strings of cmem.

mod delivery;
mod patch;

use serde_json::{Map, Value};

pub(super) use delivery::Delivery;
pub(super) use patch::is_edit;

use super::wire::{EventName, Payload, id_of, text_of};
use crate::model::{Agent, Event, EventKind, OBSERVER_MARKER, Outcome, Platform, StartSource, Timestamp};
use crate::privacy::{self, Cleaner};

/// Most characters of an id; longer ones are replaced by a digest.
const MAX_ID_CHARS: usize = 128;

/// A larger prompt is not one of the client's own notices, whatever it starts with.
const MAX_NOTICE_BYTES: usize = 256 * 1024;

/// An event, and what makes two deliveries of it the same.
#[derive(Debug)]
pub struct Decoded {
    /// The cleaned event.
    pub event: Event,
    /// Its key.
    pub delivery: Delivery,
}

/// Why a payload is quietly left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// The payload is no JSON object.
    NotAnObject,
    /// An event that is not captured, or that no version of cmem knows yet.
    OtherEvent,
    /// The client's own agent that writes a summary when the context is compacted: its SubagentStop has an empty
    /// type.
    CompactionAgent,
    /// An agent that Claude Code 2.0 runs at every start to warm its cache.
    WarmupAgent,
    /// A SubagentStop without a message holds nothing. All of Claude Code up to 2.0.77, where real agents cannot
    /// be told from warm-up agents; their result is in the tool event of the call.
    SilentAgent,
    /// A prompt that the client sends itself when a background command ends.
    TaskNotification,
    /// A prompt or answer that is a request of cmem's own observer.
    OwnPrompt,
    /// A prompt without text.
    EmptyPrompt,
}

impl Ignored {
    /// Stable name for the ledger.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotAnObject => "not_an_object",
            Self::OtherEvent => "other_event",
            Self::CompactionAgent => "compaction_agent",
            Self::WarmupAgent => "warmup_agent",
            Self::SilentAgent => "silent_agent",
            Self::TaskNotification => "task_notification",
            Self::OwnPrompt => "own_prompt",
            Self::EmptyPrompt => "empty_prompt",
        }
    }

    /// Whether the ledger counts it: an event that cmem captures, left out on purpose.
    pub fn counts(self) -> bool {
        !matches!(self, Self::NotAnObject | Self::OtherEvent)
    }
}

/// Decodes and cleans one payload in the terms of Claude Code, which `agents::translate` puts others in. The event's name comes from the payload, else from the command line.
///
/// # Errors
/// [`Ignored`] when there is nothing to keep.
pub fn decode(
    platform: Platform,
    event_argument: Option<&str>,
    value: Value,
    cleaner: &Cleaner,
    now: Timestamp,
) -> Result<Decoded, Ignored> {
    let Value::Object(mut raw) = value else { return Err(Ignored::NotAnObject) };
    let name = event_name(&raw, event_argument);
    let screened = screen(name, &mut raw)?;
    if name == EventName::PostToolUse
        && raw.get("tool_name").and_then(Value::as_str).is_some_and(patch::is_edit)
    {
        patch::reduce(&mut raw);
    }
    let mut value = Value::Object(raw);
    cleaner.clean(&mut value);
    let Value::Object(cleaned) = value else { return Err(Ignored::NotAnObject) };
    let mut payload = Payload::new(cleaned);
    let kind = kind(name, &mut payload, screened)?;
    let session = session(&payload);
    let agent = agent(name, &payload);
    let delivery = Delivery::new(platform, &session, name, agent.as_ref(), &payload, &kind);
    let cwd = match &kind {
        // It happens in the worktree, wherever the session stands.
        EventKind::WorktreeRemove { path } => path.clone(),
        _ => payload.cwd.as_str().unwrap_or_default().to_owned(),
    };
    Ok(Decoded { event: Event { session, platform, at: now, cwd, agent, kind }, delivery })
}

/// The event that a payload is about.
pub(super) fn event_name(raw: &Map<String, Value>, argument: Option<&str>) -> EventName {
    let given = raw.get("hook_event_name").and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    EventName::from_name(given.or(argument).unwrap_or_default().trim())
}

/// What only the raw text shows.
#[derive(Debug, Clone, Copy, Default)]
struct Screened {
    /// The prompt is private as a whole.
    private: bool,
    /// There was a message; if none is left, it was taken out on purpose.
    had_message: bool,
}

fn screen(name: EventName, raw: &mut Map<String, Value>) -> Result<Screened, Ignored> {
    let mut screened = Screened::default();
    match name {
        EventName::Other | EventName::PreToolUse => return Err(Ignored::OtherEvent),
        EventName::UserPromptSubmit => {
            let prompt = raw.get("prompt").map(text_of).unwrap_or_default();
            if prompt.contains(OBSERVER_MARKER) {
                return Err(Ignored::OwnPrompt);
            }
            if is_task_notification(&prompt) {
                return Err(Ignored::TaskNotification);
            }
            screened.private = privacy::is_wholly_private(&prompt);
            if screened.private {
                raw.remove("prompt");
            }
        }
        EventName::SubagentStop => {
            match raw.get("agent_type").and_then(Value::as_str).map(str::trim) {
                Some("") => return Err(Ignored::CompactionAgent),
                Some(kind) if kind.eq_ignore_ascii_case("warmup") => return Err(Ignored::WarmupAgent),
                _ => {}
            }
            let message = raw.get("last_assistant_message").map(text_of).unwrap_or_default();
            if message.trim().is_empty() {
                return Err(Ignored::SilentAgent);
            }
            if message.contains(OBSERVER_MARKER) {
                return Err(Ignored::OwnPrompt);
            }
        }
        EventName::Stop => {
            let message = raw.get("last_assistant_message").map(text_of).unwrap_or_default();
            screened.had_message = !message.trim().is_empty();
            if message.contains(OBSERVER_MARKER) {
                raw.remove("last_assistant_message");
            }
        }
        _ => {}
    }
    Ok(screened)
}

/// Exactly one `<task-notification>` block and nothing around it.
fn is_task_notification(prompt: &str) -> bool {
    const CLOSE: &str = "</task-notification>";
    let prompt = prompt.trim();
    let Some(rest) = prompt.strip_prefix("<task-notification") else { return false };
    prompt.len() <= MAX_NOTICE_BYTES
        && rest.starts_with(|next: char| next == '>' || next.is_whitespace())
        && rest.find(CLOSE) == Some(rest.len().saturating_sub(CLOSE.len()))
}

fn kind(name: EventName, payload: &mut Payload, screened: Screened) -> Result<EventKind, Ignored> {
    Ok(match name {
        EventName::SessionStart => EventKind::SessionStart { source: source(&payload.source) },
        EventName::UserPromptSubmit => {
            let text = text_of(&payload.prompt).trim().to_owned();
            if text.is_empty() && !screened.private {
                return Err(Ignored::EmptyPrompt);
            }
            EventKind::Prompt { text, private: screened.private }
        }
        EventName::PostToolUse => {
            let mut response = payload.tool_response.take();
            if response.is_null() {
                response = payload.tool_output.take();
            }
            patch::restore(&mut response);
            tool(payload, Outcome::Response(response))
        }
        EventName::PostToolUseFailure => {
            let error = match (text_of(&payload.error), &payload.error) {
                (text, Value::Null) if text.is_empty() => String::from("failed"),
                (text, other) if text.is_empty() => other.to_string(),
                (text, _) => text,
            };
            tool(payload, Outcome::Error(error))
        }
        EventName::Stop => EventKind::Stop {
            message: some_text(&payload.last_assistant_message),
            transcript: some_text(&payload.transcript_path).filter(|_| !screened.had_message),
        },
        EventName::SubagentStop => {
            EventKind::SubagentStop { message: some_text(&payload.last_assistant_message) }
        }
        EventName::PreCompact => {
            EventKind::PreCompact { instructions: some_text(&payload.custom_instructions) }
        }
        EventName::SessionEnd => {
            EventKind::SessionEnd { reason: id_of(&payload.reason).unwrap_or_else(|| String::from("other")) }
        }
        EventName::WorktreeRemove => {
            let path = payload.worktree_path.as_str().or(payload.cwd.as_str()).unwrap_or_default().to_owned();
            EventKind::WorktreeRemove { path }
        }
        EventName::Other | EventName::PreToolUse => return Err(Ignored::OtherEvent),
    })
}

fn tool(payload: &mut Payload, outcome: Outcome) -> EventKind {
    let name = payload.tool_name.as_str().map(str::trim).filter(|name| !name.is_empty()).unwrap_or("unknown");
    let tool = name.chars().take(MAX_ID_CHARS).collect();
    EventKind::Tool { tool, input: payload.tool_input.take(), outcome }
}

fn source(value: &Value) -> StartSource {
    match value.as_str() {
        Some("resume") => StartSource::Resume,
        Some("fork") => StartSource::Fork,
        Some("clear") => StartSource::Clear,
        Some("compact") => StartSource::Compact,
        _ => StartSource::Startup,
    }
}

/// The client's session id. Without one the transcript's name, which is the session id in every client version,
/// else one name for each directory.
pub(super) fn session(payload: &Payload) -> String {
    let given = [&payload.session_id, &payload.session_id_camel, &payload.id].into_iter().find_map(id_of);
    let by_transcript = || {
        let path = std::path::Path::new(payload.transcript_path.as_str()?);
        Some(path.file_stem()?.to_string_lossy().into_owned())
    };
    let by_directory = || {
        let cwd = payload.cwd.as_str().unwrap_or_default();
        format!("unnamed-{}", delivery::digest(&[cwd.as_bytes()]))
    };
    bounded(given.or_else(by_transcript).unwrap_or_else(by_directory))
}

fn bounded(id: String) -> String {
    if id.chars().count() <= MAX_ID_CHARS {
        return id;
    }
    format!("long-{}", delivery::digest(&[id.as_bytes()]))
}

fn agent(name: EventName, payload: &Payload) -> Option<Agent> {
    let id = id_of(&payload.agent_id);
    if id.is_none() && name != EventName::SubagentStop {
        return None;
    }
    let kind = payload.agent_type.as_str().unwrap_or_default().chars().take(MAX_ID_CHARS).collect();
    Some(Agent { id: bounded(id.unwrap_or_default()), kind })
}

fn some_text(value: &Value) -> Option<String> {
    Some(text_of(value)).filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
