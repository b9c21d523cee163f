//! What the observer costs on recorded sessions: cmem as built, against claude-mem's growing conversation,
//! simulated. Prints tables that are the same bytes for the same program; exit code 1 when cmem needs more than
//! a tenth of the input on any session in which tools do the work (a fifth on one of talk), or when an event was left
//! unseen.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its table, and stops where it cannot go on"
)]
#![allow(unreachable_pub, reason = "the helpers are shared with the tests")]

#[path = "../../common/mod.rs"]
mod common;

mod notes;
mod observed;
mod other;
mod recording;
mod table;

use std::process::ExitCode;

use cmem::config::TOKENS_PER_OBSERVATION;

/// Most of the other tool's input that cmem may need, on every session in which tools do the work.
const LIMIT: f64 = 0.1;
/// The same where the user talks more often than a tool is called: each turn is one request on either side, since it ends
/// with a summary, and there is nothing to batch.
const TALK_LIMIT: f64 = 0.2;
/// Either side's model writes an observation for every second tool call that it is shown: what fits the other tool's
/// published measurement.
pub const EVERY: usize = 2;
/// cmem asks for fewer. Its price for each is told for half as many, so that it is rather too high than too low.
const EVERY_WHEN_SPARING: usize = 4;
/// How far the constant that `cmem install` computes its prices from may lie beside what is measured here.
const DRIFT: f64 = 0.2;

/// Tokens of the requests of one session.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    requests: usize,
    input: usize,
    /// The input when a provider bills a prefix that it has seen before at a tenth.
    billed: usize,
    output: usize,
}

/// One recorded session on both sides.
#[derive(Debug)]
struct Row {
    name: String,
    /// Prompts of the user.
    prompts: usize,
    /// Tool calls, failed ones among them.
    tools: usize,
    /// Tool calls that triage left out.
    triaged: usize,
    observations: usize,
    cmem: Cost,
    /// The same with a model that writes half as many observations.
    sparing: Cost,
    /// Observations of that one.
    sparing_observations: usize,
    /// Observations that the other tool is assumed to write.
    noted: usize,
    other: Cost,
    /// The other tool, if it forgot its conversation before every prompt of the user.
    restarted: Cost,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.cmem.input as f64 / self.other.input as f64
    }

    /// Whether tools do the work.
    fn is_tool_session(&self) -> bool {
        self.tools > self.prompts
    }

    fn limit(&self) -> f64 {
        if self.is_tool_session() { LIMIT } else { TALK_LIMIT }
    }
}

fn main() -> ExitCode {
    let rows: Vec<Row> = recording::all().iter().map(measure).collect();
    table::print(&rows);
    let mut failed = false;
    for row in rows.iter().filter(|row| row.ratio() > row.limit()) {
        failed = true;
        eprintln!("{}: {:.3} of the other tool's input is more than {}", row.name, row.ratio(), row.limit());
    }
    let (input, output) = table::per_observation(&rows);
    for (what, measured, constant) in
        [("input", input, TOKENS_PER_OBSERVATION.input), ("output", output, TOKENS_PER_OBSERVATION.output)]
    {
        if (measured / constant - 1.0).abs() > DRIFT {
            failed = true;
            eprintln!("TOKENS_PER_OBSERVATION.{what} is {constant}; measured are {measured:.0}: correct it");
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn measure(session: &recording::Session) -> Row {
    let seen = observed::by_cmem(session, EVERY);
    let sparing = observed::by_cmem(session, EVERY_WHEN_SPARING);
    Row {
        name: session.name.clone(),
        prompts: session.calls.iter().filter(|call| call.event() == "UserPromptSubmit").count(),
        tools: session.tools().count(),
        triaged: seen.triaged,
        observations: seen.observations,
        cmem: seen.cost,
        sparing: sparing.cost,
        sparing_observations: sparing.observations,
        noted: other::observations(session),
        other: other::cost(session, false),
        restarted: other::cost(session, true),
    }
}
