//! `cmem prune`: puts away what matters little and was of no use for long.

use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::reader;
use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings};
use crate::drain;
use crate::error::Failure;
use crate::model::{Priority, RecordId, Status, Timestamp};
use crate::render;
use crate::retrieve::{self, Filter, Hit};
use crate::store::{Store, StoreError};

const WHAT: &str = "prune";

/// Arguments of `cmem prune`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem prune --days 180           what would be put away; on a terminal, asks whether to\n  cmem \
                  prune --days 180 --yes     put it away\n  cmem prune --list               what was put away or \
                  has expired\n  cmem restore 12                 bring one back\n\nPinned memories and those of \
                  high priority are never put away, and nothing is deleted."
)]
pub struct PruneArgs {
    /// Neither said nor of use for so many days [default: CMEM_PRUNE_DAYS; 0 = nothing]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=36_500))]
    pub days: Option<u32>,
    /// Up to this priority [default: CMEM_PRUNE_PRIORITY]
    #[arg(long, value_name = "PRIORITY", value_enum)]
    pub priority: Option<AtMost>,
    /// Only say what would be put away
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask; needed where there is no terminal
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// List what was put away, newest first
    #[arg(long, conflicts_with_all = ["days", "priority", "dry_run", "yes"])]
    pub list: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// How much a memory may matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum AtMost {
    Low,
    Normal,
}

#[derive(Serialize)]
struct Answer<'a> {
    dry_run: bool,
    days: u64,
    priority: &'a str,
    archived: usize,
    results: &'a [Hit],
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be used, or the project is unknown.
pub fn run(args: &PruneArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings(WHAT, paths)?;
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let mut store = reader::open(WHAT, paths)?;
    let place = reader::place(WHAT, store.as_ref(), &args.scope)?;
    if args.list {
        let filter = Filter { statuses: vec![Status::Archived], ..Filter::all(place.scope.clone()) };
        let found = match &store {
            Some(store) => retrieve::search(store, "*", &filter, usize::MAX, 0).map_err(fail)?.hits,
            None => Vec::new(),
        };
        return list(&found, &place, paths, printer);
    }
    let (days, priority) = policy(args, &settings);
    let name = priority.name();
    if !args.dry_run && store.is_some() {
        // What was of use until now counts, and what has expired is out already.
        let writable = Store::open(paths).map_err(fail)?;
        drain::upkeep(paths, &writable).map_err(|error| Failure::new(WHAT, error, "run `cmem doctor`"))?;
        store = Some(writable);
    }
    let found = match &store {
        Some(store) if days > 0 => {
            retrieve::unused(store, &place.scope, priority, Timestamp::now().minus_days(days))
                .map_err(fail)?
        }
        _ => Vec::new(),
    };
    if !printer.wants_json() {
        let mode = reader::mode(paths, printer);
        for hit in &found {
            printer.data(&render::row(hit, &mode, place.home.as_deref()));
        }
    }
    let goes = !args.dry_run && !found.is_empty() && (args.yes || agreed(found.len(), printer));
    let mut archived = 0;
    if let Some(store) = store.filter(|_| goes) {
        let transaction = store.begin().map_err(fail)?;
        for hit in &found {
            if let RecordId::Observation(id) = hit.id {
                archived += usize::from(transaction.put_away(id).map_err(fail)?);
            }
        }
        transaction.commit().map_err(fail)?;
    }
    if printer.wants_json() {
        printer.json(&Answer { dry_run: !goes, days, priority: name, archived, results: &found });
    } else if days == 0 {
        printer.talk("nothing is put away until you say after how many days: --days N, or CMEM_PRUNE_DAYS");
    } else if found.is_empty() {
        printer.talk(&format!("nothing of at most {name} priority was without use for {days} days"));
    } else if goes {
        printer.talk(&format!("put away: {archived}; `cmem restore ID...` brings them back"));
    } else {
        printer.talk(&format!("would put away: {}; nothing was changed (--yes does it)", found.len()));
    }
    Ok(())
}

/// After how many days without use, and up to which priority.
fn policy(args: &PruneArgs, settings: &Settings) -> (u64, Priority) {
    let priority = match args.priority {
        Some(AtMost::Low) => Priority::Low,
        Some(AtMost::Normal) => Priority::Normal,
        None => settings.prune_priority,
    };
    (args.days.map_or(settings.prune_days, u64::from), priority)
}

/// Asks, where there is somebody to ask.
fn agreed(count: usize, printer: &mut Printer) -> bool {
    if printer.wants_json() || !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    printer.talk(&format!("Put {count} away? They stay readable. [y/N]"));
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn list(found: &[Hit], place: &reader::Place, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    if printer.wants_json() {
        printer.json(&found);
        return Ok(());
    }
    let mode = reader::mode(paths, printer);
    for hit in found {
        printer.data(&render::row(hit, &mode, place.home.as_deref()));
    }
    printer.talk(match found.is_empty() {
        true => "nothing was put away",
        false => "`cmem restore ID...` brings them back",
    });
    Ok(())
}
