//! Every answer gets exactly one class.
//!
//! Error shapes are the ones that the providers document:
//! <https://docs.anthropic.com/en/api/errors>, <https://platform.openai.com/docs/guides/error-codes>,
//! <https://openrouter.ai/docs/api-reference/errors> (which also puts an `error` object into a 200).
//! Two rules of our own: an answer that is no JSON comes from something between us and the provider (a captive
//! portal, a proxy, a broken connection) and is transient; a reply that was stopped at its length limit is used
//! as far as it is complete, and malformed when no observation is.

mod prose;
mod reset;

use std::time::Duration;

use serde_json::Value;

use super::parse::parse;
use super::text::{head, one_line};
use super::{Reply, Verdict};
use crate::config::{Provider, Settings};
use crate::mode::Mode;
use crate::model::Timestamp;

/// Longest message that is kept of what a provider said, in characters.
const MAX_MESSAGE: usize = 600;
/// The largest request that a provider takes was exceeded.
const TOO_LARGE: &str = "the request is too large for the model";

/// What a provider said about a failure.
#[derive(Debug, Default)]
struct Complaint {
    /// Its `type`, `code` and `status`, lower case, each ended by a space.
    codes: String,
    /// Its text.
    message: String,
    /// A numeric `code` inside it.
    status: Option<u16>,
    /// How long to wait, where the body says so.
    wait: Option<Duration>,
}

/// The class of an HTTP answer whose status is not 2xx.
pub(super) fn of_failure(status: u16, wait: Option<Duration>, body: &[u8], now: Timestamp) -> Verdict {
    let complaint = match serde_json::from_slice::<Value>(body) {
        Ok(value) => Complaint::from(&value),
        Err(_) => Complaint { message: page_text(body), ..Complaint::default() },
    };
    judge(status, wait, &complaint, now)
}

/// The class of an `error` object inside an answer, if there is one.
pub(super) fn of_error_object(answer: &Value, wait: Option<Duration>, now: Timestamp) -> Option<Verdict> {
    let inside =
        answer.get("error").or_else(|| answer.pointer("/choices/0/error")).filter(|e| !e.is_null())?;
    let complaint = Complaint::from(&serde_json::json!({ "error": inside }));
    let status = complaint.status.unwrap_or_else(|| status_of(&complaint.codes));
    Some(judge(status, wait, &complaint, now))
}

/// The class of what a model wrote. `cut` = it was stopped at its length limit.
pub(super) fn of_text(text: &str, cut: bool, mode: &Mode, shown: &[i64], now: Timestamp) -> Verdict {
    let malformed = |reason: &str| Verdict::Malformed { reason: reason.to_owned() };
    if text.trim().is_empty() {
        return malformed("the answer is empty");
    }
    let parsed = parse(text, mode, shown, cut);
    if !parsed.drafts.is_empty() || parsed.summary.is_some() {
        return Verdict::Stored(Reply { drafts: parsed.drafts, summary: parsed.summary });
    }
    if parsed.nothing {
        return Verdict::Nothing;
    }
    if parsed.tagged {
        return malformed(if cut {
            "the answer was cut off before anything was complete"
        } else {
            "no block says anything"
        });
    }
    prose::class(text, now).unwrap_or_else(|| malformed("prose instead of an answer in the format"))
}

/// The class of a notice: what a command says in place of an answer.
pub(super) fn of_notice(text: &str, now: Timestamp) -> Verdict {
    let notice = head(text, MAX_MESSAGE);
    let lower = notice.to_ascii_lowercase();
    // `Please run /login`, `Invalid API key`, `OAuth token has expired`.
    if ["/login", "api key", "oauth token", "not logged in"].iter().any(|part| lower.contains(part)) {
        return Verdict::Auth { message: bounded(notice) };
    }
    if lower.contains("prompt is too long") {
        return Verdict::Malformed { reason: String::from(TOO_LARGE) };
    }
    prose::class(notice, now).unwrap_or_else(|| Verdict::Transient { message: bounded(notice) })
}

/// What a provider said, on one line and bounded.
pub(super) fn bounded(message: &str) -> String {
    head(&one_line(message), MAX_MESSAGE).to_owned()
}

impl Complaint {
    /// Reads `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}` and lists of one of them.
    fn from(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").unwrap_or(value);
        let mut codes = String::new();
        for key in ["type", "code", "status"] {
            if let Some(code) = error.get(key).and_then(Value::as_str) {
                codes.push_str(&code.to_ascii_lowercase());
                codes.push(' ');
            }
        }
        // Google says there why, which quota it is, and how long to wait.
        let mut wait = None;
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            let delay =
                detail.get("retryDelay").and_then(Value::as_str).and_then(|text| text.strip_suffix('s'));
            let seconds = delay.and_then(|text| text.parse::<f64>().ok()).filter(|seconds| *seconds >= 0.0);
            wait = wait.or_else(|| Duration::try_from_secs_f64(seconds?).ok());
            let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
            let ids = violations.filter_map(|violation| violation.get("quotaId")?.as_str());
            for code in detail.get("reason").and_then(Value::as_str).into_iter().chain(ids) {
                codes.push_str(&code.to_ascii_lowercase());
                codes.push(' ');
            }
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = ["message", "detail", "error"].iter().find_map(|key| error.get(key).and_then(text));
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let message = message.or_else(|| text(error)).unwrap_or_else(|| codes.trim_end().to_owned());
        Self { codes, message, status, wait }
    }

