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

fn events(world: &World) -> Vec<String> {
    let value = json_of(&settings(world));
    value["hooks"].as_object().map(|hooks| hooks.keys().cloned().collect()).unwrap_or_default()
}

fn check(world: &World, name: &str) -> Option<Value> {
    let answer: Value = serde_json::from_str(&world.cmem(&["doctor", "--json"]).out).unwrap();
    answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned()
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
