//! `cmem get`: whole records.

use super::reader;
use crate::cli::args::GetArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::RecordId;
use crate::render;
use crate::retrieve;

const WHAT: &str = "get";

/// Runs the command.
///
/// # Errors
/// [`Failure`] for a word that is no id; and, after the others were printed, for an id that is not there.
pub fn run(args: &GetArgs, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let ids = ids(&args.ids)?;
    let (records, missing) = match reader::open(WHAT, paths)? {
        Some(store) => retrieve::get(&store, &ids).map_err(|error| reader::store_failure(WHAT, &error))?,
        None => (Vec::new(), ids),
    };
    if printer.wants_json() {
        printer.json(&records);
    } else {
        let mode = reader::mode(paths, printer);
        for (index, record) in records.iter().enumerate() {
            if index > 0 {
                printer.data("");
            }
            printer.data(&render::record(record, &mode));
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    let noun = if names.len() == 1 { "record" } else { "records" };
    Err(Failure::new(WHAT, format!("there is no {noun} {}", names.join(", ")), "find ids with `cmem search`"))
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
