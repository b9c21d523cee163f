//! `cmem export`: the memory, or a part of it, to take along.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{output, reader};
use crate::cli::args::{KindName, ScopeArgs, StatusName};
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::cli::when;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Status, Timestamp};
use crate::privacy::Cleaner;
use crate::retrieve::{Filter, RecordKind, Selection};
use crate::store::{Store, StoreError};
use crate::transfer::{self, FolderReport, TransferError, Written};

const WHAT: &str = "export";

/// Arguments of `cmem export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem export --all-projects memory.jsonl\n  cmem export --type decision --since 30d | \
                        ssh other cmem import\n  cmem export --format markdown --redact team-memory/"
)]
pub struct ExportArgs {
    /// A file, or a folder with --format markdown; `-`, or nothing, is standard output
    #[arg(value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// JSON Lines, one record a line, or Markdown, one record a file
    #[arg(long, value_enum, default_value = "jsonl")]
    pub format: Format,
    /// Apply today's redaction to every text again; prompts are left out unless --kind names them
    #[arg(long)]
    pub redact: bool,
    /// Only observations of these types, such as bugfix or decision; also by the name that the mode gives them
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    pub types: Vec<String>,
    /// Not before this date, time or age (2026-01-31, yesterday, 7d)
    #[arg(long, value_name = "WHEN", value_parser = when::since)]
    pub since: Option<Timestamp>,
    /// Not after this date, time or age; a date includes its day
    #[arg(long, value_name = "WHEN", value_parser = when::until)]
    pub until: Option<Timestamp>,
    /// Only these kinds of record [default: all; of Markdown observations alone]
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub kinds: Vec<KindName>,
    /// Only observations in these states [default: all; of Markdown active and superseded]
    #[arg(long = "status", value_name = "STATUS", value_delimiter = ',')]
    pub statuses: Vec<StatusName>,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// How memory is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Format {
    Jsonl,
    Markdown,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be read, the project is unknown, or the target cannot be written.
pub fn run(args: &ExportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let cleaner = match args.redact {
        true => Some(Cleaner::new(&reader::settings(WHAT, paths)?.redact_patterns)),
        false => None,
    };
    let store = match reader::open(WHAT, paths)? {
        Some(store) => store,
        None => Store::in_passing().map_err(fail)?,
    };
    let mode = reader::mode(paths, printer);
    let place = reader::place(WHAT, Some(&store), &args.scope)?;
    let selection = Selection {
        filter: Filter {
            kinds: kinds(args),
            types: args.types.iter().map(|word| mode.type_id(word).to_owned()).collect(),
            since: args.since,
            until: args.until,
            ..Filter::all(place.scope.clone())
        },
        statuses: statuses(args),
    };
    let within = match &place.project {
        Some(name) => format!("of project {name}; --all-projects takes every project"),
        None => String::from("of all projects"),
    };
    let target = args.target.as_deref().filter(|target| *target != Path::new("-"));
    if args.format == Format::Markdown {
        let Some(dir) = target else {
            return Err(Failure::usage(
                WHAT,
                "Markdown is one file a record",
                "name a folder: `cmem export --format markdown DIR`",
            ));
        };
        let report = to_folder(&store, &selection, cleaner.as_ref(), dir)?;
        return tell_folder(&report, dir, &within, printer);
    }
    let written = to_lines(&store, &selection, cleaner.as_ref(), target, printer)?;
    if target.is_some() && printer.wants_json() {
        printer.json(&written);
    }
    printer.talk(&format!(
        "{} observations, {} summaries and {} prompts {within}",
        written.observations, written.summaries, written.prompts
    ));
    Ok(())
}

fn kinds(args: &ExportArgs) -> Vec<RecordKind> {
    let only_observations = args.format == Format::Markdown || !args.statuses.is_empty();
    match args.kinds[..] {
        [] if only_observations => vec![RecordKind::Observation],
        [] if args.redact => vec![RecordKind::Observation, RecordKind::Summary],
        _ => args.kinds.iter().map(|kind| (*kind).into()).collect(),
    }
}

fn statuses(args: &ExportArgs) -> Vec<Status> {
    match args.statuses[..] {
        [] if args.format == Format::Markdown => vec![Status::Active, Status::Superseded],
        _ => args.statuses.iter().map(|status| (*status).into()).collect(),
    }
}

fn to_folder(
    store: &Store,
    selection: &Selection,
    cleaner: Option<&Cleaner>,
    dir: &Path,
) -> Result<FolderReport, Failure> {
    let bar = progress::bar(length(store, selection)?, "records");
    let report = transfer::write_folder(store, selection, cleaner, dir, &mut |records| bar.inc(records))
        .map_err(|error| failure(WHAT, &error, dir))?;
    bar.finish_and_clear();
    Ok(report)
}

fn tell_folder(
    report: &FolderReport,
    dir: &Path,
    within: &str,
    printer: &mut Printer,
) -> Result<(), Failure> {
    if printer.wants_json() {
        printer.json(report);
    }
    printer.talk(&format!(
        "{} files written, {} unchanged, {} removed {within}",
        report.written, report.unchanged, report.removed
    ));
    if report.kept > 0 {
        printer.talk(&format!(
            "{} left as they are: they were changed or deleted since; take that in with `cmem import {}`",
            report.kept,
            dir.display()
        ));
    }
    for problem in &report.problems {
        printer.talk(&format!("{}: {}", problem.at, problem.why));
    }
    match report.problems.len() {
        0 => Ok(()),
        count => Err(Failure::new(
            WHAT,
            format!("{count} files could not be written"),
            "see above, and run it again",
        )),
    }
}

fn to_lines(
    store: &Store,
    selection: &Selection,
    cleaner: Option<&Cleaner>,
    target: Option<&Path>,
    printer: &mut Printer,
) -> Result<Written, Failure> {
    let bar = progress::bar(length(store, selection)?, "records");
    let mut progress = |records| bar.inc(records);
    let written = match target {
        None => {
            let mut out = BufWriter::new(printer);
            transfer::write_lines(store, selection, cleaner, &mut out, &mut progress)
                .map_err(|error| failure(WHAT, &error, Path::new("standard output")))?
        }
        Some(file) => {
            let fail = |error: &TransferError| failure(WHAT, error, file);
            if file.is_dir() {
                return Err(Failure::usage(
                    WHAT,
                    format!("{} is a folder", file.display()),
                    "name a file, or say --format markdown",
                ));
            }
            let outcome =
                output::to_file(file, |file| to_file(store, selection, cleaner, file, &mut progress));
            outcome.map_err(|error| fail(&error))?
        }
    };
    bar.finish_and_clear();
    Ok(written)
}

fn to_file(
    store: &Store,
    selection: &Selection,
    cleaner: Option<&Cleaner>,
    file: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<Written, TransferError> {
    let mut out = BufWriter::new(File::create(file)?);
    let written = transfer::write_lines(store, selection, cleaner, &mut out, progress)?;
    out.flush()?;
    Ok(written)
}

fn length(store: &Store, selection: &Selection) -> Result<u64, Failure> {
    let mut length = 0;
    for kind in [RecordKind::Observation, RecordKind::Summary, RecordKind::Prompt] {
        let rows = selection.rows(store, kind).map_err(|error| reader::store_failure(WHAT, &error))?;
        length += rows.len() as u64;
    }
    Ok(length)
}

/// A failed export or import, with what to do.
pub(super) fn failure(what: &str, error: &TransferError, place: &Path) -> Failure {
    let why = format!("{}: {error}", place.display());
    match error {
        TransferError::Newer { .. } => {
            Failure::new(what, why, "install that version of cmem or a later one; nothing was changed")
        }
        TransferError::Foreign(_) => Failure::new(
            what,
            why,
            "name a file that `cmem export` wrote, or a folder of `cmem export --format markdown`",
        ),
        TransferError::File { .. } => {
            Failure::new(what, error, "check that it is there, and its permissions")
        }
        TransferError::Stream(_) => Failure::new(what, why, "check that it is there, and its permissions"),
        TransferError::Store(error) => reader::store_failure(what, error),
    }
}
