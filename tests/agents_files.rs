//! Files of other agents: what their users have in them stays, and what cmem put there goes again without a trace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::mcp::McpServer;
use crate::common::{World, binary};

fn put(world: &World, name: &str, text: &str) -> PathBuf {
    let path = world.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file and folder below `dir`, by its path there.
fn tree(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path.clone());
            }
            found.push(path.strip_prefix(dir).unwrap().to_owned());
        }
    }
    found.sort();
    found
}

#[test]
fn what_the_user_wrote_between_brackets_stays() {
    let before = [
        ("opencode", "home/.config/opencode/opencode.json", "{\n  // my settings\n  /* nothing yet */\n}\n"),
        (
            "opencode",
            "home/.config/opencode/opencode.jsonc",
            "{\n  \"mcp\": {\n    // add servers here\n  }\n}\n",
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            "{\n  \"theme\": \"x\", // dark\n  \"hooks\": {\n    \"BeforeTool\": [\n      // nothing yet\n    ]\n  }\n}\n",
        ),
        ("gemini", "home/.gemini/settings.json", "{\n  \"theme\": \"x\" // dark\n}\n"),
    ];
    for (agent, name, text_before) in before {
        let world = World::new();
        let file = put(&world, name, text_before);
        let _ = world.cmem(&["install", "--for", agent]).ok();
        let once = text(&file);
        for line in text_before.lines().filter(|line| line.contains("//") || line.contains("/*")) {
            let line = line.trim();
            assert!(
                once.contains(line) || once.contains(&line.replace("\"x\" //", "\"x\", //")),
                "{line}\n{once}"
            );
        }
        assert!(once.contains("hook --agent") || once.contains("\"mcp\""), "{once}");
        let _ = world.cmem(&["uninstall", "--for", agent]).ok();
        assert_eq!(text(&file), text_before, "{agent}");
    }
}

#[test]
fn a_remark_about_the_next_server_is_not_taken_out_with_ours() {
    let world = World::new();
    let file = put(
        &world,
        "home/.config/opencode/opencode.json",
        "{\n  \"mcp\": {\n    \"cmem\": { \"type\": \"local\", \"command\": [\"cmem\", \"mcp\"] },\n    // github is needed for work\n    \"github\": {}\n  }\n}\n",
    );
    let _ = world.cmem(&["uninstall", "--for", "opencode"]).ok();
    assert_eq!(
        text(&file),
        "{\n  \"mcp\": {\n    // github is needed for work\n    \"github\": {}\n  }\n}\n"
    );
}

#[test]
fn a_file_that_only_has_the_name_of_ours_is_left_alone() {
    let world = World::new();
    let plugin = put(&world, "home/.config/opencode/plugins/cmem.js", "export const Mine = 1;\n");
    let why = world.cmem(&["install", "--for", "opencode"]).failed(1);
    assert!(why.contains("cmem.js") && why.contains("not of cmem"), "{why}");
    assert!(!world.path("home/.config/opencode/opencode.json").exists());
    let _ = world.cmem(&["uninstall", "--for", "opencode"]).ok();
    assert_eq!(text(&plugin), "export const Mine = 1;\n");
    let hooks = put(&world, "home/.copilot/hooks/cmem.json", "{\"version\": 1, \"hooks\": {}}\n");
    let _ = world.cmem(&["install", "--for", "copilot"]).failed(1);
    let _ = world.cmem(&["uninstall", "--for", "copilot"]).ok();
    assert!(hooks.exists());
    let rule = put(&world, "project/.windsurf/rules/cmem.md", "# my own notes\n");
    let _ = world.cmem(&["uninstall", "--for", "windsurf"]).ok();
    assert_eq!(text(&rule), "# my own notes\n");
    let _ = world.cmem(&["install", "--for", "windsurf", "--scope", "project"]).ok();
    assert!(text(&rule).starts_with("# my own notes\n"), "{}", text(&rule));
    let _ = world.cmem(&["uninstall", "--for", "windsurf"]).ok();
    assert_eq!(text(&rule), "# my own notes\n");
}

#[test]
fn a_linked_file_and_one_that_was_there_stay() {
    let world = World::new();
    let (target, link) = (put(&world, "home/dot/mcp.json", "{}\n"), world.path("home/.cursor/mcp.json"));
    let hooks = put(&world, "home/.cursor/hooks.json", "{\n  \"version\": 1\n}\n");
    symlink(&target, &link).unwrap();
    let _ = world.cmem(&["install", "--for", "cursor"]).ok();
    assert!(text(&target).contains("mcpServers"));
    let _ = world.cmem(&["uninstall", "--for", "cursor"]).ok();
    assert!(link.is_symlink());
    assert_eq!(text(&target), "{}\n");
    assert_eq!(text(&hooks), "{\n  \"version\": 1\n}\n");
    // Without a file of the user behind it, too.
    fs::remove_file(world.path("home/dot/mcp.json")).unwrap();
    fs::write(&target, "").unwrap();
    let _ = world.cmem(&["install", "--for", "cursor"]).ok();
    let _ = world.cmem(&["uninstall", "--for", "cursor"]).ok();
    assert!(link.is_symlink() && !text(&target).contains("cmem"));
}

