use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

const PROGRAM: &str = "/opt/my tools/cmem";

fn target(folder: &Path, name: &str, parts: Vec<Part>, comments: bool) -> Target {
    Target { path: folder.join(name), parts, comments }
}

/// The parts of the file that has this end of a path, for the project's scope in `folder`.
fn of(platform: Platform, end: &str, folder: &Path) -> Target {
    let targets = table::targets(platform, Scope::Project, folder, PROGRAM).unwrap();
    targets.into_iter().find(|target| target.path.ends_with(end)).unwrap()
}

fn apply(target: Target, platform: Platform, wish: Wish) -> (PathBuf, Vec<Change>) {
    let plan = AgentPlan::new(target, Path::new("/"), (platform, PROGRAM), wish).unwrap();
    plan.apply().unwrap();
    (plan.path, plan.changes)
}

/// Files that their users have, for each form.
fn files() -> Vec<(Platform, &'static str, &'static str)> {
    vec![
        (
            Platform::Codex,
            ".codex/hooks.json",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ]\n  }\n}\n",
        ),
        (
            Platform::Codex,
            ".codex/config.toml",
            "# mine\nmodel = \"gpt-5\" # keep\n\n[mcp_servers.other]\ncommand = 'x'\n\n[mcp_servers.other.env]\nA = \"1\"\n\n[tui]\nx = \"\"\"\n[mcp_servers.cmem]\n\"\"\"\n",
        ),
        (Platform::Codex, ".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n"),
        (Platform::Codex, ".codex/config.toml", "a = 1\r\n\r\n[tui]\r\nx = \"\"\"\r\ny\"\"\"\r\n"),
        (Platform::Codex, ".codex/config.toml", "\u{feff}a = 1\n"),
        (Platform::Codex, ".codex/config.toml", "a = 1\n[tui]\nx = 1"),
        (Platform::Codex, ".codex/config.toml", "a = 1\n\n[mcp_servers]\n\n[tui]\nx = 1\n# the end\n"),
        (
            Platform::Gemini,
            ".gemini/settings.json",
            "{\n  // a theme\n  \"ui\": { \"theme\": \"x\" }, // liked\n  \"hooks\": { \"AfterTool\": [ { \"matcher\": \"*\", \"hooks\": [ { \"type\": \"command\", \"command\": \"log\" } ] }, ], },\n  /* servers */\n  \"mcpServers\": {\n    \"o\": { \"command\": \"y\" }, // other\n  },\n}\n",
        ),
        (
            Platform::Cursor,
            ".cursor/hooks.json",
            "{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"stop\": [ { \"command\": \"./done.sh\" } ]\n\t}\n}",
        ),
        (Platform::Cursor, ".cursor/mcp.json", "{\"mcpServers\": {\"github\": {\"url\": \"https://x\"}}}"),
        (
            Platform::Opencode,
            "opencode.json",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": { \"o\": { \"type\": \"local\", \"command\": [\"y\"] } }\n}\n",
        ),
        (
            Platform::Windsurf,
            ".windsurf/hooks.json",
            "{ \"hooks\": { \"pre_user_prompt\": [ { \"command\": \"x\", \"show_output\": true } ] } }\n",
        ),
    ]
}

#[test]
fn registering_adds_and_taking_out_gives_the_old_file_back() {
    for (platform, name, before) in files() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, before).unwrap();
        let (_, changes) = apply(of(platform, name, folder.path()), platform, Wish::Install);
        assert!(!changes.is_empty(), "{name}");
        let once = fs::read_to_string(&file).unwrap();
        for line in before.lines().filter(|line| !line.trim().is_empty() && line.contains(" //")) {
            let comment = &line[line.rfind("//").unwrap()..];
            assert!(once.contains(comment), "{name}: {comment}\n{once}");
        }
        let (_, again) = apply(of(platform, name, folder.path()), platform, Wish::Install);
        assert_eq!(again, [], "{name}");
        assert_eq!(fs::read_to_string(&file).unwrap(), once, "{name}");
        let backup = fs::read_to_string(format!("{}.cmem-backup", file.display())).unwrap();
        assert_eq!(backup, before, "{name}");
        apply(of(platform, name, folder.path()), platform, Wish::Uninstall);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{name}");
    }
}

