//! Embedding what the endpoint has not embedded yet: one request at a time, so that whoever asks can do something else
//! between two, and a bounded time for a drainer. Whatever fails, the observations are stored and stay missing here.

use std::thread;
use std::time::{Duration, Instant};

use super::{Embedder, EmbeddingPause, Fault, SetupError, message, pause};
use crate::config::Settings;
use crate::index::{self, Space, Unembedded};
use crate::model::{Timestamp, estimate_tokens};
use crate::observer::Verdict;
use crate::privacy::Cleaner;
use crate::store::{Call, Store, StoreError};

/// Texts in one request, and about how many tokens.
const BATCH: usize = 64;
const BATCH_TOKENS: usize = 24_000;
/// No further request of a drainer that has spent so long with them.
const PATIENCE: Duration = Duration::from_secs(60);
/// A text that is refused is tried once more, cut to so many characters.
const SHORT: usize = 1_000;
/// So many texts in a row may be refused before the endpoint itself is to blame: one that never embedded anything, and one
/// that did.
const SUSPECTS_AT_FIRST: usize = 2;
const SUSPECTS: usize = 8;
/// Longest wait for the end of a limit that whoever watches is left to, and how often in a row.
const WATCHED_WAIT: Duration = Duration::from_secs(60);
const WATCHED_WAITS: u32 = 5;
/// So much of a daily limit is left for the observer.
const SHARE: u64 = 2;
/// What its calls go by in `calls`.
const PROVIDER: &str = "embeddings";

/// Who waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// A drainer that a hook started.
    Background,
    /// Somebody who ran `cmem drain`: a pause does not hold.
    Asked,
    /// Somebody who watches it until the end.
    Watched,
}

/// What one step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A request was made; so many observations are done by it.
    Made(u64),
    /// There is nothing to do, or nothing that can be done now.
    Over,
}

/// Why some wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened, without secrets.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
}

/// What a round came to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// Observations that were embedded.
    pub embedded: u64,
    /// Texts that the endpoint does not take.
    pub refused: u64,
    /// Why it ended before all were.
    pub failure: Option<Failure>,
}

/// The work of one process.
#[derive(Debug)]
pub struct Round {
    embedder: Option<Embedder>,
    pace: Pace,
    daily_tokens: u64,
    daily_usd: f64,
    prices: Vec<crate::config::Price>,
    begun: bool,
    over: bool,
    spent: Duration,
    /// Every observation from here on was looked at.
    below: i64,
    most: usize,
    /// Parts of a batch that failed as a whole.
    parts: Vec<Vec<Piece>>,
    /// Texts that failed by themselves, until another one passed.
    suspects: Vec<Unembedded>,
    /// A request of this round was answered.
    passed: bool,
    /// The dimension changed in this round.
    moved: bool,
    failures: u32,
    waits: u32,
    report: Report,
}

#[derive(Debug, Clone)]
struct Piece {
    row: Unembedded,
    /// What is sent: redacted by the rules of today, and perhaps cut.
    text: String,
}

impl Round {
    /// Sends nothing. Without an endpoint there is nothing to do.
    pub fn new(settings: &Settings, pace: Pace) -> Self {
        let (embedder, failure) = match Embedder::from_settings(settings) {
            Ok(embedder) => (embedder, None),
            Err(error) => (None, Some(setup_failure(&error))),
        };
        Self {
            embedder,
            pace,
            daily_tokens: settings.daily_tokens,
            daily_usd: settings.daily_usd,
            prices: settings.prices.clone(),
            begun: false,
            over: false,
            spent: Duration::ZERO,
            below: i64::MAX,
            most: BATCH,
            parts: Vec::new(),
            suspects: Vec::new(),
            passed: false,
            moved: false,
            failures: 0,
            waits: 0,
            report: Report { failure, ..Report::default() },
        }
    }

    /// Makes one request, if there is something to embed and nothing keeps it from being asked.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is lost by it.
    pub fn step(&mut self, store: &Store, cleaner: &Cleaner) -> Result<Step, StoreError> {
        let Some(embedder) = self.embedder.take() else { return Ok(Step::Over) };
        let step = self.step_by(&embedder, store, cleaner);
        self.embedder = Some(embedder);
        step
    }

