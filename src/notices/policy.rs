//! What follows from each answer. Pure, so that every rule is one row in the tests.

use std::time::Duration;

use crate::model::Timestamp;
use crate::store::Fate;

/// A failure that may pass ends the attempts when the notice is this old.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// Wait after the first failure that may pass; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(30);
/// Longest wait between attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(3600);
/// Wait after a 429 that names no time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(60);

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It was taken.
    Sent,
    /// Too many requests; the wait that the server asks for.
    RateLimited(Option<Duration>),
    /// The network or the server failed for now.
    Transient,
    /// The same request would be refused again.
    Refused,
    /// It went out and nothing came back: it may have arrived.
    Unknown,
}

impl Class {
    pub(super) fn of_status(status: u16, wait: Option<Duration>) -> Self {
        match status {
            200..300 => Self::Sent,
            429 => Self::RateLimited(wait),
            408 | 425 | 500.. => Self::Transient,
            400..500 => Self::Refused,
            // A redirect: the address is wrong, or somebody stands in between.
            _ => Self::Transient,
        }
    }

    /// Whether the next notice to the same destination would meet the same.
    pub(super) fn ends_the_round(self) -> bool {
        !matches!(self, Self::Sent | Self::Refused)
    }
}

/// The fate of a notice that was queued at `queued_at` and has been tried `tries` times.
pub(super) fn fate(
    class: Class,
    (reason, remedy): (String, String),
    tries: u32,
    queued_at: Timestamp,
    now: Timestamp,
) -> Fate {
    let (due_at, held) = match class {
        Class::Sent => return Fate::Sent,
        Class::Refused | Class::Unknown => return Fate::GivenUp { reason, remedy },
        Class::RateLimited(wait) => (now.plus(wait.unwrap_or(RATE_LIMIT_WAIT)), true),
        Class::Transient => (now.plus(backoff(tries)), false),
    };
    // After a long sleep of the machine there is still one attempt.
    if u128::try_from(now.since_ms(queued_at)).is_ok_and(|age| age >= MAX_AGE.as_millis()) {
        return Fate::GivenUp {
            reason: format!("{reason} (for {} hours)", MAX_AGE.as_secs() / 3600),
            remedy,
        };
    }
    Fate::Again { due_at, held, reason, remedy }
}

fn backoff(tries: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(MAX_BACKOFF)
}

/// The moment before which a notice that nobody takes is too old.
pub(super) fn too_old(now: Timestamp) -> Timestamp {
    now.plus_ms(-i64::try_from(MAX_AGE.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_770_000_000_000);

    fn rule(class: Class, tries: u32, age: Duration) -> Fate {
        let queued_at = NOW.plus_ms(-i64::try_from(age.as_millis()).unwrap());
        fate(class, (String::from("why"), String::from("do")), tries, queued_at, NOW)
    }

    fn wait(fate: &Fate) -> Option<(i64, bool)> {
        match fate {
            Fate::Again { due_at, held, .. } => Some((due_at.since_ms(NOW) / 1000, *held)),
            _ => None,
        }
    }

    #[test]
    fn statuses() {
        for (status, class) in [
            (200, Class::Sent),
            (204, Class::Sent),
            (302, Class::Transient),
            (400, Class::Refused),
            (401, Class::Refused),
            (403, Class::Refused),
            (404, Class::Refused),
            (408, Class::Transient),
            (410, Class::Refused),
            (429, Class::RateLimited(None)),
            (500, Class::Transient),
            (503, Class::Transient),
        ] {
            assert_eq!(Class::of_status(status, None), class, "{status}");
        }
    }

    #[test]
    fn what_may_pass_is_tried_again_for_a_day() {
        let day = Duration::from_secs(24 * 3600);
        let soon = Duration::from_secs(1);
        assert_eq!(wait(&rule(Class::Transient, 1, soon)), Some((30, false)));
        assert_eq!(wait(&rule(Class::Transient, 4, soon)), Some((240, false)));
        assert_eq!(wait(&rule(Class::Transient, 4_000, soon)), Some((3600, false)));
        let held = Class::RateLimited(Some(Duration::from_secs(7)));
        assert_eq!(wait(&rule(held, 1, soon)), Some((7, true)));
        assert_eq!(wait(&rule(Class::RateLimited(None), 1, soon)), Some((60, true)));
        for class in [Class::Transient, held] {
            let Fate::GivenUp { reason, .. } = rule(class, 9, day) else { panic!("{class:?}") };
            assert_eq!(reason, "why (for 24 hours)");
        }
    }

    #[test]
    fn a_refusal_and_an_answer_that_never_came_are_final() {
        for class in [Class::Refused, Class::Unknown] {
            assert!(matches!(rule(class, 1, Duration::ZERO), Fate::GivenUp { .. }), "{class:?}");
        }
        assert_eq!(rule(Class::Sent, 1, Duration::ZERO), Fate::Sent);
    }
}
