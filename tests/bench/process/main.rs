//! Whole-process measurements: what a user of the built binary waits for. `scripts/bench/run` starts it.
//!
//!     process [hook] [parallel] [drain] [scale] [import] [adopt] [outline] [size] [client] [tokens]
//!
//! Without a name, everything that needs no client.
//!
//! Prints a Markdown table. Every latency is measured beside an empty static Rust process, the runs
//! interleaved, so that a busy machine slows both alike.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its table, and stops where it cannot go on"
)]
#![allow(unreachable_pub, reason = "the helpers are shared with the tests")]

#[path = "../../common/mod.rs"]
mod common;

mod adopt;
mod client;
mod corpus;
mod drain;
mod hook;
mod import;
mod measure;
mod outline;
mod recall;
mod scale;
mod tokens;

use std::env;
use std::fs;

const ALL: [(&str, fn()); 10] = [
    ("hook", hook::one_at_a_time),
    ("parallel", hook::fifty_at_once),
    ("drain", drain::throughput),
    ("scale", scale::at_every_size),
    ("import", import::from_claude_mem),
    ("adopt", adopt::beside_git),
    ("outline", outline::of_large_files),
    ("size", size),
    ("client", client::wall_time),
    ("tokens", tokens::of_one_task),
];
/// What needs the real client runs only when it is asked for.
const WITH_CLIENT: [&str; 2] = ["client", "tokens"];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == corpus::FILL) {
        return corpus::fill_here(&arguments[1..]);
    }
    if arguments.first().is_some_and(|first| first == recall::RECALL) {
        return recall::compare_here(&arguments[1..]);
    }
    let asked: Vec<String> = arguments.into_iter().filter(|argument| !argument.starts_with('-')).collect();
    if let Some(unknown) = asked.iter().find(|name| !ALL.iter().any(|(known, _)| known == name)) {
        panic!("{unknown}: allowed are {}", ALL.map(|(name, _)| name).join(", "));
    }
    println!("Measured: {}", common::world::binary().display());
    println!("| what | figure |\n|---|---|");
    for (name, measure) in ALL {
        let wanted = if asked.is_empty() {
            !WITH_CLIENT.contains(&name)
        } else {
            asked.iter().any(|asked| asked == name)
        };
        if wanted {
            measure();
        }
    }
}

fn size() {
    let bytes = fs::metadata(common::world::binary()).unwrap().len();
    row("binary size", &format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0));
}

/// One line of the table.
fn row(what: &str, figure: &str) {
    println!("| {what} | {figure} |");
}
