//! `cmem import --from claude-code`: transcripts go the way of events, notes are remembered.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::common::mock::ModelServer;
use crate::common::{World, payload};

/// A transcript as the client writes it.
struct Transcript {
    path: PathBuf,
    session: String,
    cwd: PathBuf,
    lines: String,
    seconds: u64,
}

impl Transcript {
    fn new(world: &World, session: &str) -> Self {
        Self::at(world, session, &world.project())
    }

    fn at(world: &World, session: &str, cwd: &Path) -> Self {
        let folder = world.path("home/.claude/projects").join(escaped(cwd));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{session}.jsonl"));
        let session = session.to_owned();
        Self { path, session, cwd: cwd.to_owned(), lines: String::new(), seconds: 0 }
    }

    fn line(&mut self, kind: &str, content: Value, more: Value) -> &mut Self {
        self.seconds += 1;
        let (minutes, seconds) = (self.seconds / 60, self.seconds % 60);
        let mut line = json!({
            "type": kind,
            "sessionId": self.session,
            "cwd": self.cwd,
            "gitBranch": "main",
            "uuid": payload::fresh_id(),
            "timestamp": format!("2026-02-03T10:{minutes:02}:{seconds:02}.000Z"),
            "message": {"role": kind, "content": content},
        });
        for (key, value) in more.as_object().unwrap() {
            match key.as_str() {
                "stop_reason" => line["message"][key] = value.clone(),
                _ => line[key] = value.clone(),
            }
        }
        self.lines.push_str(&format!("{line}\n"));
        self
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.line("user", json!(text), json!({}))
    }

    fn bash(&mut self, command: &str, stdout: &str) -> &mut Self {
        let id = payload::fresh_id();
        let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": stdout}]);
        let own = json!({"toolUseResult": {"stdout": stdout, "stderr": "", "interrupted": false}});
        self.line("assistant", call, json!({"stop_reason": "tool_use"})).line("user", result, own)
    }

    fn answer(&mut self, text: &str) -> &mut Self {
        self.line("assistant", json!([{"type": "text", "text": text}]), json!({"stop_reason": "end_turn"}))
    }

    fn turn(&mut self, prompt: &str, note: &str) -> &mut Self {
        self.prompt(prompt).bash("make", &format!("@@{note}@@")).answer("Done.")
    }

    fn write(&self) {
        fs::write(&self.path, &self.lines).unwrap();
    }

    /// As if it was written long ago.
    fn age(&self) {
        let then = SystemTime::now() - Duration::from_secs(24 * 3_600);
        File::options().append(true).open(&self.path).unwrap().set_modified(then).unwrap();
    }
}

fn escaped(path: &Path) -> String {
    path.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn import(world: &World, more: &[&str]) -> Value {
    let args = ["import", "--from", "claude-code", "--json", "--yes"];
    world.cmem(&[&args, more].concat()).json()
}

fn whole(world: &World, title: &str) -> Value {
    let rows = world.cmem(&["search", "--json", "--all-projects", title]).json();
    let row = rows["results"].as_array().unwrap().iter().find(|row| row["title"] == title);
    let id = row.unwrap_or_else(|| panic!("{title} is not in {rows}"))["id"].to_string();
    world.cmem(&["get", "--json", id.trim_matches('"')]).json()[0].take()
}

#[test]
fn a_session_is_observed_with_its_own_time_and_id_once() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let mut transcript = Transcript::new(&world, "old-session");
    transcript.turn("Build it", "the build needs make 4").turn("Ship it", "releases go out on Tuesdays");
    transcript.write();
    let report = import(&world, &[]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["events"]), (&json!(2), &json!(6)), "{report:#}");
    let memory = whole(&world, "the build needs make 4");
    assert_eq!(memory["session"], "old-session");
    assert_eq!(memory["created_at"], "2026-02-03T10:00:04.000Z");
    assert_eq!(memory["prompt_number"], 1);
    assert_eq!(whole(&world, "releases go out on Tuesdays")["prompt_number"], 2);
    let prompts = world.cmem(&["search", "*", "--kind", "prompt", "--json"]).json();
    assert_eq!(prompts["results"][0]["created_at"], "2026-02-03T10:00:05.000Z");
    world.assert_all_done();

    let asked = model.requests().len();
    let again = import(&world, &[]);
    assert_eq!((&again["turns"]["new"], model.requests().len()), (&json!(0), asked));
    transcript.turn("And then?", "rollbacks take a minute").write();
    let more = import(&world, &[]);
    assert_eq!((&more["turns"]["new"], &more["turns"]["events"]), (&json!(1), &json!(3)), "{more:#}");
    assert_eq!(whole(&world, "rollbacks take a minute")["prompt_number"], 3);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM prompts"), 3);
}

