//! `cmem import --from claude-mem`: databases of three generations of its schema, and what is odd in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::World;

const SCHEMAS: [(&str, &str); 3] = [
    ("4", include_str!("fixtures/claude-mem/schema-4.sql")),
    ("16", include_str!("fixtures/claude-mem/schema-16.sql")),
    ("49", include_str!("fixtures/claude-mem/schema-49.sql")),
];

/// A database of the world's claude-mem, in its usual mode; returns the connection that made it.
fn database(world: &World, schema: &str, more: &str) -> Connection {
    let folder = world.path("home/.claude-mem");
    fs::create_dir_all(&folder).unwrap();
    let conn = Connection::open(folder.join("claude-mem.db")).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    let (_, sql) = SCHEMAS.iter().find(|(name, _)| *name == schema).unwrap();
    conn.execute_batch(sql).unwrap();
    conn.execute_batch(more).unwrap();
    conn
}

fn import(world: &World, more: &[&str]) -> Value {
    world.cmem(&[&["import", "--from", "claude-mem", "--json"], more].concat()).json()
}

fn found(world: &World, project: &str) -> Vec<Value> {
    let args = ["search", "*", "--json", "--limit", "100", "--project", project];
    world.cmem(&args).json()["results"].as_array().unwrap().clone()
}

fn whole(world: &World, title: &str) -> Value {
    let rows = world.cmem(&["search", "--json", "--all-projects", title]).json();
    let row = rows["results"].as_array().unwrap().iter().find(|row| row["title"] == title);
    let id = row.unwrap_or_else(|| panic!("{title} is not in {rows}"))["id"].to_string();
    world.cmem(&["get", "--json", id.trim_matches('"')]).json()[0].take()
}

fn new_of(report: &Value) -> [u64; 4] {
    ["observations", "summaries", "prompts", "sessions"].map(|kind| report[kind]["new"].as_u64().unwrap())
}

/// Every file of a folder with its bytes.
fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn each_generation_of_its_schema_is_taken_over_once() {
    for (schema, counts) in [("4", [2, 1, 1, 1]), ("16", [2, 2, 2, 1]), ("49", [2, 2, 3, 3])] {
        let world = World::new();
        drop(database(&world, schema, ""));
        let report = import(&world, &[]);
        assert_eq!(report["schema"].to_string(), schema);
        assert_eq!(new_of(&report), counts, "{report:#}");
        assert_eq!(report["problems"]["count"], 0, "{report:#}");
        let before = bytes(&world.data());
        let again = import(&world, &[]);
        assert_eq!(new_of(&again), [0; 4], "{again:#}");
        assert_eq!(again["observations"]["known"], counts[0]);
        let pages = |files: &BTreeMap<PathBuf, Vec<u8>>| files.get(&world.data().join("memory.db")).cloned();
        assert!(pages(&before) == pages(&bytes(&world.data())), "a second run changes nothing");
        world.assert_sound_memory();
    }
}

#[test]
fn what_a_row_says_is_what_is_remembered() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let _ = import(&world, &[]);
    let memory = whole(&world, "Vouchers are rows of their own");
    for (key, value) in [
        ("type", json!("feature")),
        ("subtitle", json!("A table, not a column")),
        ("narrative", json!("A voucher may be used in parts.")),
        ("facts", json!(["vouchers has code, amount and expiry"])),
        ("concepts", json!(["why-it-exists"])),
        ("files_read", json!(["app/cart.rb"])),
        ("files_modified", json!(["app/voucher.rb"])),
        ("project", json!("shop")),
        ("source", json!("import")),
        ("session", json!("client-1")),
        ("prompt_number", json!(1)),
        ("agent", json!("Explore")),
        ("model", json!("claude-haiku-4-5-20251001")),
        ("tokens_spent", json!(4200)),
        ("created_at", json!("2026-08-02T09:30:00.000Z")),
    ] {
        assert_eq!(memory[key], value, "{key}: {memory:#}");
    }
    let prompts = world.cmem(&["search", "*", "--kind", "prompt", "--project", "blog", "--json"]).json();
    assert_eq!(prompts["results"][0]["title"], "Hello");
}

#[test]
fn an_observation_of_one_text_gets_a_title_and_its_time() {
    let world = World::new();
    drop(database(&world, "4", ""));
    let _ = import(&world, &[]);
    let memory = whole(&world, "The cart is kept in a cookie");
    assert_eq!(memory["narrative"], "The cart is kept in a cookie. Above 4 kB the browser drops it.");
    let dated = whole(&world, "Carts move to the server, keyed by session");
    assert_eq!(dated["created_at"], "2025-10-20T10:06:00.000Z", "from the text, where there is no number");
}

