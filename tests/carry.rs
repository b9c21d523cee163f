//! `export` and `import`: memory goes along whole, comes in once, and nothing of either side is lost.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::World;

fn sql(world: &World, statements: &str) {
    Connection::open(world.data().join("memory.db")).unwrap().execute_batch(statements).unwrap();
}

fn whole(world: &World, id: i64) -> Value {
    world.cmem(&["get", "--json", &id.to_string()]).json()[0].clone()
}

fn export(world: &World) -> String {
    world.cmem(&["export", "--all-projects"]).ok()
}

fn import(world: &World, text: &str) -> Value {
    world.cmem_in(&world.project(), &["import", "--json"], text.as_bytes()).json()
}

fn count(world: &World, table: &str) -> i64 {
    world.number("memory.db", &format!("SELECT count(*) FROM {table}"))
}

fn sound(world: &World) {
    let memory = Connection::open(world.data().join("memory.db")).unwrap();
    for check in ["PRAGMA integrity_check", "PRAGMA foreign_key_check"] {
        let mut statement = memory.prepare(check).unwrap();
        let found: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(found.is_empty() || found == ["ok"], "{check}: {found:?}");
    }
}

/// A memory with a record of every kind and in every state, in three projects.
fn rich() -> World {
    let world = World::new();
    let app = world.repository("app");
    world.git(&app, &["remote", "add", "origin", "https://host.example/team/app.git"]);
    let linked = world.path("side");
    world.git(&app, &["worktree", "add", "--quiet", "-b", "side", linked.to_str().unwrap()]);
    for text in ["uses mysql", "uses postgres", "is pinned", "is archived", "was hit", "waits"] {
        let _ = world.cmem_in(&app, &["remember", text], &[]).ok();
    }
    let _ = world.cmem_in(&linked, &["remember", "--expires", "30d", "from the worktree"], &[]).ok();
    world.remember(&["--priority", "high", "--file", "a.rs", "odd: \u{1} \u{feff} \"登录\"\n\n---\nend"]);
    sql(
        &world,
        "UPDATE observations SET status = 'superseded', superseded_by = 2 WHERE id = 1;
         UPDATE observations SET pinned = 1 WHERE id = 3;
         UPDATE observations SET status = 'archived' WHERE id = 4;
         UPDATE observations SET hit_count = 7, last_hit_at = 1700000000123, agent = 'a', prompt_number = 3,
           tokens_spent = 12 WHERE id = 5;
         UPDATE observations SET status = 'review' WHERE id = 6;
         INSERT INTO contested VALUES (6, 3), (6, 5);
         INSERT INTO sources VALUES (2, 1), (2, 4);
         INSERT INTO revisions (observation, draft, until) VALUES
           (5, '{\"type\":\"note\",\"title\":\"was\",\"subtitle\":\"\",\"narrative\":\"old\",\"facts\":[\"f\"],
             \"concepts\":[],\"keywords\":[],\"files_read\":[],\"files_modified\":[]}', 1600000000000);
         UPDATE branches SET adopted_into = 1, matched_by = 'ancestor', reason = 'merged', adopted_at = 5;
         UPDATE observations SET merged_into = 1 WHERE branch IS NOT NULL;
         INSERT INTO aliases VALUES ('/old/app/.git', (SELECT key FROM projects WHERE id = 1));
         INSERT INTO sessions VALUES (1, 's', 1, 'main', 'a', 'b', 5, 6, 'codex');
         INSERT INTO summaries VALUES (1, 'sum-1', 1, NULL, NULL, 's', 1, 'req', '', 'learned\nmuch', '', '', '', 'm', 5);
         INSERT INTO prompts VALUES (1, 'pro-1', 1, NULL, NULL, 's', 1, 'do it, please', 5);",
    );
    world
}

/// Every file of a folder by path, without what is not for git.
fn files(dir: &Path) -> BTreeMap<PathBuf, String> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with('.') {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), text);
            }
        }
    }
    found
}

fn page_with(dir: &Path, text: &str) -> PathBuf {
    let found = files(dir).into_iter().find(|(_, page)| page.contains(text));
    dir.join(found.unwrap_or_else(|| panic!("no page says {text}")).0)
}

