//! Memories put together by the observer that is at work, under the same limits as everything it is asked.

use super::inquiry::Inquiry;
use super::lineup::Post;
use super::record::redact_draft;
use super::run::DrainError;
use crate::config::{Paths, Settings};
use crate::index;
use crate::model::{Draft, Observation, Priority, Source};
use crate::observer::{Answer, Consolidation, Usage, Verdict, union};
use crate::spool::LastError;
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
pub struct Consolidator<'a>(Inquiry<'a>);

impl<'a> Consolidator<'a> {
    /// Sets the observer up. Sends nothing.
    ///
    /// # Errors
    /// [`DrainError`] when a database or the mode cannot be used.
    pub fn new(paths: &'a Paths, settings: &'a Settings) -> Result<Self, DrainError> {
        Inquiry::new(paths, settings).map(Self)
    }

    /// Puts memories together, oldest first, and puts them away.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub fn consolidate(&self, project: &str, sources: &[Observation]) -> Result<Consolidated, DrainError> {
        let post = match self.0.at_work()? {
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
        let Answer { usage, model, .. } = answer;
        match self.0.settle(&post, answer.verdict)? {
            Err(failure) => Ok(Consolidated::Failed(failure)),
            Ok(None) => Ok(Consolidated::Moved),
            Ok(Some(reply)) => {
                let draft = reply.drafts.into_iter().next().unwrap_or_default();
                let draft = redact_draft(draft, self.0.cleaner());
                Ok(record(self.0.store(), sources, &draft, &model, usage)?)
            }
        }
    }

    fn call(&self, post: &Post, asked: &Consolidation) -> Result<Answer, DrainError> {
        let answer = post.observer.consolidate(asked);
        self.0.count("compact", post, &answer)?;
        Ok(answer)
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
