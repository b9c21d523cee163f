//! `cmem report`: what happened in a period, in three formats, and the prose that an observer may add.

use std::collections::HashSet;
use std::fs;

use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::mock::{Mode, ModelServer};
use crate::common::{World, browser, page};

/// A title that would like to be markup.
const HOSTILE: &str = "</title><script>alert(1)</script> \"quoted\" <img src=x onerror=alert(1)> \
                       ![p](http://evil.example/p.png) & 'all'";

fn meanwhile(world: &World, sql: &str) {
    let connection = Connection::open(world.data().join("memory.db")).unwrap();
    connection.execute_batch(sql).unwrap();
}

fn at(moment: &str) -> i64 {
    let moment: jiff::Timestamp = moment.parse().unwrap();
    moment.as_millisecond()
}

/// One observation; `more` is set on top of it.
fn observation(world: &World, id: i64, kind: &str, title: &str, moment: &str, more: &[(&str, &str)]) {
    let connection = Connection::open(world.data().join("memory.db")).unwrap();
    connection
        .execute(
            "INSERT INTO observations (id, uid, project, type, title, subtitle, narrative, facts, concepts, keywords,
               files_read, files_modified, session, model, tokens_spent, content_key, created_at, updated_at)
             VALUES (?1, 'u' || ?1, 1, ?2, ?3, '', '', '[]', '[]', '[]', '[]', '[]', 's1', 'm', 100, CAST(?1 AS BLOB),
               ?4, ?4)",
            (id, kind, title, at(moment)),
        )
        .unwrap();
    for (column, value) in more {
        connection
            .execute(&format!("UPDATE observations SET {column} = ?2 WHERE id = ?1"), (id, value))
            .unwrap();
    }
}

