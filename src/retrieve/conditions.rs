//! The one query builder: a filter as an SQL condition on one of the three tables.

use rusqlite::types::Value;

use super::{Filter, RecordKind, Scope};
use crate::model::{Status, Timestamp};

/// One of the record tables with its text index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub kind: RecordKind,
    pub name: &'static str,
    pub alias: &'static str,
    pub index: &'static str,
    /// `bm25` call with the column weights: a word in a title says more about a record than one in its
    /// narrative, and names of files come up in many records.
    pub rank: &'static str,
    /// Prompts and summaries repeat what observations say better.
    pub weight: f64,
}

pub(super) const TABLES: [Table; 3] = [
    Table {
        kind: RecordKind::Observation,
        name: "observations",
        alias: "o",
        index: "observations_fts",
        rank: "bm25(observations_fts, 3.0, 2.0, 1.2, 1.0, 0.7)",
        weight: 1.0,
    },
    Table {
        kind: RecordKind::Summary,
        name: "summaries",
        alias: "s",
        index: "summaries_fts",
        rank: "bm25(summaries_fts)",
        weight: 0.6,
    },
    Table {
        kind: RecordKind::Prompt,
        name: "prompts",
        alias: "p",
        index: "prompts_fts",
        rank: "bm25(prompts_fts)",
        weight: 0.4,
    },
];

/// A condition with its parameters, which are anonymous (`?`) and in order.
#[derive(Debug, Default, Clone)]
pub(super) struct Condition {
    pub sql: String,
    pub values: Vec<Value>,
}

impl Condition {
    fn and(&mut self, sql: &str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(" AND ");
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

/// The tables that a filter can match in. Types, concepts, files and states are properties of observations.
pub(super) fn tables(filter: &Filter) -> impl Iterator<Item = Table> + '_ {
    let only_observations = !(filter.types.is_empty()
        && filter.concepts.is_empty()
        && filter.files.is_empty()
        && filter.statuses.is_empty());
    TABLES.into_iter().filter(move |table| {
        (filter.kinds.is_empty() || filter.kinds.contains(&table.kind))
            && (table.kind == RecordKind::Observation || !only_observations)
    })
}

/// `" AND …"` for every part of the filter.
pub(super) fn condition(filter: &Filter, table: Table) -> Condition {
    let mut condition = Condition::default();
    if let Scope::Projects(ids) = &filter.scope {
        let (alias, marks) = (table.alias, marks(ids));
        condition.and(
            &format!("({alias}.project IN ({marks}) OR {alias}.merged_into IN ({marks}))"),
            values(ids).chain(values(ids)),
        );
    }
    beside_the_scope(&mut condition, filter, table);
    condition
}

/// The same as several conditions, of which a row that passes meets exactly one: each follows an index that is in time
/// order, so that of a long list the rest is not read.
pub(super) fn conditions_in_time_order(filter: &Filter, table: Table) -> Vec<Condition> {
    let alias = table.alias;
    let mut conditions = match &filter.scope {
        Scope::All => vec![Condition::default()],
        Scope::Projects(ids) => ids
            .iter()
            .flat_map(|id| {
                let (mut own, mut merged) = (Condition::default(), Condition::default());
                own.and(&format!("{alias}.project = ?"), [Value::from(*id)]);
                merged.and(
                    &format!("{alias}.merged_into = ? AND {alias}.project NOT IN ({})", marks(ids)),
                    values(&[*id]).chain(values(ids)),
                );
                [own, merged]
            })
            .collect(),
    };
    conditions.iter_mut().for_each(|condition| beside_the_scope(condition, filter, table));
    conditions
}

fn marks(ids: &[i64]) -> String {
    vec!["?"; ids.len()].join(",")
}

fn values(ids: &[i64]) -> impl Iterator<Item = Value> + '_ {
    ids.iter().copied().map(Value::from)
}

fn beside_the_scope(condition: &mut Condition, filter: &Filter, table: Table) {
    let alias = table.alias;
    if let Some(since) = filter.since {
        condition.and(&format!("{alias}.created_at >= ?"), [Value::from(since.0)]);
    }
    if let Some(until) = filter.until {
        condition.and(&format!("{alias}.created_at < ?"), [Value::from(until.0)]);
    }
    if let Some(session) = &filter.session {
        condition.and(&format!("{alias}.session = ?"), [Value::from(session.clone())]);
    }
    let names: Vec<String> = filter.platforms.iter().map(|platform| platform.name().to_owned()).collect();
    one_of(
        condition,
        &format!("EXISTS (SELECT 1 FROM sessions WHERE session = {alias}.session AND platform = ?)"),
        &names,
    );
    if table.kind == RecordKind::Observation {
        in_state(condition, &filter.statuses);
        one_of(condition, "lower(o.type) = lower(?)", &filter.types);
        one_of(
            condition,
            "EXISTS (SELECT 1 FROM json_each(o.concepts) WHERE lower(value) = lower(?))",
            &filter.concepts,
        );
        let files: Vec<String> = filter.files.iter().map(|part| format!("%{}%", escape_like(part))).collect();
        one_of(
            condition,
            r"EXISTS (SELECT 1 FROM files WHERE observation = o.id AND path LIKE ? ESCAPE '\')",
            &files,
        );
    }
}

/// What has expired is put away, although nobody may have noted that yet.
fn in_state(condition: &mut Condition, statuses: &[Status]) {
    if !statuses.is_empty() {
        let state = "iif(o.status IN ('active', 'review') AND o.expires_at <= ?, 'archived', o.status)";
        let names = statuses.iter().map(|status| Value::from(status.name().to_owned()));
        let values = [Value::from(Timestamp::now().0)].into_iter().chain(names);
        condition.and(&format!("{state} IN ({})", vec!["?"; statuses.len()].join(",")), values);
    }
}

fn one_of(condition: &mut Condition, sql: &str, values: &[String]) {
    if !values.is_empty() {
        let alternatives = vec![sql; values.len()].join(" OR ");
        condition.and(&format!("({alternatives})"), values.iter().cloned().map(Value::from));
    }
}

fn escape_like(text: &str) -> String {
    text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_")
}
