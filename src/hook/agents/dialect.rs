//! How each agent speaks: what its hooks send, put in the terms of Claude Code, and an answer put in its own.

use serde_json::{Map, Value, json};

use super::{codex, copilot, cursor, gemini, opencode, windsurf};
use crate::model::Platform;

/// What an agent lets a hook do, beside telling it what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::hook) struct Abilities {
    /// Its hooks may add text when a session starts.
    pub(in crate::hook) starts: bool,
    /// They may add text beside a prompt.
    pub(in crate::hook) prompts: bool,
    /// They may refuse the read of a file, saying why.
    pub(in crate::hook) refuses: bool,
    /// They may add text beside the read of a file.
    pub(in crate::hook) hints: bool,
}

/// The fields of a payload.
pub(super) type Fields = Map<String, Value>;

/// One agent's way of putting things.
struct Dialect {
    abilities: Abilities,
    /// From an event's name and payload to the payload that Claude Code would have sent; `None` = not ours.
    translate: fn(&str, Fields) -> Option<Fields>,
    /// From an answer to the agent's own; `None` = it has no words for it.
    answer: fn(&Answer) -> Option<Value>,
    /// What a hook prints that has nothing to say.
    silence: &'static str,
}

/// What is answered, whatever the agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// Claude Code's name of the event.
    pub(super) event: String,
    /// Text for the model.
    pub(super) context: Option<String>,
    /// Text for the user.
    pub(super) notice: Option<String>,
    /// Why the call is refused.
    pub(super) refusal: Option<String>,
}

const ALL: Abilities = Abilities { starts: true, prompts: true, refuses: true, hints: true };
const NONE: Abilities = Abilities { starts: false, prompts: false, refuses: false, hints: false };

fn dialect(platform: Platform) -> Option<Dialect> {
    Some(match platform {
        Platform::Claude => return None,
        Platform::Codex => Dialect {
            // It reads files with shell commands.
            abilities: Abilities { refuses: false, hints: false, ..ALL },
            translate: codex::translate,
            answer: as_claude_code,
            silence: "{}",
        },
        Platform::Cursor => Dialect {
            abilities: Abilities { starts: true, refuses: true, ..NONE },
            translate: cursor::translate,
            answer: cursor::answer,
            silence: "{}",
        },
        Platform::Gemini => Dialect {
            abilities: Abilities { hints: false, ..ALL },
            translate: gemini::translate,
            answer: gemini::answer,
            silence: "{}",
        },
        Platform::Opencode => {
            Dialect { abilities: ALL, translate: opencode::translate, answer: as_claude_code, silence: "{}" }
        }
        Platform::Windsurf => {
            Dialect { abilities: NONE, translate: windsurf::translate, answer: |_| None, silence: "" }
        }
        Platform::Copilot => {
            Dialect { abilities: ALL, translate: copilot::translate, answer: copilot::answer, silence: "{}" }
        }
    })
}

/// What the agent's hooks may do.
pub(in crate::hook) fn abilities(platform: Platform) -> Abilities {
    dialect(platform).map_or(ALL, |dialect| dialect.abilities)
}

/// What a hook prints that has nothing to say; empty = nothing at all.
pub fn silence(platform: Platform) -> &'static str {
    dialect(platform).map_or("{}", |dialect| dialect.silence)
}

/// Whose payload it is, where the call does not say: Cursor runs the hooks of Claude Code's settings too, if asked to.
pub(in crate::hook) fn sender(value: &Value) -> Platform {
    if value.get("cursor_version").is_some() { Platform::Cursor } else { Platform::Claude }
}

/// The payload in the terms of Claude Code, complete with its event's name. `None` for an event that is not ours.
pub(in crate::hook) fn translate(
    platform: Platform,
    event_argument: Option<&str>,
    value: Value,
) -> Option<Value> {
    let Some(dialect) = dialect(platform) else { return Some(value) };
    let Value::Object(fields) = value else { return None };
    let own = ["hook_event_name", "agent_action_name"];
    let name = own.iter().find_map(|key| fields.get(*key)?.as_str()).or(event_argument)?.to_owned();
    (dialect.translate)(name.trim(), fields).map(Value::Object)
}

/// An answer in Claude Code's form in the agent's own form; `None` = nothing to say.
pub(in crate::hook) fn answer(platform: Platform, reply: String) -> Option<String> {
    let Some(dialect) = dialect(platform) else { return Some(reply) };
    let reply: Value = serde_json::from_str(&reply).ok()?;
    let output = &reply["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let answer = Answer {
        event: text(&output["hookEventName"]).unwrap_or_default(),
        context: text(&output["additionalContext"]),
        notice: text(&reply["systemMessage"]),
        refusal: text(&output["permissionDecisionReason"]),
    };
    Some((dialect.answer)(&answer)?.to_string())
}

/// The form that several agents took over from Claude Code.
fn as_claude_code(answer: &Answer) -> Option<Value> {
    let mut reply = Map::new();
    let mut output = Map::new();
    if let Some(context) = &answer.context {
        output.insert(String::from("additionalContext"), json!(context));
    }
    if let Some(refusal) = &answer.refusal {
        output.insert(String::from("permissionDecision"), json!("deny"));
        output.insert(String::from("permissionDecisionReason"), json!(refusal));
    }
    if !output.is_empty() {
        output.insert(String::from("hookEventName"), json!(answer.event));
        reply.insert(String::from("hookSpecificOutput"), Value::Object(output));
    }
    if let Some(notice) = &answer.notice {
        reply.insert(String::from("systemMessage"), json!(notice));
    }
    (!reply.is_empty()).then_some(Value::Object(reply))
}
