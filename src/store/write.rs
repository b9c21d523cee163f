//! What is written: everything that a batch leaves behind, or that the user says, in one transaction.

use rusqlite::{OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use super::{Place, Store, StoreError};
use crate::model::{Draft, Identity, Platform, Priority, Source, SummaryDraft, Timestamp};

/// A write transaction; dropped without `commit` it leaves no trace.
#[derive(Debug)]
pub struct Transaction<'a> {
    pub(super) tx: rusqlite::Transaction<'a>,
}

/// A prompt to store.
#[derive(Debug)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct NewPrompt<'a> {
    pub place: Place,
    pub session: &'a str,
    pub number: i64,
    pub text: &'a str,
    pub created_at: Timestamp,
}

/// An observation to store.
#[derive(Debug)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct NewObservation<'a> {
    pub place: Place,
    pub session: &'a str,
    pub prompt_number: Option<i64>,
    pub draft: &'a Draft,
    pub agent: Option<&'a str>,
    pub model: &'a str,
    pub tokens_spent: i64,
    pub created_at: Timestamp,
    pub standing: Standing,
}

/// Who says it, and how much and how long it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Standing {
    pub source: Source,
    pub priority: Priority,
    pub expires_at: Option<Timestamp>,
}

impl Standing {
    /// An observer says it; it matters as others do, for good.
    pub const OBSERVED: Self =
        Self { source: Source::Observer, priority: Priority::Normal, expires_at: None };
}

/// A summary to store.
#[derive(Debug)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct NewSummary<'a> {
    pub place: Place,
    pub session: &'a str,
    pub prompt_number: Option<i64>,
    pub text: &'a SummaryDraft,
    pub model: &'a str,
    pub created_at: Timestamp,
}

/// What became of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stored {
    /// Its id, or the id of the equal one that was there.
    pub id: i64,
    /// An equal one was there: it was touched, and no row was added.
    pub duplicate: bool,
}

impl Store {
    /// Begins a write transaction, waiting for other writers.
    ///
    /// # Errors
    /// [`StoreError::Sql`] when the database stays busy or fails.
    pub fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        let tx = rusqlite::Transaction::new_unchecked(&self.conn, TransactionBehavior::Immediate)?;
        Ok(Transaction { tx })
    }
}

