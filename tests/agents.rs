//! Agents other than Claude Code: registration, capture, what they are told, and that nothing private is kept.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::{ModelServer, Ran, World, binary};

const OTHERS: [&str; 6] = ["codex", "cursor", "gemini", "opencode", "windsurf", "copilot"];
/// A file of this many bytes is held back once.
const LARGE: usize = 40_000;

/// Sends an event as an agent does: its name on the command line, and in the payload where the agent puts it.
fn send(world: &World, agent: &str, event: &str, session: &str, fields: &Value) -> Ran {
    let cwd = world.project();
    let mut payload = match agent {
        "codex" | "gemini" => json!({ "session_id": session, "cwd": cwd, "hook_event_name": event }),
        "cursor" => json!({
            "conversation_id": session,
            "workspace_roots": [cwd],
            "hook_event_name": event,
            "cursor_version": "2.4.0",
        }),
        "opencode" => json!({ "sessionID": session, "cwd": cwd, "hook_event_name": event }),
        // It starts its hooks in the workspace and does not name it.
        "windsurf" => json!({ "trajectory_id": session, "agent_action_name": event }),
        "copilot" => json!({ "sessionId": session, "cwd": cwd, "timestamp": 1 }),
        other => panic!("{other}"),
    };
    for (key, value) in fields.as_object().unwrap() {
        payload[key] = value.clone();
    }
    world.hook_bytes(&["--agent", agent, event], payload.to_string().as_bytes())
}

fn prompt(world: &World, agent: &str, session: &str, text: &str) -> Ran {
    let (event, fields) = match agent {
        "codex" => ("UserPromptSubmit", json!({ "prompt": text })),
        "cursor" => ("beforeSubmitPrompt", json!({ "prompt": text })),
        "gemini" => ("BeforeAgent", json!({ "prompt": text })),
        "opencode" => ("chat.message", json!({ "prompt": text })),
        "windsurf" => ("pre_user_prompt", json!({ "tool_info": { "user_prompt": text } })),
        _ => ("userPromptSubmitted", json!({ "prompt": text })),
    };
    send(world, agent, event, session, &fields)
}

/// An edit of `file`, in which `text` is written.
fn edit(world: &World, agent: &str, session: &str, file: &str, text: &str) -> Ran {
    let path = world.project().join(file);
    let (event, fields) = match agent {
        "codex" => {
            let patch = format!("*** Begin Patch\n*** Update File: {file}\n@@\n-a\n+{text}\n*** End Patch");
            let input = json!({ "command": patch });
            let fields =
                json!({ "tool_name": "apply_patch", "tool_input": input, "tool_response": "Exit code: 0" });
            ("PostToolUse", fields)
        }
        "cursor" => {
            let edits = json!([{ "old_string": "a", "new_string": text }]);
            ("afterFileEdit", json!({ "file_path": path, "edits": edits }))
        }
        "gemini" => {
            let input = json!({ "file_path": path, "old_string": "a", "new_string": text });
            let fields = json!({ "tool_name": "replace", "tool_input": input, "tool_response": { "llmContent": "ok" } });
            ("AfterTool", fields)
        }
        "opencode" => {
            let args = json!({ "filePath": path, "oldString": "a", "newString": text });
            ("tool.execute.after", json!({ "tool": "edit", "args": args, "output": { "output": "ok" } }))
        }
        "windsurf" => {
            let edits = json!([{ "old_string": "a", "new_string": text }]);
            ("post_write_code", json!({ "tool_info": { "file_path": path, "edits": edits } }))
        }
        _ => {
            let args = json!({ "path": path, "old_str": "a", "new_str": text });
            let result = json!({ "resultType": "success", "textResultForLlm": "ok" });
            ("postToolUse", json!({ "toolName": "edit", "toolArgs": args, "toolResult": result }))
        }
    };
    send(world, agent, event, session, &fields)
}

/// The end of a turn, with its last message.
fn stop(world: &World, agent: &str, session: &str, text: &str) -> Ran {
    let transcript = world.path(&format!("transcript-{agent}.jsonl"));
    let (event, fields) = match agent {
        "codex" => ("Stop", json!({ "last_assistant_message": text })),
        "gemini" => ("AfterAgent", json!({ "prompt_response": text })),
        "opencode" => ("session.idle", json!({ "said": text })),
        "windsurf" => ("post_cascade_response", json!({ "tool_info": { "response": text } })),
        "cursor" => {
            let line =
                json!({ "role": "assistant", "message": { "content": [{ "type": "text", "text": text }] } });
            fs::write(&transcript, format!("{line}\n")).unwrap();
            ("stop", json!({ "transcript_path": transcript, "status": "completed" }))
        }
        _ => {
            let line = json!({ "type": "assistant.message", "data": { "content": text } });
            fs::write(&transcript, format!("{line}\n")).unwrap();
            ("agentStop", json!({ "transcriptPath": transcript, "stopReason": "end_turn" }))
        }
    };
    send(world, agent, event, session, &fields)
}

