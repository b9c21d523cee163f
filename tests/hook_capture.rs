//! What `cmem hook` prints and keeps, event by event and for input that nobody should send.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Mode, ModelServer, World, payload};

/// Every event that Claude Code knows and cmem registers for or may be sent.
const EVENTS: [&str; 11] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "SubagentStop",
    "SessionEnd",
    "PreCompact",
    "WorktreeRemove",
    "Notification",
];

#[test]
fn no_event_blocks_the_agent_whatever_the_observer_does() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for mode in [Mode::Ok, Mode::Status(502), Mode::Status(401)] {
        model.mode(mode.clone());
        for event in EVENTS {
            let Some(answer) = world.send(event, json!({})).answer() else { continue };
            assert!(
                !["Stop", "SubagentStop", "SessionEnd", "PostToolUse"].contains(&event),
                "{event}: {answer}"
            );
            assert_ne!(answer["decision"], "block", "{mode:?} {event}");
            assert_ne!(answer["continue"], false, "{mode:?} {event}");
            let specific = &answer["hookSpecificOutput"];
            assert_ne!(specific["permissionDecision"], "deny", "{mode:?} {event}");
            assert!(specific.get("updatedInput").is_none(), "{mode:?} {event}");
            assert!(specific.is_null() || specific["hookEventName"] == event, "{mode:?} {event}: {answer}");
        }
    }
}

#[test]
fn a_stop_inside_a_stop_hook_is_silent_too() {
    let world = World::new();
    for event in ["Stop", "SubagentStop"] {
        world.send(event, json!({"stop_hook_active": true})).silent();
    }
}

#[test]
fn an_unknown_event_is_neither_kept_nor_answered() {
    let world = World::new();
    world.send("SomethingNew", json!({})).silent();
    world.send("Notification", json!({"message": "hello"})).silent();
    let ledger = world.status();
    assert_eq!(ledger["spool"]["waiting"], 0, "{ledger}");
}

#[test]
fn input_that_is_no_event_is_ignored_at_once() {
    let world = World::new();
    for input in
        ["", " ", "{", "{\"session_id\":\"s-1\"", "not json", "null", "[]", "\"x\"", "42", "{}", "}{"]
    {
        let ran = world.hook_bytes(&["PostToolUse"], input.as_bytes());
        assert!(ran.took < Duration::from_millis(1500), "{input:?} took {:?}", ran.took);
        ran.silent();
    }
}

#[test]
fn an_event_with_a_byte_order_mark_or_text_behind_it_is_kept() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let marked =
        [b"\xef\xbb\xbf", payload::note("with a mark", &world.project()).to_string().as_bytes()].concat();
    world.hook_bytes(&["PostToolUse"], &marked).silent();
    let followed = format!("{} trailing text", payload::note("before text", &world.project()));
    world.hook_bytes(&["PostToolUse"], followed.as_bytes()).silent();
    world.drain();
    assert_eq!(world.search("mark"), ["with a mark"]);
    assert_eq!(world.search("before"), ["before text"]);
}

#[test]
fn missing_and_misshapen_fields_never_fail() {
    let world = World::new();
    let names = [
        "session_id",
        "cwd",
        "hook_event_name",
        "transcript_path",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "permission_mode",
    ];
    for name in names {
        for value in
            [Value::Null, json!(42), json!([1]), json!({"a": 1}), json!("x".repeat(20_000)), json!("")]
        {
            let event = payload::event("PostToolUse", &world.project(), json!({name: value}));
            world.hook_bytes(&["PostToolUse"], event.to_string().as_bytes()).silent();
        }
    }
    world.send("UserPromptSubmit", json!({"prompt": ["a", "b"]})).answer();
    world.send("Stop", json!({"transcript_path": null, "last_assistant_message": null})).silent();
    world.drain();
}

#[test]
fn a_session_id_is_never_a_path() {
    let world = World::new();
    world.send("PostToolUse", json!({"session_id": "../../../escape"})).silent();
    world.send("Stop", json!({"session_id": "../../../escape"})).silent();
    world.drain();
    for folder in [world.path(""), world.path("..")] {
        assert!(!folder.join("escape").exists());
    }
}

#[test]
fn bytes_that_strict_parsers_refuse_are_repaired() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let cwd = world.project();
    let event = |name: &str, tail: &[u8]| {
        let head = format!(
            r#"{{"session_id":"s","cwd":{cwd:?},"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"{name}","tool_input":{{"command":"x"}},"tool_response":{{"stdout":"@@{name}@@ "#
        );
        [head.as_bytes(), tail, br#""}}"#].concat()
    };
    let tails: [(&str, &[u8]); 5] = [
        ("highsurrogate", br"cut \ud83d"),
        ("lowsurrogate", br"\udc00 cut"),
        ("rawbyte", b"x \xff\xfe y"),
        ("nulescape", br"a\u0000b"),
        ("rawcontrol", b"a\x01\x1b[31mb"),
    ];
    for (name, tail) in tails {
        world.hook_bytes(&["PostToolUse"], &event(name, tail)).silent();
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(300), "}".repeat(300));
    let text = payload::note("deep", &cwd)
        .to_string()
        .replace("\"tool_input\":{", &format!("\"tool_input\":{{\"x\":{deep},"));
    world.hook_bytes(&["PostToolUse"], text.as_bytes()).silent();
    world.drain();
    for name in ["highsurrogate", "lowsurrogate", "rawbyte", "nulescape", "rawcontrol", "deep"] {
        assert_eq!(world.search(name)[0], name);
    }
    for request in model.requests() {
        let text = String::from_utf8(request.body).unwrap();
        serde_json::from_str::<Value>(&text).unwrap();
    }
}

