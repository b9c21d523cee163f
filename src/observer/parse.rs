//! Reads a model's reply: blocks by tag, wherever they stand, as damaged as they come.
//!
//! One pass finds the tags of the format; everything else, other markup included, is text. A field ends at its
//! own closing tag, or else where the next field or block begins. Linear in the length of the reply.

mod tags;

use self::tags::{Name, Tag, scan};
use super::text::{head, one_line, shorten};
use crate::mode::Mode;
use crate::model::{Draft, SummaryDraft};

const MAX_OBSERVATIONS: usize = 50;
const MAX_TYPE: usize = 40;
const MAX_LINE: usize = 200;
const MAX_SUBTITLE: usize = 300;
const MAX_NARRATIVE: usize = 8_000;
const MAX_FACT: usize = 1_000;
const MAX_FACTS: usize = 40;
const MAX_WORD: usize = 80;
const MAX_WORDS: usize = 20;
const MAX_PATH: usize = 1_024;
const MAX_ITEMS: usize = 200;

/// What a reply holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    /// Observations that say something.
    pub(super) drafts: Vec<Draft>,
    /// A summary with at least one of its first five fields.
    pub(super) summary: Option<SummaryDraft>,
    /// It says explicitly that there is nothing to record.
    pub(super) nothing: bool,
    /// It uses a tag of the format at all.
    pub(super) tagged: bool,
}

/// Reads a reply. `cut` says that the provider stopped it at its length limit: then blocks without an end are
/// left out, as nobody knows what they would have said. Otherwise such a block counts with its closed fields.
/// `shown` holds the ids of the similar memories that the model was shown.
pub(super) fn parse(reply: &str, mode: &Mode, shown: &[i64], cut: bool) -> Parsed {
    let tags = scan(reply);
    let mut parsed = Parsed::default();
    let mut at = 0;
    while let Some(tag) = tags.get(at) {
        at += 1;
        if !tag.opens {
            continue;
        }
        match tag.name {
            Name::Nothing => (parsed.nothing, parsed.tagged) = (true, true),
            Name::Observation | Name::Summary => {
                parsed.tagged = true;
                let (end, whole) = block_end(&tags, at, tag.name);
                let last = tags.get(end).map_or(reply.len(), |next| next.start);
                if !tag.empty && (whole || end < tags.len() || !cut) {
                    let block = Block {
                        reply,
                        tags: &tags[at..end],
                        end: last,
                        open_end: !whole && end == tags.len(),
                    };
                    if tag.name == Name::Observation && parsed.drafts.len() < MAX_OBSERVATIONS {
                        parsed.drafts.extend(block.observation(mode, shown));
                    } else if tag.name == Name::Summary && parsed.summary.is_none() {
                        parsed.summary = block.summary();
                    }
                }
                at = if tag.empty { at } else { end };
            }
            Name::Field(_) => {}
        }
    }
    parsed
}

/// Index of the tag that ends the block: its closing tag, else the next block's opening tag, else the end.
fn block_end(tags: &[Tag], from: usize, name: Name) -> (usize, bool) {
    for (offset, tag) in tags.iter().enumerate().skip(from) {
        match (tag.name, tag.opens) {
            (found, false) if found == name => return (offset, true),
            (Name::Observation | Name::Summary, true) => return (offset, false),
            _ => {}
        }
    }
    (tags.len(), false)
}

struct Block<'a> {
    reply: &'a str,
    tags: &'a [Tag],
    /// Byte at which the block's content ends.
    end: usize,
    /// Nothing follows: the last field may be half.
    open_end: bool,
}