fn start(world: &World, agent: &str, session: &str) -> Option<Value> {
    let event = match agent {
        "codex" | "gemini" => "SessionStart",
        "opencode" => "session.created",
        "windsurf" => return None,
        _ => "sessionStart",
    };
    send(world, agent, event, session, &json!({ "source": "startup" })).answer()
}

/// The text for the model in the agent's own form of an answer.
fn told(agent: &str, answer: &Value) -> String {
    let text = match agent {
        "cursor" => &answer["additional_context"],
        "copilot" => &answer["additionalContext"],
        _ => &answer["hookSpecificOutput"]["additionalContext"],
    };
    text.as_str().unwrap_or_default().to_owned()
}

/// A turn that teaches something, put into the memory.
fn learn(world: &World, agent: &str, file: &str, said: &str) {
    let session = format!("session-of-{agent}");
    let _ = prompt(world, agent, &session, &format!("Look at {file} please")).answer();
    edit(world, agent, &session, file, "b").silent();
    stop(world, agent, &session, said).silent();
    world.drain();
}

#[test]
fn memory_is_shared_and_its_origin_is_shown() {
    for agent in OTHERS {
        let world = World::new();
        learn(
            &world,
            agent,
            "src/cache.rs",
            "The cache fails on Mondays because its lock is never released.",
        );
        let found = world.cmem(&["search", "cache lock", "--json", "--kind", "observation"]).json();
        let row = &found["results"][0];
        assert_eq!(row["platform"], agent, "{found}");
        let id = row["id"].to_string().replace('"', "");
        let whole = world.cmem(&["get", &id, "--json"]).json();
        assert_eq!(whole[0]["platform"], agent, "{whole}");
        assert_eq!(whole[0]["files_modified"], json!(["src/cache.rs"]), "{whole}");
        let mark = format!("({agent})");
        for args in [&["search", "cache lock"][..], &["get", &id], &["timeline", &id], &["context"]] {
            let text = world.cmem(args).ok();
            assert!(text.contains(&mark), "{args:?}: {text}");
        }
        assert_eq!(world.cmem(&["search", "cache", "--platform", "claude", "--json"]).json()["total"], 0);
        let own = world.cmem(&["search", "cache", "--platform", agent, "--json"]).json();
        assert!(own["total"].as_i64().unwrap() > 0, "{own}");
        // Every other agent is told, in its own form; a reader's own memories have no mark.
        for reader in OTHERS {
            let Some(answer) = start(&world, reader, &format!("reader-{reader}")) else { continue };
            let text = told(reader, &answer);
            assert!(text.contains("lock is never released"), "{reader}: {answer}");
            assert_eq!(text.contains(&mark), reader != agent, "{reader}: {text}");
        }
        let claude = world.context_of("in-claude", "startup");
        assert!(claude.contains(&mark), "{claude}");
    }
}

#[test]
fn memories_of_claude_code_are_marked_for_the_others_alone() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.note("The build fails because its cache is cold");
    world.drain();
    let text = told("gemini", &start(&world, "gemini", "g").unwrap());
    assert!(text.contains("(claude)"), "{text}");
    assert!(!world.context_of("c", "startup").contains("(claude)"));
    assert!(!world.cmem(&["search", "build"]).ok().contains("(claude)"));
}

#[test]
fn the_origin_goes_along_with_an_export() {
    let world = World::new();
    learn(&world, "codex", "src/cache.rs", "The cache fails on Mondays because its lock is never released.");
    let file = world.path("memory.jsonl");
    let _ = world.cmem(&["export", file.to_str().unwrap()]).ok();
    let mut other = World::new();
    other.set("CMEM_DATA_DIR", other.path("elsewhere").to_str().unwrap());
    let _ = other.cmem(&["import", file.to_str().unwrap()]).ok();
    let found = other.cmem(&["search", "cache", "--all-projects", "--json"]).json();
    assert_eq!(found["results"][0]["platform"], "codex", "{found}");
}

