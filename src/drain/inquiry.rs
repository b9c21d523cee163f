//! What the user asks the observer himself: of whoever is at work, under the same limits as the drainer's batches.

use std::rc::Rc;

use uuid::Uuid;

use super::lineup::{Lineup, Post};
use super::policy::{History, consequence, failure_class};
use super::record::Memory;
use super::run::DrainError;
use crate::config::{Paths, Settings};
use crate::model::Timestamp;
use crate::observer::{self, Answer, Reply, Verdict};
use crate::privacy::Cleaner;
use crate::spool::{LastError, Spool};
use crate::store::Store;

/// The observer, and what its calls are written to.
pub(super) struct Inquiry<'a> {
    spool: Spool,
    memory: Memory,
    lineup: Lineup<'a>,
    cleaner: Cleaner,
}

impl<'a> Inquiry<'a> {
    /// Sets the observer up. Sends nothing.
    ///
    /// # Errors
    /// [`DrainError`] when a database or the mode cannot be used.
    pub(super) fn new(paths: &'a Paths, settings: &'a Settings) -> Result<Self, DrainError> {
        let spool = Spool::open(paths)?;
        let lineup = Lineup::new(paths, settings, &spool, true)?;
        let cleaner = Cleaner::new(&settings.redact_patterns);
        Ok(Self { memory: Memory::open(paths)?, spool, lineup, cleaner })
    }

    /// Who may be called now, or what keeps everybody from it.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub(super) fn at_work(&self) -> Result<Result<Rc<Post>, LastError>, DrainError> {
        self.lineup.at_work(&self.spool, &self.memory)
    }

    /// Counts a call of this purpose, whatever its answer is worth.
    ///
    /// # Errors
    /// [`DrainError`] when the memory cannot be written.
    pub(super) fn count(&self, purpose: &str, post: &Post, answer: &Answer) -> Result<(), DrainError> {
        let batch = format!("{purpose}-{}", Uuid::now_v7().simple());
        Ok(self.memory.count_call(&batch, post.observer.provider(), answer.verdict.class(), answer)?)
    }

    /// What was answered, `None` = nothing; or why not. A provider that must not be called now is not called by the
    /// drainer either.
    ///
    /// # Errors
    /// [`DrainError`] when that cannot be written.
    pub(super) fn settle(
        &self,
        post: &Post,
        verdict: Verdict,
    ) -> Result<Result<Option<Reply>, LastError>, DrainError> {
        if let Some(class) = failure_class(&verdict) {
            return self.fail(post, &verdict, class).map(Err);
        }
        self.lineup.resume(post, &self.spool)?;
        Ok(Ok(match verdict {
            Verdict::Stored(reply) => Some(reply),
            _ => None,
        }))
    }

    pub(super) fn cleaner(&self) -> &Cleaner {
        &self.cleaner
    }

    pub(super) fn store(&self) -> &Store {
        self.memory.store()
    }

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
