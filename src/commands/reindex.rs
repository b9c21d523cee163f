//! `cmem reindex`: make the vector index anew, and have an embeddings endpoint embed all that it lacks.

use serde_json::json;

use super::reader;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::config::{Paths, Settings};
use crate::embeddings::{Embedder, Pace, Report, Round, Step};
use crate::error::Failure;
use crate::index;
use crate::privacy::Cleaner;
use crate::render;
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
    let settings = reader::lenient_settings(paths);
    let endpoint = match Embedder::from_settings(&settings) {
        Ok(None) => None,
        Ok(Some(embedder)) => Some(embed_by(&embedder, &settings, &store).map_err(failure)?),
        // That it cannot be used is what its round reports.
        Err(_) => {
            let round = Round::new(&settings, Pace::Watched);
            Some((round.report().clone(), settings.embed_model.clone()))
        }
    };
    // Vectors of models that were in use before go once nothing is missing any more.
    if endpoint.as_ref().is_none_or(|(report, _)| report.failure.is_none()) {
        let space = endpoint.as_ref().map(|(_, model)| index::space_of(&store, model)).transpose();
        index::forget_others(&store, space.map_err(failure)?.flatten().as_ref()).map_err(failure)?;
    }
    index::rebuild(&store).map_err(failure)?;
    let observations = index::observations(&store).map_err(failure)?;
    if printer.wants_json() {
        let mut answer = json!({ "observations": observations, "embedded": embedded });
        if let Some((report, model)) = &endpoint {
            answer["endpoint"] =
                json!({ "model": model, "embedded": report.embedded, "refused": report.refused });
        }
        printer.json(&answer);
    }
    printer.talk(&format!("{observations} observations indexed, {embedded} embedded anew"));
    let Some((report, model)) = endpoint else { return Ok(()) };
    let refused = if report.refused > 0 { format!(", {} refused", report.refused) } else { String::new() };
    printer.talk(&render::line(&format!("{} observations embedded by {model}{refused}", report.embedded)));
    match report.failure {
        Some(failure) => Err(Failure::new(
            WHAT,
            format!("embeddings: {}; the rest waits", failure.message),
            failure.remedy,
        )),
        None => Ok(()),
    }
}

/// Has the endpoint embed all that it lacks, what it refused before among it.
fn embed_by(embedder: &Embedder, settings: &Settings, store: &Store) -> Result<(Report, String), StoreError> {
    let model = embedder.model().to_owned();
    if let Some(space) = index::space_of(store, &model)? {
        index::forget_refusals(store, &space)?;
    }
    let coverage = index::coverage(store, index::space_of(store, &model)?.as_ref())?;
    let bar = progress::bar(coverage.waiting().unsigned_abs(), "observations by the endpoint");
    let cleaner = Cleaner::new(&settings.redact_patterns);
    let mut round = Round::new(settings, Pace::Watched);
    while let Step::Made(count) = round.step(store, &cleaner)? {
        bar.inc(count);
    }
    bar.finish_and_clear();
    Ok((round.report().clone(), model))
}
