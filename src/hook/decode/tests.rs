use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;

use super::*;

const VERSIONS: [&str; 5] = ["1.0.128", "2.0.77", "2.1.112", "2.1.197", "2.1.332"];

/// What each recorded payload is, by file name; a version in front for the exceptions.
const EXPECTED: &str = "
    1.0.128/SubagentStop               ignored silent_agent
    2.0.77/SubagentStop                ignored silent_agent
    1.0.128/Stop                       stop transcript
    2.0.77/Stop                        stop transcript
    CwdChanged                         ignored other_event
    DirectoryAdded-slash_command       ignored other_event
    Elicitation                        ignored other_event
    ElicitationResult-cancel           ignored other_event
    FileChanged-change                 ignored other_event
    InstructionsLoaded-nested_traversal ignored other_event
    InstructionsLoaded-session_start   ignored other_event
    MessageDisplay                     ignored other_event
    Notification-elicitation_response  ignored other_event
    Notification-idle_prompt           ignored other_event
    Notification-permission_prompt     ignored other_event
    PermissionRequest-Bash             ignored other_event
    PermissionRequest-Write            ignored other_event
    PostCompact-manual                 ignored other_event
    PostModelSwitch-command            ignored other_event
    PostToolBatch                      ignored other_event
    PostToolUse-Agent                  tool Agent
    PostToolUse-Bash                   tool Bash
    PostToolUse-Bash-background        tool Bash
    PostToolUse-Bash-in_subagent       tool Bash in general-purpose
    PostToolUse-Bash-large             tool Bash
    PostToolUse-Edit                   tool Edit, 1 hunk
    PostToolUse-Edit-all               tool Edit, 1 hunk
    PostToolUse-EnterWorktree          tool EnterWorktree
    PostToolUse-ExitWorktree           tool ExitWorktree
    PostToolUse-Glob                   tool Glob
    PostToolUse-Grep                   tool Grep
    PostToolUse-NotebookEdit           tool NotebookEdit, 1 hunk
    PostToolUse-Read                   tool Read
    PostToolUse-Read-file_unchanged    tool Read
    PostToolUse-Read-image             tool Read
    PostToolUse-Read-in_subagent       tool Read in general-purpose
    PostToolUse-Read-notebook          tool Read
    PostToolUse-Read-range             tool Read
    PostToolUse-Skill                  tool Skill
    PostToolUse-Task                   tool Task
    PostToolUse-TaskCreate             tool TaskCreate
    PostToolUse-TaskUpdate             tool TaskUpdate
    PostToolUse-TodoWrite              tool TodoWrite
    PostToolUse-ToolSearch             tool ToolSearch
    PostToolUse-Write                  tool Write, 1 hunk
    PostToolUse-Write-update           tool Write, 1 hunk
    PostToolUse-mcp                    tool mcp__plugin_e2e-recorder_e2e__echo
    PostToolUseFailure-Bash            failed Bash
    PostToolUseFailure-Read            failed Read
    PostToolUseFailure-WebFetch        failed WebFetch
    PostToolUseFailure-mcp             failed mcp__plugin_e2e-recorder_e2e__fail
    PreCompact-manual                  pre_compact
    PreModelSwitch-command             ignored other_event
    PreSkillShellCommand-Bash          ignored other_event
    PreToolUse-Agent                   ignored other_event
    PreToolUse-Bash                    ignored other_event
    PreToolUse-Bash-in_subagent        ignored other_event
    PreToolUse-Edit                    ignored other_event
    PreToolUse-Edit-all                ignored other_event
    PreToolUse-EnterWorktree           ignored other_event
    PreToolUse-ExitWorktree            ignored other_event
    PreToolUse-Glob                    ignored other_event
    PreToolUse-Grep                    ignored other_event
    PreToolUse-NotebookEdit            ignored other_event
    PreToolUse-Read                    ignored other_event
    PreToolUse-Read-in_subagent        ignored other_event
    PreToolUse-Read-range              ignored other_event
    PreToolUse-Skill                   ignored other_event
    PreToolUse-Task                    ignored other_event
    PreToolUse-TaskCreate              ignored other_event
    PreToolUse-TaskUpdate              ignored other_event
    PreToolUse-TodoWrite               ignored other_event
    PreToolUse-ToolSearch              ignored other_event
    PreToolUse-WebFetch                ignored other_event
    PreToolUse-Write                   ignored other_event
    PreToolUse-mcp                     ignored other_event
    SessionEnd-clear                   session_end clear
    SessionEnd-other                   session_end other
    SessionEnd-prompt_input_exit       session_end prompt_input_exit
    SessionStart-clear                 session_start Clear
    SessionStart-compact               session_start Compact
    SessionStart-resume                session_start Resume
    SessionStart-startup               session_start Startup
    Setup-init                         ignored other_event
    Setup-maintenance                  ignored other_event
    Stop                               stop message
    StopFailure-unknown                ignored other_event
    SubagentStart                      ignored other_event
    SubagentStop                       subagent_stop in general-purpose
    SubagentStop-compaction            ignored compaction_agent
    TaskCompleted                      ignored other_event
    TaskCreated                        ignored other_event
    UserPromptExpansion                ignored other_event
    UserPromptSubmit                   prompt
    UserPromptSubmit-private_unicode   prompt
    UserPromptSubmit-task_notification ignored task_notification
    WorktreeCreate                     ignored other_event
    WorktreeRemove                     worktree_remove /home/dev/wtx
