//! The tables.

use crate::{Cost, Row};

pub fn print(rows: &[Row]) {
    println!(
        "Tokens of the observer, cmem / claude-mem (simulated), estimated alike: four ASCII characters a token, any"
    );
    println!("other character one; an observation for every second tool call that either side is shown.\n");
    println!(
        "| session | tool events | left out | requests | input tokens | ratio | held to | input per tool event | output tokens | output per tool event |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for row in rows {
        let Row { name, tools, triaged, cmem, other, .. } = row;
        println!(
            "| {name} | {tools} | {triaged} | {} / {} | {} / {} | 1/{:.1} | {} | {} / {} | {} / {} | {} / {} |",
            cmem.requests,
            other.requests,
            cmem.input,
            other.input,
            1.0 / row.ratio(),
            held_to(row),
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
    let per = |(input, output): (f64, f64)| format!("{input:.0} input tokens, {output:.0} output tokens");
    let same = average(rows, |row| (row.cmem, row.observations));
    println!("\ncmem, per observation: {}.", per(same));
    println!(
        "cmem, per observation, with one for every fourth tool call: {}; its prices are told from these.",
        per(per_observation(rows))
    );
    let others = rows.iter().map(|row| row.other.input).sum::<usize>()
        / rows.iter().map(|row| row.noted).sum::<usize>();
    println!(
        "claude-mem (simulated), per observation: {others} input tokens; 55,960 in all by its own measurement."
    );
}

/// What a session is held to, in words.
fn held_to(row: &Row) -> String {
    let part = format!("1/{:.0}", 1.0 / row.limit());
    if row.is_tool_session() {
        return part;
    }
    format!("{part} (talk: {} prompts, tool calls: {})", row.prompts, row.tools)
}

/// Input and output tokens that one observation of cmem is taken to cost, over all sessions.
pub fn per_observation(rows: &[Row]) -> (f64, f64) {
    average(rows, |row| (row.sparing, row.sparing_observations))
}

fn average(rows: &[Row], part: fn(&Row) -> (Cost, usize)) -> (f64, f64) {
    let observations: usize = rows.iter().map(|row| part(row).1).sum();
    let per = |tokens: fn(&Cost) -> usize| {
        rows.iter().map(|row| tokens(&part(row).0)).sum::<usize>() as f64 / observations as f64
    };
    (per(|cost| cost.input), per(|cost| cost.output))
}
