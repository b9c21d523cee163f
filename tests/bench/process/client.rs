//! The real Claude Code client over sixty tool calls, with cmem's hooks and without.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::common::client::{Client, REFERENCE, long_script};
use crate::common::{AgentApi, World};
use crate::row;

const ROUNDS: usize = 5;
/// Most that a session with the hooks may take, against one without. Sessions with hooks that do nothing are
/// measured too: they show which part of it is the client's own cost of calling a hook.
const LIMIT: f64 = 1.15;

/// What the client runs at each event.
#[derive(Clone, Copy)]
enum Hooks {
    None,
    /// A command that does nothing: what the client itself spends on calling hooks.
    Idle,
    Cmem,
}

pub fn wall_time() {
    let mut worst: f64 = 0.0;
    for client in [Client::find(REFERENCE), Client::newest()] {
        let Some(client) = client else {
            println!("| real client | SKIPPED: not installed, see scripts/get-client |");
            continue;
        };
        let kinds = [Hooks::None, Hooks::Idle, Hooks::Cmem];
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for (times, hooks) in times.iter_mut().zip(kinds) {
                times.push(session(&client, hooks));
            }
        }
        let [none, idle, cmem] = times.map(median);
        let ratio = cmem / none;
        worst = worst.max(ratio);
        row(
            &format!("Claude Code {}, 60 tool calls", client.version),
            &format!(
                "{none:.2} s without hooks, {idle:.2} s with hooks that do nothing, {cmem:.2} s with cmem \
                 ({ratio:.2} times; {:.2} times the idle hooks)",
                cmem / idle
            ),
        );
    }
    assert!(worst <= LIMIT, "{worst:.2} times is more than {LIMIT}");
}

fn session(client: &Client, hooks: Hooks) -> Duration {
    let (world, api) = (World::new(), AgentApi::start());
    let project = world.repository("project");
    let _ = world.cmem(&["install", "--scope", "user"]).ok();
    let file = world.path("home/.claude/settings.json");
    match hooks {
        Hooks::None => fs::remove_file(file).unwrap(),
        Hooks::Idle => {
            let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            for groups in settings["hooks"].as_object_mut().unwrap().values_mut() {
                groups[0]["hooks"][0]["command"] = Value::from("/bin/true");
            }
            fs::write(file, settings.to_string()).unwrap();
        }
        Hooks::Cmem => {}
    }
    api.script(long_script(&project));
    client.run(&world, &api, &project, "Generate ten modules.", &[])
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}
