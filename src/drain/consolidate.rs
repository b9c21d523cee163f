//! Memories put together by the observer that is at work, under the same limits as everything it is asked.

use uuid::Uuid;

use super::lineup::{Lineup, Post};
use super::policy::{History, consequence, failure_class};
use super::record::{Memory, redact_draft};
use super::run::DrainError;
use crate::config::{Paths, Settings};
use crate::index;
use crate::model::{Draft, Observation, Priority, Source, Timestamp};
use crate::observer::{self, Answer, Consolidation, Usage, Verdict, union};
use crate::privacy::Cleaner;
use crate::spool::{LastError, Spool};
use crate::store::{NewObservation, Standing, Store, StoreError};

/// The embedded observer, as the model of what it wrote: the words are those of the sources.
const BUILTIN: &str = "builtin";

/// What became of some memories that were to be put together.
#[derive(Debug)]
pub enum Consolidated {
    /// The id of what they are now.
    As(i64),
    /// One of them was changed, put away or forgotten meanwhile, or they are seen in different projects.
    Moved,
    /// The observer cannot do it for now.
    Failed(LastError),
}

/// Asks the observer that is at work. The user asked for it, as for `cmem drain`.
pub struct Consolidator<'a> {
    spool: Spool,
    memory: Memory,
    lineup: Lineup<'a>,
    cleaner: Cleaner,
}

impl<'a> Consolidator<'a> {
    /// Sets the observer up. Sends nothing.
    ///
    /// # Errors
    /// [`DrainError`] when a database or the mode cannot be used.
    pub fn new(paths: &'a Paths, settings: &'a Settings) -> Result<Self, DrainError> {
        let spool = Spool::open(paths)?;
        let lineup = Lineup::new(paths, settings, &spool, true)?;
        let cleaner = Cleaner::new(&settings.redact_patterns);
        Ok(Self { memory: Memory::open(paths)?, spool, lineup, cleaner })
    }

    /// Puts memories together, oldest first, and puts them away.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub fn consolidate(&self, project: &str, sources: &[Observation]) -> Result<Consolidated, DrainError> {
        let post = match self.lineup.at_work(&self.spool, &self.memory)? {
            Ok(post) => post,
            Err(obstacle) => return Ok(Consolidated::Failed(obstacle)),
        };
        let memories = sources.iter().map(draft_of).collect();
        let mut asked = Consolidation { project: project.to_owned(), memories, strict: false };
        let mut answer = self.call(&post, &asked)?;
        if matches!(answer.verdict, Verdict::Malformed { .. }) {
            asked.strict = true;
            let second = self.call(&post, &asked)?;
            answer = Answer { usage: answer.usage + second.usage, ..second };
        }
        if let Some(class) = failure_class(&answer.verdict) {
            return self.fail(&post, &answer.verdict, class).map(Consolidated::Failed);
        }
        self.lineup.resume(&post, &self.spool)?;
        let Answer { verdict: Verdict::Stored(reply), usage, model } = answer else {
            return Ok(Consolidated::Moved);
        };
        let draft = reply.drafts.into_iter().next().unwrap_or_default();
        let draft = redact_draft(draft, &self.cleaner);
        Ok(record(self.memory.store(), sources, &draft, &model, usage)?)
    }

    fn call(&self, post: &Post, asked: &Consolidation) -> Result<Answer, DrainError> {
        let answer = post.observer.consolidate(asked);
        let batch = format!("compact-{}", Uuid::now_v7().simple());
        self.memory.count_call(&batch, post.observer.provider(), answer.verdict.class(), &answer)?;
        Ok(answer)
    }

    /// A provider that must not be called now is not called by the drainer either.
    fn fail(&self, post: &Post, verdict: &Verdict, class: &'static str) -> Result<LastError, DrainError> {
        let now = Timestamp::now();
        let failures = self.lineup.failures(post).saturating_add(1);
        let history = History { size: 1, attempts: 0, failed: 0, others_pass: false };
        let outcome = consequence(verdict, class, history, failures, now);
        let failure = LastError {
            at: now,
            class: class.to_owned(),
            message: self.cleaner.redact(&outcome.rows.reason),
            remedy: observer::remedy(verdict, &post.settings),
        };
        // That one request is refused for good says nothing of the others.
        if let Some(until) = outcome.stop.filter(|_| !matches!(verdict, Verdict::Unrecoverable { .. })) {
            let asked = matches!(verdict, Verdict::RateLimited { retry_after: Some(_) });
            self.lineup.pause(post, &self.spool, &failure, (until, asked), failures)?;
        }
        Ok(failure)
    }
}

/// Puts memories together that say the same word by word, oldest first, without asking anybody.
///
/// # Errors
/// [`StoreError`].
pub fn without_observer(store: &Store, sources: &[Observation]) -> Result<Consolidated, StoreError> {
    let memories: Vec<Draft> = sources.iter().map(draft_of).collect();
    record(store, sources, &union(&memories), BUILTIN, Usage::default())
}

fn draft_of(memory: &Observation) -> Draft {
    Draft {
        r#type: memory.r#type.clone(),
        title: memory.title.clone(),
        subtitle: memory.subtitle.clone(),
        narrative: memory.narrative.clone(),
        facts: memory.facts.clone(),
        concepts: memory.concepts.clone(),
        keywords: memory.keywords.clone(),
        files_read: memory.files_read.clone(),
        files_modified: memory.files_modified.clone(),
        supersedes: Vec::new(),
    }
}

/// What is put together is as new as its newest source, matters as much as what mattered most, and holds as long as what
/// holds longest.
fn record(
    store: &Store,
    sources: &[Observation],
    draft: &Draft,
    model: &str,
    usage: Usage,
) -> Result<Consolidated, StoreError> {
    let Some(newest) = sources.last() else { return Ok(Consolidated::Moved) };
    let ids: Vec<i64> = sources.iter().map(|memory| memory.id).collect();
    let transaction = store.begin()?;
    for memory in sources {
        // An edit meanwhile would be lost.
        if transaction.common_place(&[memory.id])?.is_none()
            || transaction.texts_of(memory.id)? != draft_of(memory)
        {
            return Ok(Consolidated::Moved);
        }
    }
    let Some(place) = transaction.common_place(&ids)? else { return Ok(Consolidated::Moved) };
    let for_good = sources.iter().any(|memory| memory.expires_at.is_none());
    let new = NewObservation {
        place,
        session: &newest.session,
        prompt_number: newest.prompt_number,
        draft,
        agent: newest.agent.as_deref(),
        model,
        tokens_spent: usage.input + usage.output,
        created_at: newest.created_at,
        standing: Standing {
            // A model's words are nobody else's.
            source: match sources.iter().all(|memory| memory.source == newest.source) && model == BUILTIN {
                true => newest.source,
                false => Source::Observer,
            },
            priority: sources.iter().map(|memory| memory.priority).max().unwrap_or(Priority::Normal),
            expires_at: sources.iter().filter_map(|memory| memory.expires_at).max().filter(|_| !for_good),
        },
    };
    let id = index::record_consolidated(&transaction, &new, &ids)?;
    transaction.commit()?;
    Ok(Consolidated::As(id))
}
