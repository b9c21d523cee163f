//! `cmem pin` and `cmem unpin`: what is told at every start, whatever its age.

use clap::Args;
use serde::Serialize;

use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{RecordId, Status};
use crate::store::StoreError;

/// Arguments of `cmem pin` and `cmem unpin`.
#[derive(Debug, Args)]
pub struct PinArgs {
    /// Observations, by number
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    id: i64,
    pinned: bool,
    changed: bool,
}

/// Runs the command: all of the observations, or none if one is not there.
///
/// # Errors
/// [`Failure`] for what is no observation, or not there, or when the memory cannot be written.
pub fn run(args: &PinArgs, pinned: bool, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let what = if pinned { "pin" } else { "unpin" };
    let ids = reader::observation_ids(what, &args.ids)?;
    let fail = |error: StoreError| reader::store_failure(what, &error);
    let records: Vec<RecordId> = ids.iter().copied().map(RecordId::Observation).collect();
    let store = reader::open_for_change(what, &records, paths)?;
    let transaction = store.begin().map_err(fail)?;
    let (mut rows, mut unknown, mut retired) = (Vec::new(), Vec::new(), Vec::new());
    for id in ids {
        let Some(position) = transaction.position(id).map_err(fail)? else {
            unknown.push(RecordId::Observation(id));
            continue;
        };
        if pinned && position.status != Status::Active {
            retired.push(format!("{id} is {}", standing(position.status)));
        }
        rows.push(Row { id, pinned, changed: transaction.pin(id, pinned).map_err(fail)? });
    }
    if !unknown.is_empty() {
        return Err(reader::missing(what, &unknown));
    }
    transaction.commit().map_err(fail)?;
    if printer.wants_json() {
        printer.json(&rows);
    }
    for row in rows {
        let already = if row.changed { "" } else { " already" };
        printer.talk(&match pinned {
            true => format!("{} is{already} pinned", row.id),
            false => format!("{} is{} pinned", row.id, if row.changed { " no longer" } else { " not" }),
        });
    }
    for line in retired {
        printer.talk(&format!("{line}: no session is told of it"));
    }
    Ok(())
}

/// A status as it is said of an observation.
pub(super) fn standing(status: Status) -> &'static str {
    match status {
        Status::Active => "in use",
        Status::Review => "waiting for review",
        Status::Superseded => "superseded",
        Status::Archived => "archived",
    }
}
