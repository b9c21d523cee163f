//! `cmem timeline`: what happened around one record or moment.

use serde::Serialize;

use super::reader;
use crate::cli::args::TimelineArgs;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::model::{Caller, RecordId, Timestamp};
use crate::render;
use crate::retrieve::{self, Anchor, Filter, Hit};

const WHAT: &str = "timeline";

#[derive(Serialize)]
struct Answer<'a> {
    anchor: Option<RecordId>,
    items: &'a [Hit],
}

/// Runs the command.
///
/// # Errors
/// [`Failure`] when there is nothing to be around, or the memory cannot be read.
pub fn run(
    args: &TimelineArgs,
    caller: &Caller,
    paths: &Paths,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let text = args.anchor.join(" ");
    let anchor = anchor(&text);
    let store = reader::open_for(WHAT, caller, paths)?;
    let place = reader::place_from(&caller.dir, WHAT, store.as_ref(), &args.scope)?;
    let found = match &store {
        Some(store) => {
            let filter = Filter { ground: place.ground.clone(), ..Filter::all(place.scope.clone()) };
            retrieve::timeline(store, &anchor, args.before, args.after, &filter)
                .map_err(|error| reader::store_failure(WHAT, &error))?
        }
        None => None,
    };
    match found {
        Some(timeline) if printer.wants_json() => {
            printer.json(&Answer { anchor: Some(timeline.anchor), items: &timeline.items });
        }
        Some(timeline) => {
            for row in render::timeline(&timeline, &reader::mode(paths, printer), place.home.as_deref()) {
                printer.data(&row);
            }
            printer.talk("`cmem get ID...` for the whole (500-1,000 tokens each)");
        }
        None => match anchor {
            Anchor::Record(id) => {
                return Err(Failure::new(
                    WHAT,
                    format!("there is no record {id}"),
                    "find ids with `cmem search`",
                ));
            }
            _ if printer.wants_json() => printer.json(&Answer { anchor: None, items: &[] }),
            _ => printer.talk("nothing to show; --all-projects looks everywhere"),
        },
    }
    Ok(())
}

/// An id, else a time, else words to look for; nothing = now.
fn anchor(text: &str) -> Anchor {
    let text = text.trim();
    if text.is_empty() {
        return Anchor::Time(Timestamp::now());
    }
    if let Ok(id) = text.parse() {
        return Anchor::Record(id);
    }
    match Timestamp::parse(text) {
        Some(at) => Anchor::Time(at),
        None => Anchor::Query(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_what_it_looks_like() {
        assert_eq!(anchor("#12"), Anchor::Record(RecordId::Observation(12)));
        assert_eq!(anchor("S3"), Anchor::Record(RecordId::Summary(3)));
        assert_eq!(anchor("2026-02-02T02:40:00Z"), Anchor::Time(Timestamp(1_770_000_000_000)));
        assert_eq!(anchor("retry limit"), Anchor::Query(String::from("retry limit")));
        assert!(matches!(anchor(" "), Anchor::Time(_)));
    }
}
