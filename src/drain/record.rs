//! From a confirmed answer to memory: one transaction for everything that a batch leaves behind.

use super::run::DrainError;
use super::upkeep::upkeep;
use crate::adopt;
use crate::config::{Paths, Price, Provider};
use crate::embeddings;
use crate::git;
use crate::index;
use crate::model::{ASSISTANT, Draft, Event, EventKind, Status, SummaryDraft, Timestamp};
use crate::notices;
use crate::observer::{Answer, Batch, Reply, Similar, Verdict};
use crate::privacy::Cleaner;
use crate::retrieve::{self, Conflicts};
use crate::spool::Claimed;
use crate::store::{Call, NewObservation, NewPrompt, NewSummary, Spent, Standing, Store, StoreError};

/// How many of the session's titles the observer is shown, so that it does not repeat itself.
const TITLES: usize = 20;
/// How many related memories it is shown, so that it can retire them.
const SIMILAR: usize = 8;
/// How much of the prompt stands for the user's request.
const REQUEST_CHARS: usize = 4_000;

/// The memory as the drainer uses it.
pub(super) struct Memory {
    store: Store,
}

/// What a recorded batch came to.
pub(super) struct Outcome {
    /// `stored` or `nothing`.
    pub class: &'static str,
    /// New observations.
    pub observations: u64,
    /// Notices of them that were queued.
    pub notices: u64,
}

/// By what a batch is recorded.
pub(super) struct Rules<'a> {
    pub cleaner: &'a Cleaner,
    pub notices: &'a notices::Round,
    /// What the assistant suggests is taken into use at once.
    pub accept_suggestions: bool,
}

/// A memory that a batch leaves behind, compared with those that are there.
struct New {
    draft: Draft,
    /// What it may make obsolete, beside what it says that it does.
    contested: Vec<i64>,
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Observer,
    Assistant,
}

impl Memory {
    pub(super) fn open(paths: &Paths) -> Result<Self, StoreError> {
        Ok(Self { store: Store::open(paths)? })
    }

    /// Renews the vector caches when they are behind.
    pub(super) fn refresh_caches(&self) -> Result<bool, StoreError> {
        index::refresh(&self.store)
    }

    /// The database, for what else is written with it.
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Counts what was of use and puts away what has expired.
    pub(super) fn upkeep(&self, paths: &Paths) -> Result<(), DrainError> {
        upkeep(paths, &self.store)
    }

    /// Has the embeddings endpoint embed some of what it lacks.
    pub(super) fn embed_next(
        &self,
        embeddings: &mut embeddings::Round,
        cleaner: &Cleaner,
    ) -> Result<embeddings::Step, StoreError> {
        embeddings.step(&self.store, cleaner)
    }

    pub(super) fn tidy(&self) -> Result<(), StoreError> {
        self.store.tidy()
    }

    /// Makes one attempt at a notice that is due; tells whether there was one.
    pub(super) fn send_next(
        &self,
        notices: &mut notices::Round,
        cleaner: &Cleaner,
        eager: bool,
    ) -> Result<bool, StoreError> {
        notices.send_next(&self.store, cleaner, eager)
    }

    /// When the next notice is due; `None` when none waits.
    pub(super) fn next_notice(&self, notices: &notices::Round) -> Result<Option<Timestamp>, StoreError> {
        notices.next_due(&self.store)
    }

    /// Adopts what a recorded batch shows to be worth a look: branches that were merged by now.
    pub(super) fn adopt_merged(&self, claimed: &Claimed) -> Result<(), StoreError> {
        let in_main = claimed.identity.worktree.is_none();
        let invites = |event: &Event| match &event.kind {
            EventKind::SessionStart { .. } => in_main,
            EventKind::WorktreeRemove { .. } => true,
            EventKind::Tool { input, .. } => in_main && brings_commits(input),
            _ => false,
        };
        if !claimed.events.iter().any(invites) || !git::is_repository(&claimed.identity) {
            return Ok(());
        }
        let home = if in_main { claimed.identity.clone() } else { git::home_of(&claimed.identity.key) };
        match adopt::due(&self.store, &home, adopt::PATIENCE)? {
            Some(due) => due.adopt(&self.store),
            None => Ok(()),
        }
    }

