//! Which files a batch touched, from the tool calls themselves: no model is believed about that.

use serde_json::Value;

use super::diff::{self, base_name};
use crate::model::{Draft, Event, EventKind, Outcome};

/// Files by what happened to them, relative to the root of the checkout when below it, each once, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// Files that a tool read.
    pub read: Vec<String>,
    /// Files that a tool wrote, created or deleted.
    pub modified: Vec<String>,
}

/// The files of successful tool calls in `events`, subagents included.
pub fn files(events: &[Event], root: &str) -> Files {
    let mut files = Files::default();
    for event in events {
        let EventKind::Tool { tool, input, outcome } = &event.kind else { continue };
        if matches!(outcome, Outcome::Error(_)) {
            continue;
        }
        for change in diff::changes(tool, input, outcome) {
            push_new(&mut files.modified, relative(&change.path, root, &event.cwd));
        }
        if reads(tool) {
            for path in read_paths(input) {
                push_new(&mut files.read, relative(path, root, &event.cwd));
            }
        }
    }
    files
}

fn reads(tool: &str) -> bool {
    matches!(base_name(tool), "Read" | "NotebookRead" | "read_file" | "read_text_file" | "view")
}

fn read_paths(input: &Value) -> Vec<&str> {
    let several = ["paths", "filePaths"].iter().find_map(|key| input.get(key).and_then(Value::as_array));
    match several {
        Some(paths) => paths.iter().filter_map(Value::as_str).collect(),
        None => diff::path_of(input).into_iter().collect(),
    }
}

/// `path` as seen from `root`; `./` and `..` are resolved by their text.
pub(crate) fn relative(path: &str, root: &str, cwd: &str) -> String {
    // A backslash is an ordinary character of a name unless the checkout lies on a Windows drive.
    let windows = root.as_bytes().get(1) == Some(&b':');
    let unify = |path: &str| if windows { path.replace('\\', "/") } else { path.to_owned() };
    let path = unify(path.trim());
    let absolute = if is_absolute(&path) { path } else { format!("{}/{path}", unify(cwd)) };
    let (clean, root) = (normal(&absolute), normal(&unify(root)));
    match clean.strip_prefix(&root).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !rest.is_empty() && !root.is_empty() => rest.to_owned(),
        _ => clean,
    }
}

fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    path.starts_with('/')
        || (bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic))
        || path.starts_with("~/")
}

fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let lead = if path.starts_with('/') { "/" } else { "" };
    format!("{lead}{}", parts.join("/"))
}

fn push_new(list: &mut Vec<String>, path: String) {
    if !path.is_empty() && !list.contains(&path) {
        list.push(path);
    }
}

/// Puts the evidence in place of what a model claims about files.
///
/// A claim only chooses among the evidence: which of several observations a changed file belongs to. Files that
/// no observation claims go to those that claim none of the evidence. A file said to be read counts also when
/// its path stands somewhere in the events (a command may have printed it).
pub(super) fn correct(drafts: &mut [Draft], events: &[Event], root: &str) {
    let evidence = files(events, root);
    let place = |claims: &[String]| claims.iter().map(|path| relative(path, root, root)).collect::<Vec<_>>();
    let modified: Vec<_> = drafts.iter().map(|draft| place(&draft.files_modified)).collect();
    let read: Vec<_> = drafts.iter().map(|draft| place(&draft.files_read)).collect();
    let modified = share(&evidence.modified, &modified);
    let shared = share(&evidence.read, &read);
    for (index, draft) in drafts.iter_mut().enumerate() {
        draft.files_modified = modified.get(index).cloned().unwrap_or_default();
        draft.files_read = shared.get(index).cloned().unwrap_or_default();
        for claim in read.get(index).into_iter().flatten() {
            if !draft.files_read.contains(claim) && mentioned(claim, events) {
                draft.files_read.push(claim.clone());
            }
        }
    }
}

fn share(evidence: &[String], claims: &[Vec<String>]) -> Vec<Vec<String>> {
    let claimed: Vec<Vec<String>> = claims
        .iter()
        .map(|claim| evidence.iter().filter(|path| claim.contains(path)).cloned().collect())
        .collect();
    let free: Vec<String> = evidence
        .iter()
        .filter(|path| !claimed.iter().flatten().any(|taken| taken == *path))
        .cloned()
        .collect();
    claimed.into_iter().map(|own| if own.is_empty() { free.clone() } else { own }).collect()
}

