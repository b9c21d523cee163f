//! cmem as a plugin: its files, its skills, its registration as far as it goes without the client, and hooks that two
//! registrations deliver.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::{ModelServer, World, payload};
use crate::real_client::walk;

const ID: &str = "cmem@cmem-local";

/// A world without any `claude` on its PATH.
fn lonely() -> World {
    let mut world = World::new();
    let bin = world.path("bin");
    fs::create_dir_all(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    for tool in ["sh", "git"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|path| path.is_file());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(tool)).unwrap();
    }
    world.set("PATH", bin.to_str().unwrap());
    world
}

/// Puts a `claude` on the PATH that says its version, notes every other call and then does what `script` says.
fn with_claude(version: &str, script: &str) -> World {
    let world = lonely();
    let program = world.path("bin/claude");
    let calls = world.text_path("calls");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo '{version} (Claude Code)' && exit\necho \"$*\" >> '{calls}'\n{script}\n"
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    world
}

fn calls(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.path("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn settings(world: &World) -> PathBuf {
    world.path("home/.claude/settings.json")
}

fn marketplace(world: &World) -> PathBuf {
    world.data().join("marketplace")
}

/// Notes what the client notes when the plugin was installed by hand.
fn install_by_hand(world: &World, version: &str) {
    let mut value = json_of(&settings(world));
    value["enabledPlugins"] = json!({ID: true});
    fs::write(settings(world), value.to_string()).unwrap();
    let plugins = world.path("home/.claude/plugins");
    fs::create_dir_all(plugins.join("cache/cmem-local/cmem")).unwrap();
    let source = json!({"source": "directory", "path": marketplace(world)});
    let write = |name: &str, value: Value| fs::write(plugins.join(name), value.to_string()).unwrap();
    write("known_marketplaces.json", json!({"cmem-local": {"source": source}}));
    let entry =
        json!([{"scope": "user", "version": version, "installPath": plugins.join("cache/cmem-local/cmem")}]);
    write("installed_plugins.json", json!({"version": 2, "plugins": {ID: entry}}));
}

/// The version that `cmem install --plugin` writes here.
fn own_version(world: &World) -> String {
    let manifest = json_of(&marketplace(world).join("plugins/cmem/.claude-plugin/plugin.json"));
    manifest["version"].as_str().unwrap().to_owned()
}

/// Notes what the client notes when the plugin was installed, in this order, for the user (`None`) and for projects.
fn install_for(world: &World, entries: &[(Option<&Path>, &str)]) {
    let plugins = world.path("home/.claude/plugins");
    let entry = |(project, version): &(Option<&Path>, &str)| match project {
        None => json!({"scope": "user", "version": version, "installPath": plugins.join("cache/x")}),
        Some(path) => {
            json!({"scope": "project", "projectPath": path, "version": version, "installPath": plugins.join("cache/x")})
        }
    };
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    fs::create_dir_all(&plugins).unwrap();
    let source = json!({"source": "directory", "path": marketplace(world)});
    let write = |name: &str, value: Value| fs::write(plugins.join(name), value.to_string()).unwrap();
    write("known_marketplaces.json", json!({"cmem-local": {"source": source}}));
    write("installed_plugins.json", json!({"version": 2, "plugins": {ID: entries}}));
}

/// Puts what a project or its checkout says of the plugin into a settings file of it.
fn say_in(project: &Path, file: &str, enabled: bool) -> PathBuf {
    let file = project.join(".claude").join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, json!({"enabledPlugins": {ID: enabled}}).to_string()).unwrap();
    file
}

fn check_in(world: &World, dir: &Path, name: &str) -> Option<Value> {
    let answer = world.cmem_in(dir, &["doctor", "--json"], &[]).out;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned()
}

fn events(world: &World) -> Vec<String> {
    let value = json_of(&settings(world));
    value["hooks"].as_object().map(|hooks| hooks.keys().cloned().collect()).unwrap_or_default()
}

fn check(world: &World, name: &str) -> Option<Value> {
    check_in(world, &world.project(), name)
}

