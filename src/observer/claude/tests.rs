use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use super::process::{Call, Output, run};
use super::*;

fn output(out: &str, err: &str, fine: bool) -> Output {
    Output { out: out.as_bytes().to_vec(), err: err.as_bytes().to_vec(), fine }
}

#[test]
fn an_answer_with_its_tokens_and_its_model() {
    let json = r#"{"type":"result","subtype":"success","is_error":false,"result":"<nothing/>",
        "usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":11},
        "modelUsage":{"small":{"outputTokens":2},"claude-haiku-4-5":{"outputTokens":9}}}"#;
    for text in [
        json.to_owned(),
        format!("[{{\"type\":\"system\"}},{json}]"),
        format!("a warning\n{}", json.replace('\n', "")),
    ] {
        let said = answer::read(&output(&text, "", true), Timestamp(0)).unwrap();
        assert_eq!(said.text, "<nothing/>");
        assert_eq!(said.usage, Usage { input: 8, cached: 7, output: 11 });
        assert_eq!(said.model.as_deref(), Some("claude-haiku-4-5"));
    }
}

#[test]
fn every_failure_of_the_command_has_its_class() {
    let result = |text: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"result":{}}}"#,
            serde_json::json!(text)
        )
    };
    let class =
        |out: &str, err: &str| match answer::read(&output(out, err, false), Timestamp(0)).map_err(|v| *v) {
            Err(Verdict::Auth { .. }) => "auth",
            Err(Verdict::Quota { .. }) => "quota",
            Err(Verdict::RateLimited { .. }) => "rate_limited",
            Err(Verdict::Transient { .. }) => "transient",
            Err(Verdict::Malformed { .. }) => "malformed",
            other => panic!("{other:?}"),
        };
    for (text, expected) in [
        ("Invalid API key · Please run /login", "auth"),
        ("Not logged in · Please run /login", "auth"),
        ("OAuth token has expired. Please obtain a new token", "auth"),
        ("Claude AI usage limit reached|1767225600", "quota"),
        ("You've hit your weekly limit · resets 3pm", "quota"),
        ("Credit balance is too low", "quota"),
        ("API Error: 429 rate limited", "rate_limited"),
        ("API Error: 529 Overloaded", "transient"),
        ("API Error: Connection error.", "transient"),
        ("Prompt is too long", "malformed"),
        ("", "transient"),
    ] {
        assert_eq!(class(&result(text), ""), expected, "{text}");
    }
    assert_eq!(class("", "Invalid API key · Please run /login"), "auth");
    assert_eq!(class("", "segmentation fault"), "transient");
    assert_eq!(class("", ""), "transient");
}

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn script(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn run(&self, input: &[u8], limit: Duration) -> Result<Output, process::CallError> {
        run(Call {
            program: &self.folder.path().join("claude"),
            arguments: vec!["-p".into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            folder: self.folder.path(),
            input,
            limit,
        })
    }
}

#[test]
fn a_call_that_hangs_is_ended_with_all_that_it_started() {
    let desk = Desk::script("echo $$ > pid; sleep 300 & echo $! >> pid; wait");
    let began = Instant::now();
    let error = desk.run(b"", Duration::from_millis(400)).unwrap_err();
    assert!(error.to_string().contains("no answer within"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
    let pids = fs::read_to_string(desk.folder.path().join("pid")).unwrap();
    for pid in pids.lines() {
        let gone = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ")
        });
        assert!(gone, "process {pid} is left");
    }
}

#[test]
fn large_input_and_output_do_not_block_each_other() {
    let desk = Desk::script("cat; echo failed >&2; exit 3");
    let input = "x".repeat(2 << 20);
    let output = desk.run(input.as_bytes(), Duration::from_secs(30)).unwrap();
    assert_eq!(
        (output.out.len(), output.err.as_slice(), output.fine),
        (2 << 20, b"failed\n".as_slice(), false)
    );
    let desk = Desk::script("exit 0");
    assert!(desk.run(input.as_bytes(), Duration::from_secs(30)).unwrap().fine);
}

#[test]
fn what_left_the_group_and_holds_the_pipes_is_not_waited_for() {
    // It would write to the pipes of the test as well, if it were to.
    let desk = Desk::script("setsid sh -c 'sleep 60; echo late' & echo $! > pid; echo answer; echo warning >&2");
    let began = Instant::now();
    let output = desk.run("x".repeat(1 << 20).as_bytes(), Duration::from_secs(30)).unwrap();
    assert_eq!((output.out.as_slice(), output.err.as_slice()), (&b"answer\n"[..], &b"warning\n"[..]));
    let late = Desk::script("setsid sleep 60 & echo $! > pid; sleep 60");
    assert!(late.run(b"", Duration::from_millis(300)).is_err());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    for desk in [desk, late] {
        let pid: i32 = fs::read_to_string(desk.folder.path().join("pid")).unwrap().trim().parse().unwrap();
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        );
    }
}
