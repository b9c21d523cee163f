//! Building a payload in the terms of Claude Code.

use serde_json::{Map, Value, json};

use super::dialect::Fields;

/// A payload that grows; fields without a value are left out.
pub(super) struct Said(Fields);

impl Said {
    /// Of an event, by Claude Code's name.
    pub(super) fn new(event: &str) -> Self {
        Self(Map::from_iter([(String::from("hook_event_name"), json!(event))]))
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        if !value.is_null() {
            self.0.insert(name.to_owned(), value);
        }
        self
    }

    pub(super) fn done(self) -> Option<Fields> {
        Some(self.0)
    }
}

/// How a tool call went, in the words of the agent.
pub(super) enum Went {
    /// It answered.
    Well(Value),
    /// It failed, with this text.
    Badly(String),
}

/// The end of a tool call.
pub(super) fn tool(call: (&str, Value), went: Went) -> Said {
    let (name, input) = call;
    let said = match went {
        Went::Well(response) => Said::new("PostToolUse").with("tool_response", response),
        Went::Badly(error) => Said::new("PostToolUseFailure").with("error", error),
    };
    said.with("tool_name", name).with("tool_input", input)
}

/// What a shell command printed; a code other than 0 is a failure, as Claude Code puts it.
pub(super) fn shell(output: &str, code: Option<i64>) -> Went {
    match code {
        Some(code) if code != 0 => Went::Badly(format!("Exit code {code}\n{output}")),
        _ => Went::Well(json!({ "stdout": output })),
    }
}

/// What a shell command printed, by an agent that does not tell how it ended.
pub(super) fn shell_of_unknown_end(output: &str) -> Value {
    json!({ "stdout": output, "exitCodeUnknown": true })
}

/// Takes a field out; null when it is not there.
pub(super) fn take(fields: &mut Fields, name: &str) -> Value {
    fields.swap_remove(name).unwrap_or_default()
}

/// Arguments with other names; those that are not listed keep theirs.
pub(super) fn renamed(mut input: Value, names: &[(&str, &str)]) -> Value {
    if let Value::Object(fields) = &mut input {
        for (from, to) in names {
            if !fields.contains_key(*to)
                && let Some(value) = fields.swap_remove(*from)
            {
                fields.insert((*to).to_owned(), value);
            }
        }
    }
    input
}

/// A tool of an MCP server as Claude Code names it.
pub(super) fn mcp_tool(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}
