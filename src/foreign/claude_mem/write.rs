//! Storing the records, each once.

use std::collections::HashMap;

use super::rows::{Body, Record, Sessions};
use super::source::SourceError;
use super::{ImportError, Mapped, MappedBy, Outcome, Report, Tally, Wanted, places};
use crate::adopt;
use crate::config::Paths;
use crate::foreign::copy::{self, Folder};
use crate::index::{self, Bulk};
use crate::model::{Identity, Platform, Priority, Source, Status, Timestamp};
use crate::store::{
    Kept, NewPrompt, NewSummary, Place, Restored, State, Store, StoreError, Trace, Transaction,
};

/// Writes the records of one database into the memory.
pub(super) struct Writer {
    store: Store,
    since: Timestamp,
    /// Directories of projects, with what git says of their branches.
    directories: HashMap<String, (Identity, Trace)>,
    known: HashMap<String, Known>,
    report: Report,
    /// A dry run writes into a copy.
    copy: Option<Folder>,
}

/// A project there, as it is here.
struct Known {
    place: Place,
    by: MappedBy,
    rows: u64,
}

/// What becomes of one record.
enum Fate {
    New,
    Known,
    Same,
}

impl Writer {
    pub(super) fn new(paths: &Paths, wanted: &Wanted<'_>, sessions: &Sessions) -> Result<Self, ImportError> {
        let (store, copy) = if wanted.dry_run { open_copy(paths)? } else { (Store::open(paths)?, None) };
        let directories = places::of_projects(sessions).into_iter().map(|(project, identity)| {
            let trace = adopt::trace(&identity);
            (project, (identity, trace))
        });
        Ok(Self {
            store,
            since: wanted.since.unwrap_or(Timestamp(i64::MIN)),
            directories: directories.collect(),
            known: HashMap::new(),
            report: Report::default(),
            copy,
        })
    }

    /// Notes the sessions that are not known yet.
    pub(super) fn sessions(&mut self, sessions: &Sessions) -> Result<(), ImportError> {
        let transaction = self.store.begin()?;
        let tally = &mut self.report.sessions;
        for session in &sessions.all {
            tally.read += 1;
            if session.last_at < self.since {
                tally.older += 1;
                continue;
            }
            let place = place(&transaction, &self.directories, &mut self.known, &session.project)?;
            if transaction.knows_session(&session.session, place.project)? {
                tally.known += 1;
                continue;
            }
            let (first, last) = (session.started_at, session.last_at);
            transaction.session(
                &session.session,
                Platform::Claude,
                place.project,
                &nowhere(),
                first,
                last,
            )?;
            tally.new += 1;
        }
        Ok(transaction.commit()?)
    }

    /// Stores a chunk in one transaction.
    pub(super) fn take(&mut self, chunk: Vec<Outcome>) -> Result<(), ImportError> {
        let transaction = self.store.begin()?;
        let mut bulk = Bulk::new(&transaction);
        for (table, id, outcome) in chunk {
            let report = &mut self.report;
            let tally = match table {
                "observations" => &mut report.observations,
                "session_summaries" => &mut report.summaries,
                _ => &mut report.prompts,
            };
            tally.read += 1;
            match outcome {
                Err(reason) => {
                    tally.failed += 1;
                    report.problems.add(table, id, reason);
                }
                Ok(record) if record.created_at < self.since => tally.older += 1,
                Ok(record) => {
                    let mut here = place(&transaction, &self.directories, &mut self.known, &record.project)?;
                    if let Some(known) = self.known.get_mut(&record.project) {
                        known.rows += 1;
                    }
                    if let Some(into) = record.merged_into.as_deref().filter(|into| *into != record.project) {
                        let into = place(&transaction, &self.directories, &mut self.known, into)?;
                        here.merged_into = Some(into.project);
                    }
                    count(tally, &store(&transaction, &mut bulk, here, &record)?);
                }
            }
        }
        bulk.finish()?;
        Ok(transaction.commit()?)
    }

