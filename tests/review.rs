//! Memories that wait for a decision, and memories that take the place of others.

use std::fs;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{Mode, ModelServer, World, payload};

fn whole(world: &World, id: i64) -> Value {
    world.cmem(&["get", "--json", &id.to_string()]).json()[0].clone()
}

fn waiting(world: &World) -> Vec<Value> {
    world.cmem(&["review", "list", "--json"]).json().as_array().unwrap().clone()
}

fn sql(world: &World, text: &str) {
    Connection::open(world.data().join("memory.db")).unwrap().execute_batch(text).unwrap();
}

/// A turn that ends with these words.
fn says(world: &World, session: &str, message: &str) {
    world
        .send("UserPromptSubmit", json!({"session_id": session, "prompt": "please look at the payments"}))
        .answer();
    world.send("Stop", json!({"session_id": session, "last_assistant_message": message})).silent();
}

/// A turn in which the builtin observer sees payments move to another database.
fn migrates(world: &World, session: &str) {
    let file = world.project().join("src/payments/db.rs");
    let fields = |mut fields: Value| {
        fields["session_id"] = json!(session);
        fields
    };
    let prompt = json!({"prompt": "Migrate the payments from MySQL to PostgreSQL"});
    world.send("UserPromptSubmit", fields(prompt)).answer();
    let (old, new) = ("mysql://payments", "postgres://payments");
    let edit = json!({"tool_name": "Edit",
        "tool_input": {"file_path": file, "old_string": old, "new_string": new},
        "tool_response": {"filePath": file, "oldString": old, "newString": new, "originalFile": old,
            "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                                 "lines": [format!("-{old}"), format!("+{new}")]}]}});
    world.send("PostToolUse", fields(edit)).silent();
    let said =
        "Payments moved from MySQL to PostgreSQL. The pool in src/payments/db.rs connects to the new server.";
    world.send("Stop", fields(json!({"last_assistant_message": said}))).silent();
    world.drain();
}

const BLOCK: &str = "All done.\n\n```cmem-memory\ntype: constraint\ntitle: Payments run on PostgreSQL 15\ntags: database, \
                     config\ntext: Payments run on PostgreSQL 15; the pool is limited to 20.\n```\n\nAnything else?";

#[test]
fn what_the_assistant_suggests_waits_for_review() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    says(&world, "a", BLOCK);
    world.drain();
    assert!(model.was_told("Anything else?"), "the rest is looked at");
    assert!(
        !model.was_told("cmem-memory") && !model.was_told("limited to 20"),
        "the block is no text for the observer"
    );
    let rows = waiting(&world);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let memory = &rows[0]["memory"];
    assert_eq!((&rows[0]["why"], &rows[0]["contests"]), (&json!(["suggested"]), &json!([])));
    for (field, value) in [
        ("type", json!("constraint")),
        ("title", json!("Payments run on PostgreSQL 15")),
        ("narrative", json!("Payments run on PostgreSQL 15; the pool is limited to 20.")),
        ("concepts", json!(["database", "config"])),
        ("keywords", json!(["database", "config"])),
        ("status", json!("review")),
        ("source", json!("observer")),
        ("model", json!("assistant")),
        ("session", json!("a")),
    ] {
        assert_eq!(memory[field], value, "{field}");
    }
    // Nobody is told of it as a memory, and everybody that it waits.
    let answer = world.send("SessionStart", json!({"session_id": "b"})).answer().unwrap();
    assert_eq!(answer["systemMessage"], "cmem: 1 memory waits for your decision: `cmem review`");
    assert!(!answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("PostgreSQL"));
    for source in ["resume", "clear", "compact"] {
        let goes_on = json!({"session_id": "b", "source": source});
        let answer = world.send("SessionStart", goes_on).answer().unwrap_or_default();
        assert_eq!(answer["systemMessage"], Value::Null, "{source}");
    }
    assert_eq!(world.status()["review"], 1);
    assert!(world.cmem(&["status"]).ok().contains("review       1 memory waits"));
    assert!(world.cmem(&["doctor"]).out.contains("1 memory waits for your decision"));
    let listed = world.cmem(&["review"]).ok();
    assert!(listed.contains("the assistant suggests it") && listed.contains("Payments run on"), "{listed}");

    let id = memory["id"].as_i64().unwrap().to_string();
    assert_eq!(
        world.cmem(&["review", "accept", &id, "--json"]).json(),
        json!({"accepted": [{"id": memory["id"], "superseded": []}]})
    );
    assert!(world.context_of("c", "startup").contains("Payments run on PostgreSQL 15"));
    assert_eq!(waiting(&world).len(), 0);
    world.drain();
    world.assert_all_done();
    world.assert_sound();
}

#[test]
fn the_form_of_the_article_is_read_from_the_transcript_too() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let text = "好的。\n\n[记忆建议] 类型: constraint 内容: 项目使用 PostgreSQL 15 标签: database, config";
    let line = |kind: &str, text: &str| {
        json!({"type": kind, "message": {"role": kind, "content": [{"type": "text", "text": text}]}})
            .to_string()
    };
    let transcript = world.path("transcript.jsonl");
    fs::write(&transcript, [line("user", "hi"), line("assistant", text)].join("\n")).unwrap();
    world.note("a tool call");
    world
        .send("Stop", json!({"last_assistant_message": Value::Null, "transcript_path": transcript}))
        .silent();
    world.drain();
    let rows = waiting(&world);
    assert_eq!(rows.len(), 1, "{rows:?}");
    let memory = &rows[0]["memory"];
    assert_eq!(memory["title"], "项目使用 PostgreSQL 15");
    assert_eq!(
        (&memory["type"], &memory["concepts"]),
        (&json!("constraint"), &json!(["database", "config"]))
    );
    assert!(!model.was_told("记忆建议"));
}

#[test]
fn a_suggestion_is_taken_into_use_at_once_only_if_the_user_said_so() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    world.set("CMEM_ACCEPT_SUGGESTIONS", "1");
    let old = world.remember(&["Payments run on MySQL 8"]);
    says(&world, "a", BLOCK);
    world.drain();
    assert_eq!(waiting(&world).len(), 0);
    assert!(world.context_of("b", "startup").contains("PostgreSQL 15"));
    assert_eq!(whole(&world, old)["status"], "superseded");
}

