//! Reads what a report is made of.

use std::collections::BTreeMap;

use jiff::civil::Date;

use super::{Period, day_of, days_of_week};
use crate::model::{Observation, Prompt, RecordId, Summary, Timestamp};
use crate::retrieve::{self, Filter, Record, RecordKind, Scope, Selection};
use crate::store::{CallCount, Store, StoreError};

/// The records of a period, oldest first, and what the observer was asked meanwhile.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// Display name; `None` = all projects.
    pub project: Option<String>,
    /// What was asked for.
    pub period: Period,
    /// In every state.
    pub observations: Vec<Observation>,
    /// Every checkpoint.
    pub summaries: Vec<Summary>,
    /// The user's.
    pub prompts: Vec<Prompt>,
    /// For all projects together: a call does not say for which it was.
    pub calls: Vec<CallCount>,
    /// The same for each week of which there are records, by its Monday.
    pub calls_of_week: BTreeMap<Date, Vec<CallCount>>,
}

/// Reads the records of a scope, those merged into it among them.
///
/// # Errors
/// [`StoreError`].
pub fn gather(
    store: &Store,
    scope: &Scope,
    project: Option<String>,
    period: Period,
) -> Result<Gathered, StoreError> {
    let filter = Filter { since: period.since, until: period.until, ..Filter::all(scope.clone()) };
    let selection = Selection { filter, statuses: Vec::new() };
    let mut gathered = Gathered { project, period, ..Gathered::default() };
    for (kind, id) in [
        (RecordKind::Observation, RecordId::Observation as fn(i64) -> RecordId),
        (RecordKind::Summary, RecordId::Summary),
        (RecordKind::Prompt, RecordId::Prompt),
    ] {
        let ids: Vec<RecordId> = selection.rows(store, kind)?.into_iter().map(id).collect();
        for record in retrieve::get(store, &ids)?.0 {
            match record {
                Record::Observation(observation) => gathered.observations.push(*observation),
                Record::Summary(summary) => gathered.summaries.push(summary),
                Record::Prompt(prompt) => gathered.prompts.push(prompt),
            }
        }
    }
    gathered.observations.sort_by_key(|record| (record.created_at, record.id));
    gathered.summaries.sort_by_key(|record| (record.created_at, record.id.parse::<RecordId>().ok()));
    gathered.prompts.sort_by_key(|record| (record.created_at, record.id.parse::<RecordId>().ok()));
    gathered.calls =
        store.calls_between(period.since.unwrap_or_default(), period.until.unwrap_or(Timestamp(i64::MAX)))?;
    for at in moments(&gathered) {
        let (monday, sunday) = days_of_week(day_of(at));
        if gathered.calls_of_week.contains_key(&monday) {
            continue;
        }
        let start = Timestamp::parse(&monday.to_string()).unwrap_or_default();
        let end = sunday.tomorrow().ok().and_then(|day| Timestamp::parse(&day.to_string()));
        // A week at the edge of the period counts as far as it lies in it.
        let start = start.max(period.since.unwrap_or_default());
        let end = end.unwrap_or(Timestamp(i64::MAX)).min(period.until.unwrap_or(Timestamp(i64::MAX)));
        gathered.calls_of_week.insert(monday, store.calls_between(start, end)?);
    }
    Ok(gathered)
}

fn moments(gathered: &Gathered) -> Vec<Timestamp> {
    let observations = gathered.observations.iter().map(|record| record.created_at);
    let summaries = gathered.summaries.iter().map(|record| record.created_at);
    let prompts = gathered.prompts.iter().map(|record| record.created_at);
    observations.chain(summaries).chain(prompts).collect()
}
