//! When to try again, in the forms in which providers say it.

use std::time::Duration;

use crate::http::MAX_WAIT;
use crate::model::Timestamp;

/// An instant in a message: RFC 3339, Unix seconds or milliseconds, or "in 20 minutes".
pub(super) fn from_text(text: &str, now: Timestamp) -> Option<Timestamp> {
    let separators = |c: char| c.is_whitespace() || matches!(c, '|' | ',' | '(' | ')' | '"' | '\'' | ';');
    let words: Vec<&str> = text.split(separators).filter(|word| !word.is_empty()).take(200).collect();
    let sane = |at: &Timestamp| {
        let wait = at.since_ms(now);
        wait > 0 && u128::try_from(wait).is_ok_and(|wait| wait <= MAX_WAIT.as_millis())
    };
    let stated = words.iter().filter_map(|word| instant(word.trim_end_matches('.'))).find(sane);
    stated.or_else(|| relative(&words).map(|wait| super::later(now, wait)).filter(sane))
}

fn instant(word: &str) -> Option<Timestamp> {
    if word.len() >= 20 && word.contains('T') {
        return Timestamp::parse(word);
    }
    let number: i64 = word.parse().ok()?;
    match word.len() {
        10 => Some(Timestamp(number.saturating_mul(1000))),
        13 => Some(Timestamp(number)),
        _ => None,
    }
}

/// `in 20 minutes`, `in 5h`, `after 30 seconds`.
fn relative(words: &[&str]) -> Option<Duration> {
    words.windows(2).enumerate().find_map(|(at, pair)| {
        let [before, amount] = pair else { return None };
        if !["in", "after"].iter().any(|word| word.eq_ignore_ascii_case(before)) {
            return None;
        }
        let digits = amount.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let number: f64 = amount.get(..digits)?.trim_end_matches('.').parse().ok()?;
        let unit = match amount.get(digits..)?.trim_end_matches('.') {
            "" => words.get(at + 2)?,
            unit => unit,
        };
        let lower = unit.to_ascii_lowercase();
        let seconds = match lower.as_bytes() {
            [b'm', b's', ..] => 0.001,
            [b's', ..] => 1.0,
            [b'm', b'o', ..] => return None,
            [b'm', ..] => 60.0,
            [b'h', ..] => 3600.0,
            [b'd', ..] => 86_400.0,
            _ => return None,
        };
        Some(Duration::from_secs_f64((number * seconds).clamp(0.0, MAX_WAIT.as_secs_f64())))
    })
}
