//! `cmem drain`: process what waits, in the foreground, or as the detached child of a hook.

use std::thread;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use super::reader;
use crate::cli::args::DrainArgs;
use crate::cli::printer::Printer;
use crate::cli::progress;
use crate::config::{Paths, Settings, Sources};
use crate::drain::{self, DrainError, Drained, Drainer, Outlook, Progress};
use crate::embeddings;
use crate::error::Failure;
use crate::log;
use crate::model::Timestamp;
use crate::notices::Report;
use crate::spool::FileLock;

const WHAT: &str = "drain";

/// How long `--wait` waits for a drainer at work: longer than its longest life.
const WAIT_FOR_OTHER: Duration = Duration::from_secs(20 * 60);

/// A drainer in the background leaves after this time; the next hook starts another if there is work.
const LIFE: Duration = Duration::from_secs(15 * 60);
/// How long it goes on waiting without a success: for short failures, not for an outage.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two runs of which the first came to nothing.
const LEAST_WAIT: Duration = Duration::from_secs(1);

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
    if let Some(line) = embeddings(&drained.embeddings) {
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

/// What an embeddings endpoint did; `None` when it had nothing to do. A failure of it is none of draining.
fn embeddings(report: &embeddings::Report) -> Option<String> {
    let refused = match report.refused {
        0 => String::new(),
        refused => format!(", {refused} refused"),
    };
    let why = match &report.failure {
        None => "",
        Some(_) => "; the rest is put off: `cmem doctor` says why",
    };
    let silent = report.embedded + report.refused == 0 && report.failure.is_none();
    (!silent).then(|| format!("embeddings: {} observations{refused}{why}", report.embedded))
}

fn lock(args: &DrainArgs, paths: &Paths) -> Result<Option<FileLock>, Failure> {
    let patience = if args.wait { WAIT_FOR_OTHER } else { Duration::ZERO };
    FileLock::acquire_within(&paths.drain_lock(), patience)
        .map_err(|error| failure(error, "check the permissions of the data directory"))
}

fn drain(paths: &Paths, settings: &Settings, lock: FileLock) -> Result<Drained, Failure> {
    let result =
        Drainer::new(paths, settings, true).and_then(|mut drainer| drainer.run(None, &mut Bar::new()));
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
///
/// What passes by itself within a minute is waited for, so that the last turn of a session is in memory when the next
/// begins. Nobody is kept from draining meanwhile: a drainer that waits holds no lock but that of waiting.
fn background(args: &DrainArgs, paths: &Paths) {
    let end = Instant::now() + LIFE;
    let mut patience = Instant::now() + PATIENCE;
    let mut lock = args.lock_fd.and_then(|fd| drain::inherited_lock(paths, fd));
    let mut waits_for_all = None;
    loop {
        let held = match lock.take() {
            Some(lock) => lock,
            None => match FileLock::try_acquire(&paths.drain_lock()) {
                Ok(Some(lock)) => lock,
                _ => return,
            },
        };
        let (batches, outlook) = match run_once(paths, held, end) {
            Ok(done) => done,
            // Stays as it is until the user changes a setting, and every hook starts a drainer.
            Err(error @ DrainError::Observer(_)) => return log::error_once(paths, &error.to_string()),
            Err(error) => return log::error(paths, &error.to_string()),
        };
        if batches > 0 {
            patience = Instant::now() + PATIENCE;
        }
        let wait = match outlook {
            Outlook::Due if batches > 0 => Duration::ZERO,
            // Whatever it is, this run could do nothing about it.
            Outlook::Due => LEAST_WAIT,
            Outlook::At(at) => until(at).max(LEAST_WAIT),
            Outlook::Nothing => return,
        };
        if Instant::now() + wait > patience.min(end) {
            return;
        }
        if !wait.is_zero() {
            if waits_for_all.is_none() {
                // One that waits is enough.
                let Ok(Some(lock)) = FileLock::try_acquire(&paths.wait_lock()) else { return };
                waits_for_all = Some(lock);
            }
            thread::sleep(wait);
        }
    }
}

fn until(at: Timestamp) -> Duration {
    Duration::from_millis(at.since_ms(Timestamp::now()).max(0).unsigned_abs())
}

/// One run, the lock given up after it; how many batches were confirmed, and what is left.
fn run_once(paths: &Paths, held: FileLock, end: Instant) -> Result<(u64, Outlook), DrainError> {
    let sources = Sources::load(&paths.settings()).unwrap_or_else(|_| Sources::environment_only());
    let (settings, _) = Settings::resolve_lenient(&sources);
    let result = Drainer::new(paths, &settings, false)
        .and_then(|mut drainer| Ok((drainer.run(Some(end), &mut Silent)?, drainer)));
    let _ = held.release();
    let (drained, drainer) = result?;
    // An event that came in while this drainer was leaving found the lock taken: look once more.
    Ok((drained.batches, drainer.outlook()?))
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
        let bar = progress::bar(0, "events");
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