#[test]
fn what_a_hook_captured_is_not_taken_again() {
    let world = World::new();
    let mut transcript = Transcript::new(&world, "session-1");
    transcript.turn("Before cmem was there", "one").turn("With hooks", "two");
    world.send("UserPromptSubmit", json!({"prompt": "With hooks"})).silent();
    world.send("Stop", json!({"last_assistant_message": "Done with hooks."})).silent();
    world.drain();
    // The line of a prompt bears the time at which its hook ran.
    let at = world.number("memory.db", "SELECT created_at FROM prompts");
    let text = transcript.lines.clone();
    let old = "2026-02-03T10:00:05.000Z";
    assert!(text.contains(old));
    let stamp = cmem::model::Timestamp(at).to_string();
    transcript.lines = text.replace(old, &stamp);
    transcript.write();
    transcript.age();
    let report = import(&world, &[]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["known"]), (&json!(1), &json!(1)), "{report:#}");
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM prompts"), 2);
}

#[test]
fn a_turn_that_is_not_over_waits() {
    let world = World::new();
    let mut transcript = Transcript::new(&world, "running");
    transcript.turn("First", "one").prompt("Second").bash("make", "still building");
    transcript.write();
    let report = import(&world, &[]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["open"]), (&json!(1), &json!(1)), "{report:#}");
    // Half a line is being written.
    transcript.answer("Built.");
    let half = transcript.lines.len() - 20;
    fs::write(&transcript.path, &transcript.lines[..half]).unwrap();
    assert_eq!(import(&world, &[])["turns"]["open"], 1);
    transcript.write();
    assert_eq!(import(&world, &[])["turns"]["new"], 1);
    // One that was never ended is over when nothing is written any more.
    transcript.prompt("Third").bash("make", "interrupted").write();
    assert_eq!(import(&world, &[])["turns"]["new"], 0);
    transcript.age();
    assert_eq!(import(&world, &[])["turns"]["new"], 1);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM prompts"), 3);
}

#[test]
fn the_cost_is_told_before_anything_is_done() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    let mut transcript = Transcript::new(&world, "s");
    transcript.turn("Build it", "one").write();
    let report = import(&world, &["--dry-run"]);
    let cost = &report["cost"];
    assert_eq!((&cost["provider"], &cost["requests"]), (&json!("anthropic"), &json!(1)), "{report:#}");
    assert!(
        cost["input_tokens"].as_u64().unwrap() > 500 && cost["dollars"].as_f64().unwrap() > 0.0,
        "{cost}"
    );
    assert!(!world.data().exists() && model.requests().is_empty());
    let refused = world.cmem(&["import", "--from", "claude-code"]);
    assert!(
        refused.out.contains("about 1 requests") && refused.out.contains("about $0.0"),
        "{}",
        refused.out
    );
    assert!(refused.failed(2).contains("--yes"));
    assert!(!world.data().exists() && model.requests().is_empty());
    world.set("CMEM_MODEL", "unheard-of");
    assert_eq!(import(&world, &["--dry-run"])["cost"]["dollars"], Value::Null);
    world.set("CMEM_PROVIDER", "builtin");
    assert_eq!(import(&world, &["--dry-run"])["cost"]["dollars"], 0.0);
}

