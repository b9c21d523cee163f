//! `cmem import --from`: what another program keeps.

use std::io::{self, IsTerminal};
use std::path::Path;

use indicatif::ProgressBar;
use serde::Serialize;

use super::ImportArgs;
use crate::cli::args::DrainArgs;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::commands::{config, drain, reader};
use crate::config::{Origin, Paths, Setting, Sources};
use crate::error::Failure;
use crate::foreign::claude_code::{self, Cost, Estimate, Folders, NoteTally, TranscriptError, TurnTally};
use crate::foreign::claude_mem::{
    self, ImportError, ModeState, Report, SettingState, Snapshot, TakenMode, TakenSetting, Tally, Wanted,
};
use crate::foreign::{Problems, Progress};
use crate::observer;
use crate::render;
use crate::spool::Spool;

/// Most problems that are told one by one on a terminal.
const TOLD: usize = 10;

#[derive(Serialize)]
struct FromClaudeMem<'a> {
    from: &'static str,
    database: String,
    schema: Option<i64>,
    dry_run: bool,
    #[serde(flatten)]
    report: &'a Report,
    modes: &'a [TakenMode],
    settings: &'a [TakenSetting],
}

/// Takes the database of claude-mem over.
pub(super) fn claude_mem(args: &ImportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "import from claude-mem";
    let here = reader::settings(WHAT, paths)?;
    let database = claude_mem::locate(args.source.as_deref());
    let snapshot = Snapshot::open(&database).map_err(|error| Failure::new(WHAT, &error, error.remedy()))?;
    let (database, schema) = (snapshot.path().to_owned(), snapshot.schema());
    let folder = database.parent().unwrap_or(Path::new(""));
    if !args.dry_run {
        create(WHAT, paths)?;
    }
    let modes = claude_mem::take_modes(folder, paths, args.dry_run);
    let settings = settings(WHAT, folder, args, paths)?;
    let wanted = Wanted { redact_patterns: &here.redact_patterns, since: args.since, dry_run: args.dry_run };
    let mut bar = Bar::new();
    let report = claude_mem::import(paths, snapshot, &wanted, &mut bar);
    bar.end();
    let report = report.map_err(|error| match error {
        ImportError::Source(error) => Failure::new(WHAT, &error, error.remedy()),
        ImportError::Store(error) => reader::store_failure(WHAT, &error),
    })?;
    if printer.wants_json() {
        printer.json(&FromClaudeMem {
            from: "claude-mem",
            database: database.display().to_string(),
            schema,
            dry_run: args.dry_run,
            report: &report,
            modes: &modes,
            settings: &settings,
        });
        return Ok(());
    }
    tell_rows(&report, args.dry_run, printer);
    tell_modes(&modes, args.dry_run, printer);
    tell_settings(&settings, args, printer);
    tell_problems(&report.problems, printer);
    Ok(())
}

fn tell_rows(report: &Report, dry_run: bool, printer: &mut Printer) {
    let kinds = [
        ("observations", report.observations),
        ("summaries", report.summaries),
        ("prompts", report.prompts),
        ("sessions", report.sessions),
    ];
    for (kind, tally) in kinds {
        printer.data(&format!("{kind:<13} {}", tally_line(tally, dry_run)));
    }
    for project in &report.projects {
        let (name, here) = (render::line(&project.name), render::line(&project.project));
        let how = match project.by {
            claude_mem::MappedBy::Directory => "by its directory",
            claude_mem::MappedBy::Name => "by its name",
            claude_mem::MappedBy::New => "new",
        };
        printer.data(&format!("project       {name} → {here} ({how}, {} rows)", project.rows));
    }
}

fn tally_line(tally: Tally, dry_run: bool) -> String {
    let new = if dry_run { "would be new" } else { "new" };
    let parts = [
        (tally.known, "there already"),
        (tally.same, "said by another"),
        (tally.older, "older"),
        (tally.failed, "not taken over"),
    ];
    let rest: String = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!(", {count} {what}"))
        .collect();
    format!("{} read: {} {new}{rest}", tally.read, tally.new)
}

