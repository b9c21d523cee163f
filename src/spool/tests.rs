//! The spool as its three users see it: hooks append, the drainer claims, operators look.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::config::{Paths, Provider, Settings, Sources};
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
        main_head: None,
        remote: None,
    }
}

fn event(session: &str, cwd: &str, at: i64, kind: EventKind) -> Event {
    Event {
        session: session.to_owned(),
        platform: Default::default(),
        at: Timestamp(at),
        cwd: cwd.to_owned(),
        agent: None,
        kind,
    }
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
        identity: Some(Box::new(identity(&name))),
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
        self.take_in(&arrival(event(session, cwd, at, kind), &key, true));
    }

    fn take_in(&self, arrival: &Arrival) {
        arrival.append(&self.paths).unwrap();
        assert_eq!(self.spool.import().unwrap(), 1);
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

    /// Every journal in the directory, set aside or not.
    fn journals(&self) -> Vec<String> {
        let names = fs::read_dir(self.paths.root()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".jsonl")).collect()
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
    f.take_in(&twin(1));
    f.take_in(&twin(2));
    assert_eq!(f.ledger().waiting, 1);
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    f.spool.settle(&batch.id, "stored").unwrap();
    f.take_in(&twin(99_000_000));
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.stored, ledger.skipped["duplicate"]), (3, 1, 2));
}

#[test]
fn equal_events_without_an_id_are_one_only_within_ten_seconds() {
    let f = fixture();
    let go_on = |at| arrival(event("s", "/a", at, prompt()), "go on", false);
    for (at, waiting) in [(0, 1), (9_000, 1), (60_000, 2)] {
        f.take_in(&go_on(at));
        assert_eq!(f.ledger().waiting, waiting, "{at}");
    }
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
        failed: 1,
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
    f.take_in(&Arrival::Skipped { reason: String::from("listing") });
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.stored, ledger.nothing), (4, 1, 2));
    assert_eq!(ledger.skipped["listing"], 1);
}

#[test]
fn the_journal_is_taken_in_whole_and_once() {
    let f = fixture();
    let late = arrival(event("s", "/a", 5, tool()), "late", true);
    late.append(&f.paths).unwrap();
    Arrival::Skipped { reason: String::from("empty") }.append(&f.paths).unwrap();
    let mut torn = fs::read(f.paths.journal()).unwrap();
    torn.extend_from_slice(b"{\"event\":{\"eve");
    fs::write(f.paths.journal(), torn).unwrap();
    late.append(&f.paths).unwrap();

    assert_eq!(f.spool.import().unwrap(), 4);
    assert_eq!(f.spool.import().unwrap(), 0);
    assert_eq!(f.journals(), [""; 0]);
    let ledger = f.ledger();
    assert_eq!((ledger.seen, ledger.waiting), (4, 1));
    for reason in ["empty", "cut_off", "duplicate"] {
        assert_eq!(ledger.skipped[reason], 1, "{reason}");
    }
}

#[test]
fn a_journal_whose_reader_was_killed_is_taken_in_once() {
    let f = fixture();
    let skipped = Arrival::Skipped { reason: String::from("empty") };
    let set_aside = f.paths.root().join("spool-1.jsonl");
    // Killed before its lines were in the database.
    skipped.append(&f.paths).unwrap();
    fs::rename(f.paths.journal(), &set_aside).unwrap();
    let copy = fs::read(&set_aside).unwrap();
    skipped.append(&f.paths).unwrap();
    assert_eq!(f.spool.import().unwrap(), 2);
    assert_eq!(f.ledger().seen, 2);
    // Killed after that, before the file was removed.
    fs::write(&set_aside, &copy).unwrap();
    assert_eq!(f.spool.import().unwrap(), 0);
    assert_eq!((f.ledger().seen, f.journals().len()), (2, 0));
}

#[test]
fn a_lock_that_is_never_given_up_costs_no_event() {
    let f = fixture();
    let held = FileLock::try_acquire(&f.paths.spool_lock()).unwrap().unwrap();
    let began = std::time::Instant::now();
    arrival(event("s", "/a", 1, tool()), "1", true).append(&f.paths).unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    drop(held);
    assert_eq!(f.spool.import().unwrap(), 1);
    assert_eq!(f.ledger().waiting, 1);
}

