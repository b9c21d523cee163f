//! What a new session should be told, ranked.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::copies::each_once;
use super::hydrate::{observations, summaries};
use super::topic::{Branch, Topic};
use super::{ContextPlan, Scope};
use crate::model::{Observation, Priority, Status, Timestamp};
use crate::store::{Store, StoreError};

/// The newest rows that compete for a place, beside those that are kept whatever their age and those that are nearest to
/// what is worked on; the others are found by search.
const COMPETITORS: i64 = 300;
/// What speaks for a memory. The newest has 1 for its age, and the one after so many others half of it.
const HALF_AGE: f64 = 25.0;
/// High priority makes up for the distance from there to the newest; low priority takes as much away.
const PRIORITY: f64 = 0.5;
/// What matters little and was of no use while so many days of work went by.
const UNUSED: f64 = 0.3;
const UNUSED_DAYS: f64 = 90.0;
/// What was said about files that changed since or are gone; as far as they are all of its files.
const FILES_LOST: f64 = 0.2;
/// Each use, as far as it counts.
const USE: f64 = 0.1;
const MOST_USES: i64 = 5;
/// So many times as many rows as have a place are looked at for their files.
const LOOKED_AT: usize = 2;
/// What is all about the topic of the new session stands beside the newest ones.
const TOPIC: f64 = 0.8;
/// What is all about files that the branch touches, beside those of the last sessions.
const FILES: f64 = 0.5;

/// Ranks the memories of a scope: pins first, then what is new, important, used, and about what the branch does.
/// Nothing depends on the clock but expiry, so that the same memory and the same checkout give the same plan.
///
/// # Errors
/// [`StoreError`].
pub fn context(
    store: &Store,
    scope: &Scope,
    project: &str,
    branch: &Branch,
    limit: usize,
    already_shown: &[i64],
) -> Result<ContextPlan, StoreError> {
    let mut topic = Topic::new(store, scope, branch)?;
    let ids = competitors(store, scope, &mut topic)?;
    let relevance: HashMap<i64, f64> = topic.relevance(store, &ids)?.into_iter().collect();
    let mut rows = observations(store, &ids)?;
    rows.retain(|row| row.status == Status::Active);
    rows.sort_by_key(|row| std::cmp::Reverse((row.created_at, row.id)));
    // Not now: what went by is measured by what happened.
    let latest = rows.first().map_or(Timestamp::default(), |row| row.created_at);
    let mut ranked: Vec<(f64, Observation)> = rows
        .into_iter()
        .enumerate()
        .map(|(age, row)| {
            let topical = TOPIC * relevance.get(&row.id).copied().unwrap_or_default();
            (worth(age, latest, &row) + topical + FILES * topic.overlap(&row), row)
        })
        .collect();
    sort(&mut ranked);
    let mut files_since = HashMap::new();
    if let Some(ground) = &branch.ground {
        for (worth, row) in ranked.iter_mut().take(limit.saturating_mul(LOOKED_AT)) {
            let since = ground.look(row);
            if since.is_something() {
                *worth -= FILES_LOST * since.share_lost();
                files_since.insert(row.id, since);
            }
        }
        sort(&mut ranked);
    }

    let shown: HashSet<i64> = already_shown.iter().copied().collect();
    let known = ranked.iter().filter(|(_, row)| shown.contains(&row.id)).count();
    let ranked = ranked.into_iter().map(|(_, row)| row).collect();
    // What the session has seen keeps its older copies away.
    let mut plan = each_once(store, ranked, limit + known)?;
    plan.retain(|row| !shown.contains(&row.id));
    plan.truncate(limit);
    let active = count_active(store, scope)?;
    files_since.retain(|id, _| plan.iter().any(|row| row.id == *id));
    Ok(ContextPlan {
        project: project.to_owned(),
        more: active.saturating_sub(plan.len() + known),
        observations: plan,
        files_since,
        summary: newest_summary(store, scope)?,
    })
}