";

fn run(value: Value) -> Result<Decoded, Ignored> {
    decode(Platform::Claude, None, value, &Cleaner::new(&[]), Timestamp(1))
}

fn event(name: &str, fields: Value) -> Value {
    let mut payload = json!({"session_id": "s-1", "cwd": "/p", "hook_event_name": name});
    for (key, value) in fields.as_object().unwrap() {
        payload[key] = value.clone();
    }
    payload
}

fn kind_of(name: &str, fields: Value) -> EventKind {
    run(event(name, fields)).unwrap().event.kind
}

fn ignored(name: &str, fields: Value) -> &'static str {
    run(event(name, fields)).unwrap_err().reason()
}

fn session_of(payload: Value) -> String {
    run(payload).unwrap().event.session
}

fn describe(result: &Result<Decoded, Ignored>) -> String {
    let event = match result {
        Ok(decoded) => &decoded.event,
        Err(ignored) => return format!("ignored {}", ignored.reason()),
    };
    let agent = event.agent.as_ref().map(|agent| format!(" in {}", agent.kind)).unwrap_or_default();
    let what = match &event.kind {
        EventKind::Tool { tool, outcome: Outcome::Error(_), .. } => format!("failed {tool}"),
        EventKind::Tool { tool, outcome: Outcome::Response(response), .. } => {
            match response["structuredPatch"].as_array() {
                Some(hunks) => format!("tool {tool}, {} hunk", hunks.len()),
                None => format!("tool {tool}"),
            }
        }
        EventKind::SessionStart { source } => format!("session_start {source:?}"),
        EventKind::SessionEnd { reason } => format!("session_end {reason}"),
        EventKind::Stop { message: Some(_), .. } => String::from("stop message"),
        EventKind::Stop { transcript: Some(_), .. } => String::from("stop transcript"),
        EventKind::WorktreeRemove { path } => format!("worktree_remove {path}"),
        other => other.name().to_owned(),
    };
    what + &agent
}

fn fixtures() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hook_payloads/claude-code");
    let mut found = Vec::new();
    for version in VERSIONS {
        for entry in fs::read_dir(root.join(version)).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            found.push((format!("{version}/{stem}"), path));
        }
    }
    found
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_recorded_payload_is_what_it_says() {
    let expected = |key: &str| {
        EXPECTED.lines().find_map(|line| line.trim().split_once(' ').filter(|(name, _)| *name == key))
    };
    let fixtures = fixtures();
    for (name, path) in &fixtures {
        let stem = name.split_once('/').unwrap().1;
        let (_, expected) =
            expected(name).or_else(|| expected(stem)).unwrap_or_else(|| panic!("{name} is not expected"));
        let decoded = run(read(path));
        assert_eq!(describe(&decoded), expected.trim(), "{name}");
        if let Ok(decoded) = decoded {
            assert!(decoded.event.session.starts_with("00000000-"), "{name}");
            assert!(decoded.event.cwd.starts_with("/home/dev/"), "{name}");
            let has_call_id =
                matches!(decoded.event.kind, EventKind::Tool { .. }) && !name.starts_with("1.0.128");
            assert_eq!(decoded.delivery.is_exact(), has_call_id, "{name}");
        }
    }
    assert_eq!(fixtures.len(), 280);
}

