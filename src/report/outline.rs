//! A report as an observer is shown it: one line a record, bounded.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Reasoned, Report};
use crate::model::RecordId;
use crate::render;

/// Most memories that a model is shown: about 10,000 tokens. The newest, but what stands in a section of its own first.
const MEMORIES: usize = 150;
/// Most sessions whose next steps it is shown.
const SESSIONS: usize = 10;
/// Longest text of a record, in characters.
const MAX_CHARS: usize = 400;

/// What is shown, and the ids in it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Outline {
    pub text: String,
    pub ids: Vec<RecordId>,
}

/// The outline of a report; no id = there is nothing to write about.
pub fn outline(report: &Report) -> Outline {
    let reasoned = || report.security.iter().chain(&report.decisions).chain(&report.bugs);
    let behind: HashMap<i64, &Reasoned> = reasoned().map(|entry| (entry.row.id, entry)).collect();
    let rows = || report.days.iter().flat_map(|day| &day.memories);
    let mut chosen: Vec<i64> = reasoned().map(|entry| entry.row.id).collect();
    chosen.extend(rows().rev().map(|row| row.id).filter(|id| !behind.contains_key(id)));
    chosen.truncate(MEMORIES);
    let (mut text, mut ids) = (String::new(), Vec::new());
    for row in rows().filter(|row| chosen.contains(&row.id)) {
        let _ = write!(text, "{} {} {}: {}", row.id, row.day, row.r#type, clipped(&row.title));
        if let Some(entry) = behind.get(&row.id) {
            let _ = write!(text, " | {}", clipped(entry.reason.as_ref().unwrap_or(&entry.text)));
        }
        text.push('\n');
        ids.push(RecordId::Observation(row.id));
    }
    for steps in report.next_steps.iter().take(SESSIONS) {
        let _ = writeln!(text, "{} {} left to do: {}", steps.id, steps.day, clipped(&steps.next_steps));
        ids.push(steps.id);
    }
    Outline { text, ids }
}

fn clipped(text: &str) -> String {
    super::words::clipped(&render::line(text), MAX_CHARS)
}
