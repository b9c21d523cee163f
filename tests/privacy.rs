//! Private text and credentials reach neither the disk nor the wire.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::common::{Mode, ModelServer, World};

#[track_caller]
fn assert_unknown(world: &World, model: &ModelServer, secret: &str) {
    assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{secret}");
    assert!(!model.was_told(secret), "the model was told {secret}");
}

#[test]
fn private_text_is_gone_before_and_after_draining() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let prompt = "fix login <private>hunter2-ALPHA</private> please @@visible one@@";
    world.send("UserPromptSubmit", json!({"prompt": prompt})).answer();
    assert_unknown(&world, &model, "hunter2-ALPHA");
    world
        .send(
            "Stop",
            json!({"last_assistant_message": "done <PRIVATE reason='x'>BETA<private>GAMMA</private>DELTA"}),
        )
        .silent();
    world.drain();
    for secret in ["hunter2-ALPHA", "BETA", "GAMMA", "DELTA"] {
        assert_unknown(&world, &model, secret);
    }
    assert!(!world.files_with("visible one").is_empty());
}

/// A session's note of it cannot be written: then nobody knows, and nothing is kept.
#[test]
fn a_private_turn_stays_private_when_nothing_can_be_noted() {
    for spoil in ["read-only file", "folder", "bytes"] {
        let world = World::new();
        world.send("SessionStart", json!({"source": "startup"})).answer();
        let sessions = world.data().join("sessions");
        let trail = fs::read_dir(&sessions).unwrap().next().unwrap().unwrap().path();
        match spoil {
            "folder" => {
                fs::remove_file(&trail).unwrap();
                fs::create_dir(&trail).unwrap();
            }
            "bytes" => fs::write(&trail, b"at /\xff\n").unwrap(),
            _ => fs::set_permissions(&trail, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap(),
        }
        world.send("UserPromptSubmit", json!({"prompt": "<private>only-secret-BETA</private>"})).answer();
        world.note("tool of the private turn");
        world.send("Stop", json!({"last_assistant_message": "summary of the private turn"})).silent();
        world.drain();
        for secret in ["only-secret-BETA", "tool of the private turn", "summary of the private turn"] {
            assert_eq!(world.files_with(secret), Vec::<std::path::PathBuf>::new(), "{spoil}: {secret}");
        }
        // A public prompt is kept whatever can be noted.
        world.send("UserPromptSubmit", json!({"prompt": "and now something public"})).answer();
        assert!(!world.files_with("something public").is_empty(), "{spoil}");
    }
}

#[test]
fn a_wholly_private_prompt_hides_its_turn() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.send("UserPromptSubmit", json!({"prompt": "<private>only-secret-BETA</private>"})).answer();
    world.note("tool of the private turn");
    world.send("Stop", json!({"last_assistant_message": "summary of the private turn"})).silent();
    world.drain();
    for secret in ["only-secret-BETA", "tool of the private turn", "summary of the private turn"] {
        assert_unknown(&world, &model, secret);
    }
    world.send("UserPromptSubmit", json!({"prompt": "now in public"})).answer();
    world.note("tool of the public turn");
    world.send("Stop", json!({})).silent();
    world.drain();
    assert_eq!(world.search("tool"), ["tool of the public turn"]);
}

#[test]
fn recalled_text_is_not_remembered_again() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for tag in
        ["cmem-context", "claude-mem-context", "system-reminder", "system_instruction", "persisted-output"]
    {
        let prompt = format!("go on <{tag}>recalled-{tag}</{tag}> now");
        world.send("UserPromptSubmit", json!({"prompt": prompt})).answer();
        assert_eq!(world.files_with(&format!("recalled-{tag}")), Vec::<PathBuf>::new());
    }
}

