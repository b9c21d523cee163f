//! The tool `context`, and the same text as a resource of each project.

use super::printed::{data, printed};
use super::scope::{ALL_PROJECTS, PROJECT, scope};
use crate::cli::args::ScopeArgs;
use crate::commands::{context, reader};
use crate::config::Paths;
use crate::error::Failure;
use crate::mcp::{Arguments, Resource, Resources, Tool, percent_decoded, percent_encoded};
use crate::model::Caller;
use crate::retrieve;

const WHAT: &str = "context";
/// The project that the client stands in.
const HERE: &str = "cmem://context";
const ABOUT: &str = "What a new session is told of the project";

pub(super) static TOOL: Tool = Tool {
    name: WHAT,
    about: "What a new session is told of this project (up to 2,500 tokens); you were told it when yours began.",
    parameters: &[PROJECT, ALL_PROJECTS],
    reads_only: true,
    call,
};

pub(super) const RESOURCES: Resources = Resources {
    list,
    template: &Resource { uri: "cmem://context/{project}", name: "Context of a project", about: ABOUT },
    read,
};

fn call(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    let args = scope(WHAT, arguments)?;
    printed(|printer| context::run(&args, caller, paths, printer))
}

/// This project, then every project by its name.
fn list(_: &Caller, paths: &Paths) -> Result<Vec<Resource>, Failure> {
    let names = match reader::open(WHAT, paths)? {
        Some(store) => {
            retrieve::project_names(&store).map_err(|error| reader::store_failure(WHAT, &error))?
        }
        None => Vec::new(),
    };
    let here = Resource { uri: HERE.to_owned(), name: String::from("Context of this project"), about: ABOUT };
    let named = names.into_iter().map(|name| Resource {
        uri: format!("{HERE}/{}", percent_encoded(&name)),
        name: format!("Context of {name}"),
        about: ABOUT,
    });
    Ok([here].into_iter().chain(named).collect())
}

fn read(uri: &str, caller: &Caller, paths: &Paths) -> Result<Option<String>, Failure> {
    let project = match uri.strip_prefix(HERE) {
        Some("") => None,
        Some(rest) => match rest.strip_prefix('/').and_then(percent_decoded) {
            Some(name) => Some(name),
            None => return Ok(None),
        },
        None => return Ok(None),
    };
    let args = ScopeArgs { project, all_projects: false };
    data(|printer| context::run(&args, caller, paths, printer)).map(Some)
}