#[test]
fn a_drainer_that_leaves_sees_what_another_is_taking_in() {
    let f = fixture();
    arrival(event("s", "/a", 1, stop()), "1", true).append(&f.paths).unwrap();
    fs::rename(f.paths.journal(), f.paths.root().join("spool-1.jsonl")).unwrap();
    assert!(f.spool.has_due(Timestamp(2), &whole_turns()).unwrap());
    assert_eq!(f.spool.import().unwrap(), 1);
    assert!(f.spool.has_due(Timestamp(2), &whole_turns()).unwrap());
    assert!(matches!(f.claim(&whole_turns()), Claim::Batch(_)));
    assert!(!f.spool.has_due(Timestamp(2), &whole_turns()).unwrap());
}

#[test]
fn an_event_without_an_identity_is_where_the_last_one_was() {
    let f = fixture();
    f.put_in("s", "/gone", 1, tool());
    let mut later = arrival(event("s", "/gone", 2, tool()), "later", true);
    let Arrival::Event { identity, .. } = &mut later else { panic!() };
    *identity = None;
    f.take_in(&later);
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    assert_eq!((batch.identity.name.as_str(), batch.events.len()), ("gone", 2));
}

#[test]
fn whoever_looks_sees_what_hooks_have_left() {
    let f = fixture();
    arrival(event("s", "/a", 1, tool()), "1", true).append(&f.paths).unwrap();
    assert_eq!(Spool::open_for_reading(&f.paths).unwrap().status().unwrap().waiting, 1);
    assert!(!Spool::has_journal(&f.paths));
}

#[test]
fn parked_rows_are_retried_and_dropped_by_the_user_only() {
    let f = fixture();
    f.put(1, tool());
    f.put(2, tool());
    let Claim::Batch(batch) = f.claim(&forced()) else { panic!() };
    let update = RowUpdate {
        attempts: 3,
        failed: 3,
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
        asked: false,
        insisted_at: None,
        errand: None,
        fallback: None,
    };
    for (class, granted) in [("auth", true), ("setup", true), ("transient", false)] {
        pause(class).write(&f.paths).unwrap();
        Pause::grant_probe(&f.paths).unwrap();
        let now = Pause::read(&f.paths).unwrap();
        assert_eq!(now.holds(Timestamp(0), "x"), !granted, "{class}");
        assert!(!now.holds(Timestamp(0), "other settings"));
    }
    Pause::end(&f.paths).unwrap();
    assert_eq!(Pause::read(&f.paths), None);
}

#[test]
fn a_fallback_that_is_not_paused_lets_a_drainer_start() {
    let f = fixture();
    let failure = LastError {
        at: Timestamp(1),
        class: String::from("auth"),
        message: String::from("401"),
        remedy: String::from("log in"),
    };
    let pause = Pause::begin(&failure, None, 1, String::from("x"));
    let relief = Some(Relief { provider: Provider::OpenAi, is_named: true });
    assert!(pause.forbids(Timestamp(1), "x", None));
    assert!(!pause.forbids(Timestamp(1), "x", relief));
    let both = Pause { fallback: Some(Box::new(pause.clone())), ..pause };
    assert!(both.forbids(Timestamp(1), "x", relief));
    both.write(&f.paths).unwrap();
    Pause::grant_probe(&f.paths).unwrap();
    assert!(!Pause::read(&f.paths).unwrap().forbids(Timestamp(1), "x", relief));
}

/// Rows of the next batch go back, failed so often, as tried at `now`.
fn fail_next(f: &Fixture, failed: i64, attempts: i64, now: i64, due_at: i64) -> Vec<i64> {
    let Claim::Batch(batch) = f.claim(&whole_turns()) else { panic!("nothing to claim") };
    let update = RowUpdate {
        attempts,
        failed,
        batch_limit: None,
        due_at: Timestamp(due_at),
        parked: false,
        class: "auth",
        reason: String::from("refused"),
    };
    f.spool.release(&batch.id, Timestamp(now), &update).unwrap();
    batch.events.iter().map(|event| event.at.0).collect()
}

