//! Tool arguments and answers as text: cheaper in tokens than JSON, and with every string as it was.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::model::Outcome;
use crate::observer::{diff, evidence};

/// The arguments; for a call that wrote files, what it changed.
pub(super) fn input(tool: &str, input: &Value, outcome: &Outcome, root: &str, cwd: &str) -> String {
    let changes = diff::changes(tool, input, outcome);
    if changes.is_empty() {
        return plain(input, root, cwd);
    }
    let mut text = String::new();
    for change in changes {
        let state = match (change.created, change.deleted) {
            (true, _) => " (new file)",
            (_, true) => " (deleted)",
            _ => "",
        };
        let _ = writeln!(text, "{}{state}", evidence::relative(&change.path, root, cwd));
        for hunk in change.hunks {
            if hunk.start > 0 {
                let _ = writeln!(text, "line {}:", hunk.start);
            }
            for line in hunk.lines {
                let _ = writeln!(text, "{line}");
            }
        }
    }
    text
}

/// The answer: of a call that wrote files only what the diff does not say already, of any other what it found,
/// without the client's book-keeping.
pub(super) fn output(tool: &str, response: &Value) -> String {
    let Value::Object(map) = response else { return plain(response, "", "") };
    let told: &[&str] = match tool {
        tool if diff::writes(tool) => &IN_DIFF,
        "Agent" | "Task" => &OF_AGENT,
        "Read" => return read(map).unwrap_or_else(|| plain(response, "", "")),
        _ => &[],
    };
    let is_done = |key: &str, value: &Value| key == "status" && value == "completed";
    let rest: Map<String, Value> = map
        .iter()
        .filter(|(key, value)| !told.contains(&key.as_str()) && !is_blank(value) && !is_done(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    match rest.iter().next() {
        // The usual answer of a command or an agent needs no name.
        Some((key, value)) if rest.len() == 1 && matches!(key.as_str(), "stdout" | "content") => {
            plain(value, "", "")
        }
        _ => plain(&Value::Object(rest), "", ""),
    }
}

/// What the diff shows; and fields in which older clients repeat the arguments or whole files in the answer.
const IN_DIFF: [&str; 13] = [
    "filePath",
    "notebook_path",
    "structuredPatch",
    "type",
    "originalFile",
    "oldString",
    "newString",
    "content",
    "new_source",
    "old_source",
    "original_file",
    "updated_file",
    "edits",
];

/// What a subagent cost, and what the arguments say already.
const OF_AGENT: [&str; 9] = [
    "prompt",
    "agentId",
    "agentType",
    "resolvedModel",
    "totalDurationMs",
    "totalTokens",
    "totalToolUseCount",
    "usage",
    "toolStats",
];

/// The text of a file, and which part of the file it is unless it is all.
fn read(response: &Map<String, Value>) -> Option<String> {
    let file = response.get("file").filter(|_| response.get("type").is_some_and(|kind| kind == "text"))?;
    let content = file.get("content")?.as_str()?;
    let number = |key: &str| file.get(key).and_then(Value::as_u64);
    let part = match (number("startLine"), number("numLines"), number("totalLines")) {
        (Some(first), Some(count), Some(total)) if count < total => {
            format!("(lines {first} to {} of {total})\n", (first + count).saturating_sub(1))
        }
        _ => String::new(),
    };
    Some(format!("{part}{content}\n"))
}

/// Deepest nesting that is shown; deeper values would cost stack, and mean nothing to a reader.
const MAX_DEPTH: usize = 64;

/// A value as indented `key: text` lines; a lone string as it is. Empty values are left out.
fn plain(value: &Value, root: &str, cwd: &str) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0, root, cwd);
    text
}

fn write_value(text: &mut String, value: &Value, depth: usize, root: &str, cwd: &str) {
    if depth > MAX_DEPTH {
        text.push_str("…\n");
        return;
    }
    let indent = "  ".repeat(depth.min(8));
    match value {
        Value::Null => {}
        Value::String(string) => {
            let _ = writeln!(text, "{string}");
        }
        Value::Bool(_) | Value::Number(_) => {
            let _ = writeln!(text, "{value}");
        }
        Value::Array(items) => {
            for item in items {
                if let Some(block) = text_block(item) {
                    let _ = writeln!(text, "{}", block.trim_end());
                    continue;
                }
                match item {
                    Value::Object(_) | Value::Array(_) => write_value(text, item, depth + 1, root, cwd),
                    Value::Null => {}
                    scalar => {
                        let _ = write!(text, "{indent}- ");
                        write_value(text, scalar, depth, root, cwd);
                    }
                }
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                match item {
                    blank if is_blank(blank) => {}
                    Value::String(path) if diff::path_of(value) == Some(path) && !root.is_empty() => {
                        let _ = writeln!(text, "{indent}{key}: {}", evidence::relative(path, root, cwd));
                    }
                    Value::String(string) if string.contains('\n') => {
                        let _ = writeln!(text, "{indent}{key}:\n{}", string.trim_end());
                    }
                    Value::Object(_) | Value::Array(_) => {
                        let mut inner = String::new();
                        write_value(&mut inner, item, depth + 1, root, cwd);
                        if !inner.is_empty() {
                            let _ = write!(text, "{indent}{key}:\n{inner}");
                        }
                    }
                    scalar => {
                        let _ = write!(text, "{indent}{key}: ");
                        write_value(text, scalar, depth, root, cwd);
                    }
                }
            }
        }
    }
}

