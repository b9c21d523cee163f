//! Each way in which a model can fail: nothing is lost, nothing is doubled, and the model is not hammered.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::{Mode, ModelServer, World};

const PROSE: &str = "I looked at it and all seems fine.";

/// Drains where the observer may fail: the exit code is not the matter.
fn try_drain(world: &World) {
    let _ = world.cmem(&["drain", "--wait"]);
}

#[test]
fn both_apis_store_what_the_model_says() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.note("by messages");
    world.drain();
    world.set("CMEM_PROVIDER", "openai");
    // By name: a static build must find hosts too.
    world.set("CMEM_OPENAI_BASE_URL", &format!("{}/v1", model.url().replace("127.0.0.1", "localhost")));
    world.set("CMEM_MODEL", "some-model");
    world.set("CMEM_OPENAI_API_KEY", "other-key");
    world.note("by chat completions");
    world.drain();
    assert_eq!(world.search("messages"), ["by messages"]);
    assert_eq!(world.search("completions"), ["by chat completions"]);
    let requests = model.requests();
    let first = requests.first().unwrap();
    assert_eq!((first.path.as_str(), first.header("x-api-key")), ("/v1/messages", Some("test-key")));
    assert!(first.header("anthropic-version").is_some());
    let last = requests.last().unwrap();
    assert_eq!(last.path, "/v1/chat/completions");
    assert_eq!(last.header("authorization"), Some("Bearer other-key"));
    world.assert_all_done();
}

#[test]
fn the_stable_part_of_the_request_is_marked_for_the_cache_and_is_the_same_each_time() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for text in ["first", "second"] {
        world.note(text);
        world.drain();
    }
    let systems: Vec<serde_json::Value> = model
        .requests()
        .iter()
        .map(|request| serde_json::from_slice::<serde_json::Value>(&request.body).unwrap()["system"].clone())
        .collect();
    assert_eq!(systems.len(), 2);
    assert_eq!(systems[0].to_string(), systems[1].to_string());
    assert_eq!(systems[0][0]["cache_control"], json!({"type": "ephemeral"}));
}

#[test]
fn refused_credentials_stop_the_calls_until_something_changes() {
    for status in [401, 403] {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        model.mode(Mode::Status(status));
        world.note("auth one");
        world.note("auth two");
        for _ in 0..3 {
            try_drain(&world);
        }
        assert!(model.count() <= 3, "{status}: {} calls", model.count());
        assert_ne!(world.cmem(&["queue", "list"]).ok(), "");
        let told = world.send("SessionStart", json!({})).answer().unwrap()["systemMessage"].to_string();
        assert!(told.contains("CMEM_ANTHROPIC_API_KEY"), "the remedy is named: {told}");
        model.mode(Mode::Ok);
        world.drain();
        assert_eq!(world.search("auth").len(), 2);
        let later = world.send("SessionStart", json!({"session_id": "later"})).answer().unwrap_or_default();
        assert!(later["systemMessage"].is_null(), "the notice is gone: {later}");
        assert_eq!(world.search("status 401"), Vec::<String>::new());
        world.drain();
        world.assert_all_done();
    }
}

#[test]
fn retry_after_is_obeyed() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::RetryAfter(2));
    for number in 1..=3 {
        world.note(&format!("limited {number}"));
    }
    try_drain(&world);
    let before = model.count();
    try_drain(&world);
    assert!(before <= 4 && model.count() <= before + 1, "{before} then {} calls", model.count());
    thread::sleep(Duration::from_millis(2500));
    model.mode(Mode::Ok);
    world.drain();
    assert_eq!(world.search("limited").len(), 3);
    world.assert_all_done();
}

#[test]
fn a_used_up_quota_keeps_the_events() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Text(String::from("You have reached your usage limit for this period.")));
    world.note("over the quota");
    for _ in 0..3 {
        try_drain(&world);
    }
    assert!(model.count() <= 3, "{} calls", model.count());
    assert_eq!(world.ledger().waiting, 1);
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.drain();
    assert_eq!(world.search("quota"), ["over the quota"]);
}

