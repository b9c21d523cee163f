//! Codex CLI: <https://developers.openai.com/codex/hooks>. Events, fields and answers have the names of Claude Code.
//! Edits are calls of `apply_patch` with the patch as `command`; files are read with shell commands. A failed command
//! is not told from another one: its answer is what it printed.
//!
//! Seen by running 0.171.0.

use serde_json::Value;

use super::dialect::Fields;
use super::said::{shell_of_unknown_end, take};

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    if event == "PreToolUse" {
        return None;
    }
    let turn = take(&mut fields, "turn_id");
    fields.insert(String::from("prompt_id"), turn);
    fields.insert(String::from("hook_event_name"), Value::from(event));
    if event == "PostToolUse"
        && let Some(Value::String(text)) = fields.get_mut("tool_response")
    {
        let text = std::mem::take(text);
        if fields.get("tool_name").is_some_and(|name| name == "Bash") {
            fields.insert(String::from("tool_response"), shell_of_unknown_end(&text));
        } else if is_failure(&text) {
            fields.insert(String::from("hook_event_name"), Value::from("PostToolUseFailure"));
            fields.insert(String::from("error"), Value::from(text));
        } else {
            fields.insert(String::from("tool_response"), Value::from(text));
        }
    }
    Some(fields)
}

/// `Exit code: 1` and what follows; commands are answered by their output alone.
fn is_failure(text: &str) -> bool {
    let code = text.strip_prefix("Exit code: ").and_then(|rest| rest.lines().next());
    code.and_then(|code| code.trim().parse::<i64>().ok()).is_some_and(|code| code != 0)
}
