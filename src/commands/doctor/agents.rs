//! Which agents other than Claude Code are told of cmem, and whether the program that they would run is there.

use std::env;
use std::path::Path;

use super::Check;
use crate::hook::install::agent::AgentPlan;
use crate::hook::install::{self, InstallError, Scope};
use crate::model::Platform;

const NAME: &str = "agents";

/// One line for each agent that is registered, and none for the others.
pub(super) fn checks() -> Vec<Check> {
    let cwd = env::current_dir().unwrap_or_default();
    let Ok(program) = install::program() else { return Vec::new() };
    let others = Platform::ALL.into_iter().filter(|platform| !platform.is_claude());
    others.flat_map(|platform| check(platform, &cwd, &program)).collect()
}

fn check(platform: Platform, cwd: &Path, program: &str) -> Option<Check> {
    let (name, remedy) = (platform.title(), format!("`cmem install --for {platform}`"));
    let (mut programs, mut scopes, mut is_complete, mut broken) = (Vec::new(), Vec::new(), true, None);
    for scope in Scope::ALL {
        let files = match AgentPlan::inspect(platform, scope, cwd, program) {
            Ok(files) => files,
            Err(InstallError::NoScope { .. } | InstallError::NoUserFolder | InstallError::NoDirectory) => {
                continue;
            }
            Err(error) => return Some(Check::warn(NAME, format!("{name}: {error}"), error.hint())),
        };
        let mut plans = Vec::new();
        for file in files {
            match file {
                Ok(plan) => plans.push(plan),
                Err(error) => broken = Some(error),
            }
        }
        let found: Vec<String> = plans.iter().flat_map(AgentPlan::programs).cloned().collect();
        if !found.is_empty() {
            is_complete &= plans.iter().all(|plan| plan.changes().is_empty());
            scopes.push(scope.to_string());
            programs.extend(found);
        }
    }
    let gone = programs.iter().find(|program| program.contains('/') && !Path::new(program).is_file());
    let scopes = scopes.join(" and ");
    match gone {
        // A file that cannot be read is nobody's business where cmem was never registered.
        _ if programs.is_empty() => None,
        _ if broken.is_some() => {
            broken.map(|error| Check::warn(NAME, format!("{name}: {error}"), error.hint()))
        }
        Some(gone) => Some(Check::warn(NAME, format!("{name} would run {gone}, which is gone"), remedy)),
        None if !is_complete => {
            Some(Check::warn(NAME, format!("{name}: the {scopes} settings are not complete"), remedy))
        }
        None => Some(Check::ok(NAME, format!("{name}: registered in the {scopes} settings"))),
    }
}
