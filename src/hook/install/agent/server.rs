//! The MCP server in an agent's settings.

use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::super::command::own_program;
use super::super::document::{Document, Step};
use super::super::plan::Change;

/// Under this name.
const NAME: &str = "cmem";
/// What changes, in a word.
const WHAT: &str = "mcp server";
/// Where Codex keeps them.
const TABLE: &str = "mcp_servers";

/// The program of the server there is.
pub(super) fn in_json(document: &Document, servers: &str) -> Option<String> {
    let entry = document.value().get(servers)?.get(NAME)?;
    let command = entry.get("command")?;
    command.as_str().or_else(|| command.get(0)?.as_str()).map(str::to_owned)
}

/// Makes the change that is needed; `None` = all is well. What the user added to the server stays.
pub(super) fn change_json(
    document: &mut Document,
    servers: &'static str,
    wanted: Option<&Value>,
) -> Result<Option<Change>, (String, &'static str)> {
    let broken = || (servers.to_owned(), "an object");
    let (list, server) = ([Step::Key(servers)], [Step::Key(servers), Step::Key(NAME)]);
    let present = document.value().get(servers).cloned();
    if present.as_ref().is_some_and(|list| !list.is_object()) {
        return Err(broken());
    }
    let present = present.map(|list| list.get(NAME).cloned());
    let event = String::from(WHAT);
    match (wanted, present) {
        (None, Some(Some(entry))) => {
            document.remove(&server).ok_or_else(broken)?;
            if document.value().get(servers).and_then(Value::as_object).is_some_and(|list| list.is_empty()) {
                document.remove(&list).ok_or_else(broken)?;
            }
            Ok(Some(Change::Remove { event, command: line(&entry) }))
        }
        (None, _) => Ok(None),
        (Some(wanted), Some(Some(entry))) => {
            let stale = |key: &&str| wanted.get(*key).is_some_and(|value| entry.get(*key) != Some(value));
            let Some(key) = ["command", "args"].into_iter().find(stale) else { return Ok(None) };
            let member = [server[0], server[1], Step::Key(key)];
            match entry.get(key) {
                Some(_) => document.replace(&member, &wanted[key]),
                None => document.insert(&server, key, &wanted[key]),
            }
            .ok_or_else(broken)?;
            Ok(Some(Change::Update { event, from: line(&entry), to: line(wanted) }))
        }
        (Some(wanted), present) => {
            match present {
                Some(_) => document.insert(&list, NAME, wanted),
                None => document.insert(&[], servers, &json!({ NAME: wanted })),
            }
            .ok_or_else(broken)?;
            Ok(Some(Change::Add { event, command: line(wanted) }))
        }
    }
}

/// The command of a server as a line.
fn line(entry: &Value) -> String {
    let words = [&entry["command"], &entry["args"]].into_iter().flat_map(|value| match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A TOML file after the change.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) text: String,
    pub(super) change: Option<Change>,
    /// The program that stood there.
    pub(super) program: Option<String>,
}

/// The same for `[mcp_servers.cmem]`; everything else keeps its bytes.
pub(super) fn in_toml(text: &str, wanted: Option<&Value>) -> Result<Changed, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| one_line(&error))?;
    let not_a_table = || format!("`{TABLE}` is not a table");
    if document.get(TABLE).is_some_and(|servers| !servers.is_table_like()) {
        return Err(not_a_table());
    }
    let entry = document.get(TABLE).and_then(|servers| servers.get(NAME));
    let program = entry.and_then(|entry| entry.get("command")?.as_str()).map(str::to_owned);
    let present = entry.map(|entry| {
        let args = entry.get("args").and_then(Item::as_array);
        let args: Vec<&str> = args.into_iter().flatten().filter_map(|arg| arg.as_str()).collect();
        json!({ "command": program, "args": args })
    });
    let event = String::from(WHAT);
    let change = match (wanted, present) {
        (Some(wanted), Some(present)) if *wanted == present => None,
        (None, None) => None,
        (None, Some(present)) => {
            let servers =
                document.get_mut(TABLE).and_then(Item::as_table_like_mut).ok_or_else(not_a_table)?;
            servers.remove(NAME);
            let is_empty = servers.is_empty();
            if is_empty {
                document.remove(TABLE);
            }
            Some(Change::Remove { event, command: line(&present) })
        }
        (Some(wanted), present) => {
            let servers = document.entry(TABLE).or_insert_with(|| {
                let mut servers = Table::new();
                // Only its tables are written.
                servers.set_implicit(true);
                Item::Table(servers)
            });
            let servers = servers.as_table_like_mut().ok_or_else(not_a_table)?;
            let server = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
            let server = server.as_table_like_mut().ok_or_else(not_a_table)?;
            server.insert("command", value(wanted["command"].as_str().unwrap_or_default()));
            let args = wanted["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            server.insert("args", value(args.collect::<Array>()));
            Some(match present {
                Some(present) => Change::Update { event, from: line(&present), to: line(wanted) },
                None => Change::Add { event, command: line(wanted) },
            })
        }
    };
    let text = if change.is_some() { document.to_string() } else { text.to_owned() };
    Ok(Changed { text, change, program })
}

/// The parser's words take several lines with a picture of the place.
fn one_line(error: &toml_edit::TomlError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned() + ": " + error.message()
}

/// The program in a file of ours: the command of its first hook, or what its constant names.
pub(super) fn program_in(text: &str) -> Option<String> {
    if let Some(rest) = text.split("const CMEM = ").nth(1) {
        return serde_json::from_str(rest.lines().next()?.trim_end_matches(';')).ok();
    }
    let file: Value = serde_json::from_str(text).ok()?;
    let mut entries = file.get("hooks")?.as_object()?.values().filter_map(Value::as_array).flatten();
    entries.find_map(|entry| own_program(entry.get("bash")?.as_str()?, None))
}
