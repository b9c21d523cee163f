//! Calendars in which each day is as dark as it was busy: a column for each week, Monday on top.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use jiff::ToSpan;
use jiff::civil::Date;

use crate::report::words;

/// Side of a day, and the distance from one to the next, in pixels.
const SIDE: i32 = 12;
const STEP: i32 = 15;
/// Room for the names of days, and of months.
const LEFT: i32 = 34;
const TOP: i32 = 18;
/// Degrees of darkness, beside that of a day without memories.
const DEGREES: usize = 4;

/// A picture for each year in which something happened, from the week of its first day to that of its last one.
pub(super) fn calendars(days: &[(Date, usize)]) -> Vec<(i16, String)> {
    let most = days.iter().map(|day| day.1).max().unwrap_or_default();
    let mut years: BTreeMap<i16, Vec<(Date, usize)>> = BTreeMap::new();
    for day in days {
        years.entry(day.0.year()).or_default().push(*day);
    }
    years.into_iter().map(|(year, days)| (year, calendar(year, &days, most))).collect()
}

/// Days of one year, in order and not none.
fn calendar(year: i16, days: &[(Date, usize)], most: usize) -> String {
    let counts: BTreeMap<Date, usize> = days.iter().copied().collect();
    let (Some((first, _)), Some((last, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return String::new();
    };
    // At the end of time a week is cut off.
    let days_from = |day: Date, days: i8| day.checked_add(i32::from(days).days()).unwrap_or(day);
    let from = days_from(*first, -first.weekday().to_monday_zero_offset());
    let to = days_from(*last, 6 - last.weekday().to_monday_zero_offset());
    let all: Vec<Date> = from.series(1.day()).take_while(|day| *day <= to).collect();
    let weeks = i32::try_from(all.len().div_ceil(7)).unwrap_or(i32::MAX);
    let (width, height) = (LEFT + (weeks * STEP).max(4 * STEP), TOP + 7 * STEP);
    let total: usize = days.iter().map(|day| day.1).sum();
    let busy = days.iter().filter(|day| day.1 > 0).count();
    let mut out = format!(
        "<svg class=\"heat\" role=\"img\" aria-label=\"{} on {} of {year}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">",
        words::memories(total),
        words::count(busy, "day", "days")
    );
    for (row, name) in [(0, "Mon"), (2, "Wed"), (4, "Fri")] {
        let _ = write!(out, "<text class=\"faint\" x=\"0\" y=\"{}\">{name}</text>", TOP + row * STEP + 10);
    }
    let mut named = None;
    // A week at the edge has days of another year, which stand in its own picture.
    for (index, day) in all.iter().enumerate().filter(|(_, day)| day.year() == year) {
        let index = i32::try_from(index).unwrap_or_default();
        let (x, y) = (LEFT + index / 7 * STEP, TOP + index % 7 * STEP);
        let is_first = named.replace(index / 7) != Some(index / 7);
        if is_first && (index < 7 && day.day() <= 21 || day.day() <= 7) {
            let _ = write!(out, "<text class=\"faint\" x=\"{x}\" y=\"11\">{}</text>", day.strftime("%b"));
        }
        let count = counts.get(day).copied().unwrap_or_default();
        let _ = write!(
            out,
            "<rect class=\"h{}\" x=\"{x}\" y=\"{y}\" width=\"{SIDE}\" height=\"{SIDE}\" rx=\"2\"><title>{day}: \
             {count}</title></rect>",
            degree(count, most)
        );
    }
    out.push_str("</svg>");
    out
}

/// 0 for nothing, the highest for the busiest day.
fn degree(count: usize, most: usize) -> usize {
    (count * DEGREES).div_ceil(most.max(1)).min(DEGREES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_stands_in_its_week_and_row() {
        let days: Vec<(Date, usize)> = ["2025-12-31", "2026-01-01", "2026-01-12"]
            .iter()
            .zip([1, 8, 2])
            .map(|(day, n)| (day.parse().unwrap(), n))
            .collect();
        let years = calendars(&days);
        assert_eq!(years.iter().map(|year| year.0).collect::<Vec<_>>(), [2025, 2026]);
        // A Thursday, the fourth row of the first column; and a Monday two weeks on.
        let thursday = format!("<rect class=\"h4\" x=\"{LEFT}\" y=\"{}\"", TOP + 3 * STEP);
        let monday = format!("<rect class=\"h1\" x=\"{}\" y=\"{TOP}\"", LEFT + 2 * STEP);
        assert!(years[1].1.contains(&thursday) && years[1].1.contains(&monday), "{}", years[1].1);
        for (year, other) in [(0, "2026-"), (1, "2025-")] {
            assert!(!years[year].1.contains(other), "a day of another year: {}", years[year].1);
        }
        assert!(years[1].1.contains("aria-label=\"10 memories on 2 days of 2026\""), "{}", years[1].1);
        assert!(calendars(&[]).is_empty());
        assert_eq!(calendars(&[(Date::MIN, 1), (Date::MAX, 1)]).len(), 2);
    }

    #[test]
    fn a_day_with_one_memory_is_never_blank() {
        assert_eq!([degree(0, 900), degree(1, 900), degree(900, 900), degree(0, 0)], [0, 1, 4, 0]);
    }
}
