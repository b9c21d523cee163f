//! `cmem status`: what waits, what is remembered, what went wrong last.

use serde::Serialize;

use super::reader;
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings};
use crate::embeddings::Embedder;
use crate::error::Failure;
use crate::index::{self, Coverage};
use crate::model::Timestamp;
use crate::notices;
use crate::observer;
use crate::render;
use crate::spool::{LastError, Ledger, Relief, SpoolStatus};
use crate::store::{Counts, NoticeCount, Store, StoreError};

const WHAT: &str = "status";
const TIME: &str = "%Y-%m-%d %H:%M";

#[derive(Serialize)]
struct Answer {
    provider: &'static str,
    spool: Waiting,
    memory: Counts,
    last_stored_at: Option<Timestamp>,
    last_error: Option<LastError>,
    paused_until: Option<Timestamp>,
    notices: Notices,
    /// Memories that wait for review.
    review: i64,
    /// Only where an endpoint is set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<Embeddings>,
    version: &'static str,
}

#[derive(Serialize)]
struct Embeddings {
    model: String,
    done: i64,
    waiting: i64,
    refused: i64,
    /// Why they wait.
    error: Option<String>,
    paused_until: Option<Timestamp>,
    #[serde(skip)]
    remedy: String,
}

#[derive(Default, Serialize)]
struct Notices {
    pending: i64,
    /// In the last seven days.
    given_up: i64,
}