/// Two weeks of a small project, with everything that a report tells of.
fn memory(world: &World) {
    let _ = world.remember(&["to have a project"]);
    meanwhile(world, "DELETE FROM vectors; DELETE FROM observations;");
    let o =
        |id, kind, title, moment, more: &[(&str, &str)]| observation(world, id, kind, title, moment, more);
    o(
        1,
        "decision",
        "Uploads go through a queue",
        "2026-11-17T09:00:00Z",
        &[
            (
                "narrative",
                "A queue keeps uploads. It was chosen because the gateway gives up after ten seconds.",
            ),
            ("concepts", "[\"trade-off\",\"how-it-works\"]"),
            ("files_modified", "[\"src/upload/queue.rs\",\"src/main.rs\"]"),
        ],
    );
    o(
        2,
        "bugfix",
        "Uploads no longer hang at 99 %",
        "2026-11-18T10:00:00Z",
        &[
            (
                "narrative",
                "Uploads hung. The cause was a connection that nobody gave back. It is closed now.",
            ),
            ("concepts", "[\"problem-solution\"]"),
            ("files_modified", "[\"src/upload/queue.rs\"]"),
            ("files_read", "[\"src/upload/pool.rs\"]"),
        ],
    );
    o(
        3,
        "discovery",
        "The pool holds eight connections",
        "2026-11-18T10:30:00Z",
        &[
            ("concepts", "[\"how-it-works\"]"),
            ("files_read", "[\"src/upload/pool.rs\",\"src/upload/queue.rs\"]"),
        ],
    );
    o(
        4,
        "security_note",
        "Signed links are valid for an hour",
        "2026-11-24T08:00:00Z",
        &[
            ("facts", "[\"The signature covers the path alone.\"]"),
            ("files_modified", "[\"src/links/sign.rs\"]"),
        ],
    );
    o(
        5,
        "feature",
        HOSTILE,
        "2026-11-25T08:00:00Z",
        &[("files_modified", "[\"src/<b>&\\\"x\\\".rs\"]"), ("pinned", "1")],
    );
    o(6, "decision", "Uploads go through the gateway", "2026-11-17T08:00:00Z", &[("status", "superseded")]);
    o(7, "change", "A note that was put away", "2026-11-25T08:30:00Z", &[("status", "archived")]);
    o(8, "change", "A note that has expired", "2026-11-25T08:40:00Z", &[("expires_at", "1000")]);
    o(9, "change", "A note that waits", "2026-11-25T08:50:00Z", &[("status", "review")]);
    o(10, "sensitive", "The staging host is 10.0.0.7", "2026-11-25T09:00:00Z", &[]);
    for (id, session, moment, steps) in [
        (1, "s1", "2026-11-17T09:30:00Z", "Build the queue."),
        (2, "s1", "2026-11-18T11:00:00Z", "Measure the pool under load."),
        (3, "s2", "2026-11-25T09:00:00Z", ""),
    ] {
        let at = at(moment);
        meanwhile(
            world,
            &format!(
                "INSERT INTO summaries VALUES ({id}, 'sum-{id}', 1, NULL, NULL, '{session}', 1, 'r', '', '', '', \
                 '{steps}', '', 'm', {at});
                 INSERT INTO prompts VALUES ({id}, 'pro-{id}', 1, NULL, NULL, '{session}', {id}, 'p', {at});"
            ),
        );
    }
    for (model, moment) in
        [("claude-haiku-4-5", "2026-11-18T11:00:00Z"), ("claude-haiku-4-5", "2026-11-25T09:00:00Z")]
    {
        let at = at(moment);
        meanwhile(
            world,
            &format!("INSERT INTO calls (batch, provider, model, class, input_tokens, cached_tokens, output_tokens, at)
                      VALUES ('b', 'anthropic', '{model}', 'stored', 3000, 1000, 400, {at})"),
        );
    }
}

fn report(world: &World, args: &[&str]) -> String {
    world.cmem(&[&["report"], args].concat()).ok()
}

fn json_report(world: &World, args: &[&str]) -> Value {
    world.cmem(&[&["report", "--format", "json"], args].concat()).json()
}

fn ids(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

#[test]
fn the_same_memory_gives_the_same_report_in_three_formats() {
    let world = World::new();
    memory(&world);
    let (md, json, html) = ("--format=md", "--format=json", "--format=html");
    assert_snapshot!("report_md", report(&world, &[md]));
    assert_snapshot!("report_json", report(&world, &[json]));
    assert_snapshot!("report_html", report(&world, &[html]));
    for format in [md, json, html] {
        assert_eq!(report(&world, &[format]), report(&world, &[format]));
    }
    assert_eq!(report(&world, &[json]), report(&world, &["--json"]));
}

#[test]
fn a_period_is_a_week_or_lies_between_two_days() {
    let world = World::new();
    memory(&world);
    let week = json_report(&world, &["--week", "2026-W47"]);
    assert_eq!(week["totals"]["memories"], 3);
    assert_eq!(week["not_listed"], json!({"superseded": 1, "archived": 0, "review": 0, "sensitive": 0}));
    assert_eq!((&week["spent"]["calls"], &week["weeks"].as_array().unwrap().len()), (&json!(1), &1));
    assert_eq!(week["next_steps"][0]["next_steps"], "Measure the pool under load.");
    assert_eq!(
        week["period"],
        json!({"since": "2026-11-16T00:00:00.000Z", "until": "2026-11-23T00:00:00.000Z"})
    );
    let same = json_report(&world, &["--since", "2026-11-16", "--until", "2026-11-22"]);
    assert_eq!(same, week);
    assert!(report(&world, &["--week", "2026-W47"]).starts_with(
        "# Report: project, 2026-W47 (2026-11-16 to 2026-11-22)\n\n3 memories on 2 days, in 1 session, after 2 prompts.\n"
    ));
    let both = json_report(&world, &["--since", "2026-11-01"]);
    let digests: Vec<&Value> = both["weeks"].as_array().unwrap().iter().collect();
    assert_eq!((&digests[0]["week"], &digests[0]["highlights"]), (&json!("2026-W47"), &json!([1, 2, 3])));
    // What is pinned comes first.
    assert_eq!((&digests[1]["week"], &digests[1]["highlights"]), (&json!("2026-W48"), &json!([5, 4, 10])));
    for (args, told) in [
        (&["--week", "54"][..], "2026-W48"),
        (&["--week", "2026-W47", "--since", "7d"], "cannot be used with"),
        (&["--since", "2026-11-20", "--until", "2026-11-19"], "ends before it begins"),
    ] {
        assert!(world.cmem(&[&["report"], args].concat()).failed(2).contains(told), "{args:?}");
    }
}

#[test]
fn what_is_not_in_use_is_counted_and_not_told() {
    let world = World::new();
    memory(&world);
    let whole = json_report(&world, &[]);
    assert_eq!(whole["not_listed"], json!({"superseded": 1, "archived": 2, "review": 1, "sensitive": 0}));
    for format in ["md", "json", "html"] {
        let text = report(&world, &["--format", format]);
        for gone in ["Uploads go through the gateway", "that was put away", "has expired", "that waits"] {
            assert!(!text.contains(gone), "{format}: {gone}");
        }
    }
    // What must not leave its project is told in a report of that project alone.
    assert!(report(&world, &[]).contains("10.0.0.7"));
    let all = world.cmem(&["report", "--all-projects", "--json"]).json();
    assert_eq!((&all["project"], &all["not_listed"]["sensitive"]), (&Value::Null, &json!(1)));
    assert!(!all.to_string().contains("10.0.0.7"));
}

#[test]
fn a_merged_worktree_counts_for_its_parent() {
    let world = World::new();
    memory(&world);
    meanwhile(
        &world,
        "INSERT INTO projects SELECT 2, key, '/elsewhere/wt', 'project/wt', '/elsewhere/wt', NULL, 0 FROM projects WHERE id = 1;",
    );
    observation(&world, 20, "decision", "Learned in a worktree", "2026-11-26T08:00:00Z", &[("project", "2")]);
    observation(
        &world,
        21,
        "decision",
        "Came home",
        "2026-11-26T09:00:00Z",
        &[("project", "2"), ("merged_into", "1")],
    );
    let whole = json_report(&world, &[]);
    assert_eq!(ids(&whole["decisions"]), [21, 1]);
    let text = report(&world, &[]);
    assert!(text.contains("**Came home** (from project/wt, merged)"), "{text}");
    assert!(!text.contains("Learned in a worktree"));
    let own = json_report(&world, &["--project", "project/wt"]);
    assert_eq!(ids(&own["decisions"]), [21, 20, 1]);
}

#[test]
fn a_report_follows_the_language_of_the_mode() {
    let mut world = World::new();
    memory(&world);
    world.set("CMEM_MODE", "code--de");
    let text = report(&world, &[]);
    assert!(text.contains("## Entscheidung") && text.contains("## Nächste Schritte"), "{text}");
    assert!(report(&world, &["--format", "html"]).contains("<html lang=\"de\">"));
}

#[test]
fn a_page_is_well_formed_and_asks_nobody_for_anything() {
    let world = World::new();
    memory(&world);
    let html = report(&world, &["--format", "html"]);
    let (tags, text) = page::read(&html);
    let mut anchors = HashSet::new();
    for tag in &tags {
        assert!(
            !["script", "img", "link", "iframe", "object", "embed", "base", "b"].contains(&tag.name.as_str())
                || tag.name == "b" && tag.attributes.is_empty(),
            "{tag:?}"
        );
        for (name, value) in &tag.attributes {
            assert!(
                !name.starts_with("on") && !["src", "style", "srcset", "action"].contains(&name.as_str()),
                "{tag:?}"
            );
            assert!(name != "href" || value.starts_with('#'), "{tag:?}");
            assert!(name == "aria-label" || !value.contains("://"), "{tag:?}");
        }
        if let Some(id) = tag.attribute("id") {
            assert!(anchors.insert(id), "{id} twice");
        }
    }
    for tag in tags.iter().filter(|tag| tag.name == "a") {
        assert!(anchors.contains(tag.attribute("href").unwrap().trim_start_matches('#')), "{tag:?}");
    }
    let style = html.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).unwrap();
    assert!(!style.contains("url(") && !style.contains("@import"));
    assert!(style.contains("prefers-color-scheme: dark"));
    let title = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot;";
    assert!(text.contains(title) && html.contains("src/&lt;b&gt;&amp;&quot;x&quot;.rs"));
    assert_eq!(tags.iter().filter(|tag| tag.attribute("class") == Some("heat")).count(), 1);
    assert_eq!(tags.iter().filter(|tag| tag.attribute("class") == Some("tree")).count(), 1);
    // Nothing of a hostile title is a picture or a tag in Markdown either.
    let md = report(&world, &[]);
    assert!(md.contains("!\\[p\\](http") && md.contains("\\<script>") && !md.contains(" <img"), "{md}");
}

#[test]
fn a_page_shows_in_a_real_browser() {
    let Some(browser) = browser::find() else {
        println!("SKIPPED: there is no Chromium, Chrome or Firefox on the path; CMEM_BROWSER names one");
        return;
    };
    let world = World::new();
    memory(&world);
    let file = world.path("report.html");
    let _ = world.cmem(&["report", "--output", file.to_str().unwrap()]).ok();
    let blank = world.path("blank.html");
    fs::write(&blank, "<!DOCTYPE html><title>blank</title>").unwrap();
    for size in [(1200, 1600), (390, 844)] {
        let look = |page, is_dark| browser::look(&browser, page, size, is_dark, &world.path("home"));
        let empty = look(&blank, false);
        let light = look(&file, false);
        let dark = look(&file, true);
        assert_eq!((light.complaints, dark.complaints), (Vec::<String>::new(), Vec::<String>::new()));
        for seen in [&light.picture, &dark.picture] {
            assert!(seen.starts_with(b"\x89PNG"));
            // What is written is not as flat as nothing.
            assert!(seen.len() > 4 * empty.picture.len(), "{} and {}", seen.len(), empty.picture.len());
        }
        assert!(light.picture != dark.picture, "dark looks like light");
    }
}

#[test]
fn a_report_goes_to_a_file_whose_name_tells_the_format() {
    let world = World::new();
    memory(&world);
    for (name, start) in
        [("r.html", "<!DOCTYPE html>"), ("r.json", "{"), ("r.md", "# Report"), ("r", "# Report")]
    {
        let file = world.path(name);
        fs::write(&file, "before").unwrap();
        let ran = world.cmem(&["report", "--output", file.to_str().unwrap()]);
        assert!(ran.err.contains("6 memories in"), "{}", ran.err);
        assert_eq!(ran.ok(), "");
        assert!(fs::read_to_string(&file).unwrap().starts_with(start), "{name}");
    }
    let folder = world.path("tmp");
    assert!(world.cmem(&["report", "--output", folder.to_str().unwrap()]).failed(2).contains("is a folder"));
    assert!(world.cmem(&["report", "--output", "nowhere/r.md"]).failed(1).contains("nowhere/r.md"));
    let left: Vec<_> =
        fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with("r.md.")), "{left:?}");
}

