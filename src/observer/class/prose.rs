//! Gateways and command-line front ends sometimes put an error into the text of a successful answer.
//!
//! A model also writes about errors that it was shown. So a text counts as a notice only in the fixed forms that are
//! known, from its first word on, and never for a word in it.

use once_cell::sync::OnceCell;
use regex::Regex;

use super::{Complaint, bounded, judge, reset};
use crate::model::Timestamp;
use crate::observer::Verdict;

/// Longest text that is taken for a notice, in bytes.
const MAX_NOTICE: usize = 300;
/// Longest text without JSON after a status, in bytes.
const MAX_PHRASE: usize = 60;

const QUOTA: &str = "^(?:you(?:'ve| have)? (?:reached|hit|exceeded|used up|run out of) (?:your|the) {what}\
    |{what} (?:(?:has been|have been|is) )?(?:reached|exceeded|exhausted|used up|hit)\
    |you(?:'re| are) (?:now )?out of (?:extra )?(?:usage|credits?)\
    |(?:your )?credit balance is too low|(?:insufficient|out of) credits?)";
const WHAT: &str = "(?:(?:your|claude|ai|code|opus|sonnet|haiku|weekly|daily|monthly|hourly|session|[0-9]+-hour|\
    subscription|usage|api|account|organization|plan|free|extra|message|token|spending|current|specified) )*\
    (?:limits?|quota|credits?|allowance)";
/// What may follow: the end, a new clause about the account, or the time of the next reset.
const QUOTA_END: &str = "^ ?(?:$|[.!|·∙;,(]|for this |to access |resets? |try again |until )";
const QUOTA_WORDS: [&str; 12] = [
    "reset",
    "try again",
    "later",
    "upgrade",
    "period",
    "plan",
    "billing",
    "soon",
    "until",
    "wait",
    "access",
    "contact",
];
/// Whoever speaks of these speaks of the material.
const MATERIAL: [&str; 5] = ["agent", "user", "record", "observ", "test"];

const AUTH: &str = "^(?:failed to authenticate[.!]?(?: api error: (?:401|403).*)?$\
    |invalid (?:x-)?api[ -]key *(?:$|[.·|])\
    |please run /login(?: to authenticate)?(?: again)?[.!]?$\
    |not logged in *(?:$|[.·|])\
    |oauth token (?:has )?(?:expired|been revoked)\
    |(?:(?:http|status|status code|error|api error):? )?(?:401|403)(?: unauthorized| forbidden)?[.!]?$)";

/// `API Error: 529 …`, also `API Error (model): 429 …` and `API Error: Request rejected (429) · …`.
const API_ERROR: &str =
    r"(?s)^api error(?: \([^)]*\))?:? (?:request rejected \()?([0-9]{3})\)?(?:[ :.·]+(.*))?$";

/// The class of a text without a tag of the format, if it is a notice about the account or the connection.
pub(super) fn class(text: &str, now: Timestamp) -> Option<Verdict> {
    let plain = plain(text);
    if plain.len() > MAX_NOTICE {
        return api_error(text, now).filter(|_| plain.contains('{'));
    }
    if is_quota(&plain) {
        return Some(Verdict::Quota { reset: reset::from_text(text, now), message: bounded(text) });
    }
    if matches(&AUTH_FORM, AUTH, &plain) {
        return Some(Verdict::Auth { message: bounded(text) });
    }
    let phrase = plain.contains('{') || plain.len() <= MAX_PHRASE;
    api_error(text, now).filter(|_| phrase)
}

/// The class of `API Error: STATUS …`, whatever follows.
pub(super) fn api_error(text: &str, now: Timestamp) -> Option<Verdict> {
    static FORM: OnceCell<Option<Regex>> = OnceCell::new();
    let lower = text.trim().to_ascii_lowercase();
    let found = form(&FORM, API_ERROR)?.captures(&lower)?;
    let status = found.get(1)?.as_str().parse().ok()?;
    let rest = found.get(2).map_or("", |rest| &text.trim()[rest.start()..]);
    let json = rest.find('{').zip(rest.rfind('}')).and_then(|(from, to)| rest.get(from..=to));
    let complaint = match json.and_then(|json| serde_json::from_str(json).ok()) {
        Some(value) => Complaint::from(&value),
        None => Complaint { message: rest.to_owned(), ..Complaint::default() },
    };
    Some(judge(status, None, &complaint, now))
}

fn is_quota(plain: &str) -> bool {
    static FORM: OnceCell<Option<Regex>> = OnceCell::new();
    static END: OnceCell<Option<Regex>> = OnceCell::new();
    let Some(found) = form(&FORM, &QUOTA.replace("{what}", WHAT)).and_then(|form| form.find(plain)) else {
        return false;
    };
    let tail = &plain[found.end()..];
    let says = |words: &[&str]| words.iter().any(|word| tail.contains(word));
    // A Unix time, or nothing at all.
    let bare = tail.chars().all(|c| !c.is_alphabetic());
    matches(&END, QUOTA_END, tail) && (bare || says(&QUOTA_WORDS)) && !says(&MATERIAL)
}

static AUTH_FORM: OnceCell<Option<Regex>> = OnceCell::new();

fn matches(cell: &'static OnceCell<Option<Regex>>, pattern: &str, text: &str) -> bool {
    form(cell, pattern).is_some_and(|form| form.is_match(text))
}

fn form(cell: &'static OnceCell<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

/// In lower case, on one line, with a plain apostrophe.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('’', "'").to_lowercase()
}
