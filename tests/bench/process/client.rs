//! The real Claude Code client over sixty tool calls, with cmem's hooks and without.

use std::time::Duration;

use crate::common::client::{Client, REFERENCE, long_script};
use crate::common::{AgentApi, World};
use crate::row;

const ROUNDS: usize = 5;
/// Most that the hooks may add to a session's wall time.
const LIMIT: f64 = 1.15;

pub fn wall_time() {
    for client in [Client::find(REFERENCE), Client::newest()] {
        let Some(client) = client else {
            println!("| real client | SKIPPED: not installed, see scripts/get-client |");
            continue;
        };
        let (mut plain, mut hooked) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            plain.push(session(&client, false));
            hooked.push(session(&client, true));
        }
        let (plain, hooked) = (median(plain), median(hooked));
        let ratio = hooked / plain;
        row(
            &format!("Claude Code {}, 60 tool calls", client.version),
            &format!("{plain:.2} s without cmem, {hooked:.2} s with it: {ratio:.2} times"),
        );
        assert!(ratio <= LIMIT, "{ratio:.2} times is more than {LIMIT}");
    }
}

fn session(client: &Client, hooks: bool) -> Duration {
    let (world, api) = (World::new(), AgentApi::start());
    let project = world.repository("project");
    if hooks {
        let _ = world.cmem(&["install", "--scope", "user"]).ok();
    }
    api.script(long_script(&project));
    client.run(&world, &api, &project, "Generate ten modules.", &[])
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}
