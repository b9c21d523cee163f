//! What a provider says about a failure, in whose words ever.

use std::time::Duration;

use serde_json::Value;

use super::reset;
use crate::model::Timestamp;

/// What a provider said about a failure.
#[derive(Debug, Default)]
pub(super) struct Complaint {
    /// Its `type`, `code` and `status`, lower case, each ended by a space.
    pub(super) codes: String,
    /// Its text.
    pub(super) message: String,
    /// A numeric `code` inside it.
    pub(super) status: Option<u16>,
    /// How long to wait, where the body says so.
    pub(super) wait: Option<Duration>,
    /// Or until when.
    pub(super) reset: Option<Timestamp>,
}

impl Complaint {
    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}` and lists of one of them.
    pub(super) fn from(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").unwrap_or(value);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = ["message", "detail", "error"].iter().find_map(|key| error.get(key).and_then(text));
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let mut complaint = Self { status, ..Self::default() };
        let inner = error.get("innererror").unwrap_or(&Value::Null);
        for key in ["type", "code", "status"] {
            complaint.add_codes([error.get(key), inner.get(key)]);
        }
        complaint.read_google(error);
        complaint.read_router(error);
        let message = message.or_else(|| text(error));
        let of_router = std::mem::take(&mut complaint.message);
        complaint.message = match (message, of_router.as_str()) {
            (Some(message), "") => message,
            (Some(message), inner) => format!("{message}: {inner}"),
            (None, "") => complaint.codes.trim_end().to_owned(),
            (None, _) => of_router,
        };
        complaint
    }

    fn add_codes<'a>(&mut self, codes: impl IntoIterator<Item = Option<&'a Value>>) {
        for code in codes.into_iter().flatten().filter_map(Value::as_str) {
            self.codes.push_str(&code.to_ascii_lowercase());
            self.codes.push(' ');
        }
    }

    /// Google says in `details` why, which quota it is, and how long to wait.
    fn read_google(&mut self, error: &Value) {
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            let delay =
                detail.get("retryDelay").and_then(Value::as_str).and_then(|text| text.strip_suffix('s'));
            let seconds = delay.and_then(|text| text.parse::<f64>().ok()).filter(|seconds| *seconds >= 0.0);
            self.wait = self.wait.or_else(|| Duration::try_from_secs_f64(seconds?).ok());
            self.add_codes([detail.get("reason")]);
            let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
            self.add_codes(violations.map(|violation| violation.get("quotaId")));
        }
    }

    /// OpenRouter says in `metadata` what the provider behind it said, why a filter refused, and when its own limit ends.
    fn read_router(&mut self, error: &Value) {
        let Some(metadata) = error.get("metadata") else { return };
        if metadata.get("flagged_input").is_some() {
            self.codes.push_str("content_filter ");
        }
        self.reset = metadata
            .pointer("/headers/X-RateLimit-Reset")
            .and_then(|at| at.as_str().map(str::to_owned).or_else(|| Some(at.as_u64()?.to_string())))
            .and_then(|at| reset::instant(&at));
        if let Some(raw) = metadata.get("raw").and_then(Value::as_str) {
            match serde_json::from_str(raw) {
                Ok(inner) => {
                    let inner = Self::from(&inner);
                    self.codes.push_str(&inner.codes);
                    self.message = inner.message;
                }
                Err(_) => raw.clone_into(&mut self.message),
            }
        }
    }

    pub(super) fn has(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.codes.contains(code))
    }

    fn says(&self, parts: &[&str]) -> bool {
        let lower = self.message.to_ascii_lowercase();
        parts.iter().any(|part| lower.contains(part))
    }

    /// An allowance is used up, for longer than a minute.
    pub(super) fn is_out_of_credit(&self, status: u16) -> bool {
        let credit = self.has(&[
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "allowance_exhausted",
            "key_limit_exceeded",
            "perday",
        ]) || self.says(&[
            "credit balance is too low",
            "insufficient credits",
            "key limit exceeded",
            "usage limit",
        ]);
        let day = status == 429 && self.says(&["per day", "per-day"]);
        // Google says the same of a minute.
        let current = self.says(&["exceeded your current quota"]) && !self.has(&["resource_exhausted"]);
        status == 402 || (status != 404 && (credit || day || current))
    }

    /// One of Google's allowances for a day.
    pub(super) fn is_of_google_day(&self) -> bool {
        self.has(&["perday"])
    }

    /// What was sent was refused for what it says.
    pub(super) fn is_about_content(&self, status: u16) -> bool {
        !matches!(status, 401 | 407 | 429)
            && (self.has(&["content_filter", "content_policy", "responsibleaipolicy", "moderation"])
                || self.says(&[
                    "content management policy",
                    "content filter",
                    "content policy",
                    "contentpolicyviolation",
                    "was flagged",
                    "requires moderation",
                    "usage policy",
                ]))
    }

    /// What was sent was refused for its length.
    pub(super) fn is_about_size(&self, status: u16) -> bool {
        match status {
            413 => true,
            401 | 403 | 404 | 407 => false,
            // Others of these are about the sum of many requests.
            429 => self.says(&["request too large", "request body too large"]),
            _ => {
                self.has(&[
                    "context_length_exceeded",
                    "exceed_context_size",
                    "request_too_large",
                    "tokens_limit_reached",
                    "string_above_max_length",
                ]) || self.says(&[
                    "prompt is too long",
                    "input is too long",
                    "maximum context length",
                    "maximum model length",
                    "context window",
                    "contextwindowexceeded",
                    "context length",
                    "context size",
                    "maximum number of tokens",
                    "too many tokens",
                    "request too large",
                ])
            }
        }
    }

    /// A refusal that no other request would meet better, under a status that does not say so.
    pub(super) fn is_about_credentials(&self) -> bool {
        self.has(&["api_key_invalid", "invalid_api_key"])
            || self.says(&[
                "incorrect api key",
                "api key not valid",
                "api key expired",
                "organization has been disabled",
                "user location is not supported",
            ])
    }
}
