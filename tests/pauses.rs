//! How long nobody is called and who is to blame: no storm, no batch in the way of others, no cap that does not cap,
//! and a way out that the user is told.

use std::fs;
use std::thread;
use std::time::Duration;

use cmem::config::Paths;
use cmem::model::Timestamp;
use cmem::spool::{LastError, Pause};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::mock::post::{Post, PostServer};
use crate::common::{Mode, ModelServer, World, wait_for};

/// An error that names no cause but a lack of permission.
const REFUSAL: &str = r#"{"type": "error", "error": {"type": "permission_error", "message": "refused"}}"#;

const PROSE: &str = "I looked at it and all seems fine.";
const SOON: Duration = Duration::from_secs(30);

fn try_drain(world: &World) {
    let _ = world.cmem(&["drain", "--wait"]);
}

/// One turn of a session.
fn turn(world: &World, session: &str, text: &str) {
    let of = |fields: Value| {
        let mut fields = fields;
        fields["session_id"] = json!(session);
        fields
    };
    world.send("UserPromptSubmit", of(json!({"prompt": format!("go on with {text}")}))).answer();
    let response = json!({"stdout": format!("@@{text}@@"), "stderr": ""});
    world.send("PostToolUse", of(json!({"tool_response": response}))).silent();
    world.send("Stop", of(json!({"last_assistant_message": format!("{text} is done")}))).silent();
}

fn start(world: &World, session: &str) -> String {
    let answer = world.send("SessionStart", json!({"session_id": session})).answer().unwrap_or_default();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn paths(world: &World) -> Paths {
    Paths::resolve(Some(&world.data())).unwrap()
}

fn observed(world: &World, title: &str) -> bool {
    let count = Connection::open(world.data().join("memory.db")).and_then(|memory| {
        memory.query_row("SELECT count(*) FROM observations WHERE title = ?1", [title], |row| row.get(0))
    });
    // The drainer may not have made it yet.
    count.unwrap_or(0) > 0
}

#[test]
fn a_wait_of_no_time_is_no_storm() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::RetryAfter(0));
    turn(&world, "s", "limited");
    thread::sleep(Duration::from_secs(3));
    assert!((1..=3).contains(&model.count()), "{} calls", model.count());
    model.mode(Mode::Ok);
    world.drain();
    assert!(observed(&world, "limited"));
}

#[test]
fn a_fallback_that_asks_for_no_wait_is_not_stormed_either() {
    let (model, other) = (ModelServer::start(), ModelServer::start());
    let mut world = World::with_model(&model);
    world.set("CMEM_FALLBACK_PROVIDER", "openai");
    world.set("CMEM_FALLBACK_MODEL", "some-model");
    world.set("CMEM_OPENAI_BASE_URL", &other.url());
    model.mode(Mode::Status(401));
    other.mode(Mode::RetryAfter(0));
    turn(&world, "s", "limited");
    thread::sleep(Duration::from_secs(3));
    assert!((1..=3).contains(&other.count()), "{} calls", other.count());
    assert_eq!(model.count(), 1);
}

#[test]
fn useless_answers_are_counted_and_capped() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    // The mock's answers cost 120 tokens each.
    world.set("CMEM_DAILY_TOKENS", "600");
    model.mode(Mode::Text(String::from(PROSE)));
    turn(&world, "s", "not understood");
    for _ in 0..6 {
        try_drain(&world);
        world.wait_for_drainers();
    }
    assert!((5..=6).contains(&model.count()), "{} calls", model.count());
    assert!(world.cmem(&["status"]).ok().contains("CMEM_DAILY_TOKENS"));
    let told = world.cmem(&["drain"]).failed(1);
    assert!(told.contains("wait until midnight") && !told.contains("tried"), "{told}");
    let stats = world.cmem(&["stats", "--json"]).json();
    let calls = i64::try_from(model.count()).unwrap();
    let model = &stats["models"][0];
    assert_eq!((&model["calls"], &model["failed"]), (&json!(calls), &json!(calls)), "{stats}");
    assert_eq!(model["input"].as_i64().unwrap() + model["output"].as_i64().unwrap(), 120 * calls);
}

#[test]
fn each_call_of_a_batch_counts() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.script(vec![Mode::Text(String::from(PROSE)), Mode::Ok]);
    world.note("at the second time");
    world.drain();
    world.wait_for_drainers();
    let stats = world.cmem(&["stats", "--json"]).json();
    assert_eq!((&stats["models"][0]["calls"], &stats["models"][0]["failed"]), (&json!(2), &json!(1)));
    assert_eq!(model.count(), 2);
}

