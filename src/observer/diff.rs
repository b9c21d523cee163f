//! What a tool call changed in files, as line diffs, from the client's own arguments and answers.
//!
//! Shapes as recorded from Claude Code 1.0.128 to 2.1.332 (`structuredPatch` with `oldStart` and prefixed
//! `lines`), and the envelope of Codex' `apply_patch` (`*** Update File: …`).

use std::collections::HashSet;

use serde_json::Value;

use crate::model::Outcome;

/// One file that a call changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileChange {
    /// The path as the call names it.
    pub(super) path: String,
    /// The file was not there before.
    pub(super) created: bool,
    /// The file is gone.
    pub(super) deleted: bool,
    /// The changed places.
    pub(super) hunks: Vec<Hunk>,
}

/// One changed place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Line in the old file; 0 when unknown.
    pub(super) start: u64,
    /// Lines with their prefix: `+`, `-` or a space.
    pub(super) lines: Vec<String>,
}

/// The last part of a tool name: `mcp__filesystem__write_file` is `write_file`.
pub(super) fn base_name(tool: &str) -> &str {
    tool.rsplit("__").next().unwrap_or(tool)
}

/// The file that a call is about, under any of the names that clients use for it.
pub(super) fn path_of(input: &Value) -> Option<&str> {
    ["file_path", "filePath", "notebook_path", "notebookPath", "path"]
        .iter()
        .find_map(|key| input.get(key).and_then(Value::as_str))
        .filter(|path| !path.trim().is_empty())
}

/// Whether the tool writes files.
pub(super) fn writes(tool: &str) -> bool {
    matches!(
        base_name(tool),
        "Edit"
            | "MultiEdit"
            | "Write"
            | "NotebookEdit"
            | "write_file"
            | "edit_file"
            | "create_file"
            | "apply_patch"
    )
}

/// The changes of one successful call; empty for tools that do not write files, and for calls that failed.
pub(super) fn changes(tool: &str, input: &Value, outcome: &Outcome) -> Vec<FileChange> {
    let Outcome::Response(response) = outcome else { return Vec::new() };
    if !writes(tool) {
        return Vec::new();
    }
    if base_name(tool) == "apply_patch" {
        return patch_text(input).map(apply_patch).unwrap_or_default();
    }
    let Some(path) = path_of(input).or_else(|| path_of(response)) else { return Vec::new() };
    let kind = response.get("type").and_then(Value::as_str);
    let patch = structured_patch(response);
    let hunks = if patch.is_empty() { from_arguments(input) } else { patch };
    vec![FileChange { path: path.to_owned(), created: kind == Some("create"), deleted: false, hunks }]
}

fn structured_patch(response: &Value) -> Vec<Hunk> {
    let Some(hunks) = response.get("structuredPatch").and_then(Value::as_array) else { return Vec::new() };
    hunks
        .iter()
        .map(|hunk| Hunk {
            start: hunk.get("oldStart").and_then(Value::as_u64).unwrap_or(0),
            lines: hunk
                .get("lines")
                .and_then(Value::as_array)
                .map(|lines| lines.iter().filter_map(Value::as_str).map(str::to_owned).collect())
                .unwrap_or_default(),
        })
        .collect()
}

/// The diff as far as the arguments tell it, for answers without a patch.
fn from_arguments(input: &Value) -> Vec<Hunk> {
    let text = |value: &Value, keys: [&str; 2]| {
        keys.iter().find_map(|key| value.get(key).and_then(Value::as_str)).map(str::to_owned)
    };
    let edit = |value: &Value| {
        let new = text(value, ["new_string", "newString"])?;
        Some(replaced(&text(value, ["old_string", "oldString"]).unwrap_or_default(), &new))
    };
    if let Some(edits) = input.get("edits").and_then(Value::as_array) {
        return edits.iter().filter_map(edit).collect();
    }
    if let Some(hunk) = edit(input) {
        return vec![hunk];
    }
    match text(input, ["content", "new_source"]) {
        Some(content) => vec![replaced("", &content)],
        None => Vec::new(),
    }
}

fn replaced(old: &str, new: &str) -> Hunk {
    let (before, after): (HashSet<&str>, HashSet<&str>) = (old.lines().collect(), new.lines().collect());
    let gone = old.lines().filter(|line| !after.contains(line)).map(|line| format!("-{line}"));
    let kept = new.lines().map(|line| match before.contains(line) {
        true => format!(" {line}"),
        false => format!("+{line}"),
    });
    Hunk { start: 0, lines: gone.chain(kept).collect() }
}

