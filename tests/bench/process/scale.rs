//! Every reader, a drain step and the index over memories of 1,000 to 1,000,000 observations, with the growth from
//! each size to the next.

use std::fs;

use serde_json::json;

use crate::common::{World, payload};
use crate::measure::{Series, cmem, empty, run};
use crate::{corpus, row};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const ROUNDS: usize = 15;
const QUERIES: [&str; 4] =
    ["checkout timeout", "how do we merge the worktree", "payment_refund", "lease deadline signal"];

pub fn at_every_size() {
    let most: usize = std::env::var("CMEM_SCALE").map_or(100_000, |most| most.parse().unwrap());
    let world = World::new();
    world.repository("project");
    let mut filled = 0;
    let mut before: Vec<f64> = Vec::new();
    for size in SIZES.into_iter().filter(|size| *size <= most) {
        corpus::fill(&world, filled, size);
        filled = size;
        let reindex = run(&mut cmem(&world, &["reindex"], b""));
        let mut series = ["search", "timeline", "SessionStart", "prompt", "drain step"]
            .map(|name| (name, Series::default()));
        let mut base = Series::default();
        for round in 0..ROUNDS {
            base.add(run(&mut empty(&world)));
            let event = |name: &str| {
                let session = format!("s-{size}-{round}");
                let prompt = QUERIES[round % QUERIES.len()];
                payload::event(name, &world.project(), json!({"session_id": session, "prompt": prompt}))
                    .to_string()
            };
            let costs = [
                run(&mut cmem(&world, &["search", QUERIES[round % QUERIES.len()]], b"")),
                run(&mut cmem(&world, &["timeline", &(size / 2).to_string()], b"")),
                run(&mut cmem(&world, &["hook"], event("SessionStart").as_bytes())),
                run(&mut cmem(&world, &["hook"], event("UserPromptSubmit").as_bytes())),
            ];
            world.wait_for_drainers();
            run(&mut cmem(
                &world,
                &["hook"],
                payload::note("one more", &world.project()).to_string().as_bytes(),
            ));
            let drained = run(&mut cmem(&world, &["drain", "--wait"], b""));
            for ((_, series), cost) in series.iter_mut().zip(costs.into_iter().chain([drained])) {
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
                mib("centroids-cmse-base-1.bin")
            ),
        );
        before = now;
    }
}