fn to_folder(world: &World, dir: &Path) -> Value {
    let args = ["export", "--json", "--all-projects", "--format", "markdown", dir.to_str().unwrap()];
    world.cmem(&args).json()
}

fn from_folder(world: &World, dir: &Path) -> Value {
    world.cmem(&["import", "--json", dir.to_str().unwrap()]).json()
}

#[test]
fn what_goes_out_comes_back_byte_for_byte() {
    let (from, to) = (rich(), World::new());
    let out = export(&from);
    assert_eq!(out, export(&from));
    let report = import(&to, &out);
    assert_eq!(report["observations"], json!({"new": 8, "changed": 0, "unchanged": 0}));
    assert_eq!(
        (&report["unresolved"], &report["failed"], &report["projects"]),
        (&json!(0), &json!(0), &json!(2))
    );
    assert_eq!(export(&to), out);
    let again = import(&to, &out);
    assert_eq!(again["observations"], json!({"new": 0, "changed": 0, "unchanged": 8}));
    assert_eq!((&again["summaries"]["unchanged"], &again["prompts"]["unchanged"]), (&json!(1), &json!(1)));
    assert_eq!(export(&to), out);
    for (query, sees) in [("postgres", 1), ("登录", 1), ("please", 1), ("learned", 1), ("worktree", 1)] {
        let found = to.cmem(&["search", "--json", "--all-projects", query]).json();
        assert!(found["total"].as_i64() >= Some(sees), "{query}: {found}");
    }
    assert_eq!(count(&to, "vectors"), 8);
    sound(&to);
}

#[test]
fn where_the_repository_is_stood_in_it_comes_back_byte_for_byte_too() {
    let from = rich();
    let (out, app) = (export(&from), from.path("app"));
    fs::remove_dir_all(from.data()).unwrap();
    let _ = from.cmem_in(&app, &["import"], out.as_bytes()).ok();
    assert_eq!(export(&from), out);
}

#[test]
fn of_two_that_replaced_each_other_in_two_memories_one_stays_in_use() {
    let (ours, theirs) = (World::new(), World::new());
    for text in ["deploys run on tuesdays", "deploys run by hand"] {
        ours.remember(&[text]);
    }
    import(&theirs, &export(&ours));
    let _ = ours.cmem(&["supersede", "1", "2"]).ok();
    let _ = theirs.cmem(&["supersede", "2", "1"]).ok();
    let out = export(&theirs);
    import(&ours, &out);
    assert_eq!(
        (whole(&ours, 1)["superseded_by"].clone(), whole(&ours, 2)["status"].clone()),
        (json!(2), json!("active"))
    );
    assert_eq!(import(&ours, &out)["observations"]["changed"], 0);
    // The same by a folder, where git merged both.
    let (here, dir) = (World::new(), ours.path("team"));
    to_folder(&theirs, &dir);
    let page = page_with(&dir, "title: deploys run on tuesdays");
    let text = fs::read_to_string(&page).unwrap();
    let by = whole(&ours, 2)["uid"].as_str().unwrap().to_owned();
    let text = text.replace("source: ", &format!("status: superseded\nsuperseded_by: {by}\nsource: "));
    fs::write(&page, text).unwrap();
    from_folder(&here, &dir);
    let in_use = "SELECT count(*) FROM observations WHERE status = 'active'";
    assert_eq!((here.number("memory.db", in_use), count(&here, "observations")), (1, 2));
}

#[test]
fn a_cut_export_is_completed_by_the_whole_one() {
    let (from, to) = (rich(), World::new());
    let out = export(&from);
    let cut = &out[..out.len() * 2 / 3];
    let ran = to.cmem_in(&to.project(), &["import"], cut.as_bytes());
    assert!(
        ran.err.contains("was the file cut off?") && ran.err.contains("1 record was not taken in"),
        "{}",
        ran.err
    );
    let _ = ran.failed(1);
    assert!(count(&to, "observations") > 0);
    assert_eq!(import(&to, &out)["failed"], 0);
    assert_eq!(export(&to), out);
}

