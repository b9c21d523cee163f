//! cmem as a plugin of the real Claude Code client.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::client::{Client, with_each_client};
use crate::common::{AgentApi, Step, World, wait_for};
use crate::real_client::{shown, walk};

const SKILLS: [&str; 7] = [
    "mem-search",
    "remember",
    "timeline-report",
    "weekly-digest",
    "standup",
    "mode-creator",
    "adopt-worktree",
];

/// A world whose `claude` is this client, and whose user has settings of his own.
fn world_of(client: &Client, api: &AgentApi) -> (World, PathBuf) {
    let mut world = World::new();
    client.put_on_path(&mut world, api);
    let project = world.repository("project");
    fs::write(world.path("home/.claude/settings.json"), "{\n  \"cleanupPeriodDays\": 30\n}\n").unwrap();
    fs::write(project.join("deploy.sh"), "#!/bin/sh\ncurl -f http://cache.internal/warm\n").unwrap();
    (world, project)
}

/// A session that learns something of deploys.
fn learn(client: &Client, world: &World, api: &AgentApi, project: &Path) {
    api.script(vec![
        Step::call("Read", json!({"file_path": project.join("deploy.sh")})),
        Step::call("Bash", json!({"command": "cat deploy.sh | wc -l", "description": "Count lines"})),
        Step::call("Bash", json!({"command": "false", "description": "Fail"})),
        Step::say("Deploys fail on Mondays because warm() runs before the cache host zirconium-4 is up."),
    ]);
    client.run(world, api, project, "Why do deploys fail on Mondays?", &[]);
    wait_for("the first session is stored", Duration::from_secs(30), || {
        world.status()["memory"]["observations"].as_i64() >= Some(1)
    });
    world.wait_for_drainers();
}

/// How often the model was told memories, in a conversation.
fn told(turn: &Value) -> usize {
    shown(turn).matches("recalled by cmem").count()
}

/// The first line of the last run: what the client has.
fn inventory(world: &World) -> Value {
    let log = fs::read_to_string(world.path("tmp/client.jsonl")).unwrap();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.into_iter().find(|line| line["subtype"] == "init").unwrap()
}

/// Files in the home folder that name cmem: by their name or in their text. Those of past sessions tell what was, as they
/// should.
fn naming_cmem(world: &World) -> Vec<PathBuf> {
    const PAST: [&str; 3] = [".claude/projects", ".claude/backups", ".claude/sessions"];
    let folder = world.path("home");
    let root = world.text_path("");
    let is_past = |path: &Path| PAST.iter().any(|past| path.starts_with(folder.join(past)));
    let names = |path: &PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).replace(&root, "/");
        text.contains("cmem") || path.strip_prefix(&folder).unwrap().to_string_lossy().contains("cmem")
    };
    walk(&folder).into_iter().filter(|path| !is_past(path) && names(path)).collect()
}

