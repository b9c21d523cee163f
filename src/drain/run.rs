//! The drainer's loop: claim, observe, record, settle. Killed at any point it loses nothing and doubles
//! nothing: a batch is recorded in one transaction, and its rows go only after that.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::policy::{Consequence, consequence, failure_class};
use super::record::{Memory, Outcome};
use super::{fingerprint, transcript};
use crate::config::{Paths, Provider, Settings};
use crate::log;
use crate::model::{Event, EventKind, Timestamp};
use crate::observer::{self, Answer, Observer, ObserverError, Verdict};
use crate::privacy::Cleaner;
use crate::spool::{Claim, Claimed, LastError, Patience, Pause, Spool, SpoolError};
use crate::store::StoreError;

/// A drainer in the background leaves after this time; the next hook starts another if there is work.
const LIFE: Duration = Duration::from_secs(15 * 60);
/// How long an unfinished turn waits for its end before an observer that wants whole turns sees it.
const STALE_TURN: Duration = Duration::from_secs(15 * 60);
/// How often a lingering drainer looks for the end of a turn.
const POLL: Duration = Duration::from_millis(200);
/// What a request may hold: 25 events, or about 24,000 tokens at four bytes a token.
const MODEL_BATCH: (u32, i64) = (25, 96_000);
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
    /// Why the run stopped before the queue was empty.
    pub stopped: Option<LastError>,
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
    observer: Box<dyn Observer>,
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
        let observer = match observer::from_settings(settings, paths) {
            Ok(observer) => observer,
            Err(error) => {
                let failure = LastError {
                    at: Timestamp::now(),
                    class: String::from("setup"),
                    message: error.to_string(),
                    remedy: error.remedy(),
                };
                pause(paths, &spool, settings, &failure, None, 1)?;
                return Err(error.into());
            }
        };
        Ok(Self {
            paths,
            settings,
            cleaner: Cleaner::new(&settings.redact_patterns),
            memory: Memory::open(paths)?,
            spool,
            observer,
            foreground,
            started: Timestamp::now(),
        })
    }

    /// Works until the queue holds nothing that is due.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub fn run(&mut self, progress: &mut dyn Progress) -> Result<Drained, DrainError> {
        let deadline = Instant::now() + LIFE;
        let mut drained = Drained::default();
        self.recover(Timestamp(i64::MAX))?;
        while self.foreground || Instant::now() < deadline {
            self.spool.import()?;
            self.recover(Timestamp::now())?;
            if let Some(pause) = self.present_pause()? {
                drained.stopped = drained.stopped.or(Some(pause));
                break;
            }
            if let Some(reached) = self.daily_cap()? {
                drained.stopped = Some(reached);
                break;
            }
            match self.spool.claim(Timestamp::now(), self.lease(), &self.patience())? {
                Claim::Batch(claimed) => {
                    let events = claimed.events.len() as u64;
                    let stop = self.process(*claimed, &mut drained)?;
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
                    let wait = at.since_ms(Timestamp::now()).max(1);
                    thread::sleep(POLL.min(Duration::from_millis(wait.unsigned_abs())));
                }
                Claim::Nothing => break,
            }
        }
        self.spool.forget_before(Timestamp::now().plus_ms(-KEEP_MS))?;
        self.spool.tidy()?;
        self.memory.checkpoint()?;
        Ok(drained)
    }

    /// Whether another run would find something to do at once: asked after the lock was given up.
    ///
    /// # Errors
    /// [`DrainError`] when the database fails.
    pub fn has_work(&self) -> Result<bool, DrainError> {
        let paused = self.present_pause()?.is_some();
        Ok(!paused && self.spool.has_due(Timestamp::now(), &self.patience())?)
    }

    /// The pause that forbids a call now. The user's own `cmem drain` tries the network once more.
    fn present_pause(&self) -> Result<Option<LastError>, DrainError> {
        let Some(pause) = Pause::read(self.paths) else { return Ok(None) };
        if !pause.holds(Timestamp::now(), &fingerprint(self.settings)) {
            return Ok(None);
        }
        if self.foreground && pause.class == "transient" {
            return Ok(None);
        }
        let Pause { class, message, remedy, .. } = pause;
        Ok(Some(LastError { at: Timestamp::now(), class, message, remedy }))
    }

    /// Pauses until midnight when a day's allowance is used up.
    fn daily_cap(&self) -> Result<Option<LastError>, DrainError> {
        let Settings { daily_tokens, daily_dollars, prices, .. } = self.settings;
        if self.observer.provider() == Provider::Builtin || (*daily_tokens == 0 && *daily_dollars == 0.0) {
            return Ok(None);
        }
        let now = Timestamp::now();
        let (today, tomorrow) = now.day();
        let (tokens, dollars) = self.memory.spent(today, prices)?;
        let message = if *daily_tokens > 0 && tokens >= *daily_tokens {
            format!("{tokens} tokens today; CMEM_DAILY_TOKENS is {daily_tokens}")
        } else if *daily_dollars > 0.0 && dollars >= *daily_dollars {
            format!("${dollars:.2} today; CMEM_DAILY_DOLLARS is {daily_dollars}")
        } else {
            return Ok(None);
        };
        let reached = LastError {
            at: now,
            class: String::from("quota"),
            message,
            remedy: String::from("wait until midnight, or raise the limit and `cmem queue retry --all`"),
        };
        pause(self.paths, &self.spool, self.settings, &reached, Some(tomorrow), 1)?;
        Ok(Some(reached))
    }

    fn patience(&self) -> Patience {
        let whole_turns = self.observer.wants_whole_turns();
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

    fn process(&self, mut claimed: Claimed, drained: &mut Drained) -> Result<Option<LastError>, DrainError> {
        if matches!(claimed.events.first().map(|e| &e.kind), Some(EventKind::Prompt { private: true, .. })) {
            self.spool.settle_skipped(&claimed.id, "private")?;
            return Ok(None);
        }
        self.complete_stops(&mut claimed.events);
        let answer = if claimed.events.iter().any(|event| event.kind.is_evidence()) {
            self.ask(&claimed)?
        } else {
            Answer { verdict: Verdict::Nothing, usage: observer::Usage::default(), model: String::new() }
        };
        let Answer { verdict, usage, model } = answer;
        let Some(class) = failure_class(&verdict) else {
            let Outcome { class, observations } =
                self.memory.record(&claimed, verdict, usage, &model, &self.cleaner)?;
            self.spool.settle(&claimed.id, class)?;
            Pause::end(self.paths)?;
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
        self.fail(&claimed, &verdict, class)
    }

    /// Asks once, and once more and more strictly if the answer cannot be used.
    fn ask(&self, claimed: &Claimed) -> Result<Answer, DrainError> {
        let mut batch = self.memory.batch(claimed)?;
        let answer = self.observer.observe(&batch);
        if !matches!(answer.verdict, Verdict::Malformed { .. }) {
            return Ok(answer);
        }
        batch.strict = true;
        let second = self.observer.observe(&batch);
        Ok(Answer { usage: answer.usage + second.usage, ..second })
    }

    fn fail(
        &self,
        claimed: &Claimed,
        verdict: &Verdict,
        class: &'static str,
    ) -> Result<Option<LastError>, DrainError> {
        let now = Timestamp::now();
        let failures = match Pause::read(self.paths) {
            Some(pause) if pause.class == class => pause.failures + 1,
            _ => 1,
        };
        let Consequence { mut rows, stop } =
            consequence(verdict, class, claimed.events.len(), claimed.attempts, failures, now);
        rows.reason = self.cleaner.redact(&rows.reason);
        self.spool.release(&claimed.id, now, &rows)?;
        let failure = LastError {
            at: now,
            class: class.to_owned(),
            message: rows.reason,
            remedy: observer::remedy(verdict, self.settings),
        };
        log::error(self.paths, &format!("{class}: {}", failure.message));
        match stop {
            Some(until) => {
                pause(self.paths, &self.spool, self.settings, &failure, until, failures)?;
                Ok(Some(failure))
            }
            None => {
                self.spool.set_last_error(&failure)?;
                Ok(None)
            }
        }
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

fn pause(
    paths: &Paths,
    spool: &Spool,
    settings: &Settings,
    failure: &LastError,
    until: Option<Timestamp>,
    failures: u32,
) -> Result<(), SpoolError> {
    spool.set_last_error(failure)?;
    let pause = Pause {
        class: failure.class.clone(),
        until,
        message: failure.message.clone(),
        remedy: failure.remedy.clone(),
        failures,
        fingerprint: fingerprint(settings),
        probe: false,
    };
    pause.write(paths)
}
