//! Why the endpoint is not asked for now: a row of `memory.db`, so that it is told and outlives its drainer.

use std::time::Duration;

use rusqlite::OptionalExtension;

use crate::model::Timestamp;
use crate::observer::Verdict;
use crate::store::{Store, StoreError};

/// Wait after a 429 that names no time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(30);
/// Wait for a quota that names no time.
const QUOTA_WAIT: Duration = Duration::from_secs(30 * 60);
/// Wait after what most likely only the user can mend; he need not wait for it.
pub(super) const USER_WAIT: Duration = Duration::from_secs(60 * 60);
/// Longest wait after failures of the network or the endpoint.
const MAX_BACKOFF: Duration = Duration::from_secs(5 * 60);

/// The endpoint is not asked for now. Observations wait, and nothing else does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingPause {
    /// Of the settings that failed: with others it is worth another try at once.
    pub(super) fingerprint: String,
    /// Class of the failure.
    pub class: String,
    /// What happened, without secrets.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
    /// Failures in a row.
    pub failures: u32,
    /// When the last one was.
    pub since: Timestamp,
    /// When it is asked again.
    pub until: Timestamp,
}

impl EmbeddingPause {
    pub(super) fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        Ok(store
            .conn()
            .prepare_cached(
                "SELECT fingerprint, class, message, remedy, failures, since, until FROM embedding_pause",
            )?
            .query_row([], |row| {
                Ok(Self {
                    fingerprint: row.get(0)?,
                    class: row.get(1)?,
                    message: row.get(2)?,
                    remedy: row.get(3)?,
                    failures: row.get(4)?,
                    since: Timestamp(row.get(5)?),
                    until: Timestamp(row.get(6)?),
                })
            })
            .optional()?)
    }

    pub(super) fn write(&self, store: &Store) -> Result<(), StoreError> {
        store.conn().execute(
            "INSERT OR REPLACE INTO embedding_pause
               (id, fingerprint, class, message, remedy, failures, since, until) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                &self.fingerprint,
                &self.class,
                &self.message,
                &self.remedy,
                self.failures,
                self.since.0,
                self.until.0,
            ),
        )?;
        Ok(())
    }

    pub(super) fn end(store: &Store) -> Result<(), StoreError> {
        store.conn().execute("DELETE FROM embedding_pause", [])?;
        Ok(())
    }

    /// Whether the endpoint is to be left alone.
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        now < self.until
    }
}

/// How long the endpoint is left alone after its `failures`th failure in a row.
pub(super) fn wait(verdict: &Verdict, failures: u32, now: Timestamp) -> Duration {
    let backoff = Duration::from_secs(1 << failures.min(9)).min(MAX_BACKOFF);
    match verdict {
        Verdict::RateLimited { retry_after } => retry_after.unwrap_or(RATE_LIMIT_WAIT).max(backoff / 2),
        Verdict::Quota { reset, .. } => reset.map_or(QUOTA_WAIT, |at| {
            Duration::from_millis(u64::try_from(at.since_ms(now)).unwrap_or(0)).max(backoff)
        }),
        Verdict::Transient { .. } => backoff,
        _ => USER_WAIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Paths;

    const NOW: Timestamp = Timestamp(1_770_000_000_000);

    #[test]
    fn each_class_waits_as_long_as_it_takes() {
        let seconds = |verdict: &Verdict, failures| wait(verdict, failures, NOW).as_secs();
        let text = String::new;
        let transient = Verdict::Transient { message: text() };
        assert_eq!([1, 3, 100].map(|failures| seconds(&transient, failures)), [2, 8, 300]);
        let limited = |seconds| Verdict::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
        assert_eq!((seconds(&limited(90), 1), seconds(&limited(0), 4)), (90, 8), "no wait is none");
        assert_eq!(seconds(&Verdict::RateLimited { retry_after: None }, 1), 30);
        let quota = |reset| Verdict::Quota { reset, message: text() };
        assert_eq!(seconds(&quota(None), 1), 1_800);
        assert_eq!(
            (seconds(&quota(Some(NOW.plus_ms(60_000))), 1), seconds(&quota(Some(Timestamp(0))), 2)),
            (60, 4)
        );
        for verdict in [Verdict::Auth { message: text() }, Verdict::Malformed { reason: text() }] {
            assert_eq!(seconds(&verdict, 1), 3_600);
        }
    }

    #[test]
    fn it_is_one_and_holds_until_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        assert_eq!(EmbeddingPause::read(&store).unwrap(), None);
        let pause = EmbeddingPause {
            fingerprint: String::from("a"),
            class: String::from("auth"),
            message: String::from("refused"),
            remedy: String::from("check it"),
            failures: 2,
            since: NOW,
            until: NOW.plus_ms(10),
        };
        EmbeddingPause { failures: 1, ..pause.clone() }.write(&store).unwrap();
        pause.write(&store).unwrap();
        assert_eq!(EmbeddingPause::read(&store).unwrap(), Some(pause.clone()));
        assert!(pause.holds(NOW) && !pause.holds(NOW.plus_ms(10)));
        EmbeddingPause::end(&store).unwrap();
        assert_eq!(EmbeddingPause::read(&store).unwrap(), None);
    }
}
