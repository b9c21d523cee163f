//! Checks of what is in the two databases.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::super::reader;
use super::Check;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Timestamp;
use crate::render;
use crate::spool::{Pause, Spool, SpoolStatus};
use crate::store::{Store, StoreError};

const TIME: &str = "%Y-%m-%d %H:%M";
/// An event that waits this long was overlooked; this much longer, something is broken.
const SLOW_MS: i64 = 30 * 60_000;
const STUCK_MS: i64 = 24 * 3_600_000;

pub(super) fn memory(paths: &Paths) -> Vec<Check> {
    const NAME: &str = "memory.db";
    let store = match Store::open_read_only(paths) {
        Ok(store) => store,
        Err(StoreError::Missing { .. }) => return vec![Check::ok(NAME, "nothing is remembered yet")],
        Err(error) => return vec![broken(NAME, &reader::store_failure(NAME, &error))],
    };
    let counts = match store.counts() {
        Ok(counts) => counts,
        Err(error) => return vec![broken(NAME, &reader::store_failure(NAME, &error))],
    };
    let last = counts.last_stored_at.map_or_else(|| String::from("never"), |at| at.local(TIME));
    vec![
        integrity(NAME, &paths.memory()),
        Check::ok("last stored", format!("{last}; {} observations in all", counts.observations)),
        adoption(&store),
        review(&store),
    ]
}

/// Nothing is wrong with what waits, but nobody else can decide about it.
fn review(store: &Store) -> Check {
    const NAME: &str = "review";
    match store.waiting_for_review() {
        Ok(0) => Check::ok(NAME, "no memory waits for a decision"),
        Ok(count) => Check::warn(
            NAME,
            render::waiting_for_review(count.unsigned_abs()),
            "`cmem review --all-projects`",
        ),
        Err(error) => Check::warn(NAME, error.to_string(), "run `cmem doctor` again"),
    }
}

/// Whether every repository could be looked at for merged worktrees.
fn adoption(store: &Store) -> Check {
    const NAME: &str = "adoption";
    match store.failed_checks() {
        Ok(failed) => match failed.first() {
            None => Check::ok(NAME, "every repository could be looked at for merged worktrees"),
            Some((key, why)) => Check::warn(
                NAME,
                format!("{key}: {why}"),
                "`cmem adopt --branch B` does not need the repository",
            ),
        },
        Err(error) => Check::warn(NAME, error.to_string(), "run `cmem doctor` again"),
    }
}

pub(super) fn spool(paths: &Paths) -> Vec<Check> {
    const NAME: &str = "spool.db";
    let status = match Spool::open_for_reading(paths).and_then(|spool| spool.status()) {
        Ok(status) => status,
        Err(error) if error.is_missing() => return vec![Check::ok(NAME, "nothing was captured yet")],
        Err(error) => return vec![broken(NAME, &reader::spool_failure(NAME, &error))],
    };
    vec![
        integrity(NAME, &paths.spool()),
        ledger(&status),
        waiting(&status, Timestamp::now()),
        parked(&status),
        last_error(&status),
    ]
}

fn broken(name: &'static str, failure: &Failure) -> Check {
    Check::fail(name, failure.to_string(), "the file was not touched; restore a backup or move it away")
}

/// What SQLite itself says about the file, read past all of cmem's own code.
fn integrity(name: &'static str, path: &Path) -> Check {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let found = Connection::open_with_flags(path, flags).and_then(|conn| {
        let mut statement = conn.prepare("PRAGMA integrity_check(5)")?;
        statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
    });
    let remedy = "move the file away and restore a backup";
    match found {
        Ok(lines) if lines == ["ok"] => Check::ok(name, "sound"),
        Ok(lines) => Check::fail(name, lines.join("; "), remedy),
        Err(error) => Check::fail(name, error.to_string(), remedy),
    }
}

fn ledger(status: &SpoolStatus) -> Check {
    const NAME: &str = "ledger";
    let seen = status.ledger.seen;
    match status.ledger.balance() {
        0 if seen > 0 && seen == status.ledger.skipped.values().sum::<i64>() => {
            let reasons: Vec<&str> = status.ledger.skipped.keys().map(String::as_str).collect();
            Check::warn(
                NAME,
                format!("every event so far was left out ({})", reasons.join(", ")),
                "look at CMEM_SKIP_TOOLS, CMEM_EXCLUDED_PROJECTS and .cmem-ignore files",
            )
        }
        0 => Check::ok(NAME, format!("{seen} events seen, all accounted for")),
        gap => Check::fail(
            NAME,
            format!("{gap} of {seen} events are not accounted for"),
            "please report this, with the output of `cmem status`",
        ),
    }
}

