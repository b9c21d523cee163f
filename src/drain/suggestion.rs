//! Memories that the assistant proposes itself, in marked blocks of its last message.
//!
//! Two forms are read. A fence with the info string `cmem-memory`:
//!
//! ````text
//! ```cmem-memory
//! type: constraint
//! title: Payments run on PostgreSQL 15
//! tags: database, config
//! text: Payments run on PostgreSQL 15; the pool is limited to 20 connections.
//! ```
//! ````
//!
//! and lines after a marker, `[记忆建议]` or `[memory suggestion]`, each field on a line of its own or all on one. A text is
//! all that a block needs. One without it, or without an end, is no block: it stays where it is, as ordinary text.

use crate::mode::Mode;
use crate::model::{Draft, Event, EventKind};
use crate::observer::{one_line, shorten, title_of};

/// Most blocks of one message; what is beyond stays in its text.
const MAX_BLOCKS: usize = 20;
const MAX_TITLE: usize = 200;
const MAX_TAG: usize = 80;
const MAX_TAGS: usize = 20;

/// The info string of a fence.
const INFO: &str = "cmem-memory";
/// What is between the brackets of a marker, lower case.
const MARKERS: [&str; 4] = ["记忆建议", "記憶建議", "memory suggestion", "suggested memory"];

/// A field of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Type,
    Title,
    Tags,
    Text,
}

/// Names of the fields, lower case.
const FIELDS: [(&str, Field); 13] = [
    ("type", Field::Type),
    ("类型", Field::Type),
    ("類型", Field::Type),
    ("title", Field::Title),
    ("标题", Field::Title),
    ("標題", Field::Title),
    ("tags", Field::Tags),
    ("标签", Field::Tags),
    ("標籤", Field::Tags),
    ("text", Field::Text),
    ("content", Field::Text),
    ("内容", Field::Text),
    ("內容", Field::Text),
];

/// A proposed memory, as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Suggestion {
    r#type: String,
    title: String,
    tags: String,
    text: String,
}

impl Suggestion {
    /// What would be remembered. A type that is no word is kept as a tag.
    pub(super) fn draft(&self, mode: &Mode) -> Draft {
        let kind = mode.type_for(&self.r#type);
        let unknown = if kind.is_none() { self.r#type.as_str() } else { "" };
        let parts = self.tags.split([',', '，', '、', ';', '；', '\n']).chain([unknown]);
        let bare = |part: &str| shorten(&one_line(part.trim().trim_matches(['#', '[', ']', '`'])), MAX_TAG);
        let mut tags: Vec<String> = Vec::new();
        for tag in parts.map(bare).filter(|tag| !tag.is_empty()) {
            if tags.len() < MAX_TAGS && !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        let title = shorten(&one_line(&self.title), MAX_TITLE);
        Draft {
            r#type: kind.unwrap_or_else(|| String::from("note")),
            title: if title.is_empty() { title_of(&self.text) } else { title },
            keywords: tags.iter().filter(|tag| !mode.has_concept(tag)).cloned().collect(),
            concepts: tags,
            narrative: self.text.clone(),
            ..Draft::default()
        }
    }

    fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Type => &mut self.r#type,
            Field::Title => &mut self.title,
            Field::Tags => &mut self.tags,
            Field::Text => &mut self.text,
        }
    }
}

/// Lifts the blocks out of the last messages of the assistant: what is left is what an observer is shown.
pub(super) fn lift(events: &mut [Event]) -> Vec<Suggestion> {
    let mut lifted = Vec::new();
    for event in events {
        let EventKind::Stop { message, .. } = &mut event.kind else { continue };
        let Some((rest, found)) = message.as_deref().and_then(lift_from) else { continue };
        *message = Some(rest).filter(|rest| !rest.is_empty());
        lifted.extend(found);
    }
    lifted
}

/// What is left of a text without its blocks, and the blocks; `None` when it holds none.
fn lift_from(text: &str) -> Option<(String, Vec<Suggestion>)> {
    if !may_hold_one(text) {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let (mut rest, mut found) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let (block, end) = match Fence::opened_by(line) {
            Some(fence) => match fence.end(&lines, at) {
                Some(end) => (fence.block(&lines[at + 1..end]), end + 1),
                None => (None, lines.len()),
            },
            None => match marked(line) {
                Some(after) => lines_after(after, &lines, at + 1),
                None => (None, at + 1),
            },
        };
        match block.filter(|block| !block.text.is_empty() && found.len() < MAX_BLOCKS) {
            Some(block) => found.push(block),
            None => rest.extend_from_slice(&lines[at..end]),
        }
        at = end;
    }
    (!found.is_empty()).then(|| (rest.join("\n").trim().to_owned(), found))
}

fn may_hold_one(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains(INFO) || MARKERS.iter().any(|marker| lower.contains(marker))
}

/// A code fence.
struct Fence<'a> {
    sign: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(sign);
        let length = line.len() - info.len();
        (length >= 3 && !info.contains(sign)).then(|| Self { sign, length, info: info.trim() })
    }

    /// The line that closes it.
    fn end(&self, lines: &[&str], opening: usize) -> Option<usize> {
        let closes = |line: &&str| {
            let line = line.trim();
            line.len() >= self.length && line.chars().all(|c| c == self.sign)
        };
        lines.iter().skip(opening + 1).position(closes).map(|offset| opening + 1 + offset)
    }

    /// What it holds, if that is a block: by its info string, or a marker and its lines alone.
    fn block(&self, inside: &[&str]) -> Option<Suggestion> {
        if self.info.eq_ignore_ascii_case(INFO) {
            return Some(fields(inside));
        }
        let first = inside.iter().position(|line| !line.trim().is_empty())?;
        let (block, end) = lines_after(marked(inside[first])?, inside, first + 1);
        block.filter(|_| inside[end..].iter().all(|line| line.trim().is_empty()))
    }
}

