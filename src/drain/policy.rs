//! What follows from each class of answer: which rows wait, for how long, and whether the observer is called
//! again. Pure, so that every rule is one table row in the tests.
//!
//! A refusal seldom says whose fault it is: the provider may be down, or it may refuse this one batch (a moderated
//! text, a request that takes it too long, a limit that is too small for it). So:
//! - A failure is first taken for the provider's. It is paused, and nothing is held against the batch, however long
//!   that lasts: an outage parks no event.
//! - The next try is another batch's, where there is one (`spool` offers what was not tried for longest).
//! - A failure is the batch's own when the provider confirmed another one since it last failed. Then it alone waits and
//!   is halved, and an event that goes on failing by itself is parked.
//! - Once there is such evidence, a batch that fails with no other one in between proves nothing: it waits longer, and
//!   whether the provider is down is for the others to show.
//! - Too much at once looks like a failure of the provider too. So a batch that failed often in a row is halved without
//!   any such evidence, less and less often: an outage must not leave crumbs.
//! - No pause is shorter than the failures in a row deserve, whatever the provider asks for.

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::config::{Provider, Settings};
use crate::model::Timestamp;
use crate::observer::Verdict;
use crate::spool::RowUpdate;

/// Malformed answers to one event before it is parked. Three passes, each with a stricter second question,
/// are spread over time: a model that is confused for a minute costs no event.
const MALFORMED_PASSES: i64 = 3;
/// Refusals of one event before it is parked, when others went through between them.
const REFUSED_PASSES: i64 = 3;
/// The same for failures that may be chance, however unlikely.
const FAILED_PASSES: i64 = 6;
/// After so many failures in a row a batch is halved, whoever is to blame; then after twice as many, and so on.
const HALVED_AFTER: i64 = 3;
/// Wait after a 429 that names no time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(30);
/// Wait for a quota that names no time; then one probe.
const QUOTA_WAIT: Duration = Duration::from_secs(30 * 60);
/// Longest wait after failures of the network or the provider.
const MAX_BACKOFF: Duration = Duration::from_secs(300);

/// What a batch has behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    /// Its events.
    pub size: usize,
    /// Failures that are held against it.
    pub attempts: i64,
    /// Its failures in a row, those of the provider among them.
    pub failed: i64,
    /// The provider confirmed another batch since it last failed.
    pub others_pass: bool,
}

/// What to do after an answer that does not confirm its batch.
#[derive(Debug)]
pub(super) struct Consequence {
    /// How the rows go back.
    pub rows: RowUpdate,
    /// Whether the observer may be called for another batch in this run; otherwise until when it must not
    /// be (`None` = until a setting changes or a session starts).
    pub stop: Option<Option<Timestamp>>,
}

/// Name of the failure class of a verdict; `None` for the two that confirm a batch.
pub(super) fn failure_class(verdict: &Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Stored(_) | Verdict::Nothing => None,
        failure => Some(failure.class()),
    }
}

