//! Notices: told once, to whom it was chosen, redacted, and never in the way of draining.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::mock::post::{Post, PostServer};
use crate::common::{ModelServer, World, wait_for};

const TOKEN: &str = "123456:SECRET-bot_Token";
const PENDING: &str = "SELECT count(*) FROM notices WHERE state = 'pending'";
const GIVEN_UP: &str = "SELECT count(*) FROM notices WHERE state = 'given_up'";

fn world(model: &ModelServer) -> World {
    let mut world = World::with_model(model);
    // What this machine's own proxy settings say is none of these tests.
    world.set("NO_PROXY", "127.0.0.1");
    world
}

fn with_telegram(model: &ModelServer, telegram: &PostServer) -> World {
    let mut world = world(model);
    world.set("CMEM_TELEGRAM_BOT_TOKEN", TOKEN);
    world.set("CMEM_TELEGRAM_CHAT_ID", "-1001");
    world.set("CMEM_TELEGRAM_BASE_URL", &telegram.url());
    world
}

/// Leaves an event that the model makes an observation of the type `kind` of.
fn note(world: &World, kind: &str, title: &str) {
    world.note(&format!("{kind}:: {title}"));
}

fn texts(server: &PostServer) -> Vec<String> {
    server.taken().iter().map(|body| body["text"].as_str().unwrap().to_owned()).collect()
}

/// The findings of `cmem doctor` under this name.
fn finding(world: &World, name: &str) -> Value {
    let ran = world.cmem(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
}

/// As if the time had come for whatever waits.
fn let_time_pass(world: &World) {
    let connection = Connection::open(world.data().join("memory.db")).unwrap();
    connection.execute("UPDATE notices SET due_at = 0, queued_at = queued_at - 1000", []).unwrap();
}

#[test]
fn a_chosen_type_is_told_once_and_no_other() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let world = with_telegram(&model, &telegram);
    note(&world, "security_alert", "the deploy key is in the image");
    note(&world, "discovery", "the cache is warm");
    for _ in 0..3 {
        world.drain();
    }
    // The same once more is the same memory.
    note(&world, "security_alert", "The deploy key is in the image.");
    world.drain();
    assert_eq!(world.search("deploy key").len(), 1);
    let [message] = &telegram.taken()[..] else { panic!("{:?}", telegram.taken()) };
    assert_eq!(message["chat_id"], "-1001");
    assert_eq!(
        message["text"], "🚨 security_alert: the deploy key is in the image\nproject · cmem get 1",
        "{message}"
    );
    assert_eq!(telegram.requests()[0].path, format!("/bot{TOKEN}/sendMessage"));
    assert_eq!(finding(&world, "telegram")["state"], "ok");
    world.assert_all_done();
}

#[test]
fn the_drainer_of_a_hook_sends_it() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let world = with_telegram(&model, &telegram);
    note(&world, "sensitive", "the launch is in May");
    wait_for("the notice is there", Duration::from_secs(30), || telegram.taken().len() == 1);
    assert!(texts(&telegram)[0].starts_with("🔐 sensitive: the launch is in May"));
    world.wait_for_drainers();
}

#[test]
fn a_notice_does_not_wait_for_the_turn_of_another_session() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let mut world = with_telegram(&model, &telegram);
    world.set("CMEM_LINGER_SECS", "300");
    let said = |session: &str, event: &str, text: &str| {
        let response = json!({"stdout": format!("@@{text}@@"), "stderr": ""});
        let fields = match event {
            "Stop" => json!({"session_id": session}),
            _ => json!({"session_id": session, "tool_response": response}),
        };
        world.send(event, fields).silent();
    };
    said("unfinished", "PostToolUse", "goes on");
    said("finished", "PostToolUse", "security_alert:: told at once");
    said("finished", "Stop", "");
    wait_for("the notice is there", Duration::from_secs(30), || telegram.taken().len() == 1);
    assert_eq!((world.drainers().len(), world.ledger().waiting), (1, 1), "the drainer still lingers");
}