#[test]
fn a_prompt_is_answered_where_the_agent_takes_an_answer() {
    let world = World::new();
    learn(&world, "codex", "src/cache.rs", "The cache fails on Mondays because its lock is never released.");
    for agent in OTHERS {
        let question = "Why does the cache fail on Mondays, is its lock released?";
        let answer = prompt(&world, agent, &format!("asks-{agent}"), question).answer();
        let takes = !["cursor", "windsurf"].contains(&agent);
        assert_eq!(answer.is_some(), takes, "{agent}: {answer:?}");
        if let Some(answer) = answer {
            assert!(told(agent, &answer).contains("lock is never released"), "{agent}: {answer}");
        }
    }
}

#[test]
fn a_large_file_is_held_back_once_where_the_agent_can_do_that() {
    for agent in ["gemini", "cursor", "opencode", "copilot"] {
        let world = World::new();
        let file = world.project().join("big.rs");
        fs::write(&file, "a line of code\n".repeat(LARGE / 15)).unwrap();
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
        fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
        learn(&world, "codex", "big.rs", "The cache fails on Mondays because its lock is never released.");
        let ask = |session: &str| {
            let (event, fields) = match agent {
                "gemini" => {
                    ("BeforeTool", json!({ "tool_name": "read_file", "tool_input": { "file_path": file } }))
                }
                "cursor" => {
                    ("preToolUse", json!({ "tool_name": "Read", "tool_input": { "file_path": file } }))
                }
                "opencode" => {
                    ("tool.execute.before", json!({ "tool": "read", "args": { "filePath": file } }))
                }
                _ => ("preToolUse", json!({ "toolName": "view", "toolArgs": { "path": file } })),
            };
            send(&world, agent, event, session, &fields).answer()
        };
        let answer = ask("reads").unwrap_or_else(|| panic!("{agent}"));
        let reason = match agent {
            "gemini" => (&answer["decision"], &answer["reason"]),
            "cursor" => (&answer["permission"], &answer["agent_message"]),
            "opencode" => {
                let output = &answer["hookSpecificOutput"];
                (&output["permissionDecision"], &output["permissionDecisionReason"])
            }
            _ => (&answer["permissionDecision"], &answer["permissionDecisionReason"]),
        };
        assert_eq!(reason.0, "deny", "{agent}: {answer}");
        assert!(reason.1.as_str().unwrap().contains("lock is never released"), "{agent}: {answer}");
        assert_eq!(ask("reads"), None, "{agent}: an agent that insists gets the file");
        edit(&world, agent, "edits", "big.rs", "c").silent();
        assert_eq!(ask("edits"), None, "{agent}: a file that the session edited");
    }
}

#[test]
fn nothing_private_is_kept_of_any_agent() {
    for agent in OTHERS {
        let world = World::new();
        let session = "s";
        let _ = prompt(&world, agent, session, "Say <private>HUSH-PART</private> the rest").answer();
        edit(&world, agent, session, "a.txt", "<private>HUSH-EDIT</private>").silent();
        let _ = prompt(&world, agent, session, "<private>HUSH-WHOLE</private>").answer();
        edit(&world, agent, session, "a.txt", "HUSH-TURN").silent();
        let _ = stop(&world, agent, session, "HUSH-ANSWER").answer();
        let key = ["ghp", "0123456789abcdefghijABCDEFGHIJ012345"].join("_");
        let _ = prompt(&world, agent, "t", &format!("the token is {key}")).answer();
        world.drain();
        for needle in ["HUSH", &key] {
            let files = world.files_with(needle);
            let kept: Vec<_> = files.iter().filter(|file| file.starts_with(world.data())).collect();
            assert!(kept.is_empty(), "{agent} {needle}: {kept:?}");
        }
        let prompts = world.cmem(&["search", "", "--kind", "prompt", "--json"]).json();
        assert_eq!(prompts["total"], 2, "{agent}: {prompts}");
    }
}

#[test]
fn the_observer_and_ignored_projects_are_left_alone_in_every_agent() {
    for agent in OTHERS {
        let mut world = World::new();
        world.set("CMEM_OBSERVER", "1");
        assert_eq!(prompt(&world, agent, "s", "observed by itself").answer(), None);
        assert!(!world.data().exists(), "{agent}");
        world.unset("CMEM_OBSERVER");
        fs::write(world.project().join(".cmem-ignore"), "").unwrap();
        assert_eq!(prompt(&world, agent, "s", "in an ignored place").answer(), None);
        edit(&world, agent, "s", "a.txt", "ignored edit").silent();
        world.drain();
        let memory = world.status()["memory"].clone();
        assert_eq!(memory["prompts"], 0, "{agent}: {memory}");
        assert!(world.files_with("ignored").is_empty(), "{agent}");
    }
}

