//! What is told before a file is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{ModelServer, World, payload};

/// More than is read without a word, less than is held back.
const SOME: usize = 4_000;
const LARGE: usize = 40_000;

/// A file of the project that was written a while ago.
fn file(world: &World, name: &str, bytes: usize) -> PathBuf {
    let path = world.project().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "a line of code\n".repeat(bytes.div_ceil(15))).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3_600)).unwrap();
    path
}

/// A session that learns something as it edits files, or reads them; its events wait for the drainer.
fn learn(world: &World, session: &str, tool: &str, files: &[&Path], title: &str) {
    for (number, path) in files.iter().enumerate() {
        let said = if number == 0 { format!("@@{title}@@") } else { String::new() };
        let (input, response) = match tool {
            "Edit" => (
                json!({"file_path": path, "old_string": "a", "new_string": "b"}),
                json!({"filePath": path, "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1,
                       "newLines": 1, "lines": ["-a", format!("+b {said}")]}]}),
            ),
            _ => (json!({"file_path": path}), json!({"type": "text", "file": {"content": said}})),
        };
        let fields =
            json!({"session_id": session, "tool_name": tool, "tool_input": input, "tool_response": response});
        world.send("PostToolUse", fields).silent();
    }
}

fn ask(world: &World, session: &str, path: &Path, more: &Value) -> Option<Value> {
    let mut input = json!({"file_path": path});
    for (key, value) in more["input"].as_object().into_iter().flatten() {
        input[key] = value.clone();
    }
    let mut fields = json!({"session_id": session, "tool_name": "Read", "tool_input": input});
    for (key, value) in more["fields"].as_object().into_iter().flatten() {
        fields[key] = value.clone();
    }
    let answer = world.send("PreToolUse", fields).answer()?;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    Some(answer["hookSpecificOutput"].clone())
}

#[track_caller]
fn quiet(world: &World, session: &str, path: &Path) {
    assert_eq!(ask(world, session, path, &json!({})), None);
}

/// What is told beside a read that goes on. A busy machine may keep a look at the memory from being in time.
#[track_caller]
fn hint(world: &World, session: &str, path: &Path) -> String {
    let answer = (0..20).find_map(|_| ask(world, session, path, &json!({}))).unwrap();
    assert!(answer.get("permissionDecision").is_none(), "{answer}");
    answer["additionalContext"].as_str().unwrap().to_owned()
}

/// What is told in place of a read.
#[track_caller]
fn block(world: &World, session: &str, path: &Path) -> String {
    let answer = (0..20).find_map(|_| ask(world, session, path, &json!({}))).unwrap();
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");
    answer["permissionDecisionReason"].as_str().unwrap().to_owned()
}

/// A world that knows something of one file.
fn taught(model: &ModelServer, bytes: usize) -> (World, PathBuf) {
    let world = World::with_model(model);
    world.repository("project");
    let path = file(&world, "src/cache.rs", bytes);
    learn(&world, "past", "Edit", &[&path], "the cache is warmed before the deploy");
    world.drain();
    (world, path)
}

#[test]
fn memories_are_told_beside_a_small_read_once_in_a_session() {
    let model = ModelServer::start();
    let (world, path) = taught(&model, SOME);
    let text = hint(&world, "a", &path);
    assert!(text.starts_with("<cmem-context>\n") && text.ends_with("\n</cmem-context>"), "{text}");
    insta::assert_snapshot!(world.fixed(&text));
    quiet(&world, "a", &path);
    assert_eq!(hint(&world, "b", &path), text);
    let relative = Path::new("src/../src/cache.rs");
    assert_eq!(hint(&world, "c", relative), text);
    quiet(&world, "c", &path);
    let count = world.cmem(&["stats", "--gate", "--json"]).json();
    assert_eq!((&count["hints"], &count["blocks"]), (&json!(3), &json!(0)));
    assert!(count["saved"].as_i64().unwrap() < 0, "a hint saves nothing: {count}");
    world.drain();
    world.assert_all_done();
    assert_eq!(world.number("memory.db", "SELECT hit_count FROM observations"), 3);
}

