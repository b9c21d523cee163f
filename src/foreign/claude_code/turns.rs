//! A transcript as the payloads that its hooks would have sent, turn by turn.
//!
//! One line is one JSON value. An assistant's message is one line for each of its blocks; results of tools are lines of
//! the user. Lines that the client wrote for itself (`isMeta`, summaries of a compaction, errors of the API) are no part
//! of the conversation.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::hook;
use crate::model::Timestamp;

/// Texts with which the client itself begins a line of the user.
const NOT_THE_USERS: [&str; 5] =
    ["<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "Caveat: The messages below"];
const INTERRUPTED: &str = "[Request interrupted by user";
/// A call that the user refused, or that never ran.
const NEVER_RAN: [&str; 4] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action",
    "<tool_use_error>Error: No such tool available",
    "<tool_use_error>Cancelled",
];

/// One payload with its moment.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sent {
    pub(super) at: Timestamp,
    pub(super) branch: Option<String>,
    pub(super) payload: Value,
}

/// A prompt and what followed it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) session: String,
    /// Id of its first line: a session that goes on in another file begins with a copy of the lines so far.
    pub(super) first_line: String,
    pub(super) begins: Timestamp,
    pub(super) sent: Vec<Sent>,
    /// The byte after its last line.
    pub(super) end: u64,
    /// It is over: another follows, or the assistant said that it is done.
    pub(super) over: bool,
}

/// Reads the turns of one transcript.
pub(super) struct Turns {
    reader: BufReader<File>,
    at: u64,
    line_number: i64,
    /// Of the file, for lines that do not say.
    session: String,
    turn: Option<Open>,
    ended: bool,
    /// Lines that are no JSON.
    pub(super) bad_lines: Vec<i64>,
}

/// The turn that is being read.
struct Open {
    turn: Turn,
    calls: HashMap<String, Call>,
    said: Vec<String>,
    said_at: Timestamp,
    done: bool,
    cwd: String,
    branch: Option<String>,
    /// It holds something beside a command of the client's own.
    matters: bool,
}

struct Call {
    name: Value,
    input: Value,
}

impl Turns {
    /// From a byte on at which a line begins.
    pub(super) fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Self {
            reader: BufReader::new(file),
            at: from,
            line_number: 0,
            session: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            turn: None,
            ended: false,
            bad_lines: Vec::new(),
        })
    }

    /// The next turn; `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<Turn>> {
        while !self.ended {
            let before = self.at;
            let mut line = Vec::new();
            let length = self.reader.read_until(b'\n', &mut line)? as u64;
            if length == 0 || line.last() != Some(&b'\n') {
                // Half a line is still being written.
                self.ended = true;
                break;
            }
            self.at += length;
            self.line_number += 1;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let Ok(value) = hook::parse_value(&line) else {
                self.bad_lines.push(self.line_number);
                continue;
            };
            if let Some(turn) = self.take(&value, before) {
                return Ok(Some(turn));
            }
        }
        let end = self.at;
        Ok(self.turn.take().map(|open| open.close(end, false)))
    }

    /// Takes a line in; gives the turn that ended before it.
    fn take(&mut self, line: &Value, before: u64) -> Option<Turn> {
        let is = |key: &str| line[key] == true;
        let kind = line["type"].as_str().unwrap_or_default();
        if !matches!(kind, "user" | "assistant")
            || is("isMeta")
            || is("isCompactSummary")
            || is("isVisibleInTranscriptOnly")
            || is("isApiErrorMessage")
            || line["message"]["model"] == "<synthetic>"
        {
            return None;
        }
        let content = &line["message"]["content"];
        let is_own = kind == "user" && !is("isSidechain");
        if is_own && !blocks(content).any(|block| block["type"] == "tool_result") {
            let text = text_of(content).unwrap_or_default();
            if let Some(prompt) = Prompt::read(&text) {
                let over = self.turn.take().map(|open| open.close(before, true));
                self.begin(line, Some(prompt));
                return over;
            }
            if let Some(open) = self.turn.as_mut().filter(|_| text.starts_with(INTERRUPTED)) {
                open.said.clear();
                open.done = true;
            }
            return None;
        }
        if self.turn.is_none() {
            // What came before its first prompt, in a file that begins in the middle.
            self.begin(line, None);
        }
        if let Some(open) = &mut self.turn {
            open.go_on(line, kind, content);
        }
        None
    }

    fn begin(&mut self, line: &Value, prompt: Option<Prompt>) {
        let session = line["sessionId"].as_str().filter(|id| !id.is_empty());
        let session = session.map_or_else(|| self.session.clone(), str::to_owned);
        let begins = time_of(line).unwrap_or_default();
        let mut open = Open::new(session, begins);
        line["uuid"].as_str().unwrap_or_default().clone_into(&mut open.turn.first_line);
        open.matters = prompt.as_ref().is_some_and(|prompt| !prompt.is_command);
        open.look(line);
        if let Some(prompt) = prompt {
            let mut payload = open.payload("UserPromptSubmit");
            payload.insert(String::from("prompt"), Value::from(prompt.text));
            if let Some(id) = line.get("promptId") {
                payload.insert(String::from("prompt_id"), id.clone());
            }
            open.send(begins, payload);
        }
        self.turn = Some(open);
    }
}