#[test]
fn nothing_is_told_unless_types_are_chosen() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let mut world = with_telegram(&model, &telegram);
    world.set("CMEM_TELEGRAM_TRIGGER_TYPES", "");
    note(&world, "security_alert", "no type is chosen");
    world.drain();
    world.set("CMEM_TELEGRAM_TRIGGER_TYPES", "decision, Security_Alert");
    world.set("CLAUDE_MEM_TELEGRAM_ENABLED", "false");
    note(&world, "security_alert", "all is switched off");
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM notices"), 0);
    world.set("CLAUDE_MEM_TELEGRAM_ENABLED", "true");
    // The same again, now that it would be told, is no new memory.
    note(&world, "security_alert", "All is switched off.");
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM notices"), 0);
    note(&world, "sensitive", "not chosen");
    note(&world, "decision", "chosen");
    world.drain();
    assert_eq!(texts(&telegram), ["🔔 decision: chosen\nproject · cmem get 4"]);
}

#[test]
fn a_webhook_gets_the_documented_object() {
    let (model, hook) = (ModelServer::start(), PostServer::start());
    let mut world = world(&model);
    world.set("CLAUDE_MEM_WEBHOOK_URL", &format!("{}/in/SECRET-path", hook.url()));
    note(&world, "security_alert", "port 22 is open");
    world.drain();
    let [body] = &hook.taken()[..] else { panic!("{:?}", hook.taken()) };
    let stored = world.cmem(&["get", "1", "--json"]).json();
    let expected = json!({
        "version": 1, "event": "observation", "uid": stored[0]["uid"], "id": 1, "type": "security_alert",
        "title": "port 22 is open", "subtitle": "", "project": "project",
        "created_at": stored[0]["created_at"],
    });
    assert_eq!(body, &expected);
    let request = &hook.requests()[0];
    assert_eq!(request.path, "/in/SECRET-path");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(!world.cmem(&["config", "list"]).ok().contains("SECRET"), "an address may be a key");
    assert_eq!(world.files_with("SECRET-path"), Vec::<PathBuf>::new());
}

#[test]
fn what_is_sent_is_redacted_by_the_rules_of_the_day() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let mut world = with_telegram(&model, &telegram);
    telegram.answer(Post::Refuse(500));
    let key = format!("ghp_{}", "aZ3kQ9xT7bLm2WcR8vYp4NsD6hGj1FqE5uKi");
    note(&world, "security_alert", &format!("token {key} and plan tulip42"));
    world.drain();
    telegram.answer(Post::Take);
    world.set("CMEM_REDACT_PATTERNS", "tulip[0-9]+");
    world.drain();
    let [text] = &texts(&telegram)[..] else { panic!("{:?}", telegram.taken()) };
    assert!(text.contains("[redacted:custom]") && text.contains("[redacted:"), "{text}");
    assert!(!text.contains("tulip42") && !text.contains(&key), "{text}");
}

#[test]
fn what_fails_for_now_is_sent_later_and_once() {
    let model = ModelServer::start();
    for failure in [Post::Refuse(500), Post::Refuse(503), Post::Close] {
        let telegram = PostServer::start();
        let world = with_telegram(&model, &telegram);
        telegram.answer(failure);
        note(&world, "security_alert", &format!("kept through {failure:?}"));
        world.drain();
        world.wait_for_drainers();
        assert_eq!(world.number("memory.db", PENDING), 1, "{failure:?}");
        assert_eq!(world.status()["notices"], json!({"pending": 1, "given_up": 0}));
        let waiting = finding(&world, "telegram");
        assert!(waiting["state"] == "warn" && waiting["message"].as_str().unwrap().contains("1 waiting"));
        world.assert_all_done();
        telegram.answer(Post::Take);
        for _ in 0..3 {
            world.drain();
        }
        assert_eq!(telegram.taken().len(), 1, "{failure:?}");
        assert_eq!(finding(&world, "telegram")["state"], "ok");
    }
}

