//! Taking a folder of Markdown files in: what is new there, what was changed, what was deleted.

use std::path::Path;

use super::folder::{self, Names, Scan};
use super::manifest::{self, Manifest};
use super::merge::{Merger, state_of};
use super::{Report, TransferError, page};
use crate::index;
use crate::model::{Carried, CarriedObservation, Status, Timestamp};
use crate::privacy::Cleaner;
use crate::retrieve::{Filter, Selection};
use crate::retrieve::{RecordKind, Scope};
use crate::store::{Pointer, Revised, State, Store, StoreError, Transaction};

/// Files of one transaction: other writers wait no longer than for these.
const CHUNK: usize = 200;

/// Takes a folder in.
///
/// - A page that is not in memory is added; one whose record was forgotten here since is not.
/// - A changed page changes its record, and what that said is kept as a revision.
/// - A deleted page archives its record.
/// - Where both sides changed, what the page says waits for review, contesting the record; a record that was changed
///   here and whose page was deleted waits itself.
///
/// # Errors
/// [`TransferError`]; what was taken in before stays, and the same call completes it.
pub fn read_folder(
    store: &Store,
    dir: &Path,
    merger: Merger<'_>,
    cleaner: &Cleaner,
    dry_run: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, TransferError> {
    let manifest = Manifest::load(dir, &store.identity()?)?;
    let scan = Scan::of(dir)?;
    if scan.pages.is_empty() && scan.projects.is_empty() && manifest.entries.is_empty() {
        return Err(TransferError::Foreign(String::from("no file in it is a page of cmem")));
    }
    let mut work = Work { store, dir, cleaner, merger, manifest, names: Names::default() };
    let mut open = Some(store.begin()?);
    if let Some(tx) = &open {
        for project in &scan.projects {
            work.merger.take(tx, Carried::Project(project.clone()), || project.name.clone())?;
        }
        let all = Selection { filter: Filter::all(Scope::All), statuses: Vec::new() };
        work.names = scan.names(&store.carried_projects(&all.projects(store)?)?);
    }
    for chunk in scan.pages.chunks(CHUNK) {
        let tx = match open.take() {
            Some(tx) => tx,
            None => store.begin()?,
        };
        for (path, _) in chunk {
            work.file(&tx, path)?;
        }
        if dry_run {
            open = Some(tx)
        } else {
            tx.commit()?
        }
        progress(chunk.len() as u64);
    }
    let tx = match open.take() {
        Some(tx) => tx,
        None => store.begin()?,
    };
    let deleted: Vec<String> =
        work.manifest.entries.keys().filter(|uid| !scan.by_uid.contains_key(*uid)).cloned().collect();
    for uid in deleted {
        work.deleted(&tx, &uid)?;
    }
    work.merger.finish(&tx)?;
    if !dry_run {
        tx.commit()?;
        work.manifest.save(dir)?;
    }
    Ok(work.merger.report)
}

struct Work<'a> {
    store: &'a Store,
    dir: &'a Path,
    cleaner: &'a Cleaner,
    merger: Merger<'a>,
    manifest: Manifest,
    names: Names,
}

/// The page of a record as the memory would write it now.
struct Ours {
    id: i64,
    hash: String,
    /// The same, cleaned once more, as an export with `--redact` wrote it.
    redacted: String,
}

