//! The drainer's loop: claim, observe, record, settle. Killed at any point it loses nothing and doubles
//! nothing: a batch is recorded in one transaction, and its rows go only after that.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::lineup::{Lineup, Post};
use super::policy::{Consequence, History, consequence, failure_class};
use super::record::{Memory, Outcome, Rules};
use super::suggestion;
use super::transcript;
use crate::config::{Paths, Settings};
use crate::embeddings;
use crate::log;
use crate::mode::Mode;
use crate::model::{Draft, Event, EventKind, Timestamp};
use crate::notices;
use crate::observer::{self, Answer, Batch, ObserverError, Verdict};
use crate::privacy::Cleaner;
use crate::spool::{Claim, Claimed, LastError, Patience, Pause, Spool, SpoolError};
use crate::store::StoreError;

/// How long an unfinished turn waits for its end before an observer that wants whole turns sees it.
const STALE_TURN: Duration = Duration::from_secs(15 * 60);
/// How often a lingering drainer looks for the end of a turn.
const POLL: Duration = Duration::from_millis(200);
/// What a request may hold: 25 events, or about 24,000 tokens at four bytes a token.
pub const MODEL_BATCH: (u32, i64) = (25, 96_000);
/// The builtin observer takes whole turns; the bound is for memory.
const TURN_BATCH: (u32, i64) = (1_000, 32 << 20);
/// After this time a delivery cannot come again, and a session's last place is of no use.
const KEEP_MS: i64 = 30 * 24 * 3_600_000;

/// Why draining could not go on. Events stay where they are.
#[derive(Debug, thiserror::Error)]
pub enum DrainError {
    /// The spool cannot be used.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// The memory cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The observer cannot be set up.
    #[error(transparent)]
    Observer(#[from] ObserverError),
}

/// What a run did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Drained {
    /// Batches confirmed.
    pub batches: u64,
    /// Events in them.
    pub events: u64,
    /// Observations stored.
    pub observations: u64,
    /// What became of notices.
    pub notices: notices::Report,
    /// What an embeddings endpoint embedded.
    pub embeddings: embeddings::Report,
    /// Why the run stopped before the queue was empty.
    pub stopped: Option<LastError>,
}

/// What there is left to do after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// Something is due.
    Due,
    /// Something is due then, if nothing happens before.
    At(Timestamp),
    /// Nothing, until somebody else does something.
    Nothing,
}

/// Is told how a run goes on.
pub trait Progress {
    /// A batch of so many events is done. `waiting` counts the events that wait, which takes a look at each: only
    /// who shows the number should ask for it.
    fn advanced(&mut self, events: u64, waiting: &dyn Fn() -> u64);
}

/// One run over the spool. The caller holds `drain.lock`.
pub struct Drainer<'a> {
    paths: &'a Paths,
    settings: &'a Settings,
    cleaner: Cleaner,
    spool: Spool,
    memory: Memory,
    lineup: Lineup<'a>,
    notices: notices::Round,
    embeddings: embeddings::Round,
    /// Notices were queued since the last were sent.
    untold: bool,
    foreground: bool,
    started: Timestamp,
}

impl<'a> Drainer<'a> {
    /// Opens what a run needs. In the foreground the user asked: unfinished turns are taken, and failures
    /// of the network are not waited for.
    ///
    /// # Errors
    /// [`DrainError`]; a failure of the observer's set-up is also remembered as a pause.
    pub fn new(paths: &'a Paths, settings: &'a Settings, foreground: bool) -> Result<Self, DrainError> {
        let spool = Spool::open(paths)?;
        let lineup = Lineup::new(paths, settings, &spool, foreground)?;
        let pace = if foreground { embeddings::Pace::Asked } else { embeddings::Pace::Background };
        Ok(Self {
            paths,
            settings,
            cleaner: Cleaner::new(&settings.redact_patterns),
            memory: Memory::open(paths)?,
            spool,
            lineup,
            notices: notices::Round::new(settings),
            embeddings: embeddings::Round::new(settings, pace),
            untold: false,
            foreground,
            started: Timestamp::now(),
        })
    }