#[test]
fn a_drainer_in_the_background_waits_between_attempts_and_leaves() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let world = with_telegram(&model, &telegram);
    telegram.answer(Post::Refuse(500));
    note(&world, "security_alert", "first");
    wait_for("an attempt", Duration::from_secs(30), || telegram.requests().len() == 1);
    world.wait_for_drainers();
    note(&world, "discovery", "second");
    wait_for("the second is stored", Duration::from_secs(30), || world.ledger().stored == 2);
    world.wait_for_drainers();
    assert_eq!(telegram.requests().len(), 1, "its time has not come");
    telegram.answer(Post::Take);
    let_time_pass(&world);
    note(&world, "discovery", "third");
    wait_for("the next hook's drainer sends it", Duration::from_secs(30), || telegram.taken().len() == 1);
}

#[test]
fn the_time_that_a_server_asks_for_holds_for_all_that_goes_there() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let world = with_telegram(&model, &telegram);
    telegram.answer(Post::Wait(3600));
    note(&world, "security_alert", "first");
    world.drain();
    telegram.answer(Post::Take);
    note(&world, "security_alert", "second");
    for _ in 0..2 {
        world.drain();
    }
    assert_eq!((telegram.requests().len(), telegram.taken().len()), (1, 0));
    let wait = "SELECT (max(due_at) - max(changed_at) FILTER (WHERE held)) / 1000 FROM notices WHERE held";
    assert!((3590..=3600).contains(&world.number("memory.db", wait)));
    let_time_pass(&world);
    world.drain();
    let mut told = texts(&telegram);
    told.sort();
    assert!(told.len() == 2 && told[0].contains("first") && told[1].contains("second"), "{told:?}");
}

#[test]
fn a_refusal_is_final_and_told_with_its_remedy_and_without_the_token() {
    for (status, remedy) in [
        (401, "CMEM_TELEGRAM_BOT_TOKEN"),
        (404, "CMEM_TELEGRAM_BOT_TOKEN"),
        (400, "CMEM_TELEGRAM_CHAT_ID"),
        (403, "CMEM_TELEGRAM_CHAT_ID"),
    ] {
        let (model, telegram) = (ModelServer::start(), PostServer::start());
        let mut world = with_telegram(&model, &telegram);
        // The token as a user sets it.
        world.unset("CMEM_TELEGRAM_BOT_TOKEN");
        let _ = world.cmem(&["config", "set", "CMEM_TELEGRAM_BOT_TOKEN", TOKEN]).ok();
        telegram.answer(Post::Refuse(status));
        note(&world, "security_alert", "refused");
        for _ in 0..3 {
            world.drain();
        }
        assert_eq!(telegram.requests().len(), 1, "{status}");
        assert_eq!(world.number("memory.db", GIVEN_UP), 1, "{status}");
        let told = finding(&world, "telegram");
        assert_eq!(told["state"], "warn", "{told}");
        assert!(told["message"].as_str().unwrap().contains(&format!("HTTP {status}")), "{told}");
        assert!(told["remedy"].as_str().unwrap().contains(remedy), "{told}");
        assert_eq!(world.status()["notices"], json!({"pending": 0, "given_up": 1}));
        for args in [&["doctor"][..], &["status"], &["config", "list"], &["drain"]] {
            let ran = world.cmem(args);
            assert!(!format!("{}{}", ran.out, ran.err).contains(TOKEN), "{args:?}");
        }
        assert_eq!(world.files_with(TOKEN), [world.data().join("settings.json")]);
        world.assert_all_done();
    }
}

