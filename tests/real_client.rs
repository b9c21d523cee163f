//! cmem in the hands of the real Claude Code client, offline. `scripts/get-client` installs the clients; a test
//! without its client says that it was skipped.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::client::{Client, last_result, long_script, with_each_client};
use crate::common::{AgentApi, Outage, Step, World, wait_for};

/// Everything that the model was shown in one request, as text.
pub fn shown(turn: &Value) -> String {
    format!("{} {}", turn["system"], turn["messages"])
}

#[test]
fn the_second_session_knows_what_the_first_one_learned() {
    with_each_client(|client| {
        let (world, api) = (World::new(), AgentApi::start());
        let project = world.repository("project");
        std::fs::write(project.join("deploy.sh"), "#!/bin/sh\ncurl -f http://cache.internal/warm\n").unwrap();
        let _ = world.cmem(&["install", "--scope", "user"]).ok();

        api.script(vec![
            Step::call("Read", json!({"file_path": project.join("deploy.sh")})),
            Step::call("Bash", json!({"command": "cat deploy.sh | wc -l", "description": "Count lines"})),
            Step::say("Deploys fail on Mondays because warm() runs before the cache host zirconium-7 is up."),
        ]);
        let took = client.run(&world, &api, &project, "Why do deploys fail on Mondays?", &[]);
        let left_after = api.last_turn().unwrap().elapsed();
        println!("{}: session of {took:?}, exit {left_after:?} after its last reply", client.version);
        wait_for("the first session is stored", Duration::from_secs(30), || {
            world.status()["memory"]["observations"].as_i64() >= Some(1)
        });

        let before = api.turns().len();
        assert!(!shown(&api.turns()[0]).contains("zirconium-7"));
        api.script(vec![Step::say("I know.")]);
        client.run(&world, &api, &project, "What do we know about deploys?", &[]);
        let first = &api.turns()[before];
        assert!(shown(first).contains("zirconium-7"), "{}: {first}", client.version);
        world.assert_sound();
    });
}

#[test]
fn a_prompt_about_something_remembered_reaches_the_model_with_it() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        // What is told at the start would hide it.
        world.set("CMEM_CONTEXT_TOKENS", "0");
        let project = world.repository("project");
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
        std::fs::write(project.join("deploy.sh"), "curl -f http://cache.internal/warm\n").unwrap();
        api.script(vec![
            Step::call("Read", json!({"file_path": project.join("deploy.sh")})),
            Step::call("Bash", json!({"command": "cat deploy.sh | wc -l", "description": "Count lines"})),
            Step::say("Deploys fail on Mondays because warm() runs before the cache host zirconium-6 is up."),
        ]);
        client.run(&world, &api, &project, "Why do deploys fail on Mondays?", &[]);
        wait_for("the first session is stored", Duration::from_secs(30), || {
            world.status()["memory"]["observations"].as_i64() >= Some(1)
        });
        world.wait_for_drainers();

        let asks = [
            ("The deploys fail on Mondays, what about the cache host?", true),
            ("Run the tests again.", false),
        ];
        for (prompt, is_told) in asks {
            let before = api.turns().len();
            api.script(vec![Step::say("I see.")]);
            client.run(&world, &api, &project, prompt, &[]);
            let first = shown(&api.turns()[before]);
            assert_eq!(first.contains("zirconium-6"), is_told, "{}: {prompt}: {first}", client.version);
            assert_eq!(first.contains("recalled by cmem"), is_told, "{}: {prompt}", client.version);
        }
        world.assert_sound();
    });
}

/// A project with a file that the first session learned something of.
fn taught_about(world: &World, api: &AgentApi, client: &Client, bytes: usize) -> std::path::PathBuf {
    let project = world.repository("project");
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let file = project.join("warm.py");
    std::fs::write(&file, format!("HOST = 'cold'\n{}", "# a line of code\n".repeat(bytes / 17))).unwrap();
    api.script(vec![
        Step::call("Read", json!({"file_path": file, "limit": 5})),
        Step::call("Edit", json!({"file_path": file, "old_string": "'cold'", "new_string": "'warm'"})),
        Step::say("warm.py must name the cache host zirconium-5, because deploys fail while it is cold."),
    ]);
    client.run(world, api, &project, "Why does warm.py fail?", &[]);
    wait_for("the first session is stored", Duration::from_secs(30), || {
        world.status()["memory"]["observations"].as_i64() >= Some(1)
    });
    world.wait_for_drainers();
    file
}