#[test]
fn a_suggestion_that_contradicts_replaces_only_when_it_is_accepted() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let old = world.remember(&["Payments run on MySQL 8"]);
    says(&world, "a", BLOCK);
    world.drain();
    let rows = waiting(&world);
    assert_eq!(
        (&rows[0]["why"], &rows[0]["contests"][0]["id"]),
        (&json!(["suggested", "contests"]), &json!(old))
    );
    assert_eq!(whole(&world, old)["status"], "active");
    let told = world.cmem(&["review", "accept", "--all"]);
    assert!(told.err.contains(&format!("in place of {old}")), "{}", told.err);
    let _ = told.ok();
    let memory = whole(&world, old);
    assert_eq!(
        (&memory["status"], &memory["superseded_by"]),
        (&json!("superseded"), &rows[0]["memory"]["id"])
    );
}

#[test]
fn neither_private_text_nor_credentials_are_suggested() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP-xyz";
    let text = format!(
        "```cmem-memory\ntitle: the key\ntext: it is {key} <private>hunter2-ALPHA</private> for now\n```"
    );
    says(&world, "a", &text);
    world.drain();
    assert_eq!(waiting(&world)[0]["memory"]["narrative"], "it is [redacted:anthropic_key]  for now");
    for secret in [key, "hunter2-ALPHA"] {
        assert!(world.files_with(secret).is_empty() && !model.was_told(secret), "{secret}");
    }
}

#[test]
fn a_suggestion_is_stored_once_whatever_the_observer_does() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.script(vec![Mode::Status(500), Mode::Text(String::from("prose")), Mode::Careless]);
    says(&world, "a", BLOCK);
    for _ in 0..4 {
        let _ = world.cmem(&["drain", "--wait"]);
        sql_spool(&world);
    }
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE model = 'assistant'"), 1);
    assert_eq!(world.ledger().waiting, 0);
    // Said again, it is the same; also after it was rejected.
    let id = waiting(&world)[0]["memory"]["id"].to_string();
    let _ = world.cmem(&["review", "reject", &id]).ok();
    model.mode(Mode::Text(String::from("<nothing/>")));
    says(&world, "b", BLOCK);
    world.drain();
    assert_eq!(waiting(&world).len(), 0);
    assert_eq!(whole(&world, id.parse().unwrap())["status"], "archived");
    // A suggestion alone is something that is stored.
    says(&world, "c", &BLOCK.replace("15", "16"));
    world.drain();
    assert_eq!(waiting(&world).len(), 1);
    world.assert_all_done();
}

