//! Every answer gets exactly one class.
//!
//! Error shapes are the ones that the providers document:
//! <https://docs.anthropic.com/en/api/errors>, <https://platform.openai.com/docs/guides/error-codes>,
//! <https://openrouter.ai/docs/api-reference/errors> (which also puts an `error` object into a 200).
//! Our own rules: an answer that is no JSON comes from something between us and the provider (a captive portal, a
//! proxy, a broken connection) and is transient, but for the statuses that mean the same from anybody; what is wrong
//! with the events themselves (their size, their content) is malformed, so that halving finds the one; a reply that was
//! stopped at its length limit is used as far as it is complete, and malformed when no observation is.

mod complaint;
mod prose;
mod remedy;
mod reset;

pub use remedy::remedy;

use std::time::Duration;

use serde_json::Value;

use complaint::Complaint;

use super::parse::parse;
use super::text::{head, one_line};
use super::{Reply, Verdict};
use crate::mode::Mode;
use crate::model::Timestamp;

/// Longest message that is kept of what a provider said, in characters.
const MAX_MESSAGE: usize = 600;
/// The largest request that a provider takes was exceeded.
const TOO_LARGE: &str = "the request is too large for the model";

/// Waits below this are not for the end of a day.
const SHORT_WAIT: Duration = Duration::from_secs(60);
/// Words of a command about its user's account.
const NOTICE_OF_AUTH: [&str; 8] = [
    "/login",
    "api key",
    "oauth token",
    "not logged in",
    "does not have access to claude",
    "has been disabled",
    "disabled organization",
    "failed to authenticate",
];
/// What a subscription can be out of.
const ALLOWANCES: [&str; 13] = [
    "usage limit",
    "session limit",
    "hour limit",
    "daily limit",
    "weekly limit",
    "monthly limit",
    "opus limit",
    "sonnet limit",
    "your limit",
    "plan limit",
    "spending limit",
    "extra usage",
    "quota",
];
/// A filter of the provider's refused what it was shown. What it says may quote that.
const FILTERED: &str = "the provider's content filter refuses these events";

/// The class of an HTTP answer whose status is not 2xx.
pub(crate) fn of_failure(status: u16, wait: Option<Duration>, body: &[u8], now: Timestamp) -> Verdict {
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        return judge(status, wait, &Complaint::from(&value), now);
    }
    let complaint = Complaint { message: page_text(body), ..Complaint::default() };
    match status {
        401 | 402 | 407 | 413 | 429 => judge(status, wait, &complaint, now),
        _ => Verdict::Transient { message: told(status, &complaint) },
    }
}