#[test]
fn nothing_is_left_behind() {
    let world = World::new();
    fs::write(world.path("home/.keep"), "").unwrap();
    let _ = put(&world, "home/.gemini/settings.json", "{\n  \"theme\": \"x\"\n}\n");
    let _ = put(&world, "project/.codex/config.toml", "model = \"m\"\n");
    let before = (tree(&world.path("home")), tree(&world.project()));
    for agent in ["codex", "cursor", "gemini", "opencode", "windsurf", "copilot"] {
        let _ = world.cmem(&["install", "--for", agent]).ok();
        if agent != "copilot" {
            let _ = world.cmem(&["install", "--for", agent, "--scope", "project"]).ok();
        }
        let _ = world.cmem(&["uninstall", "--for", agent]).ok();
        assert_eq!((tree(&world.path("home")), tree(&world.project())), before, "{agent}");
    }
}

#[test]
fn the_backup_is_what_there_was_before_cmem() {
    let world = World::new();
    let file =
        put(&world, "home/.cursor/hooks.json", "{\"hooks\": {\"stop\": [{\"command\": \"say done\"}]}}\n");
    let _ = world.cmem(&["install", "--for", "cursor"]).ok();
    let moved = text(&file).replace(binary().to_str().unwrap(), "/old/cmem");
    fs::write(&file, moved).unwrap();
    let _ = world.cmem(&["install", "--for", "cursor"]).ok();
    assert!(!text(&file).contains("/old/cmem"));
    let backup = text(&world.path("home/.cursor/hooks.json.cmem-backup"));
    assert!(!backup.contains("cmem"), "{backup}");
}

#[test]
fn what_stands_before_the_program_stays_when_it_moves() {
    let world = World::new();
    let program = binary();
    let program = program.to_str().unwrap();
    let command = |program: &str| {
        format!("CMEM_DATA_DIR=/srv/mem '{program}' hook --agent gemini SessionEnd 2>/dev/null")
    };
    let entry = |command: &str| {
        json!({ "hooks": { "SessionEnd": [{ "hooks": [{ "type": "command", "command": command }] }] },
                                        "mcpServers": { "cmem": { "command": "/old/cmem", "args": ["--data-dir", "/srv/mem", "mcp"] } } })
    };
    let file = put(&world, "home/.gemini/settings.json", &entry(&command("/old/cmem")).to_string());
    for _ in 0..2 {
        let _ = world.cmem(&["install", "--for", "gemini"]).ok();
        let now: Value = serde_json::from_str(&text(&file)).unwrap();
        assert_eq!(now["hooks"]["SessionEnd"][0]["hooks"][0]["command"], command(program), "{now}");
        assert_eq!(now["hooks"]["SessionEnd"].as_array().unwrap().len(), 1, "{now}");
        let server =
            json!({ "command": program, "args": ["--data-dir", "/srv/mem", "mcp", "--agent", "gemini"] });
        assert_eq!(now["mcpServers"]["cmem"], server);
    }
}

#[test]
fn a_server_of_the_user_with_our_name_is_his() {
    let world = World::new();
    let own = "{\"mcpServers\": {\"cmem\": {\"url\": \"https://memory.example\"}}}\n";
    let file = put(&world, "home/.cursor/mcp.json", own);
    let why = world.cmem(&["install", "--for", "cursor"]).failed(1);
    assert!(why.contains("mcpServers.cmem"), "{why}");
    let _ = world.cmem(&["uninstall", "--for", "cursor"]).ok();
    assert_eq!(text(&file), own);
    let own = "[mcp_servers.cmem]\nurl = \"https://memory.example\"\n";
    let file = put(&world, "home/.codex/config.toml", own);
    let why = world.cmem(&["install", "--for", "codex"]).failed(1);
    assert!(why.contains("mcp_servers.cmem"), "{why}");
    let _ = world.cmem(&["uninstall", "--for", "codex"]).ok();
    assert_eq!(text(&file), own);
}

#[test]
fn a_home_that_is_a_link_is_one_place() {
    let mut world = World::new();
    let home = world.path("linked-home");
    symlink(world.path("home"), &home).unwrap();
    world.set("HOME", home.to_str().unwrap());
    let _ = world.cmem_in(&home, &["install", "--for", "gemini"], &[]).ok();
    let _ = world.cmem_in(&home, &["uninstall", "--for", "gemini"], &[]).ok();
    assert!(!world.path("home/.gemini").exists());
}

