//! The spool as its three users see it: hooks append, the drainer claims, operators look.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::config::Paths;
use crate::model::{Event, EventKind, Identity, Outcome, StartSource, Timestamp};

struct Fixture {
    spool: Spool,
    paths: Paths,
    _dir: tempfile::TempDir,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let paths = Paths::resolve(Some(dir.path())).unwrap();
    Fixture { spool: Spool::open(&paths).unwrap(), paths, _dir: dir }
}

fn identity(name: &str) -> Identity {
    Identity {
        key: format!("/{name}/.git"),
        name: name.to_owned(),
        root: format!("/{name}"),
        worktree: None,
        branch: None,
        head: None,
        remote: None,
    }
}

fn event(session: &str, cwd: &str, at: i64, kind: EventKind) -> Event {
    Event { session: session.to_owned(), at: Timestamp(at), cwd: cwd.to_owned(), agent: None, kind }
}

fn tool() -> EventKind {
    EventKind::Tool {
        tool: String::from("Bash"),
        input: json!({"command": "x"}),
        outcome: Outcome::Response(json!("y")),
    }
}

fn prompt() -> EventKind {
    EventKind::Prompt { text: String::from("do it"), private: false }
}

fn stop() -> EventKind {
    EventKind::Stop { message: None, transcript: None }
}

fn arrival(event: Event, key: &str, exact: bool) -> Arrival {
    let name = event.cwd.trim_start_matches('/').to_owned();
    Arrival::Event {
        event: Box::new(event),
        identity: Box::new(identity(&name)),
        key: key.as_bytes().to_vec(),
        exact,
    }
}

impl Fixture {
    fn put(&self, at: i64, kind: EventKind) {
        self.put_in("s", "/a", at, kind);
    }

    fn put_in(&self, session: &str, cwd: &str, at: i64, kind: EventKind) {
        let key = format!("{session}{cwd}{at}");
        let appended = self.spool.append(&arrival(event(session, cwd, at, kind), &key, true), None).unwrap();
        assert_eq!(appended, Appended::Queued);
    }

    fn claim(&self, patience: &Patience) -> Claim {
        self.spool.claim(Timestamp(1_000_000), Duration::from_secs(9), patience).unwrap()
    }

    fn kinds(&self, patience: &Patience) -> Vec<&'static str> {
        match self.claim(patience) {
            Claim::Batch(claimed) => claimed.events.iter().map(|event| event.kind.name()).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn ledger(&self) -> Ledger {
        let ledger = self.spool.status().unwrap().ledger;
        assert_eq!(ledger.balance(), 0, "{ledger:?}");
        ledger
    }
}

/// Everything is ready when its turn is over; unfinished turns wait for an hour.
fn whole_turns() -> Patience {
    Patience {
        unfinished_turn: Duration::from_secs(3600),
        lingers: false,
        max_events: 25,
        max_bytes: 96_000,
        force_since: None,
    }
}

fn forced() -> Patience {
    Patience { force_since: Some(Timestamp(999_999)), ..whole_turns() }
}

#[test]
fn the_same_tool_call_is_one_event_however_often_it_is_delivered() {
    let f = fixture();
    let twin = |at| arrival(event("s", "/a", at, tool()), "key", true);
    assert_eq!(f.spool.append(&twin(1), None).unwrap(), Appended::Queued);
    assert_eq!(f.spool.append(&twin(2), None).unwrap(), Appended::Counted);
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    f.spool.settle(&batch.id, "stored").unwrap();
    assert_eq!(f.spool.append(&twin(99_000_000), None).unwrap(), Appended::Counted);
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.stored, ledger.skipped["duplicate"]), (3, 1, 2));
}

