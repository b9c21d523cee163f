//! Who drains. The lock is taken by the hook that starts a drainer and inherited by it, so that a herd of
//! hooks starts one drainer, not a herd. No wake-up is lost: a hook writes its event before it looks at the
//! lock, and a drainer looks at the queue once more after it has given the lock up.

use crate::config::{Paths, Provider, Settings};
use crate::drain::{fingerprint, start_detached};
use crate::model::Timestamp;
use crate::observer;
use crate::spool::{FileLock, Pause};

/// Whether whoever observes takes whole turns only, so that a single event is worth no process.
pub fn waits_for_turns(paths: &Paths, settings: &Settings) -> bool {
    observer::effective(settings, paths) == Provider::Builtin
}

/// Starts a drainer unless one is at work or every observer is paused. A failure is not the hook's to report:
/// the event is safe, and the next hook tries again.
pub fn wake(paths: &Paths, settings: &Settings) {
    let relieved = settings.fallback_provider.is_some();
    if Pause::read(paths)
        .is_some_and(|pause| pause.forbids(Timestamp::now(), &fingerprint(settings), relieved))
    {
        return;
    }
    if let Ok(Some(lock)) = FileLock::try_acquire(&paths.drain_lock())
        && let Err(error) = start_detached(paths, settings, &lock)
    {
        crate::log::error(paths, &error.to_string());
    }
}
