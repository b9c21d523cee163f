//! The Anthropic Messages API, <https://docs.anthropic.com/en/api/messages>.

use serde_json::{Value, json};

use super::{MAX_TOKENS, ObserverError, Request, Spoken, Usage, Wire, join};
use crate::http::Uri;

/// Cheap, fast, and good enough to write notes.
pub(in crate::observer) const DEFAULT_MODEL: &str = "claude-haiku-4-5-20251001";

/// The version of the API, a required header.
const VERSION: &str = "2023-06-01";

pub(super) fn url(base: &str) -> Result<Uri, ObserverError> {
    join("CMEM_ANTHROPIC_BASE_URL", base, true, "/messages")
}

pub(super) fn headers(key: &str) -> Vec<(&'static str, String)> {
    vec![("x-api-key", key.to_owned()), ("anthropic-version", VERSION.to_owned())]
}

/// The shapes of `POST /v1/messages`.
pub(super) struct Messages;

impl Wire for Messages {
    fn body(&self, model: &str, request: &Request) -> Value {
        json!({
            "model": model,
            "max_tokens": MAX_TOKENS,
            "system": [{
                "type": "text",
                "text": request.system,
                "cache_control": {"type": "ephemeral"},
            }],
            "messages": [{"role": "user", "content": request.user}],
        })
    }

    fn read(&self, answer: &Value) -> Spoken {
        let blocks = answer.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
        let stop = answer.get("stop_reason").and_then(Value::as_str);
        let count =
            |key: &str| answer.pointer(&format!("/usage/{key}")).and_then(Value::as_i64).unwrap_or(0).max(0);
        Spoken {
            text: texts.join("\n"),
            cut: matches!(stop, Some("max_tokens" | "model_context_window_exceeded")),
            refused: stop.filter(|stop| *stop == "refusal").map(str::to_owned),
            model: answer.get("model").and_then(Value::as_str).map(str::to_owned),
            usage: Usage {
                input: count("input_tokens").saturating_add(count("cache_creation_input_tokens")),
                cached: count("cache_read_input_tokens"),
                output: count("output_tokens"),
            },
        }
    }
}