fn tell_modes(modes: &[TakenMode], dry_run: bool, printer: &mut Printer) {
    for mode in modes {
        let state = match mode.state {
            ModeState::New if dry_run => "would be copied",
            ModeState::New => "copied",
            ModeState::Known => "there already",
            ModeState::Kept => "left out",
            ModeState::Failed => "cannot be used",
        };
        let reason = mode.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        printer.data(&format!("mode          {} {state}{}", render::line(&mode.id), render::line(&reason)));
    }
}

fn tell_settings(settings: &[TakenSetting], args: &ImportArgs, printer: &mut Printer) {
    let mut offered = false;
    for setting in settings {
        let state = match setting.state {
            SettingState::Known => continue,
            SettingState::Offered => {
                offered = true;
                "not set here"
            }
            SettingState::Taken => "taken over",
            SettingState::Kept => "set to something else here, which stays",
            SettingState::Refused => "means nothing here",
        };
        let value = render::line(&setting.value.shown());
        printer.data(&format!("setting       {} = {value} ({state})", setting.key));
    }
    if offered && !args.settings {
        printer.talk("its settings were left alone; --settings takes over those that are not set here");
    }
}

fn tell_problems(problems: &Problems, printer: &mut Printer) {
    for problem in problems.first.iter().take(TOLD) {
        let at = render::line(&problem.at);
        let place = if problem.number == 0 { at } else { format!("{at} {}", problem.number) };
        printer.talk(&format!("not taken over: {place}: {}", render::line(&problem.reason)));
    }
    let told = problems.first.len().min(TOLD) as u64;
    if problems.count > told {
        printer.talk(&format!("and {} more; --json tells the first hundred", problems.count - told));
    }
}

/// The settings beside the database; taken over where that was asked for.
fn settings(
    what: &str,
    folder: &Path,
    args: &ImportArgs,
    paths: &Paths,
) -> Result<Vec<TakenSetting>, Failure> {
    let sources = Sources::load(&paths.settings())
        .map_err(|error| Failure::new(what, error, "correct it with `cmem config set`"))?;
    let set = |setting: &Setting| {
        let (value, origin) = sources.get(setting);
        (origin != Origin::Default).then(|| value.into_owned())
    };
    let mut found = claude_mem::read_settings(folder, &set);
    if args.dry_run || !args.settings {
        return Ok(found);
    }
    for setting in found.iter_mut().filter(|setting| setting.state == SettingState::Offered) {
        config::put(what, setting.key, &setting.value.text, paths)?;
        setting.state = SettingState::Taken;
    }
    Ok(found)
}

#[derive(Serialize)]
struct FromClaudeCode<'a> {
    from: &'static str,
    dry_run: bool,
    turns: &'a TurnTally,
    cost: &'a Cost,
    notes: &'a NoteTally,
}

