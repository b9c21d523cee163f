//! `cmem supersede`: newest wins, also where only the user knows which is newer.

use clap::Args;
use serde_json::json;

use super::pin::standing;
use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{RecordId, Status};
use crate::render;
use crate::store::{Position, StoreError, Transaction};

const WHAT: &str = "supersede";

/// Arguments of `cmem supersede`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  cmem supersede 12 30\n  cmem supersede 12 --undo")]
pub struct SupersedeArgs {
    /// The observation that holds no longer
    #[arg(value_name = "OLD")]
    pub old: String,
    /// The one that takes its place
    #[arg(value_name = "NEW", required_unless_present = "undo", conflicts_with = "undo")]
    pub new: Option<String>,
    /// Put OLD into use again instead
    #[arg(long)]
    pub undo: bool,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] for what is no observation, or not there, or of two projects, or when NEW is out of use itself, or when
/// the memory cannot be written.
pub fn run(args: &SupersedeArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let words: Vec<String> = [&args.old].into_iter().chain(&args.new).cloned().collect();
    let ids = reader::observation_ids(WHAT, &words)?;
    let records: Vec<RecordId> = ids.iter().copied().map(RecordId::Observation).collect();
    let (old, new) = match ids[..] {
        [old] if args.undo => (old, None),
        [old, new] => (old, Some(new)),
        _ => return Err(Failure::usage(WHAT, "OLD and NEW are the same", "name two observations")),
    };
    let fail = |error: StoreError| reader::store_failure(WHAT, &error);
    let store = reader::open_for_change(WHAT, &records, paths)?;
    let transaction = store.begin().map_err(fail)?;
    let before = position(&transaction, old)?;
    let changed = match new {
        Some(new) => {
            let newer = position(&transaction, new)?;
            check((old, &before), (new, &newer))?;
            transaction.replace(old, new).map_err(fail)?;
            before.superseded_by != Some(new)
        }
        None if before.status == Status::Superseded => {
            transaction.set_status(old, Status::Active).map_err(fail)?
        }
        None => {
            let why = format!("{old} is not superseded but {}", standing(before.status));
            return Err(Failure::new(WHAT, why, format!("`cmem get {old}` shows it")));
        }
    };
    transaction.commit().map_err(fail)?;
    if printer.wants_json() {
        printer.json(&json!({ "old": old, "new": new, "changed": changed }));
    }
    printer.talk(&match new {
        Some(new) if changed => {
            format!("{old} is superseded by {new}; it stays readable with `cmem get {old}`")
        }
        Some(new) => format!("{old} is superseded by {new} already"),
        None => format!("{old} is in use again"),
    });
    Ok(())
}

fn position(transaction: &Transaction<'_>, id: i64) -> Result<Position, Failure> {
    let position = transaction.position(id).map_err(|error| reader::store_failure(WHAT, &error))?;
    position.ok_or_else(|| reader::missing(WHAT, &[RecordId::Observation(id)]))
}

/// Whether the pointer may be set. As NEW points to nothing itself, no circle can come of it.
fn check((old, before): (i64, &Position), (new, newer): (i64, &Position)) -> Result<(), Failure> {
    if before.project != newer.project {
        let (one, other) = (render::line(&before.project_name), render::line(&newer.project_name));
        return Err(Failure::new(
            WHAT,
            format!("{old} belongs to project {one} and {new} to {other}"),
            format!("say it in the first one too, with `cmem remember --project {one}`, and name that"),
        ));
    }
    match (newer.status, newer.superseded_by) {
        (Status::Active | Status::Review, _) => Ok(()),
        (Status::Superseded, Some(by)) if by == old => Err(Failure::new(
            WHAT,
            format!("{new} is superseded by {old} itself"),
            format!("say `cmem supersede {new} --undo` first"),
        )),
        (Status::Superseded, Some(by)) => Err(Failure::new(
            WHAT,
            format!("{new} is superseded by {by} itself"),
            format!("name {by}, or say `cmem supersede {new} --undo` first"),
        )),
        (status, _) => Err(Failure::new(
            WHAT,
            format!("{new} is {}", standing(status)),
            format!("name one that is in use, or forget {old} with `cmem forget {old}`"),
        )),
    }
}
