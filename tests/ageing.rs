//! What time does to memories: uses, expiry, pruning, files that changed since, and compaction.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::World;
use crate::common::mock::{Mode, ModelServer};

fn whole(world: &World, id: i64) -> Value {
    world.cmem(&["get", "--json", &id.to_string()]).json()[0].clone()
}

/// Changes `memory.db` past cmem: what would take months otherwise.
fn meanwhile(world: &World, sql: &str) {
    let connection = Connection::open(world.data().join("memory.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

fn ids(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

#[test]
fn what_has_expired_is_put_away_at_once_for_readers_and_can_be_brought_back() {
    let world = World::new();
    world.remember(&["The staging server is down for repairs", "--expires", "30d"]);
    world.remember(&["The staging server has a spare disk"]);
    assert_eq!(world.search("staging server").len(), 2);
    meanwhile(&world, "UPDATE observations SET expires_at = 1000 WHERE id = 1");
    // Nobody has noted it yet.
    let found = world.cmem(&["search", "--json", "staging server"]).json();
    assert_eq!(ids(&found["results"]), [2, 1]);
    assert_eq!(found["results"][1]["status"], "archived");
    assert!(!world.cmem(&["context"]).ok().contains("repairs"));
    let archived = |world: &World| {
        ids(&world.cmem(&["search", "--json", "--status", "archived", "*"]).json()["results"])
    };
    assert_eq!(archived(&world), [1]);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE status = 'active'"), 2);
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE status = 'active'"), 1);
    assert_eq!(archived(&world), [1]);
    assert!(world.cmem(&["prune", "--list"]).ok().contains("repairs"));
    assert_eq!(ids(&world.cmem(&["prune", "--list", "--json"]).json()), [1]);
    let answer = world.cmem(&["restore", "--json", "1", "2"]).json();
    assert_eq!(answer, json!({"restored": [1], "unchanged": [{"id": 2, "status": "active"}]}));
    assert_eq!(
        (&whole(&world, 1)["status"], &whole(&world, 1)["expires_at"]),
        (&json!("active"), &Value::Null)
    );
    assert!(world.cmem(&["context"]).ok().contains("repairs"));
    assert!(world.cmem(&["restore", "9"]).failed(1).contains("there is no observation 9"));
    let _ = world.cmem(&["restore", "S1"]).failed(2);
}

#[test]
fn what_has_expired_and_is_said_again_holds_again() {
    let world = World::new();
    world.remember(&["The licence server is at home", "--expires", "30d"]);
    meanwhile(&world, "UPDATE observations SET expires_at = 1000");
    assert_eq!(whole(&world, 1)["status"], "archived");
    assert_eq!(world.remember(&["The licence server is at home"]), 1);
    assert_eq!(
        (&whole(&world, 1)["status"], &whole(&world, 1)["expires_at"]),
        (&json!("active"), &Value::Null)
    );
}

#[test]
fn what_is_read_is_counted_once_whatever_a_crash_leaves_behind() {
    let world = World::new();
    world.remember(&["Releases are cut on Tuesdays"]);
    let hits = || world.number("memory.db", "SELECT hit_count FROM observations WHERE id = 1");
    for _ in 0..3 {
        let _ = whole(&world, 1);
    }
    assert_eq!(hits(), 0, "a reader writes nothing");
    world.drain();
    assert_eq!(hits(), 3);
    assert!(world.number("memory.db", "SELECT last_hit_at FROM observations") > 0);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM counted_uses"), 0);
    // Killed after the lines were counted and before their file was removed; and before they were counted.
    fs::write(world.data().join("uses-1.jsonl"), "{\"at\":5,\"observations\":[1]}\n").unwrap();
    fs::write(world.data().join("uses-2.jsonl"), "{\"at\":5,\"observations\":[1,77]}\n").unwrap();
    meanwhile(&world, "INSERT INTO counted_uses VALUES ('uses-1.jsonl')");
    world.drain();
    world.drain();
    assert_eq!(hits(), 4);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM counted_uses"), 0);
    let left = fs::read_dir(world.data()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".jsonl")).count();
    assert_eq!(left, 0);
}

#[test]
fn a_memory_told_beside_a_prompt_was_of_use() {
    let world = World::new();
    world
        .remember(&["The upload service retries a failed chunk at most five times with exponential backoff"]);
    world.remember(&["Invoices are numbered by year and month"]);
    let prompt = "how often does the upload service retry a failed chunk before it gives up?";
    let told = world.send("UserPromptSubmit", json!({ "prompt": prompt })).answer().unwrap_or_default();
    assert!(told.to_string().contains("retries a failed chunk"), "{told}");
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT hit_count FROM observations WHERE id = 1"), 1);
    assert_eq!(world.number("memory.db", "SELECT hit_count FROM observations WHERE id = 2"), 0);
}

#[test]
fn nothing_is_pruned_without_a_policy_and_nothing_that_matters() {
    let mut world = World::new();
    for (text, priority) in
        [("Low one", "low"), ("Normal one", "normal"), ("High one", "high"), ("Low pinned", "low")]
    {
        world.remember(&[text, "--priority", priority]);
    }
    world.remember(&["Low and used", "--priority", "low"]);
    meanwhile(
        &world,
        "UPDATE observations SET created_at = 1000, updated_at = 1000; UPDATE observations SET pinned = 1 WHERE id = 4",
    );
    let prune = |world: &World, args: &[&str]| world.cmem(&[&["prune", "--json"], args].concat()).json();
    assert_eq!(prune(&world, &["--yes"])["results"], json!([]));
    world.set("CMEM_PRUNE_DAYS", "30");
    // What was of use since, also where nobody has counted that yet.
    let _ = whole(&world, 5);
    let seen = prune(&world, &[]);
    assert_eq!(
        (ids(&seen["results"]), &seen["dry_run"], &seen["archived"]),
        (vec![1], &json!(true), &json!(0))
    );
    assert_eq!(ids(&prune(&world, &["--dry-run", "--priority", "normal"])["results"]), [1, 2]);
    let active = "SELECT count(*) FROM observations WHERE status = 'active'";
    assert_eq!(world.number("memory.db", active), 5, "a preview changes nothing");
    meanwhile(&world, "UPDATE observations SET last_hit_at = 2000");
    let done = prune(&world, &["--yes", "--priority", "normal", "--days", "7"]);
    assert_eq!((ids(&done["results"]), &done["archived"]), (vec![1, 2, 5], &json!(3)));
    assert_eq!(whole(&world, 1)["status"], "archived");
    let _ = world.cmem(&["restore", "1,2"]).ok();
    assert_eq!(world.number("memory.db", active), 4);
    let again = prune(&world, &["--yes", "--priority", "normal"]);
    assert_eq!(again["results"], json!([]), "what was brought back is not put away again");
    meanwhile(&world, "UPDATE observations SET last_hit_at = 2000");
    assert!(world.cmem(&["prune"]).err.contains("nothing was changed"));
}

#[test]
fn a_file_that_changed_since_or_is_gone_is_marked_and_ranks_lower() {
    let world = World::new();
    let root = world.repository("app");
    let run = |args: &[&str]| world.cmem_in(&root, args, &[]);
    for name in ["same", "changed", "gone"] {
        fs::write(root.join(format!("{name}.rs")), name).unwrap();
        let file = format!("{name}.rs");
        let _ = run(&["remember", &format!("The parser of {name} keeps its tokens"), "--file", &file]).ok();
    }
    let later = SystemTime::now() + Duration::from_secs(3_600);
    File::options().write(true).open(root.join("changed.rs")).unwrap().set_modified(later).unwrap();
    fs::remove_file(root.join("gone.rs")).unwrap();
    let found = run(&["search", "--json", "--explain", "parser keeps tokens"]).json();
    let row = |id: i64| {
        let rows = found["results"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == id).cloned().unwrap()
    };
    assert_eq!(row(1)["files_since"], json!({"changed": [], "gone": []}));
    assert_eq!(row(2)["files_since"], json!({"changed": ["changed.rs"], "gone": []}));
    assert_eq!(row(3)["files_since"], json!({"changed": [], "gone": ["gone.rs"]}));
    let lost = |id| row(id)["explain"]["factors"]["files"].as_f64().unwrap();
    assert!(lost(1) == 0.0 && lost(2) < 0.0 && lost(3) < lost(2), "{found}");
    let told = run(&["search", "parser keeps tokens"]).ok();
    assert!(told.contains("changed keeps its tokens [file changed since]"), "{told}");
    assert!(told.contains("gone keeps its tokens [file is gone]"), "{told}");
    let told = run(&["context"]).ok();
    assert!(told.contains("(file changed since)") && told.contains("(file is gone)"), "{told}");
    assert_eq!(told, run(&["context"]).ok(), "the same state gives the same bytes");
    let record = run(&["get", "2"]).ok();
    assert!(record.contains("file changed since: changed.rs"), "{record}");
    assert_eq!(run(&["get", "--json", "3"]).json()[0]["files_since"]["gone"], json!(["gone.rs"]));
    // Elsewhere nobody knows; by the project's name it is looked up where the project was.
    let elsewhere = world.cmem(&["search", "--json", "--all-projects", "parser of gone"]).json();
    assert_eq!(elsewhere["results"][0]["files_since"], Value::Null);
    let named = world.cmem(&["search", "--json", "--project", "app", "parser of gone"]).json();
    assert_eq!(named["results"][0]["files_since"]["gone"], json!(["gone.rs"]));
}

#[test]
fn in_a_fresh_checkout_nothing_has_changed() {
    let world = World::new();
    let root = world.repository("app");
    fs::write(root.join("a.rs"), "a").unwrap();
    world.git(&root, &["add", "."]);
    world.git(&root, &["commit", "--quiet", "--message", "a"]);
    let _ = world.cmem_in(&root, &["remember", "The lexer is slow", "--file", "a.rs"], &[]).ok();
    meanwhile(&world, "UPDATE observations SET created_at = 1000, updated_at = 1000");
    let changed = |dir: &std::path::Path| {
        let found = world.cmem_in(dir, &["search", "--json", "lexer"], &[]).json();
        found["results"][0]["files_since"]["changed"].clone()
    };
    assert_eq!(changed(&root), json!(["a.rs"]), "it was written after the memory");
    let side = world.path("side");
    world.git(&root, &["worktree", "add", "--quiet", "-b", "side", side.to_str().unwrap()]);
    assert_eq!(changed(&side), json!([]), "git wrote it, and who knows what was there before");
    let touch = |dir: &std::path::Path, at: SystemTime| {
        File::options().write(true).open(dir.join("a.rs")).unwrap().set_modified(at).unwrap();
    };
    touch(&side, SystemTime::now() + Duration::from_secs(5));
    assert_eq!(changed(&side), json!(["a.rs"]), "git says when it was done");
    // A large checkout is logged when all is written.
    world.git(&root, &["reset", "--quiet", "--hard"]);
    touch(&root, SystemTime::now() + Duration::from_secs(5));
    let log = root.join(".git/logs/HEAD");
    let text = fs::read_to_string(&log).unwrap();
    let (before, rest) = text.rsplit_once("> ").unwrap();
    let (seconds, what) = rest.split_once(' ').unwrap();
    let done = seconds.parse::<u64>().unwrap() + 10;
    fs::write(&log, format!("{before}> {done} {what}")).unwrap();
    assert_eq!(changed(&root), json!([]));
}

/// Two that differ in case and punctuation alone, and one about something else.
fn doubles(world: &World) {
    world.remember(&["Uploads are retried five times, then given up.", "--title", "Retry limit of uploads"]);
    world.remember(&["Invoices are numbered by year and month.", "--title", "Numbers of invoices"]);
    world.remember(&["uploads are retried FIVE times then given up!", "--title", "retry limit, of UPLOADS!"]);
}

#[test]
fn what_is_the_same_word_by_word_becomes_one_and_comes_apart_again() {
    let world = World::new();
    doubles(&world);
    let _ = whole(&world, 1);
    let preview = world.cmem(&["compact", "--json", "--dry-run"]).json();
    assert_eq!(preview["merged"], json!([{"id": null, "sources": [1, 3]}]));
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations"), 3);
    let done = world.cmem(&["compact", "--json"]).json();
    assert_eq!(done["merged"], json!([{"id": 4, "sources": [1, 3]}]));
    assert_eq!(done["proposed"], json!([]));
    let one = whole(&world, 4);
    assert_eq!((&one["title"], &one["hit_count"]), (&json!("retry limit, of UPLOADS!"), &json!(1)));
    assert_eq!(one["put_together_from"], json!([1, 3]));
    assert_eq!(whole(&world, 1)["put_together_into"], json!([4]));
    assert!(world.cmem(&["get", "3"]).ok().contains("put together into #4"));
    assert!(world.cmem(&["get", "4"]).ok().contains("put together from #1, #3"));
    let context = world.cmem(&["context"]).ok();
    assert_eq!(context.to_lowercase().matches("retry limit").count(), 1, "{context}");
    assert_eq!(world.cmem(&["compact", "--json"]).json()["merged"], json!([]), "once is enough");
    let undone = world.cmem(&["compact", "--undo", "4", "--json"]).json();
    assert_eq!(undone, json!({"undone": 4, "restored": [1, 3]}));
    assert_eq!(
        ["active", "archived"],
        [whole(&world, 3)["status"].as_str().unwrap(), whole(&world, 4)["status"].as_str().unwrap()]
    );
    assert!(world.cmem(&["compact", "--undo", "4"]).failed(1).contains("no sources"));
    assert_eq!(world.cmem(&["compact", "--json"]).json()["merged"], json!([{"id": 5, "sources": [1, 3]}]));
    world.assert_sound();
}

#[test]
fn when_all_its_sources_are_forgotten_the_whole_is_known_by_what_it_says() {
    let world = World::new();
    let first = world.remember(&["Uploads are tried five times"]);
    let second = world.remember(&["Uploads are tried, five times!"]);
    let whole = world.cmem(&["compact", "--json"]).json()["merged"][0]["id"].as_i64().unwrap();
    let _ = world.cmem(&["forget", "--yes", &first.to_string(), &second.to_string()]).ok();
    assert_eq!(world.remember(&["Uploads are tried, five times!"]), whole);
    let elsewhere = World::new();
    let out = world.cmem(&["export", "--all-projects"]).ok();
    let _ = elsewhere.cmem_in(&elsewhere.project(), &["import"], out.as_bytes()).ok();
    assert_eq!(elsewhere.cmem(&["export", "--all-projects"]).ok(), out);
}

#[test]
fn what_is_pinned_or_matters_much_is_kept_unless_it_is_named() {
    let world = World::new();
    doubles(&world);
    meanwhile(&world, "UPDATE observations SET pinned = 1 WHERE id = 1");
    let seen = world.cmem(&["compact", "--json"]).json();
    assert_eq!((&seen["merged"], &seen["proposed"][0]["group"]), (&json!([]), &json!("1+3")));
    assert_eq!(ids(&seen["proposed"][0]["held"]), [1]);
    assert_eq!(world.cmem(&["compact", "--all", "--json"]).json()["merged"], json!([]));
    let done = world.cmem(&["compact", "--apply", "1+3", "--json"]).json();
    assert_eq!(done["merged"], json!([{"id": 4, "sources": [1, 3]}]));
    assert_eq!(whole(&world, 4)["pinned"], true);
    for (group, told) in [("1+3", "archived"), ("4+99", "no observation 99")] {
        assert!(world.cmem(&["compact", "--apply", group]).failed(1).contains(told), "{group}");
    }
    for group in ["4", "4+4", "4+x", "S1+4"] {
        let _ = world.cmem(&["compact", "--apply", group]).failed(2);
    }
}

#[test]
fn a_model_writes_what_is_put_together_and_its_call_is_counted() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    doubles(&world);
    let one = "<observation><type>decision</type><title>Uploads give up after five tries</title>\
               <facts><fact>Five tries</fact></facts></observation>";
    // Two are not what was asked for: it is asked once more.
    model.script(vec![Mode::Text(one.repeat(2)), Mode::Text(one.to_owned())]);
    let done = world.cmem(&["compact", "--apply", "1+3", "--json"]).json();
    assert_eq!(done["merged"], json!([{"id": 4, "sources": [1, 3]}]));
    let one = whole(&world, 4);
    assert_eq!(
        (&one["title"], &one["source"]),
        (&json!("Uploads give up after five tries"), &json!("observer"))
    );
    let calls =
        "SELECT count(*) FROM calls WHERE class = 'stored' AND batch LIKE 'compact-%' AND output_tokens > 0";
    assert_eq!(world.number("memory.db", calls), 1);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM calls"), 2);
    assert!(model.was_told("Uploads are retried five times, then given up."));
}

#[test]
fn a_provider_that_refuses_changes_nothing_and_a_cap_holds() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    doubles(&world);
    model.mode(Mode::Status(401));
    assert!(world.cmem(&["compact", "--apply", "1+2"]).failed(1).contains("auth"));
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE status = 'active'"), 3);
    let asked = model.count();
    world.set("CMEM_DAILY_TOKENS", "1");
    meanwhile(
        &world,
        "INSERT INTO calls SELECT 99, 'b', 'anthropic', 'm', 'stored', 50, 0, 50, max(at) FROM calls",
    );
    fs::remove_file(world.data().join("pause.json")).unwrap();
    assert!(world.cmem(&["compact", "--apply", "1+2"]).failed(1).contains("CMEM_DAILY_TOKENS"));
    assert_eq!(model.count(), asked);
}
