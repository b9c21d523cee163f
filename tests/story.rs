//! One life: install, a session's hooks, drain, search, and what the next session is told. No account, no
//! network: the embedded observer.

use serde_json::json;

use crate::common::{World, wait_for};
use std::time::Duration;

#[test]
fn one_life() {
    let world = World::new();
    let project = world.repository("project");
    let _ = world.cmem(&["install", "--scope", "user"]).ok();

    // Monday: a session finds out why a test fails, and mends it.
    let monday = |event: &str, mut fields: serde_json::Value| {
        fields["session_id"] = json!("monday");
        world.send(event, fields)
    };
    monday("SessionStart", json!({"source": "startup"})).silent();
    monday("UserPromptSubmit", json!({"prompt": "The retry test is flaky. Find out why and fix it."}))
        .answer();
    let file = project.join("src/retry.rs");
    monday(
        "PostToolUse",
        json!({"tool_name": "Read", "tool_input": {"file_path": file},
               "tool_response": {"type": "text", "file": {"filePath": file, "content": "fn backoff() {}\n", "numLines": 1,
                                  "startLine": 1, "totalLines": 1}}}),
    )
    .silent();
    monday(
        "PostToolUseFailure",
        json!({"tool_input": {"command": "cargo test retry"},
               "error": "Exit code 101\ntest retry::waits_between_tries ... FAILED\n1 failed"}),
    )
    .silent();
    monday(
        "PostToolUse",
        json!({"tool_name": "Edit",
               "tool_input": {"file_path": file, "old_string": "fn backoff() {}", "new_string": "fn backoff(jitter: u64) {}"},
               "tool_response": {"filePath": file, "oldString": "fn backoff() {}", "newString": "fn backoff(jitter: u64) {}",
                   "originalFile": "fn backoff() {}\n", "userModified": false, "replaceAll": false,
                   "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                                        "lines": ["-fn backoff() {}", "+fn backoff(jitter: u64) {}"]}]}}),
    )
    .silent();
    monday(
        "PostToolUse",
        json!({"tool_input": {"command": "cargo test retry"},
               "tool_response": {"stdout": "test result: ok. 4 passed; 0 failed", "stderr": "", "interrupted": false}}),
    )
    .silent();
    let said = "The test was flaky because backoff() used the wall clock. It now takes the jitter as an argument, so the test controls it.";
    monday("Stop", json!({"last_assistant_message": said})).silent();
    monday("SessionEnd", json!({})).silent();

    // Nobody asks for it: the drainer came by itself.
    wait_for("the background drainer has stored Monday", Duration::from_secs(30), || {
        world.status()["memory"]["observations"].as_i64() >= Some(1) && world.ledger().waiting == 0
    });
    world.wait_for_drainers();
    world.assert_all_done();

    // Tuesday: the next session is told, and a person can find it.
    let context = world.context_of("tuesday", "startup");
    assert!(context.contains("jitter"), "{context}");
    for query in ["flaky", "backoff", "retry.rs", "jitter"] {
        let found = world.search(query);
        assert!(!found.is_empty(), "{query}");
    }
    let found = world.cmem(&["search", "flaky", "--kind", "observation", "--json"]).json();
    let id = found["results"][0]["id"].to_string();
    let whole = world.cmem(&["get", "--json", &id]).json();
    assert_eq!(whole[0]["files_modified"], json!(["src/retry.rs"]), "{whole}");
    assert_eq!(whole[0]["model"], "builtin");
    assert!(whole.to_string().contains("wall clock"), "{whole}");
    let line = world.cmem(&["timeline", &id]).ok();
    assert!(line.contains("flaky"), "{line}");

    // Another project is told nothing of it.
    let other = world.repository("other");
    assert_eq!(world.search_in(&other, "flaky"), Vec::<String>::new());

    let _ = world.cmem(&["doctor"]).ok();
    let _ = world.cmem(&["uninstall", "--scope", "user"]).ok();
    world.assert_sound();
}

#[test]
fn the_builtin_observer_writes_the_same_every_time() {
    let tell = || {
        let world = World::new();
        world.send("UserPromptSubmit", json!({"prompt": "为什么部署会失败？"})).answer();
        world
            .send(
                "PostToolUseFailure",
                json!({"tool_input": {"command": "make deploy"}, "error": "Exit code 2\ncache is cold"}),
            )
            .silent();
        world.send("Stop", json!({"last_assistant_message": "部署失败是因为缓存是冷的。"})).silent();
        world.drain();
        let found = world.cmem(&["search", "部署", "--json", "--kind", "observation"]).json();
        let id = &found["results"][0]["id"];
        assert!(id.is_number(), "{found}");
        let whole = world.cmem(&["get", "--json", &id.to_string()]).json();
        ["type", "title", "subtitle", "narrative", "facts", "keywords"]
            .map(|field| whole[0][field].to_string())
    };
    assert_eq!(tell(), tell());
}