#[test]
fn a_report_of_nothing_is_a_report() {
    let world = World::new();
    assert!(report(&world, &[]).contains("0 memories on 0 days"));
    let _ = page::read(&report(&world, &["--format", "html"]));
    assert_eq!(json_report(&world, &[])["days"], json!([]));
    let ran = world.cmem(&["report", "--narrate"]);
    assert!(ran.err.contains("nothing to write about"), "{}", ran.err);
    assert!(!world.data().join("memory.db").exists());
}

#[test]
fn an_observer_writes_prose_that_refers_to_what_is_there() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    memory(&world);
    let key = format!("sk-ant-api03-{}", "a1B2".repeat(24));
    let prose = format!(
        "<report>The queue was chosen [1, 99], which led to a fix [2]; {key} <b>x</b>.\n\nOpen is the pool [S2].</report>"
    );
    model.script(vec![Mode::Text(prose)]);
    let told = json_report(&world, &["--narrate"])["narrative"].clone();
    assert_eq!((&told["references"], &told["dropped"]), (&json!([1, 2, "S2"]), &json!(1)));
    let text = told["text"].as_str().unwrap();
    assert!(text.starts_with("The queue was chosen [1], which led to a fix [2];"), "{text}");
    assert!(!text.contains("a1B2"), "{text}");
    assert_eq!(model.count(), 1);
    assert!(
        model.was_told(
            "1 2026-11-17 decision: Uploads go through a queue | It was chosen because the gateway"
        )
    );
    assert!(!model.was_told("Uploads go through the gateway"));
    let calls =
        "SELECT count(*) FROM calls WHERE class = 'stored' AND batch LIKE 'report-%' AND output_tokens > 0";
    assert_eq!(world.number("memory.db", calls), 1);
    model.script(vec![Mode::Text(String::from("<report>Chosen [1] <b>x</b>, fixed [2].</report>"))]);
    let html = report(&world, &["--narrate", "--format", "html"]);
    page::read(&html);
    assert!(
        html.contains("Chosen [<a href=\"#r1\">1</a>] &lt;b&gt;x&lt;/b&gt;, fixed [<a href=\"#r2\">2</a>].")
    );
    world.assert_sound_memory();
}

