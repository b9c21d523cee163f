//! One record from elsewhere and what is here: what is kept, what is taken over.

use std::collections::HashMap;

use super::places::Places;
use super::report::{Report, Tally};
use crate::index;
use crate::model::{
    BranchName, Carried, CarriedObservation, CarriedPrompt, CarriedSummary, Identity, Priority, Status,
};
use crate::privacy::Cleaner;
use crate::store::{
    Kept, NewPrompt, NewSummary, Place, Pointer, Restored, Revised, State, StoreError, Transaction,
};

/// Longest uid.
const MAX_UID: usize = 100;

/// Takes records in, one by one.
#[derive(Debug)]
pub struct Merger<'a> {
    cleaner: &'a Cleaner,
    places: Places,
    /// Uids elsewhere of observations that are here under another.
    equal: HashMap<String, i64>,
    waiting: Vec<Wish>,
    pub(super) report: Report,
}

/// A pointer to an observation that has not come yet.
#[derive(Debug)]
struct Wish {
    pointer: Pointer,
    from: i64,
    to: String,
    anew: bool,
}

/// Why a record is not taken in.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    /// There is something wrong with it.
    #[error("{0}")]
    Record(String),
    /// There is something wrong with the memory.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'a> Merger<'a> {
    /// Texts are cleaned of credentials as everything is that is stored. `here` is where the user stands.
    pub fn new(cleaner: &'a Cleaner, here: Option<Identity>) -> Self {
        Self {
            cleaner,
            places: Places::new(here),
            equal: HashMap::new(),
            waiting: Vec::new(),
            report: Report::default(),
        }
    }

    /// Takes one record in, or notes at which place what is wrong with it; nothing of it is stored then.
    pub(super) fn take(
        &mut self,
        tx: &Transaction<'_>,
        record: Carried,
        at: impl FnOnce() -> String,
    ) -> Result<(), StoreError> {
        let what = record.what();
        let outcome = tx.attempt(|| self.apply(tx, record));
        self.places.settle(outcome.is_ok());
        match outcome {
            Ok(()) => {}
            Err(Refusal::Record(why)) => self.report.problem(at(), format!("{what}: {why}")),
            Err(Refusal::Store(error)) if error.is_about_a_value() => {
                self.report.problem(at(), format!("{what}: {error}"));
            }
            Err(Refusal::Store(error)) => return Err(error),
        }
        Ok(())
    }

    /// Whether an observation is here under another uid only.
    pub(super) fn is_equal_to_another(&self, uid: &str) -> bool {
        self.equal.contains_key(uid)
    }

    /// What was waited for is here now, or is not coming.
    pub(super) fn finish(&mut self, tx: &Transaction<'_>) -> Result<(), StoreError> {
        for wish in std::mem::take(&mut self.waiting) {
            match self.counterpart(tx, &wish.to)? {
                Some(to) => {
                    tx.point_to(wish.pointer, wish.from, to, wish.anew)?;
                }
                None => self.report.unresolved += 1,
            }
        }
        self.report.projects = self.places.made();
        Ok(())
    }

    fn apply(&mut self, tx: &Transaction<'_>, mut record: Carried) -> Result<(), Refusal> {
        for text in record.texts_mut() {
            *text = self.cleaner.redact(text);
        }
        match &record {
            Carried::Project(project) => {
                named(&project.name, "name")?;
                self.places.take(tx, project)?;
            }
            Carried::Branch(branch) => {
                let project = self.places.named(tx, named(&branch.project, "project")?)?;
                let into =
                    branch.adopted_into.as_deref().map(|name| self.places.named(tx, name)).transpose()?;
                tx.restore_branch(project, branch, into)?;
            }
            Carried::Session(session) => {
                let project = self.places.named(tx, named(&session.project, "project")?)?;
                tx.restore_session(project, session)?;
            }
            Carried::Observation(observation) => self.observation(tx, observation)?,
            Carried::Summary(summary) => self.summary(tx, summary)?,
            Carried::Prompt(prompt) => self.prompt(tx, prompt)?,
        }
        Ok(())
    }

    fn place(
        &mut self,
        tx: &Transaction<'_>,
        project: &str,
        branch: Option<&BranchName>,
        merged_into: Option<&str>,
    ) -> Result<Place, Refusal> {
        let project = self.places.named(tx, named(project, "project")?)?;
        let into = merged_into.map(|name| self.places.named(tx, name)).transpose()?;
        let branch = branch.map(|branch| tx.branch_named(project, branch)).transpose()?;
        Ok(Place {
            project,
            branch: branch.map(|(id, _)| id),
            merged_into: into.or(branch.and_then(|(_, into)| into)).filter(|into| *into != project),
        })
    }

    fn observation(&mut self, tx: &Transaction<'_>, theirs: &CarriedObservation) -> Result<(), Refusal> {
        uid(&theirs.uid)?;
        named(&theirs.text.r#type, "type")?;
        if theirs.text.title.trim().is_empty() && theirs.text.narrative.trim().is_empty() {
            return Err(Refusal::Record(String::from("it has neither `title` nor `narrative`")));
        }
        let place = self.place(tx, &theirs.project, theirs.branch.as_ref(), theirs.merged_into.as_deref())?;
        let state = state_of(theirs);
        let kept = index::restore_observation(
            tx,
            &Restored {
                uid: &theirs.uid,
                place,
                draft: &theirs.text,
                session: &theirs.session,
                prompt_number: theirs.prompt_number,
                agent: theirs.agent.as_deref(),
                model: &theirs.model,
                tokens_spent: theirs.tokens_spent,
                source: theirs.source,
                put_together: !theirs.sources.is_empty(),
                state,
                created_at: theirs.created_at,
            },
        )?;
        let tally = &mut self.report.observations;
        match kept {
            Kept::New(id) => {
                tally.new += 1;
                for revision in &theirs.revisions {
                    tx.insert_revision(id, &revision.draft, revision.until)?;
                }
                self.point(tx, id, theirs, true)?;
            }
            Kept::SameText(id) => {
                tally.unchanged += 1;
                self.report.same_text += 1;
                self.equal.insert(theirs.uid.clone(), id);
                tx.add_revision(id, &theirs.text, state.updated_at)?;
                let ours = tx.state(id)?;
                let used = State {
                    hit_count: ours.hit_count.max(state.hit_count),
                    last_hit_at: ours.last_hit_at.max(state.last_hit_at),
                    ..ours
                };
                if used != ours {
                    tx.set_state(id, used)?;
                }
            }
            Kept::SameUid(id) => {
                let ours = tx.state(id)?;
                let mut changed = merge_texts(tx, id, theirs, ours)?;
                let newer = state.updated_at > ours.updated_at;
                let merged = merge_states(ours, state);
                if merged != ours {
                    tx.set_state(id, merged)?;
                }
                if let Some(into) = place.merged_into {
                    changed |= tx.merge_loose(id, into)?;
                }
                if merged.status == state.status {
                    changed |= self.point(tx, id, theirs, newer)?;
                }
                changed |= tx.state(id)? != ours;
                count(&mut self.report.observations, changed);
            }
        }
        Ok(())
    }

    fn summary(&mut self, tx: &Transaction<'_>, theirs: &CarriedSummary) -> Result<(), Refusal> {
        uid(&theirs.uid)?;
        let new = NewSummary {
            place: self.place(tx, &theirs.project, theirs.branch.as_ref(), theirs.merged_into.as_deref())?,
            session: &theirs.session,
            prompt_number: theirs.prompt_number,
            text: &theirs.text,
            model: &theirs.model,
            created_at: theirs.created_at,
        };
        match index::restore_summary(tx, &theirs.uid, &new)? {
            Kept::New(_) => self.report.summaries.new += 1,
            _ => self.report.summaries.unchanged += 1,
        }
        Ok(())
    }

    fn prompt(&mut self, tx: &Transaction<'_>, theirs: &CarriedPrompt) -> Result<(), Refusal> {
        uid(&theirs.uid)?;
        let new = NewPrompt {
            place: self.place(tx, &theirs.project, theirs.branch.as_ref(), theirs.merged_into.as_deref())?,
            session: &theirs.session,
            number: theirs.number,
            text: &theirs.text,
            created_at: theirs.created_at,
        };
        match index::restore_prompt(tx, &theirs.uid, &new)? {
            Kept::New(_) => self.report.prompts.new += 1,
            _ => self.report.prompts.unchanged += 1,
        }
        Ok(())
    }

    /// Sets the pointers of an observation, those to what has not come yet later; tells whether one changed.
    fn point(
        &mut self,
        tx: &Transaction<'_>,
        from: i64,
        theirs: &CarriedObservation,
        anew: bool,
    ) -> Result<bool, StoreError> {
        let of = |pointer: Pointer| move |to: &String| (pointer, to.clone());
        let wishes = (theirs.superseded_by.iter().map(of(Pointer::SupersededBy)))
            .chain(theirs.contests.iter().map(of(Pointer::Contests)))
            .chain(theirs.sources.iter().map(of(Pointer::Source)));
        let mut changed = false;
        for (pointer, to) in wishes {
            match self.counterpart(tx, &to)? {
                Some(to) => changed |= tx.point_to(pointer, from, to, anew)?,
                None => self.waiting.push(Wish { pointer, from, to, anew }),
            }
        }
        Ok(changed)
    }

    fn counterpart(&self, tx: &Transaction<'_>, uid: &str) -> Result<Option<i64>, StoreError> {
        match self.equal.get(uid) {
            Some(id) => Ok(Some(*id)),
            None => tx.observation_of_uid(uid),
        }
    }
}

