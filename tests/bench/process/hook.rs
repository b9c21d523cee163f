//! What the agent waits for: one hook, a large one, fifty at once.

use std::thread;
use std::time::Instant;

use serde_json::json;

use crate::common::{World, payload};
use crate::measure::{Series, cmem, empty, run};
use crate::row;

const ROUNDS: usize = 200;

/// A tool event of about 2 KB.
fn tool_event(world: &World) -> Vec<u8> {
    let text = "test store::tests::a_row_is_found ... ok\n".repeat(38);
    payload::event("PostToolUse", &world.project(), json!({"tool_response": {"stdout": text, "stderr": ""}}))
        .to_string()
        .into_bytes()
}

pub fn one_at_a_time() {
    let world = World::new();
    world.repository("project");
    run(&mut cmem(&world, &["hook"], &tool_event(&world)));
    let (mut appended, mut prompts, mut base) = (Series::default(), Series::default(), Series::default());
    for _ in 0..ROUNDS {
        base.add(run(&mut empty(&world)));
        appended.add(run(&mut cmem(&world, &["hook"], &tool_event(&world))));
        let prompt = payload::event("UserPromptSubmit", &world.project(), json!({}));
        prompts.add(run(&mut cmem(&world, &["hook"], prompt.to_string().as_bytes())));
    }
    row("hook, 2 KB PostToolUse", &appended.beside(&base));
    row("hook, UserPromptSubmit (wakes the drainer)", &prompts.beside(&base));

    let text = "a line of a very long build log\n".repeat(20 * 1024 * 1024 / 32);
    let mut large = Series::default();
    for _ in 0..10 {
        let event =
            payload::event("PostToolUse", &world.project(), json!({"tool_response": {"stdout": text}}));
        large.add(run(&mut cmem(&world, &["hook"], event.to_string().as_bytes())));
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
