//! What the agent waits for: one hook, a large one, fifty at once.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use serde_json::json;

use crate::common::{World, payload};
use crate::measure::{Series, cmem, cmem_reading, empty, run};
use crate::row;

const ROUNDS: usize = 200;

/// A tool event of about 2 KB.
fn tool_event(world: &World) -> Vec<u8> {
    let text = "test store::tests::a_row_is_found ... ok\n".repeat(38);
    payload::event("PostToolUse", &world.project(), json!({"tool_response": {"stdout": text, "stderr": ""}}))
        .to_string()
        .into_bytes()
}

/// The file of a tool event of 20 MB, written piece by piece: what this process holds in memory would count
/// as the peak memory of what it starts.
fn large_event(world: &World) -> PathBuf {
    let event = payload::event("PostToolUse", &world.project(), json!({"tool_response": {"stdout": "HERE"}}));
    let event = event.to_string();
    let (head, tail) = event.split_once("HERE").unwrap();
    let path = world.path("tmp/large");
    let mut file = BufWriter::new(File::create(&path).unwrap());
    file.write_all(head.as_bytes()).unwrap();
    let line = "a line of a very long build log\\n";
    for _ in 0..20 * 1024 * 1024 / line.len() {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.write_all(tail.as_bytes()).unwrap();
    file.flush().unwrap();
    path
}

pub fn one_at_a_time() {
    let world = World::new();
    world.repository("project");
    run(&mut cmem(&world, &["hook"], &tool_event(&world)));
    let (mut appended, mut base) = (Series::default(), Series::default());
    for _ in 0..ROUNDS {
        base.add(run(&mut empty(&world)));
        appended.add(run(&mut cmem(&world, &["hook"], &tool_event(&world))));
    }
    row("hook, 2 KB PostToolUse", &appended.beside(&base));

    let mut prompts = Series::default();
    for _ in 0..ROUNDS / 4 {
        let prompt = payload::event("UserPromptSubmit", &world.project(), json!({}));
        prompts.add(run(&mut cmem(&world, &["hook"], prompt.to_string().as_bytes())));
        // The drainer that it woke would be measured with the next one.
        world.wait_for_drainers();
    }
    row("hook, UserPromptSubmit (starts the drainer)", &prompts.beside(&base));

    let mut large = Series::default();
    for _ in 0..10 {
        large.add(run(&mut cmem_reading(&world, &["hook"], &large_event(&world))));
    }
    row("hook, 20 MB PostToolUse", &large.beside(&base));
    world.wait_for_drainers();
}

pub fn fifty_at_once() {
    let world = World::new();
    world.repository("project");
    run(&mut cmem(&world, &["hook"], &tool_event(&world)));
    let mut series = Series::default();
    let rounds = 5;
    for _ in 0..rounds {
        let mut commands: Vec<_> = (0..50).map(|_| cmem(&world, &["hook"], &tool_event(&world))).collect();
        let began = Instant::now();
        thread::scope(|scope| {
            let runs: Vec<_> = commands.iter_mut().map(|command| scope.spawn(|| run(command))).collect();
            runs.into_iter().for_each(|handle| series.add(handle.join().unwrap()));
        });
        assert!(began.elapsed().as_secs() < 30);
    }
    let kept = world.ledger().seen;
    row(
        "50 hooks at once",
        &format!(
            "p50 {:.0} ms, p95 {:.0} ms, slowest {:.0} ms; {kept} of {} events kept",
            series.quantile(0.5),
            series.quantile(0.95),
            series.quantile(1.0),
            rounds * 50 + 1
        ),
    );
}
