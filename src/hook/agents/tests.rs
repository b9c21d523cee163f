use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::hook::decode;
use crate::hook::wire::EventName;
use crate::model::{Platform, Timestamp};
use crate::privacy::Cleaner;

#[test]
fn every_registered_event_is_understood() {
    for event in CLAUDE_CODE.events {
        assert_eq!(EventName::from_name(event.name).name(), event.name);
    }
}

#[test]
fn versions() {
    assert_eq!(Version::find("2.1.197 (Claude Code)"), Some(Version(2, 1, 197)));
    assert_eq!(Version::find("claude v2.0.77-beta.1"), Some(Version(2, 0, 77)));
    for text in ["", "Claude Code", "2.1", "x.y.z", "2.1.beta"] {
        assert_eq!(Version::find(text), None, "{text}");
    }
    assert!(Version(2, 1, 9) < Version(2, 1, 112));
}

/// Every payload of an agent: what is stored of it.
fn stored(platform: Platform) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hook_payloads");
    let mut files: Vec<_> = fs::read_dir(root.join(platform.name()))
        .unwrap()
        .flat_map(|version| fs::read_dir(version.unwrap().path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 5, "{platform}");
    let mut all = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let event = name.split_once('-').unwrap().1;
        let value: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let line = match translate(platform, Some(event), value) {
            None => String::from("not ours"),
            Some(value) if value["hook_event_name"] == "PreToolUse" => {
                format!("asks before {} {}", value["tool_name"], value["tool_input"])
            }
            Some(value) => match decode(platform, None, value, &Cleaner::new(&[]), Timestamp(0)) {
                Ok(decoded) => serde_json::to_string(&decoded.event).unwrap(),
                Err(ignored) => format!("ignored: {}", ignored.reason()),
            },
        };
        writeln!(all, "{name}\n  {line}").unwrap();
    }
    all
}

#[test]
fn what_is_stored_of_each_agent() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for platform in Platform::ALL.into_iter().filter(|platform| !platform.is_claude()) {
            insta::assert_snapshot!(format!("events_of_{platform}"), stored(platform));
        }
    });
}

#[test]
fn what_is_answered_to_each_agent() {
    let output = |event: &str, fields: Value| {
        let mut output = json!({ "hookEventName": event });
        output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "hookSpecificOutput": output })
    };
    let mut start = output("SessionStart", json!({ "additionalContext": "C" }));
    start["systemMessage"] = json!("N");
    let prompt = output("UserPromptSubmit", json!({ "additionalContext": "C" }));
    let refusal = json!({ "permissionDecision": "deny", "permissionDecisionReason": "R" });
    let refusal = output("PreToolUse", refusal);
    let hint = output("PreToolUse", json!({ "additionalContext": "H" }));
    let none = Value::Null;
    let gemini_start = json!({
        "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": "C" },
        "systemMessage": "N",
    });
    let gemini_prompt =
        json!({ "hookSpecificOutput": { "hookEventName": "BeforeAgent", "additionalContext": "C" } });
    for (platform, reply, expected) in [
        (Platform::Claude, &start, start.clone()),
        (Platform::Codex, &start, start.clone()),
        (Platform::Codex, &prompt, prompt.clone()),
        (Platform::Opencode, &start, start.clone()),
        (Platform::Opencode, &refusal, refusal.clone()),
        (Platform::Opencode, &hint, hint.clone()),
        (Platform::Gemini, &start, gemini_start),
        (Platform::Gemini, &prompt, gemini_prompt),
        (Platform::Gemini, &refusal, json!({ "decision": "deny", "reason": "R" })),
        (Platform::Cursor, &start, json!({ "additional_context": "C" })),
        (Platform::Cursor, &prompt, none.clone()),
        (Platform::Cursor, &refusal, json!({ "permission": "deny", "agent_message": "R" })),
        (Platform::Copilot, &start, json!({ "additionalContext": "C" })),
        (Platform::Copilot, &prompt, json!({ "additionalContext": "C" })),
        (Platform::Copilot, &hint, json!({ "additionalContext": "H" })),
        (
            Platform::Copilot,
            &refusal,
            json!({ "permissionDecision": "deny", "permissionDecisionReason": "R" }),
        ),
        (Platform::Windsurf, &start, none),
    ] {
        let said = answer(platform, reply.to_string());
        let said = said.map_or(Value::Null, |said| serde_json::from_str(&said).unwrap());
        assert_eq!(said, expected, "{platform}: {reply}");
    }
}

