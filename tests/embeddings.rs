//! The optional embeddings endpoint: what it adds to a search, and that nothing else depends on it.

use serde_json::{Value, json};

use crate::common::{Embed, EmbedServer, Mode, ModelServer, World};

const KEY: &str = "embed-key-0123456789abcdef";
const NOTES: [&str; 3] = [
    "The blorvik is fed from the second shelf",
    "Every quamtor needs a counterweight",
    "An ombrant is painted in spring",
];

fn use_endpoint(world: &mut World, endpoint: &EmbedServer) {
    world.set("CMEM_EMBED_BASE_URL", &endpoint.url());
    world.set("CMEM_EMBED_MODEL", "mock-embed");
    world.set("CMEM_EMBED_API_KEY", KEY);
}

/// A world with memories that are not embedded by the endpoint yet.
fn world_of(endpoint: &EmbedServer, notes: &[&str]) -> World {
    let mut world = World::new();
    use_endpoint(&mut world, endpoint);
    for note in notes {
        world.remember(&["--", note]);
    }
    world
}

fn titles(found: &Value) -> Vec<&str> {
    found["results"].as_array().unwrap().iter().map(|row| row["title"].as_str().unwrap()).collect()
}

fn embedded(world: &World) -> i64 {
    world.number("memory.db", "SELECT count(*) FROM vectors WHERE tokens IS NULL AND vector IS NOT NULL")
}

