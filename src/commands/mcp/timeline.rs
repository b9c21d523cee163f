//! The tool `timeline`.

use super::printed::printed;
use super::scope::{ALL_PROJECTS, PROJECT, scope};
use crate::cli::args::TimelineArgs;
use crate::commands::timeline;
use crate::config::Paths;
use crate::error::Failure;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;

const WHAT: &str = "timeline";
/// Rows on either side where nothing is said of their number, as on the command line.
const ROWS: usize = 10;

pub(super) static TOOL: Tool = Tool {
    name: WHAT,
    about: "What happened around one record or moment: rows in time order (50-100 tokens each).",
    parameters: &[
        Parameter::new("anchor", Kind::Text, "an id (12, S3, P7), a time or words; now unless given"),
        Parameter::new("before", Kind::Count(0, 100), "10 unless given"),
        Parameter::new("after", Kind::Count(0, 100), ""),
        PROJECT,
        ALL_PROJECTS,
    ],
    reads_only: true,
    call,
};

fn call(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = TimelineArgs {
        anchor: arguments.text("anchor").map(str::to_owned).into_iter().collect(),
        before: arguments.count("before").unwrap_or(ROWS),
        after: arguments.count("after").unwrap_or(ROWS),
        scope: scope(WHAT, arguments)?,
    };
    printed(|printer| timeline::run(&args, caller, paths, printer))
}
