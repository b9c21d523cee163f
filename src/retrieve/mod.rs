//! Finding what was remembered. Reads only; one query builder serves every reader.

mod about;
mod alike;
mod conditions;
mod conflict;
mod context;
mod copies;
mod everyday;
mod ground;
mod holding;
mod hydrate;
mod question;
mod rank;
mod recall;
mod review;
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
mod unused;

use std::collections::HashMap;

use serde::Serialize;

pub use about::{AboutFile, about_file};
pub use alike::{Group, Kinship, alike, in_use};
pub use conflict::{Conflicts, conflicts};
pub use context::context;
pub use ground::{FilesSince, Ground};
pub use holding::holding;
pub use hydrate::{get, hits_of};
pub use recall::{Known, may_recall, recall};
pub use review::{Others, Waiting, Why, count_in_review, in_review, others};
pub use scope::{name_of, names_in, project_names, root_of, scope, scope_by_name};
pub use score::{Factors, Parts, PassedBy};
pub use search::{Using, search, search_with, similar};
pub use selection::Selection;
pub use suggest::{Suggestion, did_you_mean};
pub use timeline::{Anchor, timeline};
pub use topic::Branch;
pub use unused::unused;

use crate::model::{Observation, Platform, Prompt, RecordId, Status, Summary, Timestamp};

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
    /// Records of sessions of these agents; empty = all.
    pub platforms: Vec<Platform>,
    /// Observations in one of these states; empty = all.
    pub statuses: Vec<Status>,
    /// Where the reader stands: what became of the files that memories are about is looked up there.
    pub ground: Option<Ground>,
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
            && self.platforms.is_empty()
            && self.statuses.is_empty()
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
            platforms: Vec::new(),
            statuses: Vec::new(),
            ground: None,
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
    /// The agent of its session, where it is known.
    pub platform: Option<Platform>,
    /// What became of its files; `None` = not looked at.
    pub files_since: Option<FilesSince>,
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

/// Takes the agent's name from the memories that it learned itself: a reader is told of the others.
pub fn as_read_by(reader: Platform, memories: &mut [Observation]) {
    for memory in memories {
        memory.platform = memory.platform.filter(|platform| *platform != reader);
    }
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
    /// What became of the files of those of them of which something did, by id.
    pub files_since: HashMap<i64, FilesSince>,
}
