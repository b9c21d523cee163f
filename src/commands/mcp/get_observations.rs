//! The tool `get_observations`.

use super::printed::printed;
use crate::cli::args::GetArgs;
use crate::commands::get;
use crate::config::Paths;
use crate::error::Failure;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;

pub(super) static TOOL: Tool = Tool {
    name: "get_observations",
    about: "Whole records (500-1,000 tokens each): what was learned, why, facts, files. Find ids with search first and \
            take few.",
    parameters: &[
        Parameter::new("ids", Kind::Texts, "such as 12, S3 (summary), P7 (prompt)").needed(),
        Parameter::new("history", Kind::Flag, "also what they said before edits"),
    ],
    reads_only: true,
    call,
};

fn call(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = GetArgs { ids: arguments.list("ids"), history: arguments.flag("history") };
    printed(|printer| get::run(&args, caller, paths, printer))
}