#[derive(Serialize)]
struct Waiting {
    waiting: i64,
    parked: i64,
    /// Age of the oldest waiting event, in seconds.
    oldest_age_s: Option<i64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a database or the settings cannot be read.
pub fn run(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings(WHAT, paths)?;
    let spool = match reader::open_spool(WHAT, paths)? {
        Some(spool) => Some(spool.status().map_err(|error| reader::spool_failure(WHAT, &error))?),
        None => None,
    };
    let store = reader::open(WHAT, paths)?;
    let (memory, outbox, review) = match &store {
        Some(store) => store
            .counts()
            .and_then(|counts| Ok((counts, store.notices(notices::recent())?, store.waiting_for_review()?)))
            .map_err(|error| reader::store_failure(WHAT, &error))?,
        None => (Counts::default(), Vec::new(), 0),
    };
    let provider = observer::effective(&settings, paths).name();
    let mut answer = Answer { review, ..answer(provider, spool.as_ref(), memory, &outbox) };
    answer.embeddings =
        embeddings(&settings, store.as_ref()).map_err(|error| reader::store_failure(WHAT, &error))?;
    if printer.wants_json() {
        printer.json(&answer);
        return Ok(());
    }
    for line in text(&answer, Relief::of(&settings), spool.as_ref(), paths) {
        printer.data(&line);
    }
    Ok(())
}

/// What the endpoint has embedded; `None` when none is set up.
fn embeddings(settings: &Settings, store: Option<&Store>) -> Result<Option<Embeddings>, StoreError> {
    let embedder = match Embedder::from_settings(settings) {
        Ok(None) => return Ok(None),
        Ok(Some(embedder)) => embedder,
        Err(error) => {
            return Ok(Some(Embeddings {
                model: settings.embed_model.clone(),
                done: 0,
                waiting: 0,
                refused: 0,
                error: Some(error.to_string()),
                paused_until: None,
                remedy: error.remedy(),
            }));
        }
    };
    let (coverage, pause) = match store {
        None => (Coverage::default(), None),
        Some(store) => {
            let space = index::space_of(store, embedder.model())?;
            (index::coverage(store, space.as_ref())?, embedder.pause(store)?)
        }
    };
    Ok(Some(Embeddings {
        model: embedder.model().to_owned(),
        done: coverage.done,
        waiting: coverage.waiting(),
        refused: coverage.refused,
        paused_until: pause.as_ref().map(|pause| pause.until),
        error: pause.as_ref().map(|pause| format!("{}: {}", pause.class, pause.message)),
        remedy: pause.map(|pause| pause.remedy).unwrap_or_default(),
    }))
}

fn answer(
    provider: &'static str,
    spool: Option<&SpoolStatus>,
    memory: Counts,
    outbox: &[NoticeCount],
) -> Answer {
    let now = Timestamp::now();
    Answer {
        provider,
        spool: Waiting {
            waiting: spool.map_or(0, |spool| spool.waiting),
            parked: spool.map_or(0, |spool| spool.parked),
            oldest_age_s: spool
                .and_then(|spool| spool.oldest_at)
                .map(|oldest| now.since_ms(oldest).max(0) / 1_000),
        },
        last_stored_at: memory.last_stored_at,
        memory,
        last_error: spool.and_then(|spool| spool.last_error.clone()),
        paused_until: spool.and_then(|spool| spool.pause.as_ref()).and_then(|pause| pause.until),
        notices: Notices {
            pending: outbox.iter().map(|count| count.pending).sum(),
            given_up: outbox.iter().map(|count| count.given_up).sum(),
        },
        review: 0,
        embeddings: None,
        version: env!("CARGO_PKG_VERSION"),
    }
}

fn text(answer: &Answer, relief: Option<Relief>, spool: Option<&SpoolStatus>, paths: &Paths) -> Vec<String> {
    let memory = &answer.memory;
    let mut lines = vec![
        row("version", answer.version),
        row("data", &paths.root().display().to_string()),
        row("provider", answer.provider),
        row(
            "memory",
            &format!(
                "{} observations, {} summaries, {} prompts in {} projects",
                memory.observations, memory.summaries, memory.prompts, memory.projects
            ),
        ),
        row("last stored", &answer.last_stored_at.map_or_else(|| String::from("never"), |at| at.local(TIME))),
        row("waiting", &waiting(&answer.spool)),
    ];
    if answer.review > 0 {
        let waiting = render::waiting_for_review(answer.review.unsigned_abs());
        lines.push(row("review", &format!("{waiting}: `cmem review --all-projects`")));
    }
    let Notices { pending, given_up } = answer.notices;
    if pending + given_up > 0 {
        lines
            .push(row("notices", &format!("{pending} waiting, {given_up} given up: `cmem doctor` says why")));
    }
    if let Some(embeddings) = &answer.embeddings {
        let Embeddings { model, done, waiting, error, remedy, .. } = embeddings;
        lines.push(row("embeddings", &format!("{done} by {model}, {waiting} waiting")));
        if let Some(error) = error {
            lines.push(row("", error));
            lines.push(row("what to do", remedy));
        }
    }
    let Some(spool) = spool else { return lines };
    lines.push(row("ledger", &ledger(&spool.ledger)));
    if let Some(pause) = &spool.pause {
        let until = pause.until.map_or_else(String::new, |until| format!(" until {}", until.local(TIME)));
        lines.push(row("paused", &format!("{}{until}: {}", pause.class, pause.message)));
        lines.push(row("what to do", &pause.remedy));
        let takes_over = |relief: &Relief| relief.takes_over(&pause.class, pause.until, Timestamp::now());
        if let Some(relief) = relief.filter(takes_over) {
            let name = relief.provider.name();
            let state = match &pause.fallback {
                None => format!("{name} takes its place"),
                Some(pause) => format!("{name} is paused too: {}: {}", pause.class, pause.message),
            };
            lines.push(row("fallback", &state));
        }
    }
    if let Some(error) = &spool.last_error {
        lines
            .push(row("last error", &format!("{} {}: {}", error.at.local(TIME), error.class, error.message)));
    }
    lines
}

fn row(label: &str, value: &str) -> String {
    format!("{label:<12} {}", render::line(value))
}

fn waiting(spool: &Waiting) -> String {
    let age = match spool.oldest_age_s {
        Some(age) if spool.waiting > 0 => format!(" (oldest {age} s)"),
        _ => String::new(),
    };
    let parked = match spool.parked {
        0 => String::new(),
        parked => format!(", {parked} parked: `cmem queue list`"),
    };
    format!("{} events{age}{parked}", spool.waiting)
}

/// Every event seen, and what became of it.
fn ledger(ledger: &Ledger) -> String {
    let reasons: Vec<String> =
        ledger.skipped.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    let skipped: i64 = ledger.skipped.values().sum();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    let balance = match ledger.balance() {
        0 => String::new(),
        gap => format!("; {gap} unaccounted for"),
    };
    format!(
        "{} seen = {} stored + {} nothing to record + {skipped} skipped{reasons} + {} dropped + {} waiting + {} parked{balance}",
        ledger.seen, ledger.stored, ledger.nothing, ledger.dropped, ledger.waiting, ledger.parked
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_has_the_documented_keys() {
        let value = serde_json::to_value(answer("builtin", None, Counts::default(), &[])).unwrap();
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "provider",
                "spool",
                "memory",
                "last_stored_at",
                "last_error",
                "paused_until",
                "notices",
                "review",
                "version"
            ]
        );
        assert_eq!(value["spool"], serde_json::json!({"waiting": 0, "parked": 0, "oldest_age_s": null}));
        assert_eq!(value["notices"], serde_json::json!({"pending": 0, "given_up": 0}));
        assert_eq!(value["memory"].as_object().unwrap().len(), 4);
    }

    #[test]
    fn a_ledger_that_does_not_balance_says_so() {
        let skipped = [(String::from("off"), 2)].into();
        let mut ledger = Ledger { seen: 5, stored: 3, skipped, ..Ledger::default() };
        assert_eq!(
            super::ledger(&ledger),
            "5 seen = 3 stored + 0 nothing to record + 2 skipped (off 2) + 0 dropped + 0 waiting + 0 parked"
        );
        ledger.seen = 6;
        assert!(super::ledger(&ledger).ends_with("; 1 unaccounted for"));
    }
}