#[test]
fn without_the_client_the_plugin_is_written_and_the_rest_is_told() {
    let world = lonely();
    let _ = world.cmem(&["install"]).ok();
    assert_eq!(check(&world, "plugin"), None, "nothing of it is there");
    assert_eq!(check(&world, "hooks").unwrap()["state"], "ok");
    let dry = world.cmem(&["install", "--plugin", "--dry-run"]).ok();
    assert!(dry.contains("would change") && dry.contains("hooks/hooks.json"), "{dry}");
    assert!(!marketplace(&world).exists());

    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    let add = format!("/plugin marketplace add {}", marketplace(&world).display());
    assert!(refused.contains(&add) && refused.contains("/plugin install cmem@cmem-local"), "{refused}");
    assert_eq!(events(&world).len(), 8, "the hooks stay until the client has the plugin");
    assert_eq!(check(&world, "plugin").unwrap()["state"], "warn");
    let answer = world.cmem(&["install", "--plugin", "--json"]);
    let answer: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(answer["plugin"]["by_hand"], json!([add, "/plugin install cmem@cmem-local"]));
    assert_eq!(answer["plugin"]["files"], json!([]), "they are there");

    // The user does that, and runs the command again.
    let version = answer["plugin"]["version"].as_str().unwrap();
    install_by_hand(&world, version);
    let doubled = check(&world, "plugin").unwrap();
    assert!(doubled["message"].as_str().unwrap().contains("twice"), "{doubled}");
    assert_eq!(doubled["remedy"], "`cmem install --plugin`");
    let _ = world.cmem(&["install", "--plugin"]).ok();
    assert_eq!(events(&world), Vec::<String>::new());
    for name in ["plugin", "hooks"] {
        assert_eq!(check(&world, name).unwrap()["state"], "ok", "{name}: {:?}", check(&world, name));
    }
    assert!(check(&world, "hooks").unwrap()["message"].as_str().unwrap().contains(ID));

    // Both ways of installing find that nothing is to be done.
    for args in [&["install", "--plugin"][..], &["install"], &["install", "--scope", "local"]] {
        let told = world.cmem(args).ok();
        assert!(told.contains("nothing to do"), "{args:?}: {told}");
    }
    assert_eq!(events(&world), Vec::<String>::new());
    // What is for everybody who works on a project is not affected.
    let _ = world.cmem(&["install", "--scope", "project"]).ok();
    assert!(check(&world, "plugin").unwrap()["remedy"].as_str().unwrap().contains("--scope project"));
    let _ = world.cmem(&["uninstall", "--scope", "project"]).ok();

    let dry = world.cmem(&["uninstall", "--dry-run"]).ok();
    assert!(dry.contains("enabledPlugins.cmem@cmem-local"), "{dry}");
    assert!(marketplace(&world).exists());
    let _ = world.cmem(&["uninstall"]).ok();
    assert!(!marketplace(&world).exists());
    assert_eq!(json_of(&settings(&world)), json!({}));
    for path in walk(&world.path("home")) {
        assert!(!fs::read_to_string(&path).unwrap().contains("cmem"), "{}", path.display());
    }
    assert_eq!(check(&world, "plugin"), None);
    assert!(world.cmem(&["uninstall", "--plugin"]).ok().contains("not installed"));
}

#[test]
fn a_plugin_that_is_stale_disabled_or_changed_is_found() {
    let world = lonely();
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    let version =
        json_of(&marketplace(&world).join("plugins/cmem/.claude-plugin/plugin.json"))["version"].clone();
    fs::write(settings(&world), "{}").unwrap();
    install_by_hand(&world, "0.0.1+00000000");
    let says = |words: &str| {
        let found = check(&world, "plugin").unwrap();
        assert_eq!(found["state"], "warn", "{found}");
        assert!(found["message"].as_str().unwrap().contains(words), "{found}");
        found["remedy"].as_str().unwrap().to_owned()
    };
    assert_eq!(says("another version"), "`cmem install --plugin`");
    assert!(world.cmem(&["install"]).err.contains("`cmem install --plugin`"));
    install_by_hand(&world, version.as_str().unwrap());
    assert_eq!(check(&world, "plugin").unwrap()["state"], "ok");

    let skill = marketplace(&world).join("plugins/cmem/skills/remember/SKILL.md");
    fs::write(&skill, "changed").unwrap();
    assert_eq!(says("not as they were written"), "`cmem install --plugin`");
    let _ = world.cmem(&["install", "--plugin"]).ok();
    assert!(fs::read_to_string(&skill).unwrap().contains("name: remember"));

    fs::write(settings(&world), json!({"enabledPlugins": {ID: false}}).to_string()).unwrap();
    assert!(says("disabled").contains("claude plugin enable"));
    assert!(check(&world, "hooks").unwrap()["message"].as_str().unwrap().contains("nothing is captured"));
    let _ = world.cmem(&["install"]).ok();
    assert_eq!(events(&world).len(), 8, "a plugin that is not used registers nothing");
    let _ = world.cmem(&["uninstall", "--plugin"]).ok();
    assert_eq!(events(&world).len(), 8, "only the plugin goes");
}

