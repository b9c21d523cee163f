//! `cmem queue`: the events that wait or are parked, and what can be done about them.

use serde_json::json;

use super::reader;
use crate::cli::args::QueueSelection;
use crate::cli::confirm::confirm;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Timestamp;
use crate::render;
use crate::spool::{QueueRow, Selection, Spool, SpoolError};

const TIME: &str = "%Y-%m-%d %H:%M:%S";

/// Prints the queue, oldest event first; nothing when it is empty.
///
/// # Errors
/// [`Failure`] when the spool cannot be read.
pub fn list(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "queue list";
    let rows = match reader::open_spool(WHAT, paths)? {
        Some(spool) => spool.queue().map_err(|error| reader::spool_failure(WHAT, &error))?,
        None => Vec::new(),
    };
    if printer.wants_json() {
        printer.json(&rows);
        return Ok(());
    }
    let now = Timestamp::now();
    for event in &rows {
        printer.data(&row(event, now));
    }
    if rows.is_empty() {
        printer.talk("the queue is empty");
    }
    Ok(())
}

fn row(event: &QueueRow, now: Timestamp) -> String {
    let what = match &event.tool {
        Some(tool) => format!("{} {}", event.kind, render::line(tool)),
        None => event.kind.clone(),
    };
    let mut line = format!(
        "{:>6}  {} ({})  {:<7}  {what}  project {}  session {}",
        event.id,
        event.at.local(TIME),
        age(now.since_ms(event.at)),
        event.state,
        render::line(&event.project),
        render::line(&event.session)
    );
    if let Some(class) = &event.class {
        let reason = event.reason.as_deref().map(render::line).unwrap_or_default();
        line.push_str(&format!("  {class}: {reason} ({} failed)", event.attempts));
    }
    if let Some(due) = event.due_at {
        line.push_str(&format!("  next try {}", due.local(TIME)));
    }
    line
}

/// How long ago, in the largest unit that fits.
fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    match seconds {
        0..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// Makes events due again.
///
/// # Errors
/// [`Failure`] when none of the ids is in the queue, or the spool cannot be written.
pub fn retry(which: &QueueSelection, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let count = change("queue retry", which, paths, Spool::retry)?;
    if printer.wants_json() {
        printer.json(&json!({ "retried": count }));
    }
    printer.talk(&format!("due again: {count}; `cmem drain` processes them now"));
    Ok(())
}

/// Deletes events for good, after a question on a terminal.
///
/// # Errors
/// [`Failure`] without a terminal and without `--yes`; when the answer is no; when none of the ids is in
/// the queue, or the spool cannot be written.
pub fn discard(
    which: &QueueSelection,
    yes: bool,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    const WHAT: &str = "queue drop";
    if !yes {
        let question = "These events will never be remembered. Drop them?";
        confirm(WHAT, "it deletes events for good", question, "nothing was dropped", printer)?;
    }
    let count = change(WHAT, which, paths, Spool::discard)?;
    if printer.wants_json() {
        printer.json(&json!({ "dropped": count }));
    }
    printer.talk(&format!("dropped: {count}"));
    Ok(())
}

fn change(
    what: &str,
    which: &QueueSelection,
    paths: &Paths,
    act: fn(&Spool, &Selection) -> Result<usize, SpoolError>,
) -> Result<usize, Failure> {
    let selection = if which.all { Selection::All } else { Selection::Ids(which.ids.clone()) };
    let count = match reader::open_spool(what, paths)? {
        None => 0,
        Some(_) => Spool::open(paths)
            .and_then(|spool| act(&spool, &selection))
            .map_err(|error| reader::spool_failure(what, &error))?,
    };
    if count == 0 && !which.all {
        return Err(Failure::new(
            what,
            "none of these events can be changed: they are not in the queue, or a drainer is at work on them",
            "see `cmem queue list`",
        ));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_row_says_why_an_event_waits() {
        let event = QueueRow {
            id: 3,
            session: String::from("s-1"),
            project: String::from("api"),
            kind: String::from("tool"),
            tool: Some(String::from("Ba\nsh")),
            state: "parked",
            class: Some(String::from("malformed")),
            reason: Some(String::from("no tag in it")),
            attempts: 2,
            at: Timestamp::parse("2026-01-31").unwrap(),
            due_at: None,
        };
        assert_eq!(
            row(&event, event.at.plus_ms(7_300_000)),
            "     3  2026-01-31 00:00:00 (2 h ago)  parked   tool Ba sh  project api  session s-1  malformed: no tag in it (2 failed)"
        );
    }

    #[test]
    fn a_script_has_to_mean_it() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let mut printer = Printer::to(false, Box::new(io::sink()), Box::new(io::sink()));
        let all = QueueSelection { ids: Vec::new(), all: true };
        assert!(discard(&all, true, &paths, &mut printer).is_ok());
        let one = QueueSelection { ids: vec![7], all: false };
        assert_eq!(retry(&one, &paths, &mut printer).unwrap_err().exit_code(), 1);
        assert!(!paths.spool().exists(), "an empty data directory stays empty");
    }
}