#[test]
fn a_report_is_there_even_if_nobody_writes_prose() {
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    memory(&world);
    // Prose that stands on nothing is asked for once, and not used.
    model.script(vec![Mode::Text(String::from("<report>All went well.</report>"))]);
    let ran = world.cmem(&["report", "--narrate"]);
    assert!(ran.out.contains("## Decisions") && !ran.out.contains("All went well"), "{}", ran.out);
    assert!(ran.failed(1).contains("no record that is in the report (malformed)"));
    assert_eq!(model.count(), 1);
    fs::remove_file(world.data().join("pause.json")).unwrap_or_default();
    model.mode(Mode::Status(401));
    let ran = world.cmem(&["report", "--narrate"]);
    assert!(ran.out.contains("## Decisions"), "{}", ran.out);
    assert!(ran.failed(1).contains("auth"));
    // A cap holds.
    let asked = model.count();
    fs::remove_file(world.data().join("pause.json")).unwrap();
    world.set("CMEM_DAILY_TOKENS", "1");
    meanwhile(
        &world,
        &format!("UPDATE calls SET at = {} WHERE id = 1", jiff::Timestamp::now().as_millisecond()),
    );
    assert!(world.cmem(&["report", "--narrate"]).failed(1).contains("CMEM_DAILY_TOKENS"));
    assert_eq!(model.count(), asked);
    // The embedded observer has no words of its own.
    world.set("CMEM_PROVIDER", "builtin");
    let ran = world.cmem(&["report", "--narrate"]);
    assert!(ran.err.contains("writes no prose"), "{}", ran.err);
    assert!(ran.ok().contains("## Decisions"));
}