impl Block<'_> {
    /// The raw text of the first field of that name.
    fn raw(&self, name: &'static str) -> Option<&str> {
        let opening = self.tags.iter().position(|tag| tag.opens && tag.name == Name::Field(name))?;
        let tag = self.tags.get(opening)?;
        if tag.empty {
            return None;
        }
        let after = self.tags.iter().skip(opening + 1);
        let closing = after.clone().find(|next| next.name == tag.name);
        let end = match closing {
            Some(next) if !next.opens => next.start,
            _ => match after.clone().find(|next| next.opens && !next.is_item()) {
                Some(next) => next.start,
                None if self.open_end => return None,
                None => self.end,
            },
        };
        self.reply.get(tag.end..end)
    }

    fn text(&self, name: &'static str, max: usize) -> String {
        let text = decode(self.raw(name).unwrap_or_default());
        head(text.trim(), max).trim_end().to_owned()
    }

    fn line(&self, name: &'static str, max: usize) -> String {
        shorten(&one_line(&decode(self.raw(name).unwrap_or_default())), max)
    }

    /// The items of a list field: its child elements, else its lines.
    fn items(&self, name: &'static str, item: &'static str, max: usize) -> Vec<String> {
        let Some(raw) = self.raw(name) else { return Vec::new() };
        let children = scan(raw);
        let mut items: Vec<&str> = Vec::new();
        for (index, child) in children.iter().enumerate() {
            if child.opens && !child.empty && child.name == Name::Field(item) {
                let end = children.get(index + 1).map_or(raw.len(), |next| next.start);
                items.extend(raw.get(child.end..end));
            }
        }
        if items.is_empty() {
            items = raw.lines().collect();
        }
        let mut list: Vec<String> = Vec::new();
        for item in items {
            let line = one_line(&decode(item));
            let line = head(bare(&line), max).trim_end();
            if !line.is_empty() && !list.iter().any(|known| known == line) {
                list.push(line.to_owned());
            }
            if list.len() == MAX_ITEMS {
                break;
            }
        }
        list
    }

    fn words(&self, name: &'static str, item: &'static str) -> Vec<String> {
        let separators = [',', '，', '、', ';', '；'];
        let lines = self.items(name, item, MAX_NARRATIVE);
        let words = lines.iter().flat_map(|line| line.split(separators));
        let mut list: Vec<String> = Vec::new();
        for word in words.map(|word| head(bare(word), MAX_WORD)).filter(|word| !word.is_empty()) {
            if !list.iter().any(|known| known == word) && list.len() < MAX_WORDS {
                list.push(word.to_owned());
            }
        }
        list
    }

    fn observation(&self, mode: &Mode, shown: &[i64]) -> Option<Draft> {
        let mut draft = Draft {
            r#type: self.line("type", MAX_TYPE),
            title: self.line("title", MAX_LINE),
            subtitle: self.line("subtitle", MAX_SUBTITLE),
            narrative: self.text("narrative", MAX_NARRATIVE),
            facts: self.items("facts", "fact", MAX_FACT),
            keywords: self.words("keywords", "keyword"),
            files_read: self.items("files_read", "file", MAX_PATH),
            files_modified: self.items("files_modified", "file", MAX_PATH),
            ..Draft::default()
        };
        draft.facts.truncate(MAX_FACTS);
        if draft.r#type.is_empty() {
            draft.r#type = mode.type_or_first("").to_owned();
        }
        draft.concepts = concepts(self.words("concepts", "concept"), &draft.r#type);
        draft.supersedes = ids(self.raw("supersedes").unwrap_or_default(), shown);
        if draft.title.is_empty() {
            draft.title = title_for(&draft)?;
        }
        Some(draft)
    }

    fn summary(&self) -> Option<SummaryDraft> {
        let field = |name| self.text(name, MAX_NARRATIVE / 2);
        let summary = SummaryDraft {
            request: field("request"),
            investigated: field("investigated"),
            learned: field("learned"),
            completed: field("completed"),
            next_steps: field("next_steps"),
            notes: field("notes"),
        };
        let first_five = [
            &summary.request,
            &summary.investigated,
            &summary.learned,
            &summary.completed,
            &summary.next_steps,
        ];
        first_five.iter().any(|text| !text.is_empty()).then_some(summary)
    }
}

/// A title out of the rest; `None` when there is nothing that would make the observation worth keeping.
fn title_for(draft: &Draft) -> Option<String> {
    let source = if draft.narrative.is_empty() { draft.facts.first() } else { Some(&draft.narrative) };
    let text = match source {
        Some(text) => {
            let line = one_line(text);
            let end = line.find(['。', '！', '？']).or_else(|| line.find(". "));
            end.map_or(line.clone(), |at| line[..at].to_owned())
        }
        None if draft.concepts.is_empty() => return None,
        None if draft.subtitle.is_empty() => draft.concepts.join(", "),
        None => draft.subtitle.clone(),
    };
    Some(shorten(text.trim_end_matches('.'), 90))
}

/// `gotcha: because …` is `gotcha`; a concept that only repeats the type says nothing.
fn concepts(words: Vec<String>, r#type: &str) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for word in words {
        let word = word.split([':', '：']).next().unwrap_or_default().trim();
        if !word.is_empty() && word != r#type && !list.iter().any(|known| known == word) {
            list.push(word.to_owned());
        }
    }
    list
}

fn ids(text: &str, shown: &[i64]) -> Vec<i64> {
    let mut list = Vec::new();
    for digits in text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
        if let Ok(id) = digits.parse::<i64>()
            && shown.contains(&id)
            && !list.contains(&id)
        {
            list.push(id);
        }
    }
    list
}

/// Without a list marker in front.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(['-', '*', '•', '·']);
    if rest.len() < line.len() && (rest.is_empty() || rest.starts_with(' ')) {
        rest.trim_start()
    } else {
        line
    }
}

/// Decodes the five named entities and numeric ones, once; anything else stays.
fn decode(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        match end.and_then(|end| Some((entity(&rest[1..end])?, end))) {
            Some((c, end)) => {
                decoded.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "amp" => return Some('&'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => {}
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests;
