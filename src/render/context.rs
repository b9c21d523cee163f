//! The texts that the model is told: at session start, and beside a prompt. Each keeps within a budget of tokens.
//!
//! The text goes into a model's context. So it is fenced and labelled as recalled data, and nothing inside
//! can end the fence or look like a tag; `privacy` strips the fence when it comes back in a later event.

use std::collections::HashMap;

use super::budget::Cost;
use super::plain::{clipped, line, untagged};
use crate::mode::{Labels, Mode, fill};
use crate::model::{Observation, Platform, Summary, Timestamp};
use crate::retrieve::{ContextPlan, FilesSince};

/// Most UTF-16 code units of a context: Claude Code replaces a hook output above 10,000 by a path and a
/// short preview.
pub const MAX_UNITS: usize = 9_000;

const OPEN: &str = "<cmem-context>";
pub(super) const CLOSE: &str = "</cmem-context>";

/// Most tokens of a title, and of the line below it.
const TITLE_TOKENS: usize = 60;
const DETAIL_TOKENS: usize = 110;
const FEWEST_DETAIL_TOKENS: usize = 8;
/// What stands around it in its line.
const INDENT_TOKENS: usize = 1;
/// Most tokens of one line of the summary.
const SUMMARY_TOKENS: usize = 100;
/// The summary may take a third of what is left; full forms half of what is left after it.
const SUMMARY_SHARE: usize = 3;
const FULL_SHARE: usize = 2;

/// What a session is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RenderedContext {
    /// The text; empty when there is nothing to tell.
    pub text: String,
    /// Ids of the observations in it.
    pub shown: Vec<i64>,
}

/// Renders a plan within `tokens` (as `model::estimate_tokens` counts) and `max_units` UTF-16 code units:
/// whole lines only, the best memories in two lines, the next in one, the rest counted. The same plan in the same mode
/// gives the same bytes; the mode decides the words around the memories.
pub fn context(plan: &ContextPlan, mode: &Mode, tokens: usize, max_units: usize) -> RenderedContext {
    if plan.observations.is_empty() && plan.summary.is_none() {
        return RenderedContext::default();
    }
    let labels = &mode.labels;
    let head = header(&plan.project, labels);
    // The line that counts the rest is paid for in advance, at its longest.
    let tail = [overflow(plan.observations.len() + plan.more, labels), CLOSE.to_owned()];
    let fixed = Cost::of(&head) + Cost::of(&tail);
    let limit = Cost::limit(tokens, max_units);
    if !fixed.fits(limit) {
        return RenderedContext::default();
    }
    let room = limit.minus(fixed);
    let share = room.part(SUMMARY_SHARE);
    let summary = plan.summary.as_ref().map(|summary| summary_lines(summary, labels, share));
    let summary = summary.unwrap_or_default();
    let (memories, shown) =
        memory_lines(&plan.observations, &plan.files_since, mode, room.minus(Cost::of(&summary)));
    if summary.is_empty() && memories.is_empty() {
        return RenderedContext::default();
    }
    let more = plan.observations.len() - shown.len() + plan.more;
    let mut lines = [head, summary, memories].concat();
    if more > 0 {
        lines.push(overflow(more, labels));
    }
    lines.push(CLOSE.to_owned());
    RenderedContext { text: lines.join("\n"), shown }
}

/// Renders memories that a prompt is about, within `tokens` and `max_units`: title and detail where both fit, each
/// memory with an equal share; then the title alone.
pub fn hits(
    project: &str,
    memories: &[Observation],
    mode: &Mode,
    tokens: usize,
    max_units: usize,
) -> RenderedContext {
    let head = fence(project, &mode.labels).to_vec();
    let limit = Cost::limit(tokens, max_units);
    let mut used = Cost::of(&head) + Cost::of(&[CLOSE.to_owned()]);
    if memories.is_empty() || !used.fits(limit) {
        return RenderedContext::default();
    }
    let share = limit.minus(used).part(memories.len());
    let (mut lines, mut shown) = (head, Vec::new());
    for memory in memories {
        let title = vec![title_line(memory, None, mode)];
        let detail = share.minus(Cost::of(&title)).tokens().saturating_sub(INDENT_TOKENS).min(DETAIL_TOKENS);
        let full = [title.clone(), detail_line(memory, detail).into_iter().collect()].concat();
        let Some(form) = [full, title].into_iter().find(|form| (used + Cost::of(form)).fits(limit)) else {
            break;
        };
        used = used + Cost::of(&form);
        lines.extend(form);
        shown.push(memory.id);
    }
    if shown.is_empty() {
        return RenderedContext::default();
    }
    lines.push(CLOSE.to_owned());
    RenderedContext { text: lines.join("\n"), shown }
}

/// What opens the fence, and what the rest is.
pub(super) fn fence(project: &str, labels: &Labels) -> [String; 2] {
    let project = clipped(&untagged(project), TITLE_TOKENS);
    [OPEN.to_owned(), untagged(&fill(&labels.intro, &[("project", &project)]))]
}

fn header(project: &str, labels: &Labels) -> Vec<String> {
    let [open, intro] = fence(project, labels);
    vec![open, intro, untagged(&labels.further)]
}

