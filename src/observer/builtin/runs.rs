//! What a turn ran: commands with how they ended, tests that failed and passed, commits, errors.

mod shell;

use serde_json::Value;

use self::shell::{Purpose, commit_subject, describe};
use super::words::{Words, fill};
use crate::model::{Event, EventKind, Outcome};
use crate::observer::diff::base_name;
use crate::observer::text::{one_line, shorten};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Passed,
    /// With the exit code, when it is known.
    Failed(Option<i64>),
    /// Interrupted, or still running in the background.
    Open,
}

/// One command.
#[derive(Debug)]
struct Run {
    /// As shown.
    shown: String,
    /// Runs of the same thing have the same key.
    key: String,
    purpose: Purpose,
    end: End,
    /// Such as `12 passed, 1 failed`.
    counts: String,
    /// First line that looks like an error.
    error: String,
}

/// What the commands of a turn prove.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// In the order in which they became known.
    pub(super) facts: Vec<String>,
    /// `hash: subject` of commits.
    pub(super) commits: Vec<String>,
    /// A test or build failed and passed later.
    pub(super) recovered: bool,
    /// Tests or builds that failed last.
    pub(super) failing: Vec<String>,
    /// A command that changes something ran and passed.
    pub(super) acted: bool,
    /// A command failed in a way that says something.
    pub(super) failed: bool,
}

/// Most facts about ordinary commands.
const MAX_ORDINARY: usize = 4;

/// Reads the commands of a turn; paths below `root` are shortened.
pub(super) fn runs(events: &[Event], root: &str, words: &Words) -> Runs {
    let mut all: Vec<Run> = Vec::new();
    let mut found = Runs::default();
    for event in events {
        let EventKind::Tool { tool, input, outcome } = &event.kind else { continue };
        let Some(command) = command_of(tool, input) else { continue };
        let command = if root.len() > 1 { command.replace(&format!("{root}/"), "") } else { command };
        let output = output_of(outcome);
        let run = run(&command, &output, outcome);
        if run.purpose == Purpose::Commit && run.end == End::Passed {
            let made = commits(&output);
            let subject = commit_subject(&command).map(|subject| fill(words.commit, &["", &subject]));
            let known = !made.is_empty();
            found.facts.extend(made.iter().map(|(hash, subject)| fill(words.commit, &[hash, subject])));
            if !known {
                // Without the hash there is a gap before the colon.
                found.facts.extend(
                    subject.map(|text| one_line(&text).replacen(" :", ":", 1).replacen(" ：", "：", 1)),
                );
            }
            found.commits.extend(made.into_iter().map(|(hash, subject)| format!("{hash}: {subject}")));
            found.acted = true;
        } else {
            all.push(run);
        }
    }
    let mut done: Vec<&str> = Vec::new();
    let mut ordinary = 0;
    for run in &all {
        if done.contains(&run.key.as_str()) {
            continue;
        }
        done.push(&run.key);
        let same: Vec<&Run> = all.iter().filter(|other| other.key == run.key).collect();
        if let Some(fact) = found.fact(&same, words) {
            ordinary += usize::from(run.purpose == Purpose::Other);
            if run.purpose != Purpose::Other || ordinary <= MAX_ORDINARY {
                found.facts.push(fact);
            }
        }
    }
    found
}

impl Runs {
    /// What several runs of the same thing prove.
    fn fact(&mut self, same: &[&Run], words: &Words) -> Option<String> {
        let (first, last) = (same.first()?, same.last()?);
        let failure = same.iter().find(|run| matches!(run.end, End::Failed(_)));
        let checks = matches!(first.purpose, Purpose::Test | Purpose::Build);
        match (failure, last.end) {
            (Some(failure), End::Passed) if first.purpose != Purpose::Look => {
                self.recovered |= checks;
                self.acted |= first.purpose == Purpose::Other;
                let why = bracketed(&[&failure.counts, &failure.error]);
                Some(fill(words.recovered, &[&last.shown, &why, &bracketed(&[&last.counts])]))
            }
            (Some(_), End::Failed(code)) if first.purpose != Purpose::Look => {
                self.failed = true;
                if checks {
                    self.failing.push(fill(words.still_failing, &[&last.shown]));
                }
                let code = code.map(|code| fill(words.exit, &[&code.to_string()])).unwrap_or_default();
                let why = bracketed(&[&code, &last.counts]);
                let error = if last.error.is_empty() { String::new() } else { format!(": {}", last.error) };
                Some(format!("{}{why}{error}", fill(words.failed, &[&last.shown])))
            }
            (None, End::Passed) if first.purpose == Purpose::Test => {
                Some(format!("{}{}", fill(words.passed, &[&last.shown]), bracketed(&[&last.counts])))
            }
            (None, End::Passed) if first.purpose == Purpose::Other => {
                self.acted = true;
                Some(fill(words.ran, &[&last.shown]))
            }
            _ => None,
        }
    }
}

