//! `search`, `timeline` and `get` as a user sees them.

use serde_json::{Value, json};

use crate::common::{ModelServer, World};

fn world_with(model: &ModelServer, notes: &[&str]) -> World {
    let world = World::with_model(model);
    for note in notes {
        world.note(note);
    }
    world.drain();
    world
}

#[test]
fn every_script_is_found_by_its_words() {
    let model = ModelServer::start();
    let chinese = "部署脚本在生产环境回滚失败后需要重建索引";
    let japanese = "ステージング環境のデプロイ手順を修正";
    let korean = "오늘 배포 파이프라인을 복구했다";
    let glued = "重跑gen-itgc后修复完成";
    let world = world_with(&model, &[chinese, japanese, korean, glued, "english decoy", "Füße über café"]);
    for (query, title) in [
        ("生产环境", chinese),
        ("回滚", chinese),
        ("索引", chinese),
        ("デプロイ", japanese),
        ("手順", japanese),
        ("파이프라인", korean),
        ("복구", korean),
        ("itgc", glued),
        ("gen-itgc", glued),
        ("修复", glued),
        ("uber", "Füße über café"),
        ("CAFE", "Füße über café"),
    ] {
        let found = world.search(query);
        assert!(found.iter().any(|found| found == title), "{query}: {found:?}");
        assert!(!found.iter().any(|found| found == "english decoy"), "{query}: {found:?}");
    }
}

#[test]
fn an_identifier_is_found_whole_and_by_its_parts() {
    let model = ModelServer::start();
    let notes = [
        "overflow of max_retry_count",
        "parseHTTPHeader panics",
        "MAX_BODY_BYTES raised",
        "use --dry-run-only flag",
        "class XmlHttpRequestAdapter",
        "moved src/store/open.rs away",
    ];
    let world = world_with(&model, &notes);
    for (query, title) in [
        ("max_retry_count", notes[0]),
        ("retry", notes[0]),
        ("MAX_RETRY_COUNT", notes[0]),
        ("parseHTTPHeader", notes[1]),
        ("parsehttpheader", notes[1]),
        ("HTTPHeader", notes[1]),
        ("header", notes[1]),
        ("body_bytes", notes[2]),
        ("dry-run", notes[3]),
        ("adapter", notes[4]),
        ("src/store/open.rs", notes[5]),
        ("open.rs", notes[5]),
    ] {
        let found = world.search(query);
        assert!(found.iter().any(|found| found == title), "{query}: {found:?}");
    }
}

#[test]
fn query_operators_are_just_text() {
    let model = ModelServer::start();
    let note = r#"dont-be-clever: don't NEAR(a b) AND "quoted" (x OR y) TODO: retry* ^start {col}: -flag C++ foo->bar 🚀"#;
    let world = world_with(&model, &[note]);
    for query in [
        "don't",
        "TODO:",
        "\"quoted\"",
        "NEAR(a b)",
        "retry*",
        "-flag",
        "(x OR y)",
        "^start",
        "{col}:",
        "AND",
        "C++",
        "col: start",
        "foo->bar",
        "🚀",
    ] {
        let ran = world.cmem(&["search", "--", query]);
        assert_no_engine_error(query, &ran.err);
        assert!(ran.ok().contains("dont-be-clever"), "{query}");
    }
    for query in ["'", "\"", "*", "\"\"", "(", ":", "-", "a\"b", "%", "_", "\u{1}", "", " "] {
        let ran = world.cmem(&["search", "--", query]);
        assert_no_engine_error(query, &ran.err);
        let _ = ran.ok();
    }
}

#[track_caller]
fn assert_no_engine_error(query: &str, talk: &str) {
    for word in ["syntax", "column", "unterminated", "panic", "fts5"] {
        assert!(!talk.contains(word), "{query}: {talk}");
    }
}

#[test]
fn filters_hold_with_and_without_a_query() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let (a, b) = (world.repository("a"), world.repository("b"));
    world.note_in(&a, "apple pipeline");
    world.note_in(&b, "apple orchard");
    world.drain();
    for query in ["apple", "*", ""] {
        assert_eq!(world.search_in(&a, query), ["apple pipeline"], "{query:?}");
        let rows = |flags: &[&str]| {
            let args = [&["search", "--json"], flags, &["--", query]].concat();
            world.cmem_in(&a, &args, &[]).json()["results"].as_array().unwrap().len()
        };
        assert_eq!(rows(&["--all-projects"]), 2, "{query:?}");
        assert_eq!(rows(&["--project", "b"]), 1, "{query:?}");
        assert_eq!(rows(&["--type", "discovery"]), 1, "{query:?}");
        assert_eq!(rows(&["--type", "no-such-type"]), 0, "{query:?}");
        assert_eq!(rows(&["--since", "2020-01-01"]), 1, "{query:?}");
        assert_eq!(rows(&["--until", "2020-01-01"]), 0, "{query:?}");
        assert_eq!(rows(&["--session", "session-1"]), 1, "{query:?}");
        assert_eq!(rows(&["--session", "nobody"]), 0, "{query:?}");
    }
    let _ = world.cmem(&["search", "no-such-word-anywhere"]).ok();
}

