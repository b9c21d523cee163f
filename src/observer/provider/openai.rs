//! OpenAI-compatible chat completions, <https://platform.openai.com/docs/api-reference/chat>.

use serde_json::{Value, json};

use super::{MAX_TOKENS, ObserverError, Request, Spoken, Usage, Wire, join};
use crate::http::Uri;

pub(super) fn url(base: &str) -> Result<Uri, ObserverError> {
    join("CMEM_OPENAI_BASE_URL", base, false, "/chat/completions")
}

pub(super) fn headers(key: &str) -> Vec<(&'static str, String)> {
    match key {
        "" => Vec::new(),
        key => vec![("authorization", format!("Bearer {key}"))],
    }
}

/// The shapes of `POST …/chat/completions`.
pub(super) struct ChatCompletions {
    limit: &'static str,
}

impl ChatCompletions {
    /// OpenAI's newer models refuse `max_tokens`, its name until 2024; most other servers know only that.
    pub(super) fn at(url: &Uri) -> Self {
        let own = url.host().is_some_and(|host| host.eq_ignore_ascii_case("api.openai.com"));
        Self { limit: if own { "max_completion_tokens" } else { "max_tokens" } }
    }
}

impl Wire for ChatCompletions {
    fn body(&self, model: &str, request: &Request) -> Value {
        let mut body = json!({
            "model": model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
            ],
        });
        body[self.limit] = json!(MAX_TOKENS);
        body
    }

    fn read(&self, answer: &Value) -> Spoken {
        let content = answer.pointer("/choices/0/message/content");
        let text = match content {
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
            }
            other => other.and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        let stop = answer.pointer("/choices/0/finish_reason").and_then(Value::as_str);
        let declined = answer.pointer("/choices/0/message/refusal").and_then(Value::as_str);
        // Not what it says instead: that may quote what it was shown.
        let refused = stop
            .filter(|stop| *stop == "content_filter")
            .or(declined.filter(|text| !text.is_empty()).map(|_| "refusal"));
        let count = |path: &str| answer.pointer(path).and_then(Value::as_i64).unwrap_or(0).max(0);
        let cached = count("/usage/prompt_tokens_details/cached_tokens");
        Spoken {
            text: without_thoughts(&text).to_owned(),
            cut: stop == Some("length"),
            refused: refused.map(str::to_owned),
            model: answer.get("model").and_then(Value::as_str).map(str::to_owned),
            usage: Usage {
                input: count("/usage/prompt_tokens").saturating_sub(cached).max(0),
                cached,
                output: count("/usage/completion_tokens"),
            },
        }
    }
}

/// Local reasoning models think aloud in front of their answer; one that was stopped at it has said nothing.
fn without_thoughts(text: &str) -> &str {
    match text.rsplit_once("</think>") {
        Some((_, answer)) => answer,
        None if text.trim_start().starts_with("<think>") => "",
        None => text,
    }
}