#[test]
fn a_bad_line_is_named_and_stops_nothing() {
    let (from, to) = (rich(), World::new());
    let mut lines: Vec<String> = export(&from).lines().map(str::to_owned).collect();
    let good = lines.len();
    lines.insert(2, String::from("not json"));
    lines.insert(4, json!({"record": "dream"}).to_string());
    lines.push(json!({"record": "observation", "uid": "x", "project": "app", "type": "note"}).to_string());
    lines.push(json!({"record": "observation", "uid": "a/../b", "project": "new", "type": "note", "title": "t", "created_at": "2026-01-01"}).to_string());
    lines.push(json!({"record": "observation", "uid": "y", "project": "app", "type": "note", "title": "t", "status": "lost", "created_at": "2026-01-01"}).to_string());
    lines.push(String::new());
    let text = lines.join("\n");
    let told = to.cmem_in(&to.project(), &["import"], text.as_bytes()).failed(1);
    for at in [
        "line 3: the line is no JSON",
        "line 5: unknown variant `dream`",
        &format!("line {}: missing field `created_at`", good + 3),
        "uid",
        "`lost`",
    ] {
        assert!(told.contains(at), "{at}: {told}");
    }
    assert!(told.contains("5 records were not taken in"), "{told}");
    assert_eq!(export(&to), export(&from));
}

#[test]
fn what_is_no_export_or_a_newer_one_is_refused() {
    let world = World::new();
    for (text, told) in [
        ("", "no export of cmem"),
        ("{\"record\":\"prompt\"}\n", "no export of cmem"),
        ("{\"format\":\"other\",\"version\":1}\n", "no export of cmem"),
        ("{\"format\":\"cmem\",\"version\":2}\n", "newer cmem (format 2"),
    ] {
        let why = world.cmem_in(&world.project(), &["import"], text.as_bytes()).failed(1);
        assert!(why.contains(told), "{text}: {why}");
    }
    assert!(world.cmem(&["import", "nowhere.jsonl"]).failed(1).contains("nowhere.jsonl"));
    fs::write(world.project().join("README.md"), "# hello\n").unwrap();
    assert!(world.cmem(&["import", "."]).failed(1).contains("no file in it is a page"));
}

#[test]
fn a_dry_run_tells_and_changes_nothing() {
    let (from, to) = (rich(), World::new());
    let out = export(&from);
    let tried = to.cmem_in(&to.project(), &["import", "--dry-run", "--json"], out.as_bytes()).json();
    assert_eq!((&tried["dry_run"], &tried["observations"]["new"]), (&json!(true), &json!(8)));
    assert!(!to.data().join("memory.db").exists());
    to.remember(&["mine"]);
    let before = export(&to);
    let tried = to.cmem_in(&to.project(), &["import", "--dry-run", "--json"], out.as_bytes()).json();
    assert_eq!(tried["observations"]["new"], 8);
    assert_eq!(export(&to), before);
}

#[test]
fn a_project_is_known_by_its_remote_on_another_machine() {
    let (from, to) = (rich(), World::new());
    let clone = to.repository("checkout");
    to.git(&clone, &["remote", "add", "origin", "git@host.example:team/app"]);
    let file = to.path("memory.jsonl");
    fs::write(&file, export(&from)).unwrap();
    // Nothing was remembered there yet: it counts that the user stands there.
    let _ = to.cmem_in(&clone, &["import", file.to_str().unwrap()], &[]).ok();
    let seen = to.search_in(&clone, "*");
    assert!(
        seen.contains(&String::from("uses postgres")) && seen.contains(&String::from("from the worktree")),
        "{seen:?}"
    );
    assert_eq!(import(&to, &export(&from))["observations"], json!({"new": 0, "changed": 0, "unchanged": 8}));
    let mains = "SELECT count(*) FROM projects WHERE worktree = '' AND remote IS NOT NULL";
    assert_eq!(to.number("memory.db", mains), 1);
}

