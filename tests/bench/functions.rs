//! Single functions of the hot paths, by divan: `scripts/bench/functions`.

#![allow(clippy::unwrap_used, reason = "a benchmark stops where it cannot go on")]

use cmem::hook::decode;
use cmem::index;
use cmem::model::{Platform, Timestamp};
use cmem::privacy::Cleaner;
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const PROSE: &str = "Checkout hung because transaction() in src/db/pool.py gave its connection back only on success; \
    retry_limit and parseHTTPHeader stay as they are. 部署脚本在生产环境回滚失败。\n";

fn payload(bytes: usize) -> Value {
    let text = PROSE.repeat(bytes / PROSE.len() + 1);
    json!({
        "session_id": "s", "cwd": "/home/dev/project", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_use_id": "t", "tool_input": {"command": "make"}, "tool_response": {"stdout": text, "stderr": ""},
    })
}

#[divan::bench(args = [200, 2_000, 20_000])]
fn split_for_the_index(bencher: Bencher, bytes: usize) {
    let text = PROSE.repeat(bytes / PROSE.len() + 1);
    bencher.bench(|| index::tokens(black_box(&text)));
}

#[divan::bench(args = [2_000, 200_000, 20_000_000])]
fn clean_an_event(bencher: Bencher, bytes: usize) {
    let cleaner = Cleaner::new(&[]);
    bencher.with_inputs(|| payload(bytes)).bench_local_refs(|value| cleaner.clean(value));
}

#[divan::bench(args = [2_000, 200_000])]
fn read_and_decode(bencher: Bencher, bytes: usize) {
    let text = payload(bytes).to_string();
    let cleaner = Cleaner::new(&[]);
    bencher.bench_local(|| {
        let value = serde_json::from_str(black_box(&text)).unwrap();
        decode(Platform::Claude, None, value, &cleaner, Timestamp(0)).map(|decoded| decoded.event)
    });
}

#[divan::bench]
fn identify_a_checkout(bencher: Bencher) {
    let here = std::env::current_dir().unwrap();
    bencher.bench(|| cmem::git::identify(&here));
}
