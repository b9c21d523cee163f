//! What happened in a project over a period: gathered from memory, put in order without a model, and written as
//! Markdown, JSON or one HTML page. The same memory gives the same bytes.

mod digest;
mod gather;
mod html;
mod markdown;
mod outline;
mod reason;
mod words;

use jiff::civil::{Date, ISOWeekDate, Weekday};
use serde::Serialize;

pub use digest::digest;
pub use gather::{Gathered, gather};
pub use html::html;
pub use markdown::markdown;
pub use outline::{Outline, outline};

use crate::model::{RecordId, Timestamp};
use crate::store::CallCount;

/// Which time a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Period {
    /// Not before; `None` = from the beginning.
    pub since: Option<Timestamp>,
    /// Before; `None` = until the end.
    pub until: Option<Timestamp>,
}

/// A report. What is not in use (superseded, put away, expired, waiting for review) is counted and not listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Display name; `None` = all projects.
    pub project: Option<String>,
    /// What was asked for.
    pub period: Period,
    /// Day of the first and of the last record in it.
    #[serde(serialize_with = "as_text::maybe_pair")]
    pub days_of: Option<(Date, Date)>,
    /// How much there is.
    pub totals: Totals,
    /// Memories of the period that are not listed.
    pub not_listed: NotListed,
    /// What a model wrote about the rest of the report, if it was asked.
    pub narrative: Option<Narrative>,
    /// What the last summary of each session left to do, newest first.
    pub next_steps: Vec<NextSteps>,
    /// Newest first.
    pub decisions: Vec<Reasoned>,
    /// Newest first.
    pub bugs: Vec<Reasoned>,
    /// Newest first.
    pub security: Vec<Reasoned>,
    /// A digest for each week in which something happened, oldest first.
    pub weeks: Vec<WeekDigest>,
    /// Days on which something happened, oldest first.
    pub days: Vec<Day>,
    /// By concept, the one of most memories first; those without a concept last.
    pub themes: Vec<Theme>,
    /// The one with most history first.
    pub files: Vec<FileHistory>,
    /// What the observer was asked in the period, for all projects together.
    pub spent: Spent,
    /// Tokens that the observer needed for the memories of this report.
    pub tokens_of_memories: i64,
}

/// How much a report is about; memories in use alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Totals {
    pub memories: usize,
    pub by_type: Vec<TypeCount>,
    pub days: usize,
    pub sessions: usize,
    pub prompts: usize,
    pub summaries: usize,
}

/// How many memories are of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct TypeCount {
    pub r#type: String,
    pub memories: usize,
}

/// Memories that a report only counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct NotListed {
    /// A newer one took their place.
    pub superseded: usize,
    /// Put away, or expired.
    pub archived: usize,
    /// They wait for the user's decision.
    pub review: usize,
    /// Of type `sensitive`: not to leave their project, so a report of all projects does not tell them.
    pub sensitive: usize,
}

/// Prose with references such as `[12, S3]`, each to a record of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Narrative {
    /// Paragraphs with blank lines between them.
    pub text: String,
    /// In the order of their first mention.
    pub references: Vec<RecordId>,
    /// References that were taken out, because the report has no such record.
    pub dropped: usize,
    /// Who wrote it.
    pub model: String,
}

/// One memory in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Row {
    pub id: i64,
    pub r#type: String,
    pub title: String,
    pub project: String,
    pub merged_into: Option<String>,
    pub created_at: Timestamp,
    #[serde(serialize_with = "as_text::date")]
    pub day: Date,
    pub pinned: bool,
}

/// A memory with what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reasoned {
    /// The memory.
    #[serde(flatten)]
    pub row: Row,
    /// The sentences of it that give a reason or a cause; `None` where none is known by its words.
    pub reason: Option<String>,
    /// What it says beside its title.
    pub text: String,
}

/// What a session left to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct NextSteps {
    pub id: RecordId,
    pub project: String,
    pub merged_into: Option<String>,
    pub session: String,
    pub created_at: Timestamp,
    #[serde(serialize_with = "as_text::date")]
    pub day: Date,
    pub next_steps: String,
}

/// One ISO week.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeekDigest {
    /// Such as `2026-W48`.
    pub week: String,
    /// Its Monday and its Sunday.
    #[serde(serialize_with = "as_text::pair")]
    pub days: (Date, Date),
    /// Memories in use that were made in it.
    pub memories: usize,
    /// Of which types.
    pub by_type: Vec<TypeCount>,
    /// Prompts of the user.
    pub prompts: usize,
    /// Sessions at work.
    pub sessions: usize,
    /// What tells most of it: ids of memories.
    pub highlights: Vec<i64>,
    /// What the observer was asked, for all projects together.
    pub tokens: i64,
    /// What that cost; `None` where a price is not known.
    pub dollars: Option<f64>,
}

/// One day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Day {
    #[serde(serialize_with = "as_text::date")]
    pub day: Date,
    pub week: String,
    pub prompts: usize,
    /// In the order in which they were made.
    pub memories: Vec<Row>,
}

/// Memories of one concept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Theme {
    /// Its id; empty = none.
    pub concept: String,
    /// Ids, newest first.
    pub memories: Vec<i64>,
}

/// What is remembered of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct FileHistory {
    /// The project in whose tree it is: paths are of that tree.
    pub project: String,
    pub path: String,
    /// Ids, newest first.
    pub memories: Vec<i64>,
    pub modified: usize,
    pub read: usize,
    #[serde(serialize_with = "as_text::date")]
    pub last: Date,
}

/// What the observer was asked, and what that cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct Spent {
    pub models: Vec<ModelSpent>,
    pub calls: i64,
    pub failed: i64,
    pub input: i64,
    pub cached: i64,
    pub output: i64,
    /// `None` where the price of a model is not known.
    pub dollars: Option<f64>,
}

/// What one model was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct ModelSpent {
    #[serde(flatten)]
    pub count: CallCount,
    pub dollars: Option<f64>,
}

/// The local day of a moment.
fn day_of(at: Timestamp) -> Date {
    at.local("%Y-%m-%d").parse().unwrap_or_default()
}

/// Such as `2026-W48`.
fn week_of(day: Date) -> String {
    let week = day.iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// Its Monday and its Sunday.
fn days_of_week(day: Date) -> (Date, Date) {
    let week = day.iso_week_date();
    let on = |weekday| ISOWeekDate::new(week.year(), week.week(), weekday).map_or(day, |on| on.date());
    (on(Weekday::Monday), on(Weekday::Sunday))
}

/// Days as `2026-11-30`.
mod as_text {
    use jiff::civil::Date;
    use serde::{Serialize, Serializer};

    pub(super) fn date<S: Serializer>(day: &Date, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(day)
    }

    pub(super) fn pair<S: Serializer>(days: &(Date, Date), serializer: S) -> Result<S::Ok, S::Error> {
        (days.0.to_string(), days.1.to_string()).serialize(serializer)
    }

    pub(super) fn maybe_pair<S: Serializer>(
        days: &Option<(Date, Date)>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        days.map(|(first, last)| (first.to_string(), last.to_string())).serialize(serializer)
    }
}
