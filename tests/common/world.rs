//! One test's world: its own home, data directory and project, an environment made from nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cmem::config::Paths;
use cmem::spool::{FileLock, Ledger, Spool};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use super::mock::ModelServer;
use super::{payload, wait_for};

/// No command under test takes this long.
const LIMIT: Duration = Duration::from_secs(120);

/// The world; it is gone when dropped, and so are the drainers in it.
#[derive(Debug)]
pub struct World {
    root: PathBuf,
    variables: Vec<(String, String)>,
    _folder: TempDir,
}

/// What a run of the binary gave.
#[derive(Debug, Clone)]
#[must_use = "look at what the command gave"]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

impl Ran {
    /// Standard output of a run that must have succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.out, self.err);
        self.out
    }

    /// Standard output of a run that must have succeeded, as JSON.
    #[track_caller]
    pub fn json(self) -> Value {
        let out = self.ok();
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// Standard error of a run that must have ended with `code`.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self.err
    }

    /// A hook's answer: exit code 0, nothing on standard error, and one JSON object or nothing. `None` when it
    /// asks for nothing.
    #[track_caller]
    pub fn answer(self) -> Option<Value> {
        assert_eq!(self.code, Some(0), "a hook never fails: {}", self.err);
        assert_eq!(self.err, "", "a hook is quiet");
        if matches!(self.out.trim(), "" | "{}") {
            return None;
        }
        let value: Value =
            serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("not JSON: {}", self.out));
        assert!(value.is_object(), "not an object: {value}");
        Some(value)
    }

    /// The answer of a hook that must say nothing.
    #[track_caller]
    pub fn silent(self) {
        assert_eq!(self.answer(), None);
    }
}

impl World {
    /// A world with the embedded observer.
    pub fn new() -> Self {
        let folder = TempDir::with_prefix("cmem-test-").unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/.claude", "project", "tmp"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let mut world = Self { root, variables: Vec::new(), _folder: folder };
        let path = std::env::var("PATH").unwrap_or_default();
        for (name, value) in [
            ("PATH", path),
            ("HOME", world.text_path("home")),
            ("CLAUDE_CONFIG_DIR", world.text_path("home/.claude")),
            ("TMPDIR", world.text_path("tmp")),
            ("CMEM_DATA_DIR", world.text_path("data")),
            ("CMEM_LINGER_SECS", String::from("0")),
            // Whatever is installed on the machine that runs the tests.
            ("CMEM_PROVIDER", String::from("builtin")),
            ("TZ", String::from("UTC")),
            ("LANG", String::from("C.UTF-8")),
            ("COLUMNS", String::from("100")),
            ("GIT_CONFIG_GLOBAL", String::from("/dev/null")),
            ("GIT_CONFIG_NOSYSTEM", String::from("1")),
        ] {
            world.set(name, &value);
        }
        world
    }

    /// A world whose observer is `model`, by the Anthropic Messages API.
    pub fn with_model(model: &ModelServer) -> Self {
        let mut world = Self::new();
        world.set("CMEM_PROVIDER", "anthropic");
        world.set("CMEM_ANTHROPIC_BASE_URL", &model.url());
        world.set("CMEM_ANTHROPIC_API_KEY", "test-key");
        world
    }

    /// Sets an environment variable for everything that runs in this world.
    pub fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    pub fn unset(&mut self, name: &str) {
        self.variables.retain(|(other, _)| other != name);
    }

    /// Puts a `claude` command on the path that knows the options it needs and then does `act`, a shell script.
    pub fn install_claude(&mut self, act: &str) {
        let options = "--output-format --setting-sources --strict-mcp-config --tools --system-prompt --no-session-persistence";
        let script = format!("#!/bin/sh\ncase \"$*\" in *--help*) echo '{options}'; exit ;; esac\n{act}\n");
        let bin = self.path("bin");
        let program = bin.join("claude");
        fs::create_dir_all(&bin).unwrap();
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        self.set("PATH", &format!("{}:{path}", bin.display()));
    }