#[track_caller]
fn state(world: &World) -> (i64, i64, String) {
    let embeddings = &world.status()["embeddings"];
    let number = |key: &str| embeddings[key].as_i64().unwrap_or_else(|| panic!("{key} in {embeddings}"));
    (number("done"), number("waiting"), embeddings["error"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_model_of_the_endpoint_says_what_is_meant() {
    let endpoint = EmbedServer::start();
    let world = world_of(&endpoint, &NOTES);
    let ask = |query: &str| world.cmem(&["search", "--json", "--explain", "--", query]).json();
    // Nothing is asked of it before it has embedded something, and the embedded model knows no such word.
    assert_eq!(ask("snedzel")["indexes"], json!(["fts", "vector"]));
    assert_eq!(endpoint.asked().len(), 0);
    let told = world.cmem(&["drain"]);
    assert!(told.err.contains("embeddings: 3 observations"), "{}", told.err);
    assert_eq!(state(&world), (3, 0, String::new()));
    for (query, note) in [("snedzel", NOTES[0]), ("frelisk", NOTES[1]), ("yuttle", NOTES[2])] {
        let found = ask(query);
        assert_eq!(found["indexes"], json!(["fts", "vector"]));
        assert_eq!(titles(&found).first(), Some(&note), "{found}");
        assert_eq!(found["results"][0]["explain"]["passed_by"], "meaning", "{found}");
        assert!(found["results"][0]["explain"]["cosine"].as_f64().unwrap() > 0.9, "{found}");
    }
    // One request for each, with the question alone in it; none where there is no word to ask about.
    assert_eq!(endpoint.asked()[1..], [["snedzel"], ["frelisk"], ["yuttle"]]);
    for query in ["*", "", "🚀"] {
        let _ = world.cmem(&["search", "--", query]).ok();
    }
    assert_eq!(endpoint.asked().len(), 4);
    let request = &endpoint.requests()[0];
    assert_eq!(request.path, "/v1/embeddings");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["model"], "mock-embed");
    assert_eq!(body["input"].as_array().unwrap().len(), 3);
    // What it has not seen yet is found by the embedded model beside it.
    world.remember(&["--", "The login of the shop lasts ten minutes"]);
    assert_eq!(titles(&ask("sign in session duration"))[0], "The login of the shop lasts ten minutes");
}

#[test]
fn observations_are_sent_once_in_batches_without_secrets() {
    let endpoint = EmbedServer::start();
    let notes: Vec<String> = (0..70).map(|number| format!("Fact number {number} of hunter2.")).collect();
    let mut world = world_of(&endpoint, &notes.iter().map(String::as_str).collect::<Vec<_>>());
    world.remember(&["--", &format!("Long: {}", "word ".repeat(3_000))]);
    world.set("CMEM_REDACT_PATTERNS", "hunter2");
    world.drain();
    world.drain();
    let asked = endpoint.asked();
    assert_eq!(asked.iter().map(Vec::len).collect::<Vec<_>>(), [64, 7]);
    let mut texts: Vec<&String> = asked.iter().flatten().collect();
    assert!(texts.iter().all(|text| !text.contains("hunter2") && text.chars().count() <= 6_000));
    texts.sort();
    texts.dedup();
    assert_eq!((texts.len(), embedded(&world)), (71, 71));
    let _ = world.cmem(&["search", "who is hunter2"]).ok();
    let question = endpoint.asked().pop().unwrap();
    assert!(question[0].starts_with("who is ") && !question[0].contains("hunter2"), "{question:?}");
}

#[test]
fn any_order_and_any_number_of_vectors_is_coped_with() {
    for (mode, requests) in [(Embed::Backwards, 1), (Embed::TooFew(1), 4)] {
        let endpoint = EmbedServer::start();
        let world = world_of(&endpoint, &NOTES);
        endpoint.mode(mode);
        world.drain();
        assert_eq!(
            (state(&world), endpoint.asked().len() >= requests),
            ((3, 0, String::new()), true),
            "{mode:?}"
        );
        endpoint.mode(Embed::Ok(8));
        for (query, note) in [("snedzel", NOTES[0]), ("yuttle", NOTES[2])] {
            assert_eq!(world.search(query)[0], note, "{mode:?}");
        }
    }
}

#[test]
fn whatever_fails_is_told_with_its_remedy_and_made_up_for() {
    for (mode, class, remedy) in [
        (Embed::Status(401), "auth: ", "CMEM_EMBED_API_KEY"),
        (Embed::Status(403), "auth: ", "CMEM_EMBED_API_KEY"),
        (Embed::Status(404), "unrecoverable: ", "CMEM_EMBED_MODEL"),
        (Embed::Status(400), "unrecoverable: ", "CMEM_EMBED_MODEL"),
        (Embed::Status(500), "transient: ", "CMEM_EMBED_BASE_URL"),
        (Embed::RetryAfter(1), "rate_limited: ", "by itself"),
        (Embed::NotANumber, "malformed: ", "CMEM_EMBED_MODEL"),
        (Embed::TooFew(0), "malformed: ", "CMEM_EMBED_MODEL"),
        (Embed::Html, "transient: ", "CMEM_EMBED_BASE_URL"),
        (Embed::Hang, "transient: ", "CMEM_EMBED_BASE_URL"),
    ] {
        let endpoint = EmbedServer::start();
        let model = ModelServer::start();
        let mut world = World::with_model(&model);
        use_endpoint(&mut world, &endpoint);
        endpoint.mode(mode);
        if mode == Embed::Hang {
            world.set("CMEM_TIMEOUT_SECS", "1");
        }
        NOTES.iter().for_each(|note| world.note(note));
        // The observer's work is done as if there were no endpoint.
        let drained = world.cmem(&["drain", "--wait"]);
        world.wait_for_drainers();
        let told = drained.err.clone();
        let _ = drained.ok();
        world.assert_all_done();
        assert_eq!(
            world.search("*").iter().filter(|title| NOTES.contains(&title.as_str())).count(),
            3,
            "{mode:?}"
        );
        let (done, waiting, error) = state(&world);
        assert!((done, waiting) == (0, 3) && error.starts_with(class), "{mode:?}: {error} {told}");
        let doctor = world.cmem(&["doctor", "--json"]);
        let report: Value = serde_json::from_str(&doctor.out).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "embeddings").unwrap();
        assert_eq!(check["state"], "warn", "{check}");
        assert!(check["remedy"].as_str().unwrap().contains(remedy), "{mode:?}: {check}");
        let reindex = world.cmem(&["reindex"]);
        for text in [&told, &doctor.out, &world.cmem(&["status"]).ok(), &reindex.err, &reindex.out] {
            assert!(!text.contains(KEY), "{mode:?}: {text}");
        }
        if !matches!(mode, Embed::RetryAfter(_)) {
            assert!(reindex.failed(1).contains("embeddings: http://127.0.0.1:"), "{mode:?}");
        }
        assert_eq!(world.files_with(KEY), Vec::<std::path::PathBuf>::new(), "{mode:?}");
        endpoint.mode(Embed::Ok(8));
        if matches!(mode, Embed::RetryAfter(_)) {
            std::thread::sleep(std::time::Duration::from_millis(1_100));
        }
        world.drain();
        assert_eq!(state(&world), (3, 0, String::new()), "{mode:?}");
        assert_eq!(world.search("snedzel")[0], NOTES[0]);
    }
}

#[test]
fn a_question_that_is_not_answered_in_time_is_searched_by_its_words() {
    let mut endpoint = EmbedServer::start();
    let world = world_of(&endpoint, &NOTES);
    world.drain();
    let ask = |query: &str| {
        let ran = world.cmem(&["search", "--json", "--", query]);
        (ran.err.clone(), ran.json())
    };
    let fails = |mode: &str| {
        let (told, found) = ask("quamtor counterweight");
        assert_eq!(found["indexes"], json!(["fts"]), "{mode}");
        assert_eq!(titles(&found), [NOTES[1]], "{mode}");
        assert!(
            told.starts_with("words alone were searched: ") && told.lines().count() == 1,
            "{mode}: {told}"
        );
        assert!(!told.contains(KEY), "{told}");
        assert_eq!(titles(&ask("snedzel").1), Vec::<&str>::new(), "{mode}");
    };
    for mode in [
        Embed::Hang,
        Embed::Status(401),
        Embed::Status(429),
        Embed::Status(503),
        Embed::NotANumber,
        Embed::TooFew(0),
        Embed::Html,
    ] {
        endpoint.mode(mode);
        fails(&format!("{mode:?}"));
    }
    endpoint.stop();
    fails("nobody listens");
    assert_eq!(embedded(&world), 3);
}

#[test]
fn hooks_ask_nobody() {
    let endpoint = EmbedServer::start();
    let world =
        world_of(&endpoint, &["The retry limit of the upload is five, since the proxy gives up after that."]);
    world.drain();
    let before = endpoint.asked().len();
    endpoint.mode(Embed::Hang);
    let context = world.context_of("new", "startup");
    assert!(context.contains("retry limit of the upload"), "{context}");
    let prompt = json!({"session_id": "other", "prompt": "what is the retry limit of the upload?"});
    let told = world.send("UserPromptSubmit", prompt).answer().unwrap().to_string();
    assert!(told.contains("retry limit of the upload"), "{told}");
    world.note("a tool call");
    // The drainer that they start has nothing to embed while the turn goes on.
    world.wait_for_drainers();
    assert_eq!(endpoint.asked().len(), before);
}

#[test]
fn another_dimension_or_name_is_another_model() {
    let endpoint = EmbedServer::start();
    let mut world = world_of(&endpoint, &NOTES);
    world.drain();
    // The endpoint changes its dimension: no vector of before is compared, whatever is asked.
    endpoint.mode(Embed::Ok(12));
    assert_eq!(world.search("snedzel"), Vec::<String>::new());
    world.remember(&["--", "A snedzel is no quamtor"]);
    world.drain();
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM vectors WHERE length(vector) = 12"), 4);
    assert_eq!(world.search("yuttle")[0], NOTES[2]);
    // Another name: everything anew; what is not in use goes with a reindex.
    world.set("CMEM_EMBED_MODEL", "cmse-base-1");
    assert_eq!(state(&world), (0, 4, String::new()));
    world.drain();
    assert_eq!(embedded(&world), 3 + 4 + 4);
    assert_eq!(world.search("yuttle")[0], NOTES[2]);
    let again = world.cmem(&["reindex", "--json"]).json();
    assert_eq!(again["endpoint"], json!({"model": "cmse-base-1", "embedded": 0, "refused": 0}));
    assert_eq!(embedded(&world), 4);
    assert_eq!(world.search("yuttle")[0], NOTES[2]);
    // Without one, the embedded model answers as ever, and its vectors were there all the time.
    world.unset("CMEM_EMBED_BASE_URL");
    let asked = endpoint.asked().len();
    assert_eq!(world.search("counterweight of a quamtor")[0], NOTES[1]);
    assert_eq!(world.cmem(&["reindex", "--json"]).json(), json!({"observations": 4, "embedded": 0}));
    assert_eq!((embedded(&world), endpoint.asked().len()), (0, asked));
    assert!(world.status().get("embeddings").is_none());
}

#[test]
fn an_endpoint_that_cannot_decide_on_a_dimension_is_left_alone() {
    let endpoint = EmbedServer::start();
    let notes: Vec<String> = (0..130).map(|number| format!("Fact number {number}")).collect();
    let mut world = world_of(&endpoint, &notes.iter().map(String::as_str).collect::<Vec<_>>());
    endpoint.script(&[Embed::Ok(8), Embed::Ok(12), Embed::Ok(8)]);
    assert!(world.cmem(&["reindex"]).failed(1).contains("now another"));
    assert_eq!(endpoint.asked().len(), 3);
    assert!(state(&world).2.starts_with("malformed: "));
    // With other settings what failed before does not count.
    world.set("CMEM_EMBED_MODEL", "another");
    endpoint.mode(Embed::Ok(12));
    assert_eq!(state(&world), (0, 130, String::new()));
    world.drain();
    assert_eq!(state(&world), (130, 0, String::new()));
}

#[test]
fn a_text_that_is_refused_holds_no_other_up() {
    let endpoint = EmbedServer::start();
    let world = world_of(&endpoint, &NOTES);
    endpoint.mode(Embed::Refuse("quamtor"));
    world.drain();
    let embeddings = &world.status()["embeddings"];
    assert_eq!(
        (&embeddings["done"], &embeddings["refused"], &embeddings["error"]),
        (&json!(3), &json!(1), &Value::Null)
    );
    assert_eq!(embedded(&world), 2);
    // It is not sent again and again, and found all the same.
    let asked = endpoint.asked().len();
    world.drain();
    assert_eq!(endpoint.asked().len(), asked);
    assert_eq!(world.search("the counterweight")[0], NOTES[1]);
    endpoint.mode(Embed::Ok(8));
    let again = world.cmem(&["reindex", "--json"]).json();
    assert_eq!(again["endpoint"]["embedded"], 1, "{again}");
    assert_eq!(world.search("frelisk")[0], NOTES[1]);
}

#[test]
fn a_text_that_is_too_long_is_cut() {
    let endpoint = EmbedServer::start();
    let long = format!("The blorvik is fed. {}", "It eats moss. ".repeat(200));
    let world = world_of(&endpoint, &[NOTES[1], &long]);
    endpoint.mode(Embed::TooLong(1_200));
    world.drain();
    assert_eq!((embedded(&world), state(&world)), (2, (2, 0, String::new())));
    assert_eq!(world.search("snedzel")[0], "The blorvik is fed");
}

#[test]
fn a_backlog_leaves_half_of_the_day_to_the_observer() {
    let endpoint = EmbedServer::start();
    let mut world = world_of(&endpoint, &NOTES);
    world.set("CMEM_DAILY_TOKENS", "40");
    world.drain();
    assert_eq!(state(&world).0, 3);
    let used = world.cmem(&["stats", "--json"]).json();
    let row = &used["models"][0];
    assert_eq!((&row["model"], &row["calls"]), (&json!("mock-embed"), &json!(1)), "{used}");
    assert!(row["input"].as_i64().unwrap() >= 20, "{used}");
    world.remember(&["--", "A fourth thing"]);
    let told = world.cmem(&["drain"]);
    assert!(told.err.contains("put off"), "{}", told.err);
    let _ = told.ok();
    assert_eq!((state(&world).0, endpoint.asked().len()), (3, 1));
    world.set("CMEM_DAILY_TOKENS", "0");
    world.drain();
    assert_eq!(state(&world).0, 4);
}

#[test]
fn the_observer_and_the_endpoint_fail_apart() {
    let endpoint = EmbedServer::start();
    let model = ModelServer::start();
    let mut world = World::with_model(&model);
    use_endpoint(&mut world, &endpoint);
    world.remember(&["--", NOTES[0]]);
    model.mode(Mode::Status(401));
    world.note("waits for its observer");
    let _ = world.cmem(&["drain", "--wait"]).failed(1);
    assert_eq!((state(&world).0, world.ledger().waiting), (1, 1));
}

#[test]
fn a_wrong_setup_is_told_and_harms_nothing() {
    let mut world = World::new();
    world.remember(&["--", "The retry limit is five"]);
    for (base, model, key, named) in [
        ("http://127.0.0.1:1/v1", "", "", "CMEM_EMBED_MODEL"),
        ("ftp://SECRET@host", "m", "", "CMEM_EMBED_BASE_URL"),
        ("http://127.0.0.1:1/v1", "m", "two SECRET words", "CMEM_EMBED_API_KEY"),
    ] {
        world.set("CMEM_EMBED_BASE_URL", base);
        world.set("CMEM_EMBED_MODEL", model);
        world.set("CMEM_EMBED_API_KEY", key);
        world.drain();
        let found = world.cmem(&["search", "--json", "retry limit"]);
        assert!(found.err.contains(named), "{}", found.err);
        let doctor = world.cmem(&["doctor"]).out;
        assert!(doctor.contains(named), "{doctor}");
        let told = [found.err.clone(), doctor, world.cmem(&["reindex"]).failed(1)].concat();
        assert!(!told.contains("SECRET"), "{told}");
        let found = found.json();
        assert_eq!(
            (&found["indexes"], titles(&found)),
            (&json!(["fts", "vector"]), vec!["The retry limit is five"])
        );
    }
    let listed = world.cmem(&["config", "list"]).ok();
    assert!(listed.contains("CMEM_EMBED_API_KEY") && !listed.contains("words"), "{listed}");
}