impl Open {
    fn new(session: String, begins: Timestamp) -> Self {
        let first_line = String::new();
        Self {
            turn: Turn { session, first_line, begins, sent: Vec::new(), end: 0, over: false },
            calls: HashMap::new(),
            said: Vec::new(),
            said_at: begins,
            done: false,
            cwd: String::new(),
            branch: None,
            matters: false,
        }
    }

    /// Where the session is at this line.
    fn look(&mut self, line: &Value) {
        if let Some(cwd) = line["cwd"].as_str().filter(|cwd| !cwd.is_empty()) {
            cwd.clone_into(&mut self.cwd);
        }
        if let Some(branch) = line["gitBranch"].as_str() {
            self.branch = Some(branch.to_owned()).filter(|branch| !branch.is_empty() && branch != "HEAD");
        }
    }

    fn payload(&self, event: &str) -> Map<String, Value> {
        let fields = json!({"hook_event_name": event, "session_id": self.turn.session, "cwd": self.cwd});
        match fields {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn send(&mut self, at: Timestamp, payload: Map<String, Value>) {
        self.turn.sent.push(Sent { at, branch: self.branch.clone(), payload: Value::Object(payload) });
    }

    fn go_on(&mut self, line: &Value, kind: &str, content: &Value) {
        let aside = line["isSidechain"] == true;
        if !aside {
            self.look(line);
        }
        let at = time_of(line).unwrap_or(self.said_at);
        if kind == "user" {
            self.results(line, content, at);
            if !aside {
                self.said.clear();
                self.done = false;
            }
            return;
        }
        self.matters |= !aside;
        for block in blocks(content) {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    self.calls
                        .insert(id, Call { name: block["name"].clone(), input: block["input"].clone() });
                    if !aside {
                        self.done = false;
                    }
                }
                Some("text") if !aside => self.said.extend(block["text"].as_str().map(str::to_owned)),
                _ => {}
            }
        }
        if aside {
            return;
        }
        if let Value::String(text) = content {
            self.said.push(text.clone());
        }
        self.said_at = at;
        let reason = line["message"]["stop_reason"].as_str();
        self.done = matches!(reason, Some("end_turn" | "stop_sequence" | "max_tokens" | "refusal"));
    }

    /// Results of calls, as the hook after each call sends them.
    fn results(&mut self, line: &Value, content: &Value, at: Timestamp) {
        let results: Vec<&Value> = blocks(content).filter(|block| block["type"] == "tool_result").collect();
        for result in &results {
            let id = result["tool_use_id"].as_str().unwrap_or_default();
            let Some(call) = self.calls.remove(id) else { continue };
            let failed = result["is_error"] == true;
            let text = text_of(&result["content"]).unwrap_or_default();
            if failed && NEVER_RAN.iter().any(|start| text.starts_with(start)) {
                continue;
            }
            let mut payload = self.payload(if failed { "PostToolUseFailure" } else { "PostToolUse" });
            payload.insert(String::from("tool_name"), call.name);
            payload.insert(String::from("tool_input"), call.input);
            payload.insert(String::from("tool_use_id"), Value::from(id));
            if failed {
                payload.insert(String::from("error"), Value::from(text));
            } else {
                // The client's own form, where it is there and is of this call.
                let own = line.get("toolUseResult").filter(|own| !own.is_null() && results.len() == 1);
                payload.insert(String::from("tool_response"), own.unwrap_or(&result["content"]).clone());
            }
            for (key, name) in [("agentId", "agent_id"), ("attributionAgent", "agent_type")] {
                if let Some(value) = line.get(key).filter(|value| value.is_string()) {
                    payload.insert(name.to_owned(), value.clone());
                }
            }
            self.send(at, payload);
        }
    }

