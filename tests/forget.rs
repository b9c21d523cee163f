//! `forget`: what was forgotten is in no byte of any file, found by no search, and does not come back.

use std::path::PathBuf;
use std::time::Duration;

use cmem::config::Paths;
use cmem::spool::FileLock;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{ModelServer, World, wait_for};

#[track_caller]
fn assert_gone(world: &World, texts: &[&str]) {
    for text in texts {
        assert_eq!(world.files_with(text), Vec::<PathBuf>::new(), "{text}");
    }
}

#[track_caller]
fn assert_there(world: &World, text: &str) {
    assert!(!world.files_with(text).is_empty(), "{text} is in no file: the test looks for the wrong thing");
}

fn forget(world: &World, args: &[&str]) -> Value {
    world.cmem(&[&["forget", "--json", "--yes"], args].concat()).json()
}

#[test]
fn no_byte_of_it_is_left_wherever_it_stood() {
    let world = World::new();
    let kept = world.remember(&["The quokka lives on Rottnest.", "--tags", "quokka"]);
    let id = world.remember(&[
        "--title",
        "Xylograph rule",
        "--tags",
        "zymurgy",
        "--file",
        "src/wolframite.rs",
        "--type",
        "decision",
        "The quokka eats the yttrium, and 部署密钥在抽屉里 as well.",
    ]);
    let other = world.remember(&["Something else about the quokka."]);
    let _ = world
        .cmem(&["edit", &id.to_string(), "--title", "Jabberwock rule", "--text", "机密内容在这里。"])
        .ok();
    let _ = world.cmem(&["edit", &id.to_string(), "--keywords", "vorpal"]).ok();
    let _ = world.cmem(&["reindex"]).ok();
    let texts = [
        "ylograph",
        "ymurgy",
        "olframite",
        "yttrium",
        "部署密钥",
        "密钥",
        "abberwock",
        "机密内容",
        "机密",
        "orpal",
    ];
    // In the index words are folded and without their common beginnings.
    for text in texts {
        assert_there(&world, text);
    }
    let answer = forget(&world, &[&id.to_string()]);
    assert_eq!(answer["records"], json!([{"id": id, "title": "Jabberwock rule"}]));
    assert_gone(&world, &texts);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM revisions"), 0);
    for query in ["yttrium", "密钥", "机密内容", "Jabberwock rule", "zymurgy", "quokka yttrium"] {
        let found = world.cmem(&["search", "--json", query]).json();
        let found = found["results"].as_array().unwrap().iter();
        assert!(found.clone().all(|row| row["id"] != json!(id)), "{query}");
    }
    // Words of others stay, and so do the others.
    assert_eq!(world.search("quokka").len(), 2);
    for (id, text) in [(kept, "Rottnest"), (other, "Something else")] {
        assert!(world.cmem(&["get", &id.to_string()]).ok().contains(text));
    }
    assert!(world.cmem(&["get", &id.to_string()]).failed(1).contains("there is no record"));
    world.assert_sound();
}

#[test]
fn nothing_is_left_between_rows_of_any_size() {
    let world = World::new();
    let _ = world.remember(&["The first."]);
    // Rows that share pages, fill one and go beyond it, some of them edited.
    let names: Vec<String> =
        (0..60).map(|n| format!("q{}z", "abcdefghij".repeat(2).replace('a', &format!("{n:02}")))).collect();
    let ids: Vec<i64> = (0..60)
        .map(|n| {
            let size = [1, 5, 40, 200, 600][n % 5];
            world.remember(&["--title", &format!("note {n}"), &format!("{} ", names[n]).repeat(size)])
        })
        .collect();
    for n in (0..60).step_by(4) {
        let _ = world.cmem(&["edit", &ids[n].to_string(), "--text", &format!("{} once more", names[n])]).ok();
    }
    let chosen: Vec<usize> = (0..60).filter(|n| n % 3 == 0).collect();
    let words: Vec<String> = chosen.iter().map(|n| ids[*n].to_string()).collect();
    let args: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(forget(&world, &args)["records"].as_array().unwrap().len(), 20);
    for (n, name) in names.iter().enumerate() {
        let found = world.files_with(name);
        assert_eq!(found.is_empty(), n % 3 == 0, "{n} ({name}) is in {found:?}");
    }
    world.assert_sound();
}

#[test]
fn prompts_and_summaries_are_forgotten_like_observations() {
    let world = World::new();
    world.send("UserPromptSubmit", json!({"prompt": "Where does the aardvark keep its 秘密钥匙?"})).silent();
    world.note("a note about something");
    world.send("Stop", json!({"last_assistant_message": "The pangolin has found it."})).silent();
    world.drain();
    world.wait_for_drainers();
    for text in ["aardvark", "秘密钥匙", "pangolin"] {
        assert_there(&world, text);
    }
    let all = world.cmem(&["search", "--json", "aardvark"]).json();
    let ids: Vec<String> =
        all["results"].as_array().unwrap().iter().map(|row| row["id"].to_string().replace('"', "")).collect();
    assert!(ids.contains(&String::from("P1")) && ids.contains(&String::from("S1")), "{ids:?}");
    let answer = forget(&world, &["P1"]);
    assert!(answer["also_in"].as_array().unwrap().contains(&json!("S1")), "{answer}");
    let _ = forget(&world, &["--query", "*"]);
    assert_gone(&world, &["aardvark", "秘密钥匙", "pangolin"]);
    assert_eq!(world.search("*"), Vec::<String>::new());
    world.assert_sound();
    world.assert_all_done();
}