#[test]
fn what_is_known_of_a_file_is_told_beside_its_read() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        world.set("CMEM_CONTEXT_TOKENS", "0");
        world.set("CMEM_PROMPT_HITS", "0");
        let file = taught_about(&world, &api, client, 4_000);
        let before = api.turns().len();
        api.script(vec![Step::call("Read", json!({"file_path": file})), Step::say("I see.")]);
        client.run(&world, &api, file.parent().unwrap(), "Look at warm.py.", &[]);
        let after = shown(&api.turns()[before + 1]);
        assert!(after.contains("a line of code"), "{}: the file is read: {after}", client.version);
        assert!(after.contains("What earlier sessions learned about warm.py"), "{}: {after}", client.version);
        assert_eq!(world.cmem(&["stats", "--gate", "--json"]).json()["hints"], 1, "{}", client.version);
        world.assert_sound();
    });
}

#[test]
fn a_large_read_is_held_back_and_then_given() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        world.set("CMEM_CONTEXT_TOKENS", "0");
        world.set("CMEM_PROMPT_HITS", "0");
        let file = taught_about(&world, &api, client, 30_000);
        let before = api.turns().len();
        api.script(vec![
            Step::call("Read", json!({"file_path": file})),
            Step::call("Read", json!({"file_path": file})),
            Step::call("Edit", json!({"file_path": file, "old_string": "'warm'", "new_string": "'hot'"})),
            Step::call("Read", json!({"file_path": file, "limit": 3})),
            Step::say("Done."),
        ]);
        client.run(&world, &api, file.parent().unwrap(), "Change warm.py.", &[]);
        let results: Vec<String> = (1..=4).map(|step| last_result(&api, before + step)).collect();
        assert!(
            results[0].contains("held back") && !results[0].contains("a line of code"),
            "{}: {}",
            client.version,
            results[0]
        );
        assert!(results[1].contains("a line of code"), "{}: {}", client.version, results[1]);
        assert!(
            std::fs::read_to_string(&file).unwrap().starts_with("HOST = 'hot'"),
            "{}: {}",
            client.version,
            results[2]
        );
        assert!(!results[3].contains("held back"), "{}: {}", client.version, results[3]);
        let count = world.cmem(&["stats", "--gate", "--json"]).json();
        assert_eq!(
            (&count["blocks"], &count["read_whole"]),
            (&json!(1), &json!(1)),
            "{}: {count}",
            client.version
        );
        assert_eq!(count["edited"], 1, "{}: {count}", client.version);
        world.assert_sound();
    });
}

/// An edit of a file whose read was held back may need a read first; one of a few lines is never held back.
#[test]
fn a_file_whose_read_was_held_back_can_be_edited() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        world.set("CMEM_CONTEXT_TOKENS", "0");
        world.set("CMEM_PROMPT_HITS", "0");
        let file = taught_about(&world, &api, client, 30_000);
        let edit =
            || Step::call("Edit", json!({"file_path": file, "old_string": "'warm'", "new_string": "'hot'"}));
        api.script(vec![
            Step::call("Read", json!({"file_path": file})),
            edit(),
            Step::call("Read", json!({"file_path": file, "limit": 3})),
            edit(),
            Step::say("Done."),
        ]);
        client.run(&world, &api, file.parent().unwrap(), "Change warm.py.", &[]);
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("HOST = 'hot'"), "{}", client.version);
        let count = world.cmem(&["stats", "--gate", "--json"]).json();
        assert_eq!(
            (&count["blocks"], &count["read_whole"]),
            (&json!(1), &json!(0)),
            "{}: {count}",
            client.version
        );
        world.assert_sound();
    });
}