#[test]
fn what_is_not_understood_is_silence_in_the_way_of_the_agent() {
    let world = World::new();
    for agent in OTHERS {
        let silence = if agent == "windsurf" { "" } else { "{}\n" };
        for input in
            [&b"{\"hook_event_name\":\"SomethingNew\",\"session_id\":\"s\"}"[..], b"", b"nonsense", b"[1]"]
        {
            let ran = world.hook_bytes(&["--agent", agent], input);
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), silence, ""), "{agent}");
        }
    }
    let ran = world.hook_bytes(&["--agent", "nobody", "Stop"], b"{\"session_id\":\"s\"}");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    assert!(!world.data().join("spool.jsonl").exists());
}

#[test]
fn cursor_is_known_when_it_runs_the_hooks_of_claude_code() {
    let world = World::new();
    let payload = json!({
        "hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "cursor_version": "2.4.0",
        "workspace_roots": [world.project()], "generation_id": "g", "prompt": "Only once please",
    });
    world.hook_bytes(&["UserPromptSubmit"], payload.to_string().as_bytes()).silent();
    world.hook_bytes(&["--agent", "cursor", "beforeSubmitPrompt"], payload.to_string().as_bytes()).silent();
    world.drain();
    let found = world.cmem(&["search", "", "--kind", "prompt", "--json"]).json();
    assert_eq!((&found["total"], &found["results"][0]["platform"]), (&json!(1), &json!("cursor")), "{found}");
}

#[test]
fn a_start_that_two_registrations_deliver_is_answered_once() {
    let world = World::new();
    learn(&world, "codex", "src/cache.rs", "The cache fails on Mondays because its lock is never released.");
    let start = json!({
        "hook_event_name": "sessionStart", "conversation_id": "c", "cursor_version": "2.4.0",
        "workspace_roots": [world.project()],
    });
    let told = |args: &[&str]| world.hook_bytes(args, start.to_string().as_bytes()).answer().is_some();
    assert_eq!([told(&["--agent", "cursor", "sessionStart"]), told(&["SessionStart"])], [true, false]);
    // The user's settings and the project's, with two programs.
    let other = world.path("tmp/cmem");
    fs::copy(binary(), &other).unwrap();
    let start = json!({ "hook_event_name": "SessionStart", "session_id": "s", "cwd": world.project(), "source": "startup" });
    let mut run = assert_cmd::Command::from_std(world.command(&other, &world.project()));
    let first = run.args(["hook", "SessionStart"]).write_stdin(start.to_string()).output().unwrap();
    assert!(String::from_utf8(first.stdout).unwrap().contains("lock is never released"));
    let told = || world.hook_bytes(&["SessionStart"], start.to_string().as_bytes()).answer().is_some();
    assert!(!told());
    // One alone answers everything.
    let start = json!({ "hook_event_name": "SessionStart", "session_id": "t", "cwd": world.project(), "source": "startup" });
    let told = || world.hook_bytes(&["SessionStart"], start.to_string().as_bytes()).answer().is_some();
    assert_eq!([told(), told()], [true, true]);
}

#[test]
fn no_agent_opens_the_private_turn_of_another() {
    for named in [true, false] {
        let world = World::new();
        let send = |agent: &str, event: &str, field: &str, text: &str| {
            let mut payload = json!({ "cwd": world.project(), "hook_event_name": event, field: text });
            if named {
                payload["session_id"] = json!("same");
            }
            let _ = world.hook_bytes(&["--agent", agent, event], payload.to_string().as_bytes()).answer();
        };
        send("gemini", "BeforeAgent", "prompt", "<private>HUSH</private>");
        send("codex", "UserPromptSubmit", "prompt", "What is public?");
        let input =
            json!({ "file_path": world.project().join("a.rs"), "old_string": "a", "new_string": "b" });
        let mut call = json!({ "cwd": world.project(), "hook_event_name": "AfterTool", "tool_name": "replace",
                               "tool_input": input, "tool_response": { "llmContent": "ok" } });
        if named {
            call["session_id"] = json!("same");
        }
        world.hook_bytes(&["--agent", "gemini"], call.to_string().as_bytes()).silent();
        send(
            "gemini",
            "AfterAgent",
            "prompt_response",
            "The HUSH fails on Mondays because its lock is never released.",
        );
        world.drain();
        let found = world.cmem(&["search", "", "--kind", "observation", "--json"]).json();
        assert_eq!(found["total"], 0, "{named}: {found}");
        let kept = world.files_with("HUSH");
        assert!(kept.iter().all(|file| !file.starts_with(world.data())), "{named}: {kept:?}");
    }
}

