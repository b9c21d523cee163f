//! What came of telling memories before a read: what the session does next with the file and with the memories.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::name_of;
use crate::config::Paths;
use crate::hook::decode::is_edit;
use crate::hook::triage;
use crate::hook::words::{Word, after_options, words};
use crate::model::{Event, EventKind, Outcome, estimate_tokens};
use crate::spool::{Gate, Then, Trail, note_next};

/// Notes what a session does with files that memories were told of, and which files it edits. `counts`: whether this
/// delivery of the event is the one that is counted.
pub(in crate::hook) fn follow(paths: &Paths, trail: &Trail, event: &Event, counts: &impl Fn() -> bool) {
    let EventKind::Tool { tool, input, outcome: Outcome::Response(response) } = &event.kind else { return };
    if is_edit(tool) {
        let Some(file) = file_of(event, input) else { return };
        // An edit that is not remembered costs one needless refusal at worst, and only where the client wants a read.
        let _ = trail.add_edit(&file);
        next(paths, trail, &file, |_| Some(Then::Edited).filter(|_| counts()));
        return;
    }
    if tool == "apply_patch" {
        for file in patched(input).map(|path| name_of(&Path::new(&event.cwd).join(path))) {
            let _ = trail.add_edit(&file);
            next(paths, trail, &file, |_| Some(Then::Edited).filter(|_| counts()));
        }
        return;
    }
    if trail.gates().is_empty() {
        return;
    }
    match tool.as_str() {
        "Read" => {
            let Some(file) = file_of(event, input) else { return };
            let tokens = estimate_tokens(&text_of_read(response));
            let is_part =
                ["offset", "limit"].iter().any(|name| input.get(name).is_some_and(|v| !v.is_null()));
            let then = if is_part { Then::Part(tokens) } else { Then::Whole(tokens) };
            // Beside a hint, the read goes on: that is nothing that came of it.
            next(paths, trail, &file, |gate| (gate.is_block && counts()).then_some(then));
        }
        "Bash" => {
            let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
            let text = response.get("stdout").and_then(Value::as_str).unwrap_or_default();
            if let Some((gate, then)) = said(trail, Path::new(&event.cwd), command, estimate_tokens(text))
                && counts()
            {
                note_next(paths, gate, then);
            }
        }
        tool if triage::is_own_tool(tool) => {
            let tokens = estimate_tokens(&text_of_blocks(response));
            let next = match tool.rsplit("__").next() {
                Some("get_observations") => {
                    told_of(trail, &asked_for(input)).map(|gate| (gate, Then::Got(tokens)))
                }
                Some("outline" | "unfold") => {
                    // The server stands in the project, wherever the session went meanwhile.
                    let project = env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
                    let path = input.get("path").and_then(Value::as_str).unwrap_or_default();
                    let dirs = project.into_iter().chain([PathBuf::from(&event.cwd)]);
                    dirs.into_iter()
                        .find_map(|dir| about(trail, &dir.join(path)))
                        .map(|gate| (gate, Then::Outlined(tokens)))
                }
                _ => None,
            };
            if let Some((gate, then)) = next
                && counts()
            {
                note_next(paths, gate, then);
            }
        }
        _ => {}
    }
}

/// The last gate that told one of these memories.
fn told_of<'a>(trail: &'a Trail, ids: &[i64]) -> Option<&'a Gate> {
    trail.gates().iter().rev().find(|gate| gate.told.iter().any(|id| ids.contains(id)))
}

/// The gate of a file.
fn about<'a>(trail: &'a Trail, path: &Path) -> Option<&'a Gate> {
    let file = name_of(path);
    trail.gates().iter().find(|gate| gate.file == file)
}

/// What a command line did with a file or with memories that were told of. It has one output, so that it counts once;
/// whatever another program than cmem says of a file whose read was held back (`cat`, `grep`) is a part of it.
fn said<'a>(trail: &'a Trail, cwd: &Path, command: &str, tokens: usize) -> Option<(&'a Gate, Then)> {
    let (mut read, mut got, mut outlined) = (None, None, None);
    let mut dir = cwd.to_owned();
    let is_name = |word: &&Word| !word.text.starts_with('-');
    for call in words(command, &[';', '|', '&', '\n']).split(|word| word.is_end) {
        match own(call) {
            Some(("get", ids)) => {
                let ids: Vec<i64> = ids.iter().filter_map(|word| word.text.parse().ok()).collect();
                got = got.or_else(|| told_of(trail, &ids));
            }
            Some(("outline" | "unfold", words)) => {
                let path = words.iter().find(is_name);
                outlined = outlined.or_else(|| about(trail, &dir.join(&path?.text)));
            }
            Some(_) => {}
            None if call.first().is_some_and(|word| word.text == "cd") => {
                dir.extend(call.get(1).map(|word| &word.text));
            }
            None => {
                let mut names = call.iter().skip(1).filter(is_name);
                let gate = names.find_map(|word| about(trail, &dir.join(&word.text)));
                read = read.or(gate.filter(|gate| gate.is_block));
            }
        }
    }
    (read.filter(|_| tokens > 0).map(|gate| (gate, Then::Part(tokens))))
        .or(got.map(|gate| (gate, Then::Got(tokens))))
        .or(outlined.map(|gate| (gate, Then::Outlined(tokens))))
}

/// A call of cmem: its command, and the words behind it.
fn own(call: &[Word]) -> Option<(&str, &[Word])> {
    let at = call.iter().position(|word| word.text.rsplit('/').next() == Some("cmem"))?;
    after_options(&call[at + 1..])
}