/// The class of an `error` object inside an answer, if there is one.
pub(crate) fn of_error_object(answer: &Value, wait: Option<Duration>, now: Timestamp) -> Option<Verdict> {
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
        return malformed(if cut {
            "the model used up the whole length of its answer with thinking"
        } else {
            "the answer is empty"
        });
    }
    let parsed = parse(text, mode, shown, cut);
    if !parsed.drafts.is_empty() || parsed.summary.is_some() {
        return Verdict::Stored(Reply { drafts: parsed.drafts, summary: parsed.summary, prose: None });
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

/// The class of a notice: what a command says in place of an answer. No model wrote it, so words in it count.
pub(super) fn of_notice(text: &str, now: Timestamp) -> Verdict {
    let notice = head(text, MAX_MESSAGE);
    let message = || bounded(notice);
    let lower = notice.replace('’', "'").to_ascii_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    if let Some(verdict) = prose::api_error(notice, now) {
        return verdict;
    }
    if says(&NOTICE_OF_AUTH) {
        return Verdict::Auth { message: message() };
    }
    if says(&["usage policy", "unable to respond to this request"]) {
        return Verdict::Malformed { reason: String::from(FILTERED) };
    }
    if says(&["prompt is too long", "request too large", "request_too_large"]) {
        return Verdict::Malformed { reason: String::from(TOO_LARGE) };
    }
    if says(&["the selected model"]) || (says(&["model"]) && says(&["not exist", "not found"])) {
        return Verdict::Unrecoverable { message: message() };
    }
    let used_up = says(&["reached", "exceeded", "exhausted", "used up", "hit your", "resets", "out of"]);
    if (used_up && says(&ALLOWANCES)) || says(&["credit balance", "out of credits", "insufficient credit"]) {
        return Verdict::Quota { reset: reset::from_text(notice, now), message: message() };
    }
    if says(&["rate limit"]) {
        let wait = reset::from_text(notice, now).map(|at| until(at, now));
        return Verdict::RateLimited { retry_after: wait };
    }
    Verdict::Transient { message: message() }
}

/// The same without a key: some servers repeat it in their complaint.
pub(crate) fn without_key(verdict: Verdict, key: &str) -> Verdict {
    let clean = |message: String| match key.len() {
        0..6 => message,
        _ => message.replace(key, "[redacted:api_key]"),
    };
    match verdict {
        Verdict::Quota { reset, message } => Verdict::Quota { reset, message: clean(message) },
        Verdict::Auth { message } => Verdict::Auth { message: clean(message) },
        Verdict::Transient { message } => Verdict::Transient { message: clean(message) },
        Verdict::Unrecoverable { message } => Verdict::Unrecoverable { message: clean(message) },
        other => other,
    }
}

/// What a provider said, on one line and bounded.
pub(super) fn bounded(message: &str) -> String {
    head(&one_line(message), MAX_MESSAGE).to_owned()
}

fn told(status: u16, complaint: &Complaint) -> String {
    match bounded(&complaint.message) {
        text if text.is_empty() => format!("HTTP {status}"),
        text => head(&format!("HTTP {status}: {text}"), MAX_MESSAGE).to_owned(),
    }
}

fn judge(status: u16, wait: Option<Duration>, complaint: &Complaint, now: Timestamp) -> Verdict {
    let message = told(status, complaint);
    let in_text = || reset::from_text(&complaint.message, now);
    if complaint.is_out_of_credit(status) {
        let mut reset = in_text()
            .or(complaint.reset)
            .or_else(|| wait.or(complaint.wait).map(|wait| now.plus(wait)))
            .filter(|at| *at > now);
        if complaint.is_of_google_day() {
            // The wait that Google names beside it is that of another limit.
            reset = reset.filter(|at| until(*at, now) > SHORT_WAIT);
        }
        return Verdict::Quota { reset, message };
    }
    if complaint.is_about_content(status) {
        return Verdict::Malformed { reason: String::from(FILTERED) };
    }
    if complaint.is_about_size(status) {
        return Verdict::Malformed { reason: String::from(TOO_LARGE) };
    }
    match status {
        400 | 403 | 404 if complaint.has(&["model_not_found"]) => Verdict::Unrecoverable { message },
        401 | 403 | 407 => Verdict::Auth { message },
        400 if complaint.is_about_credentials() => Verdict::Auth { message },
        429 => {
            let stated = || complaint.reset.or_else(in_text).map(|at| until(at, now));
            Verdict::RateLimited { retry_after: wait.or(complaint.wait).or_else(stated) }
        }
        408 | 425 | 500.. => Verdict::Transient { message },
        400..500 => Verdict::Unrecoverable { message },
        // A redirect or anything else that no API sends: the address is wrong, or somebody stands in between.
        _ => Verdict::Transient { message },
    }
}

/// The HTTP status that goes with an error type; 500 for one that is not known.
fn status_of(codes: &str) -> u16 {
    if let Some(status) =
        codes.split(' ').find_map(|code| code.parse().ok().filter(|n| (400..600).contains(n)))
    {
        return status;
    }
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

fn until(at: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(at.since_ms(now)).unwrap_or_default())
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

#[cfg(test)]
mod tests;
