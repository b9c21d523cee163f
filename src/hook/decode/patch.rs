//! File edits, reduced to what changed. The client sends the arguments twice and the whole file once or twice.

use serde_json::{Map, Value, json};

/// Fields that hold the file or the change once more.
const DOUBLES: [&str; 13] = [
    "originalFile",
    "originalFileContents",
    "original_file",
    "updated_file",
    "oldString",
    "newString",
    "old_string",
    "new_string",
    "old_source",
    "new_source",
    "content",
    "edits",
    "structuredPatch",
];

/// The field that holds the patch as one text while it is cleaned.
const PATCH: &str = "structuredPatch";

/// Lines around a change that make it readable.
const CONTEXT_LINES: usize = 3;

/// Whether the tool's payload is an edit of a file.
pub(in crate::hook) fn is_edit(tool: &str) -> bool {
    matches!(tool, "Edit" | "MultiEdit" | "Write" | "NotebookEdit")
}

/// Replaces arguments and answer of an edit by its patch, as one text: a private block or a key that spans lines
/// must be seen whole by whoever cleans it.
pub(super) fn reduce(payload: &mut Map<String, Value>) {
    let mut input = take(payload, "tool_input");
    let mut response = match take(payload, "tool_response") {
        Value::Null => take(payload, "tool_output"),
        response => response,
    };
    let patch = hunks_as_text(&response).unwrap_or_else(|| from_arguments(&input, &response));
    if let Value::Object(fields) = &mut input {
        DOUBLES.iter().for_each(|name| drop(fields.remove(*name)));
    }
    if !response.is_object() {
        // An answer in words.
        response = json!({ "message": response });
    }
    if let Value::Object(fields) = &mut response {
        fields.retain(|name, value| !is_double(name, value) && !is_blank(value));
        fields.insert(PATCH.to_owned(), Value::from(patch));
    }
    payload.insert(String::from("tool_input"), input);
    payload.insert(String::from("tool_response"), response);
}

/// Gives a cleaned patch the client's own shape again: hunks with `oldStart` and prefixed `lines`.
pub(super) fn restore(response: &mut Value) {
    let Some(patch) = response.get_mut(PATCH) else { return };
    let Value::String(text) = patch.take() else { return };
    let mut hunks: Vec<(u64, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match header_start(line) {
            Some(start) => hunks.push((start, Vec::new())),
            None => match hunks.last_mut() {
                Some((_, lines)) => lines.push(line),
                None => hunks.push((0, vec![line])),
            },
        }
    }
    *patch = hunks.iter().map(|(start, lines)| json!({ "oldStart": start, "lines": lines })).collect();
}

fn take(payload: &mut Map<String, Value>, name: &str) -> Value {
    payload.get_mut(name).map(Value::take).unwrap_or_default()
}

/// Content blocks, as tools outside the client answer, are no copy of the file.
fn is_double(name: &str, value: &Value) -> bool {
    DOUBLES.contains(&name) && !(name == "content" && value.is_array())
}

fn is_blank(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_str().is_some_and(str::is_empty)
}

fn header(old_start: u64) -> String {
    format!("@@ -{old_start} @@\n")
}

fn header_start(line: &str) -> Option<u64> {
    line.strip_prefix("@@ -")?.strip_suffix(" @@")?.parse().ok()
}

fn hunks_as_text(response: &Value) -> Option<String> {
    let hunks = response.get(PATCH)?.as_array().filter(|hunks| !hunks.is_empty())?;
    let mut text = String::new();
    for hunk in hunks {
        text += &header(hunk.get("oldStart").and_then(Value::as_u64).unwrap_or_default());
        for line in hunk.get("lines").and_then(Value::as_array)?.iter().filter_map(Value::as_str) {
            text += line;
            text.push('\n');
        }
    }
    Some(text)
}

/// The patch as far as the arguments tell it, for answers that hold none: a new file, an old client.
fn from_arguments(input: &Value, response: &Value) -> String {
    let field = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let before =
        field(response, "originalFile").or_else(|| field(response, "old_source")).unwrap_or_default();
    let edit = |edit: &Value| {
        let old = field(edit, "old_string").unwrap_or_default();
        diff(&old, &field(edit, "new_string").unwrap_or_default())
    };
    match input.get("edits").and_then(Value::as_array) {
        Some(edits) => edits.iter().map(edit).collect(),
        None if input.get("new_string").is_some() => edit(input),
        None => {
            let after = field(input, "content").or_else(|| field(input, "new_source"));
            diff(&before, &after.unwrap_or_default())
        }
    }
}

