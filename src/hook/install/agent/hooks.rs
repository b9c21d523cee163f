//! Entries below `hooks`, in the two forms that agents have.

use serde_json::{Value, json};

use super::super::command::{agent_command, around_program, own_program, quoted};
use super::super::document::{Document, Step};
use super::super::plan::Change;
use crate::model::Platform;

/// One event to register.
#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    /// The agent's name for it.
    pub(super) name: &'static str,
    /// The tool that it is about; `None` = any.
    pub(super) matcher: Option<&'static str>,
    /// After how many seconds the agent ends a hook, where that can be said.
    pub(super) seconds: u32,
}

pub(super) const fn always(name: &'static str) -> Event {
    Event { name, matcher: None, seconds: 10 }
}

pub(super) const fn about(name: &'static str, tool: &'static str) -> Event {
    Event { matcher: Some(tool), ..always(name) }
}

/// How an entry is written.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// As Claude Code does: groups with a matcher, each with a list of commands. `timeout`: its units in a second.
    Groups { timeout: u32 },
    /// A list of commands. `version`: the file says `"version": 1`; `quiet`: the agent is told to show no output.
    Flat { version: bool, quiet: bool },
}

impl Form {
    fn entry(self, event: &Event, command: &str) -> Value {
        let mut entry = match self {
            Self::Groups { timeout } => json!({
                "hooks": [{ "type": "command", "command": command, "timeout": event.seconds * timeout }],
            }),
            Self::Flat { quiet: true, .. } => json!({ "command": command, "show_output": false }),
            Self::Flat { .. } => json!({ "command": command, "timeout": event.seconds }),
        };
        if let (Some(tool), Value::Object(fields)) = (event.matcher, &mut entry) {
            fields.insert(String::from("matcher"), json!(tool));
        }
        entry
    }
}

/// The hooks of Copilot CLI, a file of their own.
pub(super) fn copilot_file(program: &str, events: &[Event]) -> String {
    let entry = |event: &Event| {
        let command = agent_command(program, Platform::Copilot, event.name);
        let entry = json!([{ "type": "command", "bash": command, "timeoutSec": event.seconds }]);
        (event.name.to_owned(), entry)
    };
    let hooks: serde_json::Map<String, Value> = events.iter().map(entry).collect();
    format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
}

/// Whether a text is such a file: all that it runs is cmem.
pub(super) fn is_copilot_file(text: &str) -> bool {
    let file: Value = serde_json::from_str(text).unwrap_or_default();
    let events = file.get("hooks").and_then(Value::as_object).into_iter().flat_map(|events| events.values());
    let mut commands =
        events.filter_map(Value::as_array).flatten().map(|entry| entry["bash"].as_str()).peekable();
    commands.peek().is_some()
        && commands.all(|command| command.and_then(|command| own_program(command, None)).is_some())
}

/// An entry of ours.
#[derive(Debug)]
pub(super) struct Own {
    event: String,
    command: String,
    pub(super) program: String,
    /// Its place in the list of the event, and in its group.
    places: (usize, Option<usize>),
}

impl Own {
    fn path(&self) -> Vec<Step<'_>> {
        let (entry, inner) = self.places;
        let mut path = vec![Step::Key("hooks"), Step::Key(&self.event), Step::Index(entry)];
        path.extend(inner.into_iter().flat_map(|inner| [Step::Key("hooks"), Step::Index(inner)]));
        path
    }
}

/// Our entries, in the order of the file. `also` is a further path that counts as cmem.
pub(super) fn own(document: &Document, also: &str) -> Result<Vec<Own>, (String, &'static str)> {
    let Some(events) = document.value().get("hooks") else { return Ok(Vec::new()) };
    let events = events.as_object().ok_or((String::from("hooks"), "an object"))?;
    let mut own = Vec::new();
    for (event, entries) in events {
        // Switches may stand beside the events.
        let Some(entries) = entries.as_array() else { continue };
        for (at, entry) in entries.iter().enumerate() {
            let mut add = |value: &Value, inner: Option<usize>| {
                let Some(command) = value.get("command").and_then(Value::as_str) else { return };
                if let Some(program) = own_program(command, Some(also)) {
                    let (event, command) = (event.clone(), command.to_owned());
                    own.push(Own { event, command, program, places: (at, inner) });
                }
            };
            add(entry, None);
            let inner = entry.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            inner.iter().enumerate().for_each(|(at, value)| add(value, Some(at)));
        }
    }
    Ok(own)
}

