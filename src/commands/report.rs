//! `cmem report`: what happened in a project over a period.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{output, reader};
use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::cli::when::{self, Week};
use crate::config::Paths;
use crate::drain::{DrainError, Narrated, Narrator};
use crate::error::Failure;
use crate::model::Timestamp;
use crate::observer::Narration;
use crate::report::{self, Narrative, Period, Report};
use crate::store::Store;

const WHAT: &str = "report";

/// Arguments of `cmem report`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem report --week 48                      one ISO week, as Markdown\n  \
                  cmem report --since 30d --output m.html    one page with a calendar and a map of the files\n  \
                  cmem report --since yesterday --narrate    with prose by the observer\n\n\
                  Without a period it is about everything. It is made without a model; --narrate makes one request."
)]
pub struct ReportArgs {
    /// Not before this date, time or age (2026-01-31, yesterday, 7d)
    #[arg(long, value_name = "WHEN", value_parser = when::since)]
    pub since: Option<Timestamp>,
    /// Not after this date, time or age; a date includes its day
    #[arg(long, value_name = "WHEN", value_parser = when::until)]
    pub until: Option<Timestamp>,
    /// One ISO week: 2026-W48, or 48 for the last one of that number
    #[arg(long, value_name = "WEEK", value_parser = when::week, conflicts_with_all = ["since", "until"])]
    pub week: Option<Week>,
    /// How it is written [default: what the name of the file says, else md]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write it to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Have the observer write prose that connects the parts, with references to ids
    #[arg(long)]
    pub narrate: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub scope: ScopeArgs,
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Format {
    Md,
    Json,
    Html,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be read, the file cannot be written, or the prose that was asked for could not be
/// had; the report is there all the same then, without it.
pub fn run(args: &ReportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings(WHAT, paths)?;
    let output = args.output.as_deref().filter(|output| *output != Path::new("-"));
    let store = match reader::open(WHAT, paths)? {
        Some(store) => store,
        None => Store::in_passing().map_err(|error| reader::store_failure(WHAT, &error))?,
    };
    let place = reader::place(WHAT, Some(&store), &args.scope)?;
    let period = match args.week {
        Some(week) => Period { since: Some(week.since), until: Some(week.until) },
        None => Period { since: args.since, until: args.until },
    };
    if period.since.zip(period.until).is_some_and(|(since, until)| since >= until) {
        return Err(Failure::usage(WHAT, "the period ends before it begins", "--since comes before --until"));
    }
    let project = place.project.clone();
    let gathered = report::gather(&store, &place.scope, project, period)
        .map_err(|error| reader::store_failure(WHAT, &error))?;
    let mut report = report::digest(&gathered, &settings.prices);
    let mut trouble = None;
    if args.narrate {
        match narrative(&report, paths, printer) {
            Ok(narrative) => report.narrative = narrative,
            Err(failure) => trouble = Some(failure),
        }
    }
    let text = match format(args, output, printer) {
        Format::Md => report::markdown(&report, &reader::mode(paths, printer)),
        Format::Html => report::html(&report, &reader::mode(paths, printer)),
        Format::Json => {
            let text = serde_json::to_string_pretty(&report);
            text.map_err(|error| Failure::new(WHAT, error, "run `cmem doctor`"))? + "\n"
        }
    };
    match output {
        None => printer.data(text.trim_end()),
        Some(file) => {
            write(file, &text)?;
            printer.talk(&format!("{} memories in {}", report.totals.memories, file.display()));
        }
    }
    trouble.map_or(Ok(()), Err)
}

/// As the arguments say, else the name of the file.
fn format(args: &ReportArgs, output: Option<&Path>, printer: &Printer) -> Format {
    let by_name = || match output?.extension()?.to_str()? {
        "json" => Some(Format::Json),
        "html" | "htm" => Some(Format::Html),
        _ => None,
    };
    let by_flag = || printer.wants_json().then_some(Format::Json);
    args.format.or_else(by_flag).or_else(by_name).unwrap_or(Format::Md)
}

/// The prose of the observer; `None` = it has none, and the user was told why.
fn narrative(report: &Report, paths: &Paths, printer: &mut Printer) -> Result<Option<Narrative>, Failure> {
    let outline = report::outline(report);
    if outline.ids.is_empty() {
        printer.talk("there is nothing to write about in this period");
        return Ok(None);
    }
    let settings = reader::settings(WHAT, paths)?;
    let project = report.project.clone().unwrap_or_else(|| String::from("all projects"));
    let asked = Narration { project, outline: outline.text, ids: outline.ids };
    let narrator = Narrator::new(paths, &settings).map_err(drain_failure)?;
    match narrator.narrate(&asked).map_err(drain_failure)? {
        Narrated::Prose { prose, model } => Ok(Some(Narrative {
            text: prose.text,
            references: prose.references,
            dropped: prose.dropped,
            model,
        })),
        Narrated::Speechless => {
            printer.talk(
                "the embedded observer writes no prose: CMEM_PROVIDER names one that does, see `cmem install`",
            );
            Ok(None)
        }
        Narrated::Failed(error) => {
            let why =
                format!("no prose: {} ({}); the report is there without it", error.message, error.class);
            Err(Failure::new(WHAT, why, error.remedy))
        }
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    if file.is_dir() {
        return Err(Failure::usage(WHAT, format!("{} is a folder", file.display()), "name a file"));
    }
    output::to_file(file, |file| fs::write(file, text)).map_err(|error| {
        let why = format!("{}: {error}", file.display());
        Failure::new(WHAT, why, "check that its folder is there, and its permissions")
    })
}

fn drain_failure(error: DrainError) -> Failure {
    match &error {
        DrainError::Store(error) => reader::store_failure(WHAT, error),
        DrainError::Spool(error) => reader::spool_failure(WHAT, error),
        DrainError::Observer(inner) => Failure::new(WHAT, inner, inner.remedy()),
    }
}