#[test]
fn an_agent_is_asked_for_nothing_that_it_cannot_do() {
    for platform in Platform::ALL {
        let can = abilities(platform);
        let context = |event| {
            json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": "C" } }).to_string()
        };
        if can.starts {
            assert!(answer(platform, context("SessionStart")).is_some(), "{platform}");
        }
        if can.prompts {
            assert!(answer(platform, context("UserPromptSubmit")).is_some(), "{platform}");
        }
        assert!(can.refuses || !can.hints, "{platform}");
        assert!(["", "{}"].contains(&silence(platform)), "{platform}");
    }
}

#[test]
fn the_sender_is_known_by_its_payload_where_the_call_does_not_say() {
    assert_eq!(sender(&json!({"cursor_version": "2.4.0", "hook_event_name": "stop"})), Platform::Cursor);
    assert_eq!(sender(&json!({"hook_event_name": "Stop"})), Platform::Claude);
    assert_eq!(sender(&json!([])), Platform::Claude);
}

#[test]
fn what_hooks_added_to_a_prompt_is_no_part_of_it() {
    let prompt = |text: &str| {
        let value = json!({"hook_event_name": "BeforeAgent", "prompt": text});
        translate(Platform::Gemini, None, value).unwrap()["prompt"].as_str().unwrap().to_owned()
    };
    assert_eq!(prompt("<hook_context>a\nb</hook_context>\n\nfix it"), "fix it");
    assert_eq!(prompt("<hook_context>a</hook_context><hook_context>b</hook_context> c"), "c");
    assert_eq!(prompt("what is <hook_context>?"), "what is <hook_context>?");
    assert_eq!(prompt("<hook_context> without an end"), "<hook_context> without an end");
}

#[test]
fn the_tools_of_our_own_server_are_known_in_every_agent() {
    let context = json!({"server_name": "cmem", "tool_name": "search"});
    for (platform, event, fields) in [
        (Platform::Codex, "PostToolUse", json!({"tool_name": "mcp__cmem__search", "tool_response": "x"})),
        (Platform::Gemini, "AfterTool", json!({"tool_name": "mcp_cmem_search", "mcp_context": context})),
        (Platform::Copilot, "postToolUse", json!({"toolName": "cmem-search", "toolArgs": "{}"})),
        (Platform::Opencode, "tool.execute.after", json!({"tool": "cmem_search", "output": {"output": "x"}})),
        (Platform::Cursor, "postToolUse", json!({"tool_name": "MCP:search", "tool_output": "{}"})),
        (
            Platform::Windsurf,
            "post_mcp_tool_use",
            json!({"tool_info": {"mcp_server_name": "cmem", "mcp_tool_name": "search"}}),
        ),
    ] {
        let said = translate(platform, Some(event), fields).unwrap();
        assert_eq!(said["tool_name"], "mcp__cmem__search", "{platform}");
    }
}

#[test]
fn unknown_events_and_odd_payloads_are_silence() {
    for platform in Platform::ALL.into_iter().filter(|platform| !platform.is_claude()) {
        for value in [json!([]), json!("x"), json!(null), json!({"hook_event_name": "SomethingNew"})] {
            let translated = translate(platform, None, value.clone());
            let kept = translated.and_then(|value| {
                decode(platform, None, value, &Cleaner::new(&[]), Timestamp(0)).ok().map(|kept| kept.event)
            });
            assert_eq!(kept, None, "{platform}: {value}");
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z_]{1,6}", inner), 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn fields_of_any_type_are_translated_or_left(
        which in 0usize..7,
        event in prop::sample::select(vec![
            "SessionStart", "AfterTool", "BeforeTool", "BeforeAgent", "PostToolUse", "postToolUse", "afterFileEdit",
            "post_write_code", "post_mcp_tool_use", "tool.execute.after", "session.idle", "stop", "agentStop",
        ]),
        fields in prop::collection::vec((prop::sample::select(vec![
            "session_id", "sessionID", "sessionId", "cwd", "tool_name", "toolName", "tool", "tool_input", "toolArgs",
            "args", "tool_response", "toolResult", "output", "tool_output", "tool_info", "prompt", "workspace_roots",
            "file_path", "edits", "mcp_context", "error",
        ]), any_value()), 0..8),
    ) {
        let platform = Platform::ALL[which];
        let value = Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        if let Some(value) = translate(platform, Some(event), value) {
            let _ = decode(platform, Some(event), value, &Cleaner::new(&[]), Timestamp(0));
        }
    }
}