#[test]
fn a_batch_that_is_refused_is_found_out_while_others_pass() {
    for status in [401, 402, 403, 500] {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        model.mode(Mode::Refuse("POISON", status, REFUSAL));
        turn(&world, "first", "POISON");
        wait_for("it is paused", SOON, || Pause::read(&paths(&world)).is_some());
        for number in 0..8 {
            let (session, title) = (format!("later-{number}"), format!("good {number}"));
            turn(&world, &session, &title);
            let mut occasions = 0..;
            wait_for(&format!("{status}: {title} waits behind it"), SOON, || {
                let paused = Pause::read(&paths(&world)).is_some();
                // A new session is an occasion to try again; where the network may be at fault, the user's own drain is.
                match occasions.next().filter(|_| paused) {
                    Some(_) if status == 500 => try_drain(&world),
                    Some(occasion) => drop(start(&world, &format!("{session}-{occasion}"))),
                    None => {}
                }
                observed(&world, &title)
            });
        }
        for _ in 0..8 {
            world.note("and another");
            try_drain(&world);
        }
        let queue = world.cmem(&["queue", "list", "--json"]).json();
        let parked: Vec<&Value> =
            queue.as_array().unwrap().iter().filter(|row| row["state"] == "parked").collect();
        assert!(!parked.is_empty(), "{status}: {queue}");
        assert!(
            parked.iter().all(|row| row["reason"].as_str().unwrap().contains(&status.to_string())),
            "{status}: {queue}"
        );
        assert!(Pause::read(&paths(&world)).is_none(), "{status}: nobody else is kept waiting");
        model.mode(Mode::Ok);
        let _ = world.cmem(&["queue", "retry", "--all"]).ok();
        world.drain();
        world.assert_all_done();
        assert!(observed(&world, "POISON"));
    }
}

#[test]
fn a_refused_turn_lets_the_later_turns_of_its_session_pass() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Refuse("POISON", 403, REFUSAL));
    turn(&world, "one", "POISON");
    world.wait_for_drainers();
    // Twice it may be chance.
    start(&world, "look");
    turn(&world, "one", "good 0");
    world.wait_for_drainers();
    for number in 1..3 {
        start(&world, &format!("look-{number}"));
        turn(&world, "one", &format!("good {number}"));
        let title = format!("good {number}");
        wait_for(&format!("{title} waits behind it"), SOON, || observed(&world, &title));
    }
    wait_for("so does the first", SOON, || observed(&world, "good 0"));
}

#[test]
fn a_provider_that_is_too_slow_for_a_batch_gets_smaller_ones() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_TIMEOUT_SECS", "1");
    // Nothing is tried while they come in.
    world.set("CMEM_ANTHROPIC_API_KEY", "");
    for number in 0..12 {
        world.note(&format!("slow {number}"));
    }
    world.wait_for_drainers();
    world.set("CMEM_ANTHROPIC_API_KEY", "test-key");
    model.mode(Mode::Slow(4));
    for _ in 0..12 {
        try_drain(&world);
    }
    assert_eq!((0..12).filter(|n| observed(&world, &format!("slow {n}"))).count(), 12);
    world.assert_all_done();
}

#[test]
fn an_outage_parks_nothing_and_loses_nothing() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for status in [500, 529, 401, 402] {
        model.mode(Mode::Status(status));
        turn(&world, &format!("during-{status}"), &format!("kept through {status}"));
        for _ in 0..6 {
            let _ = world.cmem(&["drain", "--wait"]);
        }
    }
    let ledger = world.ledger();
    assert_eq!((ledger.parked, ledger.balance(), ledger.waiting + ledger.stored), (0, 0, 12), "{ledger:?}");
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.drain();
    world.assert_all_done();
}