fn is_blank(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(str::is_empty)
}

/// The text of a content block that holds nothing else.
fn text_block(value: &Value) -> Option<&str> {
    let block = value
        .as_object()
        .filter(|block| block.len() == 2 && block.get("type").is_some_and(|kind| kind == "text"))?;
    block.get("text")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_stand_as_they_were() {
        let response =
            json!({"stdout": "a \"quoted\" @@mark@@\nline 2 — ü 日本", "stderr": "", "interrupted": false});
        assert_eq!(output("Bash", &response), "a \"quoted\" @@mark@@\nline 2 — ü 日本\n");
        let failed = json!({"stdout": "a", "stderr": "b", "interrupted": true});
        assert_eq!(output("Bash", &failed), "stdout: a\nstderr: b\ninterrupted: true\n");
        assert_eq!(output("x", &json!("@@lone@@")), "@@lone@@\n");
        assert_eq!(output("x", &json!(["@@a@@", 1, null])), "- @@a@@\n- 1\n");
        assert_eq!(output("x", &json!({"a": {"b": {"c": ["@@n@@"]}}})), "a:\n  b:\n    c:\n      - @@n@@\n");
        assert_eq!(output("x", &json!(null)), "");
    }

    #[test]
    fn content_blocks_are_their_texts() {
        let blocks = json!([{"type": "text", "text": "one\n"}, {"type": "text", "text": "two", "cut": true}, {"type": "image"}]);
        assert_eq!(
            output("mcp__a__b", &blocks),
            "one\n  type: text\n  text: two\n  cut: true\n  type: image\n"
        );
    }

    #[test]
    fn of_a_file_its_text_and_which_part_it_is() {
        let file = |count: u64| json!({"type": "text", "file": {"filePath": "/p/a", "content": "x\ny", "numLines": count, "startLine": 5, "totalLines": 9}});
        assert_eq!(output("Read", &file(9)), "x\ny\n");
        assert_eq!(output("Read", &file(2)), "(lines 5 to 6 of 9)\nx\ny\n");
        let unchanged = json!({"type": "file_unchanged", "file": {"filePath": "/p/a"}});
        assert_eq!(output("Read", &unchanged), "type: file_unchanged\nfile:\n  filePath: /p/a\n");
    }

    #[test]
    fn of_a_subagent_its_report() {
        let mut response = json!({"status": "completed", "prompt": "Find it", "agentId": "a1", "agentType": "x",
            "content": [{"type": "text", "text": "It is here."}], "totalTokens": 7, "usage": {"input_tokens": 7}});
        assert_eq!(output("Agent", &response), "It is here.\n");
        response["status"] = json!("cancelled");
        response["note"] = json!("by the user");
        assert_eq!(
            output("Task", &response),
            "status: cancelled\ncontent:\nIt is here.\nnote: by the user\n"
        );
    }

    #[test]
    fn edits_are_shown_as_diffs_and_only_once() {
        let arguments = json!({"file_path": "/p/src/a.rs", "old_string": "SECRET-LONG", "new_string": "y"});
        let response = json!({"filePath": "/p/src/a.rs", "originalFile": "whole", "userModified": true,
            "structuredPatch": [{"oldStart": 5, "lines": [" a", "-x", "+y"]}]});
        let outcome = Outcome::Response(response.clone());
        assert_eq!(input("Edit", &arguments, &outcome, "/p", "/p"), "src/a.rs\nline 5:\n a\n-x\n+y\n");
        assert_eq!(output("Edit", &response), "userModified: true\n");
    }

    #[test]
    fn a_failed_edit_shows_its_arguments() {
        let outcome = Outcome::Error(String::from("no match"));
        let text = input("Edit", &json!({"file_path": "/p/a", "old_string": "x"}), &outcome, "/p", "/p");
        assert_eq!(text, "file_path: a\nold_string: x\n");
    }

    #[test]
    fn depth_cannot_exhaust_the_stack() {
        let mut value = json!("deep");
        for _ in 0..20_000 {
            value = Value::Array(vec![value]);
        }
        assert_eq!(output("x", &value), "…\n");
        std::mem::forget(value);
    }
}
