//! `cmem project`: which projects there are, and which of them are one.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::json;

use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::render;
use crate::store::{ProjectRow, Store, StoreError};

/// The parts of `cmem project`.
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// Print every project with its place and how much is remembered of it
    #[command(after_help = "Example:\n  cmem project list\n  cmem project list --json")]
    List,
    /// Say that a directory is (the new place of) a known project
    #[command(after_help = "Example:\n  mv ~/src/app ~/work/app && cmem project alias ~/work/app app")]
    Alias {
        /// The directory, anywhere in its repository
        dir: PathBuf,
        /// Name of the project, as `cmem project list` shows it
        project: String,
    },
    /// Let one project see everything of another, now and from now on
    #[command(after_help = "Example:\n  cmem project merge 'app (old-disk)' app")]
    Merge {
        /// The project whose memory is shown
        from: String,
        /// The project that shows it
        into: String,
    },
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when a project is unknown, has memory of its own, or the memory cannot be used.
pub fn run(command: &ProjectCommand, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    match command {
        ProjectCommand::List => list(paths, printer),
        ProjectCommand::Alias { dir, project } => alias(dir, project, paths, printer),
        ProjectCommand::Merge { from, into } => merge(from, into, paths, printer),
    }
}

fn list(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "project list";
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let projects = match reader::open(WHAT, paths)? {
        Some(store) => store.projects().map_err(fail)?,
        None => Vec::new(),
    };
    if printer.wants_json() {
        printer.json(&projects);
        return Ok(());
    }
    for project in &projects {
        printer.data(&row(project));
    }
    for hint in hints(&projects) {
        printer.talk(&hint);
    }
    if projects.is_empty() {
        printer.talk("nothing is remembered yet");
    }
    Ok(())
}

fn row(project: &ProjectRow) -> String {
    let gone = match project.root.as_str() {
        "" => "(known by name)",
        root if Path::new(root).exists() => "",
        _ => " (gone)",
    };
    let last = project.last_at.map_or_else(|| String::from("never"), |at| at.local("%Y-%m-%d"));
    let mut line = format!(
        "{:<24} {:>6} observations, last {last}  {}{gone}",
        render::line(&project.name),
        project.observations,
        render::line(&project.root)
    );
    for alias in &project.aliases {
        line.push_str(&format!("  = {}", render::line(alias)));
    }
    line
}

/// A place that is gone and a new one with the same remote are probably one project.
fn hints(projects: &[ProjectRow]) -> Vec<String> {
    let mut hints = Vec::new();
    let is_there = |project: &ProjectRow| Path::new(&project.root).exists();
    for old in projects.iter().filter(|project| project.worktree.is_empty() && project.remote.is_some()) {
        let moved = |new: &&ProjectRow| {
            new.id != old.id && new.worktree.is_empty() && new.remote == old.remote && is_there(new)
        };
        let is_known = projects.iter().any(|project| project.aliases.contains(&old.key));
        if !is_there(old)
            && !is_known
            && old.aliases.is_empty()
            && let Some(new) = projects.iter().find(moved)
        {
            hints.push(format!(
                "{} is gone, and {} has the same remote: if it moved, `cmem project merge '{}' '{}'`",
                render::line(&old.root),
                render::line(&new.root),
                render::line(&old.name),
                render::line(&new.name)
            ));
        }
    }
    hints
}

fn alias(dir: &Path, name: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "project alias";
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let (store, projects) = open(WHAT, paths)?;
    let project = named(WHAT, &projects, name)?;
    if !dir.is_dir() {
        return Err(Failure::new(WHAT, format!("{} is no directory", dir.display()), "name the new place"));
    }
    let identity = git::identify(dir);
    if let Some(known) = projects.iter().find(|known| known.key == identity.key && known.worktree.is_empty())
    {
        let hint = if known.id == project.id {
            String::from("nothing needs to be done")
        } else {
            format!("`cmem project merge '{}' '{name}'` brings both together", known.name)
        };
        return Err(Failure::new(WHAT, format!("{} is the project {}", dir.display(), known.name), hint));
    }
    let transaction = store.begin().map_err(fail)?;
    transaction.alias(&identity.key, &project.key).map_err(fail)?;
    transaction.commit().map_err(fail)?;
    if printer.wants_json() {
        printer.json(&json!({ "key": identity.key, "project": project.name }));
    }
    printer.talk(&format!("{} is {} from now on", render::line(&identity.root), render::line(name)));
    Ok(())
}

fn merge(from: &str, into: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "project merge";
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let (store, projects) = open(WHAT, paths)?;
    let (from, into) = (named(WHAT, &projects, from)?, named(WHAT, &projects, into)?);
    if from.id == into.id {
        return Err(Failure::new(WHAT, "both are the same project", "name two"));
    }
    let transaction = store.begin().map_err(fail)?;
    // What was merged into another project before stands for that one.
    let key = transaction.meaning(&into.key).map_err(fail)?;
    let into =
        projects.iter().find(|project| project.key == key && project.worktree.is_empty()).unwrap_or(into);
    if from.id == into.id {
        return Err(Failure::new(
            WHAT,
            format!("{} is part of {} already", into.name, from.name),
            "name two",
        ));
    }
    let count = transaction.merge_project(from, into).map_err(fail)?;
    transaction.commit().map_err(fail)?;
    if printer.wants_json() {
        printer.json(&json!({ "from": from.name, "into": into.name, "observations": count }));
    }
    printer.talk(&format!(
        "{} shows the {count} observations of {} from now on",
        render::line(&into.name),
        render::line(&from.name)
    ));
    Ok(())
}

fn open(what: &str, paths: &Paths) -> Result<(Store, Vec<ProjectRow>), Failure> {
    let fail = |error: StoreError| reader::store_failure(what, &error);
    if reader::open(what, paths)?.is_none() {
        return Err(Failure::new(what, "no project is known", "nothing is remembered yet"));
    }
    let store = Store::open(paths).map_err(fail)?;
    let projects = store.projects().map_err(fail)?;
    Ok((store, projects))
}

/// A main checkout or a directory outside git: worktrees belong to theirs.
fn named<'a>(what: &str, projects: &'a [ProjectRow], name: &str) -> Result<&'a ProjectRow, Failure> {
    let main = |project: &&ProjectRow| project.worktree.is_empty();
    projects.iter().filter(main).find(|project| project.name == name).ok_or_else(|| {
        let known: Vec<&str> = projects.iter().filter(main).map(|project| project.name.as_str()).collect();
        Failure::new(
            what,
            format!("no project is called {name:?}"),
            format!("known are {}", known.join(", ")),
        )
    })
}
