//! `cmem install` and `cmem uninstall` in a user's settings file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::{World, payload};

fn settings_file(world: &World) -> PathBuf {
    world.path("home/.claude/settings.json")
}

fn settings(world: &World) -> Value {
    serde_json::from_str(&fs::read_to_string(settings_file(world)).unwrap()).unwrap()
}

#[test]
fn the_nine_basic_events_are_registered_in_the_form_that_every_client_takes() {
    let world = World::new();
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let settings = settings(&world);
    let hooks = settings["hooks"].as_object().unwrap();
    let basic = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Notification",
        "SubagentStop",
        "Stop",
        "PreCompact",
        "SessionEnd",
    ];
    for (event, groups) in hooks {
        assert!(basic.contains(&event.as_str()), "{event} is unknown to old clients");
        for hook in groups.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap()) {
            assert_eq!(hook["type"], "command");
            let command = hook["command"].as_str().unwrap();
            assert!(command.contains(" hook"), "{command}");
            assert!(command.trim_start_matches(['"', '\'']).starts_with('/'), "an absolute path: {command}");
            assert!(hook.get("args").is_none() && hook.get("async").is_none(), "{hook}");
            let timeout = hook["timeout"].as_u64().unwrap();
            assert!((1..=60).contains(&timeout), "seconds: {timeout}");
        }
    }
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "Stop",
        "SessionEnd",
        "PreCompact",
        "SubagentStop",
    ] {
        assert!(hooks.contains_key(event), "{event}");
    }
}

#[test]
fn the_registered_command_works_as_the_client_runs_it() {
    let world = World::new();
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let settings = settings(&world);
    let command = settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let mut shell = assert_cmd::Command::from_std(world.command("/bin/sh", &world.project()));
    let input = payload::note("through the shell", &world.project()).to_string();
    shell.args(["-c", &command]).write_stdin(input).assert().success().stderr("");
    assert!(!world.files_with("through the shell").is_empty());
}

#[test]
fn other_entries_stay_and_uninstall_gives_the_old_file_back() {
    let world = World::new();
    let file = settings_file(&world);
    let before = "{\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n        ]\n    },\n    \"note\": \"Ünïcode 🚀\"\n}\n";
    fs::write(&file, before).unwrap();
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let once = fs::read_to_string(&file).unwrap();
    assert!(
        once.contains("\"model\": \"opus\"") && once.contains("say done") && once.contains("Ünïcode 🚀"),
        "{once}"
    );
    let backups = fs::read_dir(world.path("home/.claude")).unwrap().flatten();
    let kept =
        backups.filter(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text == before)).count();
    assert!(kept >= 1, "a backup of the old file");
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    assert_eq!(fs::read_to_string(&file).unwrap(), once, "a second time changes nothing");
    let _ = world.cmem(&["uninstall", "--scope", "user"]).ok();
    let after: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(after, serde_json::from_str::<Value>(before).unwrap());
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new();
    let told = world.cmem(&["install", "--scope", "user", "--dry-run"]).ok();
    assert!(told.contains("SessionStart"), "{told}");
    assert!(!settings_file(&world).exists());
}

#[test]
fn a_dry_run_notes_nothing_of_the_claude_command() {
    let mut world = World::new();
    world.set("CMEM_PROVIDER", "auto");
    world.install_claude("echo '2.1.197 (Claude Code)'");
    fs::create_dir_all(world.data()).unwrap();
    for args in [&["install", "--dry-run"][..], &["install", "--plugin", "--dry-run"]] {
        let told = world.cmem(args).err;
        assert!(told.contains("* claude"), "{told}");
        assert_eq!(fs::read_dir(world.data()).unwrap().count(), 0, "{args:?}");
    }
}