#[test]
fn pages_follow_one_another() {
    let model = ModelServer::start();
    let notes: Vec<String> = (0..7).map(|number| format!("paged note {number}")).collect();
    let world = world_with(&model, &notes.iter().map(String::as_str).collect::<Vec<_>>());
    let mut seen: Vec<String> = Vec::new();
    for offset in ["0", "3", "6"] {
        let page = world.cmem(&["search", "paged", "--json", "--limit", "3", "--offset", offset]).json();
        assert_eq!(page["total"], 7);
        seen.extend(page["results"].as_array().unwrap().iter().map(|row| row["title"].to_string()));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7);
}

#[test]
fn json_has_the_documented_shape() {
    let model = ModelServer::start();
    let world = world_with(&model, &["shape of a row"]);
    let found = world.cmem(&["search", "shape", "--json"]).json();
    assert_eq!(keys(&found), ["indexes", "pending_events", "query", "results", "total"]);
    assert_eq!(
        (&found["query"], &found["total"], &found["indexes"]),
        (&json!("shape"), &json!(1), &json!(["fts", "vector"]))
    );
    let row = &found["results"][0];
    let names = [
        "created_at",
        "files",
        "files_since",
        "id",
        "kind",
        "merged_into",
        "platform",
        "project",
        "score",
        "status",
        "subtitle",
        "title",
        "tokens",
        "type",
        "uid",
    ];
    assert_eq!(keys(row), names);
    assert_eq!(
        (&row["kind"], &row["project"], &row["status"]),
        (&json!("observation"), &json!("project"), &json!("active"))
    );

    let whole = world.cmem(&["get", "--json", &row["id"].to_string()]).json();
    assert_eq!(whole[0]["narrative"], "shape of a row");
    let line = world.cmem(&["timeline", "--json", &row["id"].to_string()]).json();
    assert_eq!(line["anchor"], row["id"]);
    assert!(line["items"].as_array().unwrap().iter().any(|item| item["id"] == row["id"]), "{line}");
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn the_parts_of_a_score_make_the_score() {
    let world = World::new();
    world.remember(&[
        "--title",
        "Checkout waits for the pool",
        "--",
        "The pool of connections is exhausted.",
    ]);
    world.remember(&["--priority", "low", "--", "A connection is given back late, so the checkout waits."]);
    world.remember(&["Fonts are served from our own domain."]);
    let found = world.cmem(&["search", "checkout pool", "--json", "--explain"]).json();
    let rows = found["results"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "{found}");
    for row in rows {
        let explain = &row["explain"];
        let part = |name: &str| explain[name].as_f64().unwrap_or_else(|| panic!("{name} in {explain}"));
        let factor = |name: &str| explain["factors"][name].as_f64().unwrap();
        let sum = part("meaning") + part("words") + part("neighbours") + part("exact");
        let product = factor("kind")
            * factor("status")
            * (1.0 + ["priority", "recency", "use", "unused", "files"].map(factor).iter().sum::<f64>());
        let score = row["score"].as_f64().unwrap();
        assert!((sum * product - score).abs() < 1e-9, "{row}");
        assert!(part("bm25") > 0.0 && part("cosine") > 0.0 && part("maxsim") > 0.0, "{row}");
    }
    assert_eq!(rows[0]["explain"]["passed_by"], "all_words");
    assert_eq!(rows[0]["explain"]["factors"]["priority"], 0.0);
    assert_eq!(rows[1]["explain"]["factors"]["priority"], -0.05);

    let exact = world.cmem(&["search", "waits for the pool", "--json", "--explain"]).json();
    assert_eq!(exact["results"][0]["explain"]["exact"], 4.0, "{exact}");
    let newest = world.cmem(&["search", "*", "--json", "--explain"]).json();
    assert_eq!(newest["results"][0]["explain"], Value::Null, "{newest}");
    assert!(newest["results"][0].as_object().unwrap().contains_key("explain"));
}

#[test]
fn a_score_is_explained_below_its_row() {
    let world = World::new();
    world.remember(&["--priority", "high", "The retry limit is five."]);
    let told = world.cmem(&["search", "retry limit", "--explain"]).ok();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    for part in ["= (meaning ", " + words ", " + neighbours 0.100 + exact 4.000) × 1.080"] {
        assert!(lines[1].contains(part), "{part}: {told}");
    }
    for part in ["cosine ", "maxsim ", "bm25 ", "priority +0.050", "recency +0.030", "all of them", "floor"] {
        assert!(lines[2].contains(part), "{part}: {told}");
    }
}

#[test]
fn a_slip_in_a_word_is_answered_with_what_was_meant() {
    let world = World::new();
    world.remember(&["Overflow of `max_retry_count` in src/retry.rs"]);
    world.remember(&["Authentication is up to parseHTTPHeader"]);
    for (query, typed, nearest) in [
        ("max_rety_count", "max_rety_count", "max_retry_count"),
        ("why is maxretrycuont so high", "maxretrycuont", "max_retry_count"),
        ("parseHTTPHedder", "parseHTTPHedder", "parseHTTPHeader"),
        ("登录接口怎么做的 v1 2 34 max_rety_count", "max_rety_count", "max_retry_count"),
        ("autentication", "autentication", "Authentication"),
        ("overflow_rtry", "rtry", "retry"),
        ("xax_retry_count", "xax", ""),
        ("max_retry_count", "", ""),
        ("zebra", "", ""),
        ("*", "", ""),
    ] {
        let told = world.cmem(&["search", query]);
        let line = told.err.lines().find(|line| line.contains("did you mean")).unwrap_or_default().to_owned();
        let _ = told.ok();
        let answer = world.cmem(&["search", query, "--json"]).json();
        if nearest.is_empty() {
            assert_eq!((line.as_str(), answer.get("did_you_mean")), ("", None), "{query}");
        } else {
            assert_eq!(line, format!("{typed} is in no record; did you mean {nearest}?"), "{query}");
            let expected = json!([{"typed": typed, "nearest": [nearest]}]);
            assert_eq!(answer["did_you_mean"], expected, "{query}");
        }
    }
}

#[test]
fn no_word_of_another_project_is_offered() {
    let world = World::new();
    let (ours, theirs) = (world.repository("ours"), world.repository("theirs"));
    for (dir, text) in [(&ours, "The cache is cold"), (&theirs, "The secret_project_zanzibar is warm")] {
        let _ = world.cmem_in(dir, &["remember", text], &[]).ok();
    }
    let asked = |args: &[&str]| world.cmem_in(&ours, &[&["search", "--json"], args].concat(), &[]).json();
    assert_eq!(asked(&["secret_project_zanzibra"]).get("did_you_mean"), None);
    // Neither is one taken to be here because it is there.
    let _ = world.cmem_in(&theirs, &["remember", "a cacha of arms"], &[]).ok();
    assert_eq!(asked(&["cacha"])["did_you_mean"], json!([{"typed": "cacha", "nearest": ["cache"]}]));
    let everywhere = asked(&["secret_project_zanzibra", "--all-projects"]);
    assert_eq!(everywhere["did_you_mean"][0]["nearest"], json!(["secret_project_zanzibar"]));
    // What a filter leaves out is not offered, and not missed either.
    assert_eq!(asked(&["cacha", "--type", "decision"]).get("did_you_mean"), None);
    assert_eq!(asked(&["cache", "--type", "decision"]).get("did_you_mean"), None);
}

#[test]
fn a_timeline_is_in_time_order_around_its_anchor() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for number in 0..5 {
        world.note(&format!("step {number}"));
        world.drain();
    }
    let anchor =
        world.cmem(&["search", "step 2", "--json", "--limit", "1"]).json()["results"][0]["id"].clone();
    let line =
        world.cmem(&["timeline", &anchor.to_string(), "--before", "1", "--after", "1", "--json"]).json();
    let titles: Vec<&str> =
        line["items"].as_array().unwrap().iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["step 1", "step 2", "step 3"]);
}

