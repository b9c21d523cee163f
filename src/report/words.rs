//! The words of a report: those of the mode where it has them, otherwise English.

use super::{Day, FileHistory, NotListed, Report, Totals, TypeCount, WeekDigest};
use crate::mode::Mode;
use crate::render;

/// One line, at most `max` characters, with a mark where it was cut.
pub(super) fn clipped(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((cut, _)) => format!("{}…", text[..cut].trim_end()),
        None => text.to_owned(),
    }
}

/// The heading of the memories of a type: its name in the language of the mode, if that is not English.
pub(super) fn heading(mode: &Mode, r#type: &str, english: &str) -> String {
    match mode.labels.types.get(r#type) {
        Some(name) if !name.trim().is_empty() => capital(&render::line(name)),
        _ => english.to_owned(),
    }
}

/// The heading of what is left to do.
pub(super) fn next_steps(mode: &Mode) -> String {
    capital(&render::line(&mode.labels.next_steps))
}

/// The name of a concept; of none too.
pub(super) fn theme(mode: &Mode, concept: &str) -> String {
    let label = mode.concepts.iter().find(|term| term.id == concept).map(|term| term.label.as_str());
    match label.filter(|label| !label.trim().is_empty()) {
        Some(label) => render::line(label),
        None if concept.is_empty() => String::from("No theme"),
        None => render::line(concept),
    }
}

/// The name of the type of a memory.
pub(super) fn type_name(mode: &Mode, r#type: &str) -> String {
    render::line(mode.type_name(r#type))
}

/// What a report is about.
pub(super) fn title(report: &Report) -> String {
    let project = report.project.as_deref().map_or_else(|| String::from("all projects"), render::line);
    format!("Report: {project}{}", period(report))
}

/// The days of a report, and the week where it is one.
fn period(report: &Report) -> String {
    let asked = report.period;
    let first = asked.since.map(super::day_of).or(report.days_of.map(|days| days.0));
    let last =
        asked.until.map(|until| super::day_of(until.plus_ms(-1))).or(report.days_of.map(|days| days.1));
    match (first, last) {
        (Some(first), Some(last)) if super::days_of_week(first) == (first, last) => {
            format!(", {} ({first} to {last})", super::week_of(first))
        }
        (Some(first), Some(last)) if first == last => format!(", {first}"),
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        (Some(first), None) => format!(", since {first}"),
        (None, Some(last)) => format!(", until {last}"),
        (None, None) => String::new(),
    }
}

/// How much there is, in one sentence.
pub(super) fn totals(totals: &Totals) -> String {
    format!(
        "{} on {}, in {}, after {}.",
        memories(totals.memories),
        count(totals.days, "day", "days"),
        count(totals.sessions, "session", "sessions"),
        count(totals.prompts, "prompt", "prompts")
    )
}

/// What is only counted, in one sentence; `None` when nothing is.
pub(super) fn not_listed(not_listed: &NotListed) -> Option<String> {
    let parts: Vec<String> = [
        (not_listed.superseded, "superseded"),
        (not_listed.archived, "put away"),
        (not_listed.review, "waiting for review"),
        (not_listed.sensitive, "sensitive, which stay in their projects"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    (!parts.is_empty()).then(|| format!("Not listed: {}.", parts.join(", ")))
}

/// How much there is of a week, in one line.
pub(super) fn week(week: &WeekDigest, mode: &Mode) -> String {
    let types = by_type(&week.by_type, mode);
    let types = if types.is_empty() { types } else { format!(" ({types})") };
    format!(
        "{}{types}, {}, {}; observer: {} tokens, {}",
        memories(week.memories),
        count(week.sessions, "session", "sessions"),
        count(week.prompts, "prompt", "prompts"),
        week.tokens,
        money(week.dollars)
    )
}

/// How much there is of a day.
pub(super) fn day(day: &Day) -> String {
    format!("{}, {}", memories(day.memories.len()), count(day.prompts, "prompt", "prompts"))
}

/// Such as `3 decision, 1 bugfix`.
fn by_type(counts: &[TypeCount], mode: &Mode) -> String {
    let parts: Vec<String> =
        counts.iter().map(|count| format!("{} {}", count.memories, type_name(mode, &count.r#type))).collect();
    parts.join(", ")
}

/// Dollars as people read them.
pub(super) fn money(dollars: Option<f64>) -> String {
    dollars.map_or_else(|| String::from("price not known"), |dollars| format!("${dollars:.4}"))
}

/// From where a memory is, if not from the project of the report.
pub(super) fn origin(
    report: &Report,
    mode: &Mode,
    project: &str,
    merged_into: Option<&str>,
) -> Option<String> {
    if report.project.as_deref() == Some(project) {
        return None;
    }
    let project = render::line(project);
    Some(match merged_into {
        Some(_) => render::line(&mode.labels.merged).replace("{project}", &project),
        None => format!("({project})"),
    })
}

/// The project of a file, where those of several stand side by side.
pub(super) fn project_of(report: &Report, file: &FileHistory) -> Option<String> {
    report.project.is_none().then(|| format!("({})", render::line(&file.project)))
}

/// How many memories of each day are shown: of the newest days first, so many a day and so many in all.
pub(super) fn shown(report: &Report, a_day: usize, in_all: usize) -> Vec<usize> {
    let mut left = in_all;
    let mut shown: Vec<usize> = report
        .days
        .iter()
        .rev()
        .map(|day| {
            let count = day.memories.len().min(a_day).min(left);
            left -= count;
            count
        })
        .collect();
    shown.reverse();
    shown
}

/// Such as `1 memory`.
pub(super) fn memories(number: usize) -> String {
    count(number, "memory", "memories")
}

/// A number with its noun.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}