#[test]
fn rules_below_a_block_that_lost_its_end_are_the_users() {
    let world = World::new();
    let rules = world.path("home/.codeium/windsurf/memories/global_rules.md");
    let _ = world.cmem(&["install", "--for", "windsurf"]).ok();
    let torn = text(&rules).replace("<!-- cmem: end -->\n", "") + "Never use tabs.\n";
    fs::write(&rules, &torn).unwrap();
    for args in [
        ["install", "--for", "windsurf"],
        ["install", "--for", "windsurf"],
        ["uninstall", "--for", "windsurf"],
    ] {
        let why = world.cmem(&args).failed(1);
        assert!(why.contains("global_rules.md") && why.contains("<!-- cmem: end -->"), "{why}");
        assert_eq!(text(&rules), torn);
    }
}

#[test]
fn the_doctor_is_silent_about_agents_that_were_never_registered() {
    let world = World::new();
    let _ = put(&world, "home/.cursor/mcp.json", "{\n  // mine\n}\n");
    let _ = put(&world, "home/.config/opencode/plugins/cmem.js", "export const Mine = 1;\n");
    assert!(!world.cmem(&["doctor"]).out.contains("agents"), "{}", world.cmem(&["doctor"]).out);
    let _ = put(
        &world,
        "home/.cursor/hooks.json",
        "{\"hooks\": {\"stop\": [{\"command\": \"cmem hook --agent cursor stop\"}]}}",
    );
    let told = world.cmem(&["doctor"]).out;
    assert!(told.contains("mcp.json is not valid JSON"), "{told}");
}

#[test]
fn a_directory_that_is_gone_is_no_project() {
    let world = World::new();
    let program = binary();
    let program = program.display();
    let run = |arguments: &str| {
        let script = format!("mkdir -p gone && cd gone && rmdir ../gone && exec '{program}' {arguments}");
        let mut shell = assert_cmd::Command::from_std(world.command("/bin/sh", &world.project()));
        shell.args(["-c", &script]).output().unwrap()
    };
    let refused = run("install --for gemini --scope project --dry-run");
    let why = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{why}");
    assert!(why.contains("directory"), "{why}");
    assert!(run("uninstall --for gemini --dry-run").status.success());
    let claude = String::from_utf8(run("install --scope project --dry-run").stdout).unwrap();
    assert!(!claude.contains("/.claude/settings.json"), "{claude}");
}

#[test]
fn an_instruction_names_the_program_by_its_path() {
    let world = World::new();
    let _ = world.cmem(&["install", "--for", "windsurf"]).ok();
    let rules = text(&world.path("home/.codeium/windsurf/memories/global_rules.md"));
    assert!(rules.contains(&format!("`{} search WORDS`", binary().display())), "{rules}");
}

#[test]
fn what_an_agent_remembers_over_mcp_is_its_own() {
    for agent in ["codex", "cursor"] {
        let world = World::new();
        // As the agent starts it, also from within Claude Code.
        let inherited = [("CLAUDE_CODE_SESSION_ID", "another")];
        let mut server = McpServer::start_with(&world, &["--agent", agent], &inherited);
        assert!(server.ok("remember", json!({"text": "Deploys happen on Mondays."})).contains("remembered"));
        let found = world.cmem(&["search", "deploys", "--json"]).json();
        assert_eq!(found["results"][0]["platform"], agent, "{found}");
        let id = found["results"][0]["id"].to_string().replace('"', "");
        assert!(world.cmem(&["get", &id]).ok().contains(&format!("({agent})")));
        let _ = world.cmem(&["install", "--for", agent]).ok();
        let file =
            world.path(if agent == "codex" { "home/.codex/config.toml" } else { "home/.cursor/mcp.json" });
        let plain = text(&file).split_whitespace().collect::<String>();
        assert!(plain.contains(&format!("[\"mcp\",\"--agent\",\"{agent}\"]")), "{plain}");
    }
}

/// Another agent's public turn does not make it public.
#[test]
fn a_private_turn_of_an_agent_is_private_for_its_own_server() {
    let world = World::new();
    let prompt = |agent: &str, event: &str, text: &str| {
        let payload =
            json!({ "session_id": agent, "cwd": world.project(), "hook_event_name": event, "prompt": text });
        let _ = world.hook_bytes(&["--agent", agent, event], payload.to_string().as_bytes()).answer();
    };
    let mut server = McpServer::start_with(&world, &["--agent", "codex"], &[]);
    prompt("codex", "UserPromptSubmit", "<private>the new price is 7</private>");
    prompt("gemini", "BeforeAgent", "What is the old price?");
    assert!(server.refused("remember", json!({"text": "The new price is 7."})).contains("private"));
    let mut other = McpServer::start_with(&world, &["--agent", "gemini"], &[]);
    assert!(other.ok("remember", json!({"text": "The old price is 6."})).contains("remembered"));
}