/// The patch may be the whole argument, one of its fields, or JSON inside a string.
fn patch_text(input: &Value) -> Option<String> {
    match input {
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str::<Value>(text).ok().as_ref().and_then(patch_text)
        }
        Value::String(text) => Some(text.clone()),
        Value::Object(map) => {
            ["input", "patch", "patchText", "command"].iter().find_map(|key| match map.get(*key) {
                Some(Value::Array(words)) => words.last().and_then(Value::as_str).map(str::to_owned),
                Some(value) => patch_text(value),
                None => None,
            })
        }
        _ => None,
    }
}

fn apply_patch(text: String) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            files.push(FileChange { path: path.trim().to_owned(), created: true, ..FileChange::default() });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            files.push(FileChange { path: path.trim().to_owned(), ..FileChange::default() });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            files.push(FileChange { path: path.trim().to_owned(), deleted: true, ..FileChange::default() });
        } else if let (Some(path), Some(file)) = (line.strip_prefix("*** Move to: "), files.last_mut()) {
            file.path = path.trim().to_owned();
        } else if let Some(file) = files.last_mut() {
            if line.starts_with("@@") || file.hunks.is_empty() {
                file.hunks.push(Hunk::default());
            }
            if let (Some(hunk), true) = (file.hunks.last_mut(), line.starts_with(['+', '-', ' '])) {
                hunk.lines.push(line.to_owned());
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(change: &FileChange) -> Vec<&str> {
        change.hunks.iter().flat_map(|hunk| hunk.lines.iter().map(String::as_str)).collect()
    }

    #[test]
    fn a_patch_in_the_answer_is_taken_as_it_is() {
        let input = json!({"file_path": "/p/a.rs", "old_string": "x", "new_string": "y"});
        let response = json!({"filePath": "/p/a.rs", "originalFile": "huge",
            "structuredPatch": [{"oldStart": 5, "oldLines": 1, "lines": [" a", "-x", "+y"]}]});
        let found = changes("Edit", &input, &Outcome::Response(response));
        assert_eq!(found[0].hunks[0].start, 5);
        assert_eq!(lines(&found[0]), [" a", "-x", "+y"]);
        assert!(!found[0].created);
    }

    #[test]
    fn without_a_patch_the_arguments_tell() {
        let ok = || Outcome::Response(json!({"type": "create", "structuredPatch": []}));
        let found = changes("Write", &json!({"file_path": "n.py", "content": "A = 1\n"}), &ok());
        assert_eq!((found[0].created, lines(&found[0])), (true, vec!["+A = 1"]));
        let edits = json!({"filePath": "m.js", "edits": [{"old_string": "a\nb", "new_string": "a\nc"}]});
        let found = changes("MultiEdit", &edits, &Outcome::Response(Value::Null));
        assert_eq!(lines(&found[0]), ["-b", " a", "+c"]);
        let cell = json!({"notebook_path": "n.ipynb", "new_source": "x = 3"});
        assert_eq!(changes("NotebookEdit", &cell, &Outcome::Response(Value::Null))[0].path, "n.ipynb");
    }

    #[test]
    fn patches_as_text_and_as_json() {
        let text = "*** Begin Patch\n*** Update File: src/a.ts\n@@ fn\n-x\n+y\n*** Add File: b.ts\n+z\n*** Delete File: c.ts\n*** End Patch";
        let as_json = Value::String(json!({"input": text}).to_string());
        let as_words = json!({"command": ["apply_patch", text]});
        for input in [Value::String(text.to_owned()), as_json, json!({"patch": text}), as_words] {
            let found = changes("apply_patch", &input, &Outcome::Response(json!("ok")));
            let seen: Vec<_> = found.iter().map(|f| (f.path.as_str(), f.created, f.deleted)).collect();
            assert_eq!(seen, [("src/a.ts", false, false), ("b.ts", true, false), ("c.ts", false, true)]);
            assert_eq!(lines(&found[0]), ["-x", "+y"]);
        }
    }

    #[test]
    fn what_failed_or_only_reads_changed_nothing() {
        let input = json!({"file_path": "a", "new_string": "y"});
        assert!(changes("Edit", &input, &Outcome::Error(String::from("no match"))).is_empty());
        assert!(changes("Read", &input, &Outcome::Response(Value::Null)).is_empty());
        assert!(changes("Edit", &json!(null), &Outcome::Response(json!([1]))).is_empty());
    }
}