/// Made-up credentials, each in the place where real ones are seen. None is a working one.
fn credentials() -> Vec<(&'static str, String, String)> {
    let body = |length: usize| {
        "aZ3kQ9xT7bLm2WcR8vYp4NsD6hGj1FqE5uKi0oXy".chars().cycle().take(length).collect::<String>()
    };
    let plain = |prefix: &str, length: usize| format!("{prefix}{}", body(length));
    let row = |kind, secret: String, around: &str| (kind, around.replace("{}", &secret), secret);
    vec![
        row("github", plain("ghp_", 36), "token {}"),
        row("anthropic", plain("sk-ant-api03-", 60), "X={} run"),
        row("openai", plain("sk-proj-", 48), r#"{"deep":"{\"api_key\":\"{}\"}"}"#),
        row("aws id", String::from("AKIAQ3EGRV7TYUX2MNP4"), "aws {}"),
        row("aws secret", body(40), "AWS_SECRET_ACCESS_KEY={}"),
        row("slack", format!("xoxb-12345678901-{}", body(24)), "hook {}"),
        row("bearer", plain("tk", 42), "curl -H 'Authorization: Bearer {}'"),
        row("cookie", plain("ck", 30), "Cookie: sid={}; a=b"),
        row("url password", plain("pw", 16), "postgres://app:{}@db/x"),
        row("pem", body(64), "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----"),
        row("password with blanks", String::from("hK3f9a Lw2Qz8 9!"), "password: '{}'"),
        row("query", plain("qt", 20), "https://api.example.org/v1?token={}&user=bob"),
    ]
}

#[test]
fn credentials_never_arrive_whatever_carries_them() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let rows = credentials();
    let out: Vec<&str> = rows.iter().map(|(_, text, _)| text.as_str()).collect();
    let ordinary = "commit 3f786850e387550fdab836ed7e6dc881de23001b id 123e4567-e89b-12d3-a456-426614174000 @@plain survives@@";
    let key = &rows[0].2;
    world
        .send(
            "PostToolUse",
            json!({
                "tool_input": {"command": out.join(" ; ")},
                "tool_response": {"stdout": format!("{}\n{ordinary}", out.join("\n")), key: 1},
            }),
        )
        .silent();
    for (_, text, _) in &rows {
        world.send("Stop", json!({"last_assistant_message": text})).silent();
        world.send("UserPromptSubmit", json!({"prompt": text})).answer();
    }
    for (kind, _, secret) in &rows {
        assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{kind} is in the spool");
    }
    world.drain();
    for (kind, _, secret) in &rows {
        assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{kind} is on the disk");
        assert!(!model.was_told(secret), "the model was told the {kind}");
    }
    assert!(model.was_told("3f786850e387550fdab836ed7e6dc881de23001b"));
    assert_eq!(world.search("survives"), ["plain survives"]);
}

#[test]
fn the_retry_path_is_filtered_too() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(502));
    world
        .send("PostToolUse", json!({"tool_response": {"stdout": "<private>THETA-1</private> @@later@@"}}))
        .silent();
    // A credential across the place where a long text is cut leaves no half behind.
    let key = format!("ghp_{}", "Q7".repeat(18));
    let long = format!("{} {key} {}", "A".repeat(120_000), "B".repeat(120_000));
    world.send("PostToolUse", json!({"tool_response": {"stdout": long}})).silent();
    let _ = world.cmem(&["drain", "--wait"]);
    model.mode(Mode::Text(String::from("I looked at it and all seems fine.")));
    let _ = world.cmem(&["drain", "--wait"]);
    for secret in ["THETA-1", "Q7Q7Q7Q7"] {
        assert_unknown(&world, &model, secret);
    }
}

#[test]
fn what_the_model_repeats_is_redacted_again() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let key = format!("ghp_{}", "aB3".repeat(12));
    model.mode(Mode::Text(format!(
        "<observation><type>discovery</type><title>found {key} in a file</title></observation>"
    )));
    world.note("anything");
    world.drain();
    assert_eq!(world.files_with(&key), Vec::<PathBuf>::new());
    assert_eq!(world.search("found").len(), 1);
}

#[test]
fn the_users_own_patterns_are_redacted() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_REDACT_PATTERNS", "EMP-[0-9]{6}");
    world.note("badge EMP-123456 of the visitor");
    world.drain();
    assert_unknown(&world, &model, "EMP-123456");
    assert_eq!(world.search("visitor").len(), 1);
}

#[test]
fn data_files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new();
    world.note("anything");
    world.send("Stop", json!({})).silent();
    world.drain();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&world.data()), 0o700);
    for entry in std::fs::read_dir(world.data()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn nothing_is_captured_where_the_user_said_so() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    let marked = world.path("marked");
    std::fs::create_dir_all(marked.join("deep")).unwrap();
    std::fs::write(marked.join(".cmem-ignore"), "").unwrap();
    world.note_in(&marked, "below the ignore file");
    world.note_in(&marked.join("deep"), "deep below the ignore file");
    world.set("CMEM_EXCLUDED_PROJECTS", world.path("excluded").join("**").to_str().unwrap());
    std::fs::create_dir_all(world.path("excluded/a")).unwrap();
    world.note_in(&world.path("excluded/a"), "in an excluded project");
    world.set("CMEM_OFF", "1");
    world.note("while switched off");
    world.unset("CMEM_OFF");
    world.set("CMEM_OBSERVER", "1");
    world.note("inside the observer");
    world.unset("CMEM_OBSERVER");
    world
        .send("PostToolUse", json!({"tool_name": "TodoWrite", "tool_response": {"x": "in a skipped tool"}}))
        .silent();
    world.note("kept");
    world.drain();
    for secret in [
        "below the ignore file",
        "in an excluded project",
        "while switched off",
        "inside the observer",
        "in a skipped tool",
    ] {
        assert_unknown(&world, &model, secret);
    }
    assert_eq!(world.search("*"), ["kept"]);
}
