//! `edit`, `pin`, `supersede`: memories are corrected by hand, and what they said is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::World;

fn whole(world: &World, id: i64) -> Value {
    world.cmem(&["get", "--json", "--history", &id.to_string()]).json()[0].clone()
}

fn edit(world: &World, id: i64, args: &[&str]) -> Value {
    world.cmem(&[&["edit", "--json", &id.to_string()], args].concat()).json()
}

/// A world whose editor is this shell script; `$1` is the file.
fn with_editor(script: &str) -> World {
    let mut world = World::new();
    let program = world.path("editor.sh");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    world.set("EDITOR", &format!("{} --wait", program.display()));
    world
}

#[test]
fn an_edit_by_flags_changes_what_is_named_and_keeps_what_it_said() {
    let world = World::new();
    let id = world.remember(&["Releases are cut on Tuesdays.", "--tags", "gotcha,ci", "--file", "a.rs"]);
    let before = whole(&world, id);
    assert_eq!(before["history"], json!([]));
    let answer =
        edit(&world, id, &["--title", "Releases on Wednesdays", "--text", "Releases are cut on Wednesdays."]);
    assert_eq!(answer, json!({"id": id, "title": "Releases on Wednesdays", "changed": true}));
    let args = ["--tags", "how-it-works,release", "--file", "b.rs", "--file", "c.rs", "--priority", "high"];
    let _ = edit(&world, id, &[&args[..], &["--type", "Decision", "--expires", "30d"]].concat());
    let after = whole(&world, id);
    for (field, value) in [
        ("title", json!("Releases on Wednesdays")),
        ("narrative", json!("Releases are cut on Wednesdays.")),
        ("type", json!("decision")),
        ("priority", json!("high")),
        ("concepts", json!(["how-it-works", "release"])),
        ("keywords", json!(["release"])),
        ("files_read", json!(["b.rs", "c.rs"])),
    ] {
        assert_eq!(after[field], value, "{field}");
    }
    for field in ["id", "uid", "project", "created_at", "source", "session"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert!(after["expires_at"].is_string());
    let history = after["history"].as_array().unwrap();
    assert_eq!(history.len(), 2);
    for field in ["title", "narrative", "type", "concepts", "keywords", "files_read"] {
        assert_eq!(history[0][field], before[field], "{field}");
    }
    assert_eq!(history[1]["title"], "Releases on Wednesdays");
    assert!(history[0]["until"].as_str().unwrap() <= history[1]["until"].as_str().unwrap());
    let shown = world.cmem(&["get", "--history", &id.to_string()]).ok();
    let (latest, first) =
        (shown.find("concepts: gotcha, ci").unwrap(), shown.find("text: Releases are cut on Tues").unwrap());
    assert!(latest < first && shown.matches("until ").count() == 2, "{shown}");
    // Found by what it says, not by what it said.
    assert_eq!(world.search("Wednesdays"), ["Releases on Wednesdays"]);
    assert_eq!(
        world.number(
            "memory.db",
            "SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'tuesdays'"
        ),
        0
    );
    let _ = edit(&world, id, &["--expires", "never", "--tags", "", "--file", ""]);
    let cleared = whole(&world, id);
    assert_eq!(
        (&cleared["expires_at"], &cleared["concepts"], &cleared["keywords"], &cleared["files_read"]),
        (&Value::Null, &json!([]), &json!([]), &json!([]))
    );
    assert_eq!(edit(&world, id, &["--expires", "never"])["changed"], json!(false));
    world.assert_sound();
}

#[test]
fn an_edit_that_cannot_be_is_refused_and_changes_nothing() {
    let world = World::new();
    let (one, other) = (world.remember(&["Cache is cold."]), world.remember(&["Cache is warm."]));
    let id = one.to_string();
    for (args, code, told) in [
        (&["99", "--title", "x"][..], 1, "there is no record 99"),
        (&["S1", "--title", "x"], 2, "no observation"),
        (&["1,2", "--title", "x"], 2, "one observation at a time"),
        (&[&id, "--type", "two words"], 2, "bugfix"),
        (&[&id, "--expires", "soon"], 2, "never"),
        (&[&id, "--expires", "2020-01-01"], 2, "over"),
        (&[&id, "--priority", "urgent"], 2, "high"),
        (&[&id, "--text", "<private>x</private>"], 1, "marked as private"),
        (&[&id, "--text", "Cache is warm", "--title", "cache is warm"], 1, "says just that"),
        (&[&id], 2, "EDITOR"),
    ] {
        let refused = world.cmem(&[&["edit"], args].concat()).failed(code);
        assert!(refused.contains(told), "{args:?}: {refused}");
    }
    assert_eq!(whole(&world, one)["narrative"], "Cache is cold.");
    assert_eq!(whole(&world, other)["history"], json!([]));
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM revisions"), 0);
}

#[test]
fn neither_private_text_nor_credentials_get_in_by_an_edit() {
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP-xyz";
    let secret = format!("{key} <private>BETA</private>");
    let world =
        with_editor(&format!("sed -i 's|^facts:|facts:\\n- {} in a fact|' $2", secret.replace('/', "\\/")));
    let id = world.remember(&["The deploy key is with Ana."]);
    let args = ["--title", &secret, "--tags", &secret, "--keywords", &secret, "--file", &secret];
    let ran = world
        .cmem(&[&["edit", &id.to_string(), "--text", &format!("It is {secret} here")], &args[..]].concat());
    assert!(ran.err.contains("left out") && !ran.err.contains(key), "{}", ran.err);
    let _ = ran.ok();
    let _ = world.cmem(&["edit", &id.to_string()]).ok();
    let kept = whole(&world, id);
    assert_eq!(kept["narrative"], "It is [redacted:anthropic_key]  here");
    assert_eq!(kept["facts"], json!(["[redacted:anthropic_key] in a fact"]));
    for secret in ["BETA", key] {
        assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{secret}");
    }
}

#[test]
fn an_editor_shows_the_whole_record_and_its_text_is_read_back() {
    let world = with_editor(
        "cp $2 ${0%.sh}.seen
sed -i -e 's/^title:.*/title: Where the key is/' -e 's/^tags:/tags: vault, gotcha/' \
 -e 's/^facts:/facts:\\n- Ana has one\\n- Ben has\\n  another/' -e 's/^priority:.*/priority: High/' -e 's/^expires:.*/expires: 2d/' \
 -e 's/under the mat/in the vault/' $2",
    );
    let id = world.remember(&["# A heading\n\nThe key is under the mat.\n---\n# and a line"]);
    let _ = world.cmem(&["edit", &id.to_string()]).ok();
    let shown = fs::read_to_string(world.path("editor.seen")).unwrap();
    insta::assert_snapshot!(world.fixed(&shown));
    let after = whole(&world, id);
    for (field, value) in [
        ("title", json!("Where the key is")),
        ("narrative", json!("# A heading\n\nThe key is in the vault.\n---\n# and a line")),
        ("concepts", json!(["vault", "gotcha"])),
        ("facts", json!(["Ana has one", "Ben has another"])),
        ("priority", json!("high")),
        ("type", json!("note")),
    ] {
        assert_eq!(after[field], value, "{field}");
    }
    assert!(after["expires_at"].is_string());
    assert_eq!(after["history"].as_array().unwrap().len(), 1);
    assert!(!world.data().join("edits").exists());
}

#[test]
fn an_editor_in_which_nothing_is_changed_changes_nothing() {
    for script in ["true", "touch $2", ": > $2"] {
        let world = with_editor(script);
        let id = world.remember(&["Two  blanks and\ttabs.", "--expires", "2d"]);
        let ran = world.cmem(&["edit", &id.to_string()]);
        assert!(ran.err.contains("is as it was"), "{script}: {}", ran.err);
        let _ = ran.ok();
        assert_eq!(whole(&world, id)["history"], json!([]));
        assert!(!world.data().join("edits").exists(), "{script}");
    }
}

#[test]
fn a_broken_edit_is_not_lost_and_can_be_gone_on_with() {
    let mut world =
        with_editor("sed -i -e 's/^type:/tipe:/' -e 's/cold/<private>GAMMA<\\/private> warm/' $2");
    let id = world.remember(&["The cache is cold."]);
    let refused = world.cmem(&["edit", &id.to_string()]).failed(1);
    let file = world.data().join(format!("edits/{id}/memory.txt"));
    assert!(
        refused.contains("\"tipe\" is no field") && refused.contains(file.to_str().unwrap()),
        "{refused}"
    );
    assert!(fs::read_to_string(&file).unwrap().contains("warm"));
    assert_eq!(world.files_with("GAMMA"), Vec::<PathBuf>::new());
    assert_eq!(whole(&world, id)["narrative"], "The cache is cold.");
    world.set("EDITOR", "sed -i 's/^tipe:/type:/'");
    let ran = world.cmem(&["edit", &id.to_string()]);
    assert!(ran.err.contains("going on with the text"), "{}", ran.err);
    let _ = ran.ok();
    assert_eq!(whole(&world, id)["narrative"], "The cache is  warm.");
    assert!(!file.exists());
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let mut world = with_editor("exit 3");
    let id = world.remember(&["The cache is cold."]).to_string();
    let refused = world.cmem(&["edit", &id]).failed(1);
    assert!(refused.contains("exit status: 3") && !refused.contains("is left in"), "{refused}");
    world.set("VISUAL", "sh -c 'echo more >> $0; exit 1'");
    let refused = world.cmem(&["edit", &id]).failed(1);
    assert!(refused.contains("nothing was changed") && refused.contains("is left in"), "{refused}");
    world.set("VISUAL", "no-such-editor");
    assert!(world.cmem(&["edit", &id]).failed(1).contains("no-such-editor"));
}

#[test]
fn a_record_that_changes_under_the_editor_is_not_overwritten() {
    let mut world = World::new();
    let id = world.remember(&["The cache is cold."]);
    let binary = crate::common::world::binary();
    let script = world.path("editor.sh");
    fs::write(
        &script,
        format!("sed -i s/cold/mine/ $1\n{} edit {id} --text 'The cache is theirs.'\n", binary.display()),
    )
    .unwrap();
    world.set("EDITOR", &format!("sh {}", script.display()));
    let refused = world.cmem(&["edit", &id.to_string()]).failed(1);
    assert!(refused.contains("changed meanwhile") && refused.contains("is left in"), "{refused}");
    assert_eq!(whole(&world, id)["narrative"], "The cache is theirs.");
    let file = world.data().join(format!("edits/{id}/memory.txt"));
    assert!(fs::read_to_string(file).unwrap().contains("mine"));
}

#[test]
fn of_a_record_that_is_forgotten_under_the_editor_nothing_is_kept() {
    let mut world = World::new();
    let id = world.remember(&["The cache is cold."]);
    let binary = crate::common::world::binary();
    let script = world.path("editor.sh");
    fs::write(
        &script,
        format!(
            "{} forget {id} --yes\nmkdir -p $(dirname $1); echo 'tipe: The cache is cold.' > $1\n",
            binary.display()
        ),
    )
    .unwrap();
    world.set("EDITOR", &format!("sh {}", script.display()));
    let refused = world.cmem(&["edit", &id.to_string()]).failed(1);
    assert!(!refused.contains("is left in"), "{refused}");
    assert_eq!(world.files_with("The cache"), Vec::<PathBuf>::new());
}

#[test]
fn what_is_pinned_is_told_until_it_is_not() {
    let world = World::new();
    let ids: Vec<String> =
        ["one", "two", "three"].iter().map(|text| world.remember(&[text]).to_string()).collect();
    let pinned = |id: usize| whole(&world, ids[id].parse().unwrap())["pinned"].clone();
    let answer = world.cmem(&["pin", "--json", &ids[0], &format!("{},#{}", ids[1], ids[0])]).json();
    assert_eq!(
        answer,
        json!([{"id": 1, "pinned": true, "changed": true}, {"id": 2, "pinned": true, "changed": true}])
    );
    assert_eq!([0, 1, 2].map(pinned), [json!(true), json!(true), json!(false)]);
    assert!(world.cmem(&["pin", &ids[0]]).err.contains("already pinned"));
    assert!(world.cmem(&["unpin", &ids[0], &ids[2]]).err.contains("is no longer pinned"));
    assert_eq!(pinned(0), json!(false));
    // All of them, or none.
    assert!(world.cmem(&["pin", &ids[2], "99", "98"]).failed(1).contains("there is no records 99, 98"));
    assert_eq!(pinned(2), json!(false));
    assert!(world.cmem(&["pin", "P1"]).failed(2).contains("no observation"));
    let _ = world.cmem(&["supersede", &ids[2], &ids[1]]).ok();
    assert!(world.cmem(&["pin", &ids[2]]).err.contains("superseded: no session is told"));
}

#[test]
fn one_takes_the_place_of_another_and_both_say_so() {
    let world = World::new();
    let [first, second, third] = ["MySQL", "PostgreSQL", "CockroachDB"]
        .map(|name| world.remember(&[&format!("Payments use {name}.")]));
    let supersede = |old: i64, new: i64| world.cmem(&["supersede", &old.to_string(), &new.to_string()]);
    let answer = world.cmem(&["supersede", "--json", &first.to_string(), &third.to_string()]).json();
    assert_eq!(answer, json!({"old": first, "new": third, "changed": true}));
    let _ = supersede(second, third).ok();
    assert!(supersede(second, third).err.contains("already"));
    let shown = |id: i64| world.cmem(&["get", &id.to_string()]).ok();
    assert!(shown(first).contains(&format!("superseded by #{third}")));
    assert!(shown(third).contains(&format!("supersedes #{first}, #{second}")), "{}", shown(third));
    assert_eq!(whole(&world, third)["supersedes"], json!([first, second]));
    let context = world.cmem(&["context"]).ok();
    assert!(context.contains("CockroachDB") && !context.contains("MySQL"), "{context}");
    assert_eq!(world.search("Payments")[0], "Payments use CockroachDB");
    // No circles, and no end in what is out of use.
    let refused = supersede(third, first).failed(1);
    assert!(
        refused.contains(&format!("{first} is superseded by {third} itself")) && refused.contains("--undo"),
        "{refused}"
    );
    let fourth = world.remember(&["The payments team meets on Fridays."]);
    assert!(supersede(fourth, first).failed(1).contains(&format!("name {third}")));
    assert!(supersede(first, first).failed(2).contains("the same"));
    assert!(supersede(first, 99).failed(1).contains("there is no record 99"));
    assert!(world.cmem(&["supersede", &third.to_string(), "--undo"]).failed(1).contains("in use"));
    let _ = world.cmem(&["supersede", &first.to_string(), "--undo"]).ok();
    assert!(!shown(first).contains("superseded"));
    assert!(world.cmem(&["supersede", "1"]).failed(2).contains("NEW"));
    assert!(world.cmem(&["supersede", "1", "2", "--undo"]).failed(2).contains("--undo"));
}

#[test]
fn nothing_is_superseded_across_projects() {
    let world = World::new();
    let here = world.remember(&["Port 80."]);
    let app = world.repository("app");
    let there = world.cmem_in(&app, &["remember", "--json", "Port 81."], &[]).json()["id"].as_i64().unwrap();
    let refused = world.cmem(&["supersede", &here.to_string(), &there.to_string()]).failed(1);
    assert!(refused.contains("belongs to project project and 2 to app"), "{refused}");
    assert_eq!(whole(&world, here)["status"], "active");
}

#[test]
fn what_waits_for_review_says_because_of_which() {
    let world = World::new();
    let (old, new) = (world.remember(&["Port 80."]), world.remember(&["Port 81."]));
    let memory = rusqlite::Connection::open(world.data().join("memory.db")).unwrap();
    memory
        .execute_batch(&format!(
            "UPDATE observations SET status = 'review' WHERE id = {new}; INSERT INTO contested VALUES ({new}, {old})"
        ))
        .unwrap();
    drop(memory);
    let shown = |id: i64| world.cmem(&["get", &id.to_string()]).ok();
    assert!(shown(new).contains(&format!("waits for review because of #{old}")));
    assert!(shown(old).contains(&format!("contested by #{new}")));
    assert_eq!(whole(&world, old)["contested_by"], json!([new]));
}

#[test]
fn sizes_are_told_by_file_and_table() {
    let world = World::new();
    assert_eq!(world.cmem(&["stats", "--size", "--json"]).json()["bytes"], json!(0));
    let _ = world.remember(&["one"]);
    world.note("two");
    let size = world.cmem(&["stats", "--size", "--json"]).json();
    let names: Vec<&str> =
        size["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"memory.db") && names.contains(&"spool.db"), "{names:?}");
    let rows = |table: &str| {
        let tables = size["databases"][0]["tables"].as_array().unwrap();
        tables.iter().find(|row| row["name"] == table).unwrap()["rows"].clone()
    };
    assert_eq!((rows("observations"), rows("revisions")), (json!(1), json!(0)));
    assert!(size["reclaimable"].as_u64().unwrap() > 0, "the write-ahead log is not empty yet");
    world.drain();
    let size = world.cmem(&["stats", "--size", "--json"]).json();
    assert_eq!(size["reclaimable"], json!(0));
    assert!(world.cmem(&["stats", "--size"]).ok().contains(" models 1, observations "));
}
