//! The keys that a mode file may hold, in our names and in claude-mem's: any other is likely a slip.

use serde_json::{Map, Value};

use super::foreign;
use super::labels::Labels;

const MODE: [&str; 9] =
    ["parent", "name", "description", "language", "locale", "types", "concepts", "prompts", "labels"];
const PROMPTS: [&str; 7] = ["role", "record", "skip", "fields", "types", "concepts", "summary"];
const TERM: [&str; 4] = ["id", "label", "description", "glyph"];

/// Paths of the keys of a file that mean nothing, each once, in their order.
pub(super) fn unknown(file: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |part: &str, value: &Value, known: &dyn Fn(&str) -> bool| {
        for key in value.as_object().into_iter().flat_map(Map::keys).filter(|key| !known(key)) {
            let path = if part.is_empty() { key.clone() } else { format!("{part}.{key}") };
            if !found.contains(&path) {
                found.push(path);
            }
        }
    };
    look("", &Value::Object(file.clone()), &|key| MODE.contains(&key) || foreign::is_part(key));
    for (part, value) in file {
        match part.as_str() {
            "prompts" => look(part, value, &|key| PROMPTS.contains(&key) || foreign::is_prompt(key)),
            "labels" => look(part, value, &Labels::has),
            "types" | "concepts" | "observation_types" | "observation_concepts" => {
                let known = |key: &str| TERM.contains(&key) || foreign::is_of_term(key);
                value.as_array().into_iter().flatten().for_each(|term| look(part, term, &known));
            }
            _ => {}
        }
    }
    found
}
