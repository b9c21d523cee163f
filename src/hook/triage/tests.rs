use serde_json::json;

use super::*;
use crate::config::Sources;
use crate::model::Timestamp;

fn settings() -> Settings {
    Settings::resolve_lenient(&Sources::default()).0
}

fn reason(tool: &str, input: Value, outcome: Outcome) -> Option<&'static str> {
    let kind = EventKind::Tool { tool: tool.to_owned(), input, outcome };
    let event = Event {
        session: String::new(),
        platform: Default::default(),
        at: Timestamp(0),
        cwd: String::new(),
        agent: None,
        kind,
    };
    skip_reason(&event, &settings())
}

fn bash(command: &str, stdout: &str) -> Option<&'static str> {
    let response = json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false});
    reason("Bash", json!({ "command": command }), Outcome::Response(response))
}

fn call(tool: &str, response: Value) -> Option<&'static str> {
    reason(tool, json!({"file_path": "/a"}), Outcome::Response(response))
}

#[test]
fn tools_of_the_list_and_of_cmem_itself() {
    for tool in ["TodoWrite", "ToolSearch", "Skill"] {
        assert_eq!(call(tool, json!("x")), Some("skip_tool"), "{tool}");
    }
    for tool in [
        "mcp__cmem__search",
        "mcp__plugin_cmem_cmem__search",
        "mcp__plugin_cmem_cmem__get",
        "mcp__my-cmem__x",
    ] {
        assert_eq!(call(tool, json!("x")), Some("own_tool"), "{tool}");
    }
    for (tool, input) in [
        ("ReadMcpResourceTool", json!({"server": "cmem", "uri": "cmem://context"})),
        ("ReadMcpResourceTool", json!({"server": "plugin:cmem:cmem", "uri": "x"})),
        ("ReadMcpResourceTool", json!({"server": "memory", "uri": "cmem://context/app"})),
    ] {
        assert_eq!(reason(tool, input.clone(), Outcome::Response(json!("x"))), Some("own_tool"), "{input}");
    }
    for input in [json!({"server": "docs", "uri": "docs://cmem"}), json!({})] {
        assert_eq!(
            reason("ReadMcpResourceTool", input.clone(), Outcome::Response(json!("x"))),
            None,
            "{input}"
        );
    }
    for tool in ["mcp__scmember__x", "mcp__github__cmem", "cmem", "Edit", "mcp__"] {
        assert_eq!(call(tool, json!("x")), None, "{tool}");
    }
}

#[test]
fn cmems_own_commands() {
    for command in [
        "cmem search 'a b'",
        "/usr/local/bin/cmem get 1 2",
        "cd /a && cmem timeline 5 | head -20",
        "CMEM_DATA_DIR=/x cmem status 2>&1",
    ] {
        assert_eq!(bash(command, "text"), Some("own_command"), "{command}");
    }
    for command in
        ["cargo build && cmem search x", "echo cmem search", "cmem search $(cat x)", "grep cmem src/a.rs"]
    {
        assert_eq!(bash(command, "text"), None, "{command}");
    }
}

#[test]
fn looking_without_a_finding() {
    for command in
        ["true", "grep -rn TODO src", "ls /empty", "cat empty.txt", "rg x | head -3", "cd /a && ls"]
    {
        assert_eq!(bash(command, ""), Some("empty_result"), "{command}");
    }
    for command in
        ["git commit -qm x", "sed -i s/a/b/ f", "mv a b", "cargo fmt", "rm x", "make -s", "", "echo a > b"]
    {
        assert_eq!(bash(command, ""), None, "{command}");
    }
    for tool in ["Read", "Grep"] {
        assert_eq!(
            call(tool, json!({"mode": "content", "numFiles": 0, "filenames": [], "content": ""})),
            Some("empty_result")
        );
    }
    let unchanged = json!({"type": "file_unchanged", "file": {"filePath": "/a"}});
    assert_eq!(call("Read", unchanged), None);
    assert_eq!(call("Edit", json!(null)), None);
    assert_eq!(call("mcp__linear__create_issue", json!([])), None);
}

