//! OpenCode: <https://opencode.ai/docs/plugins>, for its versions 1. A plugin of ours (`opencode.js`) passes on what
//! its hooks are given, under their names, with the session's last message, which only the plugin sees.
//!
//! Seen by running 1.18.33.

use serde_json::{Value, json};

use super::dialect::Fields;
use super::said::{Said, Went, mcp_tool, renamed, shell, take, tool};
use crate::hook::wire::text_of;

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    let said = match event {
        "session.created" => Said::new("SessionStart").with("source", take(&mut fields, "source")),
        "chat.message" => Said::new("UserPromptSubmit").with("prompt", take(&mut fields, "prompt")),
        "tool.execute.before" => {
            let (name, input) = call(&mut fields);
            (name == "Read")
                .then(|| Said::new("PreToolUse").with("tool_name", name).with("tool_input", input))?
        }
        "tool.execute.after" => {
            let output = take(&mut fields, "output");
            let (name, input) = call(&mut fields);
            let went = went(&name, &output);
            tool((&name, input), went)
        }
        "session.idle" => {
            let event = if fields.contains_key("agent_id") { "SubagentStop" } else { "Stop" };
            Said::new(event).with("last_assistant_message", take(&mut fields, "said"))
        }
        "session.deleted" => Said::new("SessionEnd").with("reason", "deleted"),
        _ => return None,
    };
    said.with("session_id", take(&mut fields, "sessionID"))
        .with("prompt_id", take(&mut fields, "messageID"))
        .with("tool_use_id", take(&mut fields, "callID"))
        .with("agent_id", take(&mut fields, "agent_id"))
        .with("agent_type", take(&mut fields, "agent_type"))
        .with("cwd", take(&mut fields, "cwd"))
        .done()
}

fn call(fields: &mut Fields) -> (String, Value) {
    let name = text_of(&take(fields, "tool"));
    let input = take(fields, "args");
    if let Some(tool) = name.strip_prefix("cmem_") {
        return (mcp_tool("cmem", tool), input);
    }
    let path = ("filePath", "file_path");
    let (name, input) = match name.as_str() {
        "bash" => ("Bash", input),
        "read" => ("Read", renamed(input, &[path])),
        "edit" => ("Edit", renamed(input, &[path, ("oldString", "old_string"), ("newString", "new_string")])),
        "write" => ("Write", renamed(input, &[path])),
        "patch" | "apply_patch" => ("apply_patch", input),
        "list" => ("LS", input),
        "glob" => ("Glob", input),
        "grep" => ("Grep", input),
        "webfetch" => ("WebFetch", input),
        "task" => ("Task", input),
        _ => return (name, input),
    };
    (name.to_owned(), input)
}

fn went(name: &str, output: &Value) -> Went {
    let about = &output["metadata"];
    match name {
        "Bash" => {
            let text = about["output"].as_str().or(output["output"].as_str()).unwrap_or_default();
            shell(if text == "(no output)" { "" } else { text }, about["exit"].as_i64())
        }
        // As Claude Code gives it: without numbers and tags around the lines.
        "Read" if about["display"]["text"].is_string() => {
            Went::Well(json!({ "file": { "content": about["display"]["text"] } }))
        }
        "Edit" | "Write" | "apply_patch" => Went::Well(Value::Null),
        _ => Went::Well(Value::from(text_of(&output["output"]))),
    }
}
