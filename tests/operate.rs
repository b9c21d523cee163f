//! `status`, `doctor`, `config`, `queue`, and databases that cannot be used.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::common::{Mode, ModelServer, World};

#[test]
fn status_has_the_documented_shape() {
    let world = World::new();
    let empty = world.status();
    assert_eq!(
        (&empty["spool"]["waiting"], &empty["memory"]["observations"]),
        (&json!(0), &json!(0)),
        "{empty}"
    );
    world.send("PostToolUseFailure", json!({})).silent();
    let said = "The build in Makefile fails because the cache is cold on Mondays.";
    world.send("Stop", json!({"last_assistant_message": said})).silent();
    world.drain();
    let status = world.status();
    assert_eq!(status["provider"], "builtin");
    assert_eq!((&status["spool"]["waiting"], &status["spool"]["parked"]), (&json!(0), &json!(0)));
    assert!(status["memory"]["observations"].as_i64().unwrap() >= 1, "{status}");
    assert_eq!(status["memory"]["projects"], 1);
    assert!(status["last_stored_at"].as_str().unwrap().ends_with('Z'), "{status}");
    assert_eq!((&status["last_error"], &status["paused_until"]), (&json!(null), &json!(null)));
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_healthy_installation_passes_the_doctor() {
    let world = World::new();
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let _ = world.cmem(&["doctor"]).ok();
}

#[test]
fn the_doctor_names_the_last_error_and_what_to_do() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    world.note("refused");
    let _ = world.cmem(&["drain", "--wait"]);
    let ran = world.cmem(&["doctor"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("CMEM_ANTHROPIC_API_KEY"), "{told}");
    let status = world.status();
    assert_eq!(status["last_error"]["class"], "auth", "{status}");
}

#[test]
fn each_setting_says_where_it_comes_from() {
    let mut world = World::new();
    let _ = world.cmem(&["config", "set", "CMEM_MODEL", "some-model"]).ok();
    assert_eq!(world.cmem(&["config", "get", "CMEM_MODEL"]).ok().trim(), "some-model");
    world.set("CLAUDE_MEM_MODE", "code");
    let list = world.cmem(&["config", "list"]).ok();
    let line = |key: &str| {
        list.lines().find(|line| line.contains(key)).unwrap_or_else(|| panic!("{key}: {list}")).to_owned()
    };
    assert!(line("CMEM_MODEL ").contains("file"), "{list}");
    assert!(line("CMEM_MODE ").contains("environment"), "{list}");
    assert!(line("CMEM_TIMEOUT_SECS").contains("default"), "{list}");
    world.set("CMEM_ANTHROPIC_API_KEY", "very-secret-key");
    assert!(!world.cmem(&["config", "list"]).ok().contains("very-secret-key"), "keys are never printed");
}

#[test]
fn an_address_never_shows_what_it_may_hold() {
    for address in [
        "gateway.example/v1?key=TOPSECRET",
        "https://user:TOPSECRET@",
        "ftp://user:TOPSECRET@gateway.example/v1",
    ] {
        let mut world = World::new();
        world.set("CMEM_PROVIDER", "openai");
        world.set("CMEM_OPENAI_BASE_URL", address);
        world.set("CMEM_OPENAI_API_KEY", "k-123456");
        world.set("CMEM_MODEL", "m");
        world.note("work");
        let told = world.cmem(&["drain", "--wait"]).failed(1);
        assert!(told.contains("CMEM_OPENAI_BASE_URL"), "{told}");
        world.wait_for_drainers();
        let start = world.send("SessionStart", json!({})).out;
        assert!(start.contains("CMEM_OPENAI_BASE_URL"), "{start}");
        let all =
            ["status", "doctor", "config list", "config list --json", "config get CMEM_OPENAI_BASE_URL"];
        let all = all.map(|line| world.cmem(&line.split(' ').collect::<Vec<_>>()));
        let said: String = all.into_iter().map(|ran| ran.out + &ran.err).collect::<String>() + &told + &start;
        assert!(!said.contains("TOPSECRET"), "{said}");
        assert_eq!(world.files_with("TOPSECRET"), Vec::<std::path::PathBuf>::new());
    }
    let mut world = World::new();
    world.set("CMEM_OPENAI_BASE_URL", "https://user:TOPSECRET@gateway.example:8443/v1?key=TOPSECRET");
    let listed = world.cmem(&["config", "list"]).ok();
    assert!(
        listed.contains("https://…@gateway.example:8443/v1?…") && !listed.contains("TOPSECRET"),
        "{listed}"
    );
    assert!(!world.cmem(&["config", "get", "CMEM_OPENAI_BASE_URL"]).ok().contains("TOPSECRET"));
}

#[test]
fn a_bad_setting_names_the_allowed_values() {
    let mut world = World::new();
    let refused = world.cmem(&["config", "set", "CMEM_PROVIDER", "clod"]);
    let told = refused.err.clone();
    assert!(matches!(refused.code, Some(1 | 2)), "{told}");
    for part in ["CMEM_PROVIDER", "clod", "builtin", "anthropic", "openai"] {
        assert!(told.contains(part), "{told}");
    }
    let refused = world.cmem(&["config", "set", "CMEM_MODLE", "x"]);
    assert!(matches!(refused.code, Some(1 | 2)) && refused.err.contains("CMEM_MODLE"), "{}", refused.err);
    world.set("CMEM_PROVIDER", "clod");
    assert!(world.cmem(&["drain", "--wait"]).failed(1).contains("clod"));
    world.send("PostToolUse", json!({})).silent();
}

#[test]
fn a_damaged_or_newer_database_is_refused_and_never_touched() {
    let damaged = |world: &World| {
        fs::write(
            world.data().join("memory.db"),
            "this is no database, it only has the name of one".repeat(100),
        )
        .unwrap();
    };
    let newer = |world: &World| {
        let connection = Connection::open(world.data().join("memory.db")).unwrap();
        connection.execute_batch("CREATE TABLE t (x); PRAGMA user_version = 9999").unwrap();
    };
    for (name, spoil) in [("damaged", damaged as fn(&World)), ("newer", newer)] {
        let world = World::new();
        fs::create_dir(world.data()).unwrap();
        spoil(&world);
        let before = fs::read(world.data().join("memory.db")).unwrap();
        for args in [&["search", "x"][..], &["get", "1"], &["timeline", "1"], &["context"]] {
            let told = world.cmem(args).failed(1);
            assert!(told.contains("memory.db"), "{name} {args:?}: {told}");
            assert!(told.starts_with("cmem: "), "{name} {args:?}: {told}");
        }
        world.send("SessionStart", json!({})).answer();
        world.send("UserPromptSubmit", json!({})).answer();
        world.note("kept meanwhile");
        world.send("Stop", json!({})).silent();
        let _ = world.cmem(&["drain", "--wait"]).failed(1);
        assert_eq!(fs::read(world.data().join("memory.db")).unwrap(), before, "{name}");
        let ledger = world.ledger();
        assert!(ledger.waiting > 0 && ledger.balance() == 0, "{name}: {ledger:?}");
    }
}

#[test]
fn wrong_calls_are_usage_errors() {
    let world = World::new();
    for args in [
        &["no-such-command"][..],
        &["search", "--limit", "many", "x"],
        &["search", "--kind", "dream", "x"],
        &["queue", "retry"],
    ] {
        let ran = world.cmem(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}{}", ran.out, ran.err);
    }
    let told = world.cmem(&["search", "--kind", "dream", "x"]).failed(2);
    assert!(told.contains("observation") && told.contains("summary") && told.contains("prompt"), "{told}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let world = World::new();
    let mut shell = assert_cmd::Command::from_std(world.command("/bin/bash", &world.project()));
    let script =
        format!("set -o pipefail; '{}' config list | head -n 1", crate::common::world::binary().display());
    shell.args(["-c", &script]).assert().success().stderr("");
}

#[test]
fn modes_are_listed_shown_checked_and_used() {
    let world = World::new();
    let listed = world.cmem(&["mode", "list"]).ok();
    assert!(listed.contains("* code ") && listed.contains("code--zh-tw"), "{listed}");
    let all = world.cmem(&["mode", "list", "--json"]).json();
    for mode in all.as_array().unwrap() {
        let id = mode["id"].as_str().unwrap();
        assert!(mode["problem"].is_null(), "{mode}");
        let _ = world.cmem(&["mode", "validate", id]).ok();
    }
    let shown = world.cmem(&["mode", "show", "code--zh-tw"]).ok();
    assert!(shown.contains("繁體中文") && shown.contains("bugfix"), "{shown}");
    let _ = world.cmem(&["mode", "use", "code--zh-tw"]).ok();
    assert!(world.cmem(&["mode", "list"]).ok().contains("* code--zh-tw"));

    // A file in the keys of another tool, its own child, and a broken one.
    let file = world.path("garden.json");
    let garden = json!({"name": "Garden", "observation_types": [{"id": "sowing", "description": "what was sown"}],
        "observation_concepts": [], "prompts": {"system_identity": "You watch a garden.",
        "recording_focus": "What grows.", "skip_guidance": "Weather."}});
    fs::write(&file, garden.to_string()).unwrap();
    let checked = world.cmem(&["mode", "validate", file.to_str().unwrap()]);
    assert!(checked.err.contains("garden can be used: 1 types"), "{checked:?}");
    assert_eq!(checked.code, Some(0));
    fs::create_dir_all(world.data().join("modes")).unwrap();
    fs::copy(&file, world.data().join("modes/garden.json")).unwrap();
    fs::write(world.data().join("modes/garden--de.json"), r#"{"name": "Garten", "language": "German"}"#)
        .unwrap();
    fs::write(world.data().join("modes/broken.json"), r#"{"name": "Broken"}"#).unwrap();
    let listed = world.cmem(&["mode", "list"]).ok();
    assert!(listed.contains("Garten (yours)") && listed.contains("NOT USABLE"), "{listed}");
    let _ = world.cmem(&["mode", "use", "garden--de"]).ok();
    let error = world.cmem(&["mode", "use", "broken"]).failed(1);
    assert!(error.contains("broken") && error.contains("mend the file"), "{error}");
    assert!(world.cmem(&["mode", "show", "nowhere"]).failed(1).contains("cmem mode list"));
    assert!(world.cmem(&["mode", "list"]).ok().contains("* garden--de"));
}

#[test]
fn a_second_question_is_counted_with_the_first() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Careless);
    world.note("answered at the second time");
    world.drain();
    assert_eq!(model.count(), 2);
    let row = &world.cmem(&["stats", "--json"]).json()["models"][0];
    assert_eq!((&row["input"], &row["output"]), (&json!(200), &json!(40)), "{row}");
}

#[test]
fn the_cost_is_told_by_model() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    let nothing = world.cmem(&["stats"]).ok();
    assert!(nothing.contains("not asked yet") && nothing.contains("0 observations, $0.0000"), "{nothing}");
    world.note("first");
    world.note("second");
    world.drain();
    world.send("PostToolUse", json!({"tool_name": "Glob", "tool_response": {"filenames": []}})).silent();
    let stats = world.cmem(&["stats", "--json"]).json();
    let [row] = &stats["models"].as_array().unwrap()[..] else { panic!("{stats}") };
    assert_eq!(stats["observations"], 2, "{stats}");
    assert!(row["calls"].as_i64() >= Some(1) && row["input"].as_i64() > Some(0), "{row}");
    assert_eq!((&stats["left_out"], &stats["dollars"]), (&json!(1), &json!(null)), "{stats}");
    assert_eq!(stats["left_out_by_rule"], json!({"listing": 1}), "{stats}");
    assert!(
        world
            .cmem(&["stats"])
            .ok()
            .contains("1 events left out before anybody was asked (in all): 1 listing")
    );

    let name = row["model"].as_str().unwrap().to_owned();
    world.set("CMEM_PRICES", &format!("{name}=1000000/0/0"));
    let priced = world.cmem(&["stats", "--json"]).json();
    assert_eq!(priced["dollars"].as_f64(), row["input"].as_f64(), "{priced}");
    assert!(world.cmem(&["stats"]).ok().contains("per 1,000 observations"));
    assert_eq!(world.cmem(&["stats", "--since", "2999-01-01", "--json"]).json()["observations"], 0);
    let error = world.cmem(&["config", "set", "CMEM_PRICES", "cheap"]);
    assert!(error.code != Some(0) && error.err.contains("INPUT/CACHED/OUTPUT"), "{error:?}");
}