#[test]
fn what_a_merged_and_removed_worktree_learned_is_told_in_the_main_checkout() {
    with_each_client(|client| {
        let (world, api) = (World::new(), AgentApi::start());
        let project = world.repository("project");
        let worktree = world.path("feature");
        world.git(&project, &["worktree", "add", "-q", worktree.to_str().unwrap(), "-b", "feat/cache"]);
        let _ = world.cmem(&["install", "--scope", "user"]).ok();

        let commit = "echo warm > warm.sh && git add warm.sh && git -c user.name=t -c user.email=t@example.org \
                      commit -q -m 'Warm the cache first'";
        api.script(vec![
            Step::call("Bash", json!({"command": commit, "description": "Commit"})),
            Step::say("warm.sh must run before deploy.sh, because the cache host zirconium-8 starts cold."),
        ]);
        client.run(&world, &api, &worktree, "Make the deploy warm the cache.", &[]);
        wait_for("the session in the worktree is stored", Duration::from_secs(30), || {
            world.status()["memory"]["observations"].as_i64() >= Some(1)
        });
        world.wait_for_drainers();

        // The session ends, the branch is squashed, worktree and branch are gone: nobody runs cmem meanwhile.
        world.git(&project, &["merge", "-q", "--squash", "feat/cache"]);
        world.git(&project, &["commit", "-q", "-m", "Warm the cache (#7)"]);
        world.git(&project, &["worktree", "remove", "--force", worktree.to_str().unwrap()]);
        world.git(&project, &["branch", "-q", "-D", "feat/cache"]);

        let before = api.turns().len();
        api.script(vec![Step::say("I know.")]);
        client.run(&world, &api, &project, "What do we know about deploys?", &[]);
        let first = shown(&api.turns()[before]);
        assert!(first.contains("zirconium-8"), "{}: {first}", client.version);
        assert!(first.contains("project/feature"), "{}: no origin in {first}", client.version);
        world.assert_sound();
    });
}

#[test]
fn the_client_exits_without_waiting_for_the_drainer() {
    use crate::common::{Mode, ModelServer};

    with_each_client(|client| {
        let (model, api) = (ModelServer::start(), AgentApi::start());
        let world = World::with_model(&model);
        let project = world.repository("project");
        model.mode(Mode::Hang);
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
        api.script(vec![
            Step::call("Bash", json!({"command": "echo '@@kept@@'", "description": "Say it"})),
            Step::say("Done."),
        ]);
        let began = Instant::now();
        client.run(&world, &api, &project, "Say it.", &[]);
        let took = began.elapsed();
        assert!(
            took < Duration::from_secs(20),
            "{}: {took:?} while the model hangs for 30 s",
            client.version
        );
        assert_eq!(world.drainers().len(), 1, "{}: the drainer works on", client.version);
        model.mode(Mode::Ok);
        world.kill_drainers();
        world.drain();
        assert_eq!(world.search("kept"), ["kept"]);
    });
}

#[test]
fn sixty_tool_calls_in_a_row_are_all_kept() {
    with_each_client(|client| {
        let plain = long_session(client, false);
        let with_cmem = long_session(client, true);
        println!(
            "{}: 60 tool calls in {:.2} s, with cmem {:.2} s ({:.2} times)",
            client.version,
            plain.as_secs_f64(),
            with_cmem.as_secs_f64(),
            with_cmem.as_secs_f64() / plain.as_secs_f64()
        );
    });
}

fn long_session(client: &Client, with_cmem: bool) -> Duration {
    let (world, api) = (World::new(), AgentApi::start());
    let project = world.repository("project");
    if with_cmem {
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
    }
    api.script(long_script(&project));
    let took = client.run(&world, &api, &project, "Generate ten modules.", &[]);
    assert_eq!(api.turns().len(), 61);
    if with_cmem {
        wait_for("the session is drained", Duration::from_secs(30), || world.ledger().waiting == 0);
        let ledger = world.ledger();
        let triaged: i64 =
            ledger.skipped.iter().filter(|(reason, _)| *reason != "notification").map(|(_, n)| n).sum();
        // 60 tool calls, one prompt, one stop, the session's start and end.
        assert_eq!(ledger.stored + ledger.nothing + triaged, 64, "{}: {ledger:?}", client.version);
        assert_eq!(ledger.balance(), 0, "{}: {ledger:?}", client.version);
        world.assert_sound();
    }
    took
}