#[test]
fn a_plugin_of_one_project_changes_nothing_for_the_others() {
    let world = lonely();
    let (project, elsewhere) = (world.repository("project"), world.repository("elsewhere"));
    let _ = world.cmem(&["install"]).ok();
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    let version = own_version(&world);
    install_for(&world, &[(Some(&project), &version)]);
    let settings_of_project = say_in(&project, "settings.json", true);
    let _ = world.cmem_in(&project, &["install"], &[]).ok();
    assert_eq!(events(&world).len(), 8, "the other projects have nothing else");
    assert!(check_in(&world, &project, "plugin").unwrap()["message"].as_str().unwrap().contains("twice"));
    let there = check_in(&world, &elsewhere, "hooks").unwrap();
    assert_eq!(there["state"], "ok");
    assert!(!there["message"].as_str().unwrap().contains("plugin"), "{there}");
    assert_eq!(check_in(&world, &elsewhere, "plugin").unwrap()["state"], "ok");
    let _ = world.cmem_in(&elsewhere, &["uninstall", "--scope", "user"], &[]).ok();
    assert_eq!(check_in(&world, &elsewhere, "hooks").unwrap()["state"], "warn", "nothing is captured there");
    // What nobody switched on is not in use.
    fs::write(&settings_of_project, "{}").unwrap();
    assert_eq!(check_in(&world, &project, "hooks").unwrap()["state"], "warn");

    // It goes from the project too, wherever that is said.
    say_in(&project, "settings.json", true);
    let _ = world.cmem_in(&elsewhere, &["uninstall"], &[]).ok();
    assert_eq!(fs::read_to_string(&settings_of_project).unwrap(), "{}");
}

#[test]
fn the_users_plugin_counts_beside_those_of_projects() {
    let world = lonely();
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    let version = own_version(&world);
    let other = world.path("other");
    install_for(&world, &[(Some(&other), "0.0.1+00000000"), (None, &version)]);
    fs::write(settings(&world), json!({"enabledPlugins": {ID: true}}).to_string()).unwrap();
    let told = world.cmem(&["install", "--plugin"]).ok();
    assert!(told.contains("nothing to do"), "{told}");
    assert_eq!(check(&world, "plugin").unwrap()["state"], "ok");

    // Those of projects alone are not the user's.
    install_for(&world, &[(Some(&other), &version)]);
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(refused.contains("/plugin install cmem@cmem-local"), "{refused}");
}

