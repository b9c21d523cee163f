//! Gateways and command-line front ends sometimes put an error into the text of a successful answer.

use super::{bounded, reset};
use crate::model::Timestamp;
use crate::observer::Verdict;

/// Longest text that is taken for an error message, in bytes; a longer one is an essay about something.
const MAX_NOTICE: usize = 600;

/// The class of a text without a tag of the format, if it is a notice about the account or the connection.
pub(super) fn class(text: &str, now: Timestamp) -> Option<Verdict> {
    if text.len() > MAX_NOTICE {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let message = || bounded(text);
    let limit =
        says(&["usage limit", "weekly limit", "daily limit", "monthly limit", "quota", "subscription limit"]);
    let reached = says(&["reached", "exceeded", "exhausted", "used up", "hit your"]);
    if (limit && reached) || says(&["out of credits", "insufficient credit", "credit balance is too low"]) {
        return Some(Verdict::Quota { reset: reset::from_text(text, now), message: message() });
    }
    let refused = says(&["failed to authenticate", "invalid api key", "/login to authenticate"])
        || (status(&lower, &["401", "403"])
            && says(&["api error", "http", "status", "unauthorized", "forbidden"]));
    if refused {
        return Some(Verdict::Auth { message: message() });
    }
    if says(&["api error"]) && status(&lower, &["429"]) {
        return Some(Verdict::RateLimited { retry_after: None });
    }
    if says(&["api error"])
        && (status(&lower, &["500", "502", "503", "504", "529"]) || says(&["overloaded", "timed out"]))
    {
        return Some(Verdict::Transient { message: message() });
    }
    None
}

fn status(lower: &str, codes: &[&str]) -> bool {
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| codes.contains(&word))
}