#[test]
fn private_turns_and_credentials_do_not_get_in() {
    let world = World::new();
    let mut transcript = Transcript::new(&world, "s");
    transcript
        .prompt("<private>my own affair</private>")
        .bash("cat diary", "dear diary")
        .answer("A secret answer.")
        .prompt("Deploy with token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        .bash("deploy", "deployed <private>hidden</private> fine")
        .answer("Deployed.");
    transcript.write();
    let report = import(&world, &[]);
    assert_eq!(report["turns"]["new"], 2);
    for text in ["own affair", "dear diary", "secret answer", "ghp_abcdef", "hidden"] {
        assert_eq!(world.files_with(text), Vec::<PathBuf>::new(), "{text}");
    }
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM prompts"), 1);
    world.assert_all_done();
}

#[test]
fn what_hooks_leave_out_is_left_out() {
    let mut world = World::new();
    let other = world.repository("secret-app");
    world.set("CMEM_EXCLUDED_PROJECTS", "secret-*");
    Transcript::at(&world, "x", &other).turn("Not this", "elsewhere kept").write();
    let mut transcript = Transcript::new(&world, "s");
    transcript
        .line("user", json!("Caveat: the messages below were written by a command"), json!({"isMeta": true}))
        .line("user", json!("<command-name>/clear</command-name>\n<command-args></command-args>"), json!({}))
        .line("user", json!("<local-command-stdout></local-command-stdout>"), json!({}))
        .line("user", json!("This session goes on from an earlier one"), json!({"isCompactSummary": true}))
        .prompt("Look around")
        .bash("ls", "a\nb")
        .line(
            "assistant",
            json!([{"type": "text", "text": "API Error: 529"}]),
            json!({"isApiErrorMessage": true}),
        )
        .answer("There is little here.")
        .line("user", json!("<task-notification>a build ended</task-notification>"), json!({}))
        .prompt("Stop")
        .line("user", json!([{"type": "text", "text": "[Request interrupted by user]"}]), json!({}));
    transcript.write();
    let report = import(&world, &[]);
    assert_eq!(report["turns"]["new"], 4, "{report:#}");
    // Two prompts and one end; left out: the listing, the notice, and the three of the other project.
    assert_eq!(
        (&report["turns"]["events"], &report["turns"]["left_out"]),
        (&json!(3), &json!(5)),
        "{report:#}"
    );
    for text in ["529", "elsewhere kept", "earlier one", "Caveat"] {
        assert_eq!(world.files_with(text), Vec::<PathBuf>::new(), "{text}");
    }
    world.assert_all_done();
}

#[test]
fn transcripts_of_the_real_client_are_read() {
    let world = World::new();
    let folder = world.path("home/.claude/projects/-home-dev-project");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    fs::create_dir_all(folder.join("subagent/subagents")).unwrap();
    for name in [
        "basic-edit.jsonl",
        "resume-compact.jsonl",
        "subagent.jsonl",
        "subagent/subagents/agent-a0000000000000001.jsonl",
    ] {
        fs::copy(fixtures.join(name), folder.join(name)).unwrap();
    }
    let report = import(&world, &[]);
    assert_eq!(report["turns"]["problems"]["count"], 0);
    insta::assert_debug_snapshot!(report["turns"]);
    let prompts = world.cmem(&["search", "*", "--kind", "prompt", "--all-projects", "--json"]).json();
    let mut titles: Vec<&str> =
        prompts["results"].as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    insta::assert_debug_snapshot!(titles);
    world.assert_all_done();
    assert_eq!(import(&world, &[])["turns"]["new"], 0);
}

#[test]
fn since_takes_later_turns_and_a_later_run_the_others() {
    let world = World::new();
    let mut transcript = Transcript::new(&world, "s");
    transcript.turn("Old", "one");
    transcript.lines = transcript.lines.replace("2026-02-03", "2026-01-01");
    transcript.turn("New", "two").write();
    let report = import(&world, &["--since", "2026-02-01"]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["older"]), (&json!(1), &json!(1)), "{report:#}");
    let report = import(&world, &[]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["known"]), (&json!(1), &json!(1)), "{report:#}");
    assert_eq!(import(&world, &[])["turns"]["known"], 0);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM prompts"), 2);
}

