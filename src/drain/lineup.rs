//! Who observes now: the provider, or its fallback while the provider cannot be called.

use std::cell::Cell;
use std::rc::Rc;

use super::fingerprint;
use super::record::Memory;
use super::run::DrainError;
use crate::config::{Paths, Provider, Settings};
use crate::log;
use crate::mode::Mode;
use crate::model::Timestamp;
use crate::observer::{self, Observer, ObserverError};
use crate::spool::{LastError, Pause, Spool, SpoolError};

/// The fallback takes over when the provider will not be back within this time. A short failure is better waited
/// for, as the events are safe.
const SHORT_WAIT_MS: i64 = 60_000;

/// An observer with the settings that made it.
pub(super) struct Post {
    pub(super) observer: Box<dyn Observer>,
    pub(super) settings: Settings,
    /// It stands in for the provider.
    stands_in: bool,
}

/// The provider and its fallback, if one is named.
pub(super) struct Lineup<'a> {
    paths: &'a Paths,
    settings: &'a Settings,
    /// Or why it cannot be set up.
    provider: Result<Rc<Post>, LastError>,
    fallback: Option<Rc<Post>>,
    /// The user asked for this run, so a network that failed before is tried once more.
    foreground: bool,
    /// The provider failed in this run.
    failed: Cell<bool>,
}

impl<'a> Lineup<'a> {
    /// Sets both up. Sends nothing.
    ///
    /// # Errors
    /// [`DrainError::Observer`] when neither can work; why the provider cannot is also remembered as a pause.
    pub(super) fn new(
        paths: &'a Paths,
        settings: &'a Settings,
        spool: &Spool,
        foreground: bool,
    ) -> Result<Self, DrainError> {
        let mode = mode(paths, settings, foreground)?;
        let post = |settings: &Settings, stands_in| {
            let observer = observer::new(settings, paths, mode.clone())?;
            Ok::<_, ObserverError>(Rc::new(Post { observer, settings: settings.clone(), stands_in }))
        };
        let fallback = settings.of_fallback().and_then(|settings| {
            post(&settings, true)
                .inspect_err(|error| log::error(paths, &format!("CMEM_FALLBACK_PROVIDER: {error}")))
                .ok()
        });
        let provider = match post(settings, false) {
            Ok(provider) => Ok(provider),
            Err(error) => {
                let failure = LastError {
                    at: Timestamp::now(),
                    class: String::from("setup"),
                    message: error.to_string(),
                    remedy: error.remedy(),
                };
                Pause::begin(&failure, None, 1, fingerprint(settings)).write(paths)?;
                spool.set_last_error(&failure)?;
                if fallback.is_none() {
                    return Err(error.into());
                }
                Err(failure)
            }
        };
        Ok(Self { paths, settings, provider, fallback, foreground, failed: Cell::new(false) })
    }

    /// Who may be called now, or what keeps the provider from it.
    ///
    /// # Errors
    /// [`DrainError`] when a database fails.
    pub(super) fn at_work(
        &self,
        spool: &Spool,
        memory: &Memory,
    ) -> Result<Result<Rc<Post>, LastError>, DrainError> {
        let pause = Pause::read(self.paths);
        let now = Timestamp::now();
        let holds = |pause: &Pause| pause.holds(now, &fingerprint(self.settings));
        let (obstacle, until) = match &self.provider {
            Err(failure) => (failure.clone(), None),
            Ok(provider) => {
                match pause.as_ref().filter(|pause| holds(pause) && !self.is_tried_again(pause)) {
                    Some(pause) => (pause.failure(), pause.until),
                    None => match self.used_up(provider, spool, memory, now)? {
                        Some((failure, until)) => (failure, Some(until)),
                        None => return Ok(Ok(Rc::clone(provider))),
                    },
                }
            }
        };
        Ok(match &self.fallback {
            Some(fallback)
                if takes_over(until, now)
                    && !pause.as_ref().and_then(|pause| pause.fallback.as_deref()).is_some_and(holds)
                    && self.used_up(fallback, spool, memory, now)?.is_none() =>
            {
                Ok(Rc::clone(fallback))
            }
            _ => Err(obstacle),
        })
    }

