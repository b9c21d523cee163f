//! What the same task costs in tokens with the read gate and the outline, and with plain reads: sessions of the real
//! client with a scripted model, in a checkout of a library that this program is built with.
//!
//! Every figure is counted by the program's own estimator over the last request of a session: all that was added to
//! the conversation after the user's prompt, calls and their results alike.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::client::{Client, REFERENCE};
use crate::common::world::binary;
use crate::common::{AgentApi, Step, World, wait_for};
use crate::row;

#[path = "../../../src/model/tokens.rs"]
#[allow(unused_imports, reason = "the file has tests of its own")]
mod estimate;

/// The library, and those of its files that the task is about.
const LIBRARY: &str = "rusqlite";
const FILES: [&str; 3] = ["transaction.rs", "statement.rs", "functions.rs"];
/// What the task changes.
const OLD: &str = "panic!(\"Transaction dropped unexpectedly.\")";
const NEW: &str = "panic!(\"A transaction was dropped that was neither committed nor rolled back.\")";

/// What the agent does when a read is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    /// There is no gate: every file is read whole.
    Plain,
    /// It takes what it is offered: an outline and the lines in question of the file that it changes, one memory and one
    /// function of a file that it only has to understand, and the titles alone of the third.
    Follows,
    /// It insists on every file.
    Insists,
}

pub fn of_one_task() {
    let Some(client) = Client::find(REFERENCE) else {
        println!(
            "| tokens of one task | SKIPPED: Claude Code {REFERENCE} is not installed, see scripts/get-client |"
        );
        return;
    };
    let [plain, follows, insists] =
        [Agent::Plain, Agent::Follows, Agent::Insists].map(|agent| session(&client, agent));
    let whole = total(&plain);
    for (what, steps) in
        [("plain reads", plain), ("gate and outline", follows), ("every held back read insisted on", insists)]
    {
        steps
            .iter()
            .for_each(|step| row(&format!("{what}: {}", step.call), &format!("{} tokens", step.tokens)));
        let sum = total(&steps);
        row(
            &format!("{what}: together"),
            &format!("{sum} tokens ({:.0} %)", 100.0 * sum as f64 / whole as f64),
        );
    }
}

/// A part of a conversation.
#[derive(Debug)]
struct Part {
    call: String,
    tokens: usize,
}

fn total(steps: &[Part]) -> usize {
    steps.iter().map(|step| step.tokens).sum()
}

/// Two sessions: one that learns something of the files, and the one that is counted.
fn session(client: &Client, agent: Agent) -> Vec<Part> {
    let (mut world, api) = (World::new(), AgentApi::start());
    // What a session start and a prompt are told is another matter, and the same for all.
    for name in ["CMEM_CONTEXT_TOKENS", "CMEM_PROMPT_HITS"] {
        world.set(name, "0");
    }
    let project = world.repository("project");
    for name in FILES {
        fs::copy(sources().join(name), project.join(name)).unwrap();
    }
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    learn(client, &world, &api, &project);
    if agent == Agent::Plain {
        world.set("CMEM_READ_GATE", "off");
    }
    let before = api.turns().len();
    let memory = memory_about(&world, &project, "statement.rs");
    api.script(task(agent, &project, memory));
    client.run(
        &world,
        &api,
        &project,
        "Say more when a transaction is dropped; statements and functions too?",
        &[],
    );
    assert!(
        fs::read_to_string(project.join("transaction.rs")).unwrap().contains(NEW),
        "{agent:?}: the task is done"
    );
    let turns = api.turns();
    let held_back =
        turns[before..].last().unwrap()["messages"].to_string().matches("This read was held back").count();
    assert_eq!(held_back, if agent == Agent::Plain { 0 } else { FILES.len() }, "{agent:?}");
    if agent == Agent::Follows {
        let all = turns.last().unwrap()["messages"].to_string();
        // Of the outline, and of the function.
        for part in
            ["fn savepoint(&mut self) -> Result<Savepoint<'_>>", "mem::swap(&mut stmt, &mut self.stmt)"]
        {
            assert!(all.contains(part), "{part}: {all}");
        }
    }
    added(turns.last().unwrap())
}

fn learn(client: &Client, world: &World, api: &AgentApi, project: &Path) {
    let edit = |name: &str, old: &str, new: &str| {
        let file = project.join(name);
        [
            Step::call(
                "Bash",
                json!({"command": format!("grep -n '{old}' {name}"), "description": "Find it"}),
            ),
            Step::call("Read", json!({"file_path": file, "limit": 20})),
            Step::call("Edit", json!({"file_path": file, "old_string": old, "new_string": new})),
        ]
    };
    let mut steps = Vec::new();
    steps.extend(edit(
        "transaction.rs",
        "Savepoint dropped unexpectedly.",
        "A savepoint was dropped while it was open.",
    ));
    steps.extend(edit("statement.rs", "fn finalize_(&mut self)", "pub(crate) fn finalize_(&mut self)"));
    steps.extend(edit(
        "functions.rs",
        "Internal error - null function pointer",
        "Internal error: the function pointer is null",
    ));
    steps.push(Step::say(
        "transaction.rs: a savepoint that is dropped while it is open panics with a clear message now, because \
         DropBehavior::Panic alone did not say what was dropped. statement.rs: Statement::finalize_ swaps the raw \
         statement out before it finalizes, so dropping a statement twice is harmless and never panics. functions.rs: \
         a user function that fails reports its error through SQLite and never panics on drop.",
    ));
    api.script(steps);
    client.run(world, api, project, "Make what is dropped unexpectedly say so.", &[]);
    wait_for("every file is remembered", Duration::from_secs(60), || {
        FILES.iter().all(|name| !about(world, project, name).is_empty())
    });
    world.wait_for_drainers();
}

