//! `cmem stats`: what the observer was asked, and what that cost; what is kept, and what that takes (`size.rs`);
//! what the gate before reads came to (`gates.rs`).

use std::collections::BTreeMap;

use clap::Args;
use serde::Serialize;

use super::{gates, reader, size};
use crate::cli::printer::Printer;
use crate::cli::when;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::Timestamp;
use crate::render;
use crate::store::CallCount;

const WHAT: &str = "stats";
/// A limit has to hold.
const WITHOUT_PRICE: &str =
    "CMEM_DAILY_USD counts a model whose price is not known at the dearest one of CMEM_PRICES";

/// Arguments of `cmem stats`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem stats\n  cmem stats --since 7d --json\n  cmem stats --size\n  cmem stats --gate"
)]
pub struct StatsArgs {
    /// Only what was asked since then (2026-01-31, 7d, 12h)
    #[arg(long, value_name = "WHEN", value_parser = when::since)]
    pub since: Option<Timestamp>,
    /// Show instead what the data directory takes on disk, by file and table
    #[arg(long, conflicts_with = "since")]
    pub size: bool,
    /// Show instead what came of telling memories before files were read, and the tokens that it saved
    #[arg(long, conflicts_with = "size")]
    pub gate: bool,
}

#[derive(Serialize)]
struct Answer {
    since: Option<Timestamp>,
    models: Vec<Row>,
    observations: i64,
    /// `None` where the price of a model is not known.
    dollars: Option<f64>,
    dollars_per_1000_observations: Option<f64>,
    /// Events that triage left out before anybody was paid for them, since the beginning.
    left_out: i64,
    left_out_by_rule: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    count: CallCount,
    dollars: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory, the spool or the settings cannot be read.
pub fn run(args: &StatsArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    if args.size {
        return size::run(WHAT, paths, printer);
    }
    if args.gate {
        return gates::run(WHAT, args.since.unwrap_or_default(), paths, printer);
    }
    let settings = reader::settings(WHAT, paths)?;
    let since = args.since.unwrap_or_default();
    let (calls, observations) = match reader::open(WHAT, paths)? {
        Some(store) => store
            .calls(since)
            .and_then(|calls| Ok((calls, store.observed(since)?)))
            .map_err(|error| reader::store_failure(WHAT, &error))?,
        None => (Vec::new(), 0),
    };
    let left_out_by_rule = match reader::open_spool(WHAT, paths)? {
        Some(spool) => {
            let status = spool.status().map_err(|error| reader::spool_failure(WHAT, &error))?;
            status.ledger.skipped
        }
        None => BTreeMap::new(),
    };
    let models: Vec<Row> =
        calls.into_iter().map(|count| Row { dollars: count.dollars(&settings.prices), count }).collect();
    // The sum of no floats is -0.
    let total = models.iter().try_fold(0.0, |total, row| Some(total + row.dollars?));
    let answer = Answer {
        since: args.since,
        observations,
        dollars: total,
        dollars_per_1000_observations: total
            .filter(|_| observations > 0)
            .map(|d| d * 1000.0 / observations as f64),
        left_out: left_out_by_rule.values().sum(),
        left_out_by_rule,
        models,
    };
    if printer.wants_json() {
        printer.json(&answer);
    } else {
        text(&answer).iter().for_each(|line| printer.data(line));
        if settings.daily_usd > 0.0 && answer.dollars.is_none() {
            printer.talk(WITHOUT_PRICE);
        }
    }
    Ok(())
}

fn text(answer: &Answer) -> Vec<String> {
    let money = |dollars: Option<f64>| {
        dollars.map_or_else(|| String::from("price not known"), |d| format!("${d:.4}"))
    };
    let mut lines: Vec<String> = answer
        .models
        .iter()
        .map(|Row { count, dollars }| {
            format!(
                "{:<28} {:>6} calls  {:>4} failed  {:>9} in  {:>9} cached  {:>8} out  {}",
                render::line(&count.model),
                count.calls,
                count.failed,
                count.input,
                count.cached,
                count.output,
                money(*dollars)
            )
        })
        .collect();
    if lines.is_empty() {
        lines.push(String::from("the observer was not asked yet"));
    }
    lines.push(format!("{} observations, {}", answer.observations, money(answer.dollars)));
    if let Some(per) = answer.dollars_per_1000_observations {
        lines.push(format!("${per:.2} per 1,000 observations"));
    }
    let rules: Vec<String> =
        answer.left_out_by_rule.iter().map(|(rule, count)| format!("{count} {rule}")).collect();
    let rules = if rules.is_empty() { String::new() } else { format!(": {}", rules.join(", ")) };
    lines.push(format!("{} events left out before anybody was asked (in all){rules}", answer.left_out));
    lines
}
