//! `cmem hook [--agent NAME] [EVENT]`: called by the agent's client, once for each event.

use std::env;
use std::path::Path;

use rustix::io::Errno;

use crate::hook::{self, agents};
use crate::model::Platform;

/// Answers one hook call. Never fails: what a hook cannot do must not disturb the session.
pub fn run(platform: Option<Platform>, event: Option<&str>, data_dir: Option<&Path>) {
    // A defect of ours must not show as a failed hook either; in release builds a panic aborts.
    #[expect(clippy::exit, reason = "the only way to leave a panic with exit code 0 when panics abort")]
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    // The descriptors themselves: the standard library's buffers cost more than what goes through them.
    let reply = hook::run(platform, event, data_dir, rustix::stdio::stdin());
    let line = match reply {
        Some(reply) => reply,
        None if env::current_dir().is_ok() => match agents::silence(platform.unwrap_or_default()) {
            "" => return,
            silence => silence.to_owned(),
        },
        // The directory is being removed, with whoever would read an answer.
        None => return,
    };
    let line = format!("{line}\n");
    let mut left = line.as_bytes();
    while !left.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), left) {
            Ok(written) if written > 0 => left = &left[written..],
            Err(Errno::INTR) => {}
            // Nobody listens any more.
            Ok(_) | Err(_) => break,
        }
    }
}