/// The calls of the agent, one after the other.
fn task(agent: Agent, project: &Path, memory: i64) -> Vec<Step> {
    let file = |name: &str| project.join(name);
    let whole = |name: &str| Step::call("Read", json!({"file_path": file(name)}));
    let shell = |command: String| Step::call("Bash", json!({"command": command, "description": "Look"}));
    let cmem = binary().display().to_string();
    let mut steps = Vec::new();
    for name in FILES {
        steps.push(whole(name));
        match (agent, name) {
            (Agent::Plain, _) => {}
            (Agent::Insists, _) => steps.push(whole(name)),
            (Agent::Follows, "transaction.rs") => {
                steps.push(shell(format!("{cmem} outline {name}")));
                steps.push(Step::call("Read", json!({"file_path": file(name), "offset": 215, "limit": 20})));
            }
            (Agent::Follows, "statement.rs") => {
                steps.push(shell(format!("{cmem} get {memory}")));
                steps.push(shell(format!("{cmem} unfold {name} Statement.finalize_")));
            }
            (Agent::Follows, _) => {}
        }
    }
    steps.push(Step::call(
        "Edit",
        json!({"file_path": file("transaction.rs"), "old_string": OLD, "new_string": NEW}),
    ));
    steps.push(Step::say(
        "A dropped transaction says what happened; statements and functions never panic on drop.",
    ));
    steps
}

/// The sources of the library, as cargo has them.
fn sources() -> PathBuf {
    let answer =
        Command::new("cargo").args(["metadata", "--format-version", "1", "--locked"]).output().unwrap();
    let metadata: Value = serde_json::from_slice(&answer.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let manifest =
        packages.iter().find(|package| package["name"] == LIBRARY).unwrap()["manifest_path"].as_str();
    Path::new(manifest.unwrap()).parent().unwrap().join("src")
}

fn about(world: &World, project: &Path, name: &str) -> Vec<Value> {
    let found = world.cmem_in(project, &["search", name, "--json"], b"").json();
    let is_about = |row: &&Value| row["kind"] == "observation" && row["files"].to_string().contains(name);
    found["results"].as_array().unwrap().iter().filter(is_about).cloned().collect()
}

fn memory_about(world: &World, project: &Path, name: &str) -> i64 {
    about(world, project, name)[0]["id"].as_i64().unwrap()
}

/// All that came after the first message of the user: each call with its result, then what else was said.
fn added(request: &Value) -> Vec<Part> {
    let messages = request["messages"].as_array().unwrap();
    let first = messages.iter().position(|message| message["role"] == "assistant").unwrap();
    let blocks =
        || messages[first..].iter().flat_map(|message| message["content"].as_array().into_iter().flatten());
    let mut steps: Vec<Part> = Vec::new();
    for call in blocks().filter(|block| block["type"] == "tool_use") {
        let result = blocks().find(|block| block["tool_use_id"] == call["id"]).unwrap();
        steps.push(Part { call: label(call), tokens: tokens(&call["input"]) + tokens(&result["content"]) });
    }
    let other =
        blocks().filter(|block| block["type"] == "text").map(|block| tokens(&block["text"])).sum::<usize>()
            + messages[first..]
                .iter()
                .filter(|message| message["content"].is_string())
                .map(|message| tokens(&message["content"]))
                .sum::<usize>();
    steps.push(Part { call: String::from("what else was said"), tokens: other });
    steps
}

/// A call, in short: without the folders, which are another in every run.
fn label(call: &Value) -> String {
    let input = &call["input"];
    let words = input["command"].as_str().or_else(|| input["file_path"].as_str()).unwrap_or_default();
    let names: Vec<&str> = words.split(' ').map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let part = if input["offset"].is_number() { ", some lines" } else { "" };
    format!("{} {}{part}", call["name"].as_str().unwrap_or_default(), names.join(" "))
}

fn tokens(content: &Value) -> usize {
    match content {
        Value::String(text) => estimate::estimate_tokens(text),
        Value::Array(parts) => parts.iter().map(|part| tokens(&part["text"])).sum(),
        Value::Object(_) => estimate::estimate_tokens(&content.to_string()),
        _ => 0,
    }
}
