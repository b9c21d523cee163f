//! What a tool's answer says about how the call went, in whatever shape it comes.

use serde_json::Value;

/// Fields that say how the call went, not what it found.
const ABOUT: [&str; 12] = [
    "interrupted",
    "isImage",
    "noOutputExpected",
    "durationMs",
    "numFiles",
    "numLines",
    "startLine",
    "totalLines",
    "truncated",
    "mode",
    "type",
    "filePath",
];

/// Whether the answer itself says that the call failed, was interrupted, or still runs.
pub(super) fn failed(response: &Value) -> bool {
    let Value::Object(fields) = response else { return false };
    let on = |name: &str| fields.get(name).is_some_and(|value| value == true);
    let off = |name: &str| fields.get(name).is_some_and(|value| value == false);
    let code =
        ["exit_code", "exitCode", "returnCode", "code"].iter().find_map(|name| fields.get(*name)?.as_i64());
    let has = |name: &str| fields.get(name).is_some_and(|value| !is_empty(value));
    on("isError")
        || on("is_error")
        || on("interrupted")
        || off("success")
        || code.is_some_and(|code| code != 0)
        || has("error")
        || has("stderr")
        || has("backgroundTaskId")
        || has("shellId")
}

/// Whether there is no text, number or list in it beyond the description of the call.
pub(super) fn is_empty(response: &Value) -> bool {
    match response {
        Value::Null => true,
        Value::Bool(_) => false,
        Value::Number(_) => false,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_empty),
        Value::Object(fields) => {
            fields.iter().all(|(name, value)| ABOUT.contains(&name.as_str()) || is_empty(value))
        }
    }
}

/// All text of the answer, one piece per line.
pub(super) fn text(response: &Value) -> String {
    let mut text = String::new();
    collect(response, &mut text);
    text
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(piece) => {
            *text += piece;
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, text)),
        Value::Object(fields) => {
            fields
                .iter()
                .filter(|(name, _)| !ABOUT.contains(&name.as_str()))
                .for_each(|(_, value)| collect(value, text));
        }
        Value::Number(_) | Value::Bool(true) => *text += "value\n",
        Value::Null | Value::Bool(false) => {}
    }
}

/// What `git status` prints in a clean tree, in the long, the short and the porcelain form.
pub(super) fn is_clean_status(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let is_quiet = |line: &str| {
        let short_branch = line.starts_with("## ") && !line.contains('[');
        short_branch
            || line.starts_with("On branch ")
            || line.starts_with("Your branch is up to date")
            || line.starts_with("nothing to commit, working tree clean")
    };
    lines.peek().is_some() && lines.all(is_quiet)
}

/// Whether an installation printed anything that somebody may want to know.
pub(super) fn has_warning(text: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "warn",
        "error",
        "err!",
        "fail",
        "deprecat",
        "conflict",
        "vulnerab",
        "unmet",
        "missing",
        "mismatch",
        "cannot",
        "incompatib",
    ];
    let lower = text.to_lowercase();
    // npm's own way to say that there are none.
    let lower = lower.replace("found 0 vulnerabilities", "");
    SIGNS.iter().any(|sign| lower.contains(sign))
}