    /// Works until the queue holds nothing that is due, or until the deadline.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub fn run(
        &mut self,
        deadline: Option<Instant>,
        progress: &mut dyn Progress,
    ) -> Result<Drained, DrainError> {
        let mut drained = Drained::default();
        self.recover(Timestamp(i64::MAX))?;
        while deadline.is_none_or(|deadline| Instant::now() < deadline) {
            self.spool.import()?;
            self.recover(Timestamp::now())?;
            let post = match self.lineup.at_work(&self.spool, &self.memory)? {
                Ok(post) => post,
                Err(obstacle) => {
                    drained.stopped = drained.stopped.or(Some(obstacle));
                    break;
                }
            };
            match self.spool.claim(Timestamp::now(), self.lease(), &self.patience(&post))? {
                Claim::Batch(claimed) => {
                    let events = claimed.events.len() as u64;
                    let stop = self.process(&post, *claimed, &mut drained)?;
                    progress.advanced(events, &|| {
                        self.spool
                            .status()
                            .map_or(0, |status| u64::try_from(status.waiting).unwrap_or_default())
                    });
                    if stop.is_some() {
                        drained.stopped = stop;
                        break;
                    }
                }
                Claim::WaitUntil(at) => {
                    if self.untold && self.send_notice(&mut drained) {
                        continue;
                    }
                    let wait = at.since_ms(Timestamp::now()).max(1);
                    thread::sleep(POLL.min(Duration::from_millis(wait.unsigned_abs())));
                }
                // One at a time: events that came meanwhile go first.
                Claim::Nothing if self.send_notice(&mut drained) || self.embed(&mut drained) => {}
                Claim::Nothing => break,
            }
        }
        while self.send_notice(&mut drained) {}
        while deadline.is_none_or(|deadline| Instant::now() < deadline) && self.embed(&mut drained) {}
        self.leave_errand()?;
        self.spool.forget_before(Timestamp::now().plus_ms(-KEEP_MS))?;
        self.spool.tidy()?;
        if let Err(error) = self.memory.upkeep(self.paths) {
            log::error(self.paths, &format!("uses and expiries: {error}"));
        }
        // Searches work without it.
        if let Err(error) = self.memory.refresh_caches() {
            log::error(self.paths, &format!("vector cache: {error}"));
        }
        self.memory.tidy()?;
        Ok(drained)
    }

    /// Makes one attempt at a notice; tells whether there was one. Whatever becomes of it, draining goes on.
    fn send_notice(&mut self, drained: &mut Drained) -> bool {
        let tried = self.memory.send_next(&mut self.notices, &self.cleaner, self.foreground);
        let tried = tried.unwrap_or_else(|error| {
            log::error(self.paths, &format!("sending notices: {error}"));
            false
        });
        self.untold &= tried;
        drained.notices = self.notices.report();
        for failure in &drained.notices.failures {
            log::error(self.paths, &format!("notice to {failure}"));
        }
        tried
    }

    /// Has the embeddings endpoint embed some observations; tells whether there may be more. Whatever becomes of it, draining
    /// goes on.
    fn embed(&mut self, drained: &mut Drained) -> bool {
        let before = self.embeddings.report().failure.clone();
        let step = self.memory.embed_next(&mut self.embeddings, &self.cleaner);
        let made = match step {
            Ok(step) => step != embeddings::Step::Over,
            Err(error) => {
                log::error(self.paths, &format!("embeddings: {error}"));
                false
            }
        };
        drained.embeddings = self.embeddings.report().clone();
        if let Some(failure) = drained.embeddings.failure.as_ref().filter(|now| before.as_ref() != Some(now))
        {
            log::error_once(self.paths, &format!("embeddings: {}", failure.message));
        }
        made
    }

    /// While nobody is called, hooks start no drainer: they have to know when a notice is worth one.
    fn leave_errand(&self) -> Result<(), DrainError> {
        let Some(pause) = Pause::read(self.paths) else { return Ok(()) };
        let errand = self.memory.next_notice(&self.notices)?;
        if pause.errand != errand {
            Pause { errand, ..pause }.write(self.paths)?;
        }
        Ok(())
    }

    /// What another run would find to do: asked after the lock was given up. A notice that waits is no such work: the
    /// drainer of a later hook tries it again.
    ///
    /// # Errors
    /// [`DrainError`] when the database fails.
    pub fn outlook(&self) -> Result<Outlook, DrainError> {
        let now = Timestamp::now();
        let at = match self.lineup.at_work(&self.spool, &self.memory)? {
            Ok(post) if self.spool.has_due(now, &self.patience(&post))? => return Ok(Outlook::Due),
            Ok(_) => self.spool.next_due(now)?,
            Err(_) if self.spool.has_waiting()? => self.lineup.free_at(now),
            Err(_) => None,
        };
        Ok(at.map_or(Outlook::Nothing, Outlook::At))
    }

    fn patience(&self, post: &Post) -> Patience {
        let whole_turns = post.observer.wants_whole_turns();
        let (max_events, max_bytes) = if whole_turns { TURN_BATCH } else { MODEL_BATCH };
        Patience {
            unfinished_turn: if whole_turns { STALE_TURN } else { self.settings.linger },
            lingers: !whole_turns,
            max_events,
            max_bytes,
            force_since: self.foreground.then_some(self.started),
        }
    }

    /// Longer than the two calls that a batch may need.
    fn lease(&self) -> Duration {
        self.settings.timeout * 2 + Duration::from_secs(60)
    }

    /// Batches that another drainer left behind: recorded ones are settled, the others are free again.
    fn recover(&self, before: Timestamp) -> Result<(), DrainError> {
        for batch in self.spool.abandoned(before)? {
            match self.memory.class_of(&batch)? {
                Some(class) => self.spool.settle(&batch, &class)?,
                None => self.spool.free(&batch)?,
            }
        }
        Ok(())
    }

    fn process(
        &mut self,
        post: &Post,
        mut claimed: Claimed,
        drained: &mut Drained,
    ) -> Result<Option<LastError>, DrainError> {
        if matches!(claimed.events.first().map(|e| &e.kind), Some(EventKind::Prompt { private: true, .. })) {
            self.spool.settle_skipped(&claimed.id, "private")?;
            return Ok(None);
        }
        self.complete_stops(&mut claimed.events);
        // What the assistant suggests is no text for the observer.
        let suggestions = self.suggestions(&mut claimed.events);
        let asks = claimed.events.iter().any(|event| event.kind.is_evidence());
        let answer = if asks {
            self.ask(post, &claimed)?
        } else {
            Answer { verdict: Verdict::Nothing, usage: observer::Usage::default(), model: String::new() }
        };
        let Some(class) = failure_class(&answer.verdict) else {
            let rules = Rules {
                cleaner: &self.cleaner,
                notices: &self.notices,
                accept_suggestions: self.settings.accept_suggestions,
            };
            let Outcome { class, observations, notices } =
                self.memory.record(&claimed, answer, suggestions, &rules)?;
            self.untold |= notices > 0;
            self.spool.settle(&claimed.id, class)?;
            if asks {
                self.lineup.resume(post, &self.spool)?;
            }
            // The batch is in memory: that something else cannot be done is for `cmem doctor`.
            if let Err(error) = self.memory.adopt_merged(&claimed) {
                log::error(self.paths, &format!("adopting merged worktrees: {error}"));
            }
            drained.batches += 1;
            drained.events += claimed.events.len() as u64;
            drained.observations += observations;
            log::info(
                self.paths,
                self.settings,
                &format!("batch of {} events: {class}, {observations} observations", claimed.events.len()),
            );
            return Ok(None);
        };
        self.fail(post, &claimed, &answer.verdict, class)
    }

    fn suggestions(&self, events: &mut [Event]) -> Vec<Draft> {
        let suggestions = suggestion::lift(events);
        if suggestions.is_empty() {
            return Vec::new();
        }
        let (mode, _) = Mode::load_or_english(self.settings, self.paths);
        suggestions.iter().map(|suggestion| suggestion.draft(&mode)).collect()
    }

    /// Asks once, and once more and more strictly if the answer cannot be used.
    fn ask(&self, post: &Post, claimed: &Claimed) -> Result<Answer, DrainError> {
        let mut batch = self.memory.batch(claimed)?;
        let answer = self.call(post, &claimed.id, &batch)?;
        if !matches!(answer.verdict, Verdict::Malformed { .. }) {
            return Ok(answer);
        }
        batch.strict = true;
        let second = self.call(post, &claimed.id, &batch)?;
        Ok(Answer { usage: answer.usage + second.usage, ..second })
    }

    fn call(&self, post: &Post, id: &str, batch: &Batch) -> Result<Answer, DrainError> {
        let answer = post.observer.observe(batch);
        self.memory.count_call(id, post.observer.provider(), answer.verdict.class(), &answer)?;
        Ok(answer)
    }

    fn fail(
        &self,
        post: &Post,
        claimed: &Claimed,
        verdict: &Verdict,
        class: &'static str,
    ) -> Result<Option<LastError>, DrainError> {
        let now = Timestamp::now();
        let failures = self.lineup.failures(post).saturating_add(1);
        let history = History {
            size: claimed.events.len(),
            attempts: claimed.attempts,
            failed: claimed.failed,
            others_pass: claimed.failed > 0
                && self.memory.answered_since(post.observer.provider(), claimed.tried_at)?,
        };
        let Consequence { mut rows, stop } = consequence(verdict, class, history, failures, now);
        let relieved = stop.is_some_and(|until| self.lineup.is_relieved(post, class, until, now));
        if relieved {
            rows.due_at = Timestamp::default();
            rows.parked = false;
        }
        rows.reason = self.cleaner.redact(&rows.reason);
        self.spool.release(&claimed.id, now, &rows)?;
        let failure = LastError {
            at: now,
            class: class.to_owned(),
            message: rows.reason,
            remedy: observer::remedy(verdict, &post.settings),
        };
        log::error(self.paths, &format!("{class}: {}", failure.message));
        match stop {
            Some(until) => {
                let asked = matches!(verdict, Verdict::RateLimited { retry_after: Some(_) });
                self.lineup.pause(post, &self.spool, &failure, (until, asked), failures)?;
            }
            None => self.spool.set_last_error(&failure)?,
        }
        Ok((stop.is_some() && !relieved).then_some(failure))
    }

    /// Fills in the last message of clients whose Stop event does not hold it.
    fn complete_stops(&self, events: &mut [Event]) {
        for event in events {
            if let EventKind::Stop { message: message @ None, transcript: Some(path) } = &mut event.kind {
                *message = transcript::last_assistant_message(Path::new(path))
                    .filter(|text| !text.contains(observer::MARKER))
                    .map(|text| self.cleaner.clean_text(&text));
            }
        }
    }
}