    fn has(&self, codes: &[&str]) -> bool {
        codes.iter().any(|code| self.codes.contains(code))
    }
}

fn judge(status: u16, wait: Option<Duration>, complaint: &Complaint, now: Timestamp) -> Verdict {
    let message = match bounded(&complaint.message) {
        text if text.is_empty() => format!("HTTP {status}"),
        text => head(&format!("HTTP {status}: {text}"), MAX_MESSAGE).to_owned(),
    };
    let lower = complaint.message.to_ascii_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let out_of_credit = complaint.has(&[
        "insufficient_quota",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "allowance_exhausted",
        "key_limit_exceeded",
        "perday",
    ]) || says(&[
        "credit balance is too low",
        "insufficient credits",
        "key limit exceeded",
        "usage limit",
    ]);
    if status == 402 || (out_of_credit && status != 404) {
        let reset = reset::from_text(&complaint.message, now).or_else(|| wait.map(|wait| later(now, wait)));
        return Verdict::Quota { reset, message };
    }
    let too_large = complaint.has(&["context_length_exceeded", "request_too_large"])
        || says(&[
            "prompt is too long",
            "maximum context length",
            "context window",
            "context length",
            "too many tokens",
        ]);
    match status {
        400 if complaint.has(&["api_key_invalid"]) => Verdict::Auth { message },
        401 | 403 | 407 => Verdict::Auth { message },
        413 => Verdict::Malformed { reason: String::from(TOO_LARGE) },
        429 => Verdict::RateLimited { retry_after: wait.or(complaint.wait) },
        408 | 425 | 500.. => Verdict::Transient { message },
        400..500 if too_large => Verdict::Malformed { reason: String::from(TOO_LARGE) },
        400..500 => Verdict::Unrecoverable { message },
        // A redirect or anything else that no API sends: the address is wrong, or somebody stands in between.
        _ => Verdict::Transient { message },
    }
}

/// The HTTP status that goes with an error type; 500 for one that is not known.
fn status_of(codes: &str) -> u16 {
    let table = [
        ("rate_limit", 429),
        ("resource_exhausted", 429),
        ("authentication_error", 401),
        ("invalid_api_key", 401),
        ("key_invalid", 401),
        ("subscription_inactive", 401),
        ("permission", 403),
        ("not_found", 404),
        ("request_too_large", 413),
        ("context_length_exceeded", 413),
        ("invalid_request", 400),
        ("bad_request", 400),
        ("overloaded", 529),
    ];
    table.iter().find(|(code, _)| codes.contains(code)).map_or(500, |(_, status)| *status)
}

fn later(now: Timestamp, wait: Duration) -> Timestamp {
    now.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}

/// The words of an HTML page or of anything else that is no JSON.
fn page_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4_096)]);
    let mut words = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' => (inside, words) = (false, words + " "),
            c if !inside => words.push(c),
            _ => {}
        }
    }
    words
}

/// What the user can do about a class; empty when nothing needs to be done.
pub fn remedy(verdict: &Verdict, settings: &Settings) -> String {
    let (key, base) = match settings.provider {
        Provider::Anthropic => ("CMEM_ANTHROPIC_API_KEY", "CMEM_ANTHROPIC_BASE_URL"),
        Provider::OpenAi => ("CMEM_OPENAI_API_KEY", "CMEM_OPENAI_BASE_URL"),
        Provider::Gemini => ("CMEM_GEMINI_API_KEY", "CMEM_GEMINI_BASE_URL"),
        Provider::Claude | Provider::Auto => return claude_remedy(verdict),
        Provider::Builtin => return String::new(),
    };
    match verdict {
        Verdict::Stored(_) | Verdict::Nothing | Verdict::RateLimited { .. } => String::new(),
        Verdict::Auth { .. } => {
            format!("check {key} (and {base}): `cmem config set {key} …`, then `cmem drain`")
        }
        Verdict::Quota { .. } => {
            format!(
                "wait, top up the account that {key} belongs to, or `cmem config set CMEM_PROVIDER builtin`"
            )
        }
        Verdict::Transient { .. } => {
            format!(
                "nothing if it passes; otherwise check {base} and the network, or raise CMEM_TIMEOUT_SECS"
            )
        }
        Verdict::Malformed { .. } => String::from(
            "if it happens often, choose another CMEM_MODEL; `cmem queue retry` tries parked events again",
        ),
        Verdict::Unrecoverable { .. } => {
            format!("check CMEM_MODEL and {base}, then `cmem queue retry --all`")
        }
    }
}

/// The same for the user's own `claude` command.
fn claude_remedy(verdict: &Verdict) -> String {
    let remedy = match verdict {
        Verdict::Stored(_) | Verdict::Nothing | Verdict::RateLimited { .. } => "",
        Verdict::Auth { .. } => {
            "log in again: `claude`, then /login; or `cmem config set CMEM_PROVIDER builtin`"
        }
        Verdict::Quota { .. } => {
            "wait for your plan's limit to reset, or `cmem config set CMEM_PROVIDER builtin`"
        }
        Verdict::Transient { .. } => {
            "nothing if it passes; otherwise see whether `claude -p hello` answers, or raise CMEM_TIMEOUT_SECS"
        }
        Verdict::Malformed { .. } => {
            "if it happens often, choose another CMEM_MODEL; `cmem queue retry` tries parked events again"
        }
        Verdict::Unrecoverable { .. } => "check CMEM_MODEL, then `cmem queue retry --all`",
    };
    remedy.to_owned()
}

#[cfg(test)]
mod tests;
