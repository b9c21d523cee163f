//! The tool `search`.

use super::printed::printed;
use super::scope::{ALL_PROJECTS, PROJECT, scope};
use crate::cli::args::{FilterArgs, KindName, SearchArgs};
use crate::cli::when;
use crate::commands::search;
use crate::config::Paths;
use crate::error::Failure;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;

const WHAT: &str = "search";
/// Rows where nothing is said of their number, as on the command line.
const ROWS: usize = 20;

pub(super) static TOOL: Tool = Tool {
    name: WHAT,
    about: "Index of what earlier sessions learned: a row of id, date and title for each hit (50-100 tokens). No query \
            lists the newest. Expand the few ids that matter with get_observations.",
    parameters: &[
        Parameter::new("query", Kind::Text, "words or a question, in any language"),
        Parameter::new("limit", Kind::Count(1, 100), "20 unless given"),
        Parameter::new("offset", Kind::Count(0, 1_000_000), ""),
        Parameter::new("type", Kind::Words, "such as bugfix,decision"),
        Parameter::new("concept", Kind::Words, "such as gotcha"),
        Parameter::new("file", Kind::Texts, "parts of paths"),
        Parameter::new("since", Kind::Text, "7d, yesterday, 2026-01-31"),
        Parameter::new("until", Kind::Text, ""),
        Parameter::new("kind", Kind::Choice(&["observation", "summary", "prompt"]), ""),
        PROJECT,
        ALL_PROJECTS,
    ],
    reads_only: true,
    call,
};

fn call(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = SearchArgs {
        query: arguments.text("query").map(str::to_owned),
        more: Vec::new(),
        limit: arguments.count("limit").unwrap_or(ROWS),
        offset: arguments.count("offset").unwrap_or(0),
        explain: false,
        filter: FilterArgs {
            types: arguments.list("type"),
            concepts: arguments.list("concept"),
            files: arguments.list("file"),
            since: arguments.parsed("since", when::since)?,
            until: arguments.parsed("until", when::until)?,
            kinds: arguments.text("kind").and_then(kind).into_iter().collect(),
            scope: scope(WHAT, arguments)?,
            ..FilterArgs::default()
        },
    };
    printed(|printer| search::run(&args, caller, paths, printer))
}

fn kind(word: &str) -> Option<KindName> {
    match word {
        "observation" => Some(KindName::Observation),
        "summary" => Some(KindName::Summary),
        "prompt" => Some(KindName::Prompt),
        _ => None,
    }
}