#[test]
fn failures_of_the_moment_are_tried_again() {
    let mut model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_TIMEOUT_SECS", "1");
    for (name, mode) in [
        ("status 500", Mode::Status(500)),
        ("status 502", Mode::Status(502)),
        ("status 529", Mode::Status(529)),
        ("closed", Mode::Close),
        ("truncated", Mode::Truncated),
        ("hung", Mode::Hang),
    ] {
        model.mode(mode);
        world.note(&format!("kept through {name}"));
        let began = Instant::now();
        try_drain(&world);
        assert!(began.elapsed() < Duration::from_secs(20), "{name} took {:?}", began.elapsed());
        assert!(world.ledger().waiting > 0, "{name}");
    }
    assert!(model.count() <= 24, "{} calls", model.count());
    model.stop();
    world.note("kept through refused");
    try_drain(&world);
    assert_ne!(world.cmem(&["queue", "list"]).ok(), "");
    model.resume();
    model.mode(Mode::Ok);
    world.set("CMEM_TIMEOUT_SECS", "30");
    world.drain();
    assert_eq!(world.search("kept").len(), 7);
    world.assert_all_done();
    world.assert_sound();
}

#[test]
fn a_useless_answer_is_asked_again_and_then_parked() {
    for mode in [Mode::Text(String::from(PROSE)), Mode::Text(String::new()), Mode::Cut] {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        model.mode(mode.clone());
        world.note("not understood");
        for _ in 0..8 {
            try_drain(&world);
        }
        let ledger = world.ledger();
        assert_eq!((ledger.parked, ledger.waiting, ledger.balance()), (1, 0, 0), "{mode:?} {ledger:?}");
        assert!(model.count() <= 10, "{mode:?}: {} calls", model.count());
        assert!(world.cmem(&["queue", "list"]).ok().contains("parked"));
        model.mode(Mode::Ok);
        let _ = world.cmem(&["queue", "retry", "--all"]).ok();
        world.drain();
        assert_eq!(world.search("understood"), ["not understood"]);
        world.assert_all_done();
    }
}

#[test]
fn one_bad_event_does_not_take_the_others_with_it() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Text(String::from(PROSE)));
    world.note("good one");
    world.note("POISON");
    world.note("good two");
    try_drain(&world);
    model.mode(Mode::Poison("POISON"));
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    for _ in 0..12 {
        try_drain(&world);
    }
    assert_eq!(world.search("good").len(), 2);
    assert_eq!(world.ledger().parked, 1);
}

#[test]
fn a_dropped_event_is_gone_and_counted() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    world.note("to be dropped");
    try_drain(&world);
    world.wait_for_drainers();
    let _ = world.cmem(&["queue", "drop", "--all", "--yes"]).ok();
    let ledger = world.ledger();
    assert_eq!((ledger.dropped, ledger.waiting, ledger.balance()), (1, 0, 0), "{ledger:?}");
    assert_eq!(world.files_with("to be dropped"), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_observer_is_not_fed_its_own_words() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.note("seed");
    world.drain();
    let mut sizes = Vec::new();
    for round in 0..4 {
        let last = String::from_utf8(model.requests().last().unwrap().body.clone()).unwrap();
        world.send("UserPromptSubmit", json!({"prompt": last})).answer();
        world.send("Stop", json!({"last_assistant_message": last})).silent();
        world.note(&format!("round {round}"));
        world.drain();
        sizes.push(model.requests().last().unwrap().body.len());
    }
    assert!(sizes[3] < sizes[0] * 2 + 2000, "{sizes:?}");
}

#[test]
fn a_daily_cap_pauses_the_observer_and_keeps_the_events() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_DAILY_TOKENS", "1");
    world.note("first");
    try_drain(&world);
    world.note("second");
    try_drain(&world);
    assert_eq!((model.requests().len(), world.ledger().waiting), (1, 1));
    assert!(world.cmem(&["status"]).ok().contains("CMEM_DAILY_TOKENS"));
    // A higher limit is another try at once.
    world.set("CMEM_DAILY_TOKENS", "1000000000");
    try_drain(&world);
    assert_eq!((model.requests().len(), world.ledger().waiting), (2, 0));
    let used = world.cmem(&["stats", "--json"]).json();
    let name = used["models"][0]["model"].as_str().unwrap();
    world.set("CMEM_PRICES", &format!("{name}=1000000/1000000/1000000"));
    world.set("CMEM_DAILY_USD", "0.01");
    world.note("third");
    try_drain(&world);
    assert_eq!((model.requests().len(), world.ledger().waiting), (2, 1));
    assert!(world.cmem(&["status"]).ok().contains("CMEM_DAILY_USD"));
}

fn ask_why_the_deploy_fails(world: &World) {
    world.send("UserPromptSubmit", json!({"prompt": "why does the deploy fail?"})).answer();
    let conclusion = "The deploy fails because make_warm() in src/a.rs is cold.";
    world.send("Stop", json!({"last_assistant_message": conclusion})).silent();
}

