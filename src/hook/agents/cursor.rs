//! Cursor: <https://cursor.com/docs/agent/hooks>. Written by its documentation alone.
//!
//! Edits are taken from `afterFileEdit`, which documents what was replaced, and all other calls from `postToolUse`.
//! `stop` does not hold the last message: it is read from the transcript.

use serde_json::{Value, json};

use super::dialect::{Answer, Fields};
use super::said::{Said, Went, mcp_tool, renamed, shell, shell_of_unknown_end, take, tool};
use crate::hook::wire::{id_of, text_of};

/// cmem's own MCP tools: a payload names the tool, not its server.
const OWN_TOOLS: [&str; 7] =
    ["search", "timeline", "get_observations", "remember", "outline", "unfold", "context"];

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    let said = match event {
        "sessionStart" => Said::new("SessionStart"),
        "beforeSubmitPrompt" => Said::new("UserPromptSubmit").with("prompt", take(&mut fields, "prompt")),
        "preToolUse" => {
            let (name, input) = call(&mut fields)?;
            (name == "Read")
                .then(|| Said::new("PreToolUse").with("tool_name", name).with("tool_input", input))?
        }
        "postToolUse" => {
            let output = take(&mut fields, "tool_output");
            let (name, input) = call(&mut fields)?;
            let went = went(&name, output);
            tool((&name, input), went)
        }
        "postToolUseFailure" => {
            let error = text_of(&take(&mut fields, "error_message"));
            let (name, input) = call(&mut fields)?;
            tool((&name, input), Went::Badly(error))
        }
        "afterFileEdit" => {
            let input = json!({
                "file_path": take(&mut fields, "file_path"),
                "edits": take(&mut fields, "edits"),
            });
            tool(("MultiEdit", input), Went::Well(Value::Null))
        }
        "subagentStop" => Said::new("SubagentStop")
            .with("agent_id", take(&mut fields, "subagent_id"))
            .with("agent_type", take(&mut fields, "subagent_type"))
            .with("last_assistant_message", take(&mut fields, "summary")),
        "stop" => Said::new("Stop"),
        "preCompact" => Said::new("PreCompact"),
        "sessionEnd" => Said::new("SessionEnd").with("reason", take(&mut fields, "reason")),
        _ => return None,
    };
    let session = [take(&mut fields, "conversation_id"), take(&mut fields, "session_id")];
    let cwd = [take(&mut fields, "cwd"), take(&mut fields, "workspace_roots")];
    let place = |value: &Value| {
        let path = value.as_str().or_else(|| value.get(0)?.as_str());
        path.filter(|path| !path.is_empty()).map(str::to_owned)
    };
    said.with("session_id", session.iter().find_map(id_of))
        .with("prompt_id", take(&mut fields, "generation_id"))
        .with("tool_use_id", take(&mut fields, "tool_use_id"))
        .with("transcript_path", take(&mut fields, "transcript_path"))
        .with("cwd", cwd.iter().find_map(place))
        .done()
}

/// `None` for edits, which `afterFileEdit` tells.
fn call(fields: &mut Fields) -> Option<(String, Value)> {
    let name = text_of(&take(fields, "tool_name"));
    let input = take(fields, "tool_input");
    if let Some(tool) = name.strip_prefix("MCP:") {
        let tool = tool.trim();
        let server = if OWN_TOOLS.contains(&tool) { "cmem" } else { "mcp" };
        return Some((mcp_tool(server, tool), input));
    }
    let (name, input) = match name.as_str() {
        "Write" | "Edit" | "MultiEdit" | "StrReplace" | "ApplyPatch" | "EditNotebook" => return None,
        "Shell" => ("Bash", input),
        "Read" => ("Read", renamed(input, &[("path", "file_path"), ("target_file", "file_path")])),
        "LS" => ("LS", input),
        _ => return Some((name, input)),
    };
    Some((name.to_owned(), input))
}

/// The answer is JSON in a string.
fn went(name: &str, output: Value) -> Went {
    let output = match output {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        output => output,
    };
    if name != "Bash" {
        return Went::Well(output);
    }
    let code = ["exitCode", "exit_code"].iter().find_map(|key| output.get(*key)?.as_i64());
    let parts = ["output", "stdout", "stderr"].map(|key| output.get(key).and_then(Value::as_str));
    let text: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    match &output {
        Value::Object(_) if code.is_some() => shell(&text.join("\n"), code),
        Value::Object(_) => Went::Well(shell_of_unknown_end(&text.join("\n"))),
        other => Went::Well(shell_of_unknown_end(&text_of(other))),
    }
}

pub(super) fn answer(answer: &Answer) -> Option<Value> {
    if let Some(why) = &answer.refusal {
        return Some(json!({ "permission": "deny", "agent_message": why }));
    }
    let context = answer.context.as_ref().filter(|_| answer.event == "SessionStart");
    context.map(|context| json!({ "additional_context": context }))
}