#[test]
fn a_worktree_that_was_adopted_there_is_adopted_here() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let _ = import(&world, &[]);
    let title = "Voucher amounts are rounded half to even";
    let memory = whole(&world, title);
    assert_eq!((&memory["project"], &memory["merged_into"]), (&json!("shop/vouchers"), &json!("shop")));
    let of_parent = found(&world, "shop");
    assert_eq!(of_parent.len(), 6, "{of_parent:#?}");
    assert!(of_parent.iter().any(|row| row["title"] == title));
}

#[test]
fn nothing_is_written_where_it_comes_from() {
    let world = World::new();
    let folder = world.path("home/.claude-mem");
    // Its worker is at work: rows are in the log alone.
    let conn = database(&world, "49", "");
    assert!(fs::metadata(folder.join("claude-mem.db-wal")).unwrap().len() > 0);
    let before = bytes(&folder);
    let report = import(&world, &[]);
    assert_eq!(new_of(&report), [2, 2, 3, 3]);
    assert!(before == bytes(&folder), "a byte was written beside {folder:?}");
    assert_eq!(fs::read_dir(world.path("tmp")).unwrap().count(), 0, "the copy is gone");
    drop(conn);
    let before = bytes(&folder);
    assert_eq!(before.len(), 1, "its worker has left");
    let _ = import(&world, &[]);
    assert!(before == bytes(&folder), "a byte was written beside {folder:?}");
}

#[test]
fn odd_rows_are_taken_as_far_as_they_go_and_bad_ones_are_told() {
    let world = World::new();
    let more = r#"
      INSERT INTO observations (memory_session_id, project, type, title, narrative, facts, concepts, created_at,
        created_at_epoch, content_hash) VALUES
        ('observer-1', 'shop', 'own-kind', CAST(x'6e756c00207469746c65' AS TEXT), 'half \ud83d',
         '["a", 3, null, {"fact": "in an object"}, "half \ud83d"]', 'not json', '2026-08-02T11:00:00.000Z', 1785668400, 'o1'),
        ('observer-1', 'shop', '', 12, 34.5, x'5b2262225d', '[]', '2026-08-02T11:00:01.000Z', '1785668401000', 'o2'),
        ('observer-1', 'shop', 'bugfix', 'Key rotated', 'It was sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789AAAA <private>hush</private> and so on',
         NULL, NULL, '2026-08-02T11:00:02.000Z', 1785668402000, 'o3'),
        ('observer-1', 'shop', 'bugfix', NULL, '<private>all of it</private>', NULL, NULL, '2026-08-02T11:00:03.000Z', 1785668403000, 'o4'),
        ('observer-1', 'shop', 'bugfix', 'Key rotated', 'It was  sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789AAAA  and so on.',
         NULL, NULL, '2026-08-02T11:00:04.000Z', 1785668404000, 'o5'),
        ('observer-1', 'shop', 'bugfix', NULL, NULL, NULL, NULL, '', NULL, 'o6');
      INSERT INTO user_prompts (session_db_id, content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)
      VALUES (1, 'client-1', 2, '<private>mine</private>', '2026-08-02T11:00:00.000Z', 1785668400000);
      PRAGMA foreign_keys = OFF;
      INSERT INTO observations (memory_session_id, project, type, title, created_at, created_at_epoch)
        VALUES ('nobody', 'shop', 'change', 'An orphan', '2026-08-02 11:00:05', 0);
    "#;
    let more = more.replace(", NULL, 'o6')", ", 0, 'o6')");
    drop(database(&world, "49", &more));
    let report = import(&world, &[]);
    assert_eq!(
        report["observations"],
        json!({"read": 9, "new": 6, "known": 0, "same": 1, "older": 0, "failed": 2}),
        "{report:#}"
    );
    assert_eq!(report["prompts"]["failed"], 1);
    let problems: Vec<String> = report["problems"]["first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| format!("{} {}", problem["at"].as_str().unwrap(), problem["number"]))
        .collect();
    assert_eq!(problems, ["user_prompts 4", "observations 6", "observations 8"]);

    let odd = whole(&world, "nul title");
    assert_eq!((&odd["type"], &odd["concepts"]), (&json!("own-kind"), &json!(["not json"])));
    assert_eq!(odd["facts"], json!(["a", "3", "in an object", "half \u{fffd}"]));
    assert_eq!(odd["created_at"], "2026-08-02T11:00:00.000Z", "seconds are seconds");
    let typed = whole(&world, "12");
    assert_eq!(
        (&typed["type"], &typed["narrative"], &typed["facts"]),
        (&json!("note"), &json!("34.5"), &json!(["b"]))
    );
    let orphan = whole(&world, "An orphan");
    assert_eq!(
        (&orphan["session"], &orphan["created_at"]),
        (&json!("nobody"), &json!("2026-08-02T11:00:05.000Z"))
    );
    for secret in ["sk-ant-api03", "hush", "all of it", "<private>"] {
        assert_eq!(world.files_with(secret), Vec::<PathBuf>::new(), "{secret}");
    }
    assert_eq!(new_of(&import(&world, &[])), [0; 4]);
}

#[test]
fn a_project_is_known_by_its_directory_by_its_name_or_is_made() {
    let world = World::new();
    let shop = world.repository("work/shop");
    let cwd = shop.join("src");
    fs::create_dir_all(&cwd).unwrap();
    let more = format!(
        "INSERT INTO pending_messages (session_db_id, content_session_id, message_type, cwd, created_at_epoch)
         VALUES (1, 'client-1', 'observation', '{}', 1)",
        cwd.display()
    );
    drop(database(&world, "49", &more));
    // Another shop, which has the name already; and a project of the third's name.
    let other = world.repository("else/shop");
    let _ = world.cmem_in(&other, &["remember", "the other shop"], b"").ok();
    let blog = world.repository("blog");
    let _ = world.cmem_in(&blog, &["remember", "the blog"], b"").ok();
    let report = import(&world, &[]);
    let projects: Vec<(&str, &str, &str)> = report["projects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap();
            (text("name"), text("project"), text("by"))
        })
        .collect();
    assert_eq!(
        projects,
        [
            ("blog", "blog", "name"),
            ("shop", "shop (work)", "directory"),
            ("shop/vouchers", "shop/vouchers", "new"),
        ]
    );
    assert!(world.search_in(&shop, "vouchers").contains(&String::from("Vouchers are rows of their own")));
    assert!(world.search_in(&blog, "*").contains(&String::from("Hello")));
}

