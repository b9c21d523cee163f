//! Finding what was remembered. Reads only; one query builder serves every reader.

mod conditions;
mod context;
mod everyday;
mod hydrate;
mod question;
mod rank;
mod recall;
mod scope;
mod score;
mod search;
mod selection;
mod suggest;
#[cfg(test)]
mod tests;
mod text;
mod timeline;
mod topic;

use std::collections::HashMap;

use serde::Serialize;

pub use context::context;
pub use hydrate::get;
pub use recall::{may_recall, recall};
pub use scope::{project_names, scope, scope_by_name};
pub use score::{Factors, Parts, PassedBy};
pub use search::{Using, search, search_with, similar};
pub use selection::Selection;
pub use suggest::{Suggestion, did_you_mean};
pub use timeline::{Anchor, timeline};
pub use topic::Branch;

use crate::model::{Observation, Prompt, RecordId, Status, Summary, Timestamp};

/// Which projects a reader sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Records of these projects (row ids), and records merged into one of them.
    Projects(Vec<i64>),
    /// Everything.
    All,
}

/// The kinds of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum RecordKind {
    Observation,
    Summary,
    Prompt,
}

/// What a reader asks for; every part is applied before the cut, with or without a query text.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Which projects.
    pub scope: Scope,
    /// Which kinds of record; empty = all.
    pub kinds: Vec<RecordKind>,
    /// Observation types; empty = all. An unknown type matches nothing.
    pub types: Vec<String>,
    /// Concepts, any of them; empty = all.
    pub concepts: Vec<String>,
    /// Path parts, any of them, in the files read or modified; empty = all.
    pub files: Vec<String>,
    /// Not before.
    pub since: Option<Timestamp>,
    /// Before.
    pub until: Option<Timestamp>,
    /// One session's records.
    pub session: Option<String>,
}

impl RecordKind {
    fn id(self, row: i64) -> RecordId {
        match self {
            Self::Observation => RecordId::Observation(row),
            Self::Summary => RecordId::Summary(row),
            Self::Prompt => RecordId::Prompt(row),
        }
    }
}

impl Filter {
    /// Whether it asks for nothing but a scope.
    fn is_scope_only(&self) -> bool {
        self.types.is_empty()
            && self.concepts.is_empty()
            && self.files.is_empty()
            && self.since.is_none()
            && self.until.is_none()
            && self.session.is_none()
    }

    /// Everything in a scope.
    pub fn all(scope: Scope) -> Self {
        Self {
            scope,
            kinds: Vec::new(),
            types: Vec::new(),
            concepts: Vec::new(),
            files: Vec::new(),
            since: None,
            until: None,
            session: None,
        }
    }
}

/// One row of an index: enough to decide whether to `get` it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "named in the design of `search --json`")]
pub struct Hit {
    pub id: RecordId,
    pub uid: Option<String>,
    pub kind: RecordKind,
    pub r#type: String,
    pub title: String,
    pub subtitle: String,
    pub project: String,
    pub merged_into: Option<String>,
    pub created_at: Timestamp,
    /// Higher is better; 0 when there was no query text.
    pub score: f64,
    /// What `get` of this record costs, in tokens.
    pub tokens: usize,
    pub files: Vec<String>,
    pub status: Status,
}

/// The answer to a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// How many records match in all.
    pub total: usize,
    /// Which indexes answered.
    pub indexes: Vec<&'static str>,
    /// This page of them, best first (newest first without a query text).
    pub hits: Vec<Hit>,
    /// What the scores of this page are made of. Not there for rows that are not ranked: what is beyond the best rows
    /// of each index, and everything without a query text.
    pub parts: HashMap<RecordId, Parts>,
}

/// What happened around one record.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// The record in the middle.
    pub anchor: RecordId,
    /// In time order, the anchor among them.
    pub items: Vec<Hit>,
}

/// A whole record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Record {
    Observation(Box<Observation>),
    Summary(Summary),
    Prompt(Prompt),
}

/// What a new session should be told, ranked; `render::context` cuts it to its budget.
#[derive(Debug, Clone)]
pub struct ContextPlan {
    /// Display name of the project.
    pub project: String,
    /// Memories, most relevant first, at most `CMEM_CONTEXT_OBSERVATIONS`.
    pub observations: Vec<Observation>,
    /// The newest session summary, unless the session has it already.
    pub summary: Option<Summary>,
    /// How many further memories the scope holds.
    pub more: usize,
}
