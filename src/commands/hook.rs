//! `cmem hook [EVENT]`: called by the agent's client, once for each event.

use std::io::{self, Write};
use std::path::Path;

use crate::hook;

/// A complete answer that asks for nothing, for every event and every client version.
const NOTHING_TO_SAY: &str = "{}";

/// Answers one hook call. Never fails: what a hook cannot do must not disturb the session.
pub fn run(event: Option<&str>, data_dir: Option<&Path>) {
    // A defect of ours must not show as a failed hook either; in release builds a panic aborts.
    #[expect(clippy::exit, reason = "the only way to leave a panic with exit code 0 when panics abort")]
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    let reply = hook::run(event, data_dir, io::stdin());
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{}", reply.as_deref().unwrap_or(NOTHING_TO_SAY));
}