#[test]
fn whatever_printed_something_is_kept() {
    for response in
        [json!({"stdout": "@@text@@"}), json!("@@text@@"), json!(true), json!(3.5), json!(["a", 1])]
    {
        assert_eq!(
            reason("Bash", json!({"command": "true"}), Outcome::Response(response.clone())),
            None,
            "{response}"
        );
    }
    assert_eq!(reason("Bash", json!({"note": "text"}), Outcome::Response(Value::Null)), None);
    assert_eq!(reason("Bash", json!("text"), Outcome::Response(Value::Null)), None);
    assert_eq!(bash("cat src/a.rs", "fn main() {}"), None);
}

#[test]
fn listings() {
    for command in
        ["ls -la", "pwd", "cd src && ls", "tree -L 2", "find . -name '*.rs' | head -50", "ls a | wc -l"]
    {
        assert_eq!(bash(command, "a.rs\nb.rs"), Some("listing"), "{command}");
    }
    for command in
        ["find . -delete", "find . -exec cat {} +", "ls && cargo test", "ls | xargs cat", "ls | grep x"]
    {
        assert_eq!(bash(command, "text"), None, "{command}");
    }
    assert_eq!(call("Glob", json!({"filenames": ["/a"]})), Some("listing"));
}

#[test]
fn status_checks() {
    let long = "On branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean\n";
    assert_eq!(bash("git status", long), Some("clean_status"));
    assert_eq!(bash("cd /a && git status -sb", "## main...origin/main\n"), Some("clean_status"));
    for command in ["git status --short", "git diff --stat", "git -C /a diff", "git stash list"] {
        assert_eq!(bash(command, ""), Some("clean_status"), "{command}");
    }
    assert_eq!(bash("git status --short", " M src/a.rs"), None);
    assert_eq!(bash("git status -sb", "## main...origin/main [ahead 2]"), None);
    assert_eq!(
        bash("git status", "On branch main\nYour branch is ahead of 'origin/main' by 1 commit."),
        None
    );
    assert_eq!(bash("git diff", "-a\n+b"), None);
    assert_eq!(bash("git stash", ""), None);
    assert_eq!(bash("git push", ""), None);
}

#[test]
fn installations() {
    let quiet = "added 12 packages in 3s\nfound 0 vulnerabilities";
    for command in
        ["npm ci", "npm install", "pnpm i --frozen-lockfile", "yarn", "uv sync", "pip install -r req.txt"]
    {
        assert_eq!(bash(command, quiet), Some("clean_install"), "{command}");
    }
    for command in
        ["npm install left-pad", "pip install flask", "yarn add x", "npm run build", "cargo install x"]
    {
        assert_eq!(bash(command, quiet), None, "{command}");
    }
    for text in ["npm warn deprecated x@1", "3 vulnerabilities", "ERR! code 1"] {
        assert_eq!(bash("npm ci", text), None, "{text}");
    }
}

#[test]
fn failures_are_kept() {
    assert_eq!(
        reason("Bash", json!({"command": "ls /no"}), Outcome::Error(String::from("Exit code 2"))),
        None
    );
    for response in [
        json!({"stdout": "", "stderr": "ls: no such file"}),
        json!({"stdout": "", "interrupted": true}),
        json!({"output": "", "exit_code": 2}),
        json!({"content": [{"type": "text", "text": ""}], "isError": true}),
        json!({"stdout": "", "stderr": "", "backgroundTaskId": "b1"}),
    ] {
        assert_eq!(
            reason("Bash", json!({"command": "ls"}), Outcome::Response(response.clone())),
            None,
            "{response}"
        );
    }
}

#[test]
fn only_tool_events_are_judged() {
    let kind = EventKind::Prompt { text: String::from("ls"), private: false };
    let event = Event {
        session: String::new(),
        platform: Default::default(),
        at: Timestamp(0),
        cwd: String::new(),
        agent: None,
        kind,
    };
    assert_eq!(skip_reason(&event, &settings()), None);
}