#[test]
fn two_clones_of_one_remote_stay_two_projects_on_their_way_back() {
    let (from, to) = (World::new(), World::new());
    for name in ["one", "two"] {
        let path = from.repository(name);
        from.git(&path, &["remote", "add", "origin", "https://host.example/x/y"]);
        let _ = from.cmem_in(&path, &["remember", "the same text"], &[]).ok();
    }
    let out = export(&from);
    let _ = import(&to, &out);
    assert_eq!(export(&to), out);
}

#[test]
fn the_newer_edit_holds_and_the_other_one_is_kept() {
    let (a, b) = (World::new(), World::new());
    a.remember(&["first"]);
    a.remember(&["second"]);
    a.remember(&["third"]);
    let _ = import(&b, &export(&a));
    let edit = |world: &World, id: i64, text: &str, at: i64| {
        sql(
            world,
            &format!(
                "UPDATE observations SET narrative = '{text}', content_key = x'{id:02}{at:02}',
                   updated_at = created_at + {at} WHERE id = {id}"
            ),
        );
    };
    edit(&a, 1, "newer there", 90);
    edit(&b, 1, "older here", 80);
    edit(&a, 2, "older there", 70);
    edit(&b, 2, "newer here", 75);
    edit(&a, 3, "newer there, unpinned", 90);
    edit(&b, 3, "older here, pinned", 80);
    sql(&b, "UPDATE observations SET pinned = 1 WHERE id = 3");
    let report = import(&b, &export(&a));
    assert_eq!(report["observations"], json!({"new": 0, "changed": 3, "unchanged": 0}));
    for (id, said, kept) in [
        (1, "newer there", "older here"),
        (2, "newer here", "older there"),
        (3, "older here, pinned", "newer there, unpinned"),
    ] {
        assert_eq!(whole(&b, id)["narrative"], said);
        let revisions =
            format!("SELECT count(*) FROM revisions WHERE observation = {id} AND draft LIKE '%{kept}%'");
        assert_eq!(b.number("memory.db", &revisions), 1, "{id}");
    }
    assert_eq!(whole(&b, 3)["pinned"], true);
    let before = export(&b);
    assert_eq!(import(&b, &export(&a))["observations"]["changed"], 0);
    assert_eq!(export(&b), before);
}

#[test]
fn what_is_known_by_its_text_is_not_doubled_and_is_pointed_to() {
    let (a, b) = (World::new(), World::new());
    a.remember(&["old way"]);
    a.remember(&["new way"]);
    sql(
        &a,
        "UPDATE observations SET status = 'superseded', superseded_by = 2 WHERE id = 1;
             UPDATE observations SET hit_count = 4 WHERE id = 2;",
    );
    // The other machine has it at the same place.
    let out = export(&a).replace(a.project().to_str().unwrap(), b.project().to_str().unwrap());
    b.remember(&["New way."]);
    let report = import(&b, &out);
    assert_eq!((&report["observations"]["new"], &report["same_text"]), (&json!(1), &json!(1)));
    assert_eq!(
        (whole(&b, 1)["hit_count"].clone(), whole(&b, 2)["superseded_by"].clone()),
        (json!(4), json!(1))
    );
    let again = import(&b, &out);
    assert_eq!(again["observations"], json!({"new": 0, "changed": 0, "unchanged": 2}));
}

#[test]
fn filters_choose_what_goes_along() {
    let world = rich();
    let kinds = |args: &[&str]| -> Vec<String> {
        let out = world.cmem(&[&["export"], args].concat()).ok();
        out.lines()
            .skip(1)
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|record| {
                record["title"].is_string() || record["number"].is_number() || record["learned"].is_string()
            })
            .map(|record| record["record"].as_str().unwrap().to_owned())
            .collect()
    };
    let count = |args: &[&str]| kinds(args).len();
    assert_eq!(count(&[]), 1);
    assert_eq!(count(&["--all-projects"]), 10);
    assert_eq!(count(&["--project", "app"]), 9);
    assert_eq!(count(&["--all-projects", "--status", "superseded,archived"]), 2);
    assert_eq!(count(&["--all-projects", "--type", "bugfix"]), 0);
    assert_eq!(count(&["--all-projects", "--since", "1d"]), 8);
    assert_eq!(kinds(&["--all-projects", "--kind", "prompt"]), ["prompt"]);
    assert_eq!(kinds(&["--all-projects", "--redact", "--kind", "prompt"]), ["prompt"]);
    assert!(!kinds(&["--all-projects", "--redact"]).contains(&String::from("prompt")));
    let out = World::new();
    let text = world.cmem(&["export", "--all-projects", "--status", "superseded"]).ok();
    let report = import(&out, &text);
    assert_eq!((&report["unresolved"], &report["failed"]), (&json!(1), &json!(0)));
    sound(&out);
}