/// The pause explains a wait; without one, a long wait means that no drainer does its work.
fn waiting(status: &SpoolStatus, now: Timestamp) -> Check {
    const NAME: &str = "waiting";
    let age = status.oldest_at.map_or(0, |oldest| now.since_ms(oldest));
    let message = match status.oldest_at {
        None => String::from("no event waits"),
        Some(oldest) => format!("{} events, the oldest since {}", status.waiting, oldest.local(TIME)),
    };
    if let Some(pause) = &status.pause {
        let told = format!("{message}; paused: {} ({})", pause.message, pause.class);
        let finding = if pause.needs_user() { Check::fail } else { Check::warn };
        return finding(NAME, told, pause_remedy(pause));
    }
    match age {
        STUCK_MS.. => Check::fail(NAME, message, "`cmem drain --wait`, and look at logs/cmem.log"),
        SLOW_MS.. => Check::warn(NAME, message, "`cmem drain --wait`"),
        _ => Check::ok(NAME, message),
    }
}

fn pause_remedy(pause: &Pause) -> String {
    match pause.until {
        Some(until) => format!("{}; goes on by itself at {}", pause.remedy, until.local(TIME)),
        None => pause.remedy.clone(),
    }
}

fn parked(status: &SpoolStatus) -> Check {
    const NAME: &str = "parked";
    match status.parked {
        0 => Check::ok(NAME, "no event is parked"),
        count => Check::warn(
            NAME,
            format!("{count} events wait for you"),
            "`cmem queue list`, then `cmem queue retry` or `drop`",
        ),
    }
}

/// A failure that was overcome is history.
fn last_error(status: &SpoolStatus) -> Check {
    const NAME: &str = "last error";
    match &status.last_error {
        None => Check::ok(NAME, "none"),
        Some(error) => {
            let told = format!("{} {}: {}", error.at.local(TIME), error.class, error.message);
            if status.pause.is_none() && status.parked == 0 && status.waiting == 0 {
                Check::ok(NAME, format!("{told} (overcome)"))
            } else {
                Check::warn(NAME, told, error.remedy.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::spool::{LastError, Ledger};

    fn status(waiting: i64, age_ms: i64, pause: Option<Pause>) -> SpoolStatus {
        SpoolStatus {
            waiting,
            parked: 0,
            oldest_at: (waiting > 0).then_some(Timestamp(STUCK_MS * 10 - age_ms)),
            pause,
            last_error: None,
            ledger: Ledger { seen: waiting, waiting, ..Ledger::default() },
        }
    }

    fn pause(class: &str) -> Pause {
        let failure = LastError {
            at: Timestamp(0),
            class: class.to_owned(),
            message: String::from("refused"),
            remedy: String::from("set the key"),
        };
        Pause::begin(&failure, None, 1, String::new())
    }

    #[test]
    fn a_long_wait_is_judged_by_its_length_and_its_reason() {
        let now = Timestamp(STUCK_MS * 10);
        let state = |status: &SpoolStatus| waiting(status, now).state;
        assert_eq!(state(&status(0, 0, None)), State::Ok);
        assert_eq!(state(&status(3, 1_000, None)), State::Ok);
        assert_eq!(state(&status(3, SLOW_MS, None)), State::Warn);
        assert_eq!(state(&status(3, STUCK_MS, None)), State::Fail);
        assert_eq!(state(&status(3, STUCK_MS, Some(pause("transient")))), State::Warn);
        let refused = waiting(&status(3, 1_000, Some(pause("auth"))), now);
        assert_eq!((refused.state, refused.remedy.as_str()), (State::Fail, "set the key"));
    }

    #[test]
    fn a_gap_in_the_ledger_is_a_failure() {
        let mut status = status(2, 0, None);
        assert_eq!(ledger(&status).state, State::Ok);
        status.ledger.seen += 1;
        assert_eq!(ledger(&status).state, State::Fail);
    }

    #[test]
    fn hooks_that_fire_for_nothing_are_noticed() {
        let mut status = status(0, 0, None);
        status.ledger.seen = 4;
        status.ledger.skipped = [(String::from("excluded_project"), 4)].into();
        let check = ledger(&status);
        assert!(check.state == State::Warn && check.message.contains("excluded_project"));
    }

    #[test]
    fn a_file_that_is_no_database_is_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        std::fs::write(&path, "no database".repeat(200)).unwrap();
        assert_eq!(integrity("memory.db", &path).state, State::Fail);
    }
}
