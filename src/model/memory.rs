//! What is remembered.

use serde::{Deserialize, Serialize};

use super::{Platform, Timestamp};

/// In place of a model's name: the assistant suggested the memory itself.
pub const ASSISTANT: &str = "assistant";

/// What an observer proposes to remember; no id, no time, no place yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Draft {
    /// One of the mode's types, or any other word.
    pub r#type: String,
    /// One line.
    pub title: String,
    /// One line, or empty.
    pub subtitle: String,
    /// A few sentences, or empty.
    pub narrative: String,
    /// Self-contained statements.
    pub facts: Vec<String>,
    /// The mode's concepts that apply.
    pub concepts: Vec<String>,
    /// Synonyms a searcher may use, also in other languages.
    pub keywords: Vec<String>,
    /// Files that were read.
    pub files_read: Vec<String>,
    /// Files that were changed, from the evidence of the tool calls.
    pub files_modified: Vec<String>,
    /// Observation ids that this one makes obsolete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<i64>,
}

impl Draft {
    /// Every text, to be changed in place.
    pub fn texts_mut(&mut self) -> Vec<&mut String> {
        let lists = [
            &mut self.facts,
            &mut self.concepts,
            &mut self.keywords,
            &mut self.files_read,
            &mut self.files_modified,
        ];
        let single = [&mut self.title, &mut self.subtitle, &mut self.narrative];
        single.into_iter().chain(lists.into_iter().flatten()).collect()
    }
}

/// What an observer says about a session so far; empty strings where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct SummaryDraft {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
}

impl SummaryDraft {
    /// Every text, in the order in which it is read.
    pub fn texts(&self) -> [&str; 6] {
        [&self.request, &self.investigated, &self.learned, &self.completed, &self.next_steps, &self.notes]
    }

    /// The same, to be changed in place.
    pub fn texts_mut(&mut self) -> [&mut String; 6] {
        [
            &mut self.request,
            &mut self.investigated,
            &mut self.learned,
            &mut self.completed,
            &mut self.next_steps,
            &mut self.notes,
        ]
    }
}

/// How much a memory matters when there is not room for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Priority {
    Low,
    Normal,
    High,
}

impl Priority {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
        }
    }
}

/// The state of a memory; nothing is ever deleted by a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In use.
    Active,
    /// Waits for the user's decision.
    Review,
    /// Replaced by a newer one.
    Superseded,
    /// Put away.
    Archived,
}

impl Status {
    /// What it comes to at a moment: what has expired is put away from then on, whether or not anybody has noted that.
    pub fn at(self, now: Timestamp, expires_at: Option<Timestamp>) -> Self {
        match (self, expires_at) {
            (Self::Active | Self::Review, Some(end)) if end <= now => Self::Archived,
            _ => self,
        }
    }

    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Review => "review",
            Self::Superseded => "superseded",
            Self::Archived => "archived",
        }
    }
}

/// Who wrote a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variant names are the documentation")]
pub enum Source {
    Observer,
    User,
    Import,
}

impl Source {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observer => "observer",
            Self::User => "user",
            Self::Import => "import",
        }
    }
}

/// A memory as stored, and as `cmem get --json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "named in the design of the record; see Draft for the texts")]
pub struct Observation {
    pub id: i64,
    pub uid: String,
    pub project: String,
    pub merged_into: Option<String>,
    pub r#type: String,
    pub title: String,
    pub subtitle: String,
    pub narrative: String,
    pub facts: Vec<String>,
    pub concepts: Vec<String>,
    pub keywords: Vec<String>,
    pub files_read: Vec<String>,
    pub files_modified: Vec<String>,
    pub priority: Priority,
    pub pinned: bool,
    /// As of the moment when it was read.
    pub status: Status,
    pub superseded_by: Option<i64>,
    /// What it would supersede, while it waits for review.
    pub contests: Vec<i64>,
    pub expires_at: Option<Timestamp>,
    pub hit_count: i64,
    pub last_hit_at: Option<Timestamp>,
    pub source: Source,
    pub session: String,
    /// The agent of that session, where it is known.
    pub platform: Option<Platform>,
    pub prompt_number: Option<i64>,
    pub agent: Option<String>,
    pub model: String,
    pub tokens_spent: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Observation {
    /// When it was last of use, or said.
    pub fn last_seen(&self) -> Timestamp {
        self.updated_at.max(self.last_hit_at.unwrap_or_default())
    }
}

/// A session summary as stored: one row per checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "see SummaryDraft")]
pub struct Summary {
    pub id: String,
    pub project: String,
    pub merged_into: Option<String>,
    pub session: String,
    pub platform: Option<Platform>,
    pub prompt_number: Option<i64>,
    #[serde(flatten)]
    pub text: SummaryDraft,
    pub model: String,
    pub created_at: Timestamp,
}

/// A prompt of the user as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Prompt {
    pub id: String,
    pub project: String,
    pub merged_into: Option<String>,
    pub session: String,
    pub platform: Option<Platform>,
    pub prompt_number: i64,
    pub text: String,
    pub created_at: Timestamp,
}