/// Takes the transcripts and notes of Claude Code over.
pub(super) fn claude_code(args: &ImportArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "import from claude-code";
    let settings = reader::settings(WHAT, paths)?;
    let mode = reader::mode(paths, printer);
    let Some(folders) = Folders::find(args.source.as_deref()) else {
        return Err(Failure::new(
            WHAT,
            "there are no transcripts",
            "name Claude Code's folder, one in its `projects`, or a transcript after `--from claude-code`",
        ));
    };
    let fail = |error: TranscriptError| match error {
        TranscriptError::Spool(error) => reader::spool_failure(WHAT, &error),
        TranscriptError::Store(error) => reader::store_failure(WHAT, &error),
    };
    // Who would be asked now; one that cannot be set up is told by draining.
    let provider = observer::new(&settings, paths, mode.clone())
        .map_or_else(|_| observer::effective(&settings, paths), |observer| observer.provider());
    let mut estimate = Estimate::new(&mode);
    let mut bar = Bar::new();
    let preview = claude_code::walk(&folders, paths, &settings, args.since, &mut estimate, &mut bar);
    bar.end();
    let preview = preview.map_err(fail)?;
    let cost = estimate.cost(provider, &settings);
    let notes = claude_code::take_notes(&folders, paths, &settings.redact_patterns, true).map_err(fail)?;
    if !printer.wants_json() {
        tell_turns(&preview, &cost, &notes, printer);
    }
    let nothing = preview.new == 0 && notes.new + notes.changed == 0;
    if args.dry_run || nothing {
        if printer.wants_json() {
            let (from, dry_run) = ("claude-code", args.dry_run);
            printer.json(&FromClaudeCode { from, dry_run, turns: &preview, cost: &cost, notes: &notes });
        }
        return Ok(());
    }
    ask(WHAT, args, printer)?;

    create(WHAT, paths)?;
    let mut spool = Spool::open(paths).map_err(|error| reader::spool_failure(WHAT, &error))?;
    let mut bar = Bar::new();
    let turns = claude_code::walk(&folders, paths, &settings, args.since, &mut spool, &mut bar);
    bar.end();
    let turns = turns.map_err(fail)?;
    drop(spool);
    let notes = claude_code::take_notes(&folders, paths, &settings.redact_patterns, false).map_err(fail)?;
    if printer.wants_json() {
        let (from, dry_run) = ("claude-code", false);
        printer.json(&FromClaudeCode { from, dry_run, turns: &turns, cost: &cost, notes: &notes });
    }
    printer.talk(&format!(
        "{} turns taken in, {} notes remembered; what is waiting goes on with `cmem drain` if this is ended",
        turns.new,
        notes.new + notes.changed
    ));
    let patient = DrainArgs { wait: true, background: false, lock_fd: None };
    drain::run(&patient, paths, printer)
}

fn tell_turns(turns: &TurnTally, cost: &Cost, notes: &NoteTally, printer: &mut Printer) {
    let rest = |counts: &[(u64, &str)]| -> String {
        let some = counts.iter().filter(|(count, _)| *count > 0);
        some.map(|(count, what)| format!(", {count} {what}")).collect()
    };
    printer.data(&format!(
        "transcripts   {} found, {} with something new",
        turns.transcripts, turns.fresh_transcripts
    ));
    let others = [(turns.known, "known"), (turns.older, "older"), (turns.open, "not over yet")];
    printer.data(&format!("turns         {} new{}", turns.new, rest(&others)));
    let left_out = [(turns.left_out, "left out by the rules for hooks")];
    printer.data(&format!("events        {}{}", turns.events, rest(&left_out)));
    printer.data(&format!("cost          {}", cost_line(cost)));
    let others = [(notes.changed, "changed"), (notes.known, "known"), (notes.empty, "empty")];
    printer.data(&format!("notes         {} new{}", notes.new, rest(&others)));
    tell_problems(&turns.problems, printer);
    tell_problems(&notes.problems, printer);
}

fn cost_line(cost: &Cost) -> String {
    if cost.model.is_empty() && cost.requests == 0 {
        return String::from("nothing: the embedded observer needs no model");
    }
    let tokens = format!(
        "about {} requests, {} tokens read and {} written by {} ({})",
        cost.requests,
        cost.input_tokens,
        cost.output_tokens,
        render::line(&cost.model),
        cost.provider
    );
    match cost.dollars {
        Some(dollars) if cost.provider == "claude" => {
            format!("{tokens}; ${dollars:.2} at list price, or of your subscription's allowance")
        }
        Some(dollars) => format!("{tokens}; about ${dollars:.2}"),
        None => format!("{tokens}; CMEM_PRICES has no price for it"),
    }
}

fn ask(what: &'static str, args: &ImportArgs, printer: &mut Printer) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::usage(what, "it hands all of this to the observer", "say --yes, or --dry-run"));
    }
    printer.talk("Have all of this observed? [y/N]");
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(what, "the answer was not yes", "nothing was taken in"))
}

fn create(what: &str, paths: &Paths) -> Result<(), Failure> {
    paths.create().map_err(|error| {
        Failure::new(what, error, "name a writable directory with --data-dir or CMEM_DATA_DIR")
    })
}

/// The bar of one part of the work.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new() -> Self {
        Self(None)
    }

    fn end(&mut self) {
        if let Some(bar) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn begin(&mut self, length: u64, things: &'static str) {
        self.0 = Some(progress::bar(length, things));
    }

    fn at(&mut self, position: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(position);
        }
    }
}
