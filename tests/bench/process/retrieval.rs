//! Session start, prompts and search over memories of three sizes.

use std::fs;

use serde_json::json;

use crate::common::{World, payload};
use crate::measure::{Series, cmem, empty, run};
use crate::{corpus, row};

const ROUNDS: usize = 40;
const QUERIES: [&str; 4] =
    ["checkout timeout", "worktree merge rebase", "payment_refund", "lease deadline signal"];

const PROMPT: &str = "why does the checkout run into a timeout when the payment is refunded?";

pub fn at_every_size() {
    let mut world = World::new();
    world.repository("project");
    let mut filled = 0;
    for size in [1_000, 10_000, 100_000] {
        corpus::fill(&world, filled, size);
        filled = size;
        let (mut start, mut search, mut newest) = (Series::default(), Series::default(), Series::default());
        let (mut base, mut prompt, mut alone) = (Series::default(), Series::default(), Series::default());
        for round in 0..ROUNDS {
            base.add(run(&mut empty(&world)));
            let event = payload::event(
                "SessionStart",
                &world.project(),
                json!({"session_id": format!("s-{size}-{round}")}),
            );
            start.add(run(&mut cmem(&world, &["hook"], event.to_string().as_bytes())));
            // The drainer that the start woke is not part of the search.
            world.wait_for_drainers();
            for (hits, series) in [("3", &mut prompt), ("0", &mut alone)] {
                world.set("CMEM_PROMPT_HITS", hits);
                let event = payload::event("UserPromptSubmit", &world.project(), json!({"prompt": PROMPT}));
                series.add(run(&mut cmem(&world, &["hook"], event.to_string().as_bytes())));
                world.wait_for_drainers();
            }
            search.add(run(&mut cmem(&world, &["search", QUERIES[round % QUERIES.len()]], b"")));
            newest.add(run(&mut cmem(&world, &["search", "*"], b"")));
        }
        let bytes = fs::metadata(world.data().join("memory.db")).unwrap().len();
        let at = format!("{size} observations ({:.0} MiB)", bytes as f64 / 1024.0 / 1024.0);
        row(&format!("SessionStart, {at}"), &start.beside(&base));
        row(&format!("UserPromptSubmit, {at}"), &prompt.beside(&base));
        row(&format!("UserPromptSubmit without memories, {at}"), &alone.beside(&base));
        row(&format!("search, {at}"), &search.beside(&base));
        row(&format!("search '*', {at}"), &newest.beside(&base));
    }
}
