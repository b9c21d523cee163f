//! Windsurf's Cascade: <https://docs.windsurf.com/windsurf/cascade/hooks>. Written by its documentation alone.
//!
//! Its hooks can block an action and add nothing, so they are only listened to. What a command printed, and what a
//! file held, is not told. There is no directory in most payloads: hooks run in the root of the workspace.

use serde_json::{Value, json};

use super::dialect::Fields;
use super::said::{Said, Went, mcp_tool, shell_of_unknown_end, take, tool};

pub(super) fn translate(event: &str, mut fields: Fields) -> Option<Fields> {
    let mut info = match take(&mut fields, "tool_info") {
        Value::Object(info) => info,
        _ => Fields::new(),
    };
    let mut cwd = Value::Null;
    let said = match event {
        "pre_user_prompt" => Said::new("UserPromptSubmit").with("prompt", take(&mut info, "user_prompt")),
        "post_read_code" => {
            let path = take(&mut info, "file_path");
            let response = json!({ "file": { "path": path.clone() } });
            tool(("Read", json!({ "file_path": path })), Went::Well(response))
        }
        "post_write_code" => {
            let input = json!({
                "file_path": take(&mut info, "file_path"),
                "edits": take(&mut info, "edits"),
            });
            tool(("MultiEdit", input), Went::Well(Value::Null))
        }
        "post_run_command" => {
            cwd = take(&mut info, "cwd");
            let input = json!({ "command": take(&mut info, "command_line") });
            tool(("Bash", input), Went::Well(shell_of_unknown_end("")))
        }
        "post_mcp_tool_use" => {
            let (server, name) = (take(&mut info, "mcp_server_name"), take(&mut info, "mcp_tool_name"));
            let name = mcp_tool(server.as_str().unwrap_or("mcp"), name.as_str().unwrap_or("tool"));
            let input = take(&mut info, "mcp_tool_arguments");
            tool((&name, input), Went::Well(take(&mut info, "mcp_result")))
        }
        "post_cascade_response" => {
            Said::new("Stop").with("last_assistant_message", take(&mut info, "response"))
        }
        _ => return None,
    };
    said.with("session_id", take(&mut fields, "trajectory_id"))
        .with("prompt_id", take(&mut fields, "execution_id"))
        .with("cwd", cwd)
        .done()
}