/// What failed is due now.
fn sql_spool(world: &World) {
    let _ = world.cmem(&["queue", "retry", "--all"]);
    let _ = fs::remove_file(world.data().join("pause.json"));
}

#[test]
fn a_block_that_is_none_stays_text() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    says(&world, "a", "```cmem-memory\ntitle: BROKEN-1\ntype: fact\n```\n[记忆建议] BROKEN-2");
    world.drain();
    assert_eq!(waiting(&world).len(), 0);
    assert!(model.was_told("BROKEN-1") && model.was_told("BROKEN-2"));
}

#[test]
fn review_takes_all_or_nothing_and_edits() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    says(&world, "a", "```cmem-memory\ntext: One is here.\n```\n```cmem-memory\ntext: Two is there.\n```");
    world.drain();
    let ids: Vec<String> = waiting(&world).iter().map(|row| row["memory"]["id"].to_string()).collect();
    assert_eq!(ids.len(), 2);
    let refused = world.cmem(&["review", "accept", &ids[0], "9999"]).failed(1);
    assert!(refused.contains("9999") && refused.contains("nothing was changed"), "{refused}");
    assert_eq!(waiting(&world).len(), 2);
    for args in [&["review", "accept"][..], &["review", "edit", &ids[0]], &["review", "reject", "S1"]] {
        let _ = world.cmem(args).failed(2);
    }
    let edit = [
        "review",
        "edit",
        &ids[0],
        "--title",
        "Better",
        "--text",
        "Better text",
        "--type",
        "decision",
        "--json",
    ];
    assert_eq!(world.cmem(&edit).json(), json!({"id": ids[0].parse::<i64>().unwrap(), "changed": true}));
    assert_eq!(world.cmem(&edit).json()["changed"], false);
    let memory = whole(&world, ids[0].parse().unwrap());
    assert_eq!(
        (&memory["title"], &memory["type"], &memory["status"]),
        (&json!("Better"), &json!("decision"), &json!("review"))
    );
    assert!(world.search("one is here").is_empty() || world.search("better text")[0] == "Better");
    let same =
        world.cmem(&["review", "edit", &ids[1], "--title", "Better", "--text", "better text."]).failed(1);
    assert!(same.contains(&format!("{} says just that", ids[0])), "{same}");
    assert_eq!(
        world.cmem(&["review", "reject", "--all", "--json"]).json(),
        json!({"rejected": ids.iter().map(|id| id.parse::<i64>().unwrap()).collect::<Vec<_>>()})
    );
    assert!(world.cmem(&["review"]).err.contains("nothing waits"));
    assert_eq!(World::new().cmem(&["review", "--json"]).json(), json!([]));
    let _ = world.cmem(&["review", "accept", &ids[0]]).failed(1);
    world.assert_sound();
}

#[test]
fn what_was_said_before_is_replaced_by_what_the_builtin_observer_sees() {
    let world = World::new();
    let old = world.remember(&["We use MySQL for payments"]);
    world.remember(&["The payments module retries three times"]);
    assert!(world.context_of("a", "startup").contains("MySQL"));
    migrates(&world, "b");
    let memory = whole(&world, old);
    assert_eq!(memory["status"], "superseded", "{memory}");
    let new = memory["superseded_by"].as_i64().unwrap();
    assert!(whole(&world, new)["title"].as_str().unwrap().contains("PostgreSQL"));
    let context = world.context_of("c", "startup");
    assert!(context.contains("PostgreSQL") && !context.contains("We use MySQL"), "{context}");
    assert!(context.contains("retries three times"), "{context}");
    for query in ["which database do payments use", "payments database", "mysql payments"] {
        let found = world.cmem(&["search", "--kind", "observation", "--json", "--", query]).json();
        let rows = found["results"].as_array().unwrap();
        assert!(rows[0]["title"].as_str().unwrap().contains("PostgreSQL"), "{query}: {found}");
        let last = rows.iter().find(|row| row["id"] == json!(old));
        assert!(last.is_none_or(|row| row["status"] == "superseded"), "{query}: {found}");
    }
    assert!(world.cmem(&["search", "mysql"]).ok().contains("[superseded]"));
    assert!(world.cmem(&["get", &old.to_string()]).ok().contains(&format!("superseded by #{new}")));
    assert_eq!(waiting(&world).len(), 0);
    world.assert_sound();
}

