//! Whose memories are asked for.

use crate::cli::args::ScopeArgs;
use crate::error::Failure;
use crate::mcp::{Arguments, Kind, Parameter};

pub(super) const PROJECT: Parameter = Parameter::new("project", Kind::Text, "another project's name");
pub(super) const ALL_PROJECTS: Parameter = Parameter::new("all_projects", Kind::Flag, "");

/// The scope that the two arguments name.
///
/// # Errors
/// [`Failure`] when both are given.
pub(super) fn scope(what: &str, arguments: &Arguments) -> Result<ScopeArgs, Failure> {
    let project = arguments.text("project").map(str::to_owned).filter(|name| !name.trim().is_empty());
    let all_projects = arguments.flag("all_projects");
    if all_projects && project.is_some() {
        return Err(Failure::usage(what, "project and all_projects exclude each other", "give one of them"));
    }
    Ok(ScopeArgs { project, all_projects })
}