#[test]
fn redaction_is_applied_again_on_the_way_out_and_on_the_way_in() {
    let mut world = World::new();
    world.remember(&["the code word is swordfish-77"]);
    let out = export(&world);
    assert!(out.contains("swordfish-77"));
    world.set("CMEM_REDACT_PATTERNS", "swordfish-[0-9]+");
    let redacted = world.cmem(&["export", "--redact"]).ok();
    assert!(!redacted.contains("swordfish-77") && redacted.contains("redacted"), "{redacted}");
    let mut other = World::new();
    other.set("CMEM_REDACT_PATTERNS", "swordfish-[0-9]+");
    let _ = import(&other, &out);
    assert_eq!(other.files_with("swordfish-77"), Vec::<PathBuf>::new());
}

#[test]
fn a_file_is_replaced_when_all_is_written() {
    let world = rich();
    let file = world.path("memory.jsonl");
    fs::write(&file, "old").unwrap();
    let written = world.cmem(&["export", "--json", "--all-projects", file.to_str().unwrap()]).json();
    assert_eq!(written, json!({"projects": 3, "observations": 8, "summaries": 1, "prompts": 1}));
    assert_eq!(fs::read_to_string(&file).unwrap(), export(&world));
    assert!(world.cmem(&["export", world.path("home").to_str().unwrap()]).failed(2).contains("markdown"));
}

#[test]
fn pages_come_back_byte_for_byte() {
    let (from, to) = (rich(), World::new());
    let (one, two) = (from.path("one"), to.path("two"));
    let _ = to_folder(&from, &one);
    let pages = files(&one);
    assert_eq!(pages.len(), 3 + 6, "{:?}", pages.keys());
    let report = from_folder(&to, &one);
    assert_eq!(report["observations"], json!({"new": 6, "changed": 0, "unchanged": 0}));
    let _ = to_folder(&to, &two);
    assert_eq!(files(&two), pages);
    // And into the folder they came from: nothing to do on either side.
    assert_eq!(to_folder(&to, &one)["written"], 0);
    assert_eq!(from_folder(&from, &one)["observations"], json!({"new": 0, "changed": 0, "unchanged": 6}));
    assert_eq!(files(&one), pages);
}

#[test]
fn edits_and_deletions_of_pages_are_taken_back() {
    let world = World::new();
    let dir = world.path("pages");
    for text in ["stays", "is edited", "is deleted", "is forgotten", "is pinned"] {
        world.remember(&[text]);
    }
    sql(&world, "UPDATE observations SET pinned = 1 WHERE id = 5");
    fs::create_dir_all(dir.join("note")).unwrap();
    fs::write(dir.join("note/own.md"), "# not ours\n").unwrap();
    let _ = to_folder(&world, &dir);
    let edited = page_with(&dir, "is edited");
    let text = fs::read_to_string(&edited).unwrap();
    let text =
        text.replace("title: is edited\n", "title: was edited\npriority: high\nfacts:\n  - \"one: two\"\n");
    fs::write(&edited, text).unwrap();
    fs::remove_file(page_with(&dir, "is deleted")).unwrap();
    fs::remove_file(page_with(&dir, "is pinned")).unwrap();
    // An export does not undo what was not taken in.
    assert_eq!(to_folder(&world, &dir)["kept"], 3);
    let report = from_folder(&world, &dir);
    assert_eq!((&report["observations"]["changed"], &report["archived"]), (&json!(1), &json!(1)));
    let now = whole(&world, 2);
    assert_eq!(
        (&now["title"], &now["priority"], &now["facts"]),
        (&json!("was edited"), &json!("high"), &json!(["one: two"]))
    );
    assert_eq!(count(&world, "revisions"), 1);
    assert_eq!(
        (&whole(&world, 3)["status"], &whole(&world, 5)["status"]),
        (&json!("archived"), &json!("active"))
    );
    assert_eq!(world.search("was edited")[0], "was edited");
    sql(&world, "DELETE FROM vectors WHERE observation = 4; DELETE FROM observations WHERE id = 4");
    // The page of the pinned one is there again, and the edited one is in the usual order.
    let report = to_folder(&world, &dir);
    assert_eq!((&report["removed"], &report["written"], &report["kept"]), (&json!(1), &json!(2), &json!(0)));
    assert!(edited.exists() && dir.join("note/own.md").exists());
    assert_eq!(
        files(&dir)
            .values()
            .filter(|page| page.contains("is deleted") || page.contains("is forgotten"))
            .count(),
        0
    );
    assert_eq!(from_folder(&world, &dir)["observations"], json!({"new": 0, "changed": 0, "unchanged": 3}));
}

