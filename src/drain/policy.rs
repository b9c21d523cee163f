//! What follows from each class of answer: which rows wait, for how long, and whether the observer is called
//! again. Pure, so that every rule is one table row in the tests.

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
/// Wait after a 429 that names no time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(30);
/// Wait for a quota that names no time; then one probe.
const QUOTA_WAIT: Duration = Duration::from_secs(30 * 60);
/// Longest wait after failures of the network or the provider.
const MAX_BACKOFF: Duration = Duration::from_secs(300);

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
        Verdict::Malformed { .. } => Some("malformed"),
        Verdict::RateLimited { .. } => Some("rate_limited"),
        Verdict::Quota { .. } => Some("quota"),
        Verdict::Auth { .. } => Some("auth"),
        Verdict::Transient { .. } => Some("transient"),
        Verdict::Unrecoverable { .. } => Some("unrecoverable"),
    }
}

/// The rule for a failed batch of `size` events with `attempts` failed passes behind it, after `failures`
/// failures of the provider in a row.
pub(super) fn consequence(
    verdict: &Verdict,
    class: &'static str,
    size: usize,
    attempts: i64,
    failures: u32,
    now: Timestamp,
) -> Consequence {
    let keep = |until: Option<Timestamp>, reason: &str| Consequence {
        rows: RowUpdate {
            attempts,
            batch_limit: None,
            due_at: until.unwrap_or_default(),
            parked: false,
            class,
            reason: reason.to_owned(),
        },
        stop: Some(until),
    };
    let after = |wait: Duration| Some(now.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)));
    match verdict {
        Verdict::RateLimited { retry_after } => {
            keep(after(retry_after.unwrap_or(RATE_LIMIT_WAIT)), "too many requests")
        }
        Verdict::Quota { reset, message } => keep(reset.or_else(|| after(QUOTA_WAIT)), message),
        Verdict::Auth { message } => keep(None, message),
        Verdict::Transient { message } => keep(after(backoff(failures)), message),
        Verdict::Unrecoverable { message } => {
            let kept = keep(None, message);
            Consequence { rows: RowUpdate { parked: true, ..kept.rows }, ..kept }
        }
        Verdict::Malformed { reason } => malformed(reason, class, size, attempts + 1, now),
        Verdict::Stored(_) | Verdict::Nothing => keep(None, ""),
    }
}

fn malformed(reason: &str, class: &'static str, size: usize, attempts: i64, now: Timestamp) -> Consequence {
    let parked = size == 1 && attempts >= MALFORMED_PASSES;
    let wait = backoff(u32::try_from(attempts).unwrap_or(u32::MAX));
    Consequence {
        rows: RowUpdate {
            attempts,
            batch_limit: Some(u32::try_from(size.div_ceil(2)).unwrap_or(u32::MAX)),
            due_at: now.plus_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)),
            parked,
            class,
            reason: reason.to_owned(),
        },
        stop: None,
    }
}

/// Doubles from two seconds, with up to a quarter of jitter so that several machines do not knock together.
fn backoff(failures: u32) -> Duration {
    let base = Duration::from_secs(1 << failures.clamp(1, 9)).min(MAX_BACKOFF);
    let jitter = RandomState::new().build_hasher().finish() % 250;
    base + base.mul_f64(jitter as f64 / 1000.0)
}

/// Identifies the settings that decide whether an observer can be reached, without revealing them.
pub fn fingerprint(settings: &Settings) -> String {
    let mut hash = Sha256::new();
    let limits = [settings.daily_tokens.to_string(), settings.daily_usd.to_string()];
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
        &limits[0],
        &limits[1],
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
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn rule(verdict: &Verdict, size: usize, attempts: i64) -> Consequence {
        consequence(verdict, failure_class(verdict).unwrap(), size, attempts, 1, NOW)
    }

    #[test]
    fn only_the_two_good_classes_confirm() {
        assert!(failure_class(&Verdict::Nothing).is_none());
        assert!(failure_class(&Verdict::Stored(crate::observer::Reply::default())).is_none());
    }

    #[test]
    fn retry_after_is_obeyed_to_the_millisecond() {
        let verdict = Verdict::RateLimited { retry_after: Some(Duration::from_secs(2)) };
        let rule = rule(&verdict, 3, 0);
        assert_eq!(rule.stop, Some(Some(NOW.plus_ms(2000))));
        assert!(!rule.rows.parked);
    }

    #[test]
    fn refused_credentials_wait_for_the_user() {
        let rule = rule(&Verdict::Auth { message: String::from("401") }, 3, 0);
        assert_eq!(rule.stop, Some(None));
        assert_eq!((rule.rows.parked, rule.rows.attempts), (false, 0));
    }

    #[test]
    fn a_quota_obeys_its_reset_time() {
        let reset = Some(NOW.plus_ms(77));
        let rule = rule(&Verdict::Quota { reset, message: String::new() }, 1, 0);
        assert_eq!(rule.stop, Some(reset));
    }

    #[test]
    fn transient_failures_back_off_and_stop_at_five_minutes() {
        let wait = |failures| {
            let verdict = Verdict::Transient { message: String::new() };
            let rule = consequence(&verdict, "transient", 1, 0, failures, NOW);
            rule.stop.unwrap().unwrap().since_ms(NOW)
        };
        assert!((2000..=2500).contains(&wait(1)));
        assert!((8000..=10_000).contains(&wait(3)));
        assert!((300_000..=375_000).contains(&wait(30)));
    }

    #[test]
    fn malformed_answers_halve_the_batch_and_park_a_single_event_in_the_third_pass() {
        let verdict = Verdict::Malformed { reason: String::from("prose") };
        let first = rule(&verdict, 25, 0);
        assert_eq!((first.rows.batch_limit, first.rows.parked, first.stop), (Some(13), false, None));
        assert!(!rule(&verdict, 1, 1).rows.parked);
        assert!(!rule(&verdict, 2, 5).rows.parked);
        assert!(rule(&verdict, 1, 2).rows.parked);
    }

    #[test]
    fn an_unrecoverable_batch_is_parked_and_the_others_wait() {
        let rule = rule(&Verdict::Unrecoverable { message: String::from("404") }, 3, 0);
        assert!(rule.rows.parked);
        assert_eq!(rule.stop, Some(None));
    }
}