#[test]
fn a_plugin_comes_works_and_goes_without_a_trace() {
    with_each_client(|client| {
        let version = &client.version;
        let api = AgentApi::start();
        let (world, project) = world_of(client, &api);
        let installed = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        assert!(installed.contains("ran claude plugin install cmem@cmem-local"), "{version}: {installed}");
        let again = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        assert!(!again.contains("ran claude"), "{version}: {again}");
        let checks = world.cmem_in(&project, &["doctor", "--json"], &[]).json();
        let check =
            |name: &str| checks["checks"].as_array().unwrap().iter().find(|c| c["name"] == name).cloned();
        for name in ["hooks", "plugin"] {
            assert_eq!(check(name).unwrap()["state"], "ok", "{version}: {:?}", check(name));
        }

        learn(client, &world, &api, &project);
        let inventory = inventory(&world);
        let skills = inventory["skills"].to_string();
        for skill in SKILLS {
            assert!(skills.contains(&format!("\"cmem:{skill}\"")), "{version}: {skill}: {skills}");
        }
        assert!(inventory["plugins"].to_string().contains("\"cmem\""), "{version}: {}", inventory["plugins"]);
        let mut servers = inventory["mcp_servers"].as_array().unwrap().iter();
        let server = servers.find(|server| server["name"] == "plugin:cmem:cmem");
        assert_eq!(server.unwrap()["status"], "connected", "{version}: {inventory}");
        let first = &api.turns()[0];
        assert!(
            first.to_string().contains("cmem:mem-search"),
            "{version}: the model is not told of the skills"
        );
        // Start, prompt, three calls, stop and end. That one of the calls failed is told by the settings alone.
        let ledger = world.ledger();
        assert_eq!((ledger.seen, ledger.stored), (7, 7), "{version}: {ledger:?}");

        // What it learned is told at the next start, once; the skill leads to the memory.
        let before = api.turns().len();
        let found = "cmem search 'deploys on mondays' --limit 10";
        let program = crate::common::world::binary();
        api.script(vec![
            Step::call("Skill", json!({"skill": "cmem:mem-search"})),
            Step::call("Bash", json!({"command": found.replacen("cmem", program.to_str().unwrap(), 1), "description": "Search"})),
            Step::call("mcp__plugin_cmem_cmem__search", json!({"query": "deploys on mondays"})),
            Step::say("I know."),
        ]);
        client.run(&world, &api, &project, "What is in this folder?", &[]);
        let turns = api.turns();
        assert!(shown(&turns[before]).contains("zirconium-4"), "{version}: {}", shown(&turns[before]));
        assert_eq!(told(&turns[before]), 1, "{version}: {}", shown(&turns[before]));
        let skill = shown(&turns[before + 1]);
        let command = format!("{} search 'QUERY' --limit 10", program.display());
        assert!(skill.contains(&command), "{version}: {skill}");
        let result = turns[before + 2]["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(result.contains("tokens)"), "{version}: {result}");
        let rows = turns[before + 3]["messages"].as_array().unwrap().last().unwrap().to_string();
        assert!(rows.contains("tokens)") && !rows.contains("is_error\":true"), "{version}: {rows}");
        world.wait_for_drainers();

        let observations = world.status()["memory"]["observations"].clone();
        let named = naming_cmem(&world);
        let logs = |path: &PathBuf| path.to_string_lossy().contains("mcp-logs-plugin-cmem-cmem");
        assert!(named.iter().any(logs), "{version}: the client logs elsewhere: {named:?}");
        let gone = world.cmem_in(&project, &["uninstall"], &[]).ok();
        assert!(gone.contains("claude plugin uninstall cmem@cmem-local"), "{version}: {gone}");
        assert_eq!(naming_cmem(&world), Vec::<PathBuf>::new(), "{version}");
        assert!(!world.data().join("marketplace").exists());
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(world.path("home/.claude/settings.json")).unwrap())
                .unwrap();
        // The client's own note about how it is run here.
        settings.as_object_mut().unwrap().remove("skipDangerousModePermissionPrompt");
        assert_eq!(settings, json!({"cleanupPeriodDays": 30}), "{version}");
        assert_eq!(world.status()["memory"]["observations"], observations, "{version}: memory stays");

        // Nothing of it is in a session after that, and it can come again.
        let before = api.turns().len();
        api.script(vec![Step::say("Hello.")]);
        client.run(&world, &api, &project, "What do we know about deploys?", &[]);
        assert!(!shown(&api.turns()[before]).contains("zirconium-4"), "{version}");
        let _ = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        let _ = world.cmem_in(&project, &["uninstall", "--plugin"], &[]).ok();
        assert_eq!(naming_cmem(&world), Vec::<PathBuf>::new(), "{version}: the second time");
        world.assert_sound();
    });
}