/// The fields of a fence; a line without a name belongs to the text.
fn fields(lines: &[&str]) -> Suggestion {
    let (mut block, mut seen) = (Suggestion::default(), Vec::new());
    let mut free = Vec::new();
    let mut in_text = false;
    for line in lines {
        match named(line).filter(|(field, _)| !seen.contains(field)) {
            Some(_) => {
                for (field, value) in split_line(line, &mut seen, false) {
                    in_text = field == Field::Text;
                    value.trim().clone_into(block.field(field));
                }
            }
            None if in_text => block.text = [block.text.as_str(), line].join("\n"),
            None => free.push(*line),
        }
    }
    block.text = [block.text.trim(), free.join("\n").trim()].join("\n").trim().to_owned();
    block
}

/// The fields after a marker, and the line after the last of them. They end with the first line that is none, but that a
/// text may take several, and that an empty line before a further field is none of the text.
fn lines_after(after: &str, lines: &[&str], from: usize) -> (Option<Suggestion>, usize) {
    let (mut block, mut seen) = (Suggestion::default(), Vec::new());
    let mut in_text = false;
    let mut take = |line: &str, seen: &mut Vec<Field>, follow| {
        for (field, value) in split_line(line, seen, follow) {
            in_text = field == Field::Text;
            value.trim().clone_into(block.field(field));
        }
        in_text
    };
    // What stands beside the marker and is no field is not of this form.
    if !after.trim().is_empty() && named(after).is_none() {
        return (None, from);
    }
    let mut text_goes_on = take(after, &mut seen, true);
    let mut further = Vec::new();
    let (mut at, mut end) = (from, from);
    while let Some(line) = lines.get(at) {
        if line.trim().is_empty() {
            at += 1;
            let is_field = |line: &&str| named(line).is_some_and(|(field, _)| !seen.contains(&field));
            if lines.get(at).is_none_or(|next| !next.trim().is_empty() && !is_field(next)) {
                break;
            }
            continue;
        }
        if marked(line).is_some() || Fence::opened_by(line).is_some() {
            break;
        }
        match named(line).filter(|(field, _)| !seen.contains(field)) {
            Some(_) => text_goes_on = take(line, &mut seen, false),
            None if text_goes_on => further.push(line.trim_end()),
            None => break,
        }
        at += 1;
        end = at;
    }
    if !further.is_empty() {
        block.text = [block.text.as_str(), &further.join("\n")].join("\n").trim().to_owned();
    }
    if block.text.is_empty() { (None, from) } else { (Some(block), end) }
}

/// The fields of a line that begins with one. A value reaches to the end of its line; where others may `follow`, and after a
/// type, which is one word, the next may stand in the same line.
fn split_line<'a>(line: &'a str, seen: &mut Vec<Field>, follow: bool) -> Vec<(Field, &'a str)> {
    let Some((first, mut rest)) = named(line) else { return Vec::new() };
    seen.push(first);
    if first != Field::Type && !follow {
        return vec![(first, rest)];
    }
    let mut parts = Vec::new();
    let mut field = first;
    loop {
        let next = rest.char_indices().filter(|(_, c)| c.is_whitespace()).find_map(|(blank, c)| {
            let after = blank + c.len_utf8();
            let (found, value) = name_at(&rest[after..])?;
            let is_next = !seen.contains(&found) && !rest[..blank].trim().is_empty();
            is_next.then_some((blank, found, value))
        });
        let Some((blank, found, value)) = next else {
            parts.push((field, rest));
            return parts;
        };
        parts.push((field, &rest[..blank]));
        seen.push(found);
        (field, rest) = (found, value);
    }
}

/// What follows a marker at the start of a line.
fn marked(line: &str) -> Option<&str> {
    let line = undecorated(line);
    let inside = line.strip_prefix(['[', '【'])?;
    let (name, after) = inside.split_once([']', '】'])?;
    let name = name.trim().to_lowercase();
    MARKERS.contains(&name.as_str()).then(|| after.trim_start_matches([':', '：', '*']))
}

/// The field that a line begins with, and its value.
fn named(line: &str) -> Option<(Field, &str)> {
    name_at(undecorated(line))
}

fn name_at(text: &str) -> Option<(Field, &str)> {
    FIELDS.iter().find_map(|(name, field)| {
        let head = text.get(..name.len()).filter(|head| head.to_lowercase() == *name)?;
        let rest = text[head.len()..].trim_start_matches(['*', ' ']);
        let value = rest.strip_prefix([':', '：'])?;
        Some((*field, value.trim_start_matches("**")))
    })
}

/// A line without the signs of a list, a heading, a quote or bold text before it.
fn undecorated(line: &str) -> &str {
    line.trim_start_matches(['-', '*', '#', '>', '•', ' ', '\t', '\r'])
}

#[cfg(test)]
mod tests;