#[test]
fn no_edit_keeps_the_file_or_the_change_twice() {
    for (name, path) in fixtures() {
        let Ok(Decoded { event, .. }) = run(read(&path)) else { continue };
        let EventKind::Tool { input, outcome: Outcome::Response(response), tool } = &event.kind else {
            continue;
        };
        if !patch::is_edit(tool) {
            continue;
        }
        let text = format!("{input}{response}");
        for field in
            ["riginalFile", "original_file", "updated_file", "_string", "ewString", "content", "_source"]
        {
            assert!(!text.contains(field), "{name}: {field} in {text}");
        }
        assert!(response["structuredPatch"][0]["lines"][0].is_string(), "{name}");
    }
}

#[test]
fn the_event_name_comes_from_the_payload_then_from_the_command_line() {
    let with = |name: Value, argument| {
        let payload = json!({"session_id": "s", "hook_event_name": name, "reason": "other"});
        describe(&decode(Platform::Claude, argument, payload, &Cleaner::new(&[]), Timestamp(1)))
    };
    assert_eq!(with(json!("SessionEnd"), Some("Stop")), "session_end other");
    for no_name in [Value::Null, json!([]), json!(""), json!(7)] {
        assert_eq!(with(no_name.clone(), Some("SessionEnd")), "session_end other");
        assert_eq!(with(no_name, None), "ignored other_event");
    }
    assert_eq!(with(json!("BrandNewEvent"), Some("SessionEnd")), "ignored other_event");
    for value in [Value::Null, json!([]), json!("x"), json!(4)] {
        let ignored =
            decode(Platform::Claude, Some("Stop"), value, &Cleaner::new(&[]), Timestamp(1)).unwrap_err();
        assert!(!ignored.counts());
    }
}

#[test]
fn session_ids() {
    let named = |fields: Value| {
        let mut payload = json!({"hook_event_name": "SessionEnd", "cwd": "/p"});
        for (key, value) in fields.as_object().unwrap() {
            payload[key] = value.clone();
        }
        session_of(payload)
    };
    assert_eq!(named(json!({"session_id": " abc "})), "abc");
    assert_eq!(named(json!({"session_id": 42})), "42");
    assert_eq!(named(json!({"session_id": "", "sessionId": "b", "id": "c"})), "b");
    assert_eq!(named(json!({"session_id": [1], "id": "c"})), "c");
    assert_eq!(named(json!({"session_id": null, "transcript_path": "/t/11-22.jsonl"})), "11-22");
    assert_eq!(named(json!({"session_id": "../../../../tmp/evil"})), "../../../../tmp/evil");
    let unnamed = named(json!({}));
    assert!(unnamed.starts_with("unnamed-"));
    assert_eq!(unnamed, named(json!({"session_id": {}, "id": true})));
    assert_ne!(unnamed, named(json!({"cwd": "/other"})));
    let (long, other) = ("x".repeat(20_000), "x".repeat(20_001));
    let short = named(json!({ "session_id": long }));
    assert!(short.len() < MAX_ID_CHARS);
    assert_eq!(short, named(json!({ "session_id": long })));
    assert_ne!(short, named(json!({ "session_id": other })));
    assert_eq!(named(json!({"session_id": "é".repeat(128)})), "é".repeat(128));
}

#[test]
fn misshapen_fields_still_give_an_event() {
    for field in [
        "cwd",
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "agent_id",
        "agent_type",
        "prompt_id",
    ] {
        for value in [Value::Null, json!(1), json!(true), json!("text"), json!([1]), json!({"a": 1})] {
            let mut fields =
                json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "tool_response": "y"});
            fields[field] = value;
            assert!(matches!(kind_of("PostToolUse", fields), EventKind::Tool { .. }));
        }
    }
    let EventKind::Tool { tool, input, .. } =
        kind_of("PostToolUse", json!({"tool_name": null, "tool_input": "words"}))
    else {
        panic!()
    };
    assert_eq!((tool.as_str(), input), ("unknown", json!("words")));
    let list = kind_of("UserPromptSubmit", json!({"prompt": ["a", {"type": "text", "text": "b"}]}));
    assert_eq!(list, EventKind::Prompt { text: String::from("a\nb"), private: false });
    let bare = kind_of("Stop", json!({"last_assistant_message": null}));
    assert_eq!(bare, EventKind::Stop { message: None, transcript: None });
}