#[test]
fn a_project_that_switches_the_plugin_off_keeps_it_off() {
    let world = with_claude("2.1.197", "");
    let project = world.repository("project");
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    fs::write(settings(&world), json!({"enabledPlugins": {ID: true}}).to_string()).unwrap();
    install_for(&world, &[(None, &own_version(&world))]);
    let local = say_in(&project, "settings.local.json", false);
    let (before, calls_before) = (fs::read_to_string(&local).unwrap(), calls(&world));
    for args in [&["install"][..], &["install", "--plugin"]] {
        let _ = world.cmem_in(&project, args, &[]).ok();
        assert_eq!(events(&world), ["PostToolUseFailure", "WorktreeRemove"], "{args:?}");
    }
    assert_eq!(fs::read_to_string(&local).unwrap(), before);
    assert_eq!(calls(&world), calls_before);
    let found = check_in(&world, &project, "plugin").unwrap();
    assert!(found["message"].as_str().unwrap().contains("settings of this project"), "{found}");
    let hooks = check_in(&world, &project, "hooks").unwrap();
    assert_eq!(hooks["state"], "warn", "{hooks}");

    // Hooks of its own stay its own.
    let _ = world.cmem_in(&project, &["install", "--scope", "local"], &[]).ok();
    assert_eq!(check_in(&world, &project, "hooks").unwrap()["state"], "ok");
    let _ = world.cmem_in(&project, &["install", "--plugin"], &[]).ok();
    assert_eq!(check_in(&world, &project, "hooks").unwrap()["state"], "ok");
    let _ = world.cmem_in(&project, &["uninstall", "--scope", "local"], &[]).ok();

    // One that the user switched off is switched on in the user's settings.
    fs::write(settings(&world), json!({"enabledPlugins": {ID: false}}).to_string()).unwrap();
    let _ = world.cmem_in(&project, &["install", "--plugin"], &[]).failed(1);
    assert_eq!(calls(&world).last().unwrap(), "plugin enable cmem@cmem-local --scope user");
}

#[test]
fn a_program_that_is_gone_is_found() {
    let world = lonely();
    let old = world.path("old/cmem");
    let install = |args: &[&str]| {
        fs::create_dir_all(world.path("old")).unwrap();
        fs::copy(crate::common::world::binary(), &old).unwrap();
        let output = world.command(&old, &world.project()).args(args).output().unwrap();
        fs::remove_file(&old).unwrap();
        output
    };
    assert!(install(&["install"]).status.success());
    let hooks = check(&world, "hooks").unwrap();
    assert_eq!((&hooks["state"], &hooks["remedy"]), (&json!("warn"), &json!("`cmem install`")), "{hooks}");
    assert!(hooks["message"].as_str().unwrap().contains(old.to_str().unwrap()), "{hooks}");
    let _ = world.cmem(&["install"]).ok();
    assert_eq!(check(&world, "hooks").unwrap()["state"], "ok");

    let _ = world.cmem(&["uninstall"]).ok();
    install(&["install", "--plugin"]);
    install_by_hand(&world, &own_version(&world));
    let hooks = check(&world, "hooks").unwrap();
    assert_eq!(hooks["remedy"], "`cmem install --plugin`", "{hooks}");
}

#[test]
fn a_marketplace_of_another_data_directory_goes_too() {
    let world = lonely();
    let other = world.text_path("other-data");
    let _ = world.cmem(&["--data-dir", &other, "install", "--plugin"]).failed(1);
    let other = Path::new(&other).join("marketplace");
    let note = |path: &Path| {
        let plugins = world.path("home/.claude/plugins");
        fs::create_dir_all(&plugins).unwrap();
        let source = json!({"cmem-local": {"source": {"source": "directory", "path": path}}});
        fs::write(plugins.join("known_marketplaces.json"), source.to_string()).unwrap();
    };
    note(&other);
    let dry = world.cmem(&["uninstall", "--dry-run"]).ok();
    assert!(dry.contains(other.to_str().unwrap()), "{dry}");
    assert!(other.exists());
    let _ = world.cmem(&["uninstall"]).ok();
    assert!(!other.exists());

    // And where it is moved from.
    let world = with_claude(
        "2.1.197",
        "[ \"$2\" != install ] || /bin/cp \"$HOME\"/ready/* \"$HOME/.claude/plugins\"",
    );
    let old = world.path("old-data");
    let _ = world.cmem(&["--data-dir", old.to_str().unwrap(), "install", "--plugin"]).failed(1);
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    let version = own_version(&world);
    fs::write(settings(&world), json!({"enabledPlugins": {ID: true}}).to_string()).unwrap();
    install_for(&world, &[(None, &version)]);
    let (plugins, ready) = (world.path("home/.claude/plugins"), world.path("home/ready"));
    fs::rename(&plugins, &ready).unwrap();
    fs::create_dir(&plugins).unwrap();
    let source = json!({"cmem-local": {"source": {"source": "directory", "path": old.join("marketplace")}}});
    fs::write(plugins.join("known_marketplaces.json"), source.to_string()).unwrap();
    let _ = world.cmem(&["install", "--plugin"]).ok();
    assert!(!old.join("marketplace").exists() && marketplace(&world).exists());
}

