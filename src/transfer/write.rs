//! A memory as JSON Lines: a header, then every record, each kind in the order of its uids.

use std::io::Write;

use serde::Serialize;
use serde_json::json;

use super::{TransferError, VERSION};
use crate::model::Carried;
use crate::privacy::Cleaner;
use crate::retrieve::{RecordKind, Selection};
use crate::store::Store;

/// How much was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Written {
    pub projects: u64,
    pub observations: u64,
    pub summaries: u64,
    pub prompts: u64,
}

/// Writes what is selected; the same memory gives the same bytes. With a cleaner every text is cleaned once more.
///
/// # Errors
/// [`TransferError`].
pub fn write_lines(
    store: &Store,
    selection: &Selection,
    cleaner: Option<&Cleaner>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<Written, TransferError> {
    let _snapshot = store.snapshot()?;
    let mut written = Written::default();
    writeln!(out, "{}", json!({ "format": "cmem", "version": VERSION }))?;
    let projects = selection.projects(store)?;
    for project in store.carried_projects(&projects)? {
        line(out, &Carried::Project(project))?;
        written.projects += 1;
    }
    for branch in store.carried_branches(&projects)? {
        line(out, &Carried::Branch(branch))?;
    }
    if selection.is_whole() {
        for session in store.carried_sessions(&projects)? {
            line(out, &Carried::Session(session))?;
        }
    }
    for kind in [RecordKind::Observation, RecordKind::Summary, RecordKind::Prompt] {
        for id in selection.rows(store, kind)? {
            let (record, counter) = match kind {
                RecordKind::Observation => (
                    store.carried_observation(id)?.map(|found| Carried::Observation(Box::new(found))),
                    &mut written.observations,
                ),
                RecordKind::Summary => {
                    (store.carried_summary(id)?.map(Carried::Summary), &mut written.summaries)
                }
                RecordKind::Prompt => (store.carried_prompt(id)?.map(Carried::Prompt), &mut written.prompts),
            };
            let Some(mut record) = record else { continue };
            if let Some(cleaner) = cleaner {
                clean(&mut record, cleaner);
            }
            line(out, &record)?;
            *counter += 1;
            progress(1);
        }
    }
    out.flush()?;
    Ok(written)
}

/// Applies today's rules to every text.
pub(super) fn clean(record: &mut Carried, cleaner: &Cleaner) {
    for text in record.texts_mut() {
        *text = cleaner.clean_text(text);
    }
}

fn line(out: &mut dyn Write, record: &Carried) -> Result<(), TransferError> {
    let mut text = serde_json::to_string(record).map_err(std::io::Error::from)?;
    text.push('\n');
    out.write_all(text.as_bytes())?;
    Ok(())
}