#[test]
fn settings_and_plugin_together_double_nothing() {
    with_each_client(|client| {
        let version = &client.version;
        let api = AgentApi::start();
        let (world, project) = world_of(client, &api);
        let _ = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        // Somebody registered the hooks for everybody in the repository.
        let _ = world.cmem_in(&project, &["install", "--scope", "project"], &[]).ok();
        let doctor = world.cmem_in(&project, &["doctor"], &[]).out;
        assert!(doctor.contains("project settings too"), "{version}: {doctor}");
        learn(client, &world, &api, &project);
        // All but the failed call came twice.
        let ledger = world.ledger();
        assert_eq!((ledger.seen, ledger.stored), (13, 7), "{version}: {ledger:?}");
        assert_eq!(ledger.skipped.get("duplicate"), Some(&6), "{version}: {ledger:?}");

        let before = api.turns().len();
        let file = project.join("deploy.sh");
        fs::write(&file, format!("#!/bin/sh\n{}", "# a line of code\n".repeat(300))).unwrap();
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(std::time::SystemTime::now() - Duration::from_secs(3_600))
            .unwrap();
        api.script(vec![Step::call("Read", json!({"file_path": file})), Step::say("I see.")]);
        client.run(&world, &api, &project, "The deploys fail on Mondays, what about the cache host?", &[]);
        let turns = api.turns();
        assert_eq!(told(&turns[before]), 1, "{version}: at the start: {}", shown(&turns[before]));
        let gates =
            shown(&turns[before + 1]).matches("What earlier sessions learned about deploy.sh").count();
        assert_eq!(gates, 1, "{version}: beside the read: {}", shown(&turns[before + 1]));
        assert_eq!(
            world.cmem_in(&project, &["stats", "--gate", "--json"], &[]).json()["hints"],
            1,
            "{version}"
        );

        // Beside a prompt, where nothing was told at the start.
        let (mut quiet, project) = world_of(client, &api);
        quiet.set("CMEM_CONTEXT_TOKENS", "0");
        let _ = quiet.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        let _ = quiet.cmem_in(&project, &["install", "--scope", "project"], &[]).ok();
        learn(client, &quiet, &api, &project);
        let before = api.turns().len();
        api.script(vec![Step::say("I see.")]);
        client.run(&quiet, &api, &project, "The deploys fail on Mondays, what about the cache host?", &[]);
        assert_eq!(told(&api.turns()[before]), 1, "{version}: {}", shown(&api.turns()[before]));
        world.assert_sound();
    });
}

#[test]
fn a_plugin_of_one_project_is_that_projects_alone() {
    with_each_client(|client| {
        let version = &client.version;
        let api = AgentApi::start();
        let (world, project) = world_of(client, &api);
        let elsewhere = world.repository("elsewhere");
        fs::write(elsewhere.join("deploy.sh"), "#!/bin/sh\ncurl -f http://cache.internal/warm\n").unwrap();
        let _ = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
        for args in
            [&["uninstall", "cmem@cmem-local"][..], &["install", "--scope", "project", "cmem@cmem-local"]]
        {
            let ran = world.command("claude", &project).arg("plugin").args(args).output().unwrap();
            assert!(ran.status.success(), "{version}: {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        }
        let _ = world.cmem_in(&project, &["install"], &[]).ok();
        let hooks = |dir: &Path| {
            let checks = world.cmem_in(dir, &["doctor", "--json"], &[]).json();
            checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == "hooks").unwrap()
                ["message"]
                .to_string()
        };
        assert!(hooks(&project).contains("and the plugin cmem@cmem-local"), "{version}: {}", hooks(&project));
        assert!(!hooks(&elsewhere).contains("plugin"), "{version}: {}", hooks(&elsewhere));
        learn(client, &world, &api, &elsewhere);
        let ledger = world.ledger();
        assert_eq!((ledger.seen, ledger.stored), (7, 7), "{version}: {ledger:?}");

        let _ = world.cmem_in(&elsewhere, &["uninstall"], &[]).ok();
        assert_eq!(naming_cmem(&world), Vec::<PathBuf>::new(), "{version}");
        let left = fs::read_to_string(project.join(".claude/settings.json")).unwrap();
        assert!(!left.contains("cmem"), "{version}: {left}");
        world.assert_sound();
    });
}
