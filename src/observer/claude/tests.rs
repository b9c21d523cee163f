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
            Err(Verdict::Unrecoverable { .. }) => "unrecoverable",
            other => panic!("{other:?}"),
        };
    for (text, expected) in [
        ("Invalid API key · Please run /login", "auth"),
        ("Not logged in · Please run /login", "auth"),
        ("OAuth token has expired. Please obtain a new token", "auth"),
        ("Claude AI usage limit reached|1767225600", "quota"),
        ("You've hit your weekly limit · resets 3pm", "quota"),
        ("Credit balance is too low", "quota"),
        ("5-hour limit reached ∙ resets 7pm", "quota"),
        ("You've hit your limit · resets 9pm (UTC)", "quota"),
        ("You’ve hit your session limit · resets 3pm", "quota"),
        ("Claude usage limit reached. Your limit will reset at 3pm (America/New_York).", "quota"),
        ("Opus weekly limit reached ∙ resets Oct 6, 1pm", "quota"),
        ("You're out of extra usage · resets 3pm", "quota"),
        ("You've reached your monthly spending limit", "quota"),
        (
            "There's an issue with the selected model (haiku). It may not exist or you may not have access to it. \
             Run --model to pick a different model.",
            "unrecoverable",
        ),
        (
            "API Error: 404 {\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: x\"}}",
            "unrecoverable",
        ),
        (
            "API Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
             \"message\":\"This organization has been disabled.\"}}",
            "auth",
        ),
        (
            "Your organization does not have access to Claude. Please login again or contact your administrator.",
            "auth",
        ),
        (
            "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy \
             (https://www.anthropic.com/legal/aup). Please double press esc to edit your last message.",
            "malformed",
        ),
        (
            "API Error: 400 {\"error\":{\"message\":\"Output blocked by content filtering policy\"}}",
            "malformed",
        ),
        ("API Error: 413 request_too_large", "malformed"),
        ("API Error: 413 {\"error\":{\"type\":\"request_too_large\",\"message\":\"x\"}}", "malformed"),
        (
            "API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\
             \"message\":\"OAuth token has expired.\"}} · Please run /login",
            "auth",
        ),
        ("API Error: 403 {\"error\":{\"type\":\"forbidden\",\"message\":\"Request not allowed\"}}", "auth"),
        (
            "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}",
            "rate_limited",
        ),
        ("API Error: Rate limit reached", "rate_limited"),
        (
            "API Error (us.anthropic.claude-haiku): 429 Too many tokens, please wait before trying again.",
            "rate_limited",
        ),
        (
            "API Error: 500 {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"Internal server error\"}}",
            "transient",
        ),
        ("API Error: Request timed out.", "transient"),
        // As 2.1.197 and 2.1.332 say it.
        ("API Error: Request rejected (429) · slow down", "rate_limited"),
        (
            "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
            "rate_limited",
        ),
        ("Invalid API key · Fix external API key", "auth"),
        ("Failed to authenticate. API Error: 403 no", "auth"),
        (
            "Your ANTHROPIC_API_KEY belongs to a disabled organization · Update or unset the environment variable",
            "auth",
        ),
        (
            "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it \
             persists, check your inference gateway (127.0.0.1:39801).",
            "transient",
        ),
        ("heap limit reached: Allocation failed", "transient"),
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
    let desk =
        Desk::script("setsid sh -c 'sleep 60; echo late' & echo $! > pid; echo answer; echo warning >&2");
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