fn next(paths: &Paths, trail: &Trail, file: &str, then: impl Fn(&Gate) -> Option<Then>) {
    if let Some(gate) = trail.gates().iter().find(|gate| gate.file == file)
        && let Some(then) = then(gate)
    {
        note_next(paths, gate, then);
    }
}

/// The files that a patch changes, in the form of Codex: the whole argument, or one of its fields.
fn patched(input: &Value) -> impl Iterator<Item = &str> {
    let fields = ["command", "patchText", "input"].into_iter().filter_map(|name| input.get(name)?.as_str());
    let text = input.as_str().into_iter().chain(fields).next().unwrap_or_default();
    text.lines().filter_map(|line| {
        let changed = ["*** Update File: ", "*** Add File: ", "*** Move to: "];
        changed.iter().find_map(|label| line.strip_prefix(label)).map(str::trim)
    })
}

fn file_of(event: &Event, input: &Value) -> Option<String> {
    let path = ["file_path", "notebook_path"].iter().find_map(|key| input.get(key)?.as_str())?;
    Some(name_of(&Path::new(&event.cwd).join(path)))
}

/// The lines that a read gave, in the shapes of all clients.
fn text_of_read(response: &Value) -> String {
    let content = response.pointer("/file/content").or_else(|| response.get("content")).unwrap_or(response);
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

/// Ids that the tool was called with: a list or one, as numbers or texts.
fn asked_for(input: &Value) -> Vec<i64> {
    let id = |value: &Value| value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
    match input.get("ids") {
        Some(Value::Array(ids)) => ids.iter().filter_map(id).collect(),
        Some(Value::String(ids)) => ids.split(',').filter_map(|word| word.trim().parse().ok()).collect(),
        Some(one) => id(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The text of what an MCP tool answers: blocks, in a list or below `content`.
fn text_of_blocks(response: &Value) -> String {
    let blocks = response.get("content").unwrap_or(response).as_array();
    blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Platform;

    fn gate(name: &str, path: &str, told: &[i64], is_block: bool) -> Gate {
        Gate { file: name_of(Path::new(path)), name: name.to_owned(), is_block, told: told.to_vec() }
    }

    #[test]
    fn a_command_line_tells_what_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let trail = || Trail::read(&paths, Platform::Claude, "s");
        assert!(trail().add_gate(&gate("a", "/app/src/a.rs", &[7, 9], true)).unwrap());
        assert!(trail().add_gate(&gate("b", "/app/my b.rs", &[8], false)).unwrap());
        let trail = trail();
        let came = |command: &str| {
            let (gate, then) = said(&trail, Path::new("/app"), command, 5)?;
            Some(format!("{} {then:?}", gate.name))
        };
        for (command, told) in [
            ("cmem get 7 12 --json", "a Got(5)"),
            ("'/my tools/cmem' get 9", "a Got(5)"),
            ("cd x && /usr/bin/cmem --data-dir /d get S3 8| head -n 3", "b Got(5)"),
            ("cmem outline src/a.rs", "a Outlined(5)"),
            ("cd src; cmem --json unfold --json ./a.rs f", "a Outlined(5)"),
            ("cmem outline my\\ b.rs", "b Outlined(5)"),
            ("cat src/a.rs | head", "a Part(5)"),
            ("cd src && grep -n 'fn x' a.rs", "a Part(5)"),
            ("sed -n 1,80p \"/app/src/a.rs\"; cmem get 7", "a Part(5)"),
        ] {
            assert_eq!(came(command).as_deref(), Some(told), "{command}");
        }
        for other in [
            "",
            "cmem",
            "cmem search get 7",
            "git get 7",
            "cmem gets 7",
            "cmem get 77",
            "cat b.rs src",
            "cat 'my b.rs'",
            "cmem outline",
            "echo 'cmem outline src/a.rs'",
        ] {
            assert_eq!(came(other), None, "{other}");
        }
        assert!(said(&trail, Path::new("/app"), "sed -i s/x/y/ src/a.rs", 0).is_none());
    }

    #[test]
    fn ids_and_text_of_the_tool() {
        for ids in [json!([12, "15", "S3"]), json!("12, 15,S3")] {
            assert_eq!(asked_for(&json!({ "ids": ids })), [12, 15], "{ids}");
        }
        assert_eq!(asked_for(&json!({"ids": 7})), [7]);
        assert_eq!(asked_for(&json!({"id": 7})), Vec::<i64>::new());
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]);
        assert_eq!(text_of_blocks(&blocks), "ab");
        assert_eq!(text_of_blocks(&json!({ "content": blocks })), "ab");
    }

    #[test]
    fn files_of_a_patch() {
        let text = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n*** Add File: c/d.rs\n+z\n*** End Patch";
        for input in [json!(text), json!({"command": text}), json!({"patchText": text})] {
            assert_eq!(patched(&input).collect::<Vec<_>>(), ["a.rs", "b.rs", "c/d.rs"]);
        }
        assert_eq!(patched(&json!({"command": ["x"]})).count(), 0);
    }

    #[test]
    fn what_a_read_gave_is_found_in_every_shape() {
        for (response, text) in [
            (json!({"type": "text", "file": {"content": "a"}}), "a"),
            (json!({"content": "b"}), "b"),
            (json!("c"), "c"),
        ] {
            assert_eq!(text_of_read(&response), text);
        }
    }
}