#[test]
fn text_in_any_shape_of_tool_response_reaches_the_observer() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let shapes = [
        json!("@@shape string@@"),
        json!(["@@shape array@@", 1, null]),
        json!([{"type": "text", "text": "@@shape blocks@@"}]),
        json!({"content": [{"type": "text", "text": "@@shape content@@"}], "isError": true}),
        json!({"a": {"b": {"c": ["@@shape nested@@"]}}}),
        json!(true),
        json!(3.5),
        json!(""),
        json!([]),
    ];
    for shape in shapes {
        world.send("PostToolUse", json!({"tool_response": shape})).silent();
    }
    world
        .send("PostToolUse", json!({"tool_response": null, "tool_input": {"note": "@@shape input@@"}}))
        .silent();
    world.drain();
    for shape in ["string", "array", "blocks", "content", "nested", "input"] {
        assert_eq!(world.search(shape), [format!("shape {shape}")]);
    }
}

#[test]
fn a_twenty_megabyte_response_is_stored_bounded() {
    let world = World::new();
    let text = format!(
        "head-sentinel {} tail-sentinel",
        "filler line of a build log\n".repeat(20 * 1024 * 1024 / 27)
    );
    let ran = world.send("PostToolUse", json!({"tool_response": {"stdout": text, "stderr": ""}}));
    // The limit on an optimised build is far lower; `scripts/bench` measures it.
    assert!(ran.took < Duration::from_secs(10), "{:?}", ran.took);
    ran.silent();
    let size = |name: &str| fs::metadata(world.data().join(name)).map_or(0, |file| file.len());
    assert!((1..1024 * 1024).contains(&size("spool.jsonl")), "{} bytes", size("spool.jsonl"));
    assert_eq!(world.ledger().waiting, 1);
    assert!(size("spool.db") + size("spool.db-wal") < 1024 * 1024);
    assert!(!world.files_with("head-sentinel").is_empty());
    assert!(!world.files_with("tail-sentinel").is_empty());
}

#[test]
fn an_edit_keeps_the_patch_and_not_the_whole_file() {
    let world = World::new();
    let file = "line of the original file\n".repeat(10_000);
    world
        .send(
            "PostToolUse",
            json!({
                "tool_name": "Edit",
                "tool_input": {"file_path": world.project().join("a.txt"), "old_string": "before-word",
                               "new_string": "after-word", "replace_all": false},
                "tool_response": {"filePath": world.project().join("a.txt"), "oldString": "before-word",
                    "newString": "after-word", "originalFile": format!("unwanted-sentinel\n{file}"),
                    "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                                         "lines": ["-before-word", "+after-word"]}],
                    "userModified": false, "replaceAll": false},
            }),
        )
        .silent();
    assert!(!world.files_with("after-word").is_empty());
    assert_eq!(world.files_with("unwanted-sentinel"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn an_image_becomes_a_note() {
    let world = World::new();
    let base64 = "iVBORw0KGgo".to_owned() + &"QUJDREVGR0g".repeat(5_000);
    world
        .send(
            "PostToolUse",
            json!({
                "tool_name": "Read", "tool_input": {"file_path": "/a.png"},
                "tool_response": {"type": "image", "file": {"base64": base64, "type": "image/png", "originalSize": 37}},
            }),
        )
        .silent();
    assert_eq!(world.files_with("QUJDREVGR0gQUJDREVGR0g"), Vec::<std::path::PathBuf>::new());
    world.assert_sound();
}

#[test]
fn the_client_may_keep_the_pipe_open() {
    use std::io::{Read, Write};
    use std::process::Stdio;
    use std::time::Instant;

    let world = World::new();
    let mut command = world.command(crate::common::world::binary(), &world.project());
    command.arg("hook").stdin(Stdio::piped()).stdout(Stdio::piped());
    let began = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(payload::note("open pipe", &world.project()).to_string().as_bytes()).unwrap();
    input.flush().unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    drop(input);
    assert!(!world.files_with("open pipe").is_empty());
}

#[test]
fn random_payloads_never_break_a_hook() {
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    let world = World::new();
    let mut runner = TestRunner::deterministic();
    let leaf = proptest::prop_oneof![
        proptest::strategy::Just(Value::Null),
        proptest::bool::ANY.prop_map(Value::from),
        proptest::num::i64::ANY.prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 40, 6, |inner| {
        proptest::prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::hash_map("[a-z_]{1,12}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    for round in 0..300 {
        let mut draw = || value.new_tree(&mut runner).unwrap().current();
        let event = EVENTS[round % EVENTS.len()];
        let input = match round % 3 {
            0 => draw().to_string(),
            1 => payload::event(
                event,
                &world.project(),
                json!({"tool_response": draw(), "tool_input": draw(), "prompt": draw()}),
            )
            .to_string(),
            _ => {
                let mut text = payload::event(event, &world.project(), json!({"prompt": draw()})).to_string();
                let cut = (round * 7) % text.len();
                text.truncate((0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap());
                text
            }
        };
        world.hook_bytes(&[event], input.as_bytes()).answer();
    }
    world.drain();
    world.assert_sound();
}
