//! Recorded sessions: `tests/fixtures/sessions/*.jsonl`, see the README there.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One hook call.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// Milliseconds since the first one.
    pub at_ms: u64,
    /// What the client wrote to the hook.
    pub payload: Value,
}

impl Call {
    pub fn event(&self) -> &str {
        self.text("hook_event_name")
    }

    /// A field of the payload; empty when there is none.
    pub fn text(&self, field: &str) -> &str {
        self.payload[field].as_str().unwrap_or_default()
    }

    pub fn is_tool(&self) -> bool {
        matches!(self.event(), "PostToolUse" | "PostToolUseFailure")
    }
}

/// A session, its calls in the order in which they came.
#[derive(Debug)]
pub struct Session {
    pub name: String,
    pub calls: Vec<Call>,
}

impl Session {
    pub fn tools(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.is_tool())
    }
}

/// All of them, by name.
pub fn all() -> Vec<Session> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let read = |file: &std::path::PathBuf| Session {
        name: file.file_stem().unwrap().to_str().unwrap().to_owned(),
        calls: fs::read_to_string(file)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    };
    files.iter().map(read).collect()
}
