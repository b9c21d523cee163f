//! What is told beside a prompt: the memories that it is about, if there are any that the session has not seen.

use std::time::Duration;

use super::agents;
use crate::config::{Paths, Settings};
use crate::log;
use crate::mode::Mode;
use crate::model::{Event, EventKind, Identity, Platform};
use crate::render;
use crate::retrieve::{self, Known};
use crate::spool::{Trail, note_use};
use crate::store::{Store, StoreError};

/// Most tokens of all that is told beside one prompt.
const TOKENS: usize = 300;
/// The look at the memory takes a few milliseconds; a prompt waits no longer than this for it.
const PATIENCE: Duration = Duration::from_millis(100);

/// A prompt that may remind of something.
pub(super) struct Asked {
    text: String,
    session: String,
    platform: Platform,
}

/// The prompt of an event, if it may.
pub(super) fn asked(event: &Event, settings: &Settings) -> Option<Asked> {
    let EventKind::Prompt { text, private: false } = &event.kind else { return None };
    let may = settings.prompt_hits > 0
        && agents::abilities(event.platform).prompts
        && event.agent.is_none()
        && !is_command(text);
    may.then(|| Asked { text: text.clone(), session: event.session.clone(), platform: event.platform })
}

/// What the answer to a prompt tells; nothing where the memory cannot be read at once.
pub(super) fn recalled(
    paths: &Paths,
    settings: &Settings,
    trail: &Trail,
    identity: &Identity,
    asked: &Asked,
    may_answer: &impl Fn() -> bool,
) -> Option<String> {
    match look(paths, settings, trail, identity, asked, may_answer) {
        Ok(text) => text,
        Err(error) => {
            if matches!(error, StoreError::Corrupt { .. } | StoreError::Io { .. }) {
                log::error_once(paths, &format!("memories beside a prompt: {error}"));
            }
            None
        }
    }
}

fn look(
    paths: &Paths,
    settings: &Settings,
    trail: &Trail,
    identity: &Identity,
    asked: &Asked,
    may_answer: &impl Fn() -> bool,
) -> Result<Option<String>, StoreError> {
    if !retrieve::may_recall(&asked.text) || !paths.memory().exists() {
        return Ok(None);
    }
    let store = Store::glance(paths, PATIENCE)?;
    let scope = retrieve::scope(&store, identity)?;
    let known = Known { session: &asked.session, told: trail.told() };
    let mut found = retrieve::recall(&store, &scope, &asked.text, &known, settings.prompt_hits)?;
    if found.is_empty() || !may_answer() {
        return Ok(None);
    }
    retrieve::as_read_by(asked.platform, &mut found);
    let (mode, _) = Mode::load_or_english(settings, paths);
    let told = render::hits(&identity.name, &found, &mode, TOKENS, render::MAX_UNITS);
    // What cannot be remembered as told would be told with every prompt.
    let is_kept = trail.add_told(&told.shown, false).is_ok();
    if is_kept {
        note_use(paths, &told.shown);
    }
    Ok(Some(told.text).filter(|text| is_kept && !text.is_empty()))
}

/// `/name`, with or without arguments; `/a/path` is none.
fn is_command(prompt: &str) -> bool {
    let Some(rest) = prompt.trim_start().strip_prefix('/') else { return false };
    let name = rest.split_whitespace().next().unwrap_or_default();
    !name.is_empty() && !name.contains('/') && !rest.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_command() {
        for prompt in ["/compact", "/plugin:name do it", " /review 12"] {
            assert!(is_command(prompt), "{prompt}");
        }
        for prompt in ["/usr/bin/env fails", "a / b", "/ is full", "what does /login do?"] {
            assert!(!is_command(prompt), "{prompt}");
        }
    }
}
