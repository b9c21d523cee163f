//! `cmem reindex`: make the vector index anew.

use serde_json::json;

use super::reader;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::config::Paths;
use crate::error::Failure;
use crate::index;
use crate::store::{Store, StoreError};

const WHAT: &str = "reindex";

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be read or written.
pub fn run(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let failure = |error: StoreError| reader::store_failure(WHAT, &error);
    // Without a memory there is nothing to do, and none is made.
    if reader::open(WHAT, paths)?.is_none() {
        printer.talk("nothing is remembered yet");
        return Ok(());
    }
    let store = Store::open(paths).map_err(failure)?;
    let bar = progress::bar(index::unembedded(&store).map_err(failure)?, "observations");
    let mut embedded = 0;
    loop {
        match index::embed_some(&store).map_err(failure)? {
            0 => break,
            count => embedded += count,
        }
        bar.set_position(embedded);
    }
    bar.finish_and_clear();
    index::rebuild(&store).map_err(failure)?;
    let observations = index::observations(&store).map_err(failure)?;
    if printer.wants_json() {
        printer.json(&json!({ "observations": observations, "embedded": embedded }));
    }
    printer.talk(&format!("{observations} observations indexed, {embedded} embedded anew"));
    Ok(())
}
