//! `cmem get`: whole records.

use std::collections::HashMap;

use serde::Serialize;

use super::reader;
use crate::cli::args::GetArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Observation, RecordId};
use crate::render;
use crate::retrieve::{self, FilesSince, Lineage, Record};
use crate::spool::note_use;
use crate::store::{Store, StoreError};

const WHAT: &str = "get";

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    record: &'a Record,
    /// Of observations alone.
    #[serde(flatten)]
    aside: Option<Aside>,
}

/// What is known of an observation beside what it says.
#[derive(Default, Serialize)]
struct Aside {
    /// `None` = its project is not here.
    files_since: Option<FilesSince>,
    #[serde(flatten)]
    lineage: Lineage,
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a word that is no id; and, after the others were printed, for an id that is not there.
pub fn run(args: &GetArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = ids(&args.ids)?;
    let (records, missing, mut asides) = match reader::open(WHAT, paths)? {
        Some(store) => read(&store, &ids).map_err(|error| reader::store_failure(WHAT, &error))?,
        None => (Vec::new(), ids, HashMap::new()),
    };
    note_use(paths, &observations(&records).map(|memory| memory.id).collect::<Vec<_>>());
    let mut aside = |record: &Record| match record {
        Record::Observation(memory) => Some(asides.remove(&memory.id).unwrap_or_default()),
        Record::Summary(_) | Record::Prompt(_) => None,
    };
    if printer.wants_json() {
        printer.json(&records.iter().map(|record| Row { record, aside: aside(record) }).collect::<Vec<_>>());
    } else {
        let mode = reader::mode(paths, printer);
        for (index, record) in records.iter().enumerate() {
            if index > 0 {
                printer.data("");
            }
            printer.data(&render::record(record, &mode));
            if let Some(Aside { files_since, lineage }) = aside(record) {
                render::aside(files_since.as_ref(), Some(&lineage))
                    .iter()
                    .for_each(|line| printer.data(line));
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let noun = if names.len() == 1 { "record" } else { "records" };
    Err(Failure::new(WHAT, format!("there is no {noun} {}", names.join(", ")), "find ids with `cmem search`"))
}

fn observations(records: &[Record]) -> impl Iterator<Item = &Observation> {
    records.iter().filter_map(|record| match record {
        Record::Observation(memory) => Some(&**memory),
        Record::Summary(_) | Record::Prompt(_) => None,
    })
}

type Read = (Vec<Record>, Vec<RecordId>, HashMap<i64, Aside>);

/// Those that are there, those that are not, and what is known of observations beside what they say.
fn read(store: &Store, ids: &[RecordId]) -> Result<Read, StoreError> {
    let (records, missing) = retrieve::get(store, ids)?;
    let here = reader::here();
    let seen = retrieve::names_in(store, &retrieve::scope(store, &here)?)?.unwrap_or_default();
    let memories: Vec<i64> = observations(&records).map(|memory| memory.id).collect();
    let mut lineages = Lineage::of(store, &memories)?;
    let (mut grounds, mut asides) = (HashMap::new(), HashMap::new());
    for memory in observations(&records) {
        // Who sees a memory here has its files here; otherwise they are where they were.
        let home = memory.merged_into.as_ref().unwrap_or(&memory.project);
        let root = match seen.contains(&memory.project) || seen.contains(home) {
            true => Some(here.root.clone()),
            false => retrieve::root_of(store, home)?,
        };
        let ground = root.and_then(|root| {
            let ground = grounds.entry(root).or_insert_with_key(|root: &String| reader::ground(root));
            ground.as_ref()
        });
        let files_since = ground.map(|ground| ground.look(memory));
        let lineage = lineages.remove(&memory.id).unwrap_or_default();
        asides.insert(memory.id, Aside { files_since, lineage });
    }
    Ok((records, missing, asides))
}

/// Each id once, in the order given; commas separate like blanks.
fn ids(words: &[String]) -> Result<Vec<RecordId>, Failure> {
    let mut ids = Vec::new();
    for part in words.iter().flat_map(|word| word.split(',')).filter(|part| !part.trim().is_empty()) {
        let id = part.parse().map_err(|error| Failure::usage(WHAT, error, "find ids with `cmem search`"))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() {
        return Err(Failure::usage(WHAT, "no id is given", "find ids with `cmem search`"));
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_every_spelling() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let shown = |text: &str| {
            ids(&words(text)).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown("1,2, 3 #4 S12,P7 2"), "1 2 3 4 S12 P7");
        for wrong in ["12x", ",", "1 --x"] {
            assert_eq!(ids(&words(wrong)).unwrap_err().exit_code(), 2, "{wrong}");
        }
    }
}
