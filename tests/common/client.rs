//! The real Claude Code client, offline: its own home, a dummy key, and the mock API as its only network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::world::binary;
use super::{AgentApi, Step, World};

/// The version that the tests were written against.
pub const REFERENCE: &str = "2.1.197";

/// A run longer than this has hung.
const LIMIT: Duration = Duration::from_secs(180);

const KEY: &str = "sk-ant-dummy-offline-key";

/// An installed client.
#[derive(Debug, Clone)]
pub struct Client {
    pub version: String,
    program: PathBuf,
}

impl Client {
    /// The client of this version, if `scripts/get-client` has installed it.
    pub fn find(version: &str) -> Option<Self> {
        installed().into_iter().find(|client| client.version == version)
    }

    /// The newest installed client, if it is another one than the reference.
    pub fn newest() -> Option<Self> {
        let numbers = |client: &Self| -> Vec<u64> {
            client.version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
        };
        installed().into_iter().filter(|client| client.version != REFERENCE).max_by_key(numbers)
    }

    /// Makes this client the `claude` command of the world, allowed to reach the mock.
    pub fn put_on_path(&self, world: &mut World, api: &AgentApi) {
        seed_config(world, &world.project());
        let bin = world.path("bin");
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(&self.program, bin.join("claude")).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        world.set("PATH", &format!("{}:{path}", bin.display()));
        let variables = environment(world, api);
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        world.set("CMEM_CLAUDE_ENV", &names.join(","));
        for (name, value) in variables {
            world.set(name, &value);
        }
    }

    /// Has the client start `cmem mcp` in every project, by its own command; what it said.
    #[track_caller]
    pub fn add_mcp(&self, world: &World, dir: &Path) -> String {
        seed_config(world, dir);
        let output = world
            .command(&self.program, dir)
            .args(["mcp", "add", "--scope", "user", "cmem", "--"])
            .arg(binary())
            .arg("mcp")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        said.into_owned()
    }

    /// Runs `claude -p PROMPT` in `dir` to its end; the time it took.
    #[track_caller]
    pub fn run(&self, world: &World, api: &AgentApi, dir: &Path, prompt: &str, args: &[&str]) -> Duration {
        seed_config(world, dir);
        let log = world.path("tmp/client.jsonl");
        let errors = world.path("tmp/client.err");
        let mut command = world.command(&self.program, dir);
        command
            .args(["-p", prompt, "--output-format", "stream-json", "--verbose"])
            .args(["--permission-mode", "bypassPermissions"])
            .args(args)
            .envs(environment(world, api))
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null())
            .stdout(fs::File::create(&log).unwrap())
            .stderr(fs::File::create(&errors).unwrap());
        let began = Instant::now();
        let mut child = command.spawn().unwrap();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > LIMIT {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the client hangs: {}", fs::read_to_string(&log).unwrap_or_default());
            }
            thread::sleep(Duration::from_millis(5));
        };
        let took = began.elapsed();
        let said = || {
            fs::read_to_string(&log).unwrap_or_default() + &fs::read_to_string(&errors).unwrap_or_default()
        };
        assert!(status.success(), "the client ended with {status}: {}", said());
        took
    }
}

/// Runs a test with the reference client and with the newest one, as far as they are installed.
pub fn with_each_client(test: fn(&Client)) {
    match Client::find(REFERENCE) {
        Some(client) => test(&client),
        None => println!("SKIPPED: Claude Code {REFERENCE} is not installed; scripts/get-client {REFERENCE}"),
    }
    match Client::newest() {
        Some(client) => test(&client),
        None => println!("SKIPPED: no newer Claude Code is installed; scripts/get-client newest"),
    }
}

/// The last message of a request of the conversation: what became of the calls before it.
pub fn last_result(api: &AgentApi, turn: usize) -> String {
    let turns = api.turns();
    turns[turn]["messages"].as_array().and_then(|all| all.last()).map(Value::to_string).unwrap_or_default()
}

/// What keeps a client offline, with the mock as the only API it knows.
fn environment(world: &World, api: &AgentApi) -> Vec<(&'static str, String)> {
    let switches = [
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
        "DISABLE_BUG_COMMAND",
        "DISABLE_INSTALLATION_CHECKS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL",
        "IS_SANDBOX",
    ];
    let values = [
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_BASE_URL", api.url()),
        ("NO_PROXY", String::from("127.0.0.1,localhost")),
        ("CLAUDE_CODE_TMPDIR", world.path("tmp").to_str().unwrap().to_owned()),
    ];
    switches.map(|name| (name, String::from("1"))).into_iter().chain(values).collect()
}

/// Where the clients are installed.
pub fn cache() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    named("CMEM_TEST_CLIENTS").unwrap_or_else(|| {
        let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
        cache.unwrap_or_default().join("cmem-test-clients")
    })
}

fn installed() -> Vec<Client> {
    let versions = fs::read_dir(cache()).into_iter().flatten().flatten();
    let client = |version: fs::DirEntry| {
        let packages = fs::read_dir(version.path().join("node_modules/@anthropic-ai")).ok()?;
        let program =
            packages.flatten().map(|package| package.path().join("claude")).find(|path| path.is_file())?;
        Some(Client { version: version.file_name().to_str()?.to_owned(), program })
    };
    versions.filter_map(client).collect()
}

/// What a first start would ask a person, answered, so that it asks nothing.
fn seed_config(world: &World, dir: &Path) {
    let file = world.path("home/.claude/.claude.json");
    if file.exists() {
        return;
    }
    let project =
        json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []});
    let config = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
        "projects": {dir.to_str().unwrap(): project},
    });
    fs::write(file, config.to_string()).unwrap();
}

/// Ten rounds of write, edit, run and read: sixty calls, as quick as calls can be.
pub fn long_script(project: &Path) -> Vec<Step> {
    let bash = |command: String| Step::call("Bash", json!({"command": command, "description": "Check it"}));
    let mut steps = Vec::new();
    for number in 0..10 {
        let name = format!("mod{number}");
        let file = project.join(format!("{name}.py"));
        let content = format!("VALUE = {number}\n\n\ndef f{number}():\n    return VALUE\n");
        let (old, new) = (format!("VALUE = {number}\n"), format!("VALUE = {number}0\n"));
        steps.extend([
            Step::call("Write", json!({"file_path": file, "content": content})),
            bash(format!("echo round {number}; ls | wc -l")),
            Step::call("Edit", json!({"file_path": file, "old_string": old, "new_string": new})),
            Step::call("Read", json!({"file_path": file})),
            bash(format!("python3 -c \"import {name}; print({name}.f{number}())\"")),
            bash(format!("wc -l {name}.py; echo {name} checked")),
        ]);
    }
    steps.push(Step::say("All sixty steps are done: ten modules generated, edited and checked."));
    steps
}
