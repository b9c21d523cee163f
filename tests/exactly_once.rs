//! Every event is processed once: delivered twice, by many hooks at once, with the database held, with the
//! drainer killed.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use serde_json::json;

use crate::common::{Mode, ModelServer, World, payload, wait_for};

#[test]
fn the_same_tool_call_delivered_again_is_one_event() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let event = payload::note("twin", &world.project());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| world.hook(&event).silent());
        }
    });
    world.drain();
    world.hook(&event).silent();
    world.drain();
    assert_eq!(world.search("twin"), ["twin"]);
    let ledger = world.ledger();
    assert_eq!(ledger.balance(), 0, "{ledger:?}");
}

#[test]
fn fifty_hooks_at_once_are_fifty_events() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    thread::scope(|scope| {
        for number in 0..50 {
            let world = &world;
            scope.spawn(move || world.note(&format!("parallel {number:02} end")));
        }
    });
    world.drain();
    let mut titles = world.search("parallel");
    titles.sort();
    let expected: Vec<String> = (0..50).map(|number| format!("parallel {number:02} end")).collect();
    assert_eq!(titles, expected);
    world.assert_all_done();
    world.assert_sound();
}

#[test]
fn a_herd_of_hooks_makes_one_drainer() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Hang);
    for number in 0..20 {
        world.note(&format!("herd {number}"));
    }
    thread::sleep(Duration::from_secs(2));
    assert_eq!(world.drainers().len(), 1);
    assert!(model.count() <= 2, "{} calls in flight", model.count());
}

#[test]
fn the_drainer_holds_no_pipe_of_the_hook_and_outlives_its_group() {
    use std::os::unix::process::CommandExt;

    let model = ModelServer::start();
    let world = World::with_model(&model);
    model.mode(Mode::Hang);
    let input = world.path("tmp/payload.json");
    fs::write(&input, payload::note("orphan", &world.project()).to_string()).unwrap();
    let mut command = world.command(crate::common::world::binary(), &world.project());
    command.arg("hook").stdin(fs::File::open(&input).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn().unwrap();
    let group = i32::try_from(child.id()).unwrap();
    // Ends only when every writer of both pipes is gone.
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    wait_for("the drainer is there", Duration::from_secs(10), || world.drainers().len() == 1);
    let drainer = world.drainers()[0];
    for descriptor in 0..=2 {
        let target = fs::read_link(format!("/proc/{drainer}/fd/{descriptor}")).unwrap();
        assert_eq!(target.to_str(), Some("/dev/null"), "descriptor {descriptor}");
    }
    let session: i32 = stat_field(drainer, 3);
    assert_ne!(session, stat_field(i32::try_from(std::process::id()).unwrap(), 3), "a session of its own");
    assert_ne!(stat_field(drainer, 2), group, "not in the hook's process group");
    model.mode(Mode::Ok);
    world.kill_drainers();
    world.drain();
    assert_eq!(world.search("orphan"), ["orphan"]);
}

/// A number of `/proc/ID/stat`, counted from the field after the command's name (0 = state).
fn stat_field(id: i32, index: usize) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let rest = stat.rsplit_once(") ").unwrap().1;
    rest.split(' ').nth(index).unwrap().parse().unwrap()
}

#[test]
fn a_hook_comes_back_while_somebody_holds_the_databases() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    world.note("warm up");
    world.drain();
    world.wait_for_drainers();
    let holders: Vec<Connection> = ["spool.db", "memory.db"]
        .map(|name| {
            let connection = Connection::open(world.data().join(name)).unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            connection
        })
        .into();
    let ran = world.hook(&payload::note("under lock", &world.project()));
    assert!(ran.took < Duration::from_secs(2), "{:?}", ran.took);
    ran.silent();
    let ran = world.send("SessionEnd", json!({}));
    assert!(ran.took < Duration::from_millis(1400), "{:?}", ran.took);
    ran.silent();
    drop(holders);
    world.drain();
    assert_eq!(world.search("lock"), ["under lock"]);
    world.assert_all_done();
}

/// The full size (10,000 events from 8 processes) runs by `scripts/stress`.
#[test]
fn killed_at_any_moment_the_drainer_loses_and_doubles_nothing() {
    let number = |name: &str, usual: usize| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
    };
    let (events, processes) = (number("CMEM_STRESS_EVENTS", 400), number("CMEM_STRESS_PROCESSES", 4));
    let model = ModelServer::start();
    let world = World::with_model(&model);
    let mut kills = 0;
    thread::scope(|scope| {
        let writers: Vec<_> = (0..processes)
            .map(|writer| {
                let world = &world;
                scope.spawn(move || {
                    for event in (writer..events).step_by(processes) {
                        let session = format!("session-{writer}");
                        let text = json!({"stdout": format!("@@event {event:05}@@"), "stderr": ""});
                        let fields = json!({"session_id": session, "tool_response": text});
                        world.send("PostToolUse", fields).silent();
                    }
                })
            })
            .collect();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(if events > 1000 { 1000 } else { 150 }));
            kills += world.kill_drainers();
        }
    });
    let began = std::time::Instant::now();
    let mut foreground_kills = 0;
    // Then the drainer in the foreground, killed now and again until it gets through.
    loop {
        let mut command = world.command(crate::common::world::binary(), &world.project());
        command.args(["drain", "--wait"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        thread::sleep(Duration::from_millis(if foreground_kills < 5 { 120 } else { 20_000 }));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        foreground_kills += 1;
        assert!(began.elapsed() < Duration::from_secs(600), "{:?}", world.ledger());
    }
    world.drain();
    println!("{events} events from {processes} processes; drainer killed {kills} + {foreground_kills} times");
    assert!(kills + foreground_kills > 0, "nothing was killed");
    let ledger = world.ledger();
    assert_eq!((ledger.seen, ledger.stored), (events as i64, events as i64), "{ledger:?}");
    world.assert_all_done();
    let stored = world.number("memory.db", "SELECT count(*) FROM observations WHERE title LIKE 'event %'");
    let different = world
        .number("memory.db", "SELECT count(DISTINCT title) FROM observations WHERE title LIKE 'event %'");
    assert_eq!((stored, different), (events as i64, events as i64));
    world.assert_sound();
}

#[test]
fn an_event_that_comes_as_the_drainer_leaves_is_drained_without_a_further_hook() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    for round in 0..12 {
        world.note(&format!("wake up {round}"));
        // Somewhere between "the last batch is done" and "the lock is free".
        thread::sleep(Duration::from_millis(20 * (round % 6)));
    }
    wait_for("the drainer has taken everything", Duration::from_secs(30), || world.ledger().waiting == 0);
    assert_eq!(world.search("wake").len(), 12);
}