#[test]
fn equal_events_without_an_id_are_one_only_within_ten_seconds() {
    let f = fixture();
    let go_on = |at| arrival(event("s", "/a", at, prompt()), "go on", false);
    assert_eq!(f.spool.append(&go_on(0), None).unwrap(), Appended::Queued);
    assert_eq!(f.spool.append(&go_on(9_000), None).unwrap(), Appended::Counted);
    assert_eq!(f.spool.append(&go_on(60_000), None).unwrap(), Appended::Queued);
}

#[test]
fn a_turn_is_one_batch_and_waits_for_its_end() {
    let f = fixture();
    f.put(1, prompt());
    f.put(2, tool());
    assert!(matches!(f.claim(&whole_turns()), Claim::Nothing));
    f.put(3, tool());
    f.put(4, stop());
    f.put(5, prompt());
    assert_eq!(f.kinds(&whole_turns()), ["prompt", "tool", "tool", "stop"]);
    assert!(matches!(f.claim(&whole_turns()), Claim::Nothing));
}

#[test]
fn an_interrupted_turn_is_over_when_the_next_begins() {
    let f = fixture();
    f.put(1, prompt());
    f.put(2, tool());
    f.put(3, prompt());
    assert_eq!(f.kinds(&whole_turns()), ["prompt", "tool"]);
}

#[test]
fn a_lingering_drainer_learns_until_when() {
    let f = fixture();
    f.put(999_000, tool());
    let patience = Patience { lingers: true, unfinished_turn: Duration::from_secs(10), ..whole_turns() };
    let Claim::WaitUntil(at) = f.claim(&patience) else { panic!() };
    assert_eq!(at, Timestamp(1_009_000));
}

#[test]
fn places_and_sessions_do_not_mix() {
    let f = fixture();
    f.put_in("s", "/a", 1, tool());
    f.put_in("s", "/b", 2, tool());
    f.put_in("t", "/a", 3, tool());
    let mut places = Vec::new();
    while let Claim::Batch(batch) = f.claim(&forced()) {
        assert_eq!(batch.events.len(), 1);
        places.push(batch.identity.name);
    }
    assert_eq!(places, ["a", "b", "a"]);
}

#[test]
fn what_only_needs_recording_does_not_wait() {
    let f = fixture();
    f.put(1, EventKind::SessionStart { source: StartSource::Startup });
    f.put(2, prompt());
    assert_eq!(f.kinds(&whole_turns()), ["session_start"]);
}

#[test]
fn a_batch_is_bounded_in_number_and_bytes() {
    let f = fixture();
    for at in 0..30 {
        f.put(at, tool());
    }
    assert_eq!(f.kinds(&whole_turns()).len(), 25);
    let f = fixture();
    for at in 0..4 {
        f.put(at, tool());
    }
    assert_eq!(f.kinds(&Patience { max_bytes: 1, ..forced() }).len(), 1);
}

#[test]
fn a_failed_batch_is_kept_in_order_and_not_tried_twice_in_one_run() {
    let f = fixture();
    f.put(1, tool());
    f.put(2, tool());
    let now = Timestamp(1_000_000);
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    let update = RowUpdate {
        attempts: 1,
        batch_limit: Some(1),
        due_at: Timestamp(2_000_000),
        parked: false,
        class: "malformed",
        reason: String::from("prose"),
    };
    f.spool.release(&batch.id, now, &update).unwrap();
    assert!(matches!(f.claim(&forced()), Claim::Nothing));
    let next_run = Patience { force_since: Some(Timestamp(1_000_001)), ..whole_turns() };
    assert_eq!(f.kinds(&next_run).len(), 1);
    assert_eq!(f.ledger().waiting, 2);
}

#[test]
fn an_abandoned_batch_is_free_again() {
    let f = fixture();
    f.put(1, stop());
    let Claim::Batch(batch) = f.claim(&whole_turns()) else { panic!() };
    assert!(f.spool.abandoned(Timestamp(1_000_000)).unwrap().is_empty());
    assert_eq!(f.spool.abandoned(Timestamp(i64::MAX)).unwrap(), std::slice::from_ref(&batch.id));
    f.spool.free(&batch.id).unwrap();
    assert_eq!(f.kinds(&whole_turns()), ["stop"]);
}