/// The rule for a failed batch, after `failures` failures of the provider in a row, this one among them.
pub(super) fn consequence(
    verdict: &Verdict,
    class: &'static str,
    history: History,
    failures: u32,
    now: Timestamp,
) -> Consequence {
    // A wait of no time, or until a moment that is past, would be none.
    let floor = backoff(failures.saturating_sub(1));
    let of_provider = |until: Option<Timestamp>, reason: &str| of_provider(until, reason, class, history);
    let of_batch = |most: i64, reason: &str| of_batch(most, reason, class, history, now);
    match verdict {
        // That others pass is no evidence here: they are what used the limit up.
        Verdict::RateLimited { retry_after } => {
            let wait = retry_after.unwrap_or(RATE_LIMIT_WAIT).max(floor);
            of_provider(Some(now.plus(wait)), "too many requests")
        }
        Verdict::Quota { message, .. } | Verdict::Auth { message } if history.others_pass => {
            of_batch(REFUSED_PASSES, message)
        }
        Verdict::Transient { message } if history.others_pass => of_batch(FAILED_PASSES, message),
        Verdict::Quota { message, .. } | Verdict::Auth { message } | Verdict::Transient { message }
            if history.attempts > 0 =>
        {
            let failed = u32::try_from(history.failed + 1).unwrap_or(u32::MAX);
            let kept = of_provider(Some(now.plus(backoff(failed))), message);
            Consequence { stop: None, ..kept }
        }
        Verdict::Quota { reset, message } => {
            let until = reset.map_or_else(|| now.plus(QUOTA_WAIT), |reset| reset.max(now.plus(floor)));
            of_provider(Some(until), message)
        }
        Verdict::Auth { message } => of_provider(None, message),
        Verdict::Transient { message } => of_provider(Some(now.plus(backoff(failures))), message),
        Verdict::Unrecoverable { message } => {
            let kept = of_provider(None, message);
            Consequence { rows: RowUpdate { parked: true, ..kept.rows }, ..kept }
        }
        Verdict::Malformed { reason } => of_batch(MALFORMED_PASSES, reason),
        Verdict::Stored(_) | Verdict::Nothing => of_provider(None, ""),
    }
}

/// Nobody is called until then, and nothing is held against the batch.
fn of_provider(until: Option<Timestamp>, reason: &str, class: &'static str, history: History) -> Consequence {
    let failed = history.failed + 1;
    let (rounds, rest) = (failed / HALVED_AFTER, failed % HALVED_AFTER);
    let halved = rest == 0 && u64::try_from(rounds).is_ok_and(u64::is_power_of_two);
    Consequence {
        rows: RowUpdate {
            attempts: history.attempts,
            failed,
            batch_limit: halved.then(|| half(history.size)),
            due_at: until.unwrap_or_default(),
            parked: false,
            class,
            reason: reason.to_owned(),
        },
        stop: Some(until),
    }
}

/// The batch is halved and waits; what fails by itself for the `most`th time is parked. Others go on.
fn of_batch(most: i64, reason: &str, class: &'static str, history: History, now: Timestamp) -> Consequence {
    let attempts = history.attempts + 1;
    let wait = backoff(u32::try_from(attempts).unwrap_or(u32::MAX));
    Consequence {
        rows: RowUpdate {
            attempts,
            failed: history.failed + 1,
            batch_limit: Some(half(history.size)),
            due_at: now.plus(wait),
            parked: history.size == 1 && attempts >= most,
            class,
            reason: reason.to_owned(),
        },
        stop: None,
    }
}

fn half(size: usize) -> u32 {
    u32::try_from(size.div_ceil(2)).unwrap_or(u32::MAX)
}

/// Doubles from one second, with up to a quarter of jitter so that several machines do not knock together.
fn backoff(failures: u32) -> Duration {
    let base = Duration::from_secs(1 << failures.min(9)).min(MAX_BACKOFF);
    let jitter = RandomState::new().build_hasher().finish() % 250;
    base + base.mul_f64(jitter as f64 / 1000.0)
}

/// Identifies the settings that decide whether an observer can be reached, without revealing them.
pub fn fingerprint(settings: &Settings) -> String {
    let mut hash = Sha256::new();
    let limits = [settings.daily_tokens.to_string(), settings.daily_usd.to_string()];
    let prices = format!("{:?}", settings.prices);
    let inherited = settings.claude_env.join(",");
    for part in [
        settings.provider.name(),
        settings.fallback_provider.map_or("", Provider::name),
        &settings.fallback_model,
        &settings.model,
        &settings.anthropic_api_key,
        &settings.anthropic_base_url,
        &settings.openai_api_key,
        &settings.openai_base_url,
        &settings.gemini_api_key,
        &settings.gemini_base_url,
        &inherited,
        &limits[0],
        &limits[1],
        &prices,
    ] {
        hash.update(part.len().to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