#[test]
fn a_write_that_stopped_halfway_is_finished() {
    let world = lonely();
    let folder = marketplace(&world).join("plugins/cmem/.claude-plugin");
    fs::create_dir_all(&folder).unwrap();
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(refused.contains("/plugin marketplace add"), "{refused}");
    assert!(folder.join("plugin.json").is_file());
    let _ = world.cmem(&["uninstall"]).ok();
    assert!(!marketplace(&world).exists());
}

#[test]
fn notes_of_the_client_that_are_no_json_keep_nobody_from_leaving() {
    let world = lonely();
    let _ = world.cmem(&["install"]).ok();
    let notes = world.path("home/.claude/.claude.json");
    fs::write(&notes, "{\"userID\": ").unwrap();
    let _ = world.cmem(&["uninstall"]).ok();
    assert_eq!(json_of(&settings(&world)), json!({}));
    assert_eq!(fs::read_to_string(&notes).unwrap(), "{\"userID\": ");
}

#[test]
fn a_client_that_does_not_answer_is_not_one_that_is_missing() {
    let world = with_claude("2.1.197", "");
    fs::write(world.path("bin/claude"), "#!/bin/sh\nexit 1\n").unwrap();
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(!refused.contains("not found") && refused.contains("gives no answer"), "{refused}");
    assert!(refused.contains("/plugin marketplace add"), "{refused}");
}

/// What a version without plugins makes of `claude plugin …` is a prompt, which it would pay for.
#[test]
fn a_client_without_plugins_is_never_asked_for_one() {
    let world = with_claude("1.0.128", "");
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(refused.contains("1.0.128 has no plugins") && refused.contains("`cmem install`"), "{refused}");
    assert!(!marketplace(&world).exists());
    let _ = world.cmem(&["install"]).ok();
    install_by_hand(&world, "1");
    let _ = world.cmem(&["uninstall"]).ok();
    assert_eq!(calls(&world), Vec::<String>::new());
    assert!(!fs::read_to_string(settings(&world)).unwrap().contains("cmem"));
}

#[test]
fn a_client_that_refuses_is_quoted_and_the_hooks_stay() {
    let world = with_claude("2.1.197", "echo 'Adding marketplace...'; echo 'no such place' >&2; exit 1");
    let _ = world.cmem(&["install"]).ok();
    let before = fs::read_to_string(settings(&world)).unwrap();
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(
        refused.contains("claude plugin marketplace add") && refused.contains("no such place"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), before);
    assert_eq!(calls(&world).len(), 1, "what comes after it is not tried");

    // One that says yes and does nothing is found out.
    let world = with_claude("2.1.197", "");
    let refused = world.cmem(&["install", "--plugin"]).failed(1);
    assert!(refused.contains("does not use cmem@cmem-local"), "{refused}");
    assert_eq!(calls(&world).len(), 2);
}

#[test]
fn wrong_calls_are_refused() {
    let world = lonely();
    for args in [
        &["install", "--plugin", "--scope", "user"][..],
        &["install", "--package", "x"],
        &["uninstall", "--plugin", "--scope", "user"],
        &["install", "--for", "codex", "--plugin"],
        &["install", "--for", "codex", "--plugin", "--package", "x"],
        &["uninstall", "--for", "codex", "--plugin"],
    ] {
        let _ = world.cmem(args).failed(2);
    }
    fs::create_dir_all(world.path("mine/.claude-plugin")).unwrap();
    fs::write(world.path("mine/.claude-plugin/marketplace.json"), "{}").unwrap();
    let refused = world.cmem(&["install", "--plugin", "--package", &world.text_path("mine")]).failed(1);
    assert!(refused.contains("not of cmem's plugin"), "{refused}");
}

#[test]
fn settings_that_are_no_json_are_left_alone() {
    let world = lonely();
    fs::write(settings(&world), "{,}").unwrap();
    for args in [&["install", "--plugin"][..], &["uninstall"], &["uninstall", "--plugin"]] {
        let refused = world.cmem(args).failed(1);
        assert!(refused.contains("settings.json"), "{args:?}: {refused}");
    }
    assert_eq!(fs::read_to_string(settings(&world)).unwrap(), "{,}");
    assert!(!marketplace(&world).exists(), "everything is read before anything is written");
}

