//! `cmem forget`: records are taken away for good, from every file of the data directory.

use std::fs;
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde::Serialize;

use super::{reader, search};
use crate::cli::args::FilterArgs;
use crate::cli::confirm::confirm;
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings};
use crate::drain;
use crate::error::Failure;
use crate::index;
use crate::log;
use crate::mode::Mode;
use crate::model::{Passages, RecordId, Timestamp};
use crate::render;
use crate::retrieve::{self, Hit};
use crate::spool::{FileLock, Spool, SpoolError};
use crate::store::{Store, StoreError};

const WHAT: &str = "forget";
/// How long others are waited for: a drainer, which may have in its hands what is to be forgotten, and readers, which may
/// have it before their eyes.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most records that are named before somebody is asked.
const NAMED: usize = 20;

/// Arguments of `cmem forget`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("which").required(true),
    override_usage = "cmem forget [OPTIONS] <ID>...\n       cmem forget [OPTIONS] --query <TEXT> [FILTERS]",
    after_help = "Example:\n  cmem forget 12 S3 P7\n  cmem forget --query 'staging password' --dry-run\n  cmem forget \
                  --query '*' --session 0b7e --yes\n\nA query takes what holds all of its words, not what only means \
                  the same. An observation that a forgotten one had replaced is in use again. Events that still wait \
                  and hold a text of a forgotten record go too."
)]
pub struct ForgetArgs {
    /// Ids: 123 (observation), S12 (summary), P7 (prompt)
    #[arg(group = "which", value_name = "ID")]
    pub ids: Vec<String>,
    /// Every record that holds these words and passes the filters; '*' = every one that passes them
    #[arg(long, group = "which", value_name = "TEXT", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Only show what would be forgotten
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask; needed where there is no terminal
    #[arg(long)]
    pub yes: bool,
    #[command(flatten, next_help_heading = "Filters of --query")]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub filter: FilterArgs,
}

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    records: Vec<Row>,
    /// Events that waited and held a text of them.
    events: usize,
    /// Records that hold a text of them still.
    also_in: Vec<RecordId>,
}

