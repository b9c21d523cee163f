//! `cmem get`: whole records.

use serde::Serialize;

use super::reader;
use crate::cli::args::GetArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Links, Revision};
use crate::render;
use crate::retrieve::{self, Record};
use crate::store::{Store, StoreError};

const WHAT: &str = "get";

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a word that is no id; and, after the others were printed, for an id that is not there.
pub fn run(args: &GetArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = reader::ids(WHAT, &args.ids)?;
    let (shown, missing) = match reader::open(WHAT, paths)? {
        Some(store) => {
            let failed = |error: StoreError| reader::store_failure(WHAT, &error);
            let (records, missing) = retrieve::get(&store, &ids).map_err(failed)?;
            let with_the_rest = |record| Shown::of(record, args.history, &store);
            (records.into_iter().map(with_the_rest).collect::<Result<_, _>>().map_err(failed)?, missing)
        }
        None => (Vec::new(), ids),
    };
    if printer.wants_json() {
        printer.json(&shown);
    } else {
        let mode = reader::mode(paths, printer);
        for (index, Shown { record, links, history }) in shown.iter().enumerate() {
            if index > 0 {
                printer.data("");
            }
            printer.data(&render::record(record, &mode));
            links.iter().flat_map(render::links).for_each(|line| printer.data(&line));
            if let (Some(history), Record::Observation(now)) = (history, record) {
                render::history(history, now).iter().for_each(|line| printer.data(line));
            }
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(reader::missing(WHAT, &missing)) }
}

/// A record with what stands around it.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    record: Record,
    /// Of an observation.
    #[serde(flatten)]
    links: Option<Links>,
    /// Of an observation, when asked for: what it said before each edit, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Revision>>,
}

impl Shown {
    fn of(record: Record, history: bool, store: &Store) -> Result<Self, StoreError> {
        let Record::Observation(observation) = &record else {
            return Ok(Self { record, links: None, history: None });
        };
        let links = Some(store.links(observation.id)?);
        let history = if history { Some(store.revisions(observation.id)?) } else { None };
        Ok(Self { record, links, history })
    }
}