#[test]
fn a_file_that_is_ours_alone_comes_and_goes() {
    for platform in
        [Platform::Codex, Platform::Gemini, Platform::Cursor, Platform::Opencode, Platform::Windsurf]
    {
        let folder = TempDir::new().unwrap();
        let all = || table::targets(platform, Scope::Project, folder.path(), PROGRAM).unwrap();
        let files: Vec<PathBuf> = all().into_iter().map(|target| target.path).collect();
        for target in all() {
            apply(target, platform, Wish::Install);
        }
        for file in &files {
            assert!(file.is_file(), "{}", file.display());
        }
        for target in all() {
            let plan = AgentPlan::new(target, Path::new("/"), (platform, PROGRAM), Wish::Install).unwrap();
            assert_eq!(plan.changes(), [], "{}", plan.path().display());
            // Rules for the model name no program.
            if !plan.path().ends_with("rules/cmem.md") {
                assert!(plan.programs().iter().all(|program| program == PROGRAM), "{:?}", plan.programs());
                assert!(!plan.programs().is_empty(), "{}", plan.path().display());
            }
        }
        for target in all() {
            apply(target, platform, Wish::Uninstall);
        }
        for file in &files {
            assert!(!file.exists(), "{}", file.display());
        }
    }
}

#[test]
fn a_moved_program_is_followed_and_what_the_user_added_stays() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("f.json");
    let before = json!({
        "hooks": { "stop": [{ "command": "'/old/cmem' hook --agent cursor stop", "timeout": 99 }, { "command": "/old/cmem hook --agent cursor stop" }],
                   "gone": [{ "command": "/old/cmem hook --agent cursor gone" }] },
        "mcpServers": { "cmem": { "command": "/old/cmem", "args": ["mcp"], "env": { "A": "1" } } },
    });
    fs::write(&file, before.to_string()).unwrap();
    let hooks = of(Platform::Cursor, "hooks.json", folder.path()).parts;
    let server = of(Platform::Cursor, "mcp.json", folder.path()).parts;
    let parts = hooks.into_iter().chain(server).collect();
    let plan = AgentPlan::new(
        target(folder.path(), "f.json", parts, false),
        folder.path(),
        (Platform::Cursor, PROGRAM),
        Wish::Install,
    )
    .unwrap();
    assert!(plan.programs().iter().all(|program| program == "/old/cmem"));
    plan.apply().unwrap();
    let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        after["hooks"]["stop"],
        json!([{ "command": "'/opt/my tools/cmem' hook --agent cursor stop", "timeout": 99 }])
    );
    assert_eq!(after["hooks"].get("gone"), None);
    assert_eq!(
        after["mcpServers"]["cmem"],
        json!({ "command": PROGRAM, "args": ["mcp", "--agent", "cursor"], "env": { "A": "1" } })
    );
    assert_eq!(after["version"], 1);
}

#[test]
fn a_server_of_codex_keeps_what_the_user_set_for_it() {
    let text =
        "[mcp_servers.cmem]\ncommand = \"/old/cmem\" # here\nargs = [\"mcp\"]\nstartup_timeout_sec = 20\n";
    let wanted = json!({ "command": PROGRAM, "args": ["mcp"] });
    let changed = server::in_toml(text, Some(&wanted), PROGRAM).unwrap();
    assert_eq!(changed.program.as_deref(), Some("/old/cmem"));
    assert!(changed.text.contains("startup_timeout_sec = 20"), "{}", changed.text);
    assert!(changed.text.contains("command = \"/opt/my tools/cmem\""), "{}", changed.text);
    assert!(server::in_toml(&changed.text, Some(&wanted), PROGRAM).unwrap().change.is_none());
    assert_eq!(server::in_toml(&changed.text, None, PROGRAM).unwrap().text, "");
}

