//! What keeps the observer from working, in one place: `pause.json`, which a hook can look for without opening a
//! database. Read by hooks, status, doctor and the drainer.

use std::fs;
use std::io;

use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use super::{Spool, SpoolError};
use crate::config::{Paths, Provider, Settings, replace};
use crate::model::Timestamp;

const LAST_ERROR: &str = "last_error";
/// A fallback takes over when the provider will not be back within this time. A short failure is better waited for, as
/// the events are safe.
const SHORT_WAIT_MS: i64 = 60_000;

/// The observer is not called for now. Events go on being kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Class of the failure: `auth`, `quota`, `rate_limited`, `transient`, `unrecoverable` or `setup`.
    pub class: String,
    /// When to try again; `None` = when a setting changes or a new session starts.
    pub until: Option<Timestamp>,
    /// What happened.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
    /// Failures in a row.
    pub failures: u32,
    /// Fingerprint of the settings that failed: with others it is worth another try at once.
    pub fingerprint: String,
    /// A new session started since: one try is granted.
    pub probe: bool,
    /// The provider itself said how long to wait before the next request.
    #[serde(default)]
    pub asked: bool,
    /// When the user's own `cmem drain` last tried all the same, in vain.
    #[serde(default)]
    pub insisted_at: Option<Timestamp>,
    /// When a notice is due: it is sent although nobody is called.
    #[serde(default)]
    pub errand: Option<Timestamp>,
    /// The pause of the fallback, when that failed as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Box<Self>>,
}

impl Pause {
    /// A pause after the given failure.
    pub fn begin(failure: &LastError, until: Option<Timestamp>, failures: u32, fingerprint: String) -> Self {
        Self {
            class: failure.class.clone(),
            until,
            message: failure.message.clone(),
            remedy: failure.remedy.clone(),
            failures,
            fingerprint,
            probe: false,
            asked: false,
            insisted_at: None,
            errand: None,
            fallback: None,
        }
    }

    /// The failure behind it, as of now.
    pub fn failure(&self) -> LastError {
        LastError {
            at: Timestamp::now(),
            class: self.class.clone(),
            message: self.message.clone(),
            remedy: self.remedy.clone(),
        }
    }

    /// Whether the observer must not be called at `now` with settings of this fingerprint.
    pub fn holds(&self, now: Timestamp, fingerprint: &str) -> bool {
        let over = self.until.is_some_and(|until| until <= now);
        !(over || self.probe || self.fingerprint != fingerprint)
    }

    /// Whether nobody may be called: neither the observer, nor who may be there to take its place.
    pub fn forbids(&self, now: Timestamp, fingerprint: &str, relief: Option<Relief>) -> bool {
        self.holds(now, fingerprint) && self.relieved_by(now, fingerprint, relief).is_none()
    }

    /// Who takes the place of the observer while this holds.
    pub fn relieved_by(&self, now: Timestamp, fingerprint: &str, relief: Option<Relief>) -> Option<Relief> {
        let is_paused = self.fallback.as_ref().is_some_and(|pause| pause.holds(now, fingerprint));
        relief.filter(|relief| !is_paused && relief.takes_over(&self.class, self.until, now))
    }

    /// Whether a notice waits to be sent at `now`.
    pub fn has_errand(&self, now: Timestamp) -> bool {
        self.errand.is_some_and(|at| at <= now)
    }

    /// Whether only the user can end it.
    pub fn needs_user(&self) -> bool {
        !matches!(self.class.as_str(), "rate_limited" | "transient")
    }
}

/// Who takes the events of a provider that is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relief {
    /// Who it is.
    pub provider: Provider,
    /// `CMEM_FALLBACK_PROVIDER` names it. Otherwise it is the embedded observer behind `auto`.
    pub is_named: bool,
}

impl Relief {
    /// Whom the settings provide for.
    pub fn of(settings: &Settings) -> Option<Self> {
        match settings.fallback_provider {
            Some(provider) => Some(Self { provider, is_named: true }),
            None if settings.provider == Provider::Auto => {
                Some(Self { provider: Provider::Builtin, is_named: false })
            }
            None => None,
        }
    }

    /// Whether it takes the events of a provider that is paused with this class until then: one that is named, of a
    /// provider that will not be back soon; the one behind `auto`, of a command that cannot be used at all.
    pub fn takes_over(self, class: &str, until: Option<Timestamp>, now: Timestamp) -> bool {
        if self.is_named {
            until.is_none_or(|until| until.since_ms(now) > SHORT_WAIT_MS)
        } else {
            matches!(class, "auth" | "setup")
        }
    }
}

/// The last failure, kept after it is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    /// When.
    pub at: Timestamp,
    /// Class of the failure.
    pub class: String,
    /// What happened.
    pub message: String,
    /// What the user can do.
    pub remedy: String,
}

impl Pause {
    /// The present pause. One that cannot be read is none: the next failure writes it anew.
    pub fn read(paths: &Paths) -> Option<Self> {
        serde_json::from_slice(&fs::read(paths.pause()).ok()?).ok()
    }

    /// Starts or prolongs a pause. A reader sees the old one or the new one.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn write(&self, paths: &Paths) -> Result<(), SpoolError> {
        let path = paths.pause();
        replace(&path, &serde_json::to_vec(self)?).map_err(|source| SpoolError::File { path, source })
    }

    /// Ends the pause, if there is one: the observer answered, or the user asked for a retry.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be removed.
    pub fn end(paths: &Paths) -> Result<(), SpoolError> {
        let path = paths.pause();
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(SpoolError::File { path, source }),
            _ => Ok(()),
        }
    }

    /// A new session is an occasion to try again what only the user can mend: he may have mended it.
    ///
    /// # Errors
    /// [`SpoolError::File`] when it cannot be written.
    pub fn grant_probe(paths: &Paths) -> Result<(), SpoolError> {
        match Self::read(paths) {
            Some(pause) if pause.needs_user() && !pause.probe => {
                Self { probe: true, fallback: None, ..pause }.write(paths)
            }
            _ => Ok(()),
        }
    }
}

impl Spool {
    /// The last failure.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn last_error(&self) -> Result<Option<LastError>, SpoolError> {
        let mut statement = self.conn.prepare_cached("SELECT value FROM state WHERE key = ?1")?;
        let value: Option<String> = statement.query_row([LAST_ERROR], |row| row.get(0)).optional()?;
        Ok(value.map(|json| serde_json::from_str(&json)).transpose()?)
    }

    /// Remembers a failure.
    ///
    /// # Errors
    /// [`SpoolError`] when the database fails.
    pub fn set_last_error(&self, error: &LastError) -> Result<(), SpoolError> {
        self.conn
            .prepare_cached(
                "INSERT INTO state (key, value) VALUES (?1, ?2)
                 ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )?
            .execute((LAST_ERROR, serde_json::to_string(error)?))?;
        Ok(())
    }
}
