//! Which version of the agent is installed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::hook::agents::{AgentKind, Version};

/// The JavaScript versions take up to two seconds to say their number on a slow machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the agent's program on the PATH. `None` when there is none, or it does not answer in time.
pub fn installed_version(agent: &AgentKind) -> Option<Version> {
    ask(agent.program, PATIENCE)
}

fn ask(program: &str, patience: Duration) -> Option<Version> {
    let mut child = Command::new(program)
        .arg("--version")
        .env("CMEM_OBSERVER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    // The thread may outlive the question: whoever inherited the pipe can hold it open.
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        let _ = sender.send(read.is_ok().then_some(line));
    });
    let answer = receiver.recv_timeout(patience).ok().flatten();
    let _ = child.kill();
    let _ = child.wait();
    Version::find(&answer?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::*;

    fn asked(script: &str) -> Option<Version> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ask(program.to_str().unwrap(), Duration::from_secs(2))
    }

    #[test]
    fn answers_and_silences() {
        assert_eq!(asked("echo '2.1.197 (Claude Code)'"), Some(Version(2, 1, 197)));
        assert_eq!(asked("echo no number"), None);
        assert_eq!(asked("exit 1"), None);
        assert_eq!(ask("/no/such/claude", PATIENCE), None);
    }

    #[test]
    fn a_program_that_hangs_is_not_waited_for() {
        let begun = Instant::now();
        assert_eq!(asked("sleep 30"), None);
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