#[test]
fn files_of_different_projects_are_different_files() {
    let world = World::new();
    for project in ["one", "two"] {
        let dir = world.repository(project);
        let args = ["remember", "It starts here.", "--file", "src/main.rs"];
        let _ = world.cmem_in(&dir, &args, b"").ok();
    }
    let all = world.cmem(&["report", "--all-projects", "--json"]).json();
    let files: Vec<_> =
        all["files"].as_array().unwrap().iter().map(|file| (&file["project"], &file["path"])).collect();
    assert_eq!(files, [(&json!("one"), &json!("src/main.rs")), (&json!("two"), &json!("src/main.rs"))]);
    assert!(report(&world, &["--all-projects"]).contains("| src/main.rs (two) | 1 |"));
    let page = report(&world, &["--all-projects", "--format", "html"]);
    assert!(page.contains("<title>one/src/main.rs: 1</title>"), "{page}");
}

#[test]
fn a_second_project_of_a_name_is_at_home_under_its_own() {
    let world = World::new();
    for place in ["x/app", "y/app"] {
        let dir = world.repository(place);
        let _ = world.cmem_in(&dir, &["remember", "It starts here."], b"").ok();
    }
    let told = world.cmem_in(&world.path("y/app"), &["report"], b"").ok();
    let title = told.lines().next().unwrap();
    assert!(title.starts_with("# Report: app (") && !told.contains("in y/app"), "{told}");
    assert!(told.lines().any(|line| line.ends_with("note: It starts here")), "{told}");
}

#[test]
fn many_themes_are_cut() {
    let world = World::new();
    let tags: Vec<String> = (0..120).map(|number| format!("t{number}")).collect();
    let _ = world.remember(&["Everything has its place.", "--tags", &tags.join(",")]);
    assert!(report(&world, &[]).contains("- +90 more themes"));
    assert!(report(&world, &["--format", "html"]).contains("+20 more"));
}

#[test]
fn a_session_counts_if_something_of_it_is_in_use() {
    let world = World::new();
    memory(&world);
    meanwhile(&world, "UPDATE observations SET session = 'gone' WHERE status = 'archived'");
    assert_eq!(json_report(&world, &[])["totals"]["sessions"], 2);
    // The last record is a summary.
    meanwhile(
        &world,
        "UPDATE summaries SET created_at = created_at + 3 * 86400000 WHERE id = 3; DELETE FROM prompts;",
    );
    assert_eq!(json_report(&world, &[])["days_of"], json!(["2026-11-17", "2026-11-28"]));
}

#[test]
fn a_link_is_written_through() {
    let world = World::new();
    memory(&world);
    let (link, real) = (world.path("link.md"), world.path("real.md"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let _ = world.cmem(&["report", "--output", link.to_str().unwrap()]).ok();
    assert!(fs::read_to_string(&real).unwrap().starts_with("# Report: project"));
    assert!(link.is_symlink());
    assert!(report(&world, &["--output", "/dev/stdout"]).starts_with("# Report: project"));
}
