//! The embedded observer: no network, no account, the same answer every time.
//!
//! It writes one observation per turn and a summary of the session, from three sources that do not guess: the
//! user's own words, the assistant's own conclusion, and the evidence of the tool calls (names of changed items,
//! commands with how they ended, tests that failed and passed, commits). Sentences are taken as they are, in the
//! language in which they were written.

mod draft;
mod edits;
mod items;
mod keywords;
mod kind;
mod runs;
mod sentences;
mod summary;
mod turn;
mod words;

use self::draft::{Understood, understand};
use self::words::Language;
use super::{Answer, Batch, Consolidation, Narration, Observer, Reply, Usage, Verdict, union};
use crate::config::Provider;
use crate::mode::Mode;

/// The embedded observer.
#[derive(Debug)]
pub(super) struct Builtin {
    mode: Mode,
}

impl Builtin {
    /// An observer that writes in the types, concepts and language of `mode`.
    pub(super) fn new(mode: Mode) -> Self {
        Self { mode }
    }
}

impl Observer for Builtin {
    fn observe(&self, batch: &Batch) -> Answer {
        let locale = Language::of_locale(&self.mode.locale);
        let turns = turn::split(batch);
        let stopped = turns.last().is_some_and(|turn| turn.stopped);
        let understood: Vec<Understood> =
            turns.iter().map(|turn| understand(turn, &batch.root, locale)).collect();
        let worth: Vec<Understood> = understood.into_iter().filter(Understood::matters).collect();
        let verdict = if worth.is_empty() {
            Verdict::Nothing
        } else {
            let drafts = worth.iter().map(|turn| turn.draft(&self.mode)).collect();
            let summary = if stopped { summary::summary(&worth, &batch.titles) } else { None };
            Verdict::Stored(Reply { drafts, summary, prose: None })
        };
        Answer { verdict, usage: Usage::default(), model: String::from("builtin") }
    }

    fn consolidate(&self, asked: &Consolidation) -> Answer {
        let reply = Reply { drafts: vec![union(&asked.memories)], ..Reply::default() };
        Answer { verdict: Verdict::Stored(reply), usage: Usage::default(), model: String::from("builtin") }
    }

    /// It quotes, and has no words of its own.
    fn narrate(&self, _asked: &Narration) -> Answer {
        Answer { verdict: Verdict::Nothing, usage: Usage::default(), model: String::from("builtin") }
    }

    fn wants_whole_turns(&self) -> bool {
        true
    }

    fn provider(&self) -> Provider {
        Provider::Builtin
    }
}

#[cfg(test)]
mod tests;