#[test]
fn an_ignored_workspace_covers_commands_that_run_elsewhere() {
    let world = World::new();
    fs::write(world.project().join(".cmem-ignore"), "").unwrap();
    let info = json!({ "command_line": "make ignored-target", "cwd": "/tmp" });
    send(&world, "windsurf", "post_run_command", "s", &json!({ "tool_info": info })).silent();
    assert!(world.files_with("ignored-target").is_empty());
}

#[test]
fn a_dry_run_writes_nothing_and_a_second_run_changes_nothing() {
    for agent in OTHERS {
        let world = World::new();
        let dry = world.cmem(&["install", "--for", agent, "--dry-run", "--json"]).json();
        assert_eq!(dry["agent"], agent);
        assert!(dry["files"].as_array().unwrap().len() <= 3);
        for file in dry["files"].as_array().unwrap() {
            assert_eq!(file["dry_run"], true);
            assert!(!file["changes"].as_array().unwrap().is_empty(), "{file}");
            let path = file["file"].as_str().unwrap();
            assert!(path.starts_with(world.path("home").to_str().unwrap()), "{path}");
            assert!(!Path::new(path).exists(), "{path}");
        }
        let _ = world.cmem(&["install", "--for", agent]).ok();
        let again = world.cmem(&["install", "--for", agent, "--json"]).json();
        for file in again["files"].as_array().unwrap() {
            assert_eq!(file["changes"], json!([]), "{file}");
            let text = fs::read_to_string(file["file"].as_str().unwrap()).unwrap();
            let is_told = text.contains(binary().to_str().unwrap()) || text.contains("cmem search");
            assert!(is_told, "{text}");
        }
        let doctor = world.cmem(&["doctor", "--json"]).out;
        let doctor: Value = serde_json::from_str(&doctor).unwrap();
        let line =
            doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "agents").unwrap();
        assert_eq!(line["state"], "ok", "{line}");
        let _ = world.cmem(&["uninstall", "--for", agent]).ok();
        for file in again["files"].as_array().unwrap() {
            assert!(!Path::new(file["file"].as_str().unwrap()).exists(), "{file}");
        }
        let gone = world.cmem(&["uninstall", "--for", agent]).ok();
        assert!(gone.lines().all(|line| line.ends_with("nothing to do")), "{gone}");
        assert!(!world.cmem(&["doctor"]).out.contains("agents"), "{agent}");
    }
}

#[test]
fn the_doctor_misses_a_program_that_is_gone() {
    let world = World::new();
    let hooks = world.path("home/.cursor/hooks.json");
    fs::create_dir_all(hooks.parent().unwrap()).unwrap();
    fs::write(&hooks, "{\"hooks\": {\"stop\": [{\"command\": \"'/gone/cmem' hook --agent cursor stop\"}]}}")
        .unwrap();
    let text = world.cmem(&["doctor"]).out;
    assert!(text.contains("Cursor would run /gone/cmem, which is gone"), "{text}");
    assert!(text.contains("`cmem install --for cursor`"), "{text}");
    let _ = world.cmem(&["install", "--for", "cursor"]).ok();
    assert!(world.cmem(&["doctor"]).out.contains("Cursor: registered in the user settings"));
}

#[test]
fn scopes_that_an_agent_does_not_have_are_named() {
    let world = World::new();
    let text = world.cmem(&["install", "--for", "codex", "--scope", "local"]).failed(1);
    assert!(text.contains("Codex CLI has no local scope"), "{text}");
    let text = world.cmem(&["install", "--for", "copilot", "--scope", "project"]).failed(1);
    assert!(text.contains("Copilot CLI has no project scope"), "{text}");
    let _ = world.cmem(&["install", "--for", "gemini", "--scope", "project"]).ok();
    assert!(world.project().join(".gemini/settings.json").exists());
    assert!(!world.path("home/.gemini").exists());
    let _ = world.cmem(&["uninstall", "--for", "gemini"]).ok();
    assert!(!world.project().join(".gemini/settings.json").exists());
    let _ = world.cmem(&["install", "--for", "nobody"]).failed(2);
}

