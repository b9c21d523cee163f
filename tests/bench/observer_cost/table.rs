//! The tables.

use crate::{Cost, Row};

pub fn print(rows: &[Row]) {
    println!(
        "Tokens of the observer, cmem / claude-mem (simulated), estimated alike: four ASCII characters a token, any"
    );
    println!("other character one.\n");
    println!(
        "| session | tool events | left out | requests | input tokens | ratio | input per tool event | output tokens | output per tool event |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let Row { name, tools, triaged, cmem, other, .. } = row;
        println!(
            "| {name} | {tools} | {triaged} | {} / {} | {} / {} | 1/{:.1} | {} / {} | {} / {} | {} / {} |",
            cmem.requests,
            other.requests,
            cmem.input,
            other.input,
            1.0 / row.ratio(),
            cmem.input / tools,
            other.input / tools,
            cmem.output,
            other.output,
            cmem.output / tools,
            other.output / tools,
        );
    }
    println!(
        "\nThe same input where it costs claude-mem less: with its history billed as cached, at a tenth (cmem's requests"
    );
    println!(
        "are too short for a cache: billed in full); and with its conversation begun anew at every prompt.\n"
    );
    println!(
        "| session | input billed | ratio | begun anew | ratio | both | ratio |\n|---|---|---|---|---|---|---|"
    );
    for Row { name, cmem, other, restarted, .. } in rows {
        let against =
            |tokens: usize| format!("{} / {tokens} | 1/{:.1}", cmem.input, tokens as f64 / cmem.input as f64);
        println!(
            "| {name} | {} | {} | {} |",
            against(other.billed),
            against(restarted.input),
            against(restarted.billed)
        );
    }
    let (input, output) = per_observation(rows);
    println!("\ncmem, per observation: {input:.0} input tokens, {output:.0} output tokens.");
    let others = rows.iter().map(|row| row.other.input).sum::<usize>()
        / rows.iter().map(|row| row.noted).sum::<usize>();
    println!(
        "claude-mem (simulated), per observation: {others} input tokens; 55,960 in all by its own measurement."
    );
}

/// Input and output tokens that one observation of cmem took, over all sessions.
pub fn per_observation(rows: &[Row]) -> (f64, f64) {
    let observations: usize = rows.iter().map(|row| row.observations).sum();
    let sum = |part: fn(&Cost) -> usize| rows.iter().map(|row| part(&row.cmem)).sum::<usize>();
    let per = |tokens: usize| tokens as f64 / observations as f64;
    (per(sum(|cost| cost.input)), per(sum(|cost| cost.output)))
}
