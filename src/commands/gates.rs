//! `cmem stats --gate`: what came of telling memories before files were read.

use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Timestamp;
use crate::spool::{GateCount, count_gates};

/// Prints the count.
///
/// # Errors
/// [`Failure`] when what was noted cannot be read.
pub(super) fn run(what: &str, since: Timestamp, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let count = count_gates(paths, since).map_err(|error| reader::spool_failure(what, &error))?;
    if printer.wants_json() {
        printer.json(&count);
    } else {
        text(&count).iter().for_each(|line| printer.data(line));
    }
    Ok(())
}

fn text(count: &GateCount) -> Vec<String> {
    let Some(first) = count.first_at else {
        return vec![String::from("no memories were told before a read yet")];
    };
    vec![
        format!(
            "since {}: {} reads held back, {} hints beside a read",
            first.local("%Y-%m-%d %H:%M"),
            count.blocks,
            count.hints
        ),
        format!(
            "of those held back: {} files were not read, {} in part, {} whole after all",
            count.not_read, count.read_in_part, count.read_whole
        ),
        format!(
            "then: memories read after {}, the file outlined after {}, edited after {}",
            count.looked_up, count.outlined, count.edited
        ),
        format!(
            "tokens: {} not read (by the sizes of the files) - {} told instead - {} parts of the files - {} memories \
             read - {} outlines - {} hints = {} saved",
            count.spared, count.told, count.parts, count.got, count.outlines, count.hint_tokens, count.saved
        ),
    ]
}