#[derive(Serialize)]
struct Row {
    id: RecordId,
    title: String,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a record is not there, nobody agreed, a drainer stays at work, or something of it could not be taken
/// away: what, and what to do then, is said.
pub fn run(args: &ForgetArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings(WHAT, paths)?;
    let mode = reader::mode(paths, printer);
    let hits = chosen(args, &mode, paths)?;
    if hits.is_empty() {
        if printer.wants_json() {
            printer.json(&answer(args, &hits, 0, Vec::new()));
        }
        printer.talk("nothing holds these words; nothing was forgotten");
        return Ok(());
    }
    if args.dry_run {
        return preview(args, &hits, &mode, paths, printer);
    }
    if !args.yes {
        for hit in hits.iter().take(NAMED) {
            printer.talk(&render::row(hit, &mode, None));
        }
        if hits.len() > NAMED {
            printer.talk(&format!("and {} more", hits.len() - NAMED));
        }
        let question = format!("{} will be gone for good. Forget?", records(hits.len()));
        confirm(WHAT, "it takes records away for good", &question, "nothing was forgotten", printer)?;
    }
    let lock = alone(paths, printer)?;
    let ids: Vec<RecordId> = hits.iter().map(|hit| hit.id).collect();
    let forgotten = forget(&ids, paths);
    let _ = lock.release();
    let (events, also_in) = forgotten?;
    wake(paths, &settings);
    let count = hits.len();
    let answer = answer(args, &hits, events, also_in);
    if printer.wants_json() {
        printer.json(&answer);
    }
    printer.talk(&format!("forgotten: {}", records(count)));
    tell_the_rest(&answer, printer);
    Ok(())
}

/// The lock of drainers.
fn alone(paths: &Paths, printer: &mut Printer) -> Result<FileLock, Failure> {
    let failed = |error| Failure::new(WHAT, error, "check the permissions of the data directory");
    if let Some(lock) = FileLock::try_acquire(&paths.drain_lock()).map_err(failed)? {
        return Ok(lock);
    }
    printer.talk("a drainer is at work: waiting for it");
    let lock = FileLock::acquire_within(&paths.drain_lock(), PATIENCE).map_err(failed)?;
    lock.ok_or_else(|| {
        Failure::new(
            WHAT,
            "a drainer is at work, and may be about to remember it again; nothing was forgotten",
            "`cmem drain --wait` waits for it: then say it again",
        )
    })
}

fn records(count: usize) -> String {
    if count == 1 { String::from("1 record") } else { format!("{count} records") }
}

fn failed(error: StoreError) -> Failure {
    reader::store_failure(WHAT, &error)
}

fn spool_failed(error: SpoolError) -> Failure {
    reader::spool_failure(WHAT, &error)
}

/// The records that are named, or found; each of the named must be there.
fn chosen(args: &ForgetArgs, mode: &Mode, paths: &Paths) -> Result<Vec<Hit>, Failure> {
    let store = reader::open(WHAT, paths)?;
    if let Some(query) = &args.query {
        if query.trim().is_empty() {
            return Err(Failure::usage(WHAT, "the query is empty", "give words, or '*' for every record"));
        }
        let place = reader::place(WHAT, store.as_ref(), &args.filter.scope)?;
        let filter = search::filter(&args.filter, mode, &place);
        return match store {
            Some(store) => retrieve::holding(&store, query, &filter).map_err(failed),
            None => Ok(Vec::new()),
        };
    }
    if !args.filter.is_empty() {
        return Err(Failure::usage(
            WHAT,
            "a filter goes with --query, not with ids",
            "leave one of them out; --query '*' takes all that passes the filters",
        ));
    }
    let ids = reader::ids(WHAT, &args.ids)?;
    let Some(store) = store else { return Err(reader::missing(WHAT, &ids)) };
    let hits = retrieve::hits_of(&store, &ids).map_err(failed)?;
    let missing: Vec<RecordId> = ids.into_iter().filter(|id| !hits.iter().any(|hit| hit.id == *id)).collect();
    if missing.is_empty() { Ok(hits) } else { Err(reader::missing(WHAT, &missing)) }
}

fn answer(args: &ForgetArgs, hits: &[Hit], events: usize, also_in: Vec<RecordId>) -> Answer {
    let records = hits.iter().map(|hit| Row { id: hit.id, title: hit.title.clone() }).collect();
    Answer { dry_run: args.dry_run, records, events, also_in }
}

fn preview(
    args: &ForgetArgs,
    hits: &[Hit],
    mode: &Mode,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let ids: Vec<RecordId> = hits.iter().map(|hit| hit.id).collect();
    let (mut events, mut also_in) = (0, Vec::new());
    if let Some(store) = reader::open(WHAT, paths)? {
        let passages = Passages::of(&store.said(&ids).map_err(failed)?);
        if let Some(spool) = reader::open_spool(WHAT, paths)? {
            events = spool.holding(&passages).map_err(spool_failed)?;
        }
        also_in = held_by_others(&store, &passages, &ids).map_err(failed)?;
    }
    let answer = answer(args, hits, events, also_in);
    if printer.wants_json() {
        printer.json(&answer);
        return Ok(());
    }
    for hit in hits {
        printer.data(&render::row(hit, mode, None));
    }
    printer.talk(&format!("{} would be forgotten", records(hits.len())));
    tell_the_rest(&answer, printer);
    Ok(())
}

fn tell_the_rest(answer: &Answer, printer: &mut Printer) {
    let gone = if answer.dry_run { "would go" } else { "went" };
    match answer.events {
        0 => {}
        1 => printer.talk(&format!("1 waiting event that holds its text {gone} too")),
        count => printer.talk(&format!("{count} waiting events that hold its text {gone} too")),
    }
    if !answer.also_in.is_empty() {
        let ids: Vec<String> = answer.also_in.iter().map(ToString::to_string).collect();
        printer.talk(&format!("the same words are also in {0}: `cmem forget {0}`", ids.join(" ")));
    }
}

/// Takes the records away, and everything that holds their texts. First what could bring them back: whatever keeps this
/// from being finished, the records are there to be named again.
fn forget(ids: &[RecordId], paths: &Paths) -> Result<(usize, Vec<RecordId>), Failure> {
    let store = Store::open_within(paths, PATIENCE).map_err(failed)?;
    let passages = Passages::of(&store.said(ids).map_err(failed)?);
    let (mut events, mut emptied) = (0, true);
    if paths.spool().exists() || Spool::has_journal(paths) {
        let spool = Spool::open(paths).map_err(spool_failed)?;
        // What is in memory is only to be deleted here; no drainer did that any more.
        for batch in spool.abandoned(Timestamp(i64::MAX)).map_err(spool_failed)? {
            if let Some(class) = store.batch_class(&batch).map_err(failed)? {
                spool.settle(&batch, &class).map_err(spool_failed)?;
            }
        }
        events = spool.forget(&passages).map_err(spool_failed)?;
        emptied = spool.scrub().map_err(spool_failed)?;
    }
    for id in ids {
        if let RecordId::Observation(id) = id {
            // A text that was left there by an editor.
            match fs::remove_dir_all(paths.edits().join(id.to_string())) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Failure::new(WHAT, error, "check the permissions of the data directory"));
                }
                _ => {}
            }
        }
    }
    log::forget(paths, |line| passages.are_in(line))
        .map_err(|error| Failure::new(WHAT, format!("the log: {error}"), "check its permissions"))?;

    let transaction = store.begin().map_err(failed)?;
    for id in ids {
        match *id {
            RecordId::Observation(id) => index::forget_observation(&transaction, id),
            RecordId::Summary(id) => index::forget_summary(&transaction, id),
            RecordId::Prompt(id) => index::forget_prompt(&transaction, id),
        }
        .map_err(failed)?;
    }
    index::purge(&transaction).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    index::renew(&store).map_err(failed)?;
    emptied &= store.scrub().map_err(failed)?;
    if !emptied {
        return Err(Failure::new(
            WHAT,
            "the records are gone, but another process is reading: its view of them is still in a -wal file",
            "let it end, then run `cmem drain`, which empties that file",
        ));
    }
    let also_in = held_by_others(&store, &passages, ids).map_err(failed)?;
    Ok((events, also_in))
}

fn held_by_others(store: &Store, passages: &Passages, ids: &[RecordId]) -> Result<Vec<RecordId>, StoreError> {
    let mut holding = store.holding(passages)?;
    holding.retain(|id| !ids.contains(id));
    Ok(holding)
}

/// Hooks could start no drainer meanwhile.
fn wake(paths: &Paths, settings: &Settings) {
    let waits = Spool::has_journal(paths)
        || (paths.spool().exists()
            && Spool::open_for_reading(paths).and_then(|spool| spool.has_waiting()).unwrap_or(false));
    if waits {
        drain::wake(paths, settings);
    }
}