#[test]
fn killed_while_it_sends_a_drainer_tells_nothing_twice() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let world = with_telegram(&model, &telegram);
    telegram.answer(Post::Hang);
    note(&world, "security_alert", "perhaps told");
    let mut command = world.command(crate::common::world::binary(), &world.project());
    command.args(["drain", "--wait"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for("it is being sent", Duration::from_secs(30), || telegram.requests().len() == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    world.kill_drainers();
    telegram.answer(Post::Take);
    for _ in 0..2 {
        world.drain();
    }
    assert_eq!(telegram.requests().len(), 1);
    let told = finding(&world, "telegram");
    assert!(told["message"].as_str().unwrap().contains("may have arrived"), "{told}");
    assert_eq!(world.search("perhaps"), ["perhaps told"]);
}

#[test]
fn two_destinations_do_not_wait_for_each_other() {
    let (model, telegram, hook) = (ModelServer::start(), PostServer::start(), PostServer::start());
    let mut world = with_telegram(&model, &telegram);
    world.set("CMEM_WEBHOOK_URL", &hook.url());
    telegram.answer(Post::Wait(3600));
    note(&world, "security_alert", "both");
    world.drain();
    assert_eq!((telegram.taken().len(), hook.taken().len()), (0, 1));
    telegram.answer(Post::Take);
    hook.answer(Post::Refuse(404));
    let_time_pass(&world);
    note(&world, "sensitive", "one");
    for _ in 0..2 {
        world.drain();
    }
    assert_eq!((telegram.taken().len(), hook.taken().len()), (2, 1));
    assert_eq!(finding(&world, "telegram")["state"], "ok");
    let told = finding(&world, "webhook");
    assert!(told["message"].as_str().unwrap().contains("HTTP 404"), "{told}");
    assert!(told["remedy"].as_str().unwrap().contains("CMEM_WEBHOOK_URL"), "{told}");
}

#[test]
fn nobody_there_is_no_failure_of_draining() {
    let model = ModelServer::start();
    let mut world = world(&model);
    let address = PostServer::start().url();
    world.set("CMEM_WEBHOOK_URL", &format!("{address}/SECRET"));
    note(&world, "security_alert", "to nobody");
    let ran = world.cmem(&["drain", "--wait"]);
    assert!(ran.err.contains("notices: 1 put off") || ran.err.is_empty(), "{}", ran.err);
    let _ = ran.ok();
    world.drain();
    assert_eq!(world.number("memory.db", PENDING), 1);
    assert_eq!(world.files_with("SECRET"), Vec::<PathBuf>::new());
    assert!(finding(&world, "webhook")["message"].as_str().unwrap().contains(&address));
    world.assert_all_done();
}

#[test]
fn the_doctor_names_half_a_set_up() {
    let mut world = World::new();
    assert_eq!(finding(&world, "notices")["state"], "ok");
    world.set("CMEM_TELEGRAM_BOT_TOKEN", TOKEN);
    let half = finding(&world, "telegram");
    assert_eq!(half["state"], "warn");
    assert!(half["remedy"].as_str().unwrap().contains("CMEM_TELEGRAM_CHAT_ID"), "{half}");
    world.set("CMEM_TELEGRAM_CHAT_ID", "1");
    world.set("CMEM_TELEGRAM_BASE_URL", "api.telegram.org");
    world.set("CMEM_WEBHOOK_URL", "ftp://SECRET");
    for (name, setting) in [("telegram", "CMEM_TELEGRAM_BASE_URL"), ("webhook", "CMEM_WEBHOOK_URL")] {
        let wrong = finding(&world, name);
        assert!(wrong["state"] == "warn" && !wrong.to_string().contains("SECRET"), "{wrong}");
        assert!(wrong["message"].as_str().unwrap().contains(setting), "{wrong}");
    }
    // Nothing is queued for what cannot be sent.
    world.send("PostToolUseFailure", json!({})).silent();
    world.send("Stop", json!({"last_assistant_message": "Urgent: a password is leaked."})).silent();
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM notices"), 0);
}