    /// The turn, with the hook at its end.
    fn close(mut self, end: u64, followed: bool) -> Turn {
        if !self.said.is_empty() {
            let mut payload = self.payload("Stop");
            let said = std::mem::take(&mut self.said);
            payload.insert(String::from("last_assistant_message"), Value::from(said.join("\n")));
            self.send(self.said_at, payload);
        }
        self.turn.end = end;
        self.turn.over = followed || self.done && self.calls.is_empty();
        if !self.matters {
            self.turn.sent.clear();
        }
        self.turn
    }
}

/// What happened in the subagents of a session whose transcript is `path`, in the order of time.
pub(super) fn of_subagents(path: &Path, session: &str) -> Vec<Sent> {
    let folder = path.with_extension("").join("subagents");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let mut sent: Vec<Sent> = files.iter().flat_map(|file| of_subagent(file, session)).collect();
    sent.sort_by_key(|sent| sent.at);
    sent
}

fn of_subagent(file: &Path, session: &str) -> Vec<Sent> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let id = stem.strip_prefix("agent-").unwrap_or(&stem).to_owned();
    // The client's own: it writes the summary when the context is compacted.
    if id.starts_with("acompact") {
        return Vec::new();
    }
    let Ok(text) = fs::read(file) else { return Vec::new() };
    let lines: Vec<Value> =
        text.split(|byte| *byte == b'\n').filter_map(|line| hook::parse_value(line).ok()).collect();
    let agent = lines.iter().find_map(|line| line.get("attributionAgent").cloned()).unwrap_or_default();
    let task = lines.iter().find(|line| line["type"] == "user");
    let task = task.and_then(|line| text_of(&line["message"]["content"])).unwrap_or_default();
    if task.trim() == "Warmup" {
        return Vec::new();
    }
    let mut open = Open::new(session.to_owned(), Timestamp::default());
    for line in lines {
        let kind = line["type"].as_str().unwrap_or_default().to_owned();
        if !matches!(kind.as_str(), "user" | "assistant") || line["isMeta"] == true {
            continue;
        }
        let content = line["message"]["content"].clone();
        let mut own = line;
        // It is the main line of its own conversation.
        own["isSidechain"] = Value::Bool(false);
        own["agentId"] = Value::from(id.as_str());
        open.go_on(&own, &kind, &content);
    }
    if !open.said.is_empty() {
        let mut payload = open.payload("SubagentStop");
        payload.insert(String::from("agent_id"), Value::from(id.as_str()));
        payload.insert(String::from("agent_type"), agent);
        payload.insert(String::from("last_assistant_message"), Value::from(open.said.join("\n")));
        let at = open.said_at;
        open.send(at, payload);
    }
    open.turn.sent
}

/// What the user typed.
struct Prompt {
    text: String,
    /// A command of the client, which may have needed no model.
    is_command: bool,
}

impl Prompt {
    /// `None` when the text is not the user's.
    fn read(text: &str) -> Option<Self> {
        let plain = text.trim();
        if plain.is_empty() || plain.starts_with(INTERRUPTED) {
            return None;
        }
        if NOT_THE_USERS.iter().any(|start| plain.starts_with(start)) {
            return None;
        }
        let Some(name) = inside(plain, "command-name") else {
            return Some(Self { text: text.to_owned(), is_command: false });
        };
        let args = inside(plain, "command-args").unwrap_or_default();
        Some(Self { text: format!("{name} {args}").trim().to_owned(), is_command: true })
    }
}

fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
}

fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// The texts in a content; `None` when there are none.
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

fn time_of(line: &Value) -> Option<Timestamp> {
    Timestamp::parse(line["timestamp"].as_str()?)
}
