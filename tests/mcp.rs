//! `cmem mcp`, spoken to line by line: what it offers, that it is the commands' own text, and that nothing which a client
//! sends, takes back or leaves out ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cmem::model::estimate_tokens;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::mcp::{McpServer, said};
use crate::common::{ModelServer, World, wait_for};

/// What the tools may cost in every request of a model.
const MOST_TOKENS: usize = 920;

/// Three memories that the user said.
fn taught() -> World {
    let world = World::new();
    for text in [
        "The retry limit is 5: the gateway drops the sixth call.",
        "Releases are cut from main on Tuesdays.",
        "Sessions are kept in Redis for a day.",
    ] {
        world.remember(&["--type", "decision", "--tags", "ops", "--file", "src/gateway.rs", text]);
    }
    world
}

/// What the command prints, data and talk, as the tool has it.
fn printed(world: &World, args: &[&str]) -> String {
    let ran = world.cmem(args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    format!("{}{}", ran.out, ran.err).trim_end().to_owned()
}

#[test]
fn what_is_offered_is_little_and_says_its_price() {
    let world = World::new();
    let mut server = McpServer::spawn(&world, &world.project(), &[]);
    let greeting = server.greet("2025-11-25", json!({}));
    let instructions = greeting["result"]["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("Index first, then expand"), "{instructions}");
    assert!(instructions.contains("50-100 tokens") && instructions.contains("500-1,000 tokens"));
    let listed = server.ask("tools/list", json!({}));
    let tools = &listed["result"]["tools"];
    let tokens = estimate_tokens(&tools.to_string());
    println!("tools: {tokens} tokens; instructions: {}", estimate_tokens(&instructions));
    assert!(tokens <= MOST_TOKENS, "{tokens} tokens");
    for tool in tools.as_array().unwrap() {
        assert_eq!(tool["annotations"]["readOnlyHint"], tool["name"] != "remember", "{tool}");
    }
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
    let offered = format!("{}\n{}", pretty(&greeting["result"]), pretty(tools));
    insta::assert_snapshot!(offered.replace(env!("CARGO_PKG_VERSION"), "[version]"));
}

#[test]
fn a_tool_gives_what_its_command_prints() {
    let world = taught();
    let mut server = McpServer::start(&world);
    for (tool, arguments, args) in [
        ("search", json!({"query": "retry limit"}), &["search", "retry limit"][..]),
        ("search", json!({}), &["search"]),
        ("search", json!({"query": "-x *"}), &["search", "--", "-x *"]),
        (
            "search",
            json!({"query": "gateway", "limit": 1, "offset": 1, "type": "decision,note", "concept": ["ops"],
                   "file": "src/gateway.rs", "since": "1d", "until": "today", "kind": "observation"}),
            &[
                "search",
                "gateway",
                "--limit",
                "1",
                "--offset",
                "1",
                "--type",
                "decision,note",
                "--concept",
                "ops",
                "--file",
                "src/gateway.rs",
                "--since",
                "1d",
                "--until",
                "today",
                "--kind",
                "observation",
            ],
        ),
        (
            "search",
            json!({"query": "redis", "project": "project"}),
            &["search", "redis", "--project", "project"],
        ),
        ("search", json!({"query": "redis", "all_projects": true}), &["search", "redis", "--all-projects"]),
        ("search", json!({"query": "no such thing as this"}), &["search", "no such thing as this"]),
        ("timeline", json!({"anchor": "2"}), &["timeline", "2"]),
        (
            "timeline",
            json!({"anchor": 2, "before": 0, "after": "1"}),
            &["timeline", "2", "--before", "0", "--after", "1"],
        ),
        ("timeline", json!({"anchor": "retry limit"}), &["timeline", "retry limit"]),
        ("get_observations", json!({"ids": [1, "3"]}), &["get", "1", "3"]),
        ("get_observations", json!({"ids": "2", "history": true}), &["get", "2", "--history"]),
        ("context", json!({}), &["context"]),
        ("context", json!({"project": "project"}), &["context", "--project", "project"]),
        ("context", json!({"all_projects": true}), &["context", "--all-projects"]),
    ] {
        let text = server.ok(tool, arguments.clone());
        assert_eq!(text, printed(&world, args), "{tool} {arguments}");
        assert!(!text.is_empty() && !text.contains('\u{1b}'), "{text:?}");
    }
}

/// Clients may let such a tool run unasked, whatever their rules say of files.
#[test]
fn source_files_of_the_project_are_outlined_and_no_others() {
    let world = taught();
    let project = world.repository("project");
    let secret = world.path("secret.rs");
    fs::write(&secret, "pub const KEY: &str = \"outside\";\n").unwrap();
    fs::create_dir_all(project.join("src")).unwrap();
    fs::write(project.join("src/a.rs"), "/// Waits.\npub fn wait(ms: u64) {\n    sleep(ms);\n}\n").unwrap();
    fs::write(project.join(".env"), "KEY=classified\n").unwrap();
    std::os::unix::fs::symlink(&secret, project.join("link.rs")).unwrap();
    fs::write(project.join("cred.json"), r#"{"password": "classified"}"#).unwrap();
    fs::create_dir_all(project.join(".private")).unwrap();
    fs::write(project.join(".private/a.py"), "KEY = 'classified'\n").unwrap();
    let key = format!("pub const TOKEN: &str = \"ghp_{}\";\n", "a1B2c3D4e5F6".repeat(3));
    fs::write(project.join("src/key.rs"), key).unwrap();
    let mut server = McpServer::start(&world);
    for (tool, arguments, args) in [
        ("outline", json!({"path": "src/a.rs"}), &["outline", "src/a.rs"][..]),
        ("outline", json!({}), &["outline"]),
        ("outline", json!({"search": "wait", "limit": 1}), &["outline", "--search", "wait", "--limit", "1"]),
        ("unfold", json!({"path": "src/a.rs", "symbol": "wait"}), &["unfold", "src/a.rs", "wait"]),
    ] {
        let text = server.ok(tool, arguments.clone());
        assert_eq!(text, printed(&world, args), "{tool} {arguments}");
        assert!(text.contains("wait"), "{text}");
    }
    for (path, why) in [
        ("../secret.rs", "outside of the project"),
        ("link.rs", "outside of the project"),
        (secret.to_str().unwrap(), "outside of the project"),
        (".env", "is hidden"),
        (".private/a.py", "is hidden"),
        ("cred.json", "no source file"),
        ("src/none.rs", "none.rs"),
    ] {
        for (tool, arguments) in
            [("outline", json!({"path": path})), ("unfold", json!({"path": path, "symbol": "1"}))]
        {
            let told = server.refused(tool, arguments);
            assert!(told.contains(why), "{tool} {path}: {told}");
            assert!(!told.contains("classified") && !told.contains("KEY"), "{told}");
        }
    }
    let shown = server.ok("unfold", json!({"path": "src/key.rs", "symbol": "TOKEN"}));
    assert!(shown.contains("[redacted:") && !shown.contains("ghp_"), "{shown}");
    // The home directory is nobody's project.
    let mut home = McpServer::start_in(&world, &world.path("home"), &[]);
    fs::write(world.path("home/a.rs"), "fn classified() {}\n").unwrap();
    assert!(home.refused("outline", json!({"path": "a.rs"})).contains("in no project"));
    // Elsewhere than where the server was started.
    let mut elsewhere = McpServer::start_in(
        &world,
        &world.path("home"),
        &[("CLAUDE_PROJECT_DIR", project.to_str().unwrap())],
    );
    assert!(elsewhere.ok("outline", json!({"path": "src/a.rs"})).contains("pub fn wait(ms: u64)"));
}

#[test]
fn an_index_leads_to_the_whole_and_both_count_as_use() {
    let world = taught();
    let mut server = McpServer::start(&world);
    let rows = server.ok("search", json!({"query": "what drops calls?"}));
    let id = rows.split_whitespace().next().unwrap().to_owned();
    let whole = server.ok("get_observations", json!({"ids": [id]}));
    assert!(whole.contains("The retry limit is 5: the gateway drops the sixth call."), "{whole}");
    let uses = fs::read_to_string(world.data().join("uses.jsonl")).unwrap();
    assert!(uses.contains("\"observations\":[1]"), "{uses}");
}

#[test]
fn what_is_remembered_is_cleaned_and_told() {
    let world = World::new();
    let session = [("CLAUDE_CODE_SESSION_ID", "session-7")];
    let mut server = McpServer::start_in(&world, &world.project(), &session);
    let key = "AKIAIOSFODNN7EXAMPLE";
    let text = format!("Deploys use the key {key}. <private>Ana's number is 0170.</private>");
    let told = server.ok(
        "remember",
        json!({"text": text, "title": "Deploys", "type": "decision", "tags": "ops,deploy", "priority": "high",
               "files": ["deploy.sh"], "expires": "30d"}),
    );
    assert!(told.ends_with("\n1\nremembered in project project: Deploys"), "{told}");
    assert!(told.contains("was left out"), "{told}");
    let memory = world.cmem(&["get", "--json", "1"]).json()[0].clone();
    for (field, value) in [
        ("type", json!("decision")),
        ("priority", json!("high")),
        ("concepts", json!(["ops", "deploy"])),
        ("files_read", json!(["deploy.sh"])),
        ("session", json!("session-7")),
        ("source", json!("user")),
    ] {
        assert_eq!(memory[field], value, "{field}");
    }
    assert!(!memory["expires_at"].is_null());
    assert!(server.ok("remember", json!({"text": text, "title": "Deploys"})).contains("knew that already"));
    assert!(server.ok("search", json!({"query": "deploys"})).contains("Deploys"));
    for secret in [key, "0170"] {
        assert_eq!(world.files_with(secret), Vec::<std::path::PathBuf>::new(), "{secret}");
    }
    for (arguments, part) in [
        (json!({"text": "<private>all of it</private>"}), "marked as private"),
        (json!({"text": " "}), "there is no text"),
        (json!({}), "text is missing"),
        (json!({"text": "a", "type": "Not A Type"}), "is no type"),
        (json!({"text": "a", "expires": "yesterday"}), "expires cannot be"),
        (json!({"text": "a", "priority": "urgent"}), "allowed are low, normal, high"),
        (json!({"text": "a", "project": "nowhere"}), "no project is called"),
    ] {
        let told = server.refused("remember", arguments.clone());
        assert!(told.contains(part), "{arguments}: {told}");
    }
    // No text that means something to a command line reads the protocol's own input.
    assert!(server.ok("remember", json!({"text": "-"})).contains("remembered"));
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations"), 2);
    world.assert_sound_memory();
}

#[test]
fn what_may_not_be_captured_may_not_be_kept_either() {
    let mut world = World::new();
    let mut refused = |name: &str, value: &str, part: &str| {
        world.set(name, value);
        let mut server = McpServer::start(&world);
        let told = server.refused("remember", json!({"text": "The limit is 5."}));
        assert!(told.contains(part) && told.contains("nothing was stored"), "{told}");
        world.unset(name);
    };
    refused("CMEM_OFF", "1", "switched off");
    refused("CMEM_EXCLUDED_PROJECTS", "project", "excluded");
    // By its name too.
    let mut elsewhere = World::new();
    let (project, home) = (elsewhere.repository("project"), elsewhere.path("home"));
    let _ = elsewhere.cmem_in(&project, &["remember", "It is here."], b"").ok();
    elsewhere.set("CMEM_EXCLUDED_PROJECTS", "project");
    let mut server = McpServer::start_in(&elsewhere, &home, &[]);
    let told = server.refused("remember", json!({"text": "The limit is 5.", "project": "project"}));
    assert!(told.contains("excluded"), "{told}");
    // A setting that is changed meanwhile counts at once.
    let mut server = McpServer::start(&world);
    fs::write(world.project().join(".cmem-ignore"), "").unwrap();
    assert!(server.refused("remember", json!({"text": "The limit is 5."})).contains(".cmem-ignore"));
    fs::remove_file(world.project().join(".cmem-ignore")).unwrap();
    let _ = world.cmem(&["config", "set", "CMEM_OFF", "1"]).ok();
    assert!(server.refused("remember", json!({"text": "The limit is 5."})).contains("switched off"));
    let _ = world.cmem(&["config", "unset", "CMEM_OFF"]).ok();
    assert!(server.ok("remember", json!({"text": "The limit is 5."})).contains("remembered"));
}

/// `/clear` gives the client another session while the server stays.
#[test]
fn nothing_of_a_private_turn_is_kept_whichever_session_it_is_in() {
    let world = World::new();
    for own in ["session-1", "session-of-before"] {
        let mut server = McpServer::start_in(&world, &world.project(), &[("CLAUDE_CODE_SESSION_ID", own)]);
        let _ = world.send("SessionStart", json!({})).answer();
        world.send("UserPromptSubmit", json!({"prompt": "<private>the new price is 7</private>"})).silent();
        let told = server.refused("remember", json!({"text": "The new price is 7."}));
        assert!(told.contains("private"), "{told}");
        world.send("UserPromptSubmit", json!({"prompt": "What is the old price?"})).silent();
        assert!(
            server
                .ok("remember", json!({"text": format!("The old price of {own} is 6.")}))
                .contains("remembered")
        );
    }
    world.wait_for_drainers();
    assert_eq!(world.files_with("new price"), Vec::<std::path::PathBuf>::new());
}

/// Whoever does not tell his session is known by his place, however it is spelled.
#[test]
fn a_private_turn_holds_for_every_spelling_of_its_place() {
    let world = World::new();
    let project = world.repository("project");
    fs::create_dir_all(project.join("src")).unwrap();
    let link = world.path("link");
    std::os::unix::fs::symlink(&project, &link).unwrap();
    let (_, other) = (world.send("SessionStart", json!({})).answer(), world.repository("other"));
    world.send("UserPromptSubmit", json!({"prompt": "<private>the new price is 7</private>"})).silent();
    // Somebody else works beside it.
    world
        .send("UserPromptSubmit", json!({"session_id": "beside", "prompt": "What is the old price?"}))
        .silent();
    let slash = PathBuf::from(format!("{}/", project.display()));
    for place in [&project, &project.join("src"), &link, &slash] {
        let mut server = McpServer::start_in(
            &world,
            &world.path("home"),
            &[("CLAUDE_PROJECT_DIR", place.to_str().unwrap())],
        );
        let told = server.refused("remember", json!({"text": "The new price is 7."}));
        assert!(told.contains("private"), "{place:?}: {told}");
    }
    let in_place = |dir: &Path, session: &str| {
        let dir = dir.to_str().unwrap();
        let mut server = McpServer::start_in(
            &world,
            &world.path("home"),
            &[("CLAUDE_PROJECT_DIR", dir), ("CLAUDE_CODE_SESSION_ID", session)],
        );
        server.ok("remember", json!({"text": format!("What {session} says of {dir} is kept.")}))
    };
    // It holds for its own session and for nobody who tells another one.
    assert!(in_place(&project, "beside").contains("remembered"));
    assert!(in_place(&other, "").contains("remembered"));
    world.send("SessionEnd", json!({"reason": "other"})).silent();
    assert!(in_place(&project, "").contains("remembered"));
    world.wait_for_drainers();
    assert_eq!(world.files_with("new price"), Vec::<PathBuf>::new());
}

#[test]
fn the_context_of_each_project_is_a_resource() {
    let world = taught();
    let other = world.repository("elsewhere/über uns");
    let _ = world.cmem_in(&other, &["remember", "Die Preise stehen in preise.toml."], &[]).ok();
    let mut server = McpServer::start(&world);
    let templates = server.ask("resources/templates/list", json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "cmem://context/{project}");
    let listed = server.ask("resources/list", json!({}));
    let uris: Vec<&str> = listed["result"]["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["cmem://context", "cmem://context/project", "cmem://context/%C3%BCber%20uns"]);
    let mut read = |uri: &str| {
        let answer = server.ask("resources/read", json!({ "uri": uri }));
        let contents = &answer["result"]["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("text/plain")),
            "{answer}"
        );
        contents["text"].as_str().unwrap().to_owned()
    };
    let here = world.cmem(&["context"]).ok();
    assert!(here.contains("The retry limit is 5"), "{here}");
    assert_eq!(read("cmem://context"), here);
    assert_eq!(read("cmem://context/project"), world.cmem(&["context", "--project", "project"]).ok());
    let there = read("cmem://context/%C3%BCber%20uns");
    assert!(there.contains("Die Preise stehen") && !there.contains("retry"), "{there}");
    for uri in ["cmem://contextual", "cmem://elsewhere", "file:///etc/passwd", "", "cmem://context/%ff"] {
        let answer = server.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32002, "{uri}: {answer}");
    }
    let unknown = server.ask("resources/read", json!({"uri": "cmem://context/nowhere"}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no project is called"), "{unknown}");
}

#[test]
fn a_wrong_call_is_told_what_is_allowed() {
    let world = taught();
    let mut server = McpServer::start(&world);
    let listed = server.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let known: Vec<&String> = tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        let told = server.refused(name, json!({"nonsense": 1}));
        let allowed = known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        assert!(told.contains("\"nonsense\"") && told.ends_with(&format!("allowed are {allowed}")), "{told}");
    }
    for (tool, arguments, parts) in [
        ("search", json!({"limit": 0}), &["limit cannot be 0", "1 to 100"][..]),
        ("search", json!({"limit": "many"}), &["limit cannot be \"many\""]),
        ("search", json!({"since": "soon"}), &["since cannot be \"soon\"", "yesterday"]),
        ("search", json!({"kind": "dream"}), &["kind cannot be \"dream\"", "observation, summary, prompt"]),
        ("search", json!({"project": "nowhere"}), &["no project is called \"nowhere\"", "known are project"]),
        ("search", json!({"project": "project", "all_projects": true}), &["exclude each other"]),
        ("timeline", json!({"anchor": "S99"}), &["there is no record S99"]),
        ("timeline", json!({"before": -1}), &["before cannot be -1"]),
        ("get_observations", json!({}), &["ids is missing"]),
        ("get_observations", json!({"ids": []}), &["no id is given"]),
        ("get_observations", json!({"ids": ["12x"]}), &["12x"]),
        ("get_observations", json!({"ids": [77]}), &["there is no record 77"]),
        ("context", json!({"project": "nowhere"}), &["no project is called"]),
    ] {
        let told = server.refused(tool, arguments.clone());
        for part in parts {
            assert!(told.contains(part), "{tool} {arguments}: {told}");
        }
    }
    let some = server.ok("get_observations", json!({"ids": [1, 77]}));
    assert!(some.contains("retry limit") && some.ends_with("find ids with `cmem search`"), "{some}");
    let unknown = server.ask("tools/call", json!({"name": "forget", "arguments": {"ids": [1]}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let why = unknown["error"]["message"].as_str().unwrap();
    assert!(why.contains("unknown tool \"forget\"") && why.contains("get_observations"), "{why}");
    for params in [json!({"name": 5}), json!({}), json!({"name": "search", "arguments": [1]})] {
        let answer = server.ask("tools/call", params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    for method in ["prompts/get", "no/such", "tools/delete"] {
        assert_eq!(server.ask(method, json!({}))["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn a_memory_that_cannot_be_read_is_told_and_the_server_stays() {
    let world = World::new();
    let mut server = McpServer::start(&world);
    assert!(server.ok("search", json!({"query": "x"})).contains("nothing found"));
    assert!(server.refused("get_observations", json!({"ids": [1]})).contains("there is no record 1"));
    assert!(server.ok("context", json!({})).contains("would be told nothing"));
    assert!(!world.data().join("memory.db").exists(), "readers make nothing");
    let _ = server.ok("remember", json!({"text": "The limit is 5."}));
    assert!(server.ok("search", json!({"query": "limit"})).contains("The limit is 5"));

    let memory = world.data().join("memory.db");
    let well = fs::read(&memory).unwrap();
    let wal = world.data().join("memory.db-wal");
    let well_wal = fs::read(&wal).unwrap_or_default();
    let _ = fs::remove_file(&wal);
    fs::write(&memory, "this is no database, and was never one").unwrap();
    for (tool, arguments) in [("search", json!({})), ("remember", json!({"text": "Another limit is 6."}))] {
        let told = server.refused(tool, arguments);
        assert!(told.contains("not a readable database") && told.contains("backup"), "{told}");
    }
    let resource = server.ask("resources/read", json!({"uri": "cmem://context"}));
    assert!(resource["error"]["message"].as_str().unwrap().contains("not a readable database"), "{resource}");
    fs::remove_file(&memory).unwrap();
    Connection::open(&memory).unwrap().execute_batch("PRAGMA user_version = 9999").unwrap();
    assert!(server.refused("timeline", json!({"anchor": "1"})).contains("newer cmem"));

    fs::write(&memory, well).unwrap();
    fs::write(&wal, well_wal).unwrap();
    let _ = fs::remove_file(world.data().join("memory.db-shm"));
    let locked = Connection::open(&memory).unwrap();
    locked.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    assert!(server.refused("search", json!({})).contains("another process is writing; try again"));
    drop(locked);
    assert!(server.ok("search", json!({"query": "limit"})).contains("The limit is 5"));
    server.hang_up();
    assert_eq!(server.left().code(), Some(0));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let world = taught();
    let mut server = McpServer::start(&world);
    let calls: Vec<(i64, &str)> = (0..60)
        .map(|number| {
            let (tool, arguments, part) = match number % 4 {
                0 => ("search", json!({"query": "retry limit"}), "The retry limit is 5"),
                1 => ("get_observations", json!({"ids": [2]}), "Releases are cut"),
                2 => ("context", json!({}), "Sessions are kept"),
                _ => {
                    ("remember", json!({"text": format!("Port {number} is taken.")}), "remembered in project")
                }
            };
            (server.request("tools/call", json!({"name": tool, "arguments": arguments})), part)
        })
        .collect();
    for (id, part) in calls.iter().rev() {
        let (text, is_error) = said(&server.answer(&json!(id)));
        assert!(!is_error && text.contains(part), "{id}: {text}");
    }
    assert_eq!(world.number("memory.db", "SELECT count(*) FROM observations"), 3 + 15);
    world.assert_sound_memory();
}

#[test]
fn a_call_that_is_taken_back_is_not_answered_and_stores_nothing() {
    let world = taught();
    let mut server = McpServer::start(&world);
    let writer = Connection::open(world.data().join("memory.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let remember = |text: &str| json!({"name": "remember", "arguments": {"text": text}});
    let unwanted = server.request("tools/call", remember("Nobody wants to know that the limit is 9."));
    let unread = server.request("tools/call", remember("Nor that it was 8."));
    let wanted = server.request("tools/call", remember("The timeout is 30 seconds."));
    for id in [unwanted, unread] {
        let params = json!({"requestId": id, "reason": "the user pressed Escape"});
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }
    // Of a request that there is not.
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4_711}}),
    );
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    writer.execute_batch("ROLLBACK").unwrap();
    assert!(said(&server.answer(&json!(wanted))).0.contains("The timeout is 30 seconds"));
    assert!(server.ok("search", json!({"query": "timeout"})).contains("30 seconds"));
    wait_for("the others have given up", Duration::from_secs(30), || {
        writer.execute_batch("BEGIN EXCLUSIVE; ROLLBACK").is_ok()
    });
    let stored = "SELECT count(*) FROM observations WHERE narrative LIKE 'No%'";
    assert_eq!(world.number("memory.db", stored), 0);
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    assert_eq!(server.unclaimed(), Vec::<&Value>::new());
}

#[test]
fn the_end_of_the_input_is_the_end_of_the_server() {
    let world = taught();
    let mut server = McpServer::start(&world);
    let last = server.request("tools/call", json!({"name": "search", "arguments": {"query": "redis"}}));
    server.hang_up();
    assert!(said(&server.answer(&json!(last))).0.contains("Sessions are kept"), "what was asked is answered");
    assert_eq!(server.left().code(), Some(0));

    // Nothing that is at work keeps it: this one would wait for 15 seconds.
    let writer = Connection::open(world.data().join("memory.db")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut server = McpServer::start(&world);
    server.request("tools/call", json!({"name": "remember", "arguments": {"text": "The limit is 9."}}));
    server.hang_up();
    assert_eq!(server.left().code(), Some(0));
    drop(writer);
    assert_eq!(world.search("*").len(), 3);

    let mut never_greeted = McpServer::spawn(&world, &world.project(), &[]);
    never_greeted.hang_up();
    assert_eq!(never_greeted.left().code(), Some(0));
    world.assert_sound_memory();
}

#[test]
fn a_server_that_is_asked_to_end_leaves() {
    let world = taught();
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut server = McpServer::start(&world);
        assert!(server.ok("search", json!({"query": "redis"})).contains("Sessions"));
        send_signal(server.process(), signal);
        assert_eq!(server.left().code(), Some(0), "signal {signal}");
    }
    let never_greeted = McpServer::spawn(&world, &world.project(), &[]);
    // It takes signals from its first moment on that anybody can see.
    wait_for("the server waits for input", Duration::from_secs(10), || {
        fs::read_dir(format!("/proc/{}/task", never_greeted.process()))
            .is_ok_and(|threads| threads.count() > 1)
    });
    send_signal(never_greeted.process(), libc::SIGTERM);
    assert_eq!(never_greeted.left().code(), Some(0));
}

#[expect(unsafe_code, reason = "kill(2) has no safe wrapper in the standard library")]
fn send_signal(process: i32, signal: i32) {
    // SAFETY: a plain system call; the id is that of a child that was not waited for.
    unsafe { libc::kill(process, signal) };
}

#[test]
fn noise_on_the_input_ends_nothing_and_is_not_logged() {
    let world = taught();
    let mut server = McpServer::spawn(&world, &world.project(), &[]);
    for early in [
        &b"hello zirconium"[..],
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        br#"{"jsonrpc":"2.0","id":9,"result":{}}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    ] {
        server.write(early);
    }
    let asked_early = server.ask("tools/list", json!({}));
    assert_eq!(asked_early["error"]["code"], -32602, "{asked_early}");
    assert_eq!(server.greet("2025-06-18", json!({}))["result"]["protocolVersion"], "2025-06-18");
    for noise in [
        &b"{\"zirconium\": "[..],
        b"\xff\xfe\x00zirconium",
        b"",
        b"   \r",
        b"null",
        b"[]",
        br#"{"jsonrpc":"2.0","method":"notifications/no-such","params":{"x":1}}"#,
        br#"{"jsonrpc":"2.0","id":77,"result":{"zirconium":1}}"#,
        br#"{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"zirconium"}}"#,
    ] {
        server.write(noise);
    }
    server.write(&[vec![b'['; 200_000], vec![b']'; 200_000]].concat());
    server.write(br#"{"jsonrpc":"1.0","id":"old","method":"tools/list"}"#);
    assert_eq!(server.answer(&json!("old"))["error"]["code"], -32600);
    let long = json!({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
        "params": {"name": "remember", "arguments": {"text": "zirconium ".repeat(500_000)}}});
    server.send(&long);
    let refusal = server
        .receive(|message| message["error"]["message"].as_str().is_some_and(|why| why.contains("bytes")));
    assert_eq!(refusal["error"]["code"], -32600, "{refusal}");
    assert!(server.ok("search", json!({"query": "redis"})).contains("Sessions are kept"));
    server.hang_up();
    assert_eq!(server.left().code(), Some(0));
    let log = fs::read_to_string(world.data().join("logs/cmem.log")).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains("no JSON") && log.contains("too long") && !log.contains("zirconium"), "{log}");
}

#[test]
fn a_version_is_agreed_on() {
    let world = taught();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut server = McpServer::spawn(&world, &world.project(), &[]);
        assert_eq!(server.greet(asked, json!({}))["result"]["protocolVersion"], agreed, "{asked}");
        assert!(server.ok("search", json!({"query": "redis"})).contains("Sessions are kept"), "{asked}");
    }
    // From this one on there is no greeting.
    let mut server = McpServer::spawn(&world, &world.project(), &[]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                      "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                      "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "name": "search", "arguments": {"query": "redis"}});
    let answer = server.ask("tools/call", params);
    assert!(said(&answer).0.contains("Sessions are kept"), "{answer}");
    let discovered = server.ask("server/discover", json!({ "_meta": meta }));
    assert!(discovered["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
}

#[test]
fn the_project_is_the_clients() {
    let world = taught();
    let other = world.repository("other");
    let _ = world.cmem_in(&other, &["remember", "The port is 8080."], &[]).ok();
    let third = world.repository("with blank");
    let _ = world.cmem_in(&third, &["remember", "The queue is Kafka."], &[]).ok();
    let newest = |server: &mut McpServer| server.ok("search", json!({}));
    let other_dir = other.to_str().unwrap();

    let mut here = McpServer::start_in(&world, &other, &[]);
    assert!(newest(&mut here).contains("8080"));
    let mut named = McpServer::start_in(&world, &world.project(), &[("CLAUDE_PROJECT_DIR", other_dir)]);
    assert!(newest(&mut named).contains("8080") && !newest(&mut named).contains("Redis"));
    let gone = world.path("gone");
    let mut gone = McpServer::start_in(&world, &other, &[("CLAUDE_PROJECT_DIR", gone.to_str().unwrap())]);
    assert!(newest(&mut gone).contains("8080"), "a directory that is not there names nothing");

    let mut rooted = McpServer::spawn(&world, &world.project(), &[]);
    rooted.greet("2025-06-18", json!({"roots": {"listChanged": true}}));
    let tell = |server: &mut McpServer, roots: Value| {
        let asked = server.receive(|message| message["method"] == "roots/list");
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}));
    };
    let call = json!({"name": "search", "arguments": {}});
    let id = rooted.request("tools/call", call.clone());
    let uri = format!("file://{}", third.to_str().unwrap().replace(' ', "%20"));
    tell(
        &mut rooted,
        json!([{"uri": "https://example.org"}, {"uri": "file:///no/such"}, {"uri": uri, "name": "third"}]),
    );
    assert!(said(&rooted.answer(&json!(id))).0.contains("Kafka"));
    assert!(newest(&mut rooted).contains("Kafka"), "it is asked once");
    rooted.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    assert_eq!(rooted.ask("ping", json!({}))["result"], json!({}));
    let id = rooted.request("tools/call", call);
    tell(&mut rooted, json!([]));
    assert!(said(&rooted.answer(&json!(id))).0.contains("Redis"), "no root is the working directory");
}

#[test]
fn the_observers_own_client_is_offered_nothing() {
    let world = taught();
    let mut server = McpServer::spawn(&world, &world.project(), &[("CMEM_OBSERVER", "1")]);
    let greeting = server.greet("2025-11-25", json!({}));
    assert!(greeting["result"].get("instructions").is_none(), "{greeting}");
    assert_eq!(server.ask("tools/list", json!({}))["result"]["tools"], json!([]));
    assert_eq!(server.ask("resources/list", json!({}))["error"]["code"], -32601);
    let answer = server.ask("tools/call", json!({"name": "remember", "arguments": {"text": "x"}}));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    server.hang_up();
    assert_eq!(server.left().code(), Some(0));
}

#[test]
fn hooks_do_not_capture_what_comes_from_memory() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let response = json!([{"type": "text", "text": "@@zirconium@@"}]);
    for tool in [
        "mcp__cmem__search",
        "mcp__plugin_cmem_cmem__search",
        "mcp__cmem__get_observations",
        "mcp__plugin_cmem_cmem__remember",
    ] {
        let fields =
            json!({"tool_name": tool, "tool_input": {"query": "zirconium"}, "tool_response": response});
        world.send("PostToolUse", fields).silent();
        let fields = json!({"tool_name": tool, "tool_input": {"query": "zirconium"}, "error": "zirconium"});
        world.send("PostToolUseFailure", fields).silent();
    }
    let fields = json!({"tool_name": "ReadMcpResourceTool", "tool_input": {"server": "plugin:cmem:cmem", "uri": "cmem://context"},
                        "tool_response": {"contents": [{"uri": "cmem://context", "text": "zirconium"}]}});
    world.send("PostToolUse", fields).silent();
    world.drain();
    assert_eq!(world.files_with("zirconium"), Vec::<std::path::PathBuf>::new());
    assert_eq!(model.count(), 0);
}