#[test]
fn a_large_read_is_held_back_once_and_never_after_an_edit() {
    let model = ModelServer::start();
    let (world, path) = taught(&model, LARGE);
    let text = block(&world, "a", &path);
    insta::assert_snapshot!(world.fixed(&text));
    quiet(&world, "a", &path);

    // Who edited it knows it, and may need to read it before the next edit.
    learn(&world, "b", "Edit", &[&path], "more");
    quiet(&world, "b", &path);

    // Two registrations of the hook, or two calls at once: one of them is held back.
    let fields = json!({"session_id": "c", "tool_name": "Read", "tool_input": {"file_path": path}});
    let twice = payload::event("PreToolUse", &world.project(), fields);
    let answers = std::thread::scope(|scope| {
        let run = || scope.spawn(|| world.hook(&twice).answer().is_some());
        let threads = [run(), run(), run()];
        threads.map(|thread| thread.join().unwrap())
    });
    match answers.iter().filter(|held| **held).count() {
        // On a busy machine none of them may see the memory in time.
        0 => drop(block(&world, "c", &path)),
        1 => quiet(&world, "c", &path),
        _ => panic!("{answers:?}"),
    }
}

#[test]
fn what_came_of_it_is_counted() {
    let model = ModelServer::start();
    let (world, path) = taught(&model, LARGE);
    let other = file(&world, "src/other.rs", LARGE);
    learn(&world, "past", "Edit", &[&other], "another lesson");
    world.drain();
    assert!(world.cmem(&["stats", "--gate"]).ok().contains("no memories were told"));
    let read = |session: &str, path: &Path, more: Value, text: &str| {
        let mut input = json!({"file_path": path});
        for (key, value) in more.as_object().unwrap() {
            input[key] = value.clone();
        }
        let response = json!({"type": "text", "file": {"content": text}});
        let fields = json!({"session_id": session, "tool_name": "Read", "tool_input": input, "tool_response": response});
        world.send("PostToolUse", fields).silent();
    };
    block(&world, "a", &path);
    read("a", &path, json!({}), &"x".repeat(LARGE));
    block(&world, "a", &other);
    read("a", &other, json!({"offset": 5, "limit": 10}), &"x".repeat(400));
    let get = json!({"session_id": "a", "tool_name": "Bash", "tool_input": {"command": "cmem get 2"},
                     "tool_response": {"stdout": "y".repeat(800), "stderr": ""}});
    world.send("PostToolUse", get).silent();
    let get = json!({"session_id": "a", "tool_name": "mcp__plugin_cmem_cmem__get_observations",
                     "tool_input": {"ids": ["2"]}, "tool_response": [{"type": "text", "text": "y".repeat(400)}]});
    world.send("PostToolUse", get).silent();
    block(&world, "b", &path);
    // Whoever reads it with another program has read it.
    let cat = json!({"session_id": "a", "tool_name": "Bash", "tool_input": {"command": "cat src/other.rs"},
                     "tool_response": {"stdout": "x".repeat(800), "stderr": ""}});
    world.send("PostToolUse", cat).silent();
    for command in
        ["cmem outline src/cache.rs", "cd src && cmem unfold cache.rs 'warm' | head", "cmem outline other.rs"]
    {
        let outline = json!({"session_id": "b", "tool_name": "Bash", "tool_input": {"command": command},
                             "tool_response": {"stdout": "z".repeat(600), "stderr": ""}});
        world.send("PostToolUse", outline).silent();
    }
    let unfold = json!({"session_id": "b", "tool_name": "mcp__cmem__unfold",
                        "tool_input": {"path": "src/cache.rs", "symbol": "warm"},
                        "tool_response": [{"type": "text", "text": "z".repeat(400)}]});
    world.send("PostToolUse", unfold).silent();
    let count = world.cmem(&["stats", "--gate", "--json"]).json();
    let number = |key: &str| count[key].as_i64().unwrap();
    let numbers = ["blocks", "read_whole", "read_in_part", "not_read", "looked_up", "edited"].map(number);
    assert_eq!(numbers, [3, 1, 1, 1, 1, 0], "{count}");
    let size = i64::try_from(fs::metadata(&path).unwrap().len()).unwrap();
    assert_eq!(
        (number("spared"), number("parts"), number("got"), number("outlined"), number("outlines")),
        (2 * ((size + 3) / 4), 300, 300, 1, 400),
        "{count}"
    );
    assert!(number("told") > 300, "{count}");
    assert_eq!(number("saved"), number("spared") - number("told") - 1_000, "{count}");
    let text = world.cmem(&["stats", "--gate"]).ok();
    assert!(text.contains("3 reads held back, 0 hints") && text.contains(" saved"), "{text}");
    assert_eq!(world.files_with("cache.rs").iter().filter(|file| file.ends_with("gates.jsonl")).count(), 0);
}