/// Makes the next change towards a complete registration; `None` = it is complete.
pub(super) fn install(
    document: &mut Document,
    (form, events): (Form, &[Event]),
    (platform, program): (Platform, &str),
) -> Result<Option<Change>, (String, &'static str)> {
    let own = own(document, program)?;
    let broken = (String::from("hooks"), "a list of hooks for each event");
    let is_excess = |at: usize| {
        let entry: &Own = &own[at];
        events.iter().all(|event| event.name != entry.event)
            || own[..at].iter().any(|earlier| earlier.event == entry.event)
    };
    if let Some(at) = (0..own.len()).find(|at| is_excess(*at)) {
        return Ok(Some(remove(document, &own[at]).ok_or(broken)?));
    }
    for event in events {
        let command = agent_command(program, platform, event.name);
        match own.iter().find(|entry| entry.event == event.name) {
            Some(entry) => {
                let command = renewed(entry, program, &command);
                if command == entry.command {
                    continue;
                }
                let mut path = entry.path();
                path.push(Step::Key("command"));
                document.replace(&path, &json!(command)).ok_or(broken)?;
                let (event, from) = (entry.event.clone(), entry.command.clone());
                return Ok(Some(Change::Update { event, from, to: command }));
            }
            None => {
                add(document, form, event, &command).ok_or(broken)?;
                return Ok(Some(Change::Add { event: event.name.to_owned(), command }));
            }
        }
    }
    Ok(None)
}

/// The command of an entry with `program` in the place of its own. What the user put around it stays, as long as it is
/// the call that is `wanted` otherwise.
fn renewed(entry: &Own, program: &str, wanted: &str) -> String {
    let Some((before, after)) = around_program(&entry.command, Some(&entry.program)) else {
        return wanted.to_owned();
    };
    let call = wanted.strip_prefix(&quoted(program)).unwrap_or(wanted);
    let is_end = |text: &str| text.is_empty() || text.starts_with(char::is_whitespace);
    match after.split_once(call) {
        Some((_, rest)) if is_end(rest) && entry.program == program => entry.command.clone(),
        Some((_, rest)) if is_end(rest) => format!("{before}{}{after}", quoted(program)),
        _ => format!("{before}{wanted}"),
    }
}

fn add(document: &mut Document, form: Form, event: &Event, command: &str) -> Option<()> {
    if matches!(form, Form::Flat { version: true, .. }) && document.value().get("version").is_none() {
        document.insert(&[], "version", &json!(1))?;
    }
    let entry = form.entry(event, command);
    match document.value().get("hooks").map(|events| events.get(event.name).is_some()) {
        None => document.insert(&[], "hooks", &json!({ event.name: [entry] })),
        Some(false) => document.insert(&[Step::Key("hooks")], event.name, &json!([entry])),
        Some(true) => document.push(&[Step::Key("hooks"), Step::Key(event.name)], &entry),
    }
}

/// Takes the next entry of ours out; `None` = there is none.
pub(super) fn uninstall(
    document: &mut Document,
    program: &str,
) -> Result<Option<Change>, (String, &'static str)> {
    let Some(entry) = own(document, program)?.into_iter().next() else { return Ok(None) };
    let broken = (String::from("hooks"), "a list of hooks for each event");
    Ok(Some(remove(document, &entry).ok_or(broken)?))
}

/// With the containers that this leaves empty.
fn remove(document: &mut Document, entry: &Own) -> Option<Change> {
    let mut path = entry.path();
    document.remove(&path)?;
    path.pop();
    while !path.is_empty() {
        // A group goes with the last of its commands.
        let is_group = matches!(path.last(), Some(Step::Index(_)));
        if !is_group && !document.is_bare(&path) {
            break;
        }
        document.remove(&path)?;
        path.pop();
    }
    Some(Change::Remove { event: entry.event.clone(), command: entry.command.clone() })
}
