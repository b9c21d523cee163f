//! GitHub Copilot CLI: <https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference>.
//! The payload does not hold its event's name, which comes with the call.
//!
//! Seen by running 1.0.102: the last message of a turn is only in the transcript, and the end of a command's answer
//! tells its exit code.

use serde_json::{Value, json};

use super::dialect::{Answer, Fields};
use super::said::{Said, Went, mcp_tool, renamed, shell, shell_of_unknown_end, take, tool};
use crate::hook::wire::text_of;

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    let said = match event {
        "sessionStart" => Said::new("SessionStart").with("source", take(&mut fields, "source")),
        "userPromptSubmitted" => Said::new("UserPromptSubmit").with("prompt", take(&mut fields, "prompt")),
        "preToolUse" => {
            let (name, input) = call(&mut fields)?;
            (name == "Read")
                .then(|| Said::new("PreToolUse").with("tool_name", name).with("tool_input", input))?
        }
        "postToolUse" => {
            let result = take(&mut fields, "toolResult");
            let (name, input) = call(&mut fields)?;
            let went = went(&name, &result);
            tool((&name, input), went)
        }
        "postToolUseFailure" => {
            let error = text_of(&take(&mut fields, "error"));
            let (name, input) = call(&mut fields)?;
            tool((&name, input), Went::Badly(error))
        }
        "agentStop" => Said::new("Stop"),
        "preCompact" => {
            Said::new("PreCompact").with("custom_instructions", take(&mut fields, "customInstructions"))
        }
        "sessionEnd" => Said::new("SessionEnd").with("reason", take(&mut fields, "reason")),
        _ => return None,
    };
    said.with("session_id", take(&mut fields, "sessionId"))
        .with("transcript_path", take(&mut fields, "transcriptPath"))
        .with("cwd", take(&mut fields, "cwd"))
        .done()
}

/// `None` for what only serves the program itself.
fn call(fields: &mut Fields) -> Option<(String, Value)> {
    let name = text_of(&take(fields, "toolName"));
    let input = match take(fields, "toolArgs") {
        // As documented first; a patch is no JSON.
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        input => input,
    };
    if let Some(tool) = name.strip_prefix("cmem-") {
        return Some((mcp_tool("cmem", tool), input));
    }
    let (name, input) = match name.as_str() {
        "report_intent" | "update_todo" | "sql" => return None,
        "bash" | "powershell" => ("Bash", input),
        "read_bash" | "read_powershell" => ("BashOutput", input),
        "view" => ("Read", part(renamed(input, &[("path", "file_path")]))),
        "edit" | "str_replace" => (
            "Edit",
            renamed(input, &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
        ),
        "create" => ("Write", renamed(input, &[("path", "file_path"), ("file_text", "content")])),
        "grep" | "rg" => ("Grep", input),
        "glob" => ("Glob", input),
        "web_fetch" => ("WebFetch", input),
        "task" => ("Task", input),
        _ => return Some((name, input)),
    };
    Some((name.to_owned(), input))
}

/// `view_range`, from the first to the last line, as an offset.
fn part(mut input: Value) -> Value {
    if let Value::Object(fields) = &mut input
        && let Some(range) = fields.swap_remove("view_range").filter(|range| !range.is_null())
    {
        fields.insert(String::from("offset"), range.get(0).cloned().unwrap_or_default());
    }
    input
}

fn went(name: &str, result: &Value) -> Went {
    let text = text_of(&result["textResultForLlm"]);
    if result["resultType"].as_str().is_some_and(|kind| kind != "success") {
        return Went::Badly(text);
    }
    if name != "Bash" {
        return Went::Well(Value::from(text));
    }
    // `<shellId: 0 completed with exit code 1>`, and `<exited with exit code 1>` before.
    let (output, last) = text.rsplit_once('\n').unwrap_or(("", &text));
    let code = last.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).and_then(|rest| {
        let (_, code) = rest.rsplit_once("with exit code ")?;
        code.parse::<i64>().ok()
    });
    match code {
        Some(_) => shell(output, code),
        None => Went::Well(shell_of_unknown_end(&text)),
    }
}

pub(super) fn answer(answer: &Answer) -> Option<Value> {
    if let Some(why) = &answer.refusal {
        return Some(json!({ "permissionDecision": "deny", "permissionDecisionReason": why }));
    }
    answer.context.as_ref().map(|context| json!({ "additionalContext": context }))
}