/// One hunk: equal lines at both ends are left out but for a little context.
fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let shorter = old.len().min(new.len());
    let head = (0..shorter).take_while(|&n| old[n] == new[n]).count();
    let tail = (0..shorter - head).take_while(|&n| old[old.len() - 1 - n] == new[new.len() - 1 - n]).count();
    if head == old.len() && head == new.len() {
        return String::new();
    }
    let first = head.saturating_sub(CONTEXT_LINES);
    let last = old.len() - tail + tail.min(CONTEXT_LINES);
    let start = if old.is_empty() { 0 } else { first + 1 };
    let mut text = header(u64::try_from(start).unwrap_or_default());
    let mut push = |sign: char, lines: &[&str]| {
        for line in lines {
            text.push(sign);
            text += line;
            text.push('\n');
        }
    };
    push(' ', &old[first..head]);
    push('-', &old[head..old.len() - tail]);
    push('+', &new[head..new.len() - tail]);
    push(' ', &old[old.len() - tail..last]);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn reduced(tool_input: Value, tool_response: Value) -> (Value, Value) {
        let mut payload = Map::new();
        payload.insert(String::from("tool_input"), tool_input);
        payload.insert(String::from("tool_response"), tool_response);
        reduce(&mut payload);
        let mut response = payload["tool_response"].clone();
        restore(&mut response);
        (payload["tool_input"].clone(), response)
    }

    #[test]
    fn an_edit_keeps_the_clients_patch_and_nothing_twice() {
        let lines = json!([" a", "-b", "+c", "+@@ -7 @@ is text"]);
        let (input, response) = reduced(
            json!({"file_path": "/a", "old_string": "b", "new_string": "c", "replace_all": false}),
            json!({"filePath": "/a", "oldString": "b", "newString": "c", "originalFile": "a\nb\n",
                "structuredPatch": [{"oldStart": 5, "oldLines": 2, "lines": lines}, {"oldStart": 9, "lines": [" x"]}],
                "userModified": false, "replaceAll": true}),
        );
        assert_eq!(input, json!({"file_path": "/a", "replace_all": false}));
        let hunks = json!([{"oldStart": 5, "lines": lines}, {"oldStart": 9, "lines": [" x"]}]);
        assert_eq!(response, json!({"filePath": "/a", "replaceAll": true, "structuredPatch": hunks}));
    }

    #[test]
    fn without_a_patch_the_arguments_tell_it() {
        let new_file = json!([{"oldStart": 0, "lines": ["+A = 1", "+B = 2"]}]);
        let (input, response) = reduced(
            json!({"file_path": "/n", "content": "A = 1\nB = 2\n"}),
            json!({"type": "create", "filePath": "/n", "content": "A = 1\nB = 2\n", "structuredPatch": [], "originalFile": null}),
        );
        assert_eq!(input, json!({"file_path": "/n"}));
        assert_eq!(response, json!({"type": "create", "filePath": "/n", "structuredPatch": new_file}));
        let (_, response) =
            reduced(json!({"file_path": "/n", "old_string": "x\ny", "new_string": "x\nz"}), json!("done"));
        assert_eq!(response["structuredPatch"], json!([{"oldStart": 1, "lines": [" x", "-y", "+z"]}]));
        assert_eq!(response["message"], "done");
        let edits = json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]);
        let (input, response) = reduced(json!({"file_path": "/n", "edits": edits}), Value::Null);
        assert_eq!(input, json!({"file_path": "/n"}));
        assert_eq!(response["structuredPatch"][1]["lines"], json!(["-c"]));
    }

    #[test]
    fn a_notebook_cell() {
        let (input, response) = reduced(
            json!({"notebook_path": "/nb", "cell_id": "c1", "new_source": "x = 3\n"}),
            json!({"new_source": "x = 3\n", "old_source": "x = 1\n", "cell_type": "code", "error": "",
                "original_file": "{}", "updated_file": "{}", "notebook_path": "/nb"}),
        );
        assert_eq!(input, json!({"notebook_path": "/nb", "cell_id": "c1"}));
        let hunks = json!([{"oldStart": 1, "lines": ["-x = 1", "+x = 3"]}]);
        assert_eq!(response, json!({"cell_type": "code", "notebook_path": "/nb", "structuredPatch": hunks}));
    }

    #[test]
    fn long_equal_ends_shrink_to_context() {
        let old: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        let new = old.join("\n").replace("\n50\n", "\nfifty\n");
        let expected = "@@ -48 @@\n 47\n 48\n 49\n-50\n+fifty\n 51\n 52\n 53\n";
        assert_eq!(diff(&old.join("\n"), &new), expected);
        assert_eq!(diff("same", "same"), "");
    }

    proptest! {
        #[test]
        fn the_signs_tell_both_sides(old in "([ab]\n){0,8}", new in "([ab]\n){0,8}") {
            let text = diff(&old, &new);
            let side = |sign: char| text.lines().skip(1).filter(move |line| line.starts_with([' ', sign])).count();
            let added = side('+') as i64 - side('-') as i64;
            prop_assert_eq!(added, new.lines().count() as i64 - old.lines().count() as i64);
            prop_assert_eq!(text.is_empty(), old == new);
        }
    }
}