    /// What became of them all.
    pub(super) fn finish(mut self) -> Result<Report, ImportError> {
        let names: HashMap<i64, String> =
            self.store.projects()?.into_iter().map(|project| (project.id, project.name)).collect();
        let mapped = self.known.into_iter().map(|(name, known)| Mapped {
            project: names.get(&known.place.project).cloned().unwrap_or_else(|| name.clone()),
            name,
            by: known.by,
            rows: known.rows,
        });
        self.report.projects = mapped.collect();
        self.report.projects.sort_by(|a, b| a.name.cmp(&b.name));
        if self.copy.is_none() {
            // Searches work without it.
            let _ = index::refresh(&self.store);
            self.store.tidy()?;
        }
        Ok(self.report)
    }
}

/// The memory as it is now, in a folder of its own.
fn open_copy(paths: &Paths) -> Result<(Store, Option<Folder>), ImportError> {
    let of_file = |(path, source)| ImportError::Source(SourceError::File { path, source });
    let folder = Folder::new().map_err(of_file)?;
    let there = Paths::resolve(Some(folder.path()))
        .map_err(|error| of_file((folder.path().to_owned(), std::io::Error::other(error.to_string()))))?;
    if paths.memory().exists() && !copy::copy(&paths.memory(), &there.memory()).map_err(of_file)? {
        return Err(SourceError::Busy { path: paths.memory() }.into());
    }
    Ok((Store::open(&there)?, Some(folder)))
}

/// The place of a project of this name there.
fn place(
    transaction: &Transaction<'_>,
    directories: &HashMap<String, (Identity, Trace)>,
    known: &mut HashMap<String, Known>,
    name: &str,
) -> Result<Place, StoreError> {
    if let Some(known) = known.get(name) {
        return Ok(known.place);
    }
    let (place, by) = match directories.get(name) {
        Some((identity, trace)) => (transaction.place(identity, trace)?, MappedBy::Directory),
        None => match transaction.place_named(name)? {
            (place, true) => (place, MappedBy::New),
            (place, false) => (place, MappedBy::Name),
        },
    };
    known.insert(name.to_owned(), Known { place, by, rows: 0 });
    Ok(place)
}

/// Nothing is recorded of a branch or a commit.
fn nowhere() -> Identity {
    Identity {
        key: String::new(),
        name: String::new(),
        root: String::new(),
        worktree: None,
        branch: None,
        head: None,
        main_head: None,
        remote: None,
    }
}

fn count(tally: &mut Tally, fate: &Fate) {
    match fate {
        Fate::New => tally.new += 1,
        Fate::Known => tally.known += 1,
        Fate::Same => tally.same += 1,
    }
}

fn store(
    transaction: &Transaction<'_>,
    bulk: &mut Bulk<'_, '_>,
    place: Place,
    record: &Record,
) -> Result<Fate, StoreError> {
    let (session, created_at) = (record.session.as_str(), record.created_at);
    let kept = match &record.body {
        Body::Observation { draft, found_by, agent, model, tokens } => {
            let new = Restored {
                put_together: false,
                uid: &record.uid,
                place,
                draft,
                session,
                prompt_number: record.prompt_number,
                agent: agent.as_deref(),
                model,
                tokens_spent: *tokens,
                source: Source::Import,
                state: State {
                    priority: Priority::Normal,
                    pinned: false,
                    status: Status::Active,
                    expires_at: None,
                    hit_count: 0,
                    last_hit_at: None,
                    updated_at: created_at,
                },
                created_at,
            };
            bulk.restore(&new, found_by)?
        }
        Body::Summary(text) => {
            let new = NewSummary {
                place,
                session,
                prompt_number: record.prompt_number,
                text,
                model: "",
                created_at,
            };
            index::restore_summary(transaction, &record.uid, &new)?
        }
        Body::Prompt(text) => {
            let number = record.prompt_number.unwrap_or(1);
            let new = NewPrompt { place, session, number, text, created_at };
            index::restore_prompt(transaction, &record.uid, &new)?
        }
    };
    Ok(match kept {
        Kept::New(_) => Fate::New,
        Kept::SameUid(_) => Fate::Known,
        Kept::SameText(_) => Fate::Same,
    })
}
