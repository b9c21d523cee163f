//! What is remembered of one file: for whoever is about to read it.

use std::collections::HashSet;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::Scope;
use super::hydrate::observations;
use crate::model::{Observation, Priority, Timestamp};
use crate::store::{Store, StoreError, word};

/// So many of the last memories are compared, of those that changed the file and of those that read it: a file that
/// every session touches has thousands, and the old ones of them say little.
const COMPARED: usize = 200;
/// What a memory counts for that only read the file.
const READ: f64 = 0.5;
/// The part of that which does not depend on how many other files it is about.
const WHATEVER_FILES: f64 = 0.5;
/// Mild factors, as in a search.
const PRIORITY: f64 = 0.1;
const RECENCY: f64 = 0.1;
const USE: f64 = 0.1;
const RECENT_DAYS: f64 = 30.0;
const MANY_USES: f64 = 10.0;

/// Memories of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AboutFile {
    /// One for each session, the best first.
    pub memories: Vec<Observation>,
    /// When the last memory of the file was said or changed.
    pub newest: Option<Timestamp>,
}

/// A memory as far as its place is concerned.
struct Candidate {
    id: i64,
    session: String,
    updated_at: Timestamp,
    score: f64,
}

/// The `most` memories in use of a scope that are about a file, one for each session but `session` itself. `spellings`
/// are the paths that the file may stand under.
///
/// # Errors
/// [`StoreError`].
pub fn about_file(
    store: &Store,
    scope: &Scope,
    spellings: &[String],
    session: &str,
    most: usize,
) -> Result<AboutFile, StoreError> {
    let mut found = Vec::new();
    for spelling in spellings {
        for modified in [true, false] {
            found.extend(candidates(store, scope, spelling, modified, session)?);
        }
    }
    let newest = found.iter().map(|row| row.updated_at).max();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    let mut sessions = HashSet::new();
    found.retain(|row| sessions.insert(row.session.clone()));
    found.truncate(most);
    let ids: Vec<i64> = found.iter().map(|row| row.id).collect();
    let mut memories = observations(store, &ids)?;
    memories.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
    Ok(AboutFile { memories, newest })
}

fn candidates(
    store: &Store,
    scope: &Scope,
    spelling: &str,
    modified: bool,
    session: &str,
) -> Result<Vec<Candidate>, StoreError> {
    let now = Timestamp::now();
    let mut values = vec![Value::from(spelling.to_owned()), Value::from(modified), Value::from(now.0)];
    values.push(Value::from(session.to_owned()));
    let within = match scope {
        Scope::All => "1",
        Scope::Projects(ids) => {
            let marks = vec!["?"; ids.len()].join(",");
            let both = ids.iter().chain(ids).copied().map(Value::from);
            values.extend(both);
            &format!("(o.project IN ({marks}) OR o.merged_into IN ({marks}))")
        }
    };
    let sql = statement(within);
    let mut statement = store.conn().prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), |row| candidate(row, modified, now))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn statement(within: &str) -> String {
    // The paths come first: the planner must not look through the observations of a project.
    format!(
        "SELECT o.id, CASE o.source WHEN 'user' THEN o.uid ELSE o.session END, o.created_at, o.updated_at, o.priority,
           o.pinned, o.hit_count, (SELECT count(*) FROM files WHERE observation = o.id)
         FROM files f CROSS JOIN observations o ON o.id = f.observation
         WHERE f.path = ? AND f.modified = ? AND o.status = 'active' AND (o.expires_at IS NULL OR o.expires_at > ?)
           AND o.session <> ? AND {within}
         ORDER BY f.observation DESC LIMIT {COMPARED}"
    )
}

fn candidate(row: &Row<'_>, modified: bool, now: Timestamp) -> rusqlite::Result<Candidate> {
    let created_at = Timestamp(row.get(2)?);
    let files: i64 = row.get(7)?;
    let uses: i64 = row.get(6)?;
    let days = now.days_since(created_at);
    let matters = match word(row, 4)? {
        _ if row.get(5)? => PRIORITY,
        Priority::High => PRIORITY,
        Priority::Normal => 0.0,
        Priority::Low => -PRIORITY,
    };
    let recency = RECENCY / (1.0 + days / RECENT_DAYS);
    let used = USE * (uses.max(0) as f64 / MANY_USES).min(1.0);
    let touch = if modified { 1.0 } else { READ };
    let alone = WHATEVER_FILES + (1.0 - WHATEVER_FILES) / files.max(1) as f64;
    Ok(Candidate {
        id: row.get(0)?,
        session: row.get(1)?,
        updated_at: Timestamp(row.get(3)?),
        score: touch * alone * (1.0 + matters + recency + used),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_looked_up_and_nothing_is_sorted() {
        let store = Store::in_passing().unwrap();
        let sql = format!("EXPLAIN QUERY PLAN {}", statement("(o.project IN (?) OR o.merged_into IN (?))"));
        let mut plan = store.conn().prepare(&sql).unwrap();
        let steps = plan.query_map(["", "", "", "", "", ""], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.map(Result::unwrap).collect();
        assert!(steps[0].contains("SEARCH f USING PRIMARY KEY (path=? AND modified=?)"), "{steps:?}");
        assert!(steps[1].contains("SEARCH o USING INTEGER PRIMARY KEY"), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("SCAN")), "{steps:?}");
    }
}
