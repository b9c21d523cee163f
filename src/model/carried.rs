//! What is remembered, as it travels between memories. Records name each other by uid, projects by their name.

use serde::{Deserialize, Serialize};

use super::{Draft, Platform, Priority, Revision, Source, Status, SummaryDraft, Timestamp};

/// One record, with everything that it needs to be itself elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Carried {
    Project(CarriedProject),
    Branch(CarriedBranch),
    Session(CarriedSession),
    Observation(Box<CarriedObservation>),
    Summary(CarriedSummary),
    Prompt(CarriedPrompt),
}

/// A place that memories are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedProject {
    /// Display name; the other records say it.
    pub name: String,
    /// Common directory of the repository, or the directory itself outside git; empty where it is not told.
    #[serde(default)]
    pub key: String,
    /// Root of the linked worktree; empty for a main checkout.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub worktree: String,
    /// Root of the checkout.
    #[serde(default)]
    pub root: String,
    /// URL of the remote `origin`.
    #[serde(default)]
    pub remote: Option<String>,
    /// Other keys that stand for this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// When it was first seen.
    #[serde(default)]
    pub created_at: Timestamp,
}

/// A branch of a linked worktree, and its adoption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of `branches`")]
pub struct CarriedBranch {
    pub project: String,
    #[serde(flatten)]
    pub name: BranchName,
    pub base: Option<String>,
    pub head: Option<String>,
    pub own: Option<String>,
    pub adopted_into: Option<String>,
    pub matched_by: Option<String>,
    pub reason: Option<String>,
    pub adopted_at: Option<Timestamp>,
    #[serde(default)]
    pub held: bool,
}

/// Which branch of a project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BranchName {
    /// Its name; empty for a detached head.
    pub name: String,
    /// When it was made; empty where that is not known.
    #[serde(default)]
    pub born: String,
}

/// A session in a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the columns of `sessions`")]
pub struct CarriedSession {
    pub session: String,
    pub project: String,
    pub branch: Option<String>,
    pub head_start: Option<String>,
    pub head_last: Option<String>,
    pub started_at: Timestamp,
    pub last_at: Timestamp,
    #[serde(default)]
    pub platform: Platform,
}

/// An observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "see Observation")]
pub struct CarriedObservation {
    pub uid: String,
    pub project: String,
    #[serde(default)]
    pub branch: Option<BranchName>,
    #[serde(default)]
    pub merged_into: Option<String>,
    #[serde(flatten)]
    pub text: Draft,
    #[serde(default = "normal")]
    pub priority: Priority,
    #[serde(default)]
    pub pinned: bool,
    #[serde(default = "active")]
    pub status: Status,
    #[serde(default)]
    pub superseded_by: Option<String>,
    #[serde(default)]
    pub contests: Vec<String>,
    #[serde(default)]
    pub sources: Vec<String>,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub hit_count: i64,
    #[serde(default)]
    pub last_hit_at: Option<Timestamp>,
    #[serde(default = "import")]
    pub source: Source,
    #[serde(default)]
    pub session: String,
    #[serde(default)]
    pub prompt_number: Option<i64>,
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub model: String,
    #[serde(default)]
    pub tokens_spent: i64,
    pub created_at: Timestamp,
    /// When its text last changed; `None` = when it was made.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
    #[serde(default)]
    pub revisions: Vec<Revision>,
}

/// A summary of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "see Summary")]
pub struct CarriedSummary {
    pub uid: String,
    pub project: String,
    #[serde(default)]
    pub branch: Option<BranchName>,
    #[serde(default)]
    pub merged_into: Option<String>,
    #[serde(default)]
    pub session: String,
    #[serde(default)]
    pub prompt_number: Option<i64>,
    #[serde(flatten)]
    pub text: SummaryDraft,
    #[serde(default)]
    pub model: String,
    pub created_at: Timestamp,
}

/// A prompt of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "see Prompt")]
pub struct CarriedPrompt {
    pub uid: String,
    pub project: String,
    #[serde(default)]
    pub branch: Option<BranchName>,
    #[serde(default)]
    pub merged_into: Option<String>,
    #[serde(default)]
    pub session: String,
    #[serde(default)]
    pub number: i64,
    pub text: String,
    pub created_at: Timestamp,
}

impl Carried {
    /// What it is, in a word.
    pub fn what(&self) -> &'static str {
        match self {
            Self::Project(_) => "project",
            Self::Branch(_) => "branch",
            Self::Session(_) => "session",
            Self::Observation(_) => "observation",
            Self::Summary(_) => "summary",
            Self::Prompt(_) => "prompt",
        }
    }

    /// Every text that somebody said or wrote, to be changed in place.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Self::Project(_) | Self::Branch(_) | Self::Session(_) => Vec::new(),
            Self::Observation(observation) => {
                let mut texts = observation.text.texts_mut();
                texts
                    .extend(observation.revisions.iter_mut().flat_map(|revision| revision.draft.texts_mut()));
                texts
            }
            Self::Summary(summary) => summary.text.texts_mut().into(),
            Self::Prompt(prompt) => vec![&mut prompt.text],
        }
    }
}

fn normal() -> Priority {
    Priority::Normal
}

fn active() -> Status {
    Status::Active
}

fn import() -> Source {
    Source::Import
}