#[test]
fn the_ledger_counts_by_what_an_event_was() {
    let f = fixture();
    f.put(1, prompt());
    f.put(2, tool());
    f.put(3, stop());
    let Claim::Batch(batch) = f.claim(&whole_turns()) else { panic!() };
    f.spool.settle(&batch.id, "nothing").unwrap();
    f.spool.append(&Arrival::Skipped { reason: String::from("listing") }, None).unwrap();
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.stored, ledger.nothing), (4, 1, 2));
    assert_eq!(ledger.skipped["listing"], 1);
}

#[test]
fn the_overflow_file_is_taken_in_whole_and_once() {
    let f = fixture();
    let late = arrival(event("s", "/a", 5, tool()), "late", true);
    late.append_to_overflow(&f.paths).unwrap();
    Arrival::Skipped { reason: String::from("empty") }.append_to_overflow(&f.paths).unwrap();
    let mut torn = fs::read(f.paths.overflow()).unwrap();
    torn.extend_from_slice(b"{\"event\":{\"eve");
    fs::write(f.paths.overflow(), torn).unwrap();
    late.append_to_overflow(&f.paths).unwrap();

    assert_eq!(f.spool.import_overflow().unwrap(), 4);
    assert_eq!(f.spool.import_overflow().unwrap(), 0);
    assert!(!f.paths.overflow().exists());
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.waiting), (4, 1));
    for reason in ["empty", "cut_off", "duplicate"] {
        assert_eq!(ledger.skipped[reason], 1, "{reason}");
    }
}

#[test]
fn a_private_prompt_marks_the_turn_until_the_next_prompt() {
    let f = fixture();
    f.put(1, EventKind::Prompt { text: String::new(), private: true });
    assert!(f.spool.session("s").unwrap().private);
    f.put(2, prompt());
    assert!(!f.spool.session("s").unwrap().private);
}

#[test]
fn parked_rows_are_retried_and_dropped_by_the_user_only() {
    let f = fixture();
    f.put(1, tool());
    f.put(2, tool());
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    let update = RowUpdate {
        attempts: 3,
        batch_limit: Some(1),
        due_at: Timestamp(0),
        parked: true,
        class: "malformed",
        reason: String::from("prose"),
    };
    f.spool.release(&batch.id, Timestamp(1), &update).unwrap();
    assert!(matches!(f.claim(&forced()), Claim::Nothing));
    let rows = f.spool.queue().unwrap();
    assert_eq!((rows.len(), rows[0].state, rows[0].class.as_deref()), (2, "parked", Some("malformed")));

    assert_eq!(f.spool.retry(&Selection::Ids(vec![rows[0].id])).unwrap(), 1);
    assert_eq!(f.kinds(&forced()).len(), 1);
    assert_eq!(f.spool.discard(&Selection::All).unwrap(), 1);
    let ledger = f.ledger();
    assert_eq!((ledger.dropped, ledger.parked, ledger.waiting), (1, 0, 1));
}

#[test]
fn a_new_session_grants_one_try_only_where_the_user_is_needed() {
    let f = fixture();
    let pause = |class: &str| Pause {
        class: class.to_owned(),
        until: None,
        message: String::new(),
        remedy: String::new(),
        failures: 1,
        fingerprint: String::from("x"),
        probe: false,
    };
    for (class, granted) in [("auth", true), ("setup", true), ("transient", false)] {
        f.spool.set_pause(&pause(class)).unwrap();
        f.spool.grant_probe().unwrap();
        let now = f.spool.pause().unwrap().unwrap();
        assert_eq!(now.holds(Timestamp(0), "x"), !granted, "{class}");
        assert!(!now.holds(Timestamp(0), "other settings"));
    }
}
