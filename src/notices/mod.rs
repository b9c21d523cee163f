//! Notices: an observation of a chosen type is told to a Telegram chat, to a webhook, or to both. A row of the outbox
//! is written with the observation; the drainer sends it when it has nothing else to do.

mod outlet;
mod policy;
mod round;
mod telegram;
#[cfg(test)]
mod tests;
mod webhook;

pub use outlet::{Destination, Outlet, SetupError};
pub use round::{Report, Round};

use crate::model::{Observation, Timestamp};
use crate::privacy::Cleaner;

/// How long a notice that was given up is told by `cmem status` and `cmem doctor`.
const RECENT_MS: i64 = 7 * 24 * 3_600_000;

/// The moment since which notices that were given up are told.
pub fn recent() -> Timestamp {
    Timestamp::now().plus_ms(-RECENT_MS)
}

/// What is told of an observation: redacted once more, by the rules of the day on which it is sent, and each text
/// on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    id: i64,
    uid: String,
    r#type: String,
    title: String,
    subtitle: String,
    project: String,
    created_at: Timestamp,
}

impl Told {
    fn of(observation: &Observation, cleaner: &Cleaner) -> Self {
        let clean = |text: &str| one_line(&cleaner.redact(text));
        Self {
            id: observation.id,
            uid: observation.uid.clone(),
            r#type: clean(&observation.r#type),
            title: clean(&observation.title),
            subtitle: clean(&observation.subtitle),
            project: clean(&observation.project),
            created_at: observation.created_at,
        }
    }
}

/// White space and control characters become single spaces.
fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}