impl Work<'_> {
    fn file(&mut self, tx: &Transaction<'_>, path: &str) -> Result<(), TransferError> {
        let Some(text) = folder::load(self.dir, path)? else { return Ok(()) };
        let record = match page::read(&text) {
            Ok(record) => record,
            Err(why) => {
                self.merger.report.problem(path, why);
                return Ok(());
            }
        };
        let Some(uid) = folder::uid(&record).map(str::to_owned) else { return Ok(()) };
        let hash = manifest::hash(&text);
        let agreed = self.manifest.hash_of(&uid).map(str::to_owned);
        let unchanged_there = agreed.as_ref() == Some(&hash);
        let Some(ours) = self.ours(tx, &record)? else {
            if unchanged_there {
                // It was forgotten here; the next export takes the page away.
                return Ok(());
            }
            let failed = self.merger.report.failed;
            let record = match record {
                Carried::Observation(mut forgotten) if agreed.is_some() => {
                    forgotten.status = Status::Review;
                    self.merger.report.review += 1;
                    Carried::Observation(forgotten)
                }
                other => other,
            };
            self.merger.take(tx, record, || path.to_owned())?;
            if self.merger.report.failed == failed && !self.merger.is_equal_to_another(&uid) {
                self.manifest.agree(&uid, path, &text);
            }
            return Ok(());
        };
        if ours.hash == hash || ours.redacted == hash || unchanged_there {
            self.unchanged(&record);
            // Where only this side changed, the next export tells the folder.
            self.manifest.agree(&uid, path, &text);
            return Ok(());
        }
        let Carried::Observation(theirs) = record else {
            self.merger
                .report
                .problem(path, "only observations can be changed in their files; take the change back");
            return Ok(());
        };
        let unchanged_here = agreed.is_some_and(|agreed| [&ours.hash, &ours.redacted].contains(&&agreed));
        let done = if unchanged_here {
            self.edit(tx, ours.id, &theirs, path)?
        } else {
            self.conflict(tx, ours.id, *theirs, path)?
        };
        if done {
            self.manifest.agree(&uid, path, &text);
        }
        Ok(())
    }

    fn ours(&self, tx: &Transaction<'_>, theirs: &Carried) -> Result<Option<Ours>, TransferError> {
        let (kind, id) = match theirs {
            Carried::Observation(theirs) => (RecordKind::Observation, tx.observation_of_uid(&theirs.uid)?),
            Carried::Summary(theirs) => (RecordKind::Summary, tx.summary_of_uid(&theirs.uid)?),
            Carried::Prompt(theirs) => (RecordKind::Prompt, tx.prompt_of_uid(&theirs.uid)?),
            _ => return Ok(None),
        };
        let Some(id) = id else { return Ok(None) };
        let Some(mut record) = folder::record(self.store, kind, id)? else { return Ok(None) };
        let hash = |record: &Carried| manifest::hash(&self.names.page(record).unwrap_or_default());
        let plain = hash(&record);
        super::write::clean(&mut record, self.cleaner);
        Ok(Some(Ours { id, hash: plain, redacted: hash(&record) }))
    }

    fn unchanged(&mut self, record: &Carried) {
        match record {
            Carried::Observation(_) => self.merger.report.observations.unchanged += 1,
            Carried::Summary(_) => self.merger.report.summaries.unchanged += 1,
            Carried::Prompt(_) => self.merger.report.prompts.unchanged += 1,
            _ => {}
        }
    }

    /// The page alone was changed.
    fn edit(
        &mut self,
        tx: &Transaction<'_>,
        id: i64,
        theirs: &CarriedObservation,
        path: &str,
    ) -> Result<bool, StoreError> {
        let mut theirs = Carried::Observation(Box::new(theirs.clone()));
        super::write::clean(&mut theirs, self.cleaner);
        let Carried::Observation(theirs) = theirs else { return Ok(false) };
        if theirs.text.title.trim().is_empty() && theirs.text.narrative.trim().is_empty() {
            self.merger.report.problem(path, "it says nothing; delete the file to archive the record");
            return Ok(false);
        }
        if let Revised::SameAs(other) = index::revise_observation(tx, id, &theirs.text, Timestamp::now())? {
            self.merger.report.problem(path, format!("observation {other} says just that already"));
            return Ok(false);
        }
        self.restate(tx, id, &theirs)?;
        self.merger.report.observations.changed += 1;
        Ok(true)
    }

    /// Takes over what is not text.
    fn restate(
        &mut self,
        tx: &Transaction<'_>,
        id: i64,
        theirs: &CarriedObservation,
    ) -> Result<(), StoreError> {
        let ours = tx.state(id)?;
        tx.set_state(
            id,
            State {
                hit_count: ours.hit_count,
                last_hit_at: ours.last_hit_at,
                updated_at: ours.updated_at,
                ..state_of(theirs)
            },
        )?;
        let of = |pointer: Pointer| move |to| (pointer, to);
        let wishes = theirs.superseded_by.iter().map(of(Pointer::SupersededBy));
        for (pointer, to) in wishes.chain(theirs.contests.iter().map(of(Pointer::Contests))) {
            if let Some(to) = tx.observation_of_uid(to)? {
                tx.point_to(pointer, id, to, true)?;
            }
        }
        Ok(())
    }

    /// Both were changed, or nobody knows which was: what the page says waits for a decision.
    fn conflict(
        &mut self,
        tx: &Transaction<'_>,
        id: i64,
        mut theirs: CarriedObservation,
        path: &str,
    ) -> Result<bool, StoreError> {
        let said = tx.texts_of(id)?;
        if said == theirs.text {
            // Only the standing differs; a pin that was set here stays.
            theirs.pinned |= tx.state(id)?.pinned;
            self.restate(tx, id, &theirs)?;
            self.merger.report.observations.changed += 1;
            return Ok(true);
        }
        if tx.revisions(id)?.iter().any(|old| old.draft == theirs.text) {
            self.merger.report.observations.unchanged += 1;
            return Ok(true);
        }
        let (of, page) = (theirs.uid.clone(), page::write(&Carried::Observation(Box::new(theirs.clone()))));
        theirs.uid = format!("{}.{}", &of, &manifest::hash(&page.unwrap_or_default())[..16]);
        theirs.status = Status::Review;
        theirs.contests = vec![of];
        theirs.superseded_by = None;
        theirs.pinned = false;
        theirs.updated_at = Some(Timestamp::now());
        let (before, failed) = (self.merger.report.observations, self.merger.report.failed);
        self.merger.take(tx, Carried::Observation(Box::new(theirs)), || path.to_owned())?;
        let report = &mut self.merger.report;
        report.review += report.observations.new - before.new;
        Ok(report.failed == failed)
    }

    fn deleted(&mut self, tx: &Transaction<'_>, uid: &str) -> Result<(), TransferError> {
        let agreed = self.manifest.entries.remove(uid);
        let Some(id) = tx.observation_of_uid(uid)? else { return Ok(()) };
        let state = tx.state(id)?;
        if state.pinned || matches!(state.status, Status::Archived | Status::Review) {
            return Ok(());
        }
        let Some(record) = folder::record(self.store, RecordKind::Observation, id)? else { return Ok(()) };
        let ours = self.ours(tx, &record)?;
        let unchanged_here = agreed
            .zip(ours)
            .is_some_and(|(agreed, ours)| agreed.hash == ours.hash || agreed.hash == ours.redacted);
        if unchanged_here {
            tx.set_status(id, Status::Archived)?;
            self.merger.report.archived += 1;
        } else {
            tx.set_status(id, Status::Review)?;
            self.merger.report.review += 1;
        }
        Ok(())
    }
}
