//! Texts that are looked for in other texts, however they are broken into lines there.

use std::collections::HashMap;

use serde_json::Value;

/// Fewest bytes of a text that is told by: "continue" and "done" are anybody's, four Chinese signs are not.
const LEAST: usize = 12;

/// What somebody said, as it may be found elsewhere: by the bytes that it begins with, so that a text is read once however
/// many they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Passages(HashMap<[u8; LEAST], Vec<String>>);

impl Passages {
    /// Those of some texts that are long enough to tell.
    pub fn of(texts: &[String]) -> Self {
        let mut passages: HashMap<[u8; LEAST], Vec<String>> = HashMap::new();
        for text in texts {
            // A mark at the end says that a title was cut there.
            let text = one_line(text.trim().trim_end_matches('…'));
            if let Some(beginning) = text.as_bytes().first_chunk() {
                passages.entry(*beginning).or_default().push(text);
            }
        }
        Self(passages)
    }

    /// Whether a text holds one of them.
    pub fn are_in(&self, text: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let text = one_line(text);
        let begins_at = |(at, window): (usize, &[u8])| {
            let known = self.0.get(window)?;
            known.iter().find(|passage| text.as_bytes()[at..].starts_with(passage.as_bytes()))
        };
        text.as_bytes().windows(LEAST).enumerate().any(|window| begins_at(window).is_some())
    }

    /// Whether a string anywhere in a value holds one of them.
    pub fn are_in_value(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
            Value::String(text) => self.are_in(text),
            Value::Array(values) => values.iter().any(|value| self.are_in_value(value)),
            Value::Object(fields) => {
                fields.iter().any(|(key, value)| self.are_in(key) || self.are_in_value(value))
            }
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passages(texts: &[&str]) -> Passages {
        Passages::of(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_passage_is_found_whatever_its_line_breaks() {
        let passages =
            passages(&["the key is under\n  the mat", "部署密钥", "a cut title of whic…", "continue", ""]);
        for text in ["said: the key is  under the\tmat!", "请看部署密钥在哪", "so a cut title of which"]
        {
            assert!(passages.are_in(text), "{text}");
        }
        for text in ["the key is under a mat", "please continue", "", "密钥部署"] {
            assert!(!passages.are_in(text), "{text}");
        }
        assert!(passages.are_in_value(&json!({"a": [1, {"b": "the key is under\nthe mat"}]})));
        assert!(passages.are_in_value(&json!({"the key is under the mat": null})));
        assert!(!passages.are_in_value(&json!({"a": ["key", true]})));
    }
}
