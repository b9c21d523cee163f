//! Stand-ins for the model services and for those that take notices, on 127.0.0.1.

mod agent;
pub mod embeddings;
pub mod http;
mod model;
pub mod post;

pub use agent::{AgentApi, Outage, Step};
pub use embeddings::{Embed, EmbedServer};
pub use model::{Mode, ModelServer};

use serde_json::Value;

/// Every string anywhere in a JSON value.
pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
