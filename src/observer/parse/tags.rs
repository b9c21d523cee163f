//! Finds the tags of the reply's format; any other `<` is text.

/// What a tag names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    Observation,
    Summary,
    Nothing,
    Field(&'static str),
}

/// One tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: Name,
    /// An opening tag, or one that closes itself.
    pub(super) opens: bool,
    /// It closes itself.
    pub(super) empty: bool,
    /// Byte of its `<`.
    pub(super) start: usize,
    /// Byte after its `>`.
    pub(super) end: usize,
}

static FIELDS: &[&str] = &[
    "completed",
    "concept",
    "concepts",
    "fact",
    "facts",
    "file",
    "files_modified",
    "files_read",
    "investigated",
    "keyword",
    "keywords",
    "learned",
    "narrative",
    "next_steps",
    "notes",
    "request",
    "subtitle",
    "supersedes",
    "title",
    "type",
];

/// Longest tag, attributes included: a bound for the search for its `>`.
const MAX_TAG: usize = 400;

impl Tag {
    /// A child of a list field.
    pub(super) fn is_item(&self) -> bool {
        matches!(self.name, Name::Field("fact" | "concept" | "keyword" | "file"))
    }
}

/// All tags of the format, in order.
pub(super) fn scan(text: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('<').map(|offset| from + offset) {
        from = at + 1;
        if let Some(tag) = tag_at(text, at) {
            from = tag.end;
            tags.push(tag);
        }
    }
    tags
}

fn tag_at(text: &str, start: usize) -> Option<Tag> {
    let bytes = &text.as_bytes()[start..];
    let blanks =
        |from: usize| bytes.iter().skip(from).take(8).take_while(|b| b.is_ascii_whitespace()).count();
    let mut at = 1 + blanks(1);
    let closes = bytes.get(at) == Some(&b'/');
    if closes {
        at += 1 + blanks(at + 1);
    }
    let rest = &bytes[at.min(bytes.len())..];
    let length = rest.iter().take(24).take_while(|b| b.is_ascii_alphabetic() || **b == b'_').count();
    let name = name_of(&rest[..length])?;
    let end = rest.iter().take(MAX_TAG).position(|b| *b == b'>')?;
    let attributes = &rest[length..end];
    let separated = attributes.first().is_none_or(|b| b.is_ascii_whitespace() || *b == b'/');
    if !separated || attributes.contains(&b'<') {
        return None;
    }
    let empty = !closes && attributes.last() == Some(&b'/');
    Some(Tag { name, opens: !closes, empty, start, end: start + at + end + 1 })
}

fn name_of(bytes: &[u8]) -> Option<Name> {
    for (text, name) in
        [("observation", Name::Observation), ("summary", Name::Summary), ("nothing", Name::Nothing)]
    {
        if bytes.eq_ignore_ascii_case(text.as_bytes()) {
            return Some(name);
        }
    }
    FIELDS.iter().find(|field| bytes.eq_ignore_ascii_case(field.as_bytes())).map(|field| Name::Field(field))
}
