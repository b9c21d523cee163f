//! When to try again, in the forms in which providers say it.

use std::time::Duration;

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

use crate::http::MAX_WAIT;
use crate::model::{Timestamp, local_zone};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// An instant in a message: RFC 3339, Unix seconds or milliseconds, `resets 3pm` in local time or in the zone that is
/// named, or `in 20 minutes`.
pub(super) fn from_text(text: &str, now: Timestamp) -> Option<Timestamp> {
    from_text_in(text, now, local_zone())
}

/// The same for somebody in this time zone.
pub(super) fn from_text_in(text: &str, now: Timestamp, here: &TimeZone) -> Option<Timestamp> {
    let separators = |c: char| c.is_whitespace() || matches!(c, '|' | ',' | '(' | ')' | '"' | '\'' | ';');
    let words: Vec<&str> = text.split(separators).filter(|word| !word.is_empty()).take(200).collect();
    let sane = |at: &Timestamp| {
        let wait = at.since_ms(now);
        wait > 0 && u128::try_from(wait).is_ok_and(|wait| wait <= MAX_WAIT.as_millis())
    };
    let stated = words.iter().filter_map(|word| instant(word.trim_end_matches('.'))).find(sane);
    stated
        .or_else(|| clock(&words, now, here).filter(sane))
        .or_else(|| relative(&words).map(|wait| now.plus(wait)).filter(sane))
}

/// RFC 3339, or Unix time in seconds or milliseconds.
pub(super) fn instant(word: &str) -> Option<Timestamp> {
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

/// `resets 3pm`, `resets at 15:30 (UTC)`, `resets Oct 6, 1pm`, `regain access on 2026-12-01 at 00:00 UTC`.
fn clock(words: &[&str], now: Timestamp, here: &TimeZone) -> Option<Timestamp> {
    let lower: Vec<String> =
        words.iter().map(|word| word.trim_end_matches(['.', ':']).to_ascii_lowercase()).collect();
    let said = lower.iter().position(|word| word.starts_with("reset") || word == "access")?;
    let mut rest =
        (said + 1..words.len()).filter(|at| !matches!(lower[*at].as_str(), "at" | "on" | "by")).peekable();
    let first = &lower[*rest.peek()?];
    let month =
        MONTHS.iter().position(|month| first.starts_with(month)).and_then(|at| i8::try_from(at + 1).ok());
    // Year, month, day; most notices leave the year out.
    let date: Option<(Option<i16>, i8, i8)> = if let Ok(date) = first.parse::<Date>() {
        rest.next();
        Some((Some(date.year()), date.month(), date.day()))
    } else if let Some(month) = month {
        rest.next();
        Some((None, month, lower[rest.next()?].parse().ok()?))
    } else {
        None
    };
    let time = time_of_day(&lower[rest.next()?])?;
    let named = rest.next().and_then(|at| zone(words[at].trim_end_matches('.')));
    let zone = named.unwrap_or_else(|| here.clone());
    let today = jiff::Timestamp::from_millisecond(now.0).ok()?.to_zoned_datetime(zone.clone()).date();
    let instant = |day: Date| {
        let at = day.to_datetime(time).to_zoned_datetime(zone.clone()).ok()?;
        Some(Timestamp(at.timestamp().as_millisecond()))
    };
    match date {
        None => instant(today).filter(|at| *at > now).or_else(|| instant(today.tomorrow().ok()?)),
        Some((Some(year), month, day)) => instant(Date::new(year, month, day).ok()?),
        Some((None, month, day)) => [today.year(), today.year() + 1]
            .into_iter()
            .filter_map(|year| instant(Date::new(year, month, day).ok()?))
            .find(|at| *at > now),
    }
}

/// `3pm`, `3:30pm`, `15:30`.
fn time_of_day(word: &str) -> Option<Time> {
    let (digits, half) = match (word.strip_suffix("am"), word.strip_suffix("pm")) {
        (Some(digits), _) => (digits, Some(0)),
        (_, Some(digits)) => (digits, Some(12)),
        (None, None) => (word, None),
    };
    let (hour, minute) = match digits.split_once(':') {
        Some((hour, minute)) => (hour.parse::<i8>().ok()?, minute.parse::<i8>().ok()?),
        // A bare number may be anything.
        None => (digits.parse::<i8>().ok().filter(|_| half.is_some())?, 0),
    };
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

fn zone(word: &str) -> Option<TimeZone> {
    match word {
        "UTC" | "GMT" => Some(TimeZone::UTC),
        name if name.contains('/') => TimeZone::get(name).ok(),
        _ => None,
    }
}

/// `in 20 minutes`, `in 2h 30m`, `in 1m30.5s`, `after 30 seconds`.
fn relative(words: &[&str]) -> Option<Duration> {
    let before = |word: &str| ["in", "after"].iter().any(|known| word.eq_ignore_ascii_case(known));
    (0..words.len()).filter(|at| before(words[*at])).find_map(|at| {
        let mut rest = words[at + 1..].iter().map(|word| word.trim_end_matches('.'));
        let mut total: Option<f64> = None;
        while let Some(word) = rest.next() {
            let stated = match word.parse::<f64>() {
                Ok(number) => rest.next().and_then(unit).map(|unit| number * unit),
                Err(_) => compound(word),
            };
            match stated {
                Some(seconds) => total = Some(total.unwrap_or_default() + seconds),
                None => break,
            }
        }
        total.map(|seconds| Duration::from_secs_f64(seconds.clamp(0.0, MAX_WAIT.as_secs_f64())))
    })
}

/// Seconds of `20s`, `450ms`, `1h2m3.5s`.
fn compound(word: &str) -> Option<f64> {
    let (mut rest, mut total) = (word, 0.0);
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, next) = after.split_at_checked(letters)?;
        total += number.parse::<f64>().ok()? * unit(name)?;
        rest = next;
    }
    Some(total)
}

/// Seconds of a unit by its name.
fn unit(name: &str) -> Option<f64> {
    match name.to_ascii_lowercase().as_bytes() {
        [b'm', b's', ..] => Some(0.001),
        [b's', ..] => Some(1.0),
        [b'm', b'o', ..] => None,
        [b'm', ..] => Some(60.0),
        [b'h', ..] => Some(3600.0),
        [b'd', ..] => Some(86_400.0),
        _ => None,
    }
}
