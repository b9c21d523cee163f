//! What Claude Code keeps itself: transcripts of its sessions, which go the way of events, and notes.

mod estimate;
mod folders;
mod notes;
mod turns;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;

pub use estimate::{Cost, Estimate};
pub use folders::Folders;
pub use notes::{NoteTally, take_notes};

pub(super) use folders::first_cwd;

use self::turns::{Sent, Turn, Turns};
use super::{Problems, Progress};
use crate::config::{Paths, Settings};
use crate::hook::Past;
use crate::model::{EventKind, Timestamp};
use crate::spool::{Arrival, Spool, SpoolError, Taken};
use crate::store::{Store, StoreError};

/// A prompt that a hook has seen was written to the transcript at almost the same time.
const CLOSE_MS: i64 = 10_000;
/// A turn that seems not to be over is, when nothing was written for so long.
const QUIET: Duration = Duration::from_secs(30 * 60);

/// Why transcripts cannot be taken in.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// The spool fails.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The memory fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What became of the turns of all transcripts, or would.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TurnTally {
    /// Transcripts there.
    pub transcripts: u64,
    /// Transcripts of which something is new.
    pub fresh_transcripts: u64,
    /// Turns taken in now.
    pub new: u64,
    /// Turns that a hook has captured, that were taken in before, or that a later transcript repeats.
    pub known: u64,
    /// Turns from before `--since`.
    pub older: u64,
    /// Turns that are not over yet.
    pub open: u64,
    /// Events in the new ones.
    pub events: u64,
    /// Events in the new ones that the rules for hooks leave out.
    pub left_out: u64,
    /// What cannot be read.
    pub problems: Problems,
}

/// Is handed the new turns, in the order of each transcript.
pub trait Sink {
    /// What a turn in this file comes to, and how much of the file is done with it.
    ///
    /// # Errors
    /// Ends the walk.
    fn take(&mut self, path: &Path, taken: &Taken, arrivals: &[Arrival]) -> Result<(), TranscriptError>;
}

/// Takes turns into the spool.
impl Sink for Spool {
    fn take(&mut self, path: &Path, taken: &Taken, arrivals: &[Arrival]) -> Result<(), TranscriptError> {
        Ok(Self::take(self, &path.to_string_lossy(), taken, arrivals)?)
    }
}

/// Walks through the transcripts and hands over what is not known yet.
///
/// # Errors
/// [`TranscriptError`] when a database fails; a file that cannot be read is one of the problems.
pub fn walk(
    folders: &Folders,
    paths: &Paths,
    settings: &Settings,
    since: Option<Timestamp>,
    sink: &mut dyn Sink,
    progress: &mut dyn Progress,
) -> Result<TurnTally, TranscriptError> {
    let mut walk = Walk {
        spool: or_missing(Spool::open_for_reading(paths), SpoolError::is_missing)?,
        store: or_missing(Store::open_read_only(paths), |error| matches!(error, StoreError::Missing { .. }))?,
        past: Past::new(settings),
        since: since.unwrap_or(Timestamp(i64::MIN)),
        seen: HashSet::new(),
        tally: TurnTally::default(),
    };
    // A session that goes on in another file is read in the first.
    let mut transcripts: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for path in folders.transcripts() {
        match fs::metadata(&path).and_then(|meta| Ok((meta.modified()?, meta.len()))) {
            Ok((modified, length)) => transcripts.push((modified, length, path)),
            Err(error) => walk.tally.problems.add(&path.to_string_lossy(), 0, &error.to_string()),
        }
    }
    transcripts.sort();
    progress.begin(transcripts.iter().map(|(_, length, _)| length / KIB).sum(), "KiB of transcripts");
    let mut done = 0;
    for (modified, length, path) in transcripts {
        walk.tally.transcripts += 1;
        let file = Transcript { length, quiet: modified.elapsed().is_ok_and(|age| age >= QUIET), path };
        match walk.file(&file, sink, &mut |at| progress.at((done + at) / KIB)) {
            Ok(()) => {}
            Err(Stopped::Here(error)) => {
                walk.tally.problems.add(&file.path.to_string_lossy(), 0, &error.to_string());
            }
            Err(Stopped::All(error)) => return Err(error),
        }
        done += length;
        progress.at(done / KIB);
    }
    Ok(walk.tally)
}

const KIB: u64 = 1024;

fn or_missing<T, E>(opened: Result<T, E>, is_missing: impl Fn(&E) -> bool) -> Result<Option<T>, E> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

struct Transcript {
    path: PathBuf,
    length: u64,
    /// Nothing was written for a while.
    quiet: bool,
}

/// What ends the reading of a file.
enum Stopped {
    /// It cannot be read; others can.
    Here(io::Error),
    /// Nothing can go on.
    All(TranscriptError),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Here(error)
    }
}

