//! Mode files written for claude-mem: the same parts under its names. What cmem has no use for is left alone.

use serde_json::{Map, Value};

use super::bundled;

/// Its name, ours.
const PARTS: [(&str, &str); 2] = [("observation_types", "types"), ("observation_concepts", "concepts")];
const PROMPTS: [(&str, &str); 7] = [
    ("system_identity", "role"),
    ("recording_focus", "record"),
    ("skip_guidance", "skip"),
    ("field_guidance", "fields"),
    ("type_guidance", "types"),
    ("concept_guidance", "concepts"),
    ("summary_instruction", "summary"),
];
const TERM: [(&str, &str); 1] = [("emoji", "glyph")];

/// What else its files hold and cmem has no use for.
const UNUSED: [&str; 2] = ["version", "$schema"];
const UNUSED_PROMPTS: [&str; 13] = [
    "spatial_awareness",
    "observer_role",
    "output_format_header",
    "format_examples",
    "footer",
    "header_memory_start",
    "header_memory_continued",
    "header_summary_checkpoint",
    "continuation_greeting",
    "continuation_instruction",
    "summary_context_label",
    "summary_format_instruction",
    "summary_footer",
];
const UNUSED_OF_TERM: [&str; 1] = ["work_emoji"];

/// Whether its files have such a key.
pub(super) fn is_part(key: &str) -> bool {
    is_among(key, &PARTS, &UNUSED)
}

/// The same for prompts.
pub(super) fn is_prompt(key: &str) -> bool {
    is_among(key, &PROMPTS, &UNUSED_PROMPTS) || (key.starts_with("xml_") && key.ends_with("_placeholder"))
}

/// The same for types and concepts.
pub(super) fn is_of_term(key: &str) -> bool {
    is_among(key, &TERM, &UNUSED_OF_TERM)
}

fn is_among(key: &str, used: &[(&str, &str)], unused: &[&str]) -> bool {
    unused.contains(&key) || used.iter().any(|(theirs, _)| *theirs == key)
}

/// Renames its keys to ours, before files are merged: a child in its names may override a parent in ours.
pub(super) fn renamed(mut mode: Map<String, Value>) -> Map<String, Value> {
    rename(&mut mode, &PARTS);
    if let Some(Value::Object(prompts)) = mode.get_mut("prompts") {
        rename(prompts, &PROMPTS);
    }
    for part in ["types", "concepts"] {
        let terms = mode.get_mut(part).and_then(Value::as_array_mut);
        for term in terms.into_iter().flatten().filter_map(Value::as_object_mut) {
            rename(term, &TERM);
        }
    }
    mode
}

fn rename(map: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = map.shift_remove(*theirs) {
            map.entry(*ours).or_insert(value);
        }
    }
}

/// The locale that a file's own footers and placeholders ask for ("write in Deutsch"), where they name a bundled
/// language: what a language variant consists of there.
pub(super) fn told_locale(mode: &Map<String, Value>) -> Option<&'static str> {
    let prompts = mode.get("prompts")?.as_object()?;
    let says = |key: &str| key.ends_with("footer") || key.ends_with("_placeholder");
    let texts: Vec<String> = prompts
        .iter()
        .filter(|(key, _)| says(key))
        .filter_map(|(_, text)| Some(text.as_str()?.to_lowercase()))
        .collect();
    if texts.is_empty() {
        return None;
    }
    bundled::languages().find_map(|(locale, names)| {
        let named =
            |text: &String| names.iter().any(|name| holds(text, &format!("in {}", name.to_lowercase())));
        texts.iter().any(named).then_some(locale)
    })
}

/// Whether the words stand in a text as words.
fn holds(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + words.len()..].chars().next();
        [before, after].into_iter().flatten().all(|c| !c.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value}") };
        map
    }

    #[test]
    fn its_names_become_ours_and_ours_win() {
        let renamed = renamed(object(json!({
            "observation_types": [{"id": "a", "emoji": "●", "work_emoji": "x"}],
            "prompts": {"skip_guidance": "theirs", "skip": "ours", "footer": "f"},
        })));
        let expected = json!({
            "types": [{"id": "a", "glyph": "●", "work_emoji": "x"}],
            "prompts": {"skip": "ours", "footer": "f"},
        });
        assert_eq!(Value::Object(renamed), expected);
    }

    #[test]
    fn footers_tell_the_language() {
        let told = |text: &str| told_locale(&object(json!({"prompts": {"footer": text}})));
        assert_eq!(told("Write everything in Deutsch."), Some("de"));
        assert_eq!(told("write the observation in 日本語"), Some("ja"));
        assert_eq!(told("Answer in german, please"), Some("de"));
        assert_eq!(told("Write in Traditional Chinese"), Some("zh-tw"));
        for other in ["Write in Klingon", "in germanic prose", "Deutsch is a language", ""] {
            assert_eq!(told(other), None, "{other}");
        }
        assert_eq!(told_locale(&object(json!({"prompts": {"role": "write in Deutsch"}}))), None);
    }
}
