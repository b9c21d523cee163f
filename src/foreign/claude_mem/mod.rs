//! The database of claude-mem, of any schema from 4 on, with its settings and the user's own modes.

mod modes;
mod places;
mod rows;
mod settings;
mod source;
mod write;

use std::mem;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use serde::Serialize;

pub use modes::{ModeState, TakenMode, take_modes};
pub use settings::{SettingState, TakenSetting, read_settings};
pub use source::{Snapshot, SourceError, locate};

use self::rows::{Reader, Record, Refused, Sessions, Sink};
use self::write::Writer;
use super::{Problems, Progress};
use crate::config::Paths;
use crate::model::Timestamp;
use crate::privacy::Cleaner;
use crate::store::StoreError;

pub(super) use self::rows::uid;

/// Rows that one transaction stores.
const CHUNK: usize = 1_000;
/// Chunks that may wait to be stored.
const AHEAD: usize = 4;

/// The rows could not be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The other database fails.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The memory fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The user's own patterns of credentials.
    pub redact_patterns: &'a [String],
    /// Nothing from before.
    pub since: Option<Timestamp>,
    /// Only look.
    pub dry_run: bool,
}

/// What became of the rows of one kind. `read` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Rows there.
    pub read: u64,
    /// Stored now, or what would be.
    pub new: u64,
    /// Taken over before.
    pub known: u64,
    /// Another row of the project says just that.
    pub same: u64,
    /// From before `--since`.
    pub older: u64,
    /// Not taken over: see the problems.
    pub failed: u64,
}

/// One project there, and which it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// Its name there.
    pub name: String,
    /// Its name here.
    pub project: String,
    /// Why.
    pub by: MappedBy,
    /// Rows of it that were read.
    pub rows: u64,
}

/// What tells that two projects are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MappedBy {
    /// The directory of one of its sessions.
    Directory,
    /// Its name.
    Name,
    /// Nothing: it is made.
    New,
}

/// What became of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Report {
    pub observations: Tally,
    pub summaries: Tally,
    pub prompts: Tally,
    pub sessions: Tally,
    pub projects: Vec<Mapped>,
    pub problems: Problems,
}

impl Report {
    /// Rows stored now.
    pub fn new_rows(&self) -> u64 {
        [self.observations, self.summaries, self.prompts].iter().map(|tally| tally.new).sum()
    }
}

/// Takes the rows of a database over. What was stored when it fails stays, and the next run goes on after it.
///
/// # Errors
/// [`ImportError`].
pub fn import(
    paths: &Paths,
    snapshot: Snapshot,
    wanted: &Wanted<'_>,
    progress: &mut dyn Progress,
) -> Result<Report, ImportError> {
    let fail = |error| source::classify(snapshot.path(), error);
    let cleaner = Cleaner::new(wanted.redact_patterns);
    let sessions = Sessions::read(&snapshot.conn, &cleaner).map_err(fail)?;
    progress.begin(Reader::count(&snapshot.conn).map_err(fail)?, "rows");
    let mut writer = Writer::new(paths, wanted, &sessions)?;
    writer.sessions(&sessions)?;

    let snapshot = thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        let sessions = &sessions;
        let reading = scope.spawn(move || {
            let cleaner = Cleaner::new(wanted.redact_patterns);
            let mut batches = Batches { sender, chunk: Vec::new() };
            let read = Reader::new(&snapshot.conn, &cleaner, sessions)
                .and_then(|reader| reader.read(&mut batches))
                .map_err(|error| source::classify(snapshot.path(), error));
            batches.send();
            read.map(|()| snapshot)
        });
        let mut position = 0;
        for chunk in receiver {
            position += chunk.len() as u64;
            writer.take(chunk)?;
            progress.at(position);
        }
        match reading.join() {
            Ok(read) => Ok::<_, ImportError>(read?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    let report = writer.finish()?;
    snapshot.confirm()?;
    Ok(report)
}

/// What became of a row.
type Outcome = (&'static str, i64, Result<Record, Refused>);

/// Hands rows over in chunks.
struct Batches {
    sender: SyncSender<Vec<Outcome>>,
    chunk: Vec<Outcome>,
}

impl Batches {
    /// Tells whether somebody still wants them.
    fn send(&mut self) -> bool {
        self.chunk.is_empty() || self.sender.send(mem::take(&mut self.chunk)).is_ok()
    }
}

impl Sink for Batches {
    fn take(&mut self, table: &'static str, id: i64, outcome: Result<Record, Refused>) -> bool {
        self.chunk.push((table, id, outcome));
        self.chunk.len() < CHUNK || self.send()
    }
}