#[test]
fn nothing_is_told_where_there_is_nothing_to_gain() {
    let model = ModelServer::start();
    let (mut world, path) = taught(&model, SOME);
    let small = file(&world, "small.rs", 1_400);
    let unknown = file(&world, "unknown.rs", LARGE);
    let binary = file(&world, "logo.png", LARGE);
    fs::write(&binary, vec![0_u8; LARGE]).unwrap();
    let later = file(&world, "later.rs", SOME);
    // The client refuses to read all of it, and says so in fewer words.
    let huge = file(&world, "huge.rs", 300 * 1024);
    let known = file(&world, "known.rs", SOME);
    learn(&world, "past", "Edit", &[&known], "a file like any other");
    let files = [&*small, &*binary, &*later, &*huge];
    learn(&world, "past", "Edit", &files, "several files");
    world.drain();
    fs::File::options().write(true).open(&later).unwrap().set_modified(SystemTime::now()).unwrap();
    for path in [&small, &unknown, &binary, &later, &huge, &world.project(), &world.project().join("no.rs")] {
        quiet(&world, "q", path);
    }
    // As it would be of them.
    assert!(hint(&world, "q", &known).contains("learned about known.rs"));
    for more in [
        json!({"input": {"offset": 1}}),
        json!({"input": {"limit": 2_000}}),
        json!({"fields": {"agent_id": "a1", "agent_type": "Explore"}}),
        json!({"fields": {"tool_name": "Bash"}}),
        json!({"fields": {"tool_input": "nonsense"}}),
        json!({"fields": {"cwd": null}}),
    ] {
        assert_eq!(ask(&world, "q", &path, &more), None, "{more}");
    }
    // Its own memories are in its history.
    quiet(&world, "past", &path);
    for (key, value) in [("CMEM_READ_GATE", "off"), ("CMEM_OFF", "1"), ("CMEM_EXCLUDED_PROJECTS", "project")]
    {
        world.set(key, value);
        quiet(&world, "q", &path);
        world.unset(key);
    }
    world.send("UserPromptSubmit", json!({"session_id": "q", "prompt": "<private>look</private>"})).silent();
    quiet(&world, "q", &path);
    world.send("UserPromptSubmit", json!({"session_id": "q", "prompt": "and now in public"})).silent();
    world.set("CMEM_READ_GATE", "block");
    block(&world, "q", &path);
    world.set("CMEM_READ_GATE", "hint");
    let large = file(&world, "large.rs", LARGE);
    learn(&world, "past", "Edit", &[&large], "a large file");
    world.drain();
    assert!(hint(&world, "q", &large).contains("a large file"));
}

#[test]
fn the_best_come_first_one_of_each_session_and_none_that_is_put_away() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.repository("project");
    let path = file(&world, "src/cache.rs", SOME);
    let others: Vec<PathBuf> = (0..5).map(|number| file(&world, &format!("o{number}.rs"), SOME)).collect();
    let many: Vec<&Path> = std::iter::once(&*path).chain(others.iter().map(|other| &**other)).collect();
    for (session, tool, files, title) in [
        ("s-many", "Edit", &many[..], "changed beside many others"),
        ("s-alone", "Edit", &many[..1], "changed alone"),
        ("s-read", "Read", &many[..1], "only read"),
        ("s-away", "Edit", &many[..1], "no longer so"),
        ("s-alone", "Read", &many[..1], "read once more"),
    ] {
        learn(&world, session, tool, files, title);
        world.drain();
    }
    for number in 0..14 {
        learn(&world, &format!("r-{number}"), "Read", &many[1..], &format!("unrelated {number}"));
    }
    let away = world.number("memory.db", "SELECT id FROM observations WHERE title = 'no longer so'");
    let instead = world.remember(&["this holds instead"]);
    let _ = world.cmem(&["supersede", &away.to_string(), &instead.to_string()]).ok();
    let text = hint(&world, "now", &path);
    let at = |title: &str| text.find(title).unwrap_or_else(|| panic!("{title}: {text}"));
    assert!(
        at("changed alone") < at("changed beside many") && at("changed beside many") < at("only read"),
        "{text}"
    );
    for title in ["no longer so", "read once more", "unrelated"] {
        assert!(!text.contains(title), "{title}: {text}");
    }
    // At most fifteen.
    for number in 0..16 {
        learn(&world, &format!("t-{number}"), "Edit", &many[..1], &format!("lesson {number} of the cache"));
    }
    world.drain();
    assert_eq!(hint(&world, "later", &path).matches("\n#").count(), 15);
}

