//! What a tool was called with, judged by what it takes. A model that errs is told which argument, and what is allowed.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Kind, Tool};
use crate::error::Failure;

/// Longest part of a wrong value that is said back, in characters.
const SAID_BACK: usize = 60;
/// Longest list.
const LONGEST_LIST: usize = 100;

/// The arguments of one call. A name that the tool does not take reads as one that was left out.
#[derive(Debug)]
pub struct Arguments {
    what: &'static str,
    values: BTreeMap<&'static str, Argument>,
}

#[derive(Debug)]
enum Argument {
    Text(String),
    List(Vec<String>),
    Count(usize),
    Flag(bool),
}

impl Arguments {
    /// Takes them in. Numbers and flags may come as texts, and a list of one as the text alone: models do that.
    pub(super) fn read(tool: &Tool, given: Map<String, Value>) -> Result<Self, Failure> {
        let mut values = BTreeMap::new();
        for (name, value) in given {
            let Some(parameter) = tool.parameters.iter().find(|parameter| parameter.name == name) else {
                return Err(unknown(tool, &name));
            };
            if value.is_null() {
                continue;
            }
            let argument = argument(parameter.kind, &value).ok_or_else(|| {
                let why = format!("{name} cannot be {}", said_back(&value));
                Failure::usage(tool.name, why, allowed(parameter.kind))
            })?;
            values.insert(parameter.name, argument);
        }
        match tool.parameters.iter().find(|known| known.is_needed && !values.contains_key(known.name)) {
            Some(missing) => {
                Err(Failure::usage(tool.name, format!("{} is missing", missing.name), allowed(missing.kind)))
            }
            None => Ok(Self { what: tool.name, values }),
        }
    }

    /// A text, or a choice.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list; empty when it was left out.
    pub fn list(&self, name: &str) -> Vec<String> {
        match self.values.get(name) {
            Some(Argument::List(list)) => list.clone(),
            _ => Vec::new(),
        }
    }

    /// A number.
    pub fn count(&self, name: &str) -> Option<usize> {
        match self.values.get(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Argument::Flag(true)))
    }

    /// What a text means; blanks mean nothing.
    ///
    /// # Errors
    /// A [`Failure`] that names the argument, with what `parse` says is allowed.
    pub fn parsed<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        let Some(text) = self.text(name).map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        parse(text).map(Some).map_err(|allowed| {
            Failure::usage(self.what, format!("{name} cannot be {}", said_back(&text.into())), allowed)
        })
    }
}

fn argument(kind: Kind, value: &Value) -> Option<Argument> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let texts = |value: &Value| match value {
        Value::Array(values) if values.len() > LONGEST_LIST => None,
        Value::Array(values) => values.iter().map(text).collect::<Option<Vec<_>>>(),
        value => Some(vec![text(value)?]),
    };
    Some(match kind {
        Kind::Text => Argument::Text(text(value)?),
        Kind::Choice(words) => Argument::Text(text(value).filter(|text| words.contains(&text.as_str()))?),
        Kind::Texts => Argument::List(texts(value)?),
        Kind::Words => {
            let words = texts(value)?;
            let words = words.iter().flat_map(|text| text.split(',')).map(str::trim);
            let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
            Argument::List((words.len() <= LONGEST_LIST).then_some(words)?)
        }
        Kind::Count(from, to) => {
            let count = text(value)?.trim().parse().ok()?;
            Argument::Count((from..=to).contains(&count).then_some(count)?)
        }
        Kind::Flag => Argument::Flag(value.as_bool().or_else(|| text(value)?.trim().parse().ok())?),
    })
}

fn allowed(kind: Kind) -> String {
    match kind {
        Kind::Text => String::from("allowed is a text"),
        Kind::Choice(words) => format!("allowed are {}", words.join(", ")),
        Kind::Texts => format!("allowed is a list of up to {LONGEST_LIST} texts"),
        Kind::Words => format!("allowed are up to {LONGEST_LIST} words with commas between them"),
        Kind::Count(from, to) => format!("allowed are whole numbers from {from} to {to}"),
        Kind::Flag => String::from("allowed are true and false"),
    }
}

fn unknown(tool: &Tool, name: &str) -> Failure {
    let known: Vec<&str> = tool.parameters.iter().map(|parameter| parameter.name).collect();
    Failure::usage(
        tool.name,
        format!("{} is no argument of it", said_back(&name.into())),
        format!("allowed are {}", known.join(", ")),
    )
}

