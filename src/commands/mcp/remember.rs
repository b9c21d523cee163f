//! The tool `remember`. What may not be captured may not be kept in this way either.

use std::path::Path;

use super::printed::printed;
use super::scope::{PROJECT, root};
use crate::cli::when;
use crate::commands::reader;
use crate::commands::remember::{self, PriorityName, RememberArgs};
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::hook;
use crate::mcp::{Arguments, Kind, Parameter, Tool};
use crate::model::Caller;
use crate::retrieve;
use crate::spool::Trail;

const WHAT: &str = "remember";

pub(super) static TOOL: Tool = Tool {
    name: WHAT,
    about: "Keep a fact, decision or convention that later sessions need, in a sentence or a few. Says what was stored.",
    parameters: &[
        Parameter::new("text", Kind::Text, "").needed(),
        Parameter::new("title", Kind::Text, "the first sentence unless given"),
        Parameter::new("type", Kind::Text, "such as decision; note unless given"),
        Parameter::new("tags", Kind::Words, ""),
        Parameter::new("priority", Kind::Choice(&["low", "normal", "high"]), ""),
        Parameter::new("files", Kind::Texts, ""),
        Parameter::new("expires", Kind::Text, "30d or a date"),
        PROJECT,
    ],
    reads_only: false,
    call,
};

fn call(arguments: &Arguments, caller: &Caller, paths: &Paths) -> Result<String, Failure> {
    if let Some(why) = forbidden(caller, paths) {
        return Err(Failure::new(WHAT, why, "nothing was stored; go on without"));
    }
    let project = arguments.text("project").map(str::trim).filter(|project| !project.is_empty());
    if project.map(|project| is_excluded(project, paths)).transpose()? == Some(true) {
        return Err(Failure::new(WHAT, "that project is excluded", "nothing was stored; go on without"));
    }
    let args = RememberArgs {
        text: None,
        more: Vec::new(),
        title: arguments.text("title").map(str::to_owned),
        r#type: arguments.text("type").filter(|word| !word.trim().is_empty()).unwrap_or("note").to_owned(),
        tags: arguments.list("tags"),
        priority: arguments.text("priority").map_or(PriorityName::Normal, priority),
        files: arguments.list("files"),
        expires: arguments.parsed("expires", when::expiry)?,
        project: project.map(str::to_owned),
    };
    let text = arguments.text("text").unwrap_or_default();
    printed(|printer| remember::keep(text, &args, caller, paths, printer))
}

fn priority(word: &str) -> PriorityName {
    match word {
        "low" => PriorityName::Low,
        "high" => PriorityName::High,
        _ => PriorityName::Normal,
    }
}

/// Why nothing may be kept of what happens here now.
fn forbidden(caller: &Caller, paths: &Paths) -> Option<&'static str> {
    match hook::exclusion(&caller.dir, &reader::lenient_settings(paths)) {
        Some("off") => return Some("cmem is switched off (CMEM_OFF)"),
        Some("excluded_project") => return Some("this project is excluded (CMEM_EXCLUDED_PROJECTS)"),
        Some(_) => return Some("this tree is excluded (.cmem-ignore)"),
        None => {}
    }
    let platform = caller.platform.unwrap_or_default();
    let own = caller.session.as_deref().map(|session| Trail::read(paths, platform, session));
    let is_private = match own {
        Some(own) if own.is_live() => own.is_private(),
        // The client does not tell its session, or is in another one than that for which the server was started: /clear
        // begins one.
        _ => {
            let root = root(caller);
            Trail::any_private(paths, caller.platform, |place| {
                let (place, _) = git::resolve(place);
                place.starts_with(&root) || root.starts_with(&place)
            })
        }
    };
    is_private.then_some("the user marked this turn as private")
}

/// Whether what happens in a project is captured, by where it was recorded.
fn is_excluded(project: &str, paths: &Paths) -> Result<bool, Failure> {
    let Some(store) = reader::open(WHAT, paths)? else { return Ok(false) };
    let root = retrieve::root_of(&store, project).map_err(|error| reader::store_failure(WHAT, &error))?;
    let settings = reader::lenient_settings(paths);
    Ok(root.is_some_and(|root| hook::exclusion(Path::new(&root), &settings).is_some()))
}
