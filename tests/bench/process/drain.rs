//! How fast waiting events become memories when the model answers at once.

use serde_json::json;

use crate::common::{Mode, ModelServer, World, payload};
use crate::measure::{cmem, run};
use crate::row;

const EVENTS: usize = 2000;

pub fn throughput() {
    let model = ModelServer::start();
    let world = World::with_model(&model);
    // Paused by a refusal, so that nothing is drained while the events are written.
    model.mode(Mode::Status(401));
    for number in 0..EVENTS {
        let fields = json!({
            "session_id": format!("session-{}", number / 100),
            "tool_response": {"stdout": format!("@@note {number}@@ {}", "text of a log ".repeat(40))},
        });
        let event = payload::event("PostToolUse", &world.project(), fields).to_string();
        run(&mut cmem(&world, &["hook"], event.as_bytes()));
    }
    world.wait_for_drainers();
    model.mode(Mode::Ok);
    let _ = world.cmem(&["queue", "retry", "--all"]).ok();
    let before = model.count();
    let cost = run(&mut cmem(&world, &["drain", "--wait"], b""));
    let seconds = cost.wall.as_secs_f64();
    row(
        "drain, instant model",
        &format!(
            "{:.0} events/s ({EVENTS} events, {} requests, {seconds:.1} s, peak {:.1} MiB)",
            EVENTS as f64 / seconds,
            model.count() - before,
            cost.peak_kib as f64 / 1024.0
        ),
    );
    world.assert_all_done();
}