#[test]
fn without_a_named_fallback_nobody_takes_over() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    ask_why_the_deploy_fails(&world);
    try_drain(&world);
    assert!(world.search("make_warm").is_empty());
    assert_eq!(world.ledger().waiting, 2);
}

#[test]
fn a_fallback_that_is_named_takes_over_from_a_provider_that_refuses() {
    for status in [401, 404] {
        let model = ModelServer::start();
        let mut world = World::with_model(&model);
        model.mode(Mode::Status(status));
        world.set("CMEM_FALLBACK_PROVIDER", "builtin");
        ask_why_the_deploy_fails(&world);
        world.drain();
        assert!(!world.search("make_warm").is_empty());
        world.assert_all_done();
        let status = world.cmem(&["status"]).ok();
        assert!(status.contains("builtin takes its place"), "{status}");
        let told = world.send("SessionStart", json!({"session_id": "next"})).answer().unwrap();
        let told = told["systemMessage"].to_string();
        assert!(told.contains("fallback builtin takes its place"), "{told}");
    }
}

#[test]
fn the_provider_is_back_as_soon_as_it_answers() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    model.mode(Mode::RetryAfter(3_600));
    world.set("CMEM_FALLBACK_PROVIDER", "builtin");
    ask_why_the_deploy_fails(&world);
    world.drain();
    let calls = model.count();
    ask_why_the_deploy_fails(&world);
    world.drain();
    assert_eq!(model.count(), calls, "a provider that asked for an hour is left alone for an hour");
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.note("by the model again");
    world.drain();
    assert_eq!(world.search("again"), ["by the model again"]);
    assert!(!world.cmem(&["status"]).ok().contains("takes its place"));
}

#[test]
fn a_short_failure_is_waited_for() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    model.mode(Mode::RetryAfter(2));
    world.set("CMEM_FALLBACK_PROVIDER", "builtin");
    ask_why_the_deploy_fails(&world);
    try_drain(&world);
    assert!(world.search("make_warm").is_empty());
    assert_eq!(world.ledger().waiting, 2);
}

#[test]
fn a_fallback_that_fails_too_is_not_hammered() {
    let (model, other) = (ModelServer::start(), ModelServer::start());
    let mut world = World::with_model(&model);
    model.mode(Mode::Status(401));
    other.mode(Mode::Status(403));
    world.set("CMEM_FALLBACK_PROVIDER", "openai");
    world.set("CMEM_FALLBACK_MODEL", "some-model");
    world.set("CMEM_OPENAI_BASE_URL", &other.url());
    world.note("kept by both");
    for _ in 0..3 {
        try_drain(&world);
    }
    assert!((1..=2).contains(&model.count()), "{} calls", model.count());
    assert!((1..=2).contains(&other.count()), "{} calls", other.count());
    let status = world.cmem(&["status"]).ok();
    assert!(status.contains("openai is paused too"), "{status}");
    other.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    world.drain();
    assert_eq!(world.search("kept"), ["kept by both"]);
    assert!(
        other.requests().iter().any(|request| request.body.windows(10).any(|part| part == b"some-model"))
    );
}

#[test]
fn a_fallback_that_is_not_set_up_is_told_by_doctor() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_FALLBACK_PROVIDER", "gemini");
    let report = world.cmem(&["doctor"]).out;
    assert!(report.contains("CMEM_FALLBACK_PROVIDER") && report.contains("CMEM_GEMINI_API_KEY"), "{report}");
    world.note("with the provider alone");
    world.drain();
    assert_eq!(world.search("alone"), ["with the provider alone"]);
}

#[test]
fn a_provider_that_cannot_be_set_up_is_relieved_as_well() {
    let mut world = World::new();
    world.set("CMEM_PROVIDER", "openai");
    world.set("CMEM_FALLBACK_PROVIDER", "builtin");
    ask_why_the_deploy_fails(&world);
    world.drain();
    assert!(!world.search("make_warm").is_empty());
}

#[test]
fn a_mode_that_is_not_there_keeps_no_event_from_memory() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_MODE", "nowhere");
    world.note("in no mode");
    world.wait_for_drainers();
    assert_eq!(world.search("mode"), ["in no mode"]);
    assert!(std::fs::read_to_string(world.data().join("logs/cmem.log")).unwrap().contains("CMEM_MODE"));
    world.note("in no mode at all");
    world.wait_for_drainers();
    // Whoever is there to read it is told.
    let told = world.cmem(&["drain"]).failed(1);
    assert!(told.contains("CMEM_MODE") && told.contains("nowhere"), "{told}");
}