#[test]
fn a_cap_in_dollars_holds_for_a_model_without_a_price() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_PROVIDER", "openai");
    world.set("CMEM_OPENAI_BASE_URL", &model.url());
    world.set("CMEM_MODEL", "some-model");
    world.set("CMEM_DAILY_USD", "0.0005");
    for number in 0..4 {
        world.note(&format!("unpriced {number}"));
        try_drain(&world);
    }
    // 100 tokens in and 20 out at the dearest of the prices: a tenth of a cent.
    assert_eq!(model.count(), 1);
    let status = world.cmem(&["status"]).ok();
    assert!(status.contains("CMEM_DAILY_USD") && status.contains("CMEM_PRICES"), "{status}");
    let doctor = world.cmem(&["doctor"]).out;
    assert!(doctor.contains("CMEM_DAILY_USD") && doctor.contains("some-model"), "{doctor}");
    let stats = world.cmem(&["stats"]);
    assert!(stats.err.contains("CMEM_DAILY_USD"), "{stats:?}");
    // A price is another try at once.
    world.set("CMEM_PRICES", "some-model=0/0/0,mock=0/0/0");
    world.drain();
    world.assert_all_done();
    assert!(!world.cmem(&["doctor"]).out.contains("CMEM_DAILY_USD counts"));
}

#[test]
fn a_short_failure_at_the_end_of_a_session_is_overcome_by_itself() {
    for failures in [
        vec![Mode::Status(529)],
        vec![Mode::Text(String::from(PROSE)), Mode::Text(String::from(PROSE))],
        vec![Mode::RetryAfter(1)],
    ] {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        model.script(failures.clone());
        turn(&world, "last", "the last turn");
        wait_for(&format!("{failures:?} passes"), SOON, || observed(&world, "the last turn"));
        world.wait_for_drainers();
        assert!(model.count() <= 5, "{failures:?}: {} calls", model.count());
    }
}

#[test]
fn a_drainer_that_waits_holds_up_nobody_and_is_alone() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::RetryAfter(40));
    turn(&world, "s", "waited for");
    wait_for("it is paused", SOON, || Pause::read(&paths(&world)).is_some());
    for number in 0..5 {
        turn(&world, "s", &format!("meanwhile {number}"));
    }
    assert_eq!(world.drainers().len(), 1);
    let ran = world.cmem(&["drain"]);
    let told = ran.clone().failed(1);
    assert!(told.contains("asked to wait until") && told.contains("queue retry"), "{told}");
    assert!(ran.took < Duration::from_secs(10), "{:?}", ran.took);
    assert_eq!(model.count(), 1);
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.drain();
    assert!(observed(&world, "waited for"));
}

#[test]
fn the_users_own_drain_tries_once_whatever_stands_in_the_way() {
    for status in [401, 402] {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        model.mode(Mode::Status(status));
        world.note("mended at the provider");
        world.wait_for_drainers();
        try_drain(&world);
        let calls = model.count();
        assert_eq!(calls, 2, "{status}");
        let told = world.cmem(&["drain"]).failed(1);
        assert!(told.contains("a few seconds ago"), "{told}");
        assert_eq!(model.count(), calls, "{status}: not twice in a moment");
    }
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    world.note("mended at the provider");
    world.wait_for_drainers();
    model.mode(Mode::Ok);
    world.drain();
    assert!(observed(&world, "mended at the provider"));
}

#[test]
fn the_notice_counts_what_nobody_has_taken_in() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    world.note("first");
    world.wait_for_drainers();
    turn(&world, "s", "while it is paused");
    let told = start(&world, "next");
    assert!(told.contains(" 4 events"), "{told}");
    // And the start itself.
    assert_eq!(world.status()["spool"]["waiting"], 5);
}

#[test]
fn a_fallback_is_named_only_when_it_takes_over() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_FALLBACK_PROVIDER", "builtin");
    model.mode(Mode::Status(401));
    world.note("to be kept");
    world.wait_for_drainers();
    let pause = Pause::read(&paths(&world)).unwrap();
    for (seconds, takes_over) in [(30, false), (3_600, true)] {
        let failure = LastError { class: String::from("quota"), ..pause.failure() };
        let until = Some(Timestamp::now().plus_ms(seconds * 1_000));
        Pause::begin(&failure, until, 1, pause.fingerprint.clone()).write(&paths(&world)).unwrap();
        let told = start(&world, &format!("after {seconds}"));
        assert_eq!(told.contains("takes its place"), takes_over, "{told}");
        assert_eq!(world.cmem(&["status"]).ok().contains("takes its place"), takes_over);
    }
}