#[test]
fn a_merged_worktree_and_every_spelling_count() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let app = world.repository("project");
    let path = file(&world, "src/cache.rs", SOME);
    world.git(&app, &["add", "."]);
    world.git(&app, &["commit", "-q", "-m", "cache"]);
    let side = world.path("side");
    world.git(&app, &["worktree", "add", "-q", side.to_str().unwrap(), "-b", "feat"]);
    let there = side.join("src/cache.rs");
    let learned = json!({
        "session_id": "past", "tool_name": "Edit",
        "tool_input": {"file_path": there, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": there, "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1,
                          "newLines": 1, "lines": ["+@@learned aside@@"]}]},
    });
    world.hook(&payload::event("PostToolUse", &side, learned)).silent();
    world.drain();
    quiet(&world, "a", &path);
    let _ = world.cmem_in(&app, &["adopt", "--branch", "feat"], b"").ok();
    assert!(hint(&world, "a", &path).contains("learned aside"));

    // As others have recorded it.
    let spelled = |spelling: &str| {
        let file = Connection::open(world.data().join("memory.db")).unwrap();
        let files = json!([spelling]).to_string();
        file.execute("UPDATE observations SET files_modified = ?1, files_read = '[]'", [files]).unwrap();
    };
    spelled(path.to_str().unwrap());
    assert!(hint(&world, "b", &path).contains("learned aside"));
    spelled("src/cache.rs.old");
    quiet(&world, "c", &path);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM files"), 1);
}

#[test]
fn a_read_goes_on_whatever_the_state_of_the_memory() {
    let model = ModelServer::start();
    let (world, path) = taught(&model, LARGE);
    let database = world.data().join("memory.db");
    {
        let held = Connection::open(&database).unwrap();
        held.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
        quiet(&world, "a", &path);
    }
    // What cannot be remembered as held back is not held back.
    let sessions = world.data().join("sessions");
    fs::rename(&sessions, world.data().join("aside")).unwrap();
    fs::write(&sessions, "in the way").unwrap();
    quiet(&world, "a", &path);
    fs::remove_file(&sessions).unwrap();
    fs::rename(world.data().join("aside"), &sessions).unwrap();
    block(&world, "a", &path);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(world.data().join(format!("memory.db{end}")));
    }
    for damaged in [&b"no database at all, whatever its name says"[..], b""] {
        fs::write(&database, damaged).unwrap();
        quiet(&world, "b", &path);
    }
    fs::remove_file(&database).unwrap();
    quiet(&world, "b", &path);
}

#[test]
fn what_is_forgotten_is_told_of_no_file() {
    let model = ModelServer::start();
    let (world, path) = taught(&model, SOME);
    assert_eq!(world.search_in(&world.project(), "cache").len(), 1);
    let by_file = |part: &str| {
        let found = world.cmem(&["search", "*", "--file", part, "--json"]).json();
        found["results"].as_array().unwrap().len()
    };
    assert_eq!([by_file("cache.rs"), by_file("src/"), by_file("cache_rs")], [1, 1, 0]);
    let _ = world.cmem(&["forget", "1", "--yes"]).ok();
    quiet(&world, "a", &path);
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM files"), 0);
    world.assert_sound_memory();
}