#[test]
fn a_transcript_of_its_session_tells_the_directory() {
    let world = World::new();
    let shop = world.repository("work/shop");
    let folder = world.path("home/.claude/projects/-any");
    fs::create_dir_all(&folder).unwrap();
    let line = json!({"type": "user", "cwd": shop, "sessionId": "client-1"});
    fs::write(folder.join("client-1.jsonl"), format!("{line}\n")).unwrap();
    drop(database(&world, "16", ""));
    let report = import(&world, &[]);
    assert_eq!(report["projects"][0]["by"], "directory", "{report:#}");
}

#[test]
fn the_first_repository_of_a_name_has_what_is_known_by_it() {
    let world = World::new();
    drop(database(&world, "16", ""));
    let _ = import(&world, &[]);
    assert!(world.cmem(&["project", "list"]).ok().contains("(known by name)"));
    let shop = world.repository("work/shop");
    let title = String::from("Index on carts(session)");
    assert!(world.search_in(&shop, "index").contains(&title), "before anything is remembered there");
    let _ = world.cmem_in(&shop, &["remember", "carts are indexed"], b"").ok();
    assert!(world.search_in(&shop, "index").contains(&title));
    assert!(!world.cmem(&["project", "list"]).ok().contains("(known by name)"));
    let other = world.repository("else/shop");
    let _ = world.cmem_in(&other, &["remember", "no index here"], b"").ok();
    assert!(!world.search_in(&other, "index").contains(&title));
}

