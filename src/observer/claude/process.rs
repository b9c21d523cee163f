//! One process with a deadline: when that is over, its group is ended and nothing of it is waited for.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// Largest output that is read.
const MAX_OUTPUT: u64 = 4 << 20;
/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(10);
/// How long a pipe is read when the process has ended: what left its group may hold it open for ever.
const AFTERWARDS: Duration = Duration::from_millis(500);
/// What is read from a pipe at once.
const CHUNK: usize = 64 << 10;

/// What to run.
pub(super) struct Call<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) folder: &'a Path,
    pub(super) input: &'a [u8],
    pub(super) limit: Duration,
}

/// What a process said.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
    pub(super) fine: bool,
}

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("{0} cannot be started: {1}")]
    Start(String, io::Error),
    #[error("{0} gave no answer within {1:?}")]
    Late(String, Duration),
}

/// Runs a process in a group of its own, which is ended as a whole when time is up: what it started may hold its
/// pipes open.
pub(super) fn run(call: Call<'_>) -> Result<Output, CallError> {
    let name = call.program.display().to_string();
    let deadline = Instant::now() + call.limit;
    let mut child = Command::new(call.program)
        .args(&call.arguments)
        .env_clear()
        .envs(call.environment)
        .current_dir(call.folder)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| CallError::Start(name.clone(), error))?;
    let group = Pid::from_child(&child);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = call.input.to_vec();
    // None of the three threads is joined: a pipe that something else holds open would keep this one.
    thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A process that reads no input has its reasons, and says them.
            let _ = stdin.write_all(&input);
        }
    });
    let (out, err) = (reading(stdout), reading(stderr));
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
            Ok(None) | Err(_) => break None,
        }
    };
    // Also after a good end: what it left behind has no business here.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    let Some(status) = status else { return Err(CallError::Late(name, call.limit)) };
    let until = Instant::now() + AFTERWARDS;
    Ok(Output { out: collect(&out, until), err: collect(&err, until), fine: status.success() })
}

/// Reads a pipe in a thread of its own.
fn reading(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let Some(pipe) = pipe else { return };
        let mut pipe = pipe.take(MAX_OUTPUT);
        let mut chunk = vec![0; CHUNK];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            if sender.send(chunk[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// What a pipe gave: all of it, or what had come at this time.
fn collect(chunks: &Receiver<Vec<u8>>, until: Instant) -> Vec<u8> {
    let mut all = Vec::new();
    while let Ok(chunk) = chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
        all.extend(chunk);
    }
    all
}