#[test]
fn what_cannot_be_understood_is_left_and_named() {
    let folder = TempDir::new().unwrap();
    let refused = |name: &str, platform: Platform, text: &str| {
        let target = of(platform, name, folder.path());
        let file = target.path.clone();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let error = AgentPlan::new(target, Path::new("/"), (platform, PROGRAM), Wish::Install).unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(!error.hint().is_empty());
        fs::remove_file(&file).unwrap();
        error.to_string().replace(&folder.path().display().to_string(), "")
    };
    for (name, platform, text, expected) in [
        (
            "hooks.json",
            Platform::Codex,
            "{ // no\n}",
            "/.codex/hooks.json is not valid JSON: key must be a string at line 1 column 3",
        ),
        ("hooks.json", Platform::Cursor, "[]", "/.cursor/hooks.json: `the file` is not an object"),
        ("hooks.json", Platform::Cursor, "{\"hooks\": 1}", "/.cursor/hooks.json: `hooks` is not an object"),
        (
            "mcp.json",
            Platform::Cursor,
            "{\"mcpServers\": []}",
            "/.cursor/mcp.json: `mcpServers` is not an object",
        ),
        (
            "config.toml",
            Platform::Codex,
            "mcp_servers = 1\n",
            "/.codex/config.toml is not valid TOML: `mcp_servers` is not a table",
        ),
    ] {
        assert_eq!(refused(name, platform, text), expected);
    }
    let broken = refused("config.toml", Platform::Codex, "a = 1\nb = \n");
    assert!(
        broken.starts_with("/.codex/config.toml is not valid TOML: ") && broken.contains("line 2"),
        "{broken}"
    );
    for (platform, scope) in [(Platform::Codex, Scope::Local), (Platform::Copilot, Scope::Project)] {
        let error = AgentPlan::install(platform, scope, folder.path(), PROGRAM).unwrap_err();
        assert!(matches!(error, InstallError::NoScope { .. }), "{error}");
    }
}

#[test]
fn no_instruction_file_of_everybody_is_touched() {
    let folder = TempDir::new().unwrap();
    for platform in Platform::ALL {
        for scope in Scope::ALL {
            for target in table::targets(platform, scope, folder.path(), PROGRAM).unwrap_or_default() {
                let name = target.path.file_name().unwrap().to_str().unwrap().to_lowercase();
                assert!(!["claude.md", "agents.md", "gemini.md"].contains(&name.as_str()), "{name}");
            }
        }
    }
}

#[test]
fn the_plugin_names_the_program_however_it_is_spelled() {
    let folder = TempDir::new().unwrap();
    for program in ["/a b/cmem", "/it's \"odd\"\\cmem"] {
        let targets = table::targets(Platform::Opencode, Scope::Project, folder.path(), program).unwrap();
        let [Part::File { text, .. }] = targets[0].parts.as_slice() else { panic!() };
        assert_eq!(server::program_in(text).as_deref(), Some(program));
    }
}

proptest! {
    #[test]
    fn a_server_in_any_toml_comes_and_goes(keys in prop::collection::btree_map("[a-z]{1,5}", "[ -~&&[^\"\\\\]]{0,9}", 0..5), table in any::<bool>()) {
        let mut text: String = keys.iter().map(|(key, value)| format!("{key} = \"{value}\" # c\n")).collect();
        if table {
            text += "\n[mcp_servers.zz]\ncommand = \"x\"\n";
        }
        let wanted = json!({ "command": PROGRAM, "args": ["mcp"] });
        let once = server::in_toml(&text, Some(&wanted), PROGRAM).unwrap();
        prop_assert!(once.text.starts_with(&text), "{}", once.text);
        let gone = server::in_toml(&once.text, None, PROGRAM).unwrap().text;
        prop_assert_eq!(gone.trim_end(), text.trim_end());
    }
}