/// The plugin as others get it.
fn packaged(world: &World) -> PathBuf {
    let folder = world.path("package");
    let _ = world.cmem(&["install", "--plugin", "--package", folder.to_str().unwrap()]).ok();
    folder
}

#[test]
fn nothing_instructs_an_agent_at_large() {
    let world = lonely();
    let _ = world.cmem(&["install", "--plugin"]).failed(1);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(repository).unwrap().flatten().map(|entry| entry.path());
    let own = folders.filter(|path| !path.ends_with("target") && !path.ends_with(".git"));
    let own = own.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] });
    let written = walk(&marketplace(&world)).into_iter().chain(walk(&packaged(&world)));
    let mut seen = 0;
    for path in own.chain(written) {
        let name = path.file_name().unwrap().to_str().unwrap().to_lowercase();
        assert!(
            !["claude.md", "claude.local.md", "agents.md"].contains(&name.as_str()),
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert!(seen > 100, "{seen} files");
}

/// Command lines of a skill: in a block, or between back-quotes.
fn commands(skill: &str) -> Vec<String> {
    let in_text = skill.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let in_blocks = skill.lines().map(str::trim);
    let all = in_text.chain(in_blocks).filter(|text| text.starts_with("cmem "));
    all.map(str::to_owned).collect()
}

/// What a model puts in the place of each word in capitals.
fn filled(command: &str) -> String {
    const WORDS: [(&str, &str); 12] = [
        ("SUMMARY", "S1"),
        ("QUERY", "deploys"),
        ("BRANCH", "feat/cache"),
        ("TITLE", "a title"),
        ("TEXT", "some text that is kept"),
        ("WEEK", "2026-W48"),
        ("NAME", "bread-lab"),
        ("PATH", "src/cache.rs"),
        ("DATE", "2026-01-31"),
        ("FILE", "report"),
        ("TAG", "cache"),
        ("ID ID", "1 2"),
    ];
    let text = WORDS.iter().fold(command.to_owned(), |text, (word, value)| text.replace(word, value));
    text.replace(" ID", " 1")
}

#[test]
fn every_command_of_every_skill_works_as_it_is_written() {
    let mut world = lonely();
    let project = world.repository("project");
    let bin = world.path("bin");
    fs::write(
        bin.join("cmem"),
        format!("#!/bin/sh\nexec '{}' \"$@\"\n", crate::common::world::binary().display()),
    )
    .unwrap();
    fs::set_permissions(bin.join("cmem"), fs::Permissions::from_mode(0o755)).unwrap();
    world.set("CMEM_LINGER_SECS", "0");
    // Memories by hand, a session with a summary, and a worktree to adopt.
    world.remember(&["The retry limit is five."]);
    world.remember(&["The build takes an hour."]);
    world.git(&project, &["worktree", "add", "-q", world.path("wt").to_str().unwrap(), "-b", "feat/cache"]);
    for (session, cwd) in [("one", project.clone()), ("two", world.path("wt"))] {
        let at = |event: &str, fields: Value| payload::event(event, &cwd, fields);
        world.hook(&at("SessionStart", json!({"session_id": session}))).answer();
        world
            .hook(&at(
                "UserPromptSubmit",
                json!({"session_id": session, "prompt": "Why do the deploys fail?"}),
            ))
            .answer();
        world
            .hook(&at(
                "PostToolUse",
                json!({"session_id": session, "tool_name": "Edit",
                "tool_input": {"file_path": "src/cache.rs", "old_string": "a", "new_string": session},
                "tool_response": {"filePath": "src/cache.rs"}}),
            ))
            .silent();
        let said = "Fixed: the deploys failed because the cache was cold; it is warmed before now.";
        world.hook(&at("Stop", json!({"session_id": session, "last_assistant_message": said}))).silent();
    }
    world.drain();

    let mut ran = 0;
    for path in walk(&packaged(&world)).into_iter().filter(|path| path.ends_with("SKILL.md")) {
        let skill = fs::read_to_string(&path).unwrap();
        let commands = commands(&skill);
        assert!(!commands.is_empty(), "{}", path.display());
        for command in commands {
            let filled = filled(&command);
            let capitals = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
            let unknown = filled.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| capitals(word));
            assert_eq!(unknown, None, "{command}: the test does not know what stands for it");
            let output = world.command("sh", &project).args(["-c", &filled]).output().unwrap();
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {filled}: {told}", path.display());
            ran += 1;
        }
    }
    assert!(ran > 25, "{ran} commands");
}

