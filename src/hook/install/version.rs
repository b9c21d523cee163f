//! Which version of the agent is installed.

use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::hook::agents::{AgentKind, Version};

/// The JavaScript versions take up to two seconds to say their number on a slow machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why the version of an agent is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoVersion {
    /// Its program is not on the PATH.
    NotFound,
    /// The program gives no number, or none in time.
    NoAnswer,
}

/// Asks the agent's program on the PATH.
///
/// # Errors
/// [`NoVersion`] when there is none, or it does not answer.
pub fn installed_version(agent: &AgentKind) -> Result<Version, NoVersion> {
    ask(agent.program, PATIENCE)
}

/// Ends a process that leads a group of its own, with everything that it started there.
pub(super) fn end_with_children(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.wait();
}

fn ask(program: &str, patience: Duration) -> Result<Version, NoVersion> {
    let mut child = Command::new(program)
        .arg("--version")
        .env("CMEM_OBSERVER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => NoVersion::NotFound,
            _ => NoVersion::NoAnswer,
        })?;
    let stdout = child.stdout.take();
    let (sender, receiver) = mpsc::channel();
    // The thread may outlive the question: whoever inherited the pipe can hold it open.
    thread::spawn(move || {
        let mut line = String::new();
        let read = stdout.and_then(|stdout| BufReader::new(stdout).read_line(&mut line).ok());
        let _ = sender.send(read.map(|_| line));
    });
    let answer = receiver.recv_timeout(patience).ok().flatten();
    end_with_children(&mut child);
    answer.and_then(|line| Version::find(&line)).ok_or(NoVersion::NoAnswer)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    use super::*;

    fn asked(script: &str) -> Result<Version, NoVersion> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ask(program.to_str().unwrap(), Duration::from_secs(2))
    }

    #[test]
    fn answers_and_silences() {
        assert_eq!(asked("echo '2.1.197 (Claude Code)'"), Ok(Version(2, 1, 197)));
        assert_eq!(asked("echo no number"), Err(NoVersion::NoAnswer));
        assert_eq!(asked("exit 1"), Err(NoVersion::NoAnswer));
        assert_eq!(ask("/no/such/claude", PATIENCE), Err(NoVersion::NotFound));
    }

    #[test]
    fn a_program_that_hangs_is_not_waited_for() {
        let begun = Instant::now();
        assert_eq!(asked("sleep 30"), Err(NoVersion::NoAnswer));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_a_program_that_hangs_has_started_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("child");
        assert_eq!(
            asked(&format!("sleep 300 & echo $! > '{}'; wait", note.display())),
            Err(NoVersion::NoAnswer)
        );
        let child: i32 = fs::read_to_string(note).unwrap().trim().parse().unwrap();
        // Whoever inherited it may not have taken it off the list yet.
        let is_gone = || {
            let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        assert!((0..500).any(|_| is_gone() || {
            thread::sleep(Duration::from_millis(10));
            false
        }));
    }
}