#[test]
fn a_query_takes_what_holds_its_words_and_passes_the_filters() {
    let world = World::new();
    let old = world.remember(&["The staging password is in the vault.", "--type", "decision"]);
    let near = world.remember(&["Credentials for the test environment are kept safe."]);
    let new = world.remember(&["Ask Ana for the staging password.", "--tags", "ana"]);
    let shown = world.cmem(&["forget", "--query", "staging password", "--dry-run"]);
    assert!(shown.err.contains("2 records would be forgotten"), "{}", shown.err);
    let out = shown.ok();
    assert!(out.contains("vault") && out.contains("Ana") && !out.contains("Credentials"), "{out}");
    let refused = world.cmem(&["forget", "--query", "staging password"]).failed(2);
    assert!(refused.contains("--yes"), "{refused}");
    assert_eq!(world.search("*").len(), 3);
    let narrowed = forget(&world, &["--query", "staging password", "--type", "decision"]);
    assert_eq!(narrowed["records"][0]["id"], json!(old));
    assert_eq!(narrowed["records"].as_array().unwrap().len(), 1);
    assert_eq!(forget(&world, &["--query", "*", "--concept", "ana"])["records"][0]["id"], json!(new));
    assert_eq!(forget(&world, &["--query", "unheard of"])["records"], json!([]));
    assert_eq!(forget(&world, &["--query", "?!"])["records"], json!([]));
    assert!(world.cmem(&["get", &near.to_string()]).ok().contains("Credentials"));
}

#[test]
fn a_call_that_is_not_meant_so_takes_nothing() {
    let world = World::new();
    assert!(world.cmem(&["forget", "1", "--yes"]).failed(1).contains("there is no record 1"));
    assert!(!world.data().join("memory.db").exists());
    let id = world.remember(&["kept"]).to_string();
    for (args, code, told) in [
        (&["forget"][..], 2, "required"),
        (&["forget", &id], 2, "--yes"),
        (&["forget", &id, "99", "--yes"], 1, "there is no record 99"),
        (&["forget", &id, "--query", "kept", "--yes"], 2, "cannot be used"),
        (&["forget", &id, "--type", "note", "--yes"], 2, "--query"),
        (&["forget", "--query", " ", "--yes"], 2, "empty"),
        (&["forget", "12x", "--yes"], 2, "not an id"),
    ] {
        let refused = world.cmem(args).failed(code);
        assert!(refused.contains(told), "{args:?}: {refused}");
    }
    assert_eq!(world.search("*"), ["kept"]);
}

#[test]
fn what_a_forgotten_one_had_replaced_is_in_use_again() {
    let world = World::new();
    let (old, new) =
        (world.remember(&["Payments use MySQL."]), world.remember(&["Payments use PostgreSQL."]));
    let _ = world.cmem(&["supersede", &old.to_string(), &new.to_string()]).ok();
    let _ = forget(&world, &[&new.to_string()]);
    let told = world.cmem(&["get", "--json", &old.to_string()]).json();
    assert_eq!((&told[0]["status"], &told[0]["superseded_by"]), (&json!("active"), &Value::Null));
}

#[test]
fn events_that_would_bring_it_back_go_too() {
    let world = World::new();
    let text = "The treasure lies under the third oak.";
    let id = world.remember(&[text]).to_string();
    // One in the database, and one in the journal; and one that has nothing to do with it.
    let nobody_drains = FileLock::try_acquire(&world.data().join("drain.lock")).unwrap().unwrap();
    world.note(&format!("somebody said: {text}"));
    world.note("nothing of that kind");
    let _ = world.cmem(&["queue", "list"]).ok();
    let prompt = json!({"prompt": "The treasure\nlies under the third oak.  Dig!"});
    assert!(
        world.send("UserPromptSubmit", prompt).answer().is_some(),
        "it reminds of what is not forgotten yet"
    );
    drop(nobody_drains);
    assert_eq!(world.cmem(&["forget", &id, "--dry-run", "--json"]).json()["events"], json!(2));
    assert_eq!(forget(&world, &[&id])["events"], json!(2));
    assert_gone(&world, &["treasure", "third oak"]);
    assert_there(&world, "nothing of that kind");
    world.wait_for_drainers();
    world.send("Stop", json!({"last_assistant_message": "Done."})).silent();
    world.drain();
    assert_gone(&world, &["treasure", "third oak"]);
    let ledger = world.ledger();
    assert_eq!((ledger.dropped, ledger.balance()), (2, 0), "{ledger:?}");
}

