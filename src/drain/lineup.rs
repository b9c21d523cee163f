//! Who observes now: the provider, or whoever takes its place while it cannot be called.

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
use crate::spool::{LastError, Pause, Relief, Spool, SpoolError};

/// The user's own `cmem drain` tries a provider that is paused, but not again so soon after it was refused.
const INSISTENCE_MS: i64 = 10_000;
/// A drainer that waits for the end of a limit on requests does not come back to the second.
const COURTESY_MS: i64 = 10_000;

/// An observer with the settings that made it.
pub(super) struct Post {
    pub(super) observer: Box<dyn Observer>,
    pub(super) settings: Settings,
    /// It stands in for the provider.
    stands_in: bool,
}

/// The provider and whoever may take its place.
pub(super) struct Lineup<'a> {
    paths: &'a Paths,
    settings: &'a Settings,
    /// Or why it cannot be set up.
    provider: Result<Rc<Post>, LastError>,
    fallback: Option<(Relief, Rc<Post>)>,
    /// The user asked for this run, so a provider that failed before is tried once more.
    foreground: bool,
    /// The provider failed in this run.
    failed: Cell<bool>,
}

impl<'a> Lineup<'a> {
    /// Sets both up. Sends nothing. That the provider cannot be set up is remembered as a pause.
    ///
    /// # Errors
    /// [`DrainError`] when the user is there to be told that the mode cannot be used, or when a file fails.
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
        let fallback = Relief::of(settings).and_then(|relief| {
            post(&settings.of_fallback(relief.provider), true)
                .inspect_err(|error| log::error(paths, &format!("CMEM_FALLBACK_PROVIDER: {error}")))
                .ok()
                .map(|post| (relief, post))
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
                let before = Pause::read(paths);
                Pause {
                    fallback: before.and_then(|pause| pause.fallback),
                    ..Pause::begin(&failure, None, 1, fingerprint(settings))
                }
                .write(paths)?;
                spool.set_last_error(&failure)?;
                // Stays as it is until the user changes something, and every session has a drainer try.
                log::error_once(paths, &failure.message);
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
        let (obstacle, until) = match &self.provider {
            Err(failure) => (failure.clone(), None),
            Ok(provider) => {
                match pause.as_ref().filter(|pause| self.holds(pause, now) && !self.insists(pause, now)) {
                    Some(pause) => (self.told(pause), pause.until),
                    None => match self.used_up(provider, spool, memory, now)? {
                        Some((failure, until)) => (failure, Some(until)),
                        None => return Ok(Ok(Rc::clone(provider))),
                    },
                }
            }
        };
        let its_pause = pause.as_ref().and_then(|pause| pause.fallback.as_deref());
        Ok(match &self.fallback {
            Some((relief, fallback))
                if relief.takes_over(&obstacle.class, until, now)
                    && !its_pause.is_some_and(|pause| self.holds(pause, now))
                    && self.used_up(fallback, spool, memory, now)?.is_none() =>
            {
                Ok(Rc::clone(fallback))
            }
            _ => Err(obstacle),
        })
    }

    /// When somebody may be called again, if that only takes time.
    pub(super) fn free_at(&self, now: Timestamp) -> Option<Timestamp> {
        let pause = Pause::read(self.paths)?;
        let end = |pause: &Pause| {
            let courtesy = if pause.class == "rate_limited" { COURTESY_MS } else { 0 };
            pause.until.map(|until| until.max(now.plus_ms(courtesy)))
        };
        let of_provider = self.provider.is_ok().then(|| end(&pause)).flatten();
        let takes_over = self
            .fallback
            .as_ref()
            .is_some_and(|(relief, _)| relief.takes_over(&pause.class, pause.until, now));
        let of_fallback = pause.fallback.as_deref().filter(|_| takes_over).and_then(end);
        of_provider.into_iter().chain(of_fallback).min()
    }

    /// Whether somebody takes the events of a provider that is paused with this class until then.
    pub(super) fn is_relieved(
        &self,
        post: &Post,
        class: &str,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> bool {
        let fallback = self.fallback.as_ref();
        !post.stands_in && fallback.is_some_and(|(relief, _)| relief.takes_over(class, until, now))
    }

    fn holds(&self, pause: &Pause, now: Timestamp) -> bool {
        pause.holds(now, &fingerprint(self.settings))
    }

    /// The user may know better than a pause, except that the provider asked for a wait: he may have logged in, topped
    /// up or mended the network. To find out costs one call; somebody who asks again at once is not answered anew.
    fn insists(&self, pause: &Pause, now: Timestamp) -> bool {
        self.foreground
            && !self.failed.get()
            && !pause.asked
            && (pause.class == "transient" || !just_insisted(pause, now))
    }

    /// Why a pause holds, and what ends it.
    fn told(&self, pause: &Pause) -> LastError {
        let mut failure = pause.failure();
        if !self.foreground || self.failed.get() {
            return failure;
        }
        let more = match pause.until {
            Some(until) if pause.asked => {
                let time = until.local("%H:%M:%S");
                format!("the provider asked to wait until {time}; `cmem queue retry --all` does not")
            }
            _ => String::from(
                "tried a few seconds ago: wait a moment, or `cmem queue retry --all`, then `cmem drain`",
            ),
        };
        failure.remedy = if failure.remedy.is_empty() { more } else { format!("{}; {more}", failure.remedy) };
        failure
    }

    /// How often an observer failed in a row before now.
    pub(super) fn failures(&self, post: &Post) -> u32 {
        let pause = Pause::read(self.paths);
        let pause =
            if post.stands_in { pause.and_then(|pause| pause.fallback).map(|pause| *pause) } else { pause };
        pause.map_or(0, |pause| pause.failures)
    }

    /// The observer must not be called for now. `asked` = the provider itself set the time; no `failures` = it was not
    /// even called.
    ///
    /// # Errors
    /// [`SpoolError::File`] when that cannot be written.
    pub(super) fn pause(
        &self,
        post: &Post,
        spool: &Spool,
        failure: &LastError,
        (until, asked): (Option<Timestamp>, bool),
        failures: u32,
    ) -> Result<(), SpoolError> {
        spool.set_last_error(failure)?;
        let begun = Pause::begin(failure, until, failures, fingerprint(self.settings));
        let own = Pause { asked, ..begun };
        let of_provider = Pause::read(self.paths);
        let pause = if post.stands_in {
            match of_provider {
                Some(pause) => Pause { fallback: Some(Box::new(own)), ..pause },
                None => return Ok(()),
            }
        } else {
            self.failed.set(true);
            Pause {
                insisted_at: (self.foreground && failures > 0).then_some(failure.at),
                fallback: of_provider.and_then(|pause| pause.fallback),
                ..own
            }
        };
        pause.write(self.paths)
    }

    /// The observer answered.
    ///
    /// # Errors
    /// [`SpoolError`] when the end of its pause cannot be written.
    pub(super) fn resume(&self, post: &Post, spool: &Spool) -> Result<(), SpoolError> {
        match Pause::read(self.paths) {
            Some(pause @ Pause { fallback: Some(_), .. }) if post.stands_in => {
                Pause { fallback: None, ..pause }.write(self.paths)
            }
            Some(_) if !post.stands_in => {
                Pause::end(self.paths)?;
                spool.end_waits()
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
        let spent = memory.spent(today, prices)?;
        let Some(message) = spent.over(*daily_tokens, *daily_usd) else { return Ok(None) };
        let mut remedy = String::from("wait until midnight, or raise the limit and `cmem queue retry --all`");
        if *daily_usd > 0.0 && !spent.unpriced.is_empty() {
            remedy.push_str("; CMEM_PRICES takes the price of any model, 0/0/0 for one that is free");
        }
        let failure = LastError { at: now, class: String::from("quota"), message, remedy };
        self.pause(post, spool, &failure, (Some(tomorrow), false), 0)?;
        Ok(Some((failure, tomorrow)))
    }
}

fn just_insisted(pause: &Pause, now: Timestamp) -> bool {
    pause.insisted_at.is_some_and(|at| (0..INSISTENCE_MS).contains(&now.since_ms(at)))
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