/// ` (a, b)` of what is not empty.
fn bracketed(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn command_of(tool: &str, input: &Value) -> Option<String> {
    if !matches!(
        base_name(tool),
        "Bash" | "PowerShell" | "shell" | "exec_command" | "run_terminal_cmd" | "local_shell"
    ) {
        return None;
    }
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words[..] {
                [shell, "-c" | "-lc", script] if shell.ends_with("sh") => Some(script.to_owned()),
                _ => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

fn output_of(outcome: &Outcome) -> String {
    let field =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match outcome {
        Outcome::Error(text) => text.clone(),
        Outcome::Response(Value::String(text)) => text.clone(),
        Outcome::Response(value) => match (field(value, "stdout"), field(value, "stderr")) {
            (out, err) if out.is_empty() => err,
            (out, err) if err.is_empty() => out,
            (out, err) => format!("{out}\n{err}"),
        },
    }
}

fn run(command: &str, output: &str, outcome: &Outcome) -> Run {
    let described = describe(command);
    let checks = matches!(described.purpose, Purpose::Test | Purpose::Build);
    let is_true = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
    let end = match outcome {
        Outcome::Error(text) if stopped_by_user(text) => End::Open,
        Outcome::Error(text) => End::Failed(exit_code(text)),
        Outcome::Response(value)
            if is_true(value, "interrupted") || value.get("backgroundTaskId").is_some() =>
        {
            End::Open
        }
        Outcome::Response(value) if is_true(value, "exitCodeUnknown") => end_by(described.purpose, output),
        Outcome::Response(_) if checks && described.masks_exit && shows_failure(output) => End::Failed(None),
        Outcome::Response(_) => End::Passed,
    };
    let failed = matches!(end, End::Failed(_));
    Run {
        counts: if described.purpose == Purpose::Test { counts(output) } else { String::new() },
        error: if failed { error_line(output) } else { String::new() },
        shown: described.shown,
        key: described.key,
        purpose: described.purpose,
        end,
    }
}

/// Where the agent does not tell how a command ended, its output has to.
fn end_by(purpose: Purpose, output: &str) -> End {
    match purpose {
        Purpose::Test | Purpose::Build if shows_failure(output) => End::Failed(None),
        Purpose::Test if counts(output).is_empty() => End::Open,
        Purpose::Build => End::Open,
        Purpose::Commit if !output.lines().any(|line| line.starts_with('[')) => End::Open,
        _ => End::Passed,
    }
}

/// Claude Code puts `Exit code N` in front of the output of a failed command.
fn exit_code(text: &str) -> Option<i64> {
    let rest = text.trim_start().strip_prefix("Exit code ")?;
    rest.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}

/// The numbers of test runners: `3 passed; 1 failed`, `2 failing`. Of several lines that say so, all are added up
/// for `cargo test`, which prints one per binary; otherwise the last counts.
fn counts(output: &str) -> String {
    let mut total = (0u64, 0u64);
    let mut any = false;
    for line in output.lines().filter(|line| line.len() < 400) {
        let (Some(passed), failed) = (
            number_before(line, &["passed", "passing", "pass"]),
            number_before(line, &["failed", "failing", "fail"]),
        ) else {
            match number_before(line, &["failed", "failing"]) {
                Some(failed) if !line.contains("test result:") => (total.1, any) = (failed, true),
                _ => {}
            }
            continue;
        };
        let failed = failed.unwrap_or(0);
        if line.contains("test result:") {
            total = (total.0.saturating_add(passed), total.1.saturating_add(failed));
        } else {
            total = (passed, if line.contains("fail") { failed } else { total.1 });
        }
        any = true;
    }
    match total {
        _ if !any => String::new(),
        (0, 0) => String::new(),
        (passed, 0) => format!("{passed} passed"),
        (0, failed) => format!("{failed} failed"),
        (passed, failed) => format!("{passed} passed, {failed} failed"),
    }
}

fn number_before(line: &str, names: &[&str]) -> Option<u64> {
    let words: Vec<&str> =
        line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).find_map(|pair| match pair {
        [number, name] if names.contains(&name.to_ascii_lowercase().as_str()) => number.parse().ok(),
        _ => None,
    })
}

fn shows_failure(output: &str) -> bool {
    output.lines().any(|line| {
        line.contains("test result: FAILED")
            || line.starts_with("error[")
            || line.starts_with("error: could not compile")
            || line.contains("npm ERR!")
            || line.starts_with("--- FAIL")
            || line.starts_with("FAIL\t")
            || line.starts_with("Traceback (most recent call last)")
            || number_before(line, &["failed", "failing", "errors", "error"]).is_some_and(|n| n > 0)
    })
}

/// The client's words for a call that the user cut short or did not allow.
fn stopped_by_user(text: &str) -> bool {
    ["interrupted by user", "doesn't want to proceed", "requires approval", "haven't granted"]
        .iter()
        .any(|part| text.contains(part))
}

/// The first line that looks like the reason, else the first line of words.
fn error_line(output: &str) -> String {
    let strong = ["error", "panicked", "exception", "assertion", "fatal"];
    let weak = [
        "no such file",
        "not found",
        "denied",
        "cannot",
        "undefined",
        "refused",
        "invalid",
        "missing",
        "failed",
    ];
    let lines: Vec<String> = output
        .lines()
        .filter(|line| !line.trim_start().starts_with("Exit code "))
        .map(|line| one_line(&without_colours(line)))
        .filter(|line| is_prose(line))
        .take(2_000)
        .collect();
    let with = |signs: &[&str]| {
        lines.iter().find(|line| {
            let lower = line.to_lowercase();
            signs.iter().any(|sign| lower.contains(sign))
                && number_before(&lower, &["error", "errors"]).is_none()
        })
    };
    let reason = with(&strong).or_else(|| with(&weak)).or(lines.first());
    shorten(&reason.cloned().unwrap_or_default().replace('`', "'"), 160)
}

/// Words, not the frames and rulers that tools draw around them.
fn is_prose(line: &str) -> bool {
    let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
    let others = line.chars().filter(|c| !c.is_alphanumeric() && *c != ' ').count();
    letters >= 5 && letters > 2 * others && !line.contains(['│', '·'])
}

/// Without escape sequences for colours (ECMA-48 SGR), also where the escape character itself is gone.
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        let code = rest[at + 1..].bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
        let is_code = rest.as_bytes().get(at + 1 + code) == Some(&b'm');
        let end = if is_code { at + code + 2 } else { at + 1 };
        plain.push_str(rest[..if is_code { at } else { end }].trim_end_matches('\u{1b}'));
        rest = &rest[end..];
    }
    plain + rest
}