#[test]
fn every_shape_of_a_response_is_kept() {
    let shapes =
        [json!("s"), json!(["a", 1, null]), json!({"a": {"b": ["c"]}}), json!(true), json!(3.5), Value::Null];
    for shape in shapes {
        for field in ["tool_response", "tool_output"] {
            let EventKind::Tool { outcome, .. } =
                kind_of("PostToolUse", json!({"tool_name": "X", field: shape}))
            else {
                panic!()
            };
            assert_eq!(outcome, Outcome::Response(shape.clone()), "{field}");
        }
    }
}

#[test]
fn a_failure_keeps_its_text() {
    for (error, text) in [
        (json!("Exit code 3"), "Exit code 3"),
        (json!({"message": "no such file"}), "no such file"),
        (json!({"code": 7}), "{\"code\":7}"),
        (Value::Null, "failed"),
    ] {
        let kind = kind_of("PostToolUseFailure", json!({"tool_name": "Bash", "error": error}));
        let EventKind::Tool { outcome, .. } = kind else { panic!() };
        assert_eq!(outcome, Outcome::Error(text.to_owned()));
    }
}

#[test]
fn only_one_notification_block_alone_is_the_clients_own_prompt() {
    for prompt in [
        "<task-notification>x</task-notification>",
        "<task-notification></task-notification>",
        "  <task-notification id=\"1\">\n<a>b</a>\n</task-notification>\n",
    ] {
        assert_eq!(ignored("UserPromptSubmit", json!({ "prompt": prompt })), "task_notification", "{prompt}");
    }
    let large = format!("<task-notification>{}</task-notification>", "x".repeat(MAX_NOTICE_BYTES));
    for prompt in [
        "see <task-notification>x</task-notification>",
        "<task-notification>x</task-notification> please explain",
        "<task-notification>x</task-notification><task-notification>y</task-notification>",
        "<task-notification>x",
        "<task-notifications>x</task-notifications>",
        "<command-name>/review</command-name>",
        &large,
    ] {
        let kind = kind_of("UserPromptSubmit", json!({ "prompt": prompt }));
        assert!(matches!(kind, EventKind::Prompt { private: false, .. }), "{prompt:.60}");
    }
}

#[test]
fn a_wholly_private_prompt_leaves_a_mark_and_no_text() {
    let kind = kind_of("UserPromptSubmit", json!({"prompt": "<private>my key is abc</private>"}));
    assert_eq!(kind, EventKind::Prompt { text: String::new(), private: true });
    let kind = kind_of("UserPromptSubmit", json!({"prompt": "<private>pw</private> Please help"}));
    assert_eq!(kind, EventKind::Prompt { text: String::from("Please help"), private: false });
    assert_eq!(ignored("UserPromptSubmit", json!({"prompt": " "})), "empty_prompt");
    assert_eq!(ignored("UserPromptSubmit", json!({})), "empty_prompt");
}

#[test]
fn every_string_is_cleaned() {
    let private = "a <private>hidden-word</private> b";
    let payloads = [
        event(
            "PostToolUse",
            json!({"tool_name": "X", "tool_input": {"a": [private]}, "tool_response": private}),
        ),
        event("PostToolUseFailure", json!({"tool_name": "X", "error": private})),
        event("UserPromptSubmit", json!({"prompt": private})),
        event("Stop", json!({"last_assistant_message": private})),
        event("SubagentStop", json!({"last_assistant_message": private})),
        event("PreCompact", json!({"custom_instructions": private})),
    ];
    for payload in payloads {
        let text = serde_json::to_string(&run(payload).unwrap().event).unwrap();
        assert!(text.contains("a  b") && !text.contains("hidden-word"), "{text}");
    }
}

