//! `cmem adopt`: brings the memory of merged worktrees home.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;

use super::reader;
use crate::adopt::{self, AdoptError, Report, Request, WorktreeReport};
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::model::Identity;
use crate::render;
use crate::store::Store;

const WHAT: &str = "adopt";

/// Arguments of `cmem adopt`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cmem adopt --dry-run             what would be adopted, and why\n  cmem adopt                       adopt every merged branch\n  cmem adopt --branch feat/auth    adopt this one, whatever the tests say\n  cmem adopt --undo                take it all back"
)]
pub struct AdoptArgs {
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Adopt this branch (or worktree folder), merged or not; may be repeated
    #[arg(long = "branch", value_name = "B")]
    pub branches: Vec<String>,
    /// Project that takes the memory in [default: the main checkout]
    #[arg(long, value_name = "PROJECT")]
    pub into: Option<String>,
    /// Take adoptions back; they are not repeated by themselves then
    #[arg(long, conflicts_with = "into")]
    pub undo: bool,
    /// Every repository that cmem knows
    #[arg(long, conflicts_with_all = ["repo", "branches", "into"])]
    pub all: bool,
    /// Repository, by any directory in it [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a branch or project that is not known, outside a repository, and when the memory cannot be
/// used; nothing is changed then.
pub fn run(args: &AdoptArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let request = Request {
        dry_run: args.dry_run,
        branches: args.branches.clone(),
        into: args.into.clone(),
        undo: args.undo,
    };
    // A memory that is not there has no worktree, and a look at it does not make one.
    let store = match reader::open(WHAT, paths)? {
        Some(store) if args.dry_run => Some(store),
        Some(_) => Some(Store::open(paths).map_err(|error| reader::store_failure(WHAT, &error))?),
        None => None,
    };
    let homes = match (&store, args.all) {
        (Some(store), true) => {
            let keys = store.repositories().map_err(|error| reader::store_failure(WHAT, &error))?;
            let mut homes = Vec::new();
            for key in keys {
                let others = store.spellings(&key).map_err(|error| reader::store_failure(WHAT, &error))?;
                // Where the repository is now, if it moved.
                let place = others.into_iter().find(|other| Path::new(other).exists());
                homes.push(git::home_of(&place.filter(|_| !Path::new(&key).exists()).unwrap_or(key)));
            }
            homes
        }
        (None, true) => Vec::new(),
        (_, false) => vec![here(args.repo.as_deref())?],
    };
    let mut reports = Vec::new();
    for home in &homes {
        let report = match &store {
            Some(store) => adopt::adopt(store, home, &request).map_err(|error| failure(&error)),
            None => adopt::nothing_recorded(home, &request).map_err(|error| failure(&error)),
        };
        match report {
            Ok(report) => reports.push(report),
            // One repository that is gone does not keep the others from being looked at.
            Err(failure) if args.all => printer.talk(&format!("{}: {failure}", home.key)),
            Err(failure) => return Err(failure),
        }
    }
    show(&reports, args, printer);
    if let Some(line) = reader::pending_line(reader::pending(paths, printer)) {
        printer.talk(&line);
    }
    Ok(())
}

fn here(repo: Option<&Path>) -> Result<Identity, Failure> {
    let dir = repo.map(Path::to_owned).unwrap_or_else(|| env::current_dir().unwrap_or_default());
    let identity = git::identify(&dir);
    if git::is_repository(&identity) {
        return Ok(if identity.worktree.is_some() { git::home_of(&identity.key) } else { identity });
    }
    Err(Failure::new(
        WHAT,
        format!("{} is in no git repository", dir.display()),
        "go to one, name one with --repo, or use --all",
    ))
}

fn failure(error: &AdoptError) -> Failure {
    let hint = match error {
        AdoptError::Store(error) => return reader::store_failure(WHAT, error),
        AdoptError::History(_) => {
            String::from("name branches with --branch to adopt them without looking at the repository")
        }
        AdoptError::UnknownBranch { known, .. } if known.is_empty() => {
            String::from("nothing was recorded in a worktree of it yet")
        }
        AdoptError::UnknownBranch { known, .. } => format!("recorded are {}", known.join(", ")),
        AdoptError::UnknownProject(_) => String::from("see `cmem project list`"),
    };
    Failure::new(WHAT, error, hint)
}

fn show(reports: &[Report], args: &AdoptArgs, printer: &mut Printer) {
    if printer.wants_json() {
        match reports {
            [report] if !args.all => printer.json(report),
            _ => printer.json(&reports),
        }
        return;
    }
    for report in reports {
        if args.all {
            printer.data(&format!("{} ({})", render::line(&report.parent), render::line(&report.repo)));
        }
        for worktree in &report.worktrees {
            printer.data(&row(worktree));
        }
        printer.talk(&outcome(report, args.undo));
    }
    if reports.is_empty() {
        printer.talk("no worktree was recorded yet");
    }
}

fn row(worktree: &WorktreeReport) -> String {
    let branch = worktree.branch.as_deref().unwrap_or("(detached)");
    let plural =
        |count: i64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    format!(
        "{:<24} {}: {} ({}, {})",
        render::line(branch),
        render::line(&worktree.name),
        render::line(&worktree.reason),
        plural(worktree.observations, "observation", "observations"),
        plural(worktree.summaries, "summary", "summaries"),
    )
}

fn outcome(report: &Report, undo: bool) -> String {
    let parent = render::line(&report.parent);
    match (report.changed(), undo, report.dry_run) {
        (0, false, _) if report.worktrees.is_empty() => {
            String::from("no worktree of this repository was recorded yet")
        }
        (0, false, _) => String::from("nothing to adopt"),
        (0, true, _) => String::from("nothing to take back"),
        (_, false, dry) => format!(
            "{} {} observations and {} summaries into {parent}",
            if dry { "would adopt" } else { "adopted" },
            report.adopted_observations,
            report.adopted_summaries
        ),
        (count, true, dry) => {
            format!("{} {count} from {parent}", if dry { "would take back" } else { "taken back" })
        }
    }
}
