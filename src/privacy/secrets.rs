//! Redaction: credentials become `[redacted:<kind>]`.

use std::borrow::Cow;

use once_cell::sync::OnceCell;
use regex::{Captures, Regex};

use super::assignment::secret_range;
use super::rules::{RULES, Rule, Secret};

/// Rises with every change of the rules, so that old rows can be scanned again.
pub const RULES_VERSION: u32 = 1;

/// How many bytes of a trigger the table of beginnings knows; no trigger is shorter.
const BEGINNING: usize = 3;

/// Which three bytes begin a trigger, five bits of each (which letters of both cases share), built with the
/// program: few texts hold one, and a search automaton built at each start would cost a hook more than the rest
/// of its work.
static BEGINNINGS: [u64; 512] = {
    let mut set = [0; 512];
    let mut rule = 0;
    while rule < RULES.len() {
        let mut trigger = 0;
        while trigger < RULES[rule].triggers.len() {
            let text = RULES[rule].triggers[trigger].as_bytes();
            let beginning = roll(roll(roll(0, text[0]), text[1]), text[2]);
            set[beginning / 64] |= 1 << (beginning % 64);
            trigger += 1;
        }
        rule += 1;
    }
    set
};

/// The table's index of the three bytes up to `next`, from that of the three before.
const fn roll(index: usize, next: u8) -> usize {
    (index << 5 | (next & 31) as usize) & 0x7fff
}

static COMPILED: [OnceCell<Option<Regex>>; RULES.len()] = [const { OnceCell::new() }; RULES.len()];

/// How every placeholder begins.
pub(super) const PLACEHOLDER: &str = "[redacted:";

/// What stands where a credential of this kind was.
pub(super) fn placeholder(kind: &str) -> String {
    format!("{PLACEHOLDER}{kind}]")
}

/// Replaces every credential that the rules and the user's patterns know.
pub(super) fn redact<'a>(text: &'a str, custom: &[Regex]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for index in triggered(&text) {
        let rule = &RULES[index];
        if let Some(pattern) = COMPILED[index].get_or_init(|| Regex::new(rule.pattern).ok()) {
            match rule.secret {
                Secret::Assignment => redact_assignments(&mut text, pattern),
                _ => replace(&mut text, pattern, |captures| replacement(rule, captures)),
            }
        }
    }
    for pattern in custom {
        replace(&mut text, pattern, |_| placeholder("custom"));
    }
    text
}

/// The rules of which a trigger is in the text, in their order.
fn triggered(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut hit = [false; RULES.len()];
    let mut index = 0;
    for (at, byte) in bytes.iter().enumerate() {
        index = roll(index, *byte);
        if BEGINNINGS[index / 64] & (1 << (index % 64)) == 0 || at + 1 < BEGINNING {
            continue;
        }
        let rest = &bytes[at + 1 - BEGINNING..];
        for (rule, hit) in RULES.iter().zip(&mut hit) {
            *hit = *hit || rule.triggers.iter().any(|trigger| begins_with(rest, trigger.as_bytes()));
        }
    }
    (0..RULES.len()).filter(|rule| hit[*rule]).collect()
}

fn begins_with(bytes: &[u8], trigger: &[u8]) -> bool {
    bytes[0].eq_ignore_ascii_case(&trigger[0])
        && bytes.get(..trigger.len()).is_some_and(|start| start.eq_ignore_ascii_case(trigger))
}

fn replace(text: &mut Cow<'_, str>, pattern: &Regex, by: impl Fn(&Captures<'_>) -> String) {
    if let Cow::Owned(replaced) = pattern.replace_all(text, by) {
        *text = Cow::Owned(replaced);
    }
}

fn replacement(rule: &Rule, captures: &Captures<'_>) -> String {
    let group = |index: usize| captures.get(index).map_or("", |found| found.as_str());
    let (whole, before, value) = (group(0), group(1), group(2));
    match rule.secret {
        Secret::Whole => placeholder(rule.kind),
        Secret::Mixed if is_mixed(whole) => placeholder(rule.kind),
        Secret::Value if !value.trim().starts_with(PLACEHOLDER) => {
            format!("{before}{}", placeholder(rule.kind))
        }
        Secret::MixedValue if is_mixed(value) => format!("{before}{}", placeholder(rule.kind)),
        Secret::Userinfo if !is_port(value) && !value.starts_with(PLACEHOLDER) => {
            format!("{before}{}@", placeholder(rule.kind))
        }
        _ => whole.to_owned(),
    }
}

/// Goes on right behind each secret, or behind the sign where there is none: the rest of a line may hold
/// further assignments.
fn redact_assignments(text: &mut Cow<'_, str>, pattern: &Regex) {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(captures) = pattern.captures_at(text, at) {
        let group = |index: usize| captures.get(index).map_or("", |found| found.as_str());
        let Some(found) = captures.get(0) else { break };
        at = found.end();
        if let Some(secret) = secret_range(group(1), group(2), value_at(&text[at..])) {
            out.push_str(&text[copied..at + secret.start]);
            out.push_str(&placeholder(kind_of(group(1))));
            at += secret.end;
            copied = at;
        }
    }
    if copied > 0 {
        out.push_str(&text[copied..]);
        *text = Cow::Owned(out);
    }
}

/// The value that begins here: a quoted text with its quotes, else up to a quote or the end of the line.
fn value_at(rest: &str) -> &str {
    let escapes = rest.len() - rest.trim_start_matches('\\').len();
    let line = rest.split(['\r', '\n']).next().unwrap_or_default();
    let quote = line[escapes.min(line.len())..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    if let Some(length) = quote.and_then(|quote| line[escapes + 1..].find(quote)) {
        return &line[..escapes + 1 + length + 1];
    }
    let plain = line.trim_start_matches(['"', '\'', '`']);
    let from = line.len() - plain.len();
    let end = plain.find(['"', '\'', '`']).unwrap_or(plain.len());
    &line[..from + end]
}

/// The kind of credential that a name stands for.
pub(super) fn kind_of(name: &str) -> &'static str {
    let lower = name.to_ascii_lowercase();
    if lower.contains("pass") || lower.contains("pwd") {
        "password"
    } else if lower.contains("token") {
        "token"
    } else if lower.contains("key") {
        "key"
    } else {
        "secret"
    }
}

fn is_mixed(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic())
}

fn is_port(userinfo: &str) -> bool {
    let digits = userinfo.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && matches!(userinfo.as_bytes().get(digits), None | Some(b'/'))
}