    /// How it went so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn step_by(&mut self, embedder: &Embedder, store: &Store, cleaner: &Cleaner) -> Result<Step, StoreError> {
        if !self.begun {
            self.begun = true;
            self.begin(embedder, store)?;
        }
        if self.over || (self.pace != Pace::Watched && self.spent > PATIENCE) {
            return Ok(Step::Over);
        }
        let batch = match self.parts.pop() {
            Some(part) => part,
            None => self.next_batch(embedder, store, cleaner)?,
        };
        if batch.is_empty() {
            self.over = true;
            self.settle_suspects(embedder, store)?;
            return Ok(Step::Over);
        }
        if let Some(message) = self.used_up(store)? {
            self.over = true;
            let remedy = String::from("wait until midnight, or raise the limit");
            self.report.failure = Some(Failure { message, remedy });
            return Ok(Step::Over);
        }
        let texts: Vec<String> = batch.iter().map(|piece| piece.text.clone()).collect();
        let began = Instant::now();
        let answered = embedder.embed(&texts, embedder.timeout);
        self.spent += began.elapsed();
        let class = answered.vectors.as_ref().map_or_else(|fault| fault.verdict.class(), |_| "stored");
        store.record_call(&Call {
            batch: PROVIDER,
            provider: PROVIDER,
            model: embedder.model(),
            class,
            usage: (answered.tokens, 0, 0),
            at: Timestamp::now(),
        })?;
        match answered.vectors {
            Ok(vectors) => self.keep(embedder, store, cleaner, batch, vectors),
            Err(fault) => self.fail(embedder, store, cleaner, batch, &fault),
        }
    }

    fn begin(&mut self, embedder: &Embedder, store: &Store) -> Result<(), StoreError> {
        let Some(pause) = embedder.pause(store)? else { return Ok(()) };
        self.failures = pause.failures;
        // A server that is too slow for so many is not for fewer.
        self.most = (BATCH >> pause.failures.min(BATCH.ilog2())).max(1);
        let yields = self.pace == Pace::Background || pause.class == "rate_limited";
        if yields && pause.holds(Timestamp::now()) {
            self.over = true;
            self.report.failure = Some(Failure { message: pause.message, remedy: pause.remedy });
        }
        Ok(())
    }

    fn next_batch(
        &mut self,
        embedder: &Embedder,
        store: &Store,
        cleaner: &Cleaner,
    ) -> Result<Vec<Piece>, StoreError> {
        let space = index::space_of(store, embedder.model())?;
        let rows = index::unembedded_in(store, space.as_ref(), self.below, self.most)?;
        let (mut batch, mut tokens) = (Vec::new(), 0);
        for row in rows {
            let text = cleaner.redact(&row.text);
            tokens += estimate_tokens(&text);
            if tokens > BATCH_TOKENS && !batch.is_empty() {
                break;
            }
            self.below = row.observation;
            batch.push(Piece { row, text });
        }
        Ok(batch)
    }

    fn keep(
        &mut self,
        embedder: &Embedder,
        store: &Store,
        cleaner: &Cleaner,
        batch: Vec<Piece>,
        vectors: Vec<Vec<f32>>,
    ) -> Result<Step, StoreError> {
        let dim = vectors.first().map_or(0, Vec::len);
        let space = Space::of_endpoint(embedder.model(), u32::try_from(dim).unwrap_or(0));
        if index::space_of(store, embedder.model())?.is_some_and(|known| known != space) {
            if self.moved {
                let reason = String::from("its vectors have now this length, now another");
                return self.pause(embedder, store, cleaner, &Verdict::Malformed { reason });
            }
            // Another dimension is another model, which lacks all of them.
            (self.below, self.moved) = (i64::MAX, true);
        }
        self.passed = true;
        let count = vectors.len() as u64;
        let mut made: Vec<_> =
            batch.into_iter().zip(vectors).map(|(piece, vector)| (piece.row, Some(vector))).collect();
        made.extend(self.refused());
        index::keep(store, &space, &made, Timestamp::now())?;
        EmbeddingPause::end(store)?;
        (self.failures, self.waits) = (0, 0);
        self.most = (self.most * 2).min(BATCH);
        self.report.embedded += count;
        Ok(Step::Made(made.len() as u64))
    }

    fn fail(
        &mut self,
        embedder: &Embedder,
        store: &Store,
        cleaner: &Cleaner,
        mut batch: Vec<Piece>,
        fault: &Fault,
    ) -> Result<Step, StoreError> {
        if fault.about_texts {
            if batch.len() > 1 {
                self.most = batch.len().div_ceil(2);
                let second = batch.split_off(self.most);
                self.parts.extend([second, batch]);
                return Ok(Step::Made(0));
            }
            let Some(mut piece) = batch.pop() else { return Ok(Step::Made(0)) };
            if piece.text.chars().count() > SHORT {
                piece.text = piece.text.chars().take(SHORT).collect();
                self.parts.push(vec![piece]);
                return Ok(Step::Made(0));
            }
            self.suspects.push(piece.row);
            let known = self.passed || index::space_of(store, embedder.model())?.is_some();
            if self.suspects.len() < if known { SUSPECTS } else { SUSPECTS_AT_FIRST } {
                self.report.failure = Some(failure(embedder, &fault.verdict, cleaner));
                return Ok(Step::Made(0));
            }
        } else if let Verdict::RateLimited { retry_after } = fault.verdict {
            let wait = retry_after.unwrap_or(Duration::from_secs(1 << self.waits.min(6)));
            if self.pace == Pace::Watched && self.waits < WATCHED_WAITS && wait <= WATCHED_WAIT {
                self.waits += 1;
                self.parts.push(batch);
                thread::sleep(wait);
                return Ok(Step::Made(0));
            }
        }
        self.pause(embedder, store, cleaner, &fault.verdict)
    }

    /// What failed by itself while others passed is refused.
    fn refused(&mut self) -> Vec<(Unembedded, Option<Vec<f32>>)> {
        self.report.refused += self.suspects.len() as u64;
        self.report.failure = None;
        self.suspects.drain(..).map(|row| (row, None)).collect()
    }

    /// Texts that failed last. Where none passed in this round, nothing tells whose fault it is: they wait.
    fn settle_suspects(&mut self, embedder: &Embedder, store: &Store) -> Result<(), StoreError> {
        let space = index::space_of(store, embedder.model())?;
        match (self.suspects.is_empty(), self.passed, space, self.report.failure.clone()) {
            (false, true, Some(space), _) => {
                let made = self.refused();
                index::keep(store, &space, &made, Timestamp::now())
            }
            (false, _, _, Some(Failure { message, remedy })) => {
                self.write_pause(embedder, store, "unrecoverable", (message, remedy), pause::USER_WAIT)
            }
            _ => Ok(()),
        }
    }

    fn pause(
        &mut self,
        embedder: &Embedder,
        store: &Store,
        cleaner: &Cleaner,
        verdict: &Verdict,
    ) -> Result<Step, StoreError> {
        self.failures = self.failures.saturating_add(1);
        let Failure { message, remedy } = failure(embedder, verdict, cleaner);
        let wait = pause::wait(verdict, self.failures, Timestamp::now());
        self.write_pause(embedder, store, verdict.class(), (message, remedy), wait)?;
        Ok(Step::Over)
    }

    fn write_pause(
        &mut self,
        embedder: &Embedder,
        store: &Store,
        class: &str,
        (message, remedy): (String, String),
        wait: Duration,
    ) -> Result<(), StoreError> {
        self.over = true;
        let now = Timestamp::now();
        let pause = EmbeddingPause {
            fingerprint: embedder.fingerprint.clone(),
            class: class.to_owned(),
            message: message.clone(),
            remedy: remedy.clone(),
            failures: self.failures,
            since: now,
            until: now.plus(wait),
        };
        self.report.failure = Some(Failure { message, remedy });
        pause.write(store)
    }

    /// Which daily limit leaves nothing for embeddings, if one does: who watches may use it up, others half of it.
    fn used_up(&self, store: &Store) -> Result<Option<String>, StoreError> {
        if self.daily_tokens == 0 && self.daily_usd == 0.0 {
            return Ok(None);
        }
        let (today, _) = Timestamp::now().day();
        let spent = store.spent(today, &self.prices)?;
        if self.pace == Pace::Watched {
            return Ok(spent.over(self.daily_tokens, self.daily_usd));
        }
        let share = |limit: u64| if limit == 0 { 0 } else { (limit / SHARE).max(1) };
        let over = spent.over(share(self.daily_tokens), self.daily_usd / SHARE as f64);
        Ok(over.map(|_| String::from("half of a daily limit (CMEM_DAILY_TOKENS, CMEM_DAILY_USD) is used; the rest is for the observer")))
    }
}

fn failure(embedder: &Embedder, verdict: &Verdict, cleaner: &Cleaner) -> Failure {
    let host = embedder.host();
    let told = cleaner.redact(&message(verdict));
    let message = if told.contains(&host) { told } else { format!("{host}: {told}") };
    Failure { message, remedy: Embedder::remedy(verdict).to_owned() }
}

fn setup_failure(error: &SetupError) -> Failure {
    Failure { message: error.to_string(), remedy: error.remedy() }
}