#[test]
fn settings_are_told_and_taken_over_where_that_is_asked_for() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let folder = world.path("home/.claude-mem");
    let theirs = json!({"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "30", "CLAUDE_MEM_GEMINI_API_KEY": "AIza-secret",
        "CLAUDE_MEM_WORKER_PORT": "37777", "CLAUDE_MEM_SKIP_TOOLS": "Bash"});
    fs::write(folder.join("settings.json"), theirs.to_string()).unwrap();
    fs::create_dir_all(world.data()).unwrap();
    fs::write(world.data().join("settings.json"), r#"{"CMEM_SKIP_TOOLS":"Read"}"#).unwrap();
    let states = |report: &Value| {
        let rows = report["settings"].as_array().unwrap();
        let row =
            |row: &Value| format!("{} {}", row["key"].as_str().unwrap(), row["state"].as_str().unwrap());
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let report = import(&world, &[]);
    assert_eq!(
        states(&report),
        ["CMEM_CONTEXT_OBSERVATIONS offered", "CMEM_GEMINI_API_KEY offered", "CMEM_SKIP_TOOLS kept"]
    );
    assert!(!report.to_string().contains("AIza-secret"));
    let ours = || fs::read_to_string(world.data().join("settings.json")).unwrap();
    assert_eq!(ours(), r#"{"CMEM_SKIP_TOOLS":"Read"}"#);
    let report = import(&world, &["--settings"]);
    assert_eq!(
        states(&report),
        ["CMEM_CONTEXT_OBSERVATIONS taken", "CMEM_GEMINI_API_KEY taken", "CMEM_SKIP_TOOLS kept"]
    );
    assert_eq!(
        serde_json::from_str::<Value>(&ours()).unwrap(),
        json!({"CMEM_SKIP_TOOLS": "Read", "CMEM_CONTEXT_OBSERVATIONS": "30", "CMEM_GEMINI_API_KEY": "AIza-secret"})
    );
}

#[test]
fn own_modes_are_copied_and_nothing_here_is_written_over() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let theirs = world.path("home/.claude-mem/modes");
    fs::create_dir_all(&theirs).unwrap();
    let mode = include_str!("fixtures/modes/field-notes.json");
    for (name, text) in [("field-notes", mode), ("mine", mode), ("broken", "{")] {
        fs::write(theirs.join(format!("{name}.json")), text).unwrap();
    }
    let ours = world.data().join("modes");
    fs::create_dir_all(&ours).unwrap();
    fs::write(ours.join("mine.json"), "{}").unwrap();
    let states = |report: &Value| {
        let rows = report["modes"].as_array().unwrap();
        let row = |row: &Value| format!("{} {}", row["id"].as_str().unwrap(), row["state"].as_str().unwrap());
        rows.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(states(&import(&world, &[])), ["broken failed", "field-notes new", "mine kept"]);
    assert_eq!(fs::read_to_string(ours.join("field-notes.json")).unwrap(), mode);
    assert_eq!(fs::read_to_string(ours.join("mine.json")).unwrap(), "{}");
    assert_eq!(states(&import(&world, &[])), ["broken failed", "field-notes known", "mine kept"]);
    let _ = world.cmem(&["mode", "show", "field-notes"]).ok();
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let dry = import(&world, &["--dry-run"]);
    assert!(!world.data().exists());
    let wet = import(&world, &[]);
    assert_eq!(new_of(&dry), new_of(&wet));
    assert_eq!(dry["projects"], wet["projects"]);
    let before = bytes(&world.data());
    let again = import(&world, &["--dry-run"]);
    assert_eq!((new_of(&again), &again["dry_run"]), ([0; 4], &json!(true)));
    assert!(before == bytes(&world.data()));
    assert_eq!(fs::read_dir(world.path("tmp")).unwrap().count(), 0);
}

#[test]
fn since_leaves_out_what_is_older() {
    let world = World::new();
    drop(database(&world, "49", ""));
    let report = import(&world, &["--since", "2026-08-03"]);
    assert_eq!(new_of(&report), [1, 1, 2, 2], "{report:#}");
    assert_eq!(report["observations"]["older"], 1);
    assert_eq!(new_of(&import(&world, &[])), [1, 1, 1, 1]);
}

#[test]
fn people_read_what_became_of_it() {
    let world = World::new();
    drop(database(&world, "49", ""));
    insta::assert_snapshot!(world.cmem(&["import", "--from", "claude-mem"]).ok());
}

#[test]
fn what_is_no_such_database_is_refused_with_a_remedy() {
    let world = World::new();
    let refused =
        |path: &Path| world.cmem(&["import", "--from", "claude-mem", path.to_str().unwrap()]).failed(1);
    let nowhere = world.path("nowhere.db");
    assert!(refused(&nowhere).contains("is not there"));
    assert!(world.cmem(&["import", "--from", "claude-mem"]).failed(1).contains(".claude-mem/claude-mem.db"));
    let text = world.path("text.db");
    fs::write(
        &text,
        "this is a text, and no database at all; it is long enough to be read as a header".repeat(9),
    )
    .unwrap();
    assert!(refused(&text).contains("cannot be read as a database"));
    let other = world.path("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(refused(&other).contains("not a database of claude-mem"));
    assert!(!world.data().exists(), "nothing is made for what cannot be read");
    assert!(world.cmem(&["import", "--settings"]).failed(2).contains("--from"));
}