#[test]
fn what_is_pinned_or_matters_is_for_the_user_to_replace() {
    for (flag, standing) in [(None, "pinned"), (Some("high"), "high priority")] {
        let world = World::new();
        let old = match flag {
            Some(priority) => world.remember(&["--priority", priority, "We use MySQL for payments"]),
            None => world.remember(&["We use MySQL for payments"]),
        };
        if flag.is_none() {
            let _ = world.cmem(&["pin", &old.to_string()]).ok();
        }
        migrates(&world, "b");
        assert_eq!(whole(&world, old)["status"], "active");
        let rows = waiting(&world);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0]["contests"][0]["id"], old);
        let told = world.cmem(&["review"]).ok();
        assert!(told.contains(&format!("would supersede {old} ({standing}): We use MySQL")), "{told}");
        let context = world.context_of("c", "startup");
        let memories = context.split("Memories").nth(1).unwrap();
        assert!(memories.contains("We use MySQL") && !memories.contains("PostgreSQL"), "{context}");
        let _ = world.cmem(&["review", "accept", &rows[0]["memory"]["id"].to_string()]).ok();
        assert_eq!(whole(&world, old)["superseded_by"], rows[0]["memory"]["id"]);
        assert!(!world.context_of("d", "startup").contains("We use MySQL"));
    }
}

#[test]
fn what_a_model_says_is_obsolete_is_replaced() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let (first, second) =
        (world.remember(&["The ledger is kept in MySQL"]), world.remember(&["Books close on Fridays"]));
    sql(&world, &format!("UPDATE observations SET pinned = 1 WHERE id = {second}"));
    let reply = |old: &[i64]| {
        let old: Vec<String> = old.iter().map(ToString::to_string).collect();
        model.mode(Mode::Text(format!(
            "<observation><type>change</type><title>New ledger {}</title><supersedes>{}</supersedes></observation>",
            old.len(),
            old.join(" ")
        )));
    };
    let asks = |session: &str| {
        world.send("UserPromptSubmit", json!({"session_id": session, "prompt": "the ledger in mysql, and when books close on fridays"})).answer();
        let note = payload::event("PostToolUse", &world.project(), json!({"session_id": session}));
        world.hook(&note).silent();
        world.drain();
    };
    // One that is pinned keeps both in use until somebody decides.
    reply(&[first, second]);
    asks("a");
    let rows = waiting(&world);
    assert_eq!(rows[0]["contests"].as_array().unwrap().len(), 2, "{rows:?}");
    assert_eq!(
        (&whole(&world, first)["status"], &whole(&world, second)["status"]),
        (&json!("active"), &json!("active"))
    );
    // Meanwhile one of them is replaced.
    reply(&[first]);
    asks("b");
    let between = whole(&world, first)["superseded_by"].clone();
    assert!(between.is_i64());
    let _ = world.cmem(&["review", "accept", "--all"]).ok();
    let new = &rows[0]["memory"]["id"];
    assert_eq!(&whole(&world, second)["superseded_by"], new);
    assert_eq!(
        &whole(&world, between.as_i64().unwrap())["superseded_by"],
        new,
        "what took its place meanwhile"
    );
    assert_eq!(whole(&world, first)["superseded_by"], between);
}

/// What the observer says of each of some turns, one after the other.
fn observes(world: &World, model: &ModelServer, titles: &[&str]) {
    for (turn, title) in titles.iter().enumerate() {
        model.mode(Mode::Text(format!(
            "<observation><type>decision</type><title>{title}</title></observation>"
        )));
        let session = format!("s-{turn}");
        let note = payload::event("PostToolUse", &world.project(), json!({"session_id": session}));
        world.hook(&note).silent();
        world.drain();
    }
}

#[test]
fn what_was_replaced_and_is_observed_again_takes_its_place_back() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let (mysql, postgres) = ("We use MySQL for payments", "Payments moved to PostgreSQL");
    observes(&world, &model, &[mysql, postgres]);
    let standing =
        |id: i64| (whole(&world, id)["status"].clone(), whole(&world, id)["superseded_by"].clone());
    assert_eq!(standing(1), (json!("superseded"), json!(2)));
    observes(&world, &model, &[mysql]);
    assert_eq!((standing(1), standing(2)), ((json!("active"), Value::Null), (json!("superseded"), json!(1))));
    assert!(world.context_of("c", "startup").contains(mysql));
    // What is pinned stays until the user says so; what the user put away stays away.
    let _ = world.cmem(&["pin", "1"]).ok();
    observes(&world, &model, &[postgres]);
    assert_eq!((standing(1), standing(2)), ((json!("active"), Value::Null), (json!("review"), Value::Null)));
    assert_eq!(waiting(&world)[0]["contests"][0]["id"], 1);
    let _ = world.cmem(&["review", "reject", "2"]).ok();
    observes(&world, &model, &[postgres]);
    assert_eq!(
        (standing(1), standing(2)),
        ((json!("active"), Value::Null), (json!("archived"), Value::Null))
    );
    world.assert_sound();
}