/// Hash and subject from the answer of `git commit`: `[main 1a2b3c4] Subject`.
fn commits(output: &str) -> Vec<(String, String)> {
    output
        .lines()
        .filter_map(|line| {
            let (inside, subject) = line.trim().strip_prefix('[')?.split_once(']')?;
            let hash = inside.rsplit(' ').next()?;
            let hexadecimal = (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
            let subject = shorten(&one_line(subject), 160);
            (hexadecimal && inside.contains(' ') && !subject.is_empty()).then(|| (hash.to_owned(), subject))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::words::Language;
    use super::*;
    use crate::model::Timestamp;

    fn event(command: &str, outcome: Outcome) -> Event {
        let kind =
            EventKind::Tool { tool: String::from("Bash"), input: json!({"command": command}), outcome };
        Event {
            session: String::from("s"),
            platform: Default::default(),
            at: Timestamp(0),
            cwd: String::from("/p"),
            agent: None,
            kind,
        }
    }

    fn ok(command: &str, stdout: &str) -> Event {
        event(command, Outcome::Response(json!({"stdout": stdout, "stderr": "", "interrupted": false})))
    }

    fn bad(command: &str, text: &str) -> Event {
        event(command, Outcome::Error(text.to_owned()))
    }

    fn read(events: &[Event]) -> Runs {
        runs(events, "/p", Language::English.words())
    }

    #[test]
    fn a_test_that_failed_and_passed() {
        let events = [
            bad(
                "cargo test login",
                "Exit code 101\nthread 'a' panicked at src/a.rs:3\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
            ),
            ok(
                "cd /p && cargo test 2>&1 | tail -3",
                "test result: ok. 4 passed; 0 failed\n\ntest result: ok. 2 passed; 0 failed",
            ),
        ];
        let found = read(&events);
        assert_eq!(
            found.facts,
            [
                "`cargo test` failed (3 passed, 1 failed, thread 'a' panicked at src/a.rs:3), then passed (6 passed)"
            ]
        );
        assert!(found.recovered && found.failing.is_empty());
    }

    #[test]
    fn a_pipe_hides_the_exit_code_but_not_the_failure() {
        let found = read(&[ok("pytest -q | tail -1", "1 failed, 3 passed in 0.1s")]);
        assert_eq!(found.facts, ["`pytest -q` failed (3 passed, 1 failed): 1 failed, 3 passed in 0.1s"]);
        assert_eq!(found.failing, ["`pytest -q` still fails"]);
        let quiet = read(&[ok("pytest -q", "3 passed")]);
        assert_eq!((quiet.facts, quiet.failed), (vec![String::from("`pytest -q` passed (3 passed)")], false));
    }

    #[test]
    fn exit_codes_and_error_lines() {
        let found = read(&[bad("./deploy.sh prod", "Exit code 3\nstarting\nError: bucket `x` not found")]);
        assert_eq!(found.facts, ["`./deploy.sh prod` failed (exit code 3): Error: bucket 'x' not found"]);
        assert!(read(&[bad("grep -rn nothing src", "Exit code 1")]).facts.is_empty());
    }

    #[test]
    fn commits_from_the_answer_or_the_command() {
        let found = read(&[
            ok("git add -A && git commit -m 'Fix login'", "[main 1a2b3c4] Fix login\n 1 file changed"),
            ok("git commit -q -m \"$(cat <<'EOF'\nAdd docs\n\nMore.\nEOF\n)\"", ""),
            ok("git commit -m x", "[main (root-commit) abcdef0] Begin"),
            bad("git commit -m y", "Exit code 1\nnothing to commit"),
        ]);
        assert_eq!(
            found.facts,
            [
                "commit 1a2b3c4: Fix login",
                "commit: Add docs",
                "commit abcdef0: Begin",
                "`git commit -m y` failed (exit code 1): nothing to commit"
            ]
        );
        assert_eq!(found.commits, ["1a2b3c4: Fix login", "abcdef0: Begin"]);
    }

    #[test]
    fn an_end_that_is_not_told_is_read_from_the_output_or_left_open() {
        let end = |command: &str, stdout: &str| {
            let response = json!({ "stdout": stdout, "exitCodeUnknown": true });
            run(command, stdout, &Outcome::Response(response)).end
        };
        for (command, stdout, expected) in [
            ("cargo test", "test result: ok. 3 passed; 0 failed", End::Passed),
            ("cargo test", "test result: FAILED. 2 passed; 1 failed", End::Failed(None)),
            ("cargo test", "", End::Open),
            ("cargo build", "", End::Open),
            ("cargo build", "error: could not compile `x`", End::Failed(None)),
            ("git commit -m x", "[main 0a1b2c3] x", End::Passed),
            ("git commit -m x", "nothing to commit", End::Open),
            ("./migrate.sh", "", End::Passed),
        ] {
            assert_eq!(end(command, stdout), expected, "{command}: {stdout}");
        }
    }

    #[test]
    fn looking_around_is_no_fact() {
        let events = [
            ok("ls -la", "a"),
            ok("git status && git diff", ""),
            ok("cat a | grep b", ""),
            ok("npm install zod", "added 1 package"),
        ];
        let found = read(&events);
        assert_eq!(found.facts, ["ran `npm install zod`"]);
        assert!(found.acted && !found.failed);
        assert!(!read(&[ok("rg x", "")]).acted);
    }
}