#[test]
fn what_was_not_tried_for_longest_goes_first() {
    let f = fixture();
    for (session, at) in [("a", 1), ("b", 2), ("c", 3)] {
        f.put_in(session, "/a", at, stop());
    }
    let order: Vec<Vec<i64>> = (10..16).map(|now| fail_next(&f, 1, 0, now, 0)).collect();
    assert_eq!(order, [[1], [2], [3], [1], [2], [3]]);
    f.put_in("d", "/a", 4, stop());
    assert_eq!(fail_next(&f, 1, 0, 20, 0), [4]);
    assert_eq!(fail_next(&f, 1, 0, 21, 0), [1]);
}

#[test]
fn a_turn_that_fails_again_lets_the_later_turns_of_its_session_pass() {
    let f = fixture();
    for at in [10, 20, 30] {
        f.put(at, prompt());
        f.put(at + 1, tool());
        f.put(at + 2, stop());
    }
    assert_eq!(fail_next(&f, 1, 0, 100, 0), [10, 11, 12]);
    assert_eq!(fail_next(&f, 2, 0, 101, 0), [10, 11, 12], "once may be chance");
    assert_eq!(fail_next(&f, 2, 0, 102, 0), [20, 21, 22]);
    assert_eq!(fail_next(&f, 2, 0, 103, 0), [30, 31, 32]);
    // All of them are suspects: in turns again.
    let order: Vec<i64> = (104..108).map(|now| fail_next(&f, 3, 0, now, 0)[0]).collect();
    assert_eq!(order, [10, 20, 30, 10]);
    let Claim::Batch(batch) = f.claim(&whole_turns()) else { panic!() };
    assert_eq!((batch.failed, batch.attempts, batch.tried_at), (3, 0, Timestamp(105)));
    assert_eq!(f.ledger().waiting, 9);
}

#[test]
fn only_what_waited_for_the_provider_is_due_when_it_is_back() {
    let f = fixture();
    f.put_in("a", "/a", 1, stop());
    f.put_in("b", "/a", 2, stop());
    assert!(f.spool.next_due(Timestamp(0)).unwrap().is_none());
    fail_next(&f, 1, 0, 10, 3_000_000);
    fail_next(&f, 1, 1, 11, 2_000_000);
    assert!(matches!(f.claim(&whole_turns()), Claim::Nothing) && f.spool.has_waiting().unwrap());
    assert_eq!(f.spool.next_due(Timestamp(1_000_000)).unwrap(), Some(Timestamp(2_000_000)));
    f.spool.end_waits().unwrap();
    assert_eq!(fail_next(&f, 1, 0, 12, 3_000_000), [1]);
    assert!(matches!(f.claim(&whole_turns()), Claim::Nothing));
}

#[test]
fn who_takes_over_and_when() {
    let now = Timestamp(0);
    let (short, long) = (Some(Timestamp(60_000)), Some(Timestamp(60_001)));
    let named = Relief { provider: Provider::OpenAi, is_named: true };
    let behind_auto = Relief { provider: Provider::Builtin, is_named: false };
    for (class, until, by_name, by_auto) in [
        ("auth", None, true, true),
        ("setup", None, true, true),
        ("unrecoverable", None, true, false),
        ("quota", long, true, false),
        ("quota", short, false, false),
        ("rate_limited", long, true, false),
        ("transient", short, false, false),
    ] {
        assert_eq!(named.takes_over(class, until, now), by_name, "{class}");
        assert_eq!(behind_auto.takes_over(class, until, now), by_auto, "{class}");
    }
    let relief = |provider, fallback_provider| {
        let (settings, _) = Settings::resolve_lenient(&Sources::default());
        Relief::of(&Settings { provider, fallback_provider, ..settings })
    };
    assert_eq!(relief(Provider::Auto, None), Some(behind_auto));
    assert_eq!(relief(Provider::Auto, Some(Provider::OpenAi)), Some(named));
    assert_eq!(relief(Provider::Anthropic, None), None);
}