/// What a memory is worth by itself, so many others being newer.
fn worth(age: usize, latest: Timestamp, row: &Observation) -> f64 {
    let recency = HALF_AGE / (HALF_AGE + age as f64);
    let priority = match row.priority {
        Priority::High => PRIORITY,
        Priority::Normal => 0.0,
        Priority::Low => -PRIORITY,
    };
    let is_unused = latest.days_since(row.last_seen()) > UNUSED_DAYS;
    let unused = if row.priority == Priority::Low && is_unused { UNUSED } else { 0.0 };
    recency + priority - unused + USE * row.hit_count.clamp(0, MOST_USES) as f64
}

/// Stable: of equal worth the newer comes first.
fn sort(ranked: &mut [(f64, Observation)]) {
    ranked.sort_by(|a, b| (b.1.pinned, b.0).partial_cmp(&(a.1.pinned, a.0)).unwrap_or(Ordering::Equal));
}

/// Conditions that each use one index in the order wanted; their union is the scope.
fn branches(scope: &Scope) -> Vec<(&'static str, Option<i64>)> {
    match scope {
        Scope::All => vec![("status = 'active'", None)],
        Scope::Projects(ids) => ids
            .iter()
            .flat_map(|id| {
                [
                    ("project = ?1 AND status = 'active'", Some(*id)),
                    ("merged_into = ?1 AND status = 'active'", Some(*id)),
                ]
            })
            .collect(),
    }
}

fn competitors(store: &Store, scope: &Scope, topic: &mut Topic) -> Result<Vec<i64>, StoreError> {
    let mut ids = active(store, &topic.nearest(store, scope)?)?;
    for (condition, project) in branches(scope) {
        // The planner would read every row of the project to find the few that are kept.
        let kept = ("INDEXED BY observations_kept", "AND (pinned = 1 OR priority = 'high')");
        for (index, also) in [("", ""), kept] {
            let sql = format!(
                "SELECT id FROM observations {index} WHERE {condition} {also}
                 ORDER BY created_at DESC LIMIT {COMPETITORS}"
            );
            let mut statement = store.conn().prepare_cached(&sql)?;
            let found = statement.query_map(rusqlite::params_from_iter(project), |row| row.get(0))?;
            for id in found {
                ids.push(id?);
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Those of some rows that were not replaced.
fn active(store: &Store, ids: &[i64]) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT id FROM observations WHERE id IN (?ids) AND status = 'active'";
    store.of_ids(ids, sql, &[], |row| row.get(0))
}

fn count_active(store: &Store, scope: &Scope) -> Result<usize, StoreError> {
    let mut total = 0;
    for (condition, project) in branches(scope) {
        let count = |index: &str, and: &str| -> Result<usize, StoreError> {
            let sql = format!("SELECT count(*) FROM observations {index} WHERE {condition} {and}");
            let mut statement = store.conn().prepare_cached(&sql)?;
            let count: i64 = statement.query_row(rusqlite::params_from_iter(project), |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or_default())
        };
        // Each of the two is answered by an index alone, or nearly so.
        let due = format!("AND status IN ('active', 'review') AND expires_at <= {}", Timestamp::now().0);
        let expired = count("INDEXED BY observations_expiring", &due)?;
        total += count("", "")?.saturating_sub(expired);
    }
    Ok(total)
}

fn newest_summary(store: &Store, scope: &Scope) -> Result<Option<crate::model::Summary>, StoreError> {
    let mut newest: Option<(i64, i64)> = None;
    for (condition, project) in branches(scope) {
        let condition = condition.replace("status = 'active'", "1");
        let sql = format!(
            "SELECT created_at, id FROM summaries WHERE {condition} ORDER BY created_at DESC, id DESC LIMIT 1"
        );
        let mut statement = store.conn().prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(project))?;
        if let Some(row) = rows.next()? {
            newest = newest.max(Some((row.get(0)?, row.get(1)?)));
        }
    }
    match newest {
        Some((_, id)) => Ok(summaries(store, &[id])?.into_iter().next()),
        None => Ok(None),
    }
}