/// The user's own client as the observer: it is asked like any model, and nothing of ours runs inside it.
#[test]
fn the_client_itself_as_the_observer() {
    with_each_client(|client| {
        let (mut world, api) = (World::new(), AgentApi::start());
        let project = world.repository("project");
        client.put_on_path(&mut world, &api);
        world.set("CMEM_PROVIDER", "auto");
        world.set("CMEM_TIMEOUT_SECS", "60");
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
        let doctor = world.cmem(&["doctor"]).out;
        assert!(doctor.contains("provider claude"), "{}: {doctor}", client.version);

        api.script(vec![Step::say(
            "<observation><type>discovery</type><title>The queue is drained by zirconium-9</title>\
             <narrative>make shows it.</narrative></observation>",
        )]);
        world
            .send("PostToolUse", json!({"tool_response": {"stdout": "drained by zirconium-9", "stderr": ""}}))
            .silent();
        world.drain();
        assert_eq!(
            world.search("zirconium-9"),
            ["The queue is drained by zirconium-9"],
            "{}",
            client.version
        );
        let whole = world.cmem(&["get", "1", "--json"]).json();
        assert!(whole[0]["model"].as_str().unwrap().contains("claude"), "{whole}");

        // One request, without tools, with the events in it; no hook of ours fired inside, no trace of a session is left.
        let asked: Vec<Value> =
            api.turns().into_iter().filter(|turn| shown(turn).contains("zirconium-9")).collect();
        assert_eq!(asked.len(), 1, "{}", client.version);
        assert!(asked[0]["tools"].as_array().is_none_or(Vec::is_empty), "{}", asked[0]["tools"]);
        assert_eq!(world.ledger().seen, 1, "{}: recursion", client.version);
        let sessions = walk(&world.path("home/.claude/projects"));
        assert_eq!(sessions, Vec::<std::path::PathBuf>::new(), "{}", client.version);
        drop(project);
    });
}

/// A world whose observer is this client, which meets an outage.
fn observed_by(client: &Client, api: &AgentApi, timeout: &str, outage: Outage) -> World {
    api.fail(outage);
    let mut world = World::new();
    world.repository("project");
    client.put_on_path(&mut world, api);
    world.set("CMEM_PROVIDER", "claude");
    world.set("CMEM_TIMEOUT_SECS", timeout);
    world.send("UserPromptSubmit", json!({})).answer();
    world.note("kept through it all");
    world
}

/// What fails inside the client is told from what is merely late: it gives up at once, and says why.
#[test]
fn the_clients_failures_have_their_class() {
    with_each_client(|client| {
        for (status, class) in [(401, "auth"), (429, "rate_limited"), (529, "transient")] {
            let api = AgentApi::start();
            let began = Instant::now();
            let world = observed_by(client, &api, "30", Outage::Status(status));
            let _ = world.cmem(&["drain", "--wait"]);
            let (took, error) = (began.elapsed(), world.status()["last_error"].clone());
            assert_eq!(error["class"], class, "{} {status}: {error}", client.version);
            assert!(
                !error["message"].to_string().contains("no answer"),
                "{} {status}: {error}",
                client.version
            );
            assert!(took < Duration::from_secs(20), "{} {status}: {took:?}", client.version);
            assert_eq!(world.observers(), Vec::<i32>::new(), "{} {status}", client.version);
            let ledger = world.ledger();
            assert_eq!((ledger.waiting, ledger.balance()), (2, 0), "{} {status}: {ledger:?}", client.version);
        }
    });
}

#[test]
fn a_client_that_hangs_is_gone_after_the_deadline() {
    with_each_client(|client| {
        let api = AgentApi::start();
        let began = Instant::now();
        let world = observed_by(client, &api, "4", Outage::Hang);
        let _ = world.cmem(&["drain", "--wait"]);
        assert!(began.elapsed() < Duration::from_secs(30), "{}: {:?}", client.version, began.elapsed());
        let error = world.status()["last_error"].clone();
        assert_eq!(error["class"], "transient", "{}: {error}", client.version);
        assert_eq!(world.observers(), Vec::<i32>::new(), "{}", client.version);
        assert_eq!(world.ledger().waiting, 2);
    });
}

/// Nobody is left to end the client: it knows the deadline itself.
#[test]
fn a_client_whose_drainer_was_killed_ends_by_itself() {
    with_each_client(|client| {
        let api = AgentApi::start();
        let world = observed_by(client, &api, "5", Outage::Hang);
        wait_for("the client is at work", Duration::from_secs(20), || !world.observers().is_empty());
        assert_eq!(world.kill_drainers(), 1, "{}", client.version);
        wait_for("the client has left", Duration::from_secs(30), || world.observers().is_empty());
        assert_eq!(world.ledger().balance(), 0);
    });
}

/// Every file below a folder.
pub fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
