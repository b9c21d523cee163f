//! `remember`: what the user says is stored as it stands, and found at once.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::World;

fn whole(world: &World, id: i64) -> Value {
    world.cmem(&["get", "--json", &id.to_string()]).json()[0].clone()
}

#[test]
fn a_text_is_kept_as_it_stands_and_found_by_word_and_meaning() {
    let world = World::new();
    assert!(!world.data().exists());
    let text = "Releases are cut from `main` on Tuesdays.  Ask Ana for the key;\n\nnobody else has it.";
    let ran = world.cmem(&["remember", text]);
    assert!(ran.err.contains("remembered in project project: Releases are cut from `main` on Tuesdays"));
    assert_eq!(ran.ok(), "1\n");
    let memory = whole(&world, 1);
    assert_eq!(memory["narrative"], text);
    for (field, value) in [
        ("title", json!("Releases are cut from `main` on Tuesdays")),
        ("type", json!("note")),
        ("source", json!("user")),
        ("model", json!("")),
        ("priority", json!("normal")),
        ("status", json!("active")),
        ("expires_at", Value::Null),
        ("concepts", json!([])),
    ] {
        assert_eq!(memory[field], value, "{field}");
    }
    for query in ["ana key", "Tuesdays", "when do we publish a new version?"] {
        assert_eq!(world.search(query), ["Releases are cut from `main` on Tuesdays"], "{query}");
    }
    assert!(world.cmem(&["context"]).ok().contains("Releases are cut"));
    let told = world.cmem(&["get", "1"]).ok();
    assert!(told.contains("said by the user") && !told.contains("session"), "{told}");
    world.assert_sound();
}

#[test]
fn everything_about_it_can_be_said() {
    let world = World::new();
    fs::create_dir_all(world.project().join("src")).unwrap();
    let args = [
        "remember",
        "--json",
        "--title",
        "Who may\n sign in",
        "--type",
        "Decision",
        "--tags",
        "gotcha, auth,,auth",
        "--priority",
        "high",
        "--file",
        "./auth.rs",
        "--file",
        "/etc/hosts",
        "--expires",
        "30d",
        "Staff alone.",
        "Guests have",
        "links.",
    ];
    let answer = world.cmem_in(&world.project().join("src"), &args, &[]).json();
    let id = answer["id"].as_i64().unwrap();
    let memory = whole(&world, id);
    assert_eq!(
        answer,
        json!({"id": id, "uid": memory["uid"], "project": memory["project"], "title": "Who may sign in", "duplicate": false,
               "status": "active", "superseded": [], "contested": []})
    );
    let files = |memory: &Value| memory["files_read"].as_array().unwrap().clone();
    assert_eq!(memory["narrative"], "Staff alone. Guests have links.");
    assert_eq!(
        (&memory["type"], &memory["priority"], &memory["concepts"], &memory["keywords"]),
        (&json!("decision"), &json!("high"), &json!(["gotcha", "auth"]), &json!(["auth"]))
    );
    assert_eq!(files(&memory)[1], "/etc/hosts");
    let days = "SELECT (expires_at - created_at) / 86400000 FROM observations";
    assert!((29..=30).contains(&world.number("memory.db", days)));
    let shown = |flags: &[&str]| {
        let args = [&["search", "--json", "--all-projects", "*"], flags].concat();
        world.cmem(&args).json()["total"].as_i64()
    };
    for flags in [["--concept", "auth"], ["--type", "decision"], ["--file", "auth.rs"]] {
        assert_eq!(shown(&flags), Some(1), "{flags:?}");
    }
}

#[test]
fn a_file_is_named_from_the_root_of_its_checkout() {
    let world = World::new();
    let root = world.repository("app");
    fs::create_dir_all(root.join("src")).unwrap();
    let _ = world.cmem_in(&root.join("src"), &["remember", "Tokens", "--file", "auth.rs"], &[]).ok();
    assert_eq!(whole(&world, 1)["files_read"], json!(["src/auth.rs"]));
}

#[test]
fn a_text_may_come_from_standard_input() {
    let world = World::new();
    let from = |args: &[&str], input: &str| {
        world.cmem_in(&world.project(), &[&["remember"], args].concat(), input.as_bytes()).ok()
    };
    assert_eq!(from(&[], "# A heading\n\nand its text\n"), "1\n");
    assert_eq!(from(&["-", "--title", "Piped"], "- first\n- second\n"), "2\n");
    assert_eq!(from(&["- an item that looks like an option"], "not this"), "3\n");
    let kept = |id| (whole(&world, id)["title"].clone(), whole(&world, id)["narrative"].clone());
    assert_eq!(kept(1), (json!("A heading"), json!("# A heading\n\nand its text")));
    assert_eq!(kept(2), (json!("Piped"), json!("- first\n- second")));
    assert_eq!(kept(3).0, json!("an item that looks like an option"));
    for args in [&["remember"][..], &["remember", "-"], &["remember", " \n"]] {
        assert!(world.cmem_in(&world.project(), args, b" \n").failed(2).contains("there is no text"));
    }
}

#[test]
fn a_long_text_has_a_short_title() {
    let world = World::new();
    world.remember(&[&"all work and no play ".repeat(500)]);
    let title = whole(&world, 1)["title"].as_str().unwrap().to_owned();
    assert!(title.chars().count() <= 100 && title.ends_with('…'), "{title}");
    let refused = world.cmem(&["remember", &"x ".repeat(9_000)]).failed(1);
    assert!(refused.contains("17999 characters") && refused.contains("at most 16000"), "{refused}");
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations"), 1);
}

