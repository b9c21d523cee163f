//! What the tests stand on: a world of their own with the built binary in it, and stand-ins for the models.

#![allow(dead_code, unused_imports, reason = "the tests and each benchmark use different parts")]

pub mod browser;
pub mod client;
pub mod mcp;
pub mod mock;
pub mod page;
pub mod payload;
pub mod world;

pub use mock::{AgentApi, Embed, EmbedServer, Mode, ModelServer, Outage, Step};
pub use world::{Ran, World, binary};

use std::thread;
use std::time::{Duration, Instant};

/// Waits until `done` says so; panics with `what` after `limit`.
pub fn wait_for(what: &str, limit: Duration, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < end, "waited {limit:?} in vain: {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
