//! Imports follow the data flow, and files stay small enough to read.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders from left to right: each may use what stands to its left.
const FLOW: [&str; 8] = ["privacy", "spool", "drain", "observer", "store", "index", "retrieve", "render"];
/// Anything may use these, and they use nothing but each other.
const GROUND: [&str; 6] = ["model", "config", "mode", "error", "log", "http"];
/// Most lines of a file, its tests not counted.
const CEILING: usize = 500;

/// What a folder may use beside itself and the ground.
fn allowed(folder: &str) -> Vec<&'static str> {
    match folder {
        // The three orchestrators call anything: the write half, the commands, and what dispatches to them.
        "drain" => vec![
            "privacy",
            "spool",
            "git",
            "observer",
            "store",
            "index",
            "retrieve",
            "hook",
            "adopt",
            "notices",
            "embeddings",
        ],
        "commands" | "cli" => [
            &FLOW[..],
            &[
                "adopt",
                "embeddings",
                "foreign",
                "git",
                "hook",
                "notices",
                "mcp",
                "outline",
                "report",
                "transfer",
                "cli",
                "commands",
            ],
        ]
        .concat(),
        // The hook answers from memory, so it reads through retrieve and render; it writes nothing there but the
        // pointers of what was merged since the last session.
        "hook" => vec!["privacy", "spool", "git", "drain", "adopt", "store", "retrieve", "outline", "render"],
        "git" => vec![],
        // Reads what others keep, hands events over as a hook does, and stores records as they are.
        "foreign" => vec!["privacy", "spool", "drain", "observer", "store", "index", "hook", "git", "adopt"],
        // Decides from what the store has recorded and what git says.
        "adopt" => vec!["git", "store"],
        // Selects what goes out, and stores and indexes what comes in.
        "transfer" => vec!["privacy", "git", "store", "index", "retrieve"],
        "notices" => vec!["privacy", "store"],
        // Judges what an endpoint answers by the classes of the observer, and fills the index.
        "embeddings" => vec!["privacy", "observer", "store", "index"],
        // The store is the ground of both databases: the spool opens its file by the same rules.
        "spool" => vec!["privacy", "git", "store"],
        "observer" => vec!["privacy"],
        "store" => vec![],
        "embed" => vec![],
        "index" => vec!["embed", "store"],
        "retrieve" => vec!["embed", "index", "store"],
        "render" => vec!["retrieve", "outline"],
        // Reads source files, and knows nothing of memories.
        "outline" => vec![],
        // Reads and orders; whoever runs the command has prose written.
        "report" => vec!["store", "retrieve", "render"],
        // Knows messages and no memory: what is offered comes from the command.
        "mcp" => vec![],
        _ => vec![],
    }
}

#[test]
fn imports_follow_the_data_flow() {
    let mut wrong = Vec::new();
    for file in sources() {
        let folder = top(&file);
        if folder == "lib" || folder == "main" {
            continue;
        }
        for used in used_folders(&production_part(&file)) {
            let fine = used == folder
                || GROUND.contains(&used.as_str())
                || allowed(&folder).contains(&used.as_str());
            if !fine {
                wrong.push(format!("{} uses {used}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "an import arrow points the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn the_ground_uses_only_itself() {
    for file in sources().iter().filter(|file| GROUND.contains(&top(file).as_str())) {
        for used in used_folders(&production_part(file)) {
            assert!(GROUND.contains(&used.as_str()), "{} uses {used}", file.display());
        }
    }
}

#[test]
fn files_stay_below_the_ceiling() {
    for file in sources() {
        let lines = production_part(&file).lines().count();
        assert!(lines <= CEILING, "{} has {lines} lines without its tests", file.display());
    }
}

#[test]
fn one_file_names_each_foreign_world() {
    let naming = |word: &str, allowed: &[&str]| {
        for file in sources() {
            let named = production_part(&file)
                .lines()
                .any(|line| !line.trim_start().starts_with("//") && line.contains(word));
            let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            assert!(!named || allowed.contains(&name.as_str()), "{name} names {word}");
        }
    };
    naming("gix::", &["git/repo.rs", "git/history.rs"]);
    naming("imara_diff::", &["git/patch.rs"]);
    naming("fs2::", &["spool/lock.rs"]);
    naming("ureq::", &["http.rs"]);
    let protocol = ["mcp/input.rs", "mcp/places.rs", "mcp/serve.rs", "mcp/server.rs", "mcp/wire.rs"];
    naming("rmcp::", &protocol);
    naming("tokio::", &protocol);
    naming("ignore::", &["outline/tree.rs"]);
    let grammar = ["mod", "name", "signature", "walk"].map(|name| format!("outline/grammar/{name}.rs"));
    naming("tree_sitter", &grammar.each_ref().map(String::as_str));
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources() -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The module of `src` that a file belongs to.
fn top(file: &Path) -> String {
    let first = file.strip_prefix(root()).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

/// The text of a file up to its tests.
fn production_part(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// Top-level modules named by `crate::X` anywhere, `use crate::{X, Y::...}` included.
fn used_folders(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |name: &str| {
        let name: String =
            name.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    };
    let code: String =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => add(rest),
            Some(list) => top_level_parts(list).iter().for_each(|part| add(part)),
        }
    }
    found
}

/// The comma-separated parts of a brace list that was just opened, without what stands in nested braces.
fn top_level_parts(list: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            other if depth == 0 => parts.last_mut().unwrap().push(other),
            _ => {}
        }
    }
    parts
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::config::Paths;\n// crate::nothing\nuse crate::{model::{Event, crate_like}, store};\n\
                fn f() { crate::drain::run() }\npub(crate) fn g() {}\n";
    assert_eq!(used_folders(text), ["config", "model", "store", "drain"]);
}
