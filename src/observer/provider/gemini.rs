//! Google's Gemini API, <https://ai.google.dev/api/generate-content>.

use serde_json::{Value, json};

use super::{MAX_TOKENS, ObserverError, Request, Spoken, Usage, Wire};
use crate::http::{Uri, parse_url};

/// Google's name for its newest small model.
pub(in crate::observer) const DEFAULT_MODEL: &str = "gemini-flash-latest";

/// The model is part of the address.
pub(super) fn url(base: &str, model: &str) -> Result<Uri, ObserverError> {
    const SETTING: &str = "CMEM_GEMINI_BASE_URL";
    let base = base.trim().trim_end_matches('/');
    let base = base.strip_suffix("/v1beta").unwrap_or(base);
    let model = model.trim_start_matches("models/");
    if !model.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) {
        return Err(ObserverError::BadModel(model.to_owned()));
    }
    parse_url(&format!("{base}/v1beta/models/{model}:generateContent"))
        .map_err(|reason| ObserverError::BadUrl { setting: SETTING, reason })
}

pub(super) fn headers(key: &str) -> Vec<(&'static str, String)> {
    vec![("x-goog-api-key", key.to_owned())]
}

/// The shapes of `POST …:generateContent`.
pub(super) struct GenerateContent;

impl Wire for GenerateContent {
    fn body(&self, _model: &str, request: &Request) -> Value {
        json!({
            "systemInstruction": {"parts": [{"text": request.system}]},
            "contents": [{"role": "user", "parts": [{"text": request.user}]}],
            "generationConfig": {"maxOutputTokens": MAX_TOKENS},
        })
    }

    fn read(&self, answer: &Value) -> Spoken {
        let parts = answer.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        let is_thought = |part: &&Value| part.get("thought").and_then(Value::as_bool).unwrap_or_default();
        let texts = parts.into_iter().flatten().filter(|part| !is_thought(part));
        let text: String = texts.filter_map(|part| part.get("text")?.as_str()).collect();
        let finish = answer.pointer("/candidates/0/finishReason").and_then(Value::as_str).unwrap_or_default();
        let refused = answer.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        let stopped = Some(finish).filter(|reason| REFUSALS.contains(reason));
        let count = |key: &str| {
            answer.pointer(&format!("/usageMetadata/{key}")).and_then(Value::as_i64).unwrap_or(0).max(0)
        };
        let cached = count("cachedContentTokenCount");
        Spoken {
            text,
            cut: finish == "MAX_TOKENS",
            refused: refused.or(stopped).map(str::to_ascii_lowercase),
            model: answer.get("modelVersion").and_then(Value::as_str).map(str::to_owned),
            usage: Usage {
                input: count("promptTokenCount").saturating_sub(cached),
                cached,
                output: count("candidatesTokenCount") + count("thoughtsTokenCount"),
            },
        }
    }
}

/// Ends of an answer that no second question changes.
const REFUSALS: [&str; 6] = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"];