fn mentioned(path: &str, events: &[Event]) -> bool {
    events.iter().any(|event| match &event.kind {
        EventKind::Tool { input, outcome, .. } => {
            holds(input, path, 0)
                || match outcome {
                    Outcome::Response(response) => holds(response, path, 0),
                    Outcome::Error(text) => text.contains(path),
                }
        }
        _ => false,
    })
}

fn holds(value: &Value, text: &str, depth: usize) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        _ if depth > 64 => false,
        Value::Array(items) => items.iter().any(|item| holds(item, text, depth + 1)),
        Value::Object(map) => map.values().any(|item| holds(item, text, depth + 1)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Timestamp;

    fn call(tool: &str, input: Value) -> Event {
        let outcome = Outcome::Response(json!({"stdout": "see lib/printed.rs"}));
        let kind = EventKind::Tool { tool: tool.to_owned(), input, outcome };
        Event {
            session: String::from("s"),
            platform: Default::default(),
            at: Timestamp(0),
            cwd: String::from("/p/sub"),
            agent: None,
            kind,
        }
    }

    fn draft(read: &[&str], modified: &[&str]) -> Draft {
        let owned = |list: &[&str]| list.iter().map(|path| (*path).to_owned()).collect();
        Draft { files_read: owned(read), files_modified: owned(modified), ..Draft::default() }
    }

    #[test]
    fn each_file_once_from_every_shape() {
        let events = [
            call("Read", json!({"file_path": "/p/src/read.ts"})),
            call("Read", json!({"file_path": "/p/src/./read.ts"})),
            call("write_file", json!({"filePath": "src/write.ts", "content": "x"})),
            call("apply_patch", json!("*** Begin Patch\n*** Update File: src/patch.ts\n+a\n*** End Patch")),
            call("mcp__fs__edit_file", json!({"path": "/other/x.ts", "edits": []})),
            call("NotebookEdit", json!({"notebook_path": "/p/n.ipynb"})),
            call("Bash", json!({"command": "rm /p/gone"})),
        ];
        let found = files(&events, "/p");
        assert_eq!(found.read, ["src/read.ts"]);
        assert_eq!(found.modified, ["sub/src/write.ts", "sub/src/patch.ts", "/other/x.ts", "n.ipynb"]);
    }

    #[test]
    fn a_failed_call_touched_nothing() {
        let mut event = call("Write", json!({"file_path": "/p/a"}));
        if let EventKind::Tool { outcome, .. } = &mut event.kind {
            *outcome = Outcome::Error(String::from("denied"));
        }
        assert_eq!(files(&[event], "/p"), Files::default());
    }

    #[test]
    fn look_alike_roots_are_not_the_root() {
        assert_eq!(relative("/p-old/a", "/p", "/p"), "/p-old/a");
        assert_eq!(relative("/p/a/../b", "/p/", "/p"), "b");
        assert_eq!(relative("/p", "/p", "/p"), "/p");
        assert_eq!(relative("C:\\w\\a.rs", "C:\\w", "C:\\w"), "a.rs");
        assert_eq!(relative("a.rs", "", "/x"), "/x/a.rs");
    }

    #[test]
    fn a_models_word_about_changed_files_counts_for_nothing() {
        let events = [call("Read", json!({"file_path": "/p/a.rs"})), call("Bash", json!({"command": "ls"}))];
        let mut drafts = [draft(&["a.rs", "/p/lib/printed.rs", "lib/printed.rs", "made/up.rs"], &["a.rs"])];
        correct(&mut drafts, &events, "/p");
        assert_eq!(drafts[0].files_modified, Vec::<String>::new());
        assert_eq!(drafts[0].files_read, ["a.rs", "lib/printed.rs"]);
    }

    #[test]
    fn claims_only_divide_the_evidence() {
        let write = |path: &str| call("Write", json!({"file_path": path, "content": "x"}));
        let events = [write("/p/a.rs"), write("/p/b.rs")];
        let mut drafts = [draft(&[], &["/p/a.rs"]), draft(&[], &["made/up.rs"])];
        correct(&mut drafts, &events, "/p");
        assert_eq!(
            (&drafts[0].files_modified[..], &drafts[1].files_modified[..]),
            (&[String::from("a.rs")][..], &[String::from("b.rs")][..])
        );
        let mut missing = [draft(&[], &[])];
        correct(&mut missing, &events, "/p");
        assert_eq!(missing[0].files_modified, ["a.rs", "b.rs"]);
    }
}
