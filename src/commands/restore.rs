//! `cmem restore`: what was put away is in use again.

use clap::Args;
use serde::Serialize;

use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Status, Timestamp};
use crate::store::{BroughtBack, Store, StoreError};

const WHAT: &str = "restore";

/// Arguments of `cmem restore`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem search '*' --status archived\n  cmem restore 12 15")]
pub struct RestoreArgs {
    /// Ids of observations that were put away
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

#[derive(Default, Serialize)]
struct Answer {
    restored: Vec<i64>,
    unchanged: Vec<Unchanged>,
}

#[derive(Serialize)]
struct Unchanged {
    id: i64,
    /// `None` = there is none of this id.
    status: Option<Status>,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a word that is no id of an observation; and, after the others were brought back, for one that was not
/// put away.
pub fn run(args: &RestoreArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = reader::observation_ids(WHAT, &args.ids)?;
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let mut answer = Answer::default();
    // A memory that is not there holds nothing to bring back, and none is made.
    if reader::open(WHAT, paths)?.is_none() {
        answer.unchanged = ids.iter().map(|id| Unchanged { id: *id, status: None }).collect();
    } else {
        let store = Store::open(paths).map_err(fail)?;
        let transaction = store.begin().map_err(fail)?;
        for id in ids {
            match transaction.bring_back(id, Timestamp::now()).map_err(fail)? {
                BroughtBack::Back => answer.restored.push(id),
                BroughtBack::Stands(status) => answer.unchanged.push(Unchanged { id, status: Some(status) }),
                BroughtBack::Missing => answer.unchanged.push(Unchanged { id, status: None }),
            }
        }
        transaction.commit().map_err(fail)?;
    }
    if printer.wants_json() {
        printer.json(&answer);
    } else {
        for id in &answer.restored {
            printer.talk(&format!("{id} is in use again"));
        }
    }
    let why: Vec<String> = answer.unchanged.iter().filter_map(refused).collect();
    match why.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(WHAT, why.join(", "), "`cmem search '*' --status archived` lists them")),
    }
}

/// Why it stays as it is; what is in use is no failure.
fn refused(Unchanged { id, status }: &Unchanged) -> Option<String> {
    match status {
        Some(Status::Active) => None,
        Some(status) => Some(format!("{id} was not put away: it is {}", status.name())),
        None => Some(format!("there is no observation {id}")),
    }
}
