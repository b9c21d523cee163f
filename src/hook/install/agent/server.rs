//! The MCP server in an agent's settings.

use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::super::command::{names_cmem, own_program};
use super::super::document::{Document, Step};
use super::super::plan::Change;

/// Under this name.
const NAME: &str = "cmem";
/// What changes, in a word.
const WHAT: &str = "mcp server";
/// What an entry of this name should be.
pub(super) const OURS: &str = "of cmem's making";
/// Where Codex keeps them.
const TABLE: &str = "mcp_servers";

/// Whether this command of a server is cmem: by its name, or at the path of this very program.
fn is_own(command: Option<&str>, program: &str) -> bool {
    command.is_some_and(|command| names_cmem(command, Some(program)))
}

/// The command of a server: a text, or the first of a list.
fn command_of(entry: &Value) -> Option<&str> {
    let command = entry.get("command")?;
    command.as_str().or_else(|| command.get(0)?.as_str())
}

/// The program of our server, if there is one.
pub(super) fn in_json(document: &Document, servers: &str, program: &str) -> Option<String> {
    let command = command_of(document.value().get(servers)?.get(NAME)?);
    command.filter(|command| is_own(Some(command), program)).map(str::to_owned)
}

/// Makes the change that is needed; `None` = all is well. What the user added to the server stays, and so does a server
/// of his that has our name.
pub(super) fn change_json(
    document: &mut Document,
    servers: &'static str,
    wanted: Option<&Value>,
    program: &str,
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
        (None, Some(Some(entry))) if !is_own(command_of(&entry), program) => Ok(None),
        (Some(_), Some(Some(entry))) if !is_own(command_of(&entry), program) => {
            Err((format!("{servers}.{NAME}"), OURS))
        }
        (None, Some(Some(entry))) => {
            document.remove(&server).ok_or_else(broken)?;
            if document.is_bare(&list) {
                document.remove(&list).ok_or_else(broken)?;
            }
            Ok(Some(Change::Remove { event, command: line(&entry) }))
        }
        (None, _) => Ok(None),
        (Some(wanted), Some(Some(entry))) => {
            let renewed = |key: &'static str| Some((key, renewed(entry.get(key), wanted.get(key)?)));
            let stale = ["command", "args"].into_iter().filter_map(renewed);
            let Some((key, value)) = stale.into_iter().find(|(key, value)| entry.get(key) != Some(value))
            else {
                return Ok(None);
            };
            let member = [server[0], server[1], Step::Key(key)];
            match entry.get(key) {
                Some(_) => document.replace(&member, &value),
                None => document.insert(&server, key, &value),
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

/// What a member should be. Options that the user put before the command `mcp` stay.
fn renewed(present: Option<&Value>, wanted: &Value) -> Value {
    let command = |words: &Vec<Value>| words.iter().position(|word| word == "mcp");
    let options = |present: &Vec<Value>, wanted: &Vec<Value>| {
        let (from, at) = (command(wanted)?, command(present)?);
        let words = wanted.get(..from)?.iter().chain(present.get(from..at)?).chain(wanted.get(from..)?);
        Some(Value::Array(words.cloned().collect()))
    };
    let lists = present.and_then(Value::as_array).zip(wanted.as_array());
    lists.and_then(|(present, wanted)| options(present, wanted)).unwrap_or_else(|| wanted.clone())
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
    /// The program that stood there, if it was ours.
    pub(super) program: Option<String>,
    /// The name of a server there that is not ours, and was left.
    pub(super) foreign: Option<String>,
}

/// The same for `[mcp_servers.cmem]`; everything else keeps its bytes.
pub(super) fn in_toml(text: &str, wanted: Option<&Value>, program: &str) -> Result<Changed, String> {
    let plain = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let changed = in_plain_toml(&plain, wanted, program)?;
    let text = if changed.change.is_some() { in_style_of(text, changed.text) } else { text.to_owned() };
    Ok(Changed { text, ..changed })
}

/// With the byte-order mark, the line ends and the end of `old`, which a TOML document does not keep.
fn in_style_of(old: &str, mut text: String) -> String {
    if !old.is_empty() && !old.ends_with('\n') {
        text.truncate(text.trim_end_matches('\n').len());
    }
    if old.contains("\r\n") {
        text = text.replace('\n', "\r\n");
    }
    if old.starts_with('\u{feff}') && !text.is_empty() { format!("\u{feff}{text}") } else { text }
}

fn in_plain_toml(text: &str, wanted: Option<&Value>, program: &str) -> Result<Changed, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| one_line(&error))?;
    let not_a_table = || format!("`{TABLE}` is not a table");
    if document.get(TABLE).is_some_and(|servers| !servers.is_table_like()) {
        return Err(not_a_table());
    }
    let entry = document.get(TABLE).and_then(|servers| servers.get(NAME));
    let own = entry.and_then(|entry| entry.get("command")?.as_str()).map(str::to_owned);
    if entry.is_some() && !is_own(own.as_deref(), program) {
        let foreign = Some(format!("{TABLE}.{NAME}"));
        return Ok(Changed { text: text.to_owned(), change: None, program: None, foreign });
    }
    let present = entry.map(|entry| {
        let args = entry.get("args").and_then(Item::as_array);
        let args: Vec<&str> = args.into_iter().flatten().filter_map(|arg| arg.as_str()).collect();
        json!({ "command": own, "args": args })
    });
    let wanted = wanted.map(|wanted| {
        let args = renewed(present.as_ref().map(|present| &present["args"]), &wanted["args"]);
        json!({ "command": wanted["command"], "args": args })
    });
    let event = String::from(WHAT);
    let change = match (wanted, present) {
        (Some(wanted), Some(present)) if wanted == present => None,
        (None, None) => None,
        (None, Some(present)) => {
            let servers =
                document.get_mut(TABLE).and_then(Item::as_table_like_mut).ok_or_else(not_a_table)?;
            servers.remove(NAME);
            let is_empty = servers.is_empty();
            // A heading of the user's own stays.
            if is_empty && document.get(TABLE).and_then(Item::as_table).is_some_and(Table::is_implicit) {
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
                Some(present) => Change::Update { event, from: line(&present), to: line(&wanted) },
                None => Change::Add { event, command: line(&wanted) },
            })
        }
    };
    Ok(Changed { text: document.to_string(), change, program: own, foreign: None })
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
