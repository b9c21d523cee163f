//! Who drains. The lock is taken by the hook that starts a drainer and inherited by it, so that a herd of
//! hooks starts one drainer, not a herd. No wake-up is lost: a hook writes its event before it looks at the
//! lock, and a drainer looks at the queue once more after it has given the lock up.

use crate::config::{Paths, Provider, Settings};
use crate::drain::{fingerprint, start_detached};
use crate::model::Timestamp;
use crate::observer;
use crate::spool::{FileLock, Pause, Relief};

/// Whether whoever observes takes whole turns only, so that a single event is worth no process.
pub fn waits_for_turns(paths: &Paths, settings: &Settings) -> bool {
    let now = Timestamp::now();
    let pause = Pause::read(paths).filter(|pause| pause.holds(now, &fingerprint(settings)));
    let relief = pause.and_then(|pause| pause.relieved_by(now, &fingerprint(settings), Relief::of(settings)));
    let at_work = relief.map_or_else(|| observer::effective(settings, paths), |relief| relief.provider);
    at_work == Provider::Builtin
}

/// Starts a drainer unless one is at work, or every observer is paused and no notice is due either. A failure is not
/// the hook's to report: the event is safe, and the next hook tries again.
pub fn wake(paths: &Paths, settings: &Settings) {
    let now = Timestamp::now();
    if Pause::read(paths).is_some_and(|pause| {
        pause.forbids(now, &fingerprint(settings), Relief::of(settings)) && !pause.has_errand(now)
    }) {
        return;
    }
    if let Ok(Some(lock)) = FileLock::try_acquire(&paths.drain_lock())
        && let Err(error) = start_detached(paths, settings, &lock)
    {
        crate::log::error(paths, &error.to_string());
    }
}
