//! What is left out before any model is paid for it. Each rule is about calls that teach nothing; a call that
//! failed, or that no rule is sure about, is kept.

mod result;
mod shell;

use serde_json::Value;

use self::shell::Call;
use crate::config::Settings;
use crate::model::{Event, EventKind, Outcome};

/// Why an event is left out, by a stable name for the ledger; `None` keeps it.
///
/// - `skip_tool`: the tool is in `CMEM_SKIP_TOOLS`.
/// - `own_tool`, `own_command`: cmem's own MCP tools, resources and commands; memories must not come back as evidence.
/// - `empty_result`: a call that only looks and found nothing.
/// - `listing`: names of files and nothing else.
/// - `clean_status`: a status check without a finding.
/// - `clean_install`: dependencies installed as locked, without a warning.
pub(super) fn skip_reason(event: &Event, settings: &Settings) -> Option<&'static str> {
    let EventKind::Tool { tool, input, outcome } = &event.kind else { return None };
    if settings.skip_tools.iter().any(|skipped| skipped == tool) {
        return Some("skip_tool");
    }
    if is_own_tool(tool) || is_own_resource(tool, input) {
        return Some("own_tool");
    }
    let command = input.get("command").and_then(Value::as_str).filter(|_| tool == "Bash");
    let calls = command.and_then(shell::parse);
    if calls.as_deref().is_some_and(is_own_command) {
        return Some("own_command");
    }
    let Outcome::Response(response) = outcome else { return None };
    if result::failed(response) {
        return None;
    }
    match (tool.as_str(), calls) {
        ("Bash", Some(calls)) => skip_command(&calls, response),
        ("Glob" | "LS", _) => Some("listing"),
        // The text is in the session already; that the file matters again is worth knowing.
        ("Read", _) if response.get("type").is_some_and(|kind| kind == "file_unchanged") => None,
        ("Read" | "Grep" | "BashOutput", _) if result::is_empty(response) => Some("empty_result"),
        _ => None,
    }
}

/// A tool of an MCP server that has `cmem` in its name: `mcp__cmem__search`, `mcp__plugin_cmem_cmem__get`.
pub(super) fn is_own_tool(tool: &str) -> bool {
    tool.strip_prefix("mcp__").and_then(|rest| rest.split("__").next()).is_some_and(is_own_server)
}

/// A resource of such a server, by the tool that the client has for the resources of all of them.
fn is_own_resource(tool: &str, input: &Value) -> bool {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or_default();
    tool == "ReadMcpResourceTool" && (is_own_server(text("server")) || text("uri").starts_with("cmem://"))
}

fn is_own_server(name: &str) -> bool {
    name.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "cmem")
}

/// Runs cmem, and beside it only what moves around or filters.
fn is_own_command(calls: &[Call]) -> bool {
    let is_own = |call: &Call| call.program() == "cmem";
    calls.iter().any(is_own) && calls.iter().all(|call| is_own(call) || is_plumbing(call))
}

fn skip_command(calls: &[Call], response: &Value) -> Option<&'static str> {
    let all = |rule: fn(&Call) -> bool| {
        calls.iter().any(rule) && calls.iter().all(|call| rule(call) || is_plumbing(call))
    };
    let text = result::text(response);
    if text.trim().is_empty() {
        let silent = calls.iter().all(|call| is_plumbing(call) || is_listing(call) || only_looks(call));
        return silent.then_some("empty_result").or_else(|| all(is_status).then_some("clean_status"));
    }
    if all(is_listing) {
        return Some("listing");
    }
    if all(is_status) && result::is_clean_status(&text) {
        return Some("clean_status");
    }
    (all(is_locked_install) && !result::has_warning(&text)).then_some("clean_install")
}

/// Moves around, waits, or filters what another command prints.
fn is_plumbing(call: &Call) -> bool {
    match call.program() {
        "cd" | "pushd" | "popd" | "true" | ":" | "sleep" | "wait" => true,
        // Only as a filter: with a file as argument they read it.
        "head" | "tail" | "sort" | "uniq" | "wc" | "cat" | "column" => call
            .args()
            .iter()
            .all(|arg| arg.starts_with('-') || arg.bytes().all(|byte| byte.is_ascii_digit())),
        _ => false,
    }
}

fn is_listing(call: &Call) -> bool {
    match call.program() {
        "ls" | "pwd" | "tree" | "dir" | "exa" | "eza" => true,
        "find" => {
            let acts =
                ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"];
            !call.args().iter().any(|arg| acts.contains(&arg.as_str()))
        }
        _ => false,
    }
}

/// Prints what it finds and changes nothing, so that no output is no finding.
fn only_looks(call: &Call) -> bool {
    matches!(
        call.program(),
        "cat"
            | "head"
            | "tail"
            | "grep"
            | "egrep"
            | "fgrep"
            | "rg"
            | "ag"
            | "wc"
            | "which"
            | "echo"
            | "stat"
            | "file"
            | "jobs"
            | "pgrep"
            | "lsof"
    )
}

fn is_status(call: &Call) -> bool {
    let mut words = call.args().iter().map(String::as_str);
    if call.program() != "git" {
        return false;
    }
    let mut subcommand = words.next();
    while matches!(subcommand, Some("-C" | "--no-pager")) {
        if subcommand == Some("-C") {
            words.next();
        }
        subcommand = words.next();
    }
    match subcommand {
        Some("status") => true,
        Some("diff") => !words.any(|word| word.starts_with("--output")),
        Some("stash") => words.next() == Some("list"),
        _ => false,
    }
}

/// Installs what a lock file or manifest says; with a package named it would be a decision.
fn is_locked_install(call: &Call) -> bool {
    let words: Vec<&str> =
        call.args().iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let flags = |flag: &str| call.args().iter().any(|arg| arg == flag);
    match (call.program(), words.as_slice()) {
        ("npm" | "pnpm" | "bun", ["install" | "i" | "ci"]) => true,
        ("yarn", [] | ["install"]) => !flags("--version"),
        ("bundle" | "composer" | "poetry", ["install"]) => true,
        ("uv", ["sync"]) | ("cargo", ["fetch"]) => true,
        ("go", ["mod", "download"]) => true,
        ("pip" | "pip3", ["install", _]) => flags("-r") || flags("--requirement"),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