impl Transaction<'_> {
    /// The connection, for `index`.
    pub(crate) fn conn(&self) -> &rusqlite::Connection {
        &self.tx
    }

    /// Makes it so.
    ///
    /// # Errors
    /// [`StoreError::Sql`]; nothing was written then.
    pub fn commit(self) -> Result<(), StoreError> {
        Ok(self.tx.commit()?)
    }

    /// Notes that a session was in a project between two moments, with the commit it started from.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn session(
        &self,
        session: &str,
        platform: Platform,
        project: i64,
        identity: &Identity,
        first: Timestamp,
        last: Timestamp,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO sessions (session, project, branch, head_start, head_last, started_at, last_at,
                   platform)
                 VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7)
                 ON CONFLICT (session, project) DO UPDATE SET branch = excluded.branch,
                   head_last = coalesce(excluded.head_last, head_last), last_at = max(last_at, excluded.last_at)",
            )?
            .execute((session, project, &identity.branch, &identity.head, first.0, last.0, platform.name()))?;
        Ok(())
    }

    /// Number of the prompt that a session was at work on at a moment: turns may be recorded in another order.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prompt_number_at(&self, session: &str, moment: Timestamp) -> Result<Option<i64>, StoreError> {
        Ok(super::read::prompt_at(&self.tx, session, moment)?.map(|(number, _)| number))
    }

    /// The highest number of a prompt of the session, also of one that was forgotten since: what else was learned then
    /// still names it.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn last_prompt_number(&self, session: &str) -> Result<Option<i64>, StoreError> {
        Ok(self
            .tx
            .prepare_cached(
                "SELECT max(number) FROM (SELECT number FROM prompts WHERE session = ?1
                   UNION ALL SELECT prompt_number FROM observations WHERE session = ?1
                   UNION ALL SELECT prompt_number FROM summaries WHERE session = ?1)",
            )?
            .query_row([session], |row| row.get(0))?)
    }

    /// Stores a prompt; returns its id.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn prompt(&self, new: &NewPrompt<'_>) -> Result<i64, StoreError> {
        self.insert_prompt(&new_uid(), new)
    }

    pub(super) fn insert_prompt(&self, uid: &str, new: &NewPrompt<'_>) -> Result<i64, StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO prompts (uid, project, branch, merged_into, session, number, text, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                uid,
                new.place.project,
                new.place.branch,
                new.place.merged_into,
                new.session,
                new.number,
                new.text,
                new.created_at.0,
            ))?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Stores an observation, or touches the one with the same normalised title and narrative.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn observation(&self, new: &NewObservation<'_>) -> Result<Stored, StoreError> {
        let draft = new.draft;
        let key = content_key(&draft.title, &draft.narrative);
        let known: Option<i64> = self
            .tx
            .prepare_cached("SELECT id FROM observations WHERE project = ?1 AND content_key = ?2")?
            .query_row((new.place.project, &key[..]), |row| row.get(0))
            .optional()?;
        if let Some(id) = known {
            self.tx
                .prepare_cached("UPDATE observations SET updated_at = max(updated_at, ?2) WHERE id = ?1")?
                .execute((id, new.created_at.0))?;
            return Ok(Stored { id, duplicate: true });
        }
        let id = self.insert_observation(new, &new_uid(), &key)?;
        self.supersede(id, &draft.supersedes)?;
        Ok(Stored { id, duplicate: false })
    }

    /// Adds a row under a key that the project does not have; returns its id.
    pub(super) fn insert_observation(
        &self,
        new: &NewObservation<'_>,
        uid: &str,
        key: &[u8; 32],
    ) -> Result<i64, StoreError> {
        let draft = new.draft;
        self.tx
            .prepare_cached(
                "INSERT INTO observations (uid, project, type, title, subtitle, narrative, facts, concepts,
                   keywords, files_read, files_modified, session, prompt_number, agent, model, tokens_spent,
                   content_key, created_at, updated_at, branch, merged_into, source, priority, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?18, ?19,
                   ?20, ?21, ?22, ?23)",
            )?
            .execute(rusqlite::params![
                uid,
                new.place.project,
                draft.r#type,
                draft.title,
                draft.subtitle,
                draft.narrative,
                serde_json::to_string(&draft.facts)?,
                serde_json::to_string(&draft.concepts)?,
                serde_json::to_string(&draft.keywords)?,
                serde_json::to_string(&draft.files_read)?,
                serde_json::to_string(&draft.files_modified)?,
                new.session,
                new.prompt_number,
                new.agent,
                new.model,
                new.tokens_spent,
                &key[..],
                new.created_at.0,
                new.place.branch,
                new.place.merged_into,
                new.standing.source.name(),
                new.standing.priority.name(),
                new.standing.expires_at.map(|at| at.0),
            ])?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Stores a summary; returns its id.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn summary(&self, new: &NewSummary<'_>) -> Result<i64, StoreError> {
        self.insert_summary(&new_uid(), new)
    }

    pub(super) fn insert_summary(&self, uid: &str, new: &NewSummary<'_>) -> Result<i64, StoreError> {
        let text = new.text;
        self.tx
            .prepare_cached(
                "INSERT INTO summaries (uid, project, session, prompt_number, request, investigated, learned,
                   completed, next_steps, notes, model, created_at, branch, merged_into)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute(rusqlite::params![
                uid,
                new.place.project,
                new.session,
                new.prompt_number,
                text.request,
                text.investigated,
                text.learned,
                text.completed,
                text.next_steps,
                text.notes,
                new.model,
                new.created_at.0,
                new.place.branch,
                new.place.merged_into,
            ])?;
        Ok(self.tx.last_insert_rowid())
    }

    /// Marks a batch as recorded.
    ///
    /// # Errors
    /// [`StoreError::Sql`], also when it is recorded already.
    pub fn batch_done(&self, id: &str, class: &str, at: Timestamp) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("INSERT INTO batches (id, class, created_at) VALUES (?1, ?2, ?3)")?
            .execute((id, class, at.0))?;
        Ok(())
    }
}

/// A name that no other record has, here or elsewhere.
pub(super) fn new_uid() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// Equal for texts that differ only in case, blanks and closing punctuation.
pub(super) fn content_key(title: &str, narrative: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in [title, narrative] {
        let words = text.to_lowercase();
        let mut words = words.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let word = if words.peek().is_none() {
                word.trim_end_matches(|c: char| ".,;:!?。，；：！？…".contains(c))
            } else {
                word
            };
            hash.update(word.as_bytes());
            hash.update(b" ");
        }
        hash.update([0]);
    }
    hash.finalize().into()
}
