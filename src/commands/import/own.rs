//! `cmem import` of what `cmem export` wrote.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::Path;

use serde::Serialize;

use super::ImportArgs;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::commands::export::failure;
use crate::commands::reader;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::index;
use crate::privacy::Cleaner;
use crate::render;
use crate::store::{Store, StoreError};
use crate::transfer::{self, Merger, Report, Tally};

const WHAT: &str = "import";

#[derive(Serialize)]
struct Answer<'a> {
    dry_run: bool,
    #[serde(flatten)]
    report: &'a Report,
}

/// Takes in what `cmem export` wrote.
///
/// # Errors
/// [`Failure`] when the source is no export, the memory cannot be written, or a record was not taken in.
pub(super) fn run(args: &ImportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let cleaner = Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns);
    let source = args.source.as_deref().filter(|source| *source != Path::new("-"));
    if source.is_none() && io::stdin().is_terminal() {
        return Err(Failure::usage(
            WHAT,
            "there is nothing to read",
            "name a file or a folder, or pipe an export to it",
        ));
    }
    let place = source.unwrap_or(Path::new("standard input"));
    let unreadable = |error: io::Error| failure(WHAT, &error.into(), place);
    let mut input: Option<(Box<dyn BufRead>, u64)> = match source {
        Some(dir) if dir.is_dir() => None,
        Some(file) => {
            let opened = File::open(file).map_err(unreadable)?;
            let length = fs::metadata(file).map_err(unreadable)?.len();
            Some((Box::new(BufReader::with_capacity(1 << 16, opened)), length))
        }
        None => Some((Box::new(io::stdin().lock()), 0)),
    };
    let store = open(args, paths)?;
    let merger = Merger::new(&cleaner, env::current_dir().ok().map(|cwd| git::identify(&cwd)));
    let report = match &mut input {
        Some((input, length)) => {
            let bar = progress::bar(*length, "bytes");
            transfer::read_lines(&store, input, merger, args.dry_run, &mut |bytes| bar.inc(bytes))
        }
        None => {
            let bar = progress::bar(0, "files");
            transfer::read_folder(&store, place, merger, &cleaner, args.dry_run, &mut |files| {
                bar.inc_length(files);
                bar.inc(files);
            })
        }
    }
    .map_err(|error| failure(WHAT, &error, place))?;
    if !args.dry_run {
        settle(&store).map_err(|error| reader::store_failure(WHAT, &error))?;
    }
    tell(&report, args.dry_run, printer);
    match report.failed {
        0 => Ok(()),
        1 => Err(not_all("1 record was not taken in")),
        count => Err(not_all(&format!("{count} records were not taken in"))),
    }
}

fn not_all(why: &str) -> Failure {
    Failure::new(WHAT, why, "mend what is named above and run it again; what is in stays as it is")
}

/// A dry run leaves no memory behind where there was none.
fn open(args: &ImportArgs, paths: &Paths) -> Result<Store, Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    if args.dry_run && reader::open(WHAT, paths)?.is_none() {
        return Store::in_passing().map_err(fail);
    }
    paths.create().map_err(|error| {
        Failure::new(WHAT, error, "name a writable directory with --data-dir or CMEM_DATA_DIR")
    })?;
    Store::open(paths).map_err(fail)
}

/// Many rows came at once: the caches of their meaning are brought up to date, and the log is emptied.
fn settle(store: &Store) -> Result<(), StoreError> {
    index::refresh(store)?;
    store.tidy()
}

fn tell(report: &Report, dry_run: bool, printer: &mut Printer) {
    if printer.wants_json() {
        printer.json(&Answer { dry_run, report });
    }
    for problem in &report.problems {
        printer.talk(&render::line(&format!("{}: {}", problem.at, problem.why)));
    }
    let told = report.problems.len() as u64;
    if report.failed > told {
        printer.talk(&format!("and {} more", report.failed - told));
    }
    if dry_run {
        printer.talk("nothing was changed; this is what would be:");
    }
    for (tally, things) in
        [(report.observations, "observations"), (report.summaries, "summaries"), (report.prompts, "prompts")]
    {
        let Tally { new, changed, unchanged } = tally;
        if new + changed + unchanged > 0 {
            printer.talk(&format!("{things}: {new} new, {changed} changed, {unchanged} known already"));
        }
    }
    for (count, told) in [
        (report.projects, "projects that were not here"),
        (report.archived, "archived, because their file was deleted"),
        (report.review, "to decide on, because both sides changed them: `cmem review`"),
        (report.unresolved, "pointers to observations that are not here"),
    ] {
        if count > 0 {
            printer.talk(&format!("{count} {told}"));
        }
    }
}