/// The standing that an observation has elsewhere.
pub(super) fn state_of(theirs: &CarriedObservation) -> State {
    State {
        priority: theirs.priority,
        pinned: theirs.pinned,
        status: theirs.status,
        expires_at: theirs.expires_at,
        hit_count: theirs.hit_count.max(0),
        last_hit_at: theirs.last_hit_at,
        updated_at: theirs.updated_at.unwrap_or(theirs.created_at),
    }
}

/// The newer text holds, and the other one is kept as a revision; what is pinned here keeps its text.
fn merge_texts(
    tx: &Transaction<'_>,
    id: i64,
    theirs: &CarriedObservation,
    ours: State,
) -> Result<bool, StoreError> {
    let at = state_of(theirs).updated_at;
    let mut changed = false;
    for revision in &theirs.revisions {
        changed |= tx.add_revision(id, &revision.draft, revision.until)?;
    }
    if at > ours.updated_at && !ours.pinned {
        match index::revise_observation(tx, id, &theirs.text, at)? {
            Revised::Changed => return Ok(true),
            Revised::Unchanged => return Ok(changed),
            // Another one says so here: then it is what this one said elsewhere.
            Revised::SameAs(_) => {}
        }
    }
    Ok(tx.add_revision(id, &theirs.text, at)? || changed)
}

