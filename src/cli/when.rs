//! Moments as people type them in `--since`, `--until` and `--expires`.

use jiff::civil::{Date, ISOWeekDate, Weekday};
use jiff::{ToSpan, ZonedDateTime};

use crate::model::Timestamp;

const ALLOWED: &str = "a date (2026-01-31), a time (2026-01-31T10:00:00Z), `today`, `yesterday`, or a length of time (12h, 30d)";

/// The first moment of what `text` names.
///
/// # Errors
/// A sentence that names the allowed forms.
pub(crate) fn since(text: &str) -> Result<Timestamp, String> {
    read(text, false)
}

/// The first moment after what `text` names: the end of a day, or the very moment.
///
/// # Errors
/// A sentence that names the allowed forms.
pub(crate) fn until(text: &str) -> Result<Timestamp, String> {
    read(text, true)
}

/// The moment until which something holds: the end of a day, a moment, or so long from now.
///
/// # Errors
/// A sentence that names the allowed forms.
pub(crate) fn expiry(text: &str) -> Result<Timestamp, String> {
    let now = Timestamp::now();
    let end = match span(text.trim()) {
        Some(ms) => now.plus_ms(ms),
        None => until(text)?,
    };
    if end <= now { Err(String::from("that is over already")) } else { Ok(end) }
}

/// An ISO week, from its Monday to just before the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Week {
    pub since: Timestamp,
    pub until: Timestamp,
}

/// The ISO week that `text` names: `2026-W48`, or `48` for the last week of that number that has begun.
///
/// # Errors
/// A sentence that names the allowed forms.
pub(crate) fn week(text: &str) -> Result<Week, String> {
    week_before(text, ZonedDateTime::now().date())
        .ok_or_else(|| String::from("allowed are an ISO week (2026-W48) and its number (48)"))
}

fn week_before(text: &str, today: Date) -> Option<Week> {
    let text = text.trim();
    let (year, number) = match text.split_once('-') {
        Some((year, week)) => (Some(year.parse::<i16>().ok()?), week.strip_prefix(['W', 'w'])?),
        None => (None, text.trim_start_matches(['W', 'w'])),
    };
    let number: i8 = number.parse().ok()?;
    let monday = |year: i16| Some(ISOWeekDate::new(year, number, Weekday::Monday).ok()?.date());
    let monday = match year {
        Some(year) => monday(year)?,
        None => {
            let now = today.iso_week_date().year();
            // Not every year has a week 53; the last one that had is not far.
            (0..8).filter_map(|back| monday(now - back)).find(|monday| *monday <= today)?
        }
    };
    let next = monday.checked_add(7.days()).ok()?;
    Some(Week { since: Timestamp::parse(&monday.to_string())?, until: Timestamp::parse(&next.to_string())? })
}

fn read(text: &str, after: bool) -> Result<Timestamp, String> {
    let text = text.trim();
    day(text)
        .map(|date| if after { date.tomorrow().unwrap_or(date) } else { date })
        .and_then(|date| Timestamp::parse(&date.to_string()))
        .or_else(|| age(text))
        .or_else(|| Timestamp::parse(text))
        .ok_or_else(|| format!("allowed are {ALLOWED}"))
}

fn day(text: &str) -> Option<Date> {
    let today = ZonedDateTime::now().date();
    match text {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        _ => text.parse().ok().filter(|_| text.len() == "2026-01-31".len()),
    }
}

fn age(text: &str) -> Option<Timestamp> {
    Some(Timestamp::now().plus_ms(-span(text)?))
}

/// Milliseconds.
fn span(text: &str) -> Option<i64> {
    let (unit, digits) = match text.as_bytes().last()? {
        b'h' => (3_600_000, &text[..text.len() - 1]),
        b'd' => (86_400_000, &text[..text.len() - 1]),
        _ => return None,
    };
    let count: i64 = digits.parse::<u32>().ok()?.into();
    Some(count * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_runs_from_its_start_to_its_end() {
        let (from, to) = (since("2026-01-31").unwrap(), until("2026-01-31").unwrap());
        assert_eq!(to.since_ms(from), 24 * 3_600_000);
        assert_eq!(until("yesterday").unwrap(), since("today").unwrap());
    }

    #[test]
    fn a_moment_is_itself() {
        let text = "2026-01-31T10:00:00Z";
        assert_eq!(since(text), until(text));
        assert_eq!(since(text).ok(), Timestamp::parse(text));
    }

    #[test]
    fn an_age_counts_back_from_now() {
        let week = since("7d").unwrap();
        assert!((Timestamp::now().since_ms(week) - 7 * 86_400_000).abs() < 5_000);
    }

    #[test]
    fn what_expires_does_so_in_the_future() {
        let month = expiry("30d").unwrap();
        assert!((month.since_ms(Timestamp::now()) - 30 * 86_400_000).abs() < 5_000);
        assert_eq!(expiry("today"), until("today"));
        for text in ["0d", "yesterday", "2020-01-01"] {
            assert!(expiry(text).unwrap_err().contains("over"), "{text}");
        }
        assert!(expiry("soon").unwrap_err().contains("30d"));
    }

    #[test]
    fn a_week_is_one_of_iso_8601() {
        let today: Date = "2026-12-02".parse().unwrap();
        let monday = |text: &str| week_before(text, today).map(|week| week.since.local("%Y-%m-%d"));
        for (text, expected) in [
            ("2026-W48", "2026-11-23"),
            ("48", "2026-11-23"),
            ("w49", "2026-11-30"),
            // Not begun yet: that of last year.
            ("50", "2025-12-08"),
            // Begins in the year before.
            ("2026-w01", "2025-12-29"),
            ("53", "2020-12-28"),
        ] {
            assert_eq!(monday(text).as_deref(), Some(expected), "{text}");
        }
        let week = week_before("2026-W48", today).unwrap();
        assert_eq!(week.until, until("2026-11-29").unwrap());
        for text in ["", "0", "54", "2026-48", "2025-W53", "x", "2026-W4x", "-1"] {
            assert_eq!(monday(text), None, "{text}");
        }
    }

    #[test]
    fn nonsense_names_the_allowed_forms() {
        for text in ["", "soon", "d", "-3d", "2026-13-01", "日"] {
            assert!(since(text).unwrap_err().contains("yesterday"), "{text}");
        }
    }
}