    /// What was used since then, as a limit has to count it.
    pub(super) fn spent(&self, since: Timestamp, prices: &[Price]) -> Result<Spent, StoreError> {
        self.store.spent(since, prices)
    }

    /// Counts a call, whatever its answer is worth.
    pub(super) fn count_call(
        &self,
        batch: &str,
        provider: Provider,
        class: &str,
        answer: &Answer,
    ) -> Result<(), StoreError> {
        let usage = answer.usage;
        self.store.record_call(&Call {
            batch,
            provider: provider.name(),
            model: &answer.model,
            class,
            usage: (usage.input, usage.cached, usage.output),
            at: Timestamp::now(),
        })
    }

    /// Whether a provider has confirmed a batch since then.
    pub(super) fn answered_since(&self, provider: Provider, moment: Timestamp) -> Result<bool, StoreError> {
        self.store.answered_since(provider.name(), moment)
    }

    /// The class of a batch that is recorded already.
    pub(super) fn class_of(&self, batch: &str) -> Result<Option<String>, StoreError> {
        self.store.batch_class(batch)
    }

    /// What the observer is shown.
    pub(super) fn batch(&self, claimed: &Claimed) -> Result<Batch, StoreError> {
        let first = claimed.events.first();
        let session = first.map(|event| event.session.as_str()).unwrap_or_default();
        let begins = first.map(|event| event.at).unwrap_or_default();
        // A batch is at most one turn: its prompt, if it holds one, comes first.
        let in_batch = match claimed.events.first().map(|event| &event.kind) {
            Some(EventKind::Prompt { text, .. }) => Some(text.clone()),
            _ => None,
        };
        let request = match in_batch {
            Some(_) => None,
            None => {
                let prompt = self.store.prompt_at(session, begins)?;
                prompt.map(|text| text.chars().take(REQUEST_CHARS).collect())
            }
        };
        let scope = retrieve::scope(&self.store, &claimed.identity)?;
        let topic = in_batch.or_else(|| request.clone()).unwrap_or_default();
        let similar = retrieve::similar(&self.store, &scope, &topic, SIMILAR)?
            .into_iter()
            .map(|(id, r#type, title)| Similar { id, r#type, title })
            .collect();
        Ok(Batch {
            project: claimed.identity.name.clone(),
            root: claimed.identity.root.clone(),
            events: claimed.events.clone(),
            request,
            titles: self.store.titles(session, TITLES)?,
            similar,
            strict: false,
        })
    }

    /// Records a confirmed batch with all that it holds. Suggestions are memories that wait for the user's decision, unless
    /// the user said that they need none.
    pub(super) fn record(
        &self,
        claimed: &Claimed,
        answer: Answer,
        suggestions: Vec<Draft>,
        rules: &Rules<'_>,
    ) -> Result<Outcome, StoreError> {
        let Answer { verdict, usage, model } = answer;
        let reply = match verdict {
            Verdict::Stored(reply) => reply,
            _ => Reply::default(),
        };
        let is_empty = reply.drafts.is_empty() && reply.summary.is_none() && suggestions.is_empty();
        let class = if is_empty { "nothing" } else { "stored" };
        let Some((first, last)) = claimed.events.first().zip(claimed.events.last()) else {
            return Ok(Outcome { class, observations: 0, notices: 0 });
        };
        let session = first.session.as_str();
        let tokens_spent =
            (usage.input + usage.output) / i64::try_from(reply.drafts.len().max(1)).unwrap_or(1);
        let agent = common_agent(&claimed.events);
        // What is there is compared before other writers have to wait.
        let scope = retrieve::scope(&self.store, &claimed.identity)?;
        let compared = |draft: Draft, by| {
            let mut draft = redact_draft(draft, rules.cleaner);
            let Conflicts { replaced, mut contested } =
                retrieve::conflicts(&self.store, &scope, &draft, last.at)?;
            if by == By::Assistant && !rules.accept_suggestions {
                contested.extend(replaced);
            } else {
                draft.supersedes.extend(replaced);
            }
            Ok(New { draft, contested, by })
        };
        let observed = reply.drafts.into_iter().map(|draft| compared(draft, By::Observer));
        let suggested = suggestions.into_iter().map(|draft| compared(draft, By::Assistant));
        let new = observed.chain(suggested).collect::<Result<Vec<_>, StoreError>>()?;

        let trace = adopt::trace(&claimed.identity);
        let transaction = self.store.begin()?;
        let place = transaction.place(&claimed.identity, &trace)?;
        transaction.session(session, first.platform, place.project, &claimed.identity, first.at, last.at)?;
        let mut prompt_number = transaction.prompt_number_at(session, first.at)?;
        let mut highest = transaction.last_prompt_number(session)?.unwrap_or(0);
        for event in &claimed.events {
            if let EventKind::Prompt { text, private: false } = &event.kind {
                highest += 1;
                prompt_number = Some(highest);
                let prompt = NewPrompt { place, session, number: highest, text, created_at: event.at };
                index::record_prompt(&transaction, &prompt)?;
            }
        }
        let (mut observations, mut queued) = (0, 0);
        for New { draft, contested, by } in new {
            let observed = by == By::Observer;
            let stored = index::record_observation(
                &transaction,
                &NewObservation {
                    place,
                    session,
                    prompt_number,
                    draft: &draft,
                    agent: agent.as_deref().filter(|_| observed),
                    model: if observed { &model } else { ASSISTANT },
                    tokens_spent: if observed { tokens_spent } else { 0 },
                    created_at: last.at,
                    standing: Standing::OBSERVED,
                },
            )?;
            if stored.duplicate {
                // What was suggested before was decided on.
                if observed {
                    transaction.say_again(stored.id, last.at)?;
                }
                continue;
            }
            observations += 1;
            if by == By::Assistant && !rules.accept_suggestions {
                transaction.set_status(stored.id, Status::Review)?;
                transaction.contest(stored.id, &contested)?;
                continue;
            }
            if draft.supersedes.is_empty() {
                transaction.contest(stored.id, &contested)?;
            }
            for destination in rules.notices.wanting(&draft.r#type) {
                transaction.queue_notice(stored.id, destination, Timestamp::now())?;
                queued += 1;
            }
        }
        if let Some(summary) = reply.summary {
            let summary = redact_summary(summary, rules.cleaner);
            let new = NewSummary {
                place,
                session,
                prompt_number,
                text: &summary,
                model: &model,
                created_at: last.at,
            };
            index::record_summary(&transaction, &new)?;
        }
        transaction.batch_done(&claimed.id, class, Timestamp::now())?;
        transaction.commit()?;
        Ok(Outcome { class, observations, notices: queued })
    }
}

/// Whether a command may have brought commits to the branch it ran on.
fn brings_commits(input: &serde_json::Value) -> bool {
    let command = input.get("command").and_then(serde_json::Value::as_str).unwrap_or_default();
    command.contains("git")
        && ["merge", "pull", "rebase", "cherry-pick", "commit", "fetch"]
            .iter()
            .any(|word| command.contains(word))
}

/// The subagent that all of the evidence comes from.
fn common_agent(events: &[Event]) -> Option<String> {
    let mut agents = events.iter().filter(|event| event.kind.is_evidence()).map(|event| &event.agent);
    let first = agents.next()?.as_ref()?;
    agents.all(|agent| agent.as_ref() == Some(first)).then(|| first.kind.clone())
}

/// A model may repeat a secret in a form that the rules did not see in its source.
pub(super) fn redact_draft(draft: Draft, cleaner: &Cleaner) -> Draft {
    let one = |text: String| cleaner.redact(&text);
    let all = |texts: Vec<String>| texts.iter().map(|text| cleaner.redact(text)).collect();
    Draft {
        r#type: one(draft.r#type),
        title: one(draft.title),
        subtitle: one(draft.subtitle),
        narrative: one(draft.narrative),
        facts: all(draft.facts),
        concepts: all(draft.concepts),
        keywords: all(draft.keywords),
        files_read: all(draft.files_read),
        files_modified: all(draft.files_modified),
        supersedes: draft.supersedes,
    }
}

fn redact_summary(summary: SummaryDraft, cleaner: &Cleaner) -> SummaryDraft {
    let one = |text: String| cleaner.redact(&text);
    SummaryDraft {
        request: one(summary.request),
        investigated: one(summary.investigated),
        learned: one(summary.learned),
        completed: one(summary.completed),
        next_steps: one(summary.next_steps),
        notes: one(summary.notes),
    }
}
