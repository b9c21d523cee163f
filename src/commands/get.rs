//! `cmem get`: whole records.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::reader;
use crate::cli::args::GetArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::git;
use crate::model::{Caller, Links, Observation, Revision};
use crate::render;
use crate::retrieve::{self, FilesSince, Ground, Record};
use crate::spool::note_use;
use crate::store::{Store, StoreError};

const WHAT: &str = "get";

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a word that is no id; and, after the others were printed, for an id that is not there.
pub fn run(args: &GetArgs, caller: &Caller, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = reader::ids(WHAT, &args.ids)?;
    let (shown, missing) = match reader::open_for(WHAT, caller, paths)? {
        Some(store) => {
            let failed = |error: StoreError| reader::store_failure(WHAT, &error);
            let (records, missing) = retrieve::get(&store, &ids).map_err(failed)?;
            let mut files = Files::of(&store, &caller.dir).map_err(failed)?;
            let with_the_rest = |record| Shown::of(record, args.history, &store, &mut files);
            let shown: Vec<Shown> =
                records.into_iter().map(with_the_rest).collect::<Result<_, _>>().map_err(failed)?;
            (shown, missing)
        }
        None => (Vec::new(), ids),
    };
    note_use(paths, &shown.iter().filter_map(Shown::observation).map(|memory| memory.id).collect::<Vec<_>>());
    if printer.wants_json() {
        printer.json(&shown);
    } else {
        let mode = reader::mode(paths, printer);
        for (index, Shown { record, links, files_since, history }) in shown.iter().enumerate() {
            if index > 0 {
                printer.data("");
            }
            printer.data(&render::record(record, &mode));
            files_since.iter().flatten().flat_map(render::files_since).for_each(|line| printer.data(&line));
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
    /// Of an observation; `null` where its project is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_since: Option<Option<FilesSince>>,
    /// Of an observation, when asked for: what it said before each edit, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Revision>>,
}

impl Shown {
    fn of(record: Record, history: bool, store: &Store, files: &mut Files<'_>) -> Result<Self, StoreError> {
        let Record::Observation(observation) = &record else {
            return Ok(Self { record, links: None, files_since: None, history: None });
        };
        let links = Some(store.links(observation.id)?);
        let files_since = Some(files.since(observation)?);
        let history = if history { Some(store.revisions(observation.id)?) } else { None };
        Ok(Self { record, links, files_since, history })
    }

    fn observation(&self) -> Option<&Observation> {
        match &self.record {
            Record::Observation(memory) => Some(memory),
            Record::Summary(_) | Record::Prompt(_) => None,
        }
    }
}

/// Where the files of observations lie.
struct Files<'a> {
    store: &'a Store,
    /// Whoever sees a memory here has its files here; otherwise they are where they were.
    here: String,
    seen_here: Vec<String>,
    grounds: HashMap<String, Option<Ground>>,
}

impl<'a> Files<'a> {
    fn of(store: &'a Store, dir: &Path) -> Result<Self, StoreError> {
        let here = git::identify(dir);
        let seen_here = retrieve::names_in(store, &retrieve::scope(store, &here)?)?
            .unwrap_or_default()
            .into_iter()
            .collect();
        Ok(Self { store, here: here.root, seen_here, grounds: HashMap::new() })
    }

    /// What became of them since.
    fn since(&mut self, memory: &Observation) -> Result<Option<FilesSince>, StoreError> {
        let home = memory.merged_into.as_ref().unwrap_or(&memory.project);
        let root = match self.seen_here.contains(&memory.project) || self.seen_here.contains(home) {
            true => Some(self.here.clone()),
            false => retrieve::root_of(self.store, home)?,
        };
        let Some(root) = root else { return Ok(None) };
        let ground = self.grounds.entry(root).or_insert_with_key(|root| reader::ground(root));
        Ok(ground.as_ref().map(|ground| ground.look(memory)))
    }
}