#[test]
fn the_plugin_is_packaged_for_others() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/package-plugin");
    let checked = Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let world = World::new();
    let folder = world.path("out/plugin");
    let run = || {
        let mut command = world.command("bash", &world.project());
        command.arg(&script).arg(&folder).env("CMEM_BIN", crate::common::world::binary());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let out = String::from_utf8(output.stdout).unwrap();
        fs::read(out.lines().last().unwrap()).unwrap()
    };
    let archive = run();
    assert_eq!(run(), archive, "the same input, the same archive");
    assert!(world.path(concat!("out/cmem-plugin-", env!("CARGO_PKG_VERSION"), ".tar.gz")).is_file());
    // Nothing of this machine is in it.
    for path in walk(&folder) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&world.text_path("")) && !text.contains("target/"), "{}", path.display());
    }
    let hooks = json_of(&folder.join("plugins/cmem/hooks/hooks.json"));
    let command = |event: &str| hooks["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let world = lonely();
    let said = |event: &str| {
        let output = world.command("sh", &world.project()).args(["-c", &command(event)]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        String::from_utf8(output.stdout).unwrap()
    };
    let notice: Value = serde_json::from_str(&said("SessionStart")).unwrap();
    assert!(notice["systemMessage"].as_str().unwrap().contains("not on the PATH"), "{notice}");
    assert_eq!(said("Stop"), "", "once is enough");
}

/// The same event by the settings and by the plugin, side by side as the client starts them.
fn twice(world: &World, payload: &Value) -> Vec<Value> {
    let mut children = Vec::new();
    for root in [None, Some("/some/plugin")] {
        let mut command = world.command(crate::common::world::binary(), &world.project());
        command.arg("hook").stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        if let Some(root) = root {
            command.env("CLAUDE_PLUGIN_ROOT", root);
        }
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut stdin, payload.to_string().as_bytes()).unwrap();
        children.push(child);
    }
    let outputs = children.into_iter().map(|child| child.wait_with_output().unwrap().stdout);
    let answers = outputs.filter(|out| !out.is_empty()).map(|out| serde_json::from_slice(&out).unwrap());
    answers.filter(|answer: &Value| *answer != json!({})).collect()
}

#[test]
fn what_two_registrations_deliver_is_said_and_kept_once() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let lesson = "deploys fail on mondays because the cache host is cold";
    world.note(lesson);
    world.drain();
    let start = |session: &str, source: &str| {
        payload::event("SessionStart", &world.project(), json!({"session_id": session, "source": source}))
    };
    for session in ["a", "b", "c", "d"] {
        let answers = twice(&world, &start(session, "startup"));
        assert_eq!(answers.len(), 1, "{session}: {answers:?}");
        assert!(answers[0].to_string().contains("cold"), "{answers:?}");
    }
    // Emptied by compaction, it is told anew, and once again.
    assert_eq!(twice(&world, &start("a", "compact")).len(), 1);

    let mut told = 0;
    for session in ["e", "f", "g", "h", "i", "j"] {
        let prompt = json!({"session_id": session, "prompt": "why do the deploys fail on mondays?", "prompt_id": "p1"});
        let answers = twice(&world, &payload::event("UserPromptSubmit", &world.project(), prompt));
        // A machine that is busy may keep both from being in time.
        assert!(answers.len() <= 1, "{session}: {answers:?}");
        told += answers.len();
    }
    assert!(told > 0);
    assert!(twice(&world, &payload::note("kept once", &world.project())).is_empty());
    world.drain();
    assert_eq!(world.search("kept once"), ["kept once"]);
    world.assert_all_done();
}