fn said_back(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SAID_BACK {
        return text;
    }
    text.chars().take(SAID_BACK).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Parameter;
    use super::*;

    static TOOL: Tool = Tool {
        name: "look",
        about: "",
        parameters: &[
            Parameter::new("query", Kind::Text, ""),
            Parameter::new("limit", Kind::Count(1, 100), ""),
            Parameter::new("kind", Kind::Choice(&["prompt", "summary"]), ""),
            Parameter::new("ids", Kind::Words, "").needed(),
            Parameter::new("files", Kind::Texts, ""),
            Parameter::new("all", Kind::Flag, ""),
        ],
        reads_only: true,
        call: |_, _, _| Ok(String::new()),
    };

    fn read(given: Value) -> Result<Arguments, String> {
        let Value::Object(given) = given else { panic!("{given}") };
        Arguments::read(&TOOL, given).map_err(|failure| failure.to_string())
    }

    #[test]
    fn arguments_are_taken_in_every_form_that_models_give_them() {
        let plain =
            read(json!({"query": "a,b", "limit": 5, "ids": ["1", "S2"], "files": ["a,b.rs"], "all": true}));
        let loose =
            read(json!({"query": "a,b", "limit": " 5", "ids": "1, S2,", "files": "a,b.rs", "all": "true"}));
        for arguments in [plain.unwrap(), loose.unwrap()] {
            assert_eq!(arguments.text("query"), Some("a,b"));
            assert_eq!(arguments.count("limit"), Some(5));
            assert_eq!(arguments.list("ids"), ["1", "S2"]);
            assert_eq!(arguments.list("files"), ["a,b.rs"]);
            assert!(arguments.flag("all"));
        }
        let numbers = read(json!({"ids": [1, 2], "query": null, "kind": "prompt"})).unwrap();
        assert_eq!((numbers.list("ids"), numbers.text("query")), (vec!["1".into(), "2".into()], None));
        assert_eq!((numbers.text("kind"), numbers.flag("all")), (Some("prompt"), false));
        assert_eq!(read(json!({"ids": 7})).unwrap().list("ids"), ["7"]);
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_is_allowed() {
        for (given, parts) in [
            (json!({"ids": 1, "limit": 0}), &["look: limit cannot be 0", "from 1 to 100"][..]),
            (json!({"ids": 1, "limit": -1}), &["limit cannot be -1"]),
            (json!({"ids": 1, "limit": 1.5}), &["limit cannot be 1.5"]),
            (json!({"ids": 1, "kind": "dream"}), &["kind cannot be \"dream\"", "prompt, summary"]),
            (json!({"ids": 1, "query": {"a": 1}}), &["query cannot be", "a text"]),
            (json!({"ids": 1, "files": [[]]}), &["files cannot be", "a list of up to 100 texts"]),
            (json!({"ids": 1, "all": "maybe"}), &["all cannot be \"maybe\"", "true and false"]),
            (json!({"ids": vec![1; 101]}), &["ids cannot be", "up to 100 words"]),
            (json!({"ids": "1,".repeat(101)}), &["ids cannot be", "up to 100 words"]),
            (json!({"id": 1}), &["\"id\" is no argument", "query, limit, kind, ids, files, all"]),
            (json!({}), &["ids is missing", "commas"]),
        ] {
            let told = read(given.clone()).unwrap_err();
            for part in parts {
                assert!(told.contains(part), "{given}: {told}");
            }
        }
        let long = read(json!({"ids": 1, "kind": "x".repeat(5_000)})).unwrap_err();
        assert!(long.len() < 200, "{long}");
    }

    #[test]
    fn what_cannot_be_read_is_named_too() {
        let arguments = read(json!({"ids": 1, "query": " soon ", "kind": "prompt"})).unwrap();
        let number = |text: &str| text.parse::<i64>().map_err(|_| String::from("allowed are numbers"));
        let told = arguments.parsed("query", number).unwrap_err().to_string();
        assert_eq!(told, "look: query cannot be \"soon\": allowed are numbers");
        assert_eq!(arguments.parsed("since", number).unwrap(), None);
        assert_eq!(read(json!({"ids": 1, "query": " "})).unwrap().parsed("query", number).unwrap(), None);
    }
}
