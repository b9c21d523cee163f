//! The one choke point between what was observed and what is kept: strip tags, redact credentials, bound
//! the size, in this order, once, for every string of an event.

mod assignment;
mod bound;
mod media;
mod rules;
mod secrets;
mod tags;
#[cfg(test)]
mod tests;

use once_cell::unsync::OnceCell;
use regex::Regex;
use serde_json::{Map, Value};

pub use bound::MAX_CHARS;
pub use secrets::RULES_VERSION;
pub use tags::is_wholly_private;

/// Cleans events with the built-in rules and the user's own patterns.
#[derive(Debug)]
pub struct Cleaner {
    patterns: Vec<String>,
    compiled: OnceCell<Vec<Regex>>,
}

impl Cleaner {
    /// Takes the user's patterns; compiles nothing yet. One that is no regular expression is left out (the
    /// settings refuse it, and `cmem doctor` names it).
    pub fn new(patterns: &[String]) -> Self {
        Self { patterns: patterns.to_vec(), compiled: OnceCell::new() }
    }

    /// Cleans every string and every object key of a value, in place.
    pub fn clean(&self, value: &mut Value) {
        let mut room = bound::MAX_EVENT_BYTES;
        self.clean_at(value, 0, &mut room);
    }

    /// Cleans one text.
    pub fn clean_text(&self, text: &str) -> String {
        let stripped = tags::strip(text);
        bound::redact_and_cut(&stripped, |part| self.redact(part))
    }

    /// Replaces credentials only: for texts that are not the user's, such as a model's reply.
    pub fn redact(&self, text: &str) -> String {
        let custom = self
            .compiled
            .get_or_init(|| self.patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());
        secrets::redact(&media::note_data_uris(text), custom).into_owned()
    }

    fn clean_at(&self, value: &mut Value, depth: usize, room: &mut usize) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            _ if depth > bound::MAX_DEPTH => *value = Value::from("[elided: nested too deep]"),
            Value::String(text) => *text = self.clean_string(text, room),
            Value::Array(items) => {
                let left_out = items.len().saturating_sub(bound::MAX_ENTRIES);
                items.truncate(bound::MAX_ENTRIES);
                for item in items.iter_mut() {
                    self.clean_at(item, depth + 1, room);
                }
                if left_out > 0 {
                    items.push(Value::from(format!("[elided: {left_out} more entries]")));
                }
            }
            Value::Object(map) => *map = self.clean_object(std::mem::take(map), depth, room),
        }
    }

    fn clean_object(&self, map: Map<String, Value>, depth: usize, room: &mut usize) -> Map<String, Value> {
        let map = media::note_blobs(map);
        let left_out = map.len().saturating_sub(bound::MAX_ENTRIES);
        let mut clean = Map::new();
        for (key, mut value) in map.into_iter().take(bound::MAX_ENTRIES) {
            let key = self.clean_string(&key, room);
            match &mut value {
                Value::String(text) if assignment::is_credential_name(&key) && !text.is_empty() => {
                    if !text.starts_with(secrets::PLACEHOLDER) {
                        *text = secrets::placeholder(secrets::kind_of(&key));
                    }
                }
                other => self.clean_at(other, depth + 1, room),
            }
            clean.insert(key, value);
        }
        if left_out > 0 {
            clean.insert(String::from("[elided]"), Value::from(format!("{left_out} more entries")));
        }
        clean
    }

    fn clean_string(&self, text: &str, room: &mut usize) -> String {
        if *room == 0 && !text.is_empty() {
            return String::from("[elided: event too large]");
        }
        let mut clean = media::note_blob(text).unwrap_or_else(|| self.clean_text(text));
        if clean.len() > *room {
            clean = String::from("[elided: event too large]");
            *room = 0;
        }
        *room = room.saturating_sub(clean.len());
        clean
    }
}
