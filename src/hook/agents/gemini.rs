//! Gemini CLI: <https://geminicli.com/docs/hooks/reference>, and its tools,
//! <https://geminicli.com/docs/reference/tools>.
//!
//! Seen by running 0.61.0: without a terminal, what a session start added stands before the prompt in
//! `<hook_context>`. `PreCompress` comes before every call of the model, whether anything is compressed or not, and so
//! is of no use here.

use serde_json::{Value, json};

use super::dialect::{Answer, Fields};
use super::said::{Said, Went, mcp_tool, renamed, shell, take, tool};
use crate::hook::wire::text_of;

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    let said = match event {
        "SessionStart" => Said::new(event).with("source", take(&mut fields, "source")),
        "BeforeAgent" => {
            let prompt = text_of(&take(&mut fields, "prompt"));
            Said::new("UserPromptSubmit").with("prompt", without_hook_context(&prompt))
        }
        "BeforeTool" => {
            let (name, input) = call(&mut fields);
            (name == "Read")
                .then(|| Said::new("PreToolUse").with("tool_name", name).with("tool_input", input))?
        }
        "AfterTool" => {
            let response = take(&mut fields, "tool_response");
            let (name, input) = call(&mut fields);
            let went = went(&name, response);
            tool((&name, input), went)
        }
        "AfterAgent" => {
            Said::new("Stop").with("last_assistant_message", take(&mut fields, "prompt_response"))
        }
        "SessionEnd" => Said::new(event).with("reason", take(&mut fields, "reason")),
        _ => return None,
    };
    ["session_id", "transcript_path", "cwd"]
        .into_iter()
        .fold(said, |said, name| said.with(name, take(&mut fields, name)))
        .done()
}

/// What hooks added is no part of what the user said; ours least of all.
fn without_hook_context(prompt: &str) -> String {
    const CLOSE: &str = "</hook_context>";
    let mut rest = prompt.trim_start();
    while rest.starts_with("<hook_context>") {
        let Some(end) = rest.find(CLOSE) else { break };
        rest = rest[end + CLOSE.len()..].trim_start();
    }
    rest.to_owned()
}

fn call(fields: &mut Fields) -> (String, Value) {
    let name = text_of(&take(fields, "tool_name"));
    let input = take(fields, "tool_input");
    let server = take(fields, "mcp_context");
    if let (Some(server), Some(tool)) = (server["server_name"].as_str(), server["tool_name"].as_str()) {
        return (mcp_tool(server, tool), input);
    }
    let (name, input) = match name.as_str() {
        "run_shell_command" => ("Bash", input),
        "read_file" => (
            "Read",
            renamed(
                input,
                &[("absolute_path", "file_path"), ("start_line", "offset"), ("end_line", "limit")],
            ),
        ),
        "replace" => ("Edit", input),
        "write_file" => ("Write", input),
        "list_directory" => ("LS", input),
        "glob" => ("Glob", input),
        "grep_search" | "search_file_content" => ("Grep", input),
        "web_fetch" => ("WebFetch", input),
        "google_web_search" => ("WebSearch", input),
        _ => return (name, input),
    };
    (name.to_owned(), input)
}

fn went(name: &str, response: Value) -> Went {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        return Went::Badly(text_of(error));
    }
    let text = text_of(&response["llmContent"]);
    match name {
        "Bash" => command(&text),
        // The patch is made from the arguments and what was there before.
        "Edit" | "Write" => Went::Well(json!({
            "filePath": response["returnDisplay"]["filePath"],
            "originalFile": response["returnDisplay"]["originalContent"],
        })),
        _ => Went::Well(Value::from(text)),
    }
}

/// The output of a command stands between lines about it.
fn command(text: &str) -> Went {
    let (mut output, mut code) = (Vec::new(), None);
    for line in text.lines() {
        let about = ["<untrusted_context>", "</untrusted_context>", "Output: (empty)"];
        let value = |label: &str| line.strip_prefix(label);
        match value("Exit Code: ") {
            Some(number) => code = number.trim().parse::<i64>().ok(),
            None if about.contains(&line) || value("Process Group PGID: ").is_some() => {}
            None => output.push(value("Output: ").unwrap_or(line)),
        }
    }
    shell(&output.join("\n"), code)
}

pub(super) fn answer(answer: &Answer) -> Option<Value> {
    if let Some(why) = &answer.refusal {
        return Some(json!({ "decision": "deny", "reason": why }));
    }
    let event = match answer.event.as_str() {
        "UserPromptSubmit" => "BeforeAgent",
        other => other,
    };
    let mut reply = json!({});
    if let Some(context) = &answer.context {
        reply["hookSpecificOutput"] = json!({ "hookEventName": event, "additionalContext": context });
    }
    if let Some(notice) = &answer.notice {
        reply["systemMessage"] = json!(notice);
    }
    Some(reply)
}
