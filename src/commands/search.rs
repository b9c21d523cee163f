//! `cmem search`: an index of what matches, one line a record.

use serde::Serialize;

use super::reader::{self, Place};
use crate::cli::args::{FilterArgs, SearchArgs};
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings};
use crate::embeddings::Embedder;
use crate::error::Failure;
use crate::index::{self, Probe};
use crate::mode::Mode;
use crate::model::Caller;
use crate::privacy::Cleaner;
use crate::render;
use crate::retrieve::{self, Filter, Found, Hit, Parts, Suggestion, Using};
use crate::store::{Store, StoreError};

const WHAT: &str = "search";

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    total: usize,
    indexes: &'a [&'static str],
    pending_events: i64,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    did_you_mean: &'a [Suggestion],
    results: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    hit: &'a Hit,
    /// Only when asked for; then `null` for a row that is not ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Option<&'a Parts>>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be read or the project is unknown.
pub fn run(args: &SearchArgs, caller: &Caller, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let words: Vec<&str> = args.query.iter().chain(&args.more).map(String::as_str).collect();
    let query = words.join(" ");
    let store = reader::open_for(WHAT, caller, paths)?;
    let settings = reader::lenient_settings(paths);
    let mode = reader::mode_of(&settings, paths, printer);
    let place = reader::place_from(&caller.dir, WHAT, store.as_ref(), &args.filter.scope)?;
    let (found, suggestions) = match &store {
        Some(store) => {
            let filter = filter(&args.filter, &mode, &place);
            let failed = |error: StoreError| reader::store_failure(WHAT, &error);
            let meaning = meaning(&query, store, &settings, printer).map_err(failed)?;
            retrieve::search_with(store, &query, &filter, args.limit, args.offset, meaning.using())
                .and_then(|found| Ok((found, retrieve::did_you_mean(store, &query, &filter)?)))
                .map_err(|error| reader::store_failure(WHAT, &error))?
        }
        None => (Found::default(), Vec::new()),
    };
    let pending = reader::pending(paths, printer);
    if printer.wants_json() {
        let row = |hit| Row { hit, explain: args.explain.then(|| found.parts.get(&hit.id)) };
        printer.json(&Answer {
            query: &query,
            total: found.total,
            indexes: &found.indexes,
            pending_events: pending.0 + pending.1,
            did_you_mean: &suggestions,
            results: found.hits.iter().map(row).collect(),
        });
        return Ok(());
    }
    for hit in &found.hits {
        printer.data(&render::row(hit, &mode, place.home.as_deref()));
        if args.explain {
            printer.data(&render::score(found.parts.get(&hit.id)));
        }
    }
    printer.talk(&footer(&found, &place, args.offset));
    for Suggestion { typed, nearest } in &suggestions {
        printer
            .talk(&render::line(&format!("{typed} is in no record; did you mean {}?", nearest.join(", "))));
    }
    if let Some(line) = reader::pending_line(pending) {
        printer.talk(&line);
    }
    Ok(())
}

/// Who says what the query means.
enum Meaning {
    /// The embedded model.
    Embedded,
    /// The model behind the endpoint that is set up.
    Endpoint(Probe),
    /// Nobody: the endpoint did not answer in time.
    Missing,
}

impl Meaning {
    fn using(&self) -> Using<'_> {
        match self {
            Self::Embedded => Using::Both,
            Self::Endpoint(probe) => Using::Endpoint(probe),
            Self::Missing => Using::Text,
        }
    }
}

/// Asks the endpoint, if one is set up that has embedded something, and if there are words to ask about.
fn meaning(
    query: &str,
    store: &Store,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Meaning, StoreError> {
    let embedder = match Embedder::from_settings(settings) {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return Ok(Meaning::Embedded),
        Err(error) => {
            printer.talk(&render::line(&format!("embeddings: {error}: {}", error.remedy())));
            return Ok(Meaning::Embedded);
        }
    };
    if index::Meaning::of_text(query).vector.is_none() || index::space_of(store, embedder.model())?.is_none()
    {
        return Ok(Meaning::Embedded);
    }
    match embedder.ask(query, &Cleaner::new(&settings.redact_patterns)) {
        Ok(probe) => Ok(Meaning::Endpoint(probe)),
        Err(reason) => {
            printer.talk(&render::line(&format!(
                "words alone were searched: no embedding of the question: {reason}"
            )));
            Ok(Meaning::Missing)
        }
    }
}

/// What the arguments ask for, in the words of the mode.
pub(super) fn filter(args: &FilterArgs, mode: &Mode, place: &Place) -> Filter {
    Filter {
        kinds: args.kinds.iter().map(|kind| (*kind).into()).collect(),
        types: args.types.iter().map(|word| mode.type_id(word).to_owned()).collect(),
        concepts: args.concepts.clone(),
        files: args.files.clone(),
        since: args.since,
        until: args.until,
        session: args.session.clone(),
        platforms: args.platforms.clone(),
        statuses: args.statuses.iter().map(|status| (*status).into()).collect(),
        ground: place.ground.clone(),
        ..Filter::all(place.scope.clone())
    }
}

/// How many of how many, and what the next step costs.
fn footer(found: &Found, place: &Place, offset: usize) -> String {
    let within = match &place.project {
        Some(name) => format!("project {}", render::line(name)),
        None => String::from("all projects"),
    };
    if found.hits.is_empty() {
        let elsewhere = if place.project.is_some() { "; --all-projects looks everywhere" } else { "" };
        return match found.total {
            0 => format!("nothing found in {within}{elsewhere}"),
            total => format!("no row from {offset} on; {total} match in {within}"),
        };
    }
    let tokens: usize = found.hits.iter().map(|hit| hit.tokens).sum();
    let next = offset + found.hits.len();
    let rest = if next < found.total { format!("; --offset {next} shows the next") } else { String::new() };
    format!(
        "{} of {} in {within}; `cmem get ID...` for the whole (~{} tokens each){rest}",
        found.hits.len(),
        found.total,
        tokens / found.hits.len()
    )
}
