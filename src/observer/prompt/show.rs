//! Tool arguments and answers as text: cheaper in tokens than JSON, and with every string as it was.

use std::fmt::Write as _;

use serde_json::Value;

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

/// The answer. Of a call that wrote files only what the diff does not say already.
pub(super) fn output(tool: &str, response: &Value) -> String {
    match response {
        Value::Object(map) if diff::writes(tool) => {
            let told = [
                "filePath",
                "notebook_path",
                "structuredPatch",
                "type",
                "originalFile",
                "oldString",
                "newString",
            ];
            let rest: serde_json::Map<_, _> = map
                .iter()
                .filter(|(key, _)| !told.contains(&key.as_str()) && !DIFF_ARGUMENTS.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            plain(&Value::Object(rest), "", "")
        }
        response => plain(response, "", ""),
    }
}

/// Fields in which older clients repeat the arguments or whole files in the answer to a write.
const DIFF_ARGUMENTS: [&str; 6] =
    ["content", "new_source", "old_source", "original_file", "updated_file", "edits"];

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
                    Value::Null | Value::Bool(false) => {}
                    Value::String(string) if string.is_empty() => {}
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_stand_as_they_were() {
        let response =
            json!({"stdout": "a \"quoted\" @@mark@@\nline 2 — ü 日本", "stderr": "", "interrupted": false});
        assert_eq!(output("Bash", &response), "stdout:\na \"quoted\" @@mark@@\nline 2 — ü 日本\n");
        assert_eq!(output("x", &json!("@@lone@@")), "@@lone@@\n");
        assert_eq!(output("x", &json!(["@@a@@", 1, null])), "- @@a@@\n- 1\n");
        assert_eq!(output("x", &json!({"a": {"b": {"c": ["@@n@@"]}}})), "a:\n  b:\n    c:\n      - @@n@@\n");
        assert_eq!(output("x", &json!(null)), "");
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
