//! A batch cut into turns: one prompt, the work of the assistant and its helpers, one last message.

use crate::model::{Event, EventKind};
use crate::observer::Batch;

/// One turn.
#[derive(Debug, Default)]
pub(super) struct Turn<'a> {
    /// What the user asked; empty when it is not known.
    pub(super) prompt: &'a str,
    /// The assistant's last message; empty when it is not known.
    pub(super) message: &'a str,
    /// Last messages of subagents.
    pub(super) reports: Vec<&'a str>,
    /// Everything that happened in it.
    pub(super) events: Vec<Event>,
    /// The assistant said that it is done.
    pub(super) stopped: bool,
}

/// The turns of a batch, oldest first; private ones are left out.
pub(super) fn split(batch: &Batch) -> Vec<Turn<'_>> {
    let mut turns = Vec::new();
    let mut prompt = batch.request.as_deref().unwrap_or_default();
    let mut private = false;
    let mut turn = Turn { prompt, ..Turn::default() };
    for event in &batch.events {
        match &event.kind {
            EventKind::Prompt { text, private: hidden } if event.agent.is_none() => {
                finish(&mut turns, turn, private);
                (prompt, private) = (text, *hidden);
                turn = Turn { prompt, ..Turn::default() };
            }
            EventKind::Stop { message, .. } if event.agent.is_none() => {
                turn.message = message.as_deref().unwrap_or_default();
                turn.stopped = true;
                finish(&mut turns, turn, private);
                // What follows without a prompt (a finished background task) still serves the last one.
                turn = Turn { prompt, ..Turn::default() };
            }
            EventKind::SubagentStop { message } => turn.reports.extend(message.as_deref()),
            EventKind::Tool { .. } => turn.events.push(event.clone()),
            _ => {}
        }
    }
    finish(&mut turns, turn, private);
    turns
}

fn finish<'a>(turns: &mut Vec<Turn<'a>>, turn: Turn<'a>, private: bool) {
    let empty = turn.events.is_empty() && turn.reports.is_empty() && !turn.stopped;
    if !private && !empty {
        turns.push(turn);
    }
}