/// What was used more was used more; otherwise the newer standing holds. Of two from the same time the decisions hold
/// that one has and the other has not. A pin that was set here stays, and so does what is pinned here.
fn merge_states(ours: State, theirs: State) -> State {
    let used = State {
        hit_count: ours.hit_count.max(theirs.hit_count),
        last_hit_at: ours.last_hit_at.max(theirs.last_hit_at),
        ..ours
    };
    let retires = theirs.status != Status::Active;
    if theirs.updated_at > ours.updated_at {
        State {
            priority: theirs.priority,
            pinned: ours.pinned || theirs.pinned,
            status: if ours.pinned && retires { ours.status } else { theirs.status },
            expires_at: theirs.expires_at,
            updated_at: theirs.updated_at,
            ..used
        }
    } else if theirs.updated_at == ours.updated_at {
        State {
            priority: if ours.priority == Priority::Normal { theirs.priority } else { ours.priority },
            pinned: ours.pinned || theirs.pinned,
            status: match (ours.status, theirs.status) {
                (Status::Review, decided) => decided,
                (Status::Active, Status::Superseded | Status::Archived) if !ours.pinned => theirs.status,
                (status, _) => status,
            },
            expires_at: ours.expires_at.or(theirs.expires_at),
            ..used
        }
    } else {
        used
    }
}

fn count(tally: &mut Tally, changed: bool) {
    match changed {
        true => tally.changed += 1,
        false => tally.unchanged += 1,
    }
}

fn named<'n>(name: &'n str, field: &str) -> Result<&'n str, Refusal> {
    if name.trim().is_empty() {
        return Err(Refusal::Record(format!("its `{field}` is empty")));
    }
    Ok(name)
}

/// Names of files and lines of manifests are made of it.
fn uid(text: &str) -> Result<(), Refusal> {
    let fine = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if text.is_empty() || text.len() > MAX_UID || !text.chars().all(fine) {
        return Err(Refusal::Record(format!(
            "`uid` must be 1 to {MAX_UID} letters, digits, `-`, `_`, `.` or `:`"
        )));
    }
    Ok(())
}
