//! The one integration target. Every file in this folder is listed here; a forgotten one fails the first test.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and prints what it measured or skipped"
)]
#![allow(
    unreachable_pub,
    reason = "the helpers are shared with the benchmarks, which are crates of their own"
)]

mod common;

mod adopt;
mod adopt_matrix;
mod ageing;
mod agents;
mod agents_files;
mod architecture;
mod carry;
mod claude_code;
mod claude_mem;
mod context;
mod correct;
mod drain_failures;
mod embeddings;
mod exactly_once;
mod failure_mix;
mod forget;
mod gate;
mod help;
mod hook_capture;
mod install;
mod invariants;
mod mcp;
mod mcp_clients;
mod modes;
mod notices;
mod operate;
mod outline;
mod pauses;
mod plugin;
mod privacy;
mod prompts;
mod real_client;
mod real_client_plugin;
mod refusals;
mod remember;
mod report;
mod review;
mod search;
mod story;

use std::fs;

#[test]
fn every_test_file_is_listed() {
    let listed = include_str!("runner.rs");
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "runner") {
            assert!(
                listed.contains(&format!("\nmod {module};\n")),
                "tests/{name} is not listed in tests/runner.rs"
            );
        }
    }
}