#[test]
fn neither_private_text_nor_credentials_are_remembered() {
    let world = World::new();
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP-xyz";
    let refused = world.cmem(&["remember", "<private>hunter2-ALPHA</private>"]).failed(1);
    assert!(refused.contains("marked as private") && !refused.contains("hunter2"), "{refused}");
    assert!(!world.data().join("memory.db").exists());
    let secret = format!("{key} <private>BETA</private>");
    let text = format!("The deploy key is {secret} for now");
    let ran = world.cmem(&["remember", &text, "--title", &secret, "--tags", &secret, "--file", &secret]);
    assert!(ran.err.contains("left out") && !ran.err.contains(key), "{}", ran.err);
    let _ = ran.ok();
    for secret in ["hunter2-ALPHA", "BETA", key] {
        assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{secret}");
    }
    let kept = whole(&world, 1);
    assert_eq!(kept["narrative"], "The deploy key is [redacted:anthropic_key]  for now");
}

#[test]
fn what_is_known_already_is_said_to_be() {
    let world = World::new();
    let id = world.remember(&["The cache is cold on Mondays."]);
    let ran = world.cmem(&["remember", "the  cache is cold on mondays"]);
    assert!(ran.err.contains(&format!("knew that already, as {id}")), "{}", ran.err);
    assert_eq!(ran.ok(), format!("{id}\n"));
    let again = world.cmem(&["remember", "The cache is cold on Mondays.", "--json"]).json();
    assert_eq!((&again["id"], &again["duplicate"]), (&json!(id), &json!(true)));
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations"), 1);
}

#[test]
fn a_project_is_named_by_the_place_or_by_its_name() {
    let world = World::new();
    let (app, web) = (world.repository("app"), world.repository("web"));
    let linked = world.path("side");
    world.git(&app, &["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]);
    let _ = world.cmem_in(&app, &["remember", "in the app"], &[]).ok();
    let _ = world.cmem_in(&linked, &["remember", "in the worktree"], &[]).ok();
    let _ = world.cmem_in(&web, &["remember", "--project", "app", "for the app"], &[]).ok();
    let _ = world.cmem_in(&web, &["remember", "--project", "app/side", "for the worktree"], &[]).ok();
    assert_eq!(world.search_in(&web, "*"), Vec::<String>::new());
    assert_eq!(world.search_in(&app, "*"), ["for the app", "in the app"]);
    let seen = world.search_in(&linked, "*");
    assert_eq!(seen, ["for the worktree", "for the app", "in the worktree", "in the app"]);
    // Both rows of the worktree belong to its branch, so that they come home with it.
    let branches =
        "SELECT count(*) FROM observations o JOIN branches b ON b.id = o.branch WHERE b.name = 'side'";
    assert_eq!(world.number("memory.db", branches), 2);
    let refused = world.cmem(&["remember", "--project", "nowhere", "x"]).failed(1);
    assert!(refused.contains("nowhere") && refused.contains("app/side"), "{refused}");
}

#[test]
fn a_wrong_value_names_the_right_ones() {
    let world = World::new();
    for (args, told) in [
        (["--type", "two words"], "bugfix"),
        (["--priority", "urgent"], "high"),
        (["--expires", "soon"], "30d"),
        (["--expires", "2020-01-01"], "over"),
    ] {
        let refused = world.cmem(&[&["remember", "x"][..], &args].concat()).failed(2);
        assert!(refused.contains(told), "{args:?}: {refused}");
    }
    assert!(!world.data().join("memory.db").exists());
}

#[test]
fn a_writer_at_work_is_waited_for() {
    let world = World::new();
    world.remember(&["first"]);
    let other = Connection::open(world.data().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let released = AtomicBool::new(false);
    thread::scope(|scope| {
        let remember = scope.spawn(|| {
            let id = world.remember(&["second"]);
            (id, released.load(Ordering::SeqCst))
        });
        thread::sleep(Duration::from_millis(500));
        released.store(true, Ordering::SeqCst);
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(remember.join().unwrap(), (2, true));
    });
}

#[test]
fn what_was_meant_is_found_in_any_language() {
    let world = World::new();
    let mut ids = Vec::new();
    for note in include_str!("eval/handmade.jsonl").lines() {
        let note: Value = serde_json::from_str(note).unwrap();
        if note["kind"] == "note" {
            let text = |field: &str| note[field].as_str().unwrap().to_owned();
            let id = world.remember(&["--title", &text("title"), "--", &text("text")]);
            ids.push((id, text("id")));
        }
    }
    assert!(ids.len() >= 60, "{}", ids.len());
    for question in [
        "登录怎么做的",
        "how do users sign in",
        "ログインの仕組みはどうなっている?",
        "로그인은 어떻게 처리하나요",
    ] {
        let found = world.cmem(&["search", "--json", "--limit", "3", question]).json();
        let found: Vec<i64> =
            found["results"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect();
        let relevant = |id: &i64| {
            ids.iter().any(|(known, name)| known == id && ["a01", "a03", "a05"].contains(&name.as_str()))
        };
        assert!(found.iter().any(relevant), "{question}: {found:?}");
    }
}