#[test]
fn a_batch_that_was_recorded_and_not_deleted_does_not_bring_it_back() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.note("the walrus was here");
    world.send("Stop", json!({"last_assistant_message": "Seen."})).silent();
    world.wait_for_drainers();
    world.drain();
    let found = world.cmem(&["search", "--json", "walrus", "--kind", "observation"]).json();
    let id = found["results"][0]["id"].to_string();
    // As if the drainer had been killed between the two databases.
    let batch: String = Connection::open(world.data().join("memory.db"))
        .unwrap()
        .query_row("SELECT id FROM batches ORDER BY created_at LIMIT 1", [], |row| row.get(0))
        .unwrap();
    let spool = Connection::open(world.data().join("spool.db")).unwrap();
    spool
        .execute(
            "INSERT INTO events (session, place, kind, tool, body, at, ends_turn, batch, lease_until)
             SELECT 's', id, 'tool', 'Bash', ?2, 1, 1, ?1, 1 FROM places LIMIT 1",
            (
                &batch,
                json!({"session": "s", "at": 1, "cwd": "/", "kind": "tool", "tool": "Bash",
                       "input": {"command": "a walrus in other words"}, "outcome": {"response": "x"}})
                .to_string(),
            ),
        )
        .unwrap();
    drop(spool);
    let _ = forget(&world, &[&id]);
    assert_eq!(world.number("spool.db", "SELECT count(*) FROM events"), 0);
    assert_gone(&world, &["in other words"]);
    let calls = model.requests().len();
    world.drain();
    assert_eq!(model.requests().len(), calls);
    assert_eq!(world.search("*").iter().filter(|title| title.contains("walrus")).count(), 0);
}

#[test]
fn texts_that_failures_or_an_editor_left_behind_go_too() {
    let mut world = World::new();
    let text = "The combination is left, right, left.";
    let id = world.remember(&[text]);
    let paths = Paths::resolve(Some(&world.data())).unwrap();
    cmem::log::error(&paths, &format!("malformed: {text}"));
    cmem::log::error(&paths, "another line");
    std::fs::write(
        paths.pause(),
        json!({"class": "transient", "until": null, "message": text, "remedy": "", "failures": 1,
               "fingerprint": "x", "probe": false})
        .to_string(),
    )
    .unwrap();
    world.set("EDITOR", "sed -i 's/^type:.*/tipe: x/'");
    let refused = world.cmem(&["edit", &id.to_string()]).failed(1);
    assert!(refused.contains("edits/1/memory.txt"), "{refused}");
    let _ = world.cmem(&["status"]).ok();
    assert!(world.files_with(text).len() >= 3);
    world.note("makes a spool");
    let _ = forget(&world, &[&id.to_string()]);
    assert_gone(&world, &[text]);
    assert_there(&world, "another line");
    assert!(!world.data().join("edits/1").exists());
}

#[test]
fn a_drainer_at_work_is_waited_for_and_named() {
    let world = World::new();
    let id = world.remember(&["kept for now"]).to_string();
    let lock = FileLock::try_acquire(&world.data().join("drain.lock")).unwrap().unwrap();
    let refused = world.cmem(&["forget", &id, "--yes"]).failed(1);
    assert!(refused.contains("drainer is at work") && refused.contains("cmem drain --wait"), "{refused}");
    assert_eq!(world.search("*"), ["kept for now"]);
    std::thread::scope(|scope| {
        let forgetting = scope.spawn(|| forget(&world, &[&id]));
        std::thread::sleep(Duration::from_millis(300));
        drop(lock);
        assert_eq!(forgetting.join().unwrap()["records"].as_array().unwrap().len(), 1);
    });
    assert_gone(&world, &["kept for now"]);
}

#[test]
fn a_reader_that_stays_is_named_and_its_view_ends_with_the_next_drainer() {
    let world = World::new();
    let id = world.remember(&["the heron stands still"]).to_string();
    let _ = world.remember(&["another"]);
    let reader = Connection::open(world.data().join("memory.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM observations;").unwrap();
    let refused = world.cmem(&["forget", &id, "--yes"]).failed(1);
    assert!(refused.contains("another process is reading") && refused.contains("cmem drain"), "{refused}");
    assert!(world.cmem(&["get", &id]).failed(1).contains("there is no record"));
    drop(reader);
    world.drain();
    assert_gone(&world, &["heron"]);
}

#[test]
fn a_drainer_is_woken_for_what_waits() {
    let world = World::new();
    let id = world.remember(&["soon gone for good"]).to_string();
    let lock = FileLock::try_acquire(&world.data().join("drain.lock")).unwrap().unwrap();
    world.send("UserPromptSubmit", json!({"prompt": "what about the lighthouse"})).silent();
    world.note("the lighthouse is white");
    world.send("Stop", json!({"last_assistant_message": "It is white."})).silent();
    drop(lock);
    let _ = forget(&world, &[&id]);
    wait_for("the turn is remembered", Duration::from_secs(60), || !world.search("lighthouse").is_empty());
}