#[test]
fn what_both_sides_changed_waits_for_a_decision() {
    let world = World::new();
    let dir = world.path("pages");
    world.remember(&["one"]);
    world.remember(&["two"]);
    let _ = to_folder(&world, &dir);
    sql(&world, "UPDATE observations SET subtitle = 'changed here'");
    let page = page_with(&dir, "title: one");
    fs::write(&page, fs::read_to_string(&page).unwrap().replace("\none\n", "\none, changed there\n"))
        .unwrap();
    fs::remove_file(page_with(&dir, "title: two")).unwrap();
    let report = from_folder(&world, &dir);
    assert_eq!((&report["review"], &report["archived"]), (&json!(2), &json!(0)));
    let waiting = whole(&world, 3);
    assert_eq!((&waiting["status"], &waiting["contests"]), (&json!("review"), &json!([1])));
    assert_eq!(waiting["narrative"], "one, changed there");
    assert_eq!(
        (&whole(&world, 1)["subtitle"], &whole(&world, 2)["status"]),
        (&json!("changed here"), &json!("review"))
    );
    let again = from_folder(&world, &dir);
    assert_eq!((&again["review"], &again["observations"]["new"]), (&json!(0), &json!(0)));
}

#[test]
fn a_page_that_cannot_be_read_is_named_and_stays() {
    let (from, to) = (World::new(), World::new());
    let dir = from.path("pages");
    from.remember(&["good"]);
    from.remember(&["broken"]);
    let _ = to_folder(&from, &dir);
    let page = page_with(&dir, "broken");
    let broken = fs::read_to_string(&page).unwrap().replace("source: user", "<<<<<<< HEAD\nsource: user");
    fs::write(&page, &broken).unwrap();
    let told = to.cmem(&["import", dir.to_str().unwrap()]).failed(1);
    assert!(told.contains("note/broken-") && told.contains("unresolved merge"), "{told}");
    assert_eq!(to.search("good").len() as i64 + count(&to, "observations"), 1);
    assert_eq!(to_folder(&from, &dir)["kept"], 1);
    assert_eq!(fs::read_to_string(&page).unwrap(), broken);
}

