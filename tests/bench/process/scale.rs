//! Every reader, a drain step and the index over memories of 1,000 to 1,000,000 observations, with the growth from
//! each size to the next.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::common::{World, payload};
use crate::measure::{Cost, Series, cmem, empty, run};
use crate::{corpus, recall, row};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const ROUNDS: usize = 40;
const QUERIES: [&str; 4] =
    ["checkout timeout", "how do we merge the worktree", "payment_refund", "lease deadline signal"];

const CENTROIDS: &str = "centroids-cmse-base-1.bin";
const PROMPT: &str = "why does the checkout run into a timeout when the payment is refunded?";
const NAMES: [&str; 8] = [
    "search",
    "search '*'",
    "timeline",
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptSubmit without memories",
    "PreToolUse of a Read with memories",
    "drain step",
];

pub fn at_every_size() {
    let most: usize = std::env::var("CMEM_SCALE").map_or(100_000, |most| most.parse().unwrap());
    let mut world = World::new();
    world.repository("project");
    write_old(&world.project().join(corpus::READ_OFTEN));
    let mut filled = 0;
    let mut before: Vec<f64> = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= most) {
        corpus::fill(&world, filled, size);
        filled = size;
        assert!(
            world.hook(&read_often(&world, &format!("g-{size}"))).answer().is_some(),
            "nothing is told of a file"
        );
        let reindex = run(&mut cmem(&world, &["reindex"], b""));
        let mut series = NAMES.map(|name| (name, Series::default()));
        let mut base = Series::default();
        for round in 0..ROUNDS {
            base.add(run(&mut empty(&world)));
            let costs = round_of(&mut world, size, round);
            for ((_, series), cost) in series.iter_mut().zip(costs) {
                series.add(cost);
            }
        }
        let mib = |name: &str| {
            fs::metadata(world.data().join(name)).map_or(0.0, |file| file.len() as f64 / 1024.0 / 1024.0)
        };
        let mut now: Vec<f64> = Vec::new();
        for (name, series) in &series {
            now.push(series.quantile(0.5));
            let growth = before.get(now.len() - 1).map_or_else(String::new, |before| {
                format!(", {:.1} times the size before", series.quantile(0.5) / before)
            });
            row(&format!("{name}, {size} observations"), &format!("{}{growth}", series.beside(&base)));
        }
        row(
            &format!("reindex, {size} observations"),
            &format!("{:.1} s, at most {} MiB", reindex.wall.as_secs_f64(), reindex.peak_kib / 1024),
        );
        row(
            &format!("on disk, {size} observations"),
            &format!(
                "{:.0} MiB memory.db, {:.0} MiB vectors, {:.1} MiB centroids",
                mib("memory.db"),
                mib("vectors-cmse-base-1.bin"),
                mib(CENTROIDS)
            ),
        );
        if world.data().join(CENTROIDS).exists() {
            row(
                &format!("vector index, {size} observations"),
                &format!("finds {:.3} of the ten nearest", recall::of_lists(&world)),
            );
        }
        before = now;
    }
}

/// A file that was written before the memories of it.
fn write_old(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "a line of code\n".repeat(2_000)).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)).unwrap();
}

/// A session is about to read a file that many others have read.
fn read_often(world: &World, session: &str) -> serde_json::Value {
    let input = json!({"file_path": world.project().join(corpus::READ_OFTEN)});
    payload::event(
        "PreToolUse",
        &world.project(),
        json!({"session_id": session, "tool_name": "Read", "tool_input": input}),
    )
}

/// One run of each, in the order of [`NAMES`]. The drainers that hooks wake are not part of what follows them.
fn round_of(world: &mut World, size: usize, round: usize) -> [Cost; NAMES.len()] {
    let hook = |world: &World, event: &str, fields: serde_json::Value| {
        let event = payload::event(event, &world.project(), fields).to_string();
        let cost = run(&mut cmem(world, &["hook"], event.as_bytes()));
        world.wait_for_drainers();
        cost
    };
    let query = QUERIES[round % QUERIES.len()];
    let search = run(&mut cmem(world, &["search", query], b""));
    let newest = run(&mut cmem(world, &["search", "*"], b""));
    let timeline = run(&mut cmem(world, &["timeline", &(size / 2).to_string()], b""));
    let start = hook(world, "SessionStart", json!({"session_id": format!("s-{size}-{round}")}));
    let [prompt, alone] = ["3", "0"].map(|hits| {
        world.set("CMEM_PROMPT_HITS", hits);
        hook(world, "UserPromptSubmit", json!({"prompt": PROMPT}))
    });
    let read = read_often(world, &format!("g-{size}-{round}")).to_string();
    let gate = run(&mut cmem(world, &["hook"], read.as_bytes()));
    let note = payload::note("one more", &world.project()).to_string();
    run(&mut cmem(world, &["hook"], note.as_bytes()));
    let drained = run(&mut cmem(world, &["drain", "--wait"], b""));
    [search, newest, timeline, start, prompt, alone, gate, drained]
}
