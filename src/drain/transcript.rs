//! The assistant's last message, for clients whose Stop event does not hold it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// How much of the transcript's end is read: many turns, and a bound on a file that may be gigabytes.
const TAIL_BYTES: u64 = 2 << 20;
/// The client may write the last lines after it has started the hook.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);

/// Reads the text of the last assistant message, raw: the caller cleans it. `None` when there is none.
pub(super) fn last_assistant_message(path: &Path) -> Option<String> {
    wait_for_message(path, || thread::sleep(PAUSE))
}

fn wait_for_message(path: &Path, mut pause: impl FnMut()) -> Option<String> {
    for attempt in 0..TRIES {
        if attempt > 0 {
            pause();
        }
        // Copilot CLI may even make the file after its hook.
        if let Some(message) = read_tail(path).and_then(|tail| last_message(&tail)) {
            return Some(message);
        }
    }
    None
}

fn read_tail(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An assistant turn is one line per content block: the texts since the last line of the user are joined.
fn last_message(tail: &str) -> Option<String> {
    let mut blocks = Vec::new();
    for line in tail.lines().rev() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else { continue };
        let is_side = entry["isSidechain"] == true || entry["isApiErrorMessage"] == true;
        // Claude Code's type, Cursor's role.
        match entry["type"].as_str().or(entry["role"].as_str()) {
            Some("assistant") if !is_side => blocks.extend(text_of(&entry["message"]["content"])),
            // Copilot CLI: one line for each message, many to a turn.
            Some("assistant.message") => {
                if let Some(text) = text_of(&entry["data"]["content"]).filter(|text| !text.is_empty()) {
                    return Some(text);
                }
            }
            Some("user.message") => return None,
            Some("user") if !blocks.is_empty() => break,
            Some("user") if !is_side => return None,
            _ => {}
        }
    }
    blocks.reverse();
    (!blocks.is_empty()).then(|| blocks.join("\n"))
}

fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;

    fn assistant(text: &str) -> String {
        serde_json::json!({"type":"assistant","message":{"content":[{"type":"text","text":text}]}})
            .to_string()
    }

    #[test]
    fn joins_the_blocks_of_the_last_turn_only() {
        let tail = [USER, &assistant("old"), USER, &assistant("one"), "torn {", &assistant("two")].join("\n");
        assert_eq!(last_message(&tail).as_deref(), Some("one\ntwo"));
    }

    #[test]
    fn other_agents_write_other_lines() {
        let cursor = [
            r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#,
            r#"{"role":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}"#,
        ];
        assert_eq!(last_message(&cursor.join("\n")).as_deref(), Some("hello"));
        let copilot = [
            r#"{"type":"user.message","data":{"content":"hi"}}"#,
            r#"{"type":"assistant.message","data":{"content":"looking"}}"#,
            r#"{"type":"assistant.message","data":{"content":"found it"}}"#,
            r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{}]}}"#,
            r#"{"type":"assistant.turn_end","data":{"turnId":"0"}}"#,
        ];
        assert_eq!(last_message(&copilot.join("\n")).as_deref(), Some("found it"));
        assert_eq!(last_message(copilot[0]), None);
    }

    #[test]
    fn a_file_that_comes_late_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let found = wait_for_message(&path, || std::fs::write(&path, assistant("late")).unwrap());
        assert_eq!(found.as_deref(), Some("late"));
        assert_eq!(wait_for_message(&folder.path().join("never"), || {}), None);
    }

    #[test]
    fn a_turn_that_is_not_written_yet_is_no_message() {
        let tail = [USER, &assistant("old"), USER].join("\n");
        assert_eq!(last_message(&tail), None);
    }
}
