//! A hook's payload as Claude Code sends it. Nothing here can fail: every field may be missing or of another
//! type, and what is not named is left out.
//!
//! Field names as recorded from versions 1.0.128 to 2.1.332, see `tests/fixtures/hook_payloads`.

use serde_json::{Map, Value};

/// The events that cmem hears of, by the client's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventName {
    SessionStart,
    UserPromptSubmit,
    /// Asked before a tool runs; never kept.
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    Stop,
    SubagentStop,
    PreCompact,
    SessionEnd,
    WorktreeRemove,
    /// Any other event, also one that does not exist yet.
    Other,
}

impl EventName {
    pub(super) fn from_name(name: &str) -> Self {
        match name {
            "SessionStart" => Self::SessionStart,
            "UserPromptSubmit" => Self::UserPromptSubmit,
            "PreToolUse" => Self::PreToolUse,
            "PostToolUse" => Self::PostToolUse,
            "PostToolUseFailure" => Self::PostToolUseFailure,
            "Stop" => Self::Stop,
            "SubagentStop" => Self::SubagentStop,
            "PreCompact" => Self::PreCompact,
            "SessionEnd" => Self::SessionEnd,
            "WorktreeRemove" => Self::WorktreeRemove,
            _ => Self::Other,
        }
    }

    /// The client's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::SessionEnd => "SessionEnd",
            Self::WorktreeRemove => "WorktreeRemove",
            Self::Other => "",
        }
    }
}

/// Every field that is read; null when missing.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) session_id: Value,
    /// Other spellings of `session_id`, by other agents and older clients.
    pub(super) session_id_camel: Value,
    pub(super) id: Value,
    pub(super) transcript_path: Value,
    pub(super) cwd: Value,
    pub(super) agent_id: Value,
    pub(super) agent_type: Value,
    pub(super) prompt_id: Value,
    pub(super) prompt: Value,
    pub(super) source: Value,
    pub(super) tool_name: Value,
    pub(super) tool_input: Value,
    pub(super) tool_response: Value,
    /// Where clients before 2.0 had `tool_response`.
    pub(super) tool_output: Value,
    pub(super) tool_use_id: Value,
    pub(super) error: Value,
    pub(super) last_assistant_message: Value,
    pub(super) custom_instructions: Value,
    pub(super) reason: Value,
    pub(super) worktree_path: Value,
}

impl Payload {
    pub(super) fn new(mut fields: Map<String, Value>) -> Self {
        let mut take = |name: &str| fields.swap_remove(name).unwrap_or_default();
        Self {
            session_id: take("session_id"),
            session_id_camel: take("sessionId"),
            id: take("id"),
            transcript_path: take("transcript_path"),
            cwd: take("cwd"),
            agent_id: take("agent_id"),
            agent_type: take("agent_type"),
            prompt_id: take("prompt_id"),
            prompt: take("prompt"),
            source: take("source"),
            tool_name: take("tool_name"),
            tool_input: take("tool_input"),
            tool_response: take("tool_response"),
            tool_output: take("tool_output"),
            tool_use_id: take("tool_use_id"),
            error: take("error"),
            last_assistant_message: take("last_assistant_message"),
            custom_instructions: take("custom_instructions"),
            reason: take("reason"),
            worktree_path: take("worktree_path"),
        }
    }
}

/// The text in a value: a string, or the texts of content blocks, one per line. Empty when there is none.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts = items.iter().map(text_of).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(map) => ["text", "content", "message"]
            .iter()
            .find_map(|key| map.get(*key))
            .map(text_of)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// A string or a number as an id; `None` when it is neither, or blank.
pub(super) fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
