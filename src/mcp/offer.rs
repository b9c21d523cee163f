//! What a server offers, as data.

use serde_json::{Map, Value, json};

use super::Arguments;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Caller;

/// Everything that a client may ask for. Its words travel with every request of the model, so they are few.
#[derive(Debug)]
pub struct Offer {
    /// How the tools belong together.
    pub instructions: &'static str,
    /// What can be called.
    pub tools: &'static [&'static Tool],
    /// What can be read by its address; `None` = nothing.
    pub resources: Option<Resources>,
}

/// Something that can be called.
#[derive(Debug)]
pub struct Tool {
    /// Its name; clients put the server's before it.
    pub name: &'static str,
    /// What it is for, and what its answer costs.
    pub about: &'static str,
    /// What it is called with.
    pub parameters: &'static [Parameter],
    /// Whether it changes nothing.
    pub reads_only: bool,
    /// Does the work, in a thread of its own; returns what the model reads.
    pub call: fn(&Arguments, &Caller, &Paths) -> Result<String, Failure>,
}

/// One argument of a tool.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What the name does not say; may be empty.
    pub about: &'static str,
    /// Whether a call without it makes no sense.
    pub is_needed: bool,
}

/// What an argument holds.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts, or one of them.
    Texts,
    /// The same, with commas between them where they come as one text.
    Words,
    /// A whole number, from and to.
    Count(usize, usize),
    /// Yes or no.
    Flag,
}

/// What can be read by its address.
#[derive(Debug, Clone, Copy)]
pub struct Resources {
    /// Those that there are.
    pub list: fn(&Caller, &Paths) -> Result<Vec<Resource>, Failure>,
    /// The form of their addresses.
    pub template: &'static Resource<&'static str>,
    /// The text of one; `None` when the address names nothing.
    pub read: fn(&str, &Caller, &Paths) -> Result<Option<String>, Failure>,
}

/// One of them, by its address.
#[derive(Debug, Clone)]
pub struct Resource<T = String> {
    /// Its address.
    pub uri: T,
    /// Its name, for people.
    pub name: T,
    /// What it says.
    pub about: &'static str,
}

impl Parameter {
    /// One that may be left out.
    pub const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, about, is_needed: false }
    }

    /// The same, but needed.
    pub const fn needed(self) -> Self {
        Self { is_needed: true, ..self }
    }
}

impl Tool {
    /// JSON schema of its arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let properties: Map<String, Value> =
            self.parameters.iter().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
        let needed: Vec<&str> =
            self.parameters.iter().filter(|parameter| parameter.is_needed).map(|p| p.name).collect();
        let mut schema = Map::new();
        schema.insert(String::from("type"), json!("object"));
        schema.insert(String::from("properties"), Value::Object(properties));
        if !needed.is_empty() {
            schema.insert(String::from("required"), json!(needed));
        }
        schema
    }
}

impl Parameter {
    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::Words => json!({"type": "string"}),
            Kind::Choice(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Count(..) => json!({"type": "integer"}),
            Kind::Flag => json!({"type": "boolean"}),
        };
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }
}
