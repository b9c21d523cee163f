//! `cmem review`: what waits for the user's decision, and what the user decides.

mod walk;

use std::collections::HashSet;
use std::io::{self, IsTerminal};

use clap::{ArgGroup, Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::reader;
use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::index;
use crate::mode::Mode;
use crate::model::{Draft, Observation, Priority, RecordId, Source, Status, Timestamp};
use crate::observer::{one_line, shorten, title_of};
use crate::privacy::Cleaner;
use crate::render;
use crate::retrieve::{self, Record, Waiting, Why};
use crate::store::{Revised, Store, StoreError};

const WHAT: &str = "review";
/// Longest title, and most of a text that a list shows, in characters.
const MAX_TITLE: usize = 200;
const GIST: usize = 160;

/// Arguments of `cmem review`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem review\n  cmem review accept 12 13\n  cmem review reject --all\n  cmem review edit 12 \
                  --title 'Payments run on PostgreSQL'"
)]
pub struct ReviewArgs {
    /// What to do; without it, a terminal is asked for each memory that waits, and elsewhere they are listed
    #[command(subcommand)]
    pub action: Option<ReviewAction>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// The parts of `cmem review`.
#[derive(Debug, Subcommand)]
pub enum ReviewAction {
    /// List what waits, and why
    #[command(after_help = "Example:\n  cmem review list --all-projects")]
    List(ScopeArgs),
    /// Take memories into use; what they contest is superseded
    #[command(after_help = "Example:\n  cmem review accept 12 13\n  cmem review accept --all")]
    Accept(Selection),
    /// Put memories away; they stay readable
    #[command(after_help = "Example:\n  cmem review reject 12\n  cmem review reject --all --project api")]
    Reject(Selection),
    /// Change what a memory says; it goes on waiting
    #[command(
        after_help = "Example:\n  cmem review edit 12 --title 'Payments run on PostgreSQL' --type decision"
    )]
    Edit(EditArgs),
}