#[test]
fn waiting_events_are_named() {
    use crate::common::Mode;

    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Status(401));
    world.note("not yet seen");
    let _ = world.cmem(&["drain", "--wait"]);
    assert_eq!(world.cmem(&["search", "seen", "--json"]).json()["pending_events"], 1);
    let ran = world.cmem(&["search", "seen"]);
    assert!(format!("{}{}", ran.out, ran.err).contains("1 event"), "{}{}", ran.out, ran.err);
}

#[test]
fn what_is_not_there_is_said_plainly() {
    let world = World::new();
    assert!(world.cmem(&["get", "99999"]).failed(1).contains("99999"));
    assert!(world.cmem(&["get", "12x"]).failed(2).contains("12x"));
    assert!(world.cmem(&["timeline", "99999"]).failed(1).contains("99999"));
    assert_eq!(world.search("anything"), Vec::<String>::new());
    let refused = world.cmem(&["search", "x", "--project", "nowhere"]);
    assert!(refused.failed(1).contains("nowhere"));
}

#[test]
fn what_people_read_is_pinned() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.send("UserPromptSubmit", json!({"prompt": "why do deploys fail on Mondays?"})).answer();
    // One batch each, whoever drains first.
    for note in ["deploys fail because the cache is cold", "cache is warmed by a cron job"] {
        world.note(note);
        world.drain();
    }
    world.send("Stop", json!({"last_assistant_message": "The cache is cold on Mondays."})).silent();
    world.drain();
    for (name, args) in [
        ("search", vec!["search", "cache"]),
        ("search_everything", vec!["search", "*"]),
        ("search_nothing", vec!["search", "zebra"]),
        ("timeline", vec!["timeline", "1"]),
        ("get", vec!["get", "1", "P1"]),
    ] {
        insta::assert_snapshot!(name, world.fixed(&world.cmem(&args).ok()));
    }
}
