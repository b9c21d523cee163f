//! `cmem drain`: process what waits, in the foreground, or as the detached child of a hook.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::reader;
use crate::cli::args::DrainArgs;
use crate::cli::printer::Printer;
use crate::config::{Paths, Settings, Sources};
use crate::drain::{self, DrainError, Drained, Drainer, Progress};
use crate::error::Failure;
use crate::log;
use crate::notices::Report;
use crate::spool::FileLock;

const WHAT: &str = "drain";

/// How long `--wait` waits for a drainer at work: longer than its longest life.
const WAIT_FOR_OTHER: Duration = Duration::from_secs(20 * 60);

/// Runs the command.
///
/// # Errors
/// [`Failure`] when events wait because something needs the user.
pub fn run(args: &DrainArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    if args.background {
        background(args, paths);
        return Ok(());
    }
    paths.create().map_err(|error| failure(error, "name a writable directory with --data-dir"))?;
    let settings = reader::settings(WHAT, paths)?;
    let Some(lock) = lock(args, paths)? else {
        printer.talk("another cmem drain is at work; `cmem drain --wait` waits for it");
        return Ok(());
    };
    let drained = drain(paths, &settings, lock)?;
    printer.talk(&format!(
        "{} events in {} batches, {} observations stored",
        drained.events, drained.batches, drained.observations
    ));
    if let Some(line) = notices(&drained.notices) {
        printer.talk(&line);
    }
    match drained.stopped {
        Some(stopped) => Err(Failure::new(
            WHAT,
            format!("{} ({}); the events are kept", stopped.message, stopped.class),
            stopped.remedy,
        )),
        None => Ok(()),
    }
}

/// What became of notices; `None` when there were none. A failure of theirs is none of draining.
fn notices(report: &Report) -> Option<String> {
    let counts = [(report.sent, "sent"), (report.put_off, "put off"), (report.given_up, "given up")];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let why = match report.put_off + report.given_up {
        0 => "",
        _ => ": `cmem doctor` says why",
    };
    (!counts.is_empty()).then(|| format!("notices: {}{why}", counts.join(", ")))
}

fn lock(args: &DrainArgs, paths: &Paths) -> Result<Option<FileLock>, Failure> {
    let patience = if args.wait { WAIT_FOR_OTHER } else { Duration::ZERO };
    FileLock::acquire_within(&paths.drain_lock(), patience)
        .map_err(|error| failure(error, "check the permissions of the data directory"))
}

fn drain(paths: &Paths, settings: &Settings, lock: FileLock) -> Result<Drained, Failure> {
    let result = Drainer::new(paths, settings, true).and_then(|mut drainer| drainer.run(&mut Bar::new()));
    let _ = lock.release();
    result.map_err(|error| {
        let hint = match &error {
            DrainError::Observer(error) => error.remedy(),
            DrainError::Spool(_) | DrainError::Store(_) => String::from("run `cmem doctor`"),
        };
        failure(error, &hint)
    })
}

fn failure(error: impl std::fmt::Display, hint: &str) -> Failure {
    Failure::new(WHAT, error, hint)
}

/// The life of a detached drainer. It has nobody to talk to but the log.
fn background(args: &DrainArgs, paths: &Paths) {
    let sources = Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only());
    let (settings, _) = Settings::resolve_lenient(&sources);
    let mut lock = args.lock_fd.and_then(|fd| drain::inherited_lock(paths, fd));
    loop {
        let held = match lock.take() {
            Some(lock) => lock,
            None => match FileLock::try_acquire(&paths.drain_lock()) {
                Ok(Some(lock)) => lock,
                _ => return,
            },
        };
        let result = run_once(paths, &settings);
        let _ = held.release();
        // An event that came in while this drainer was leaving found the lock taken: look once more.
        match result {
            Ok(drainer) if drainer.has_work().unwrap_or(false) => {}
            Ok(_) => return,
            // Stays as it is until the user changes a setting, and every hook starts a drainer.
            Err(error @ DrainError::Observer(_)) => return log::error_once(paths, &error.to_string()),
            Err(error) => return log::error(paths, &error.to_string()),
        }
    }
}

fn run_once<'a>(paths: &'a Paths, settings: &'a Settings) -> Result<Drainer<'a>, DrainError> {
    let mut drainer = Drainer::new(paths, settings, false)?;
    drainer.run(&mut Silent)?;
    Ok(drainer)
}

struct Silent;

impl Progress for Silent {
    fn advanced(&mut self, _: u64, _: &dyn Fn() -> u64) {}
}

struct Bar {
    bar: ProgressBar,
    done: u64,
}

impl Bar {
    fn new() -> Self {
        let bar = if io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} events, {eta} left") {
            bar.set_style(style);
        }
        Self { bar, done: 0 }
    }
}

impl Progress for Bar {
    fn advanced(&mut self, events: u64, waiting: &dyn Fn() -> u64) {
        self.done += events;
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_length(self.done + waiting());
        self.bar.set_position(self.done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
