//! Whose memories are asked for.

use std::path::{Path, PathBuf};

use crate::cli::args::ScopeArgs;
use crate::error::Failure;
use crate::git;
use crate::mcp::{Arguments, Kind, Parameter};
use crate::model::Caller;

pub(super) const PROJECT: Parameter = Parameter::new("project", Kind::Text, "another project's name");
pub(super) const ALL_PROJECTS: Parameter = Parameter::new("all_projects", Kind::Flag, "");

/// The checkout that a caller stands in, with links resolved.
pub(super) fn root(caller: &Caller) -> PathBuf {
    git::resolve(Path::new(&git::identify(&caller.dir).root)).0
}

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