#[test]
fn two_facts_about_one_thing_stand_side_by_side() {
    let world = World::new();
    let facts = [
        "The auth module uses JWT",
        "The auth module uses bcrypt",
        "Auth tokens expire after 15 minutes",
        "Auth sessions expire after 24 hours",
        "We use PostgreSQL for payments",
        "We use Redis for payments",
        "We use MySQL for orders",
    ];
    for fact in facts {
        world.remember(&[fact]);
    }
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE status = 'active'"), 7);
}

#[test]
fn what_the_user_says_takes_the_place_of_what_was_said_and_says_so() {
    let world = World::new();
    let old = world.remember(&["The retry limit is 3"]);
    let ran = world.cmem(&["remember", "The retry limit is 5"]);
    assert!(ran.err.contains(&format!("it takes the place of {old}: The retry limit is 3")), "{}", ran.err);
    let new: i64 = ran.ok().trim().parse().unwrap();
    let answer = world.cmem(&["remember", "--json", "The retry limit is 7"]).json();
    assert_eq!(
        (&answer["status"], &answer["superseded"], &answer["contested"]),
        (&json!("active"), &json!([new]), &json!([]))
    );
    // Back again: what was put away is in use.
    assert_eq!(world.remember(&["The retry limit is 3"]), old);
    let memory = whole(&world, old);
    assert_eq!((&memory["status"], &memory["superseded_by"]), (&json!("active"), &Value::Null));
    assert_eq!(whole(&world, answer["id"].as_i64().unwrap())["superseded_by"], old);
    sql(&world, "UPDATE observations SET pinned = 1 WHERE status = 'active'");
    let ran = world.cmem(&["remember", "The retry limit is 9"]);
    assert!(ran.err.contains("it waits for review") && ran.err.contains("cmem review accept"), "{}", ran.err);
    // Said twice, it is meant.
    let _ = world.cmem(&["remember", "the retry limit is 9."]).ok();
    assert_eq!(whole(&world, old)["status"], "superseded");
}

#[test]
fn no_project_replaces_what_another_says() {
    let world = World::new();
    let (app, web) = (world.repository("app"), world.repository("web"));
    let linked = world.path("side");
    world.git(&app, &["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]);
    for (place, text) in [
        (&app, "We use MySQL for payments"),
        (&web, "Payments moved to PostgreSQL"),
        (&linked, "Payments moved from MySQL to SQLite"),
    ] {
        let _ = world.cmem_in(place, &["remember", text], &[]).ok();
    }
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations WHERE status = 'active'"), 3);
}

#[test]
fn near_copies_are_told_once_and_the_newest_of_them() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    for text in [
        "Deploys ran 120 tests on the staging cluster",
        "Project uses Forgejo for source control",
        "deploys ran 125 tests on the staging cluster!",
        "The project uses Forgejo for its source control",
        "note 12 about the staging cluster",
        "note 13 about the staging cluster",
    ] {
        world.note(text);
        world.drain();
    }
    let context = world.context_of("a", "startup");
    for (told, times) in [
        ("120 tests", 0),
        ("125 tests", 1),
        ("Project uses", 0),
        ("The project uses Forgejo", 1),
        ("note 12", 1),
        ("note 13", 1),
    ] {
        assert_eq!(usize::from(context.contains(told)), times, "{told}: {context}");
    }
    world.set("CMEM_CONTEXT_TOKENS", "0");
    let prompt = json!({"session_id": "b", "prompt": "which forge does the project use for source control?"});
    let answer = (0..20).find_map(|_| world.send("UserPromptSubmit", prompt.clone()).answer()).unwrap();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("The project uses Forgejo") && !told.contains(": Project uses"), "{told}");
    // Older copies of what the session has seen are no news.
    let again = world.send("UserPromptSubmit", prompt).answer();
    assert_eq!(again, None);
}