#[test]
fn a_private_block_over_several_lines_of_a_patch_is_hidden() {
    let lines = json!(["+# <private>", "+hidden-word", "+# </private>", "+kept"]);
    let payload = event(
        "PostToolUse",
        json!({"tool_name": "Edit", "tool_input": {"file_path": "/a"},
        "tool_response": {"structuredPatch": [{"oldStart": 1, "lines": lines}]}}),
    );
    let text = serde_json::to_string(&run(payload).unwrap().event).unwrap();
    assert!(text.contains("+kept") && !text.contains("hidden-word"), "{text}");
}

#[test]
fn a_message_that_was_hidden_is_not_looked_up_in_the_transcript() {
    let stop = |message: &str| {
        let fields = json!({"last_assistant_message": message, "transcript_path": "/t.jsonl"});
        kind_of("Stop", fields)
    };
    let nothing = EventKind::Stop { message: None, transcript: None };
    assert_eq!(stop("<private>all of it</private>"), nothing);
    assert_eq!(stop(&format!("request {OBSERVER_MARKER} text")), nothing);
    assert_eq!(stop(""), EventKind::Stop { message: None, transcript: Some(String::from("/t.jsonl")) });
}

#[test]
fn the_observers_own_requests_are_not_observed() {
    let quoted =
        serde_json::to_string(&json!({"system": format!("x {OBSERVER_MARKER}\n")}).to_string()).unwrap();
    assert_eq!(ignored("UserPromptSubmit", json!({ "prompt": quoted })), "own_prompt");
    assert_eq!(ignored("SubagentStop", json!({ "last_assistant_message": quoted })), "own_prompt");
}

#[test]
fn agents_of_the_client_itself_are_noise() {
    let message = json!("ready");
    let stop =
        |kind: &str| ignored("SubagentStop", json!({"agent_type": kind, "last_assistant_message": message}));
    assert_eq!(stop(""), "compaction_agent");
    assert_eq!(stop("Warmup"), "warmup_agent");
    let untyped =
        run(event("SubagentStop", json!({"agent_id": "a1", "last_assistant_message": message}))).unwrap();
    assert_eq!(untyped.event.agent, Some(Agent { id: String::from("a1"), kind: String::new() }));
}

#[test]
fn deliveries() {
    let of = |name: &str, fields: Value| run(event(name, fields)).unwrap().delivery;
    let call = |id: &str, out: &str| {
        of("PostToolUse", json!({"tool_name": "X", "tool_use_id": id, "tool_response": out}))
    };
    assert_eq!(call("t1", "a").delivery_key(), call("t1", "b").delivery_key());
    assert_ne!(call("t1", "a").delivery_key(), call("t2", "a").delivery_key());
    assert!(call("t1", "a").is_exact() && !call("", "a").is_exact());
    assert_eq!(call("", "a").delivery_key(), call("", "a").delivery_key());
    assert_ne!(call("", "a").delivery_key(), call("", "b").delivery_key());
    let failure = of("PostToolUseFailure", json!({"tool_name": "X", "tool_use_id": "t1", "error": "a"}));
    assert_ne!(failure.delivery_key(), call("t1", "a").delivery_key());
    let prompt = |id: &str| of("UserPromptSubmit", json!({"prompt": "continue", "prompt_id": id}));
    assert_ne!(prompt("p1").delivery_key(), prompt("p2").delivery_key());
    assert!(!prompt("p1").is_exact());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z_]{1,10}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn anything_decodes_or_is_ignored(
        name in "PostToolUse|PostToolUseFailure|Stop|SubagentStop|UserPromptSubmit|SessionStart|PreCompact|SessionEnd|WorktreeRemove",
        tool in "Edit|Write|MultiEdit|NotebookEdit|Bash",
        input in any_value(), response in any_value(), other in any_value(),
    ) {
        let payload = event(&name, json!({"tool_name": tool, "tool_input": input, "tool_response": response,
            "prompt": other, "last_assistant_message": other, "agent_id": other, "session_id": other}));
        if let Ok(decoded) = run(payload) {
            prop_assert!(!decoded.event.session.is_empty());
            let text = serde_json::to_string(&decoded.event).unwrap();
            prop_assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), decoded.event);
        }
    }
}