    /// A path in this world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// A program in this world's environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>, dir: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(dir);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `cmem` in the project.
    pub fn cmem(&self, args: &[&str]) -> Ran {
        self.cmem_in(&self.project(), args, &[])
    }

    /// Runs `cmem` in `dir` with `input` on standard input.
    pub fn cmem_in(&self, dir: &Path, args: &[&str], input: &[u8]) -> Ran {
        let mut command = assert_cmd::Command::from_std(self.command(binary(), dir));
        let began = Instant::now();
        let output = command.args(args).write_stdin(input).timeout(LIMIT).output().unwrap();
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            took: began.elapsed(),
        }
    }

    /// Sends a payload to `cmem hook`, the event named in the payload alone.
    pub fn hook(&self, payload: &Value) -> Ran {
        self.hook_bytes(&[], payload.to_string().as_bytes())
    }

    /// Sends bytes to `cmem hook ARGS...`.
    pub fn hook_bytes(&self, args: &[&str], input: &[u8]) -> Ran {
        self.cmem_in(&self.project(), &[&["hook"], args].concat(), input)
    }

    /// Sends the payload of `event` in the project, with `fields` on top of the usual ones.
    pub fn send(&self, event: &str, fields: Value) -> Ran {
        self.hook(&payload::event(event, &self.project(), fields))
    }

    /// Sends a tool call whose output the mock model turns into an observation of this title.
    #[track_caller]
    pub fn note(&self, text: &str) {
        self.note_in(&self.project(), text);
    }

    #[track_caller]
    pub fn note_in(&self, dir: &Path, text: &str) {
        self.hook(&payload::note(text, dir)).silent();
    }

    /// Remembers a text in the project; returns its id.
    #[track_caller]
    pub fn remember(&self, args: &[&str]) -> i64 {
        let answer = self.cmem(&[&["remember", "--json"], args].concat()).json();
        answer["id"].as_i64().unwrap_or_else(|| panic!("no id in {answer}"))
    }

    /// Drains in the foreground until nothing is due.
    #[track_caller]
    pub fn drain(&self) {
        let _ = self.cmem(&["drain", "--wait"]).ok();
    }

    /// Titles that `search QUERY` gives in the project, best first.
    #[track_caller]
    pub fn search(&self, query: &str) -> Vec<String> {
        self.search_in(&self.project(), query)
    }

    #[track_caller]
    pub fn search_in(&self, dir: &Path, query: &str) -> Vec<String> {
        let found = self.cmem_in(dir, &["search", "--json", "--limit", "100", "--", query], &[]).json();
        let results = found["results"].as_array().unwrap_or_else(|| panic!("no results in {found}"));
        results.iter().map(|row| row["title"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub fn status(&self) -> Value {
        self.cmem(&["status", "--json"]).json()
    }

    /// What became of every event.
    #[track_caller]
    pub fn ledger(&self) -> Ledger {
        let paths = Paths::resolve(Some(&self.data())).unwrap();
        Spool::open_for_reading(&paths).unwrap().status().unwrap().ledger
    }

    /// Every event is accounted for, and none waits or is parked.
    #[track_caller]
    pub fn assert_all_done(&self) {
        let ledger = self.ledger();
        assert_eq!((ledger.balance(), ledger.waiting, ledger.parked), (0, 0, 0), "{ledger:?}");
        assert_eq!(self.cmem(&["queue", "list"]).ok(), "");
    }

    /// The context that `SessionStart` gives a new session of this id.
    pub fn context_of(&self, session: &str, source: &str) -> String {
        let fields = serde_json::json!({"session_id": session, "source": source});
        let answer = self.send("SessionStart", fields).answer().unwrap_or_default();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
    }

    /// One number out of `memory.db` or `spool.db`, read past cmem.
    #[track_caller]
    pub fn number(&self, database: &str, sql: &str) -> i64 {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let connection = Connection::open_with_flags(self.data().join(database), flags).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// What is remembered is sound, whether or not anything was captured.
    #[track_caller]
    pub fn assert_sound_memory(&self) {
        let connection = Connection::open(self.data().join("memory.db")).unwrap();
        let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }

    /// Both databases are sound.
    #[track_caller]
    pub fn assert_sound(&self) {
        for name in ["spool.db", "memory.db"] {
            let connection = Connection::open(self.data().join(name)).unwrap();
            let verdict: String =
                connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(verdict, "ok", "{name}");
        }
    }

    /// Files below the data directory that hold these bytes.
    pub fn files_with(&self, needle: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if fs::read(&path).is_ok_and(|bytes| holds(&bytes, needle.as_bytes())) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// Makes a git repository with one commit.
    pub fn repository(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        self.git(&path, &["init", "--quiet", "--initial-branch", "main"]);
        self.git(&path, &["commit", "--quiet", "--allow-empty", "--message", "first"]);
        path
    }

    #[track_caller]
    pub fn git(&self, dir: &Path, args: &[&str]) -> String {
        let mut command = self.command("git", dir);
        for name in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{name}_NAME"), "Dev")
                .env(format!("GIT_{name}_EMAIL"), "dev@example.org");
        }
        let output = command.args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Text for a snapshot: this world's paths and every moment replaced by a token.
    pub fn fixed(&self, text: &str) -> String {
        let mut text =
            text.replace(&self.text_path("home"), "[home]").replace(&self.text_path(""), "[world]/");
        for (pattern, token) in [
            (r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", "[time]"),
            (r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}(:\d{2})?)?", "[time]"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "[uid]"),
            (r"127\.0\.0\.1:\d+", "127.0.0.1:[port]"),
            (r"\b3\.\d+\.\d+\b", "[sqlite]"),
        ] {
            let pattern = pattern.replace(r"\d", "[0-9]").replace(r"\b", r"(?-u:\b)");
            text = regex::Regex::new(&pattern).unwrap().replace_all(&text, token).into_owned();
        }
        text
    }

    /// Ids of the processes whose working directory is the data directory: the drainers.
    pub fn drainers(&self) -> Vec<i32> {
        working_in(&self.data())
    }

    /// Ids of the processes that a drainer started to observe.
    pub fn observers(&self) -> Vec<i32> {
        working_in(&self.data().join("observer"))
    }

    /// Ends the drainers as a crash would.
    pub fn kill_drainers(&self) -> usize {
        let ids = self.drainers();
        for id in &ids {
            kill(*id);
        }
        ids.len()
    }

    /// Waits until the last drainer has left by itself.
    pub fn wait_for_drainers(&self) {
        // One that was just started is not at home yet, but has its lock.
        let lock = Paths::resolve(Some(&self.data())).unwrap().drain_lock();
        let is_free = || !lock.exists() || FileLock::try_acquire(&lock).unwrap().is_some();
        wait_for("the drainer leaves", Duration::from_secs(60), || {
            self.drainers().is_empty() && is_free() && self.drainers().is_empty()
        });
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        while self.kill_drainers() > 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The binary under test: `CMEM_BIN`, or the one that cargo built with the tests.
pub fn binary() -> PathBuf {
    std::env::var_os("CMEM_BIN").map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_cmem")), PathBuf::from)
}

/// Ids of the processes whose working directory is this one.
fn working_in(folder: &Path) -> Vec<i32> {
    let at_home = |id: &i32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == folder);
    let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
    ids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(at_home).collect()
}

#[expect(unsafe_code, reason = "kill(2) has no safe wrapper in the standard library")]
fn kill(id: i32) {
    // SAFETY: a plain system call; the id is that of a process in this test's own data directory.
    unsafe { libc::kill(id, libc::SIGKILL) };
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}
