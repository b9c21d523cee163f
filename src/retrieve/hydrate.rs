//! From ids to index rows and whole records.

use std::collections::HashMap;

use super::{Ground, Hit, Record, RecordKind};
use crate::model::{Observation, Prompt, RecordId, Status, Summary, estimate_tokens};
use crate::store::{
    OBSERVATION_COLUMNS, PROMPT_COLUMNS, SUMMARY_COLUMNS, Store, StoreError, observation, prompt, summary,
};

/// Records by id.
pub(super) type Records = HashMap<RecordId, Record>;

/// Whole records by id, in the order asked; ids that are not there come second.
///
/// # Errors
/// [`StoreError`].
pub fn get(store: &Store, ids: &[RecordId]) -> Result<(Vec<Record>, Vec<RecordId>), StoreError> {
    let records = records(store, ids)?;
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        match records.get(id) {
            Some(record) => found.push(record.clone()),
            None => missing.push(*id),
        }
    }
    Ok((found, missing))
}

/// Index rows of those of some records that are there, in the order of `ids`.
///
/// # Errors
/// [`StoreError`].
pub fn hits_of(store: &Store, ids: &[RecordId]) -> Result<Vec<Hit>, StoreError> {
    let ids: Vec<_> = ids.iter().map(|id| (*id, 0.0)).collect();
    hits(store, &ids, Records::new(), None)
}

/// Those of some records that are there.
pub(super) fn records(store: &Store, ids: &[RecordId]) -> Result<Records, StoreError> {
    let pick = |want: fn(&RecordId) -> Option<i64>| ids.iter().filter_map(want).collect::<Vec<i64>>();
    let mut records = Records::with_capacity(ids.len());
    for record in
        observations(store, &pick(|id| if let RecordId::Observation(n) = id { Some(*n) } else { None }))?
    {
        records.insert(RecordId::Observation(record.id), Record::Observation(Box::new(record)));
    }
    for record in summaries(store, &pick(|id| if let RecordId::Summary(n) = id { Some(*n) } else { None }))? {
        insert(&mut records, &record.id.clone(), Record::Summary(record));
    }
    for record in prompts(store, &pick(|id| if let RecordId::Prompt(n) = id { Some(*n) } else { None }))? {
        insert(&mut records, &record.id.clone(), Record::Prompt(record));
    }
    Ok(records)
}

fn insert(records: &mut Records, id: &str, record: Record) {
    if let Ok(id) = id.parse() {
        records.insert(id, record);
    }
}

/// Observations by id, in no particular order.
pub(super) fn observations(store: &Store, ids: &[i64]) -> Result<Vec<Observation>, StoreError> {
    load(store, ids, OBSERVATION_COLUMNS, "observations o", "o", observation)
}

pub(super) fn summaries(store: &Store, ids: &[i64]) -> Result<Vec<Summary>, StoreError> {
    load(store, ids, SUMMARY_COLUMNS, "summaries s", "s", summary)
}

fn prompts(store: &Store, ids: &[i64]) -> Result<Vec<Prompt>, StoreError> {
    load(store, ids, PROMPT_COLUMNS, "prompts p", "p", prompt)
}

fn load<T>(
    store: &Store,
    ids: &[i64],
    columns: &str,
    table: &str,
    alias: &str,
    read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let sql = format!(
        "SELECT {columns} FROM {table} JOIN projects q ON q.id = {alias}.project
         LEFT JOIN projects m ON m.id = {alias}.merged_into WHERE {alias}.id IN (?ids)"
    );
    store.of_ids(ids, &sql, &[], read)
}

/// Index rows for records, in the order of `ids`, with the given scores; `known` are read already. What became of
/// their files is looked up on the `ground`.
pub(super) fn hits(
    store: &Store,
    ids: &[(RecordId, f64)],
    mut known: Records,
    ground: Option<&Ground>,
) -> Result<Vec<Hit>, StoreError> {
    let further: Vec<RecordId> = ids.iter().map(|(id, _)| *id).filter(|id| !known.contains_key(id)).collect();
    known.extend(records(store, &further)?);
    Ok(ids.iter().filter_map(|(id, score)| hit(known.get(id)?, *score, ground)).collect())
}

fn hit(record: &Record, score: f64, ground: Option<&Ground>) -> Option<Hit> {
    Some(match record {
        Record::Observation(o) => Hit {
            id: RecordId::Observation(o.id),
            uid: Some(o.uid.clone()),
            kind: RecordKind::Observation,
            r#type: o.r#type.clone(),
            title: o.title.clone(),
            subtitle: o.subtitle.clone(),
            project: o.project.clone(),
            merged_into: o.merged_into.clone(),
            created_at: o.created_at,
            score,
            tokens: price(&[&o.title, &o.subtitle, &o.narrative, &o.facts.join("\n")]),
            files: o.files_modified.iter().chain(&o.files_read).cloned().collect(),
            status: o.status,
            platform: o.platform,
            files_since: ground.map(|ground| ground.look(o)),
        },
        Record::Summary(s) => {
            let t = &s.text;
            let title = t.texts().into_iter().find(|part| !part.is_empty())?;
            Hit {
                id: s.id.parse().ok()?,
                uid: None,
                kind: RecordKind::Summary,
                r#type: String::from("summary"),
                title: first_line(title),
                subtitle: if t.request.is_empty() { String::new() } else { first_line(&t.completed) },
                project: s.project.clone(),
                merged_into: s.merged_into.clone(),
                created_at: s.created_at,
                score,
                tokens: price(&t.texts()),
                files: Vec::new(),
                status: Status::Active,
                platform: s.platform,
                files_since: None,
            }
        }
        Record::Prompt(p) => Hit {
            id: p.id.parse().ok()?,
            uid: None,
            kind: RecordKind::Prompt,
            r#type: String::from("prompt"),
            title: first_line(&p.text),
            subtitle: String::new(),
            project: p.project.clone(),
            merged_into: p.merged_into.clone(),
            created_at: p.created_at,
            score,
            tokens: price(&[&p.text]),
            files: Vec::new(),
            status: Status::Active,
            platform: p.platform,
            files_since: None,
        },
    })
}

fn price(texts: &[&str]) -> usize {
    // The labels around the texts of a whole record come to about 20 tokens.
    texts.iter().map(|text| estimate_tokens(text)).sum::<usize>() + 20
}

/// One line of at most 120 characters.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(120) {
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
        None => line.to_owned(),
    }
}