#[test]
fn a_team_shares_a_memory_through_git() {
    let (ana, bob) = (World::new(), World::new());
    let remote = "https://host.example/team/app";
    let (at_ana, at_bob) = (ana.repository("app"), bob.repository("other-name"));
    ana.git(&at_ana, &["remote", "add", "origin", remote]);
    bob.git(&at_bob, &["remote", "add", "origin", remote]);
    let remember =
        |world: &World, at: &Path, text: &str| drop(world.cmem_in(at, &["remember", text], &[]).ok());
    let pages = ana.repository("pages");
    let bobs = bob.path("pages");
    let out = |world: &World, at: &Path, dir: &Path| {
        let args = ["export", "--json", "--format", "markdown", dir.to_str().unwrap()];
        world.cmem_in(at, &args, &[]).json()
    };
    let back = |world: &World, at: &Path, dir: &Path| {
        world.cmem_in(at, &["import", "--json", dir.to_str().unwrap()], &[]).json()
    };
    let commit = |world: &World, dir: &Path| {
        world.git(dir, &["add", "--all"]);
        world.git(dir, &["commit", "--quiet", "--message", "memory"]);
    };
    let edit = |dir: &Path, from: &str, to: &str| {
        let page = page_with(dir, from);
        fs::write(&page, fs::read_to_string(&page).unwrap().replace(from, to)).unwrap();
    };
    for text in ["retries are three", "logs go to disk", "deploys on tuesday"] {
        remember(&ana, &at_ana, text);
    }
    let _ = out(&ana, &at_ana, &pages);
    commit(&ana, &pages);
    assert!(!ana.git(&pages, &["ls-files"]).contains(".cmem"));
    bob.git(&bob.path(""), &["clone", "--quiet", pages.to_str().unwrap(), "pages"]);
    remember(&bob, &at_bob, "only bob knew");
    assert_eq!(back(&bob, &at_bob, &bobs)["observations"]["new"], 3);
    // Both add and edit; Bob also deletes.
    remember(&bob, &at_bob, "bob adds this");
    let _ = out(&bob, &at_bob, &bobs);
    edit(&bobs, "\nretries are three\n", "\nretries are five\n");
    fs::remove_file(page_with(&bobs, "deploys on tuesday")).unwrap();
    let report = back(&bob, &at_bob, &bobs);
    assert_eq!((&report["observations"]["changed"], &report["archived"]), (&json!(1), &json!(1)));
    commit(&bob, &bobs);
    remember(&ana, &at_ana, "ana adds this");
    let _ = out(&ana, &at_ana, &pages);
    edit(&pages, "\nlogs go to disk\n", "\nlogs go to a bucket\n");
    let _ = back(&ana, &at_ana, &pages);
    commit(&ana, &pages);
    ana.git(&pages, &["pull", "--quiet", "--no-rebase", "--no-edit", bobs.to_str().unwrap(), "main"]);
    let report = back(&ana, &at_ana, &pages);
    assert_eq!(
        (&report["review"], &report["failed"], &report["archived"]),
        (&json!(0), &json!(0), &json!(1))
    );
    bob.git(&bobs, &["pull", "--quiet", "--no-rebase", "--no-edit", "origin", "main"]);
    let _ = back(&bob, &at_bob, &bobs);
    let all = |world: &World, at: &Path| {
        let found = world.cmem_in(at, &["search", "--json", "*"], &[]).json();
        let ids: Vec<String> =
            found["results"].as_array().unwrap().iter().map(|row| row["id"].to_string()).collect();
        let ids: Vec<&str> =
            [&["get", "--json"][..], &ids.iter().map(String::as_str).collect::<Vec<_>>()].concat();
        let records = world.cmem(&ids).json();
        let mut told: Vec<(String, String)> = records
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                (row["narrative"].as_str().unwrap().to_owned(), row["status"].as_str().unwrap().to_owned())
            })
            .collect();
        told.sort();
        told
    };
    let expected = [
        ("ana adds this", "active"),
        ("bob adds this", "active"),
        ("deploys on tuesday", "archived"),
        ("logs go to a bucket", "active"),
        ("only bob knew", "active"),
        ("retries are five", "active"),
    ]
    .map(|(text, status)| (text.to_owned(), status.to_owned()));
    assert_eq!(all(&ana, &at_ana), expected);
    assert_eq!(all(&bob, &at_bob), expected);
    // Neither has anything more to tell the other.
    let _ = out(&bob, &at_bob, &bobs);
    let _ = out(&ana, &at_ana, &pages);
    assert_eq!(bob.git(&bobs, &["status", "--porcelain"]), "");
    assert_eq!(ana.git(&pages, &["status", "--porcelain"]), "");
}

#[test]
fn what_a_link_leads_to_is_written() {
    let world = World::new();
    let _ = world.remember(&["Releases are cut on Tuesdays."]);
    let (link, real) = (world.path("link.jsonl"), world.path("real.jsonl"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let _ = world.cmem(&["export", link.to_str().unwrap()]).ok();
    assert!(fs::read_to_string(&real).unwrap().contains("Releases are cut on Tuesdays"));
    assert!(link.is_symlink());
}
