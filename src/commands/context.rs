//! `cmem context`: what a new session in this directory would be told.

use serde::Serialize;

use super::reader;
use crate::cli::args::ScopeArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::mode::Mode;
use crate::model::{Caller, Platform, estimate_tokens};
use crate::render::{self, RenderedContext};
use crate::retrieve::{self, Branch};

const WHAT: &str = "context";

#[derive(Serialize)]
struct Answer<'a> {
    project: Option<&'a str>,
    tokens: usize,
    shown: &'a [i64],
    text: &'a str,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when the memory cannot be read, or the project or the mode is unknown.
pub fn run(args: &ScopeArgs, caller: &Caller, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let settings = reader::settings(WHAT, paths)?;
    let mode = Mode::load(settings.mode.trim(), paths).map_err(|error| reader::mode_failure(WHAT, &error))?;
    let store = reader::open_for(WHAT, caller, paths)?;
    let place = reader::place_from(&caller.dir, WHAT, store.as_ref(), args)?;
    let name = place.project.as_deref().unwrap_or("(all)");
    let context = match &store {
        Some(store) if settings.context_observations > 0 => {
            let branch = place.identity.as_ref().map(|identity| Branch {
                name: identity.branch.clone(),
                files: git::changed_files(identity),
                ground: None,
            });
            let branch = Branch { ground: place.ground.clone(), ..branch.unwrap_or_default() };
            let most = settings.context_observations;
            let mut plan = retrieve::context(store, &place.scope, name, &branch, most, &[])
                .map_err(|error| reader::store_failure(WHAT, &error))?;
            retrieve::as_read_by(Platform::Claude, &mut plan.observations);
            render::context(&plan, &mode, settings.context_tokens, render::MAX_UNITS)
        }
        _ => RenderedContext::default(),
    };
    let tokens = estimate_tokens(&context.text);
    if printer.wants_json() {
        printer.json(&Answer {
            project: place.project.as_deref(),
            tokens,
            shown: &context.shown,
            text: &context.text,
        });
        return Ok(());
    }
    if context.text.is_empty() {
        printer.talk("a new session here would be told nothing");
    } else {
        printer.data(&context.text);
        printer.talk(&format!("~{tokens} tokens; memories in it: {}", context.shown.len()));
    }
    Ok(())
}
