//! Turns a batch of events into memories. One stateless request per batch; every answer gets one class.

use crate::model::{Draft, Event, SummaryDraft, Timestamp};

/// What an observer is shown: events of one session in one project, and what it needs to know beside them.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Display name of the project.
    pub project: String,
    /// Root of the checkout: files below it are named relative to it.
    pub root: String,
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// The user's prompt of the turn that the first event belongs to, if it came before the batch.
    pub request: Option<String>,
    /// Titles already recorded in this session, oldest first.
    pub titles: Vec<String>,
    /// Existing memories that look related.
    pub similar: Vec<Similar>,
    /// The last reply to this batch was malformed: ask more strictly.
    pub strict: bool,
}

/// An existing memory shown to the observer, so that it does not repeat it and can retire it.
#[derive(Debug, Clone)]
pub struct Similar {
    /// Observation id.
    pub id: i64,
    /// Its type.
    pub r#type: String,
    /// Its title.
    pub title: String,
}

/// Tokens of one call, from the provider's own figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens billed in full, cache writes included.
    pub input: i64,
    /// Input tokens read from the provider's cache.
    pub cached: i64,
    /// Output tokens.
    pub output: i64,
}

/// What an observer has to say about a batch.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Memories; may be empty when there is a summary.
    pub drafts: Vec<Draft>,
    /// The session so far; only asked for when the batch holds a `Stop`.
    pub summary: Option<SummaryDraft>,
}

/// The class of an answer. Only the first two confirm a batch.
#[derive(Debug)]
pub enum Verdict {
    /// There is something to store.
    Stored(Reply),
    /// The observer said explicitly that nothing is worth recording.
    Nothing,
    /// The answer cannot be used: empty, prose, cut off; or the request was too large.
    Malformed {
        /// What was wrong with it, without quoting it.
        reason: String,
    },
    /// Too many requests.
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<std::time::Duration>,
    },
    /// The account's allowance is used up.
    Quota {
        /// When it is renewed, if the provider says.
        reset: Option<Timestamp>,
        /// What the provider said, redacted and bounded.
        message: String,
    },
    /// The provider refuses the credentials.
    Auth {
        /// What the provider said, redacted and bounded.
        message: String,
    },
    /// The network or the provider failed for now.
    Transient {
        /// What failed, redacted and bounded.
        message: String,
    },
    /// The same request would fail for ever.
    Unrecoverable {
        /// What the provider said, redacted and bounded.
        message: String,
    },
}

/// The result of one observer call.
#[derive(Debug)]
pub struct Answer {
    /// Its class, with the content.
    pub verdict: Verdict,
    /// What it cost.
    pub usage: Usage,
    /// The model that gave it; `builtin` for the embedded observer.
    pub model: String,
}

/// Anything that turns events into memories.
pub trait Observer {
    /// Looks at one batch. Takes as long as `CMEM_TIMEOUT_SECS` at most.
    fn observe(&self, batch: &Batch) -> Answer;

    /// Whether it wants whole turns: then a batch waits for the end of the turn.
    fn wants_whole_turns(&self) -> bool;
}