fn overflow(count: usize, labels: &Labels) -> String {
    untagged(&fill(&labels.more, &[("count", &count.to_string())]))
}

/// The newest summary, as far as it fits; nothing rather than a heading alone.
fn summary_lines(summary: &Summary, labels: &Labels, room: Cost) -> Vec<String> {
    let text = &summary.text;
    let values = [("id", summary.id.as_str()), ("date", &date(summary.created_at))];
    let mut lines = vec![untagged(&fill(&labels.last_session, &values))];
    for (label, value) in [
        (&labels.request, &text.request),
        (&labels.completed, &text.completed),
        (&labels.learned, &text.learned),
        (&labels.next_steps, &text.next_steps),
        (&labels.notes, &text.notes),
        (&labels.investigated, &text.investigated),
    ] {
        let value = untagged(value);
        if value.is_empty() {
            continue;
        }
        let row = untagged(&format!("- {label}{}{}", labels.colon, clipped(&value, SUMMARY_TOKENS)));
        if (Cost::of(&lines) + Cost::of(std::slice::from_ref(&row))).fits(room) {
            lines.push(row);
        }
    }
    if lines.len() > 1 { lines } else { Vec::new() }
}

/// The best in two lines, until what is left is better spent on further titles; then titles.
fn memory_lines(
    observations: &[Observation],
    files_since: &HashMap<i64, FilesSince>,
    mode: &Mode,
    room: Cost,
) -> (Vec<String>, Vec<i64>) {
    let heading = vec![untagged(&mode.labels.memories)];
    let short: Vec<Vec<String>> = observations
        .iter()
        .map(|memory| vec![title_line(memory, files_since.get(&memory.id), mode)])
        .collect();
    // What all titles from here on cost.
    let mut rest = vec![Cost::default(); short.len() + 1];
    for index in (0..short.len()).rev() {
        rest[index] = rest[index + 1] + Cost::of(&short[index]);
    }
    let mut used = Cost::of(&heading);
    let half = room.part(FULL_SHARE);
    let mut full_so_far = true;
    let (mut lines, mut shown) = (heading, Vec::new());
    for (index, memory) in observations.iter().enumerate() {
        let full: Vec<String> =
            short[index].iter().cloned().chain(detail_line(memory, DETAIL_TOKENS)).collect();
        let with_full = used + Cost::of(&full);
        full_so_far = full_so_far && (with_full.fits(half) || (with_full + rest[index + 1]).fits(room));
        let form = if full_so_far { &full } else { &short[index] };
        if !(used + Cost::of(form)).fits(room) {
            break;
        }
        used = used + Cost::of(form);
        lines.extend_from_slice(form);
        shown.push(memory.id);
    }
    if shown.is_empty() { (Vec::new(), shown) } else { (lines, shown) }
}

/// Which agent learned it.
pub(super) fn by(platform: Platform) -> String {
    format!(" ({platform})")
}

/// Id, date, type and title; what became of its files; which agent learned it, where that is not the reader; where a
/// merged memory came from.
pub(super) fn title_line(memory: &Observation, since: Option<&FilesSince>, mode: &Mode) -> String {
    let labels = &mode.labels;
    let origin = match &memory.merged_into {
        Some(_) => {
            let project = clipped(&untagged(&memory.project), TITLE_TOKENS);
            format!(" {}", fill(&labels.merged, &[("project", &project)]))
        }
        None => String::new(),
    };
    let by = memory.platform.map(by).unwrap_or_default();
    let lost = match since {
        Some(since) if !since.gone.is_empty() => format!(" {}", labels.gone),
        Some(since) if !since.changed.is_empty() => format!(" {}", labels.changed),
        _ => String::new(),
    };
    untagged(&format!(
        "#{} {} {}{}{}{lost}{by}{origin}",
        memory.id,
        date(memory.created_at),
        clipped(&untagged(mode.type_name(&memory.r#type)), TITLE_TOKENS),
        labels.colon,
        clipped(&untagged(&memory.title), TITLE_TOKENS),
    ))
}

/// Narrative and facts, without what the title says already; nothing rather than a word or two.
fn detail_line(memory: &Observation, tokens: usize) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut said = vec![folded(&memory.title)];
    for text in std::iter::once(&memory.narrative).chain(&memory.facts) {
        let folded = folded(text);
        if !folded.is_empty() && !said.iter().any(|earlier| earlier.contains(&folded)) {
            parts.push(untagged(text));
            said.push(folded);
        }
    }
    if parts.is_empty() && !said[0].contains(&folded(&memory.subtitle)) {
        parts.push(untagged(&memory.subtitle));
    }
    let is_worth_it = !parts.is_empty() && tokens >= FEWEST_DETAIL_TOKENS;
    is_worth_it.then(|| format!("  {}", clipped(&parts.join("; "), tokens)))
}

/// A text as far as repetition is concerned.
fn folded(text: &str) -> String {
    line(text).to_lowercase().trim_end_matches(['.', '。', '!', '…']).to_owned()
}

fn date(at: Timestamp) -> String {
    at.local("%Y-%m-%d")
}

#[cfg(test)]
pub(super) mod tests;