#[test]
fn notices_go_out_while_the_provider_is_paused() {
    let (model, telegram) = (ModelServer::start(), PostServer::start());
    let mut world = World::with_model(&model);
    world.set("NO_PROXY", "127.0.0.1");
    world.set("CMEM_TELEGRAM_BOT_TOKEN", "123456:SECRET-bot_Token");
    world.set("CMEM_TELEGRAM_CHAT_ID", "-1001");
    world.set("CMEM_TELEGRAM_BASE_URL", &telegram.url());
    telegram.answer(Post::Wait(3));
    world.note("security_alert:: the key is in the image");
    wait_for("it is refused", SOON, || !telegram.requests().is_empty());
    world.wait_for_drainers();
    model.mode(Mode::Status(401));
    world.note("not observed");
    world.wait_for_drainers();
    let calls = model.count();
    telegram.answer(Post::Take);
    let due = Pause::read(&paths(&world)).unwrap().errand.unwrap();
    thread::sleep(Duration::from_millis(due.since_ms(Timestamp::now()).max(0).unsigned_abs() + 50));
    world.note("not observed either");
    wait_for("the notice is there", SOON, || telegram.taken().len() == 1);
    world.wait_for_drainers();
    assert_eq!(model.count(), calls, "the provider is left alone");
    // With nothing left to send, a hook starts nobody.
    let pause = Pause::read(&paths(&world)).unwrap();
    assert_eq!(pause.errand, None);
    world.note("nor this");
    assert_eq!(world.drainers(), Vec::<i32>::new());
}

#[test]
fn auto_is_builtin_while_claude_refuses_the_login() {
    let mut world = World::new();
    let refusal = json!({"type": "result", "is_error": true, "result": "Not logged in · Please run /login"});
    let answer = json!({"type": "result", "is_error": false, "result": "<nothing/>"});
    world.install_claude(&format!(
        "cat > /dev/null; echo >> \"$TMPDIR/calls\"\nif [ -e \"$TMPDIR/login\" ]; then echo '{answer}'; else echo '{refusal}'; fi"
    ));
    world.set("CMEM_PROVIDER", "auto");
    let calls = || fs::read_to_string(world.path("tmp/calls")).unwrap_or_default().len();
    let ask = |session: &str, conclusion: &str| {
        world
            .send("UserPromptSubmit", json!({"session_id": session, "prompt": "why does the deploy fail?"}))
            .answer();
        world.send("Stop", json!({"session_id": session, "last_assistant_message": conclusion})).silent();
    };
    ask("one", "The deploy fails because make_warm() in src/a.rs is cold.");
    wait_for("the builtin observer has seen it", SOON, || {
        world.data().join("memory.db").exists() && !world.search("make_warm").is_empty()
    });
    world.wait_for_drainers();
    world.assert_all_done();
    ask("one", "The build fails because link_twice() in src/b.rs is called by two threads.");
    world.wait_for_drainers();
    assert!(!world.search("link_twice").is_empty());
    assert_eq!(calls(), 1, "claude is left alone until the next session");
    let status = world.cmem(&["status"]).ok();
    assert!(status.contains("builtin takes its place"), "{status}");
    let told = start(&world, "two");
    assert!(told.contains("builtin takes its place") && told.contains("/login"), "{told}");
    fs::write(world.path("tmp/login"), "").unwrap();
    ask("two", "The tests fail because wait_once() in src/c.rs waits twice.");
    world.wait_for_drainers();
    assert_eq!(calls(), 2, "a new session is an occasion to try again");
    assert!(!world.cmem(&["status"]).ok().contains("takes its place"));
    let titles = world.search("wait_once");
    assert!(
        !titles.iter().any(|title| title.contains("wait_once")),
        "claude says that there is nothing to record"
    );
}

#[test]
fn auto_waits_for_claude_through_everything_else() {
    let mut world = World::new();
    let refusal =
        json!({"type": "result", "is_error": true, "result": "Claude AI usage limit reached|4102444800"});
    world.install_claude(&format!("cat > /dev/null; echo '{refusal}'"));
    world.set("CMEM_PROVIDER", "auto");
    world.send("UserPromptSubmit", json!({"prompt": "why does the deploy fail?"})).answer();
    let conclusion = "The deploy fails because make_warm() in src/a.rs is cold.";
    world.send("Stop", json!({"last_assistant_message": conclusion})).silent();
    world.wait_for_drainers();
    assert_eq!(world.ledger().waiting, 2);
    assert!(!world.cmem(&["status"]).ok().contains("takes its place"));
}