#[test]
fn a_session_that_goes_on_in_another_file_is_taken_once() {
    let world = World::new();
    let mut first = Transcript::new(&world, "first");
    first.turn("Build it", "one").write();
    let mut second = Transcript::new(&world, "second");
    second.lines = first.lines.replace("\"first\"", "\"second\"");
    second.seconds = first.seconds;
    second.turn("Ship it", "two").write();
    first.age();
    let report = import(&world, &[]);
    assert_eq!((&report["turns"]["new"], &report["turns"]["known"]), (&json!(2), &json!(1)), "{report:#}");
}

#[test]
fn what_cannot_be_read_does_not_stop_the_rest() {
    let world = World::new();
    let mut transcript = Transcript::new(&world, "s");
    transcript.lines.push_str("no json\n\n[1, 2]\n{\"type\":\"user\"}\n");
    transcript.turn("Build it", "half \u{fffd}").write();
    let report = import(&world, &[]);
    assert_eq!(report["turns"]["new"], 1, "{report:#}");
    assert_eq!(report["turns"]["problems"]["first"][0]["number"], 1);
    let nowhere = world.path("nowhere");
    let refused = world.cmem(&["import", "--from", "claude-code", nowhere.to_str().unwrap()]).failed(1);
    assert!(refused.contains("no transcripts"), "{refused}");
}

#[test]
fn when_the_observer_cannot_be_asked_nothing_is_lost() {
    let model = ModelServer::start();
    model.mode(crate::common::mock::Mode::Status(500));
    let world = World::with_model(&model);
    Transcript::new(&world, "s").turn("Build it", "one").write();
    let ran = world.cmem(&["import", "--from", "claude-code", "--yes"]);
    assert!(ran.failed(1).contains("the events are kept"));
    model.mode(crate::common::mock::Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.drain();
    assert_eq!(whole(&world, "one")["session"], "s");
    assert_eq!(import(&world, &[])["turns"]["new"], 0);
}

#[test]
fn notes_are_remembered_and_revised_when_they_change() {
    let world = World::new();
    let home = world.path("home/.claude");
    let memory = home.join("projects").join(escaped(&world.project())).join("memory");
    fs::create_dir_all(&memory).unwrap();
    fs::write(home.join("CLAUDE.md"), "# Always\n\nAnswer in English.\n").unwrap();
    let note = memory.join("deploys.md");
    fs::write(
        &note,
        "---\nname: Deploys\ndescription: when\n---\nOn Tuesdays, by Ana. <private>her phone</private>\n",
    )
    .unwrap();
    fs::write(memory.join("empty.md"), "\n").unwrap();
    let report = import(&world, &[]);
    assert_eq!(
        report["notes"],
        json!({"read": 3, "new": 2, "changed": 0, "known": 0, "empty": 1, "problems": {"count": 0, "first": []}})
    );
    let deploys = whole(&world, "Deploys");
    assert_eq!(
        (&deploys["source"], &deploys["type"], &deploys["project"], &deploys["subtitle"]),
        (&json!("import"), &json!("note"), &json!("project"), &json!("when"))
    );
    assert_eq!(deploys["narrative"], "On Tuesdays, by Ana.");
    assert_eq!(whole(&world, "Always")["narrative"], "# Always\n\nAnswer in English.");
    assert_eq!(world.files_with("her phone"), Vec::<PathBuf>::new());

    assert_eq!(import(&world, &[])["notes"]["known"], 2);
    let changed = "---\nname: Deploys\n---\nOn Fridays.\n";
    fs::write(&note, changed).unwrap();
    assert_eq!(import(&world, &["--dry-run"])["notes"]["changed"], 1);
    assert_eq!(import(&world, &[])["notes"]["changed"], 1);
    assert_eq!(whole(&world, "Deploys")["id"], deploys["id"]);
    assert_eq!(whole(&world, "Deploys")["narrative"], "On Fridays.");
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM revisions"), 1);
    assert_eq!(fs::read_to_string(&note).unwrap(), changed, "notes are only read");
}