    /// Whether somebody takes the events of a provider that is paused until then.
    pub(super) fn is_relieved(&self, post: &Post, until: Option<Timestamp>, now: Timestamp) -> bool {
        !post.stands_in && self.fallback.is_some() && takes_over(until, now)
    }

    fn is_tried_again(&self, pause: &Pause) -> bool {
        self.foreground && !self.failed.get() && pause.class == "transient"
    }

    /// How often an observer failed in a row with this class, before now.
    pub(super) fn failures(&self, post: &Post, class: &str) -> u32 {
        let pause = Pause::read(self.paths);
        let pause =
            if post.stands_in { pause.and_then(|pause| pause.fallback).map(|pause| *pause) } else { pause };
        pause.filter(|pause| pause.class == class).map_or(0, |pause| pause.failures)
    }

    /// The observer must not be called for now.
    ///
    /// # Errors
    /// [`SpoolError::File`] when that cannot be written.
    pub(super) fn pause(
        &self,
        post: &Post,
        spool: &Spool,
        failure: &LastError,
        until: Option<Timestamp>,
        failures: u32,
    ) -> Result<(), SpoolError> {
        spool.set_last_error(failure)?;
        let own = Pause::begin(failure, until, failures, fingerprint(self.settings));
        let of_provider = Pause::read(self.paths);
        let pause = if post.stands_in {
            match of_provider {
                Some(pause) => Pause { fallback: Some(Box::new(own)), ..pause },
                None => return Ok(()),
            }
        } else {
            self.failed.set(true);
            Pause { fallback: of_provider.and_then(|pause| pause.fallback), ..own }
        };
        pause.write(self.paths)
    }

    /// The observer answered.
    ///
    /// # Errors
    /// [`SpoolError::File`] when the end of its pause cannot be written.
    pub(super) fn resume(&self, post: &Post) -> Result<(), SpoolError> {
        if !post.stands_in {
            return Pause::end(self.paths);
        }
        match Pause::read(self.paths) {
            Some(pause @ Pause { fallback: Some(_), .. }) => {
                Pause { fallback: None, ..pause }.write(self.paths)
            }
            _ => Ok(()),
        }
    }

    /// The day's allowance is used up, and until when.
    fn used_up(
        &self,
        post: &Post,
        spool: &Spool,
        memory: &Memory,
        now: Timestamp,
    ) -> Result<Option<(LastError, Timestamp)>, DrainError> {
        let Settings { daily_tokens, daily_usd, prices, .. } = self.settings;
        if post.observer.provider() == Provider::Builtin || (*daily_tokens == 0 && *daily_usd == 0.0) {
            return Ok(None);
        }
        let (today, tomorrow) = now.day();
        let (tokens, dollars) = memory.spent(today, prices)?;
        let message = if *daily_tokens > 0 && tokens >= *daily_tokens {
            format!("{tokens} tokens today; CMEM_DAILY_TOKENS is {daily_tokens}")
        } else if *daily_usd > 0.0 && dollars >= *daily_usd {
            format!("${dollars:.2} today; CMEM_DAILY_USD is {daily_usd}")
        } else {
            return Ok(None);
        };
        let failure = LastError {
            at: now,
            class: String::from("quota"),
            message,
            remedy: String::from("wait until midnight, or raise the limit and `cmem queue retry --all`"),
        };
        self.pause(post, spool, &failure, Some(tomorrow), 1)?;
        Ok(Some((failure, tomorrow)))
    }
}

/// Whether a fallback takes the events of a provider that is paused until then.
fn takes_over(until: Option<Timestamp>, now: Timestamp) -> bool {
    until.is_none_or(|until| until.since_ms(now) > SHORT_WAIT_MS)
}

/// The mode of the settings. A hook's drainer has nobody to tell, so it works with `code` where that one cannot be
/// used, and leaves a note.
fn mode(paths: &Paths, settings: &Settings, foreground: bool) -> Result<Mode, ObserverError> {
    match Mode::load_or_english(settings, paths) {
        (_, Some(problem)) if foreground => Err(problem.into()),
        (mode, Some(problem)) => {
            log::error_once(paths, &format!("CMEM_MODE: {problem}"));
            Ok(mode)
        }
        (mode, None) => Ok(mode),
    }
}