#[test]
fn a_registered_command_works_as_the_agent_runs_it() {
    let world = World::new();
    let _ = world.cmem(&["install", "--for", "codex"]).ok();
    let hooks: Value =
        serde_json::from_str(&fs::read_to_string(world.path("home/.codex/hooks.json")).unwrap()).unwrap();
    let command = hooks["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].as_str().unwrap();
    let payload = json!({ "session_id": "s", "cwd": world.project(), "hook_event_name": "UserPromptSubmit",
                          "turn_id": "t", "prompt": "through the shell" });
    let mut shell = assert_cmd::Command::from_std(world.command("/bin/sh", &world.project()));
    shell.args(["-c", command]).write_stdin(payload.to_string()).assert().success().stderr("").stdout("{}\n");
    world.drain();
    assert_eq!(world.cmem(&["search", "shell", "--platform", "codex", "--json"]).json()["total"], 1);
}

/// What the plugin for OpenCode does with what its hooks are given; needs Node.js, without which it is skipped.
#[test]
fn the_plugin_of_opencode_passes_a_session_on() {
    let world = World::new();
    let node = world.command("node", &world.project()).arg("--version").stdout(Stdio::null()).status();
    if !node.is_ok_and(|status| status.success()) {
        println!("skipped: no node on the PATH");
        return;
    }
    learn(&world, "codex", "src/cache.rs", "The cache fails on Mondays because its lock is never released.");
    let _ = world.cmem(&["install", "--for", "opencode"]).ok();
    let plugin = world.path("home/.config/opencode/plugins/cmem.js");
    let module = world.path("tmp/plugin.mjs");
    fs::copy(&plugin, &module).unwrap();
    let script = format!(
        r#"
        const {{ Cmem }} = await import({module:?});
        const hooks = await Cmem({{ directory: process.cwd() }});
        const event = (type, properties) => hooks.event({{ event: {{ type, properties }} }});
        const message = {{ id: "msg_1" }};
        const parts = [{{ id: "prt_1", type: "text", text: "Why does the cache fail?" }}];
        await event("session.created", {{ info: {{ id: "ses_1" }} }});
        await event("session.created", {{ info: {{ id: "ses_2", parentID: "ses_1" }} }});
        await hooks["chat.message"]({{ sessionID: "ses_1" }}, {{ message, parts }});
        await hooks["chat.message"]({{ sessionID: "ses_2" }}, {{ message, parts: [{{ id: "prt_2", type: "text", text: "of a subagent" }}] }});
        const args = {{ filePath: "a.txt", oldString: "a", newString: "b" }};
        await hooks["tool.execute.before"]({{ tool: "edit", sessionID: "ses_1", callID: "c1" }}, {{ args }});
        await hooks["tool.execute.after"]({{ tool: "edit", sessionID: "ses_1", callID: "c1", args }}, {{ output: "ok" }});
        await event("message.updated", {{ info: {{ id: "msg_2", role: "assistant", sessionID: "ses_1" }} }});
        for (const text of ["The lock", "The lock is released in a.txt now."])
          await event("message.part.updated", {{ part: {{ id: "p", messageID: "msg_2", sessionID: "ses_1", type: "text", text }} }});
        await event("session.idle", {{ sessionID: "ses_1" }});
        await event("session.deleted", {{ info: {{ id: "ses_1" }} }});
        await event("something.new", undefined);
        await event("session.created", {{}});
        await event("message.part.updated", undefined);
        await hooks.event({{}});
        await hooks["chat.message"]({{ sessionID: "ses_1" }}, {{}});
        await hooks["chat.message"](undefined, undefined);
        console.log(JSON.stringify(parts));
        "#
    );
    let mut node = assert_cmd::Command::from_std(world.command("node", &world.project()));
    let ran = node.args(["--input-type=module", "-e", &script]).assert().success().stderr("");
    let parts: Value = serde_json::from_slice(&ran.get_output().stdout).unwrap();
    assert_eq!(parts[1]["synthetic"], true, "{parts}");
    assert!(parts[1]["text"].as_str().unwrap().contains("lock is never released"), "{parts}");
    world.drain();
    let found = world.cmem(&["search", "", "--platform", "opencode", "--json"]).json();
    let titles: Vec<&str> =
        found["results"].as_array().unwrap().iter().filter_map(|row| row["title"].as_str()).collect();
    assert!(titles.iter().any(|title| title.contains("Why does the cache fail?")), "{titles:?}");
    assert!(titles.iter().any(|title| title.contains("lock is released in a.txt")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("of a subagent")), "{titles:?}");
}