#[test]
fn a_home_that_is_a_link_is_one_place() {
    let mut world = World::new();
    let link = world.path("link");
    std::os::unix::fs::symlink(world.path("home"), &link).unwrap();
    world.set("HOME", link.to_str().unwrap());
    world.unset("CLAUDE_CONFIG_DIR");
    let _ = world.cmem_in(&link, &["install"], &[]).ok();
    let answer = world.cmem_in(&link, &["uninstall", "--json"], &[]).json();
    assert_eq!(answer["files"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(settings(&world), json!({}));
}

#[test]
fn the_price_of_each_provider_is_told() {
    let mut world = World::new();
    let told = world.cmem(&["install", "--dry-run"]);
    insta::assert_snapshot!(
        told.err
            .lines()
            .filter(|line| line.contains("  ") || line.contains("1,000"))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let row = |world: &World, provider: &str| {
        let answer = world.cmem(&["install", "--dry-run", "--json"]).json();
        let rows = answer["prices"].as_array().unwrap();
        rows.iter().find(|row| row["provider"] == provider).unwrap().clone()
    };
    assert_eq!(
        (&row(&world, "builtin")["dollars_per_1000_observations"], &row(&world, "builtin")["in_use"]),
        (&json!(0.0), &json!(true))
    );
    assert_eq!(row(&world, "claude")["dollars_per_1000_observations"], Value::Null, "part of a subscription");

    // Not with a key that is passed on: then each call is billed.
    world.set("CMEM_CLAUDE_ENV", "HTTPS_PROXY, ANTHROPIC_API_KEY");
    let billed = row(&world, "claude")["dollars_per_1000_observations"].clone();
    assert_eq!(billed, row(&world, "anthropic")["dollars_per_1000_observations"], "the same model");
    let told = world.cmem(&["install", "--dry-run"]).err;
    let line = told.lines().find(|line| line.contains(" claude ")).unwrap();
    assert!(line.contains('$') && line.contains("ANTHROPIC_API_KEY"), "{line}");
    world.set("CMEM_CLAUDE_ENV", "CLAUDE_CODE_OAUTH_TOKEN");
    assert_eq!(row(&world, "claude")["dollars_per_1000_observations"], Value::Null, "of the subscription");

    world.set("CMEM_PROVIDER", "openai");
    world.set("CMEM_MODEL", "own-model");
    assert!(world.cmem(&["install", "--dry-run"]).err.contains("* openai     not known for own-model"));
    world.set("CMEM_PRICES", "own-model=0/0/1000");
    let tokens = row(&world, "openai")["dollars_per_1000_observations"].as_f64().unwrap();
    assert_eq!(tokens, cmem::config::TOKENS_PER_OBSERVATION.output);
    let own = world.cmem(&["install", "--dry-run"]).err;
    assert!(own.contains("your CMEM_PRICES") && own.contains("anthropic  not known for"), "{own}");
    // A price for another provider's model says nothing about this one.
    assert_eq!(row(&world, "anthropic")["model"], "claude-haiku-4-5-20251001");

    fs::create_dir_all(world.data()).unwrap();
    fs::write(world.data().join("settings.json"), "{").unwrap();
    assert!(
        world.cmem(&["install", "--dry-run"]).ok().contains("SessionStart"),
        "settings do not keep it from that"
    );
}

#[test]
fn a_file_that_cannot_be_read_as_json_is_refused_and_left_alone() {
    let world = World::new();
    let broken = "{\"hooks\": {,}\n";
    fs::write(settings_file(&world), broken).unwrap();
    let refused = world.cmem(&["install", "--scope", "user"]).failed(1);
    assert!(refused.contains("settings.json"), "{refused}");
    assert_eq!(fs::read_to_string(settings_file(&world)).unwrap(), broken);
}

#[test]
fn project_and_local_scope_write_into_the_project() {
    let world = World::new();
    for (scope, name) in [("project", "settings.json"), ("local", "settings.local.json")] {
        let _ = world.cmem(&["install", "--scope", scope]).ok();
        let file = world.project().join(".claude").join(name);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("SessionStart"), "{scope}: {text}");
        let _ = world.cmem(&["uninstall", "--scope", scope]).ok();
        let left: Value =
            fs::read_to_string(&file).map_or(json!({}), |text| serde_json::from_str(&text).unwrap());
        assert_eq!(left, json!({}), "{scope}");
    }
    let refused = world.cmem(&["install", "--scope", "everywhere"]).failed(2);
    assert!(
        refused.contains("user") && refused.contains("project") && refused.contains("local"),
        "{refused}"
    );
}