impl From<TranscriptError> for Stopped {
    fn from(error: TranscriptError) -> Self {
        Self::All(error)
    }
}

struct Walk<'a> {
    spool: Option<Spool>,
    store: Option<Store>,
    past: Past<'a>,
    since: Timestamp,
    /// First lines of the turns so far.
    seen: HashSet<String>,
    tally: TurnTally,
}

impl Walk<'_> {
    fn file(
        &mut self,
        file: &Transcript,
        sink: &mut dyn Sink,
        at: &mut dyn FnMut(u64),
    ) -> Result<(), Stopped> {
        let name = file.path.to_string_lossy();
        // A file that is shorter than it was is another one.
        let from = self.taken(&name)?.filter(|bytes| *bytes <= file.length).unwrap_or(0);
        if from == file.length {
            return Ok(());
        }
        let mut turns = Turns::open(&file.path, from)?;
        let mut next = turns.next()?;
        let Some(session) = next.as_ref().map(|turn| turn.session.clone()) else { return Ok(()) };
        let prompted = self.prompts_of(&session)?;
        let aside = turns::of_subagents(&file.path, &session);
        let (mut written, mut upto, mut whole, mut fresh) = (from, from, true, false);
        while let Some(turn) = next {
            next = turns.next()?;
            at(turn.end);
            if !turn.over && !file.quiet {
                self.tally.open += 1;
                break;
            }
            if turn.begins < self.since {
                self.tally.older += u64::from(!turn.sent.is_empty());
                whole = false;
                continue;
            }
            if whole {
                upto = turn.end;
            }
            if turn.sent.is_empty() {
                continue;
            }
            let repeats = !turn.first_line.is_empty() && !self.seen.insert(turn.first_line.clone());
            let end = next.as_ref().map_or(Timestamp(i64::MAX), |next| next.begins);
            let arrivals = self.arrivals(turn, &aside, end);
            if repeats || is_known(&arrivals, &prompted) {
                self.tally.known += 1;
                continue;
            }
            let events = arrivals.iter().filter(|arrival| matches!(arrival, Arrival::Event { .. })).count();
            self.tally.events += events as u64;
            self.tally.left_out += (arrivals.len() - events) as u64;
            sink.take(&file.path, &Taken { bytes: upto, digest: String::new() }, &arrivals)?;
            written = upto;
            fresh = true;
            self.tally.new += 1;
        }
        if upto > written {
            sink.take(&file.path, &Taken { bytes: upto, digest: String::new() }, &[])?;
        }
        self.tally.fresh_transcripts += u64::from(fresh);
        for line in &turns.bad_lines {
            self.tally.problems.add(&name, *line, "the line is no JSON");
        }
        Ok(())
    }

    fn taken(&self, name: &str) -> Result<Option<u64>, TranscriptError> {
        let Some(spool) = &self.spool else { return Ok(None) };
        Ok(spool.taken(name)?.map(|taken| taken.bytes))
    }

    fn prompts_of(&self, session: &str) -> Result<Vec<(Timestamp, String)>, TranscriptError> {
        let mut prompts = match &self.store {
            Some(store) => store.prompts_of(session)?,
            None => Vec::new(),
        };
        if let Some(spool) = &self.spool {
            prompts.extend(spool.prompts_of(session)?);
        }
        Ok(prompts)
    }

    fn arrivals(&mut self, turn: Turn, aside: &[Sent], end: Timestamp) -> Vec<Arrival> {
        let within = |sent: &&Sent| sent.at >= turn.begins && sent.at < end;
        let mut sent: Vec<Sent> = aside.iter().filter(within).cloned().collect();
        sent.extend(turn.sent);
        sent.sort_by_key(|sent| (sent.at, !is_prompt(sent)));
        let mut private = false;
        let arrival =
            |Sent { at, branch, payload }| self.past.arrival(payload, at, branch.as_deref(), &mut private);
        sent.into_iter().filter_map(arrival).collect()
    }
}

/// Whether the prompt among these is one of those.
fn is_known(arrivals: &[Arrival], prompts: &[(Timestamp, String)]) -> bool {
    arrivals.iter().any(|arrival| match arrival {
        Arrival::Event { event, .. } => match &event.kind {
            EventKind::Prompt { text, .. } => {
                prompts.iter().any(|(at, known)| known == text && at.since_ms(event.at).abs() <= CLOSE_MS)
            }
            _ => false,
        },
        Arrival::Skipped { .. } => false,
    })
}

fn is_prompt(sent: &Sent) -> bool {
    sent.payload["hook_event_name"] == "UserPromptSubmit"
}

/// Whether an observer has to look at it.
fn is_evidence(arrival: &Arrival) -> bool {
    matches!(arrival, Arrival::Event { event, .. } if event.kind.is_evidence())
}
