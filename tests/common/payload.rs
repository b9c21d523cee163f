//! Hook payloads in the shape that Claude Code 2.1 sends (see `fixtures/hook_payloads` for recorded ones).

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

/// The payload of `event` with the usual fields, then with `fields` on top; a null removes a field.
pub fn event(event: &str, cwd: &Path, fields: Value) -> Value {
    let mut payload = json!({
        "session_id": "session-1",
        "transcript_path": "/nonexistent/transcript.jsonl",
        "cwd": cwd,
        "permission_mode": "default",
        "hook_event_name": event,
    });
    let usual = match event {
        "PreToolUse" => {
            json!({"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": fresh_id()})
        }
        "PostToolUse" => json!({
            "tool_name": "Bash",
            "tool_input": {"command": "make", "description": "Build"},
            "tool_response": {"stdout": "ok", "stderr": "", "interrupted": false, "isImage": false},
            "tool_use_id": fresh_id(),
        }),
        "PostToolUseFailure" => json!({
            "tool_name": "Bash",
            "tool_input": {"command": "make"},
            "error": "Exit code 2\nmake: *** No targets.  Stop.",
            "is_interrupt": false,
            "tool_use_id": fresh_id(),
        }),
        "UserPromptSubmit" => json!({"prompt": "please go on"}),
        "Stop" => json!({"stop_hook_active": false, "last_assistant_message": "Done."}),
        "SubagentStop" => {
            json!({"agent_id": "a1", "agent_type": "general-purpose", "stop_hook_active": false,
                                 "last_assistant_message": "Found it."})
        }
        "SessionStart" => json!({"source": "startup"}),
        "SessionEnd" => json!({"reason": "other"}),
        "PreCompact" => json!({"trigger": "manual", "custom_instructions": ""}),
        _ => json!({}),
    };
    merge(&mut payload, usual);
    merge(&mut payload, fields);
    payload
}

/// A tool call whose output is `@@text@@`: the mock model makes one observation of it.
pub fn note(text: &str, cwd: &Path) -> Value {
    event("PostToolUse", cwd, json!({"tool_response": {"stdout": format!("@@{text}@@"), "stderr": ""}}))
}

/// A tool use id that no other payload of this process has.
pub fn fresh_id() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    format!("toolu_{:06}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn merge(into: &mut Value, from: Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else { panic!("payloads are objects") };
    for (key, value) in from {
        if value.is_null() {
            into.remove(&key);
        } else {
            into.insert(key, value);
        }
    }
}
