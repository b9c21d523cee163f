//! Telling the agent of the plugin by its own commands.

use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::{ID, MARKETPLACE, PluginError, Reach, State};
use crate::git;
use crate::hook::agents::{CLAUDE_CODE, Version};
use crate::hook::install::version::end_with_children;

/// Each command takes a second or two, and the JavaScript versions some more.
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// How long output is read when the program has ended: what it started may hold the pipe open.
const AFTERWARDS: Duration = Duration::from_millis(500);

/// The oldest version that was seen to have the commands. Those before plugins take `claude plugin …` for a prompt and
/// ask a model.
const SINCE: Version = Version(2, 0, 77);

/// Whether this version has the commands.
pub fn takes_plugins(version: Version) -> bool {
    version >= SINCE
}

/// One command of the agent's program: the words after `claude plugin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call(Vec<String>);

impl Call {
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// As it is typed within a session of the agent.
    pub fn within(&self) -> String {
        format!("/plugin {}", self.0.join(" "))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} plugin {}", CLAUDE_CODE.program, self.0.join(" "))
    }
}

/// What has to be said so that the agent has the plugin of `folder` in `version` for the user, and uses it. What a project
/// says of it is for the project to say.
pub fn calls(state: &State, folder: &Path, version: &str) -> Vec<Call> {
    let is_elsewhere =
        state.marketplace.as_ref().is_some_and(|known| git::resolve(known) != git::resolve(folder));
    if is_elsewhere {
        let nothing = State::default();
        return [calls_to_leave(state), calls(&nothing, folder, version)].concat();
    }
    let mut calls = Vec::new();
    if state.marketplace.is_none() {
        calls.push(Call::new(&["marketplace", "add", &folder.to_string_lossy()]));
    }
    let Some(own) = state.own().filter(|own| own.reach == Reach::User) else {
        calls.push(Call::new(&["install", ID]));
        return calls;
    };
    if own.version != version {
        calls.push(Call::new(&["marketplace", "update", MARKETPLACE]));
        calls.push(Call::new(&["update", ID]));
    }
    if !own.is_enabled_by_user {
        calls.push(Call::new(&["enable", ID, "--scope", "user"]));
    }
    calls
}

/// What has to be said so that the agent forgets it.
pub fn calls_to_leave(state: &State) -> Vec<Call> {
    let plugin = state.own().filter(|own| own.reach == Reach::User);
    let plugin = plugin.map(|_| Call::new(&["uninstall", ID]));
    let marketplace = state.marketplace.as_ref().map(|_| Call::new(&["marketplace", "remove", MARKETPLACE]));
    plugin.into_iter().chain(marketplace).collect()
}

/// Runs one of them. Nothing can be asked of the user: there is no input.
///
/// # Errors
/// [`PluginError::Client`] with the last line of what it said.
pub fn carry_out(call: &Call) -> Result<(), PluginError> {
    run(CLAUDE_CODE.program, &call.0, PATIENCE)
        .map_err(|said| PluginError::Client { command: call.to_string(), said })
}

fn run(program: &str, words: &[String], patience: Duration) -> Result<(), String> {
    let mut child = Command::new(program)
        .arg("plugin")
        .args(words)
        .env("CMEM_OBSERVER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let (out, err) = (reading(child.stdout.take()), reading(child.stderr.take()));
    let deadline = Instant::now() + patience;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            Ok(None) => {
                end_with_children(&mut child);
                return Err(format!("no end after {} s", patience.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    if status.success() {
        return Ok(());
    }
    let said = [out, err].map(|pipe| pipe.recv_timeout(AFTERWARDS).unwrap_or_default()).concat();
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    Err(last.map_or_else(|| status.to_string(), str::to_owned))
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
    use crate::hook::install::plugin::Installed;

    fn state(marketplace: Option<&str>, plugin: Option<(&str, bool)>) -> State {
        let installed = |(version, is_enabled): (&str, bool)| Installed {
            id: ID.to_owned(),
            version: version.to_owned(),
            reach: Reach::User,
            is_enabled,
            is_enabled_by_user: is_enabled,
            copy: PathBuf::new(),
        };
        State {
            marketplace: marketplace.map(PathBuf::from),
            plugins: plugin.map(installed).into_iter().collect(),
            projects: Vec::new(),
        }
    }

    fn said(state: &State) -> Vec<String> {
        calls(state, Path::new("/d/marketplace"), "2").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_what_is_missing_is_said() {
        let add = "claude plugin marketplace add /d/marketplace";
        let install = "claude plugin install cmem@cmem-local";
        let here = Some("/d/marketplace");
        assert_eq!(said(&state(None, None)), [add, install]);
        assert_eq!(said(&state(here, None)), [install]);
        assert_eq!(said(&state(here, Some(("2", true)))), Vec::<String>::new());
        assert_eq!(
            said(&state(here, Some(("2", false)))),
            ["claude plugin enable cmem@cmem-local --scope user"]
        );
        // What is installed for a project is not installed for the user.
        let mut of_project = state(here, Some(("2", true)));
        of_project.plugins[0].reach = Reach::Here;
        assert_eq!(said(&of_project), [install]);
        assert_eq!(
            calls_to_leave(&of_project).iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["claude plugin marketplace remove cmem-local"]
        );
        assert_eq!(
            said(&state(here, Some(("1", true)))),
            ["claude plugin marketplace update cmem-local", "claude plugin update cmem@cmem-local"]
        );
        assert_eq!(
            said(&state(Some("/elsewhere"), Some(("1", true)))),
            [
                "claude plugin uninstall cmem@cmem-local",
                "claude plugin marketplace remove cmem-local",
                add,
                install
            ]
        );
        let within: Vec<String> =
            calls(&state(None, None), Path::new("/d/marketplace"), "2").iter().map(Call::within).collect();
        assert_eq!(within, ["/plugin marketplace add /d/marketplace", "/plugin install cmem@cmem-local"]);
    }

    #[test]
    fn a_version_without_the_commands_is_never_asked() {
        for (version, takes) in [(Version(1, 0, 128), false), (SINCE, true), (Version(2, 1, 332), true)] {
            assert_eq!(takes_plugins(version), takes, "{version}");
        }
    }

    #[test]
    fn what_the_program_said_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        let ran = |script: &str| {
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            run(program.to_str().unwrap(), &[String::from("list")], Duration::from_secs(2))
        };
        assert_eq!(ran("[ \"$*\" = 'plugin list' ]"), Ok(()));
        assert_eq!(ran("echo one; echo '  two' >&2; echo >&2; exit 1"), Err(String::from("two")));
        assert!(ran("exit 3").unwrap_err().contains('3'));
        assert!(ran("sleep 30").unwrap_err().contains("no end"));
        assert!(run("/no/such/claude", &[], PATIENCE).unwrap_err().contains("No such file"));
    }
}