/// Which of those that wait.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("which").required(true).multiple(false))]
pub struct Selection {
    /// Ids
    #[arg(group = "which", value_name = "ID", value_delimiter = ',', value_parser = observation)]
    pub ids: Vec<i64>,
    /// All of the project
    #[arg(long, group = "which")]
    pub all: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// Arguments of `cmem review edit`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true))]
pub struct EditArgs {
    /// Its id
    #[arg(value_name = "ID", value_parser = observation)]
    pub id: i64,
    /// Another title
    #[arg(long, group = "change")]
    pub title: Option<String>,
    /// Another text
    #[arg(long, group = "change")]
    pub text: Option<String>,
    /// Another kind of memory
    #[arg(long = "type", value_name = "TYPE", group = "change")]
    pub r#type: Option<String>,
}

fn observation(text: &str) -> Result<i64, String> {
    match text.parse::<RecordId>() {
        Ok(RecordId::Observation(id)) => Ok(id),
        Ok(other) => Err(format!("{other} is no observation")),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when an id does not wait, the project is unknown, or the memory cannot be read or written.
pub fn run(args: &ReviewArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    match &args.action {
        Some(ReviewAction::List(scope)) => list(scope, paths, printer),
        Some(ReviewAction::Accept(which)) => decide(which, Decision::Accept, paths, printer),
        Some(ReviewAction::Reject(which)) => decide(which, Decision::Reject, paths, printer),
        Some(ReviewAction::Edit(change)) => edit(change, paths, printer),
        None if !printer.wants_json() && io::stdin().is_terminal() && io::stdout().is_terminal() => {
            walk(&args.scope, paths, printer)
        }
        None => list(&args.scope, paths, printer),
    }
}

/// What waits, oldest first.
fn waiting(scope: &ScopeArgs, paths: &Paths) -> Result<Vec<Waiting>, Failure> {
    let Some(store) = reader::open(WHAT, paths)? else { return Ok(Vec::new()) };
    let place = reader::place(WHAT, Some(&store), scope)?;
    retrieve::in_review(&store, &place.scope).map_err(|error| reader::store_failure(WHAT, &error))
}

fn list(scope: &ScopeArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let rows = waiting(scope, paths)?;
    if printer.wants_json() {
        printer.json(&rows);
        return Ok(());
    }
    let mode = reader::mode(paths, printer);
    for row in &rows {
        printer.data(&lines(row, &mode).join("\n"));
    }
    printer.talk(match rows.len() {
        0 => "nothing waits for review",
        _ => "`cmem review accept ID…`, `reject ID…` or `edit ID`",
    });
    Ok(())
}

/// One that waits: what it is, why it waits, what it says.
fn lines(row: &Waiting, mode: &Mode) -> Vec<String> {
    let memory = &row.memory;
    let said = render::line(if memory.narrative.is_empty() { &memory.subtitle } else { &memory.narrative });
    let mut lines = vec![heading(memory, mode)];
    lines.extend(reasons(row).into_iter().map(|reason| format!("       {reason}")));
    if !said.is_empty() && said.trim_end_matches(['.', '。']) != render::line(&memory.title) {
        lines.push(format!("       {}", shorten(&said, GIST)));
    }
    lines
}

fn heading(memory: &Observation, mode: &Mode) -> String {
    format!(
        "{:>5}  {}  {}: {}  (project {})",
        memory.id,
        memory.created_at.local("%Y-%m-%d"),
        render::line(mode.type_name(&memory.r#type)),
        render::line(&memory.title),
        render::line(&memory.project)
    )
}

/// Why one waits, in words.
fn reasons(row: &Waiting) -> Vec<String> {
    let mut reasons = Vec::new();
    if row.why.contains(&Why::Suggested) {
        reasons.push(String::from("the assistant suggests it"));
    } else if row.memory.source == Source::User {
        reasons.push(String::from("you said it"));
    }
    for old in &row.contests {
        let mut standing = Vec::new();
        if old.pinned {
            standing.push("pinned");
        }
        if old.priority == Priority::High {
            standing.push("high priority");
        }
        if old.status != Status::Active {
            standing.push(old.status.name());
        }
        let standing =
            if standing.is_empty() { String::new() } else { format!(" ({})", standing.join(", ")) };
        reasons.push(format!("would supersede {}{standing}: {}", old.id, render::line(&old.title)));
    }
    reasons
}

/// What becomes of one that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Accept,
    Reject,
}

/// One that was decided.
#[derive(Debug, Serialize)]
struct Decided {
    id: i64,
    /// What it took the place of.
    superseded: Vec<i64>,
}

fn decide(
    which: &Selection,
    decision: Decision,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let ids = match which.all {
        true => waiting(&which.scope, paths)?.iter().map(|row| row.memory.id).collect(),
        false => which.ids.clone(),
    };
    let done = if ids.is_empty() { Vec::new() } else { apply(&ids, decision, paths)? };
    let word = match decision {
        Decision::Accept => "accepted",
        Decision::Reject => "rejected",
    };
    if printer.wants_json() {
        printer.json(&match decision {
            Decision::Accept => json!({ word: done }),
            Decision::Reject => json!({ word: done.iter().map(|one| one.id).collect::<Vec<_>>() }),
        });
        return Ok(());
    }
    for one in &done {
        printer.talk(&told(word, one));
    }
    if done.is_empty() {
        printer.talk("nothing waits for review");
    }
    Ok(())
}

fn told(word: &str, one: &Decided) -> String {
    let old: Vec<String> = one.superseded.iter().map(ToString::to_string).collect();
    match old.is_empty() {
        true => format!("{word}: {}", one.id),
        false => format!("{word}: {}, in place of {}", one.id, old.join(", ")),
    }
}

/// All of them, or none if one does not wait.
fn apply(ids: &[i64], decision: Decision, paths: &Paths) -> Result<Vec<Decided>, Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let store = writable(paths)?;
    let transaction = store.begin().map_err(fail)?;
    let (mut done, mut absent, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for id in ids.iter().copied().filter(|id| seen.insert(*id)) {
        let superseded = match decision {
            Decision::Accept => transaction.accept(id).map_err(fail)?.map(|accepted| accepted.superseded),
            Decision::Reject => transaction.reject(id).map_err(fail)?.then(Vec::new),
        };
        match superseded {
            Some(superseded) => done.push(Decided { id, superseded }),
            None => absent.push(id.to_string()),
        }
    }
    if !absent.is_empty() {
        return Err(does_not_wait(&absent.join(", ")));
    }
    transaction.commit().map_err(fail)?;
    Ok(done)
}

fn does_not_wait(ids: &str) -> Failure {
    let why = format!("{ids}: no such memory waits for review, and nothing was changed");
    Failure::new(WHAT, why, "see `cmem review list --all-projects`")
}

/// The memory, to be changed. Where there is none, nothing waits and none is made.
fn writable(paths: &Paths) -> Result<Store, Failure> {
    match reader::open(WHAT, paths)? {
        None => Err(Failure::new(WHAT, "nothing is remembered yet", "nothing waits for review")),
        Some(_) => Store::open(paths).map_err(|error| reader::store_failure(WHAT, &error)),
    }
}

fn edit(args: &EditArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let mode = reader::mode(paths, printer);
    let changed = change(args, &mode, paths)?;
    if printer.wants_json() {
        printer.json(&json!({ "id": args.id, "changed": changed }));
        return Ok(());
    }
    printer.talk(&match changed {
        true => format!("changed: {}; it goes on waiting", args.id),
        false => format!("{} says so already", args.id),
    });
    Ok(())
}

/// Replaces what is given of one that waits; tells whether that is a change.
fn change(args: &EditArgs, mode: &Mode, paths: &Paths) -> Result<bool, Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let cleaner = Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns);
    let store = writable(paths)?;
    let (records, _) = retrieve::get(&store, &[RecordId::Observation(args.id)]).map_err(fail)?;
    let waits = |record: &Record| matches!(record, Record::Observation(o) if o.status == Status::Review);
    if !records.iter().any(waits) {
        return Err(does_not_wait(&args.id.to_string()));
    }
    let transaction = store.begin().map_err(fail)?;
    let old = transaction.texts_of(args.id).map_err(fail)?;
    let draft = revised(args, old, mode, &cleaner)?;
    let revised = index::revise_observation(&transaction, args.id, &draft, Timestamp::now()).map_err(fail)?;
    match revised {
        Revised::SameAs(other) => Err(Failure::new(
            WHAT,
            format!("{other} says just that, and nothing was changed"),
            format!("`cmem review reject {}`, or say it otherwise", args.id),
        )),
        Revised::Unchanged => Ok(false),
        Revised::Changed => transaction.commit().map(|()| true).map_err(fail),
    }
}

fn revised(args: &EditArgs, old: Draft, mode: &Mode, cleaner: &Cleaner) -> Result<Draft, Failure> {
    let mut draft = old;
    let was_own = draft.title == title_of(&draft.narrative);
    if let Some(text) = &args.text {
        let text = cleaner.clean_text(text).trim().to_owned();
        if text.is_empty() {
            return Err(Failure::usage(
                WHAT,
                "the new text is empty",
                "`cmem review reject` puts the memory away",
            ));
        }
        if was_own {
            draft.title = title_of(&text);
        }
        draft.narrative = text;
    }
    if let Some(title) = &args.title {
        let title = shorten(&one_line(&cleaner.clean_text(title)), MAX_TITLE);
        if title.is_empty() {
            return Err(Failure::usage(
                WHAT,
                "the new title is empty",
                "leave --title out to keep the old one",
            ));
        }
        draft.title = title;
    }
    if let Some(word) = &args.r#type {
        draft.r#type = mode.type_for(word.trim()).ok_or_else(|| {
            Failure::usage(WHAT, format!("--type {word:?} is no type"), "see `cmem mode show`")
        })?;
    }
    Ok(draft)
}

fn walk(scope: &ScopeArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let rows = waiting(scope, paths)?;
    if rows.is_empty() {
        printer.talk("nothing waits for review");
        return Ok(());
    }
    let mode = reader::mode(paths, printer);
    walk::each(&rows, &mode, paths, &mut io::stdin().lock(), printer)
}
