//! An HTML page taken apart: as strictly as XML, so that nothing is left to a browser's guess.

/// An element's start: its name and its attributes, as they stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub attributes: Vec<(String, String)>,
}

impl Tag {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Every element of a page in its order, and the text between them.
///
/// # Panics
/// When the page is not well-formed.
#[track_caller]
pub fn read(page: &str) -> (Vec<Tag>, String) {
    let (mut tags, mut text, mut open): (Vec<Tag>, String, Vec<String>) = Default::default();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap_or_else(|| panic!("no document type"));
    loop {
        let (before, after) = rest.split_once('<').unwrap_or((rest, ""));
        assert!(!before.contains('>') || open.last().is_some_and(|name| name == "style"), "{before}");
        assert_entities(before);
        text.push_str(before);
        if after.is_empty() {
            break;
        }
        let (inside, next) = after.split_once('>').unwrap_or_else(|| panic!("no end: {}", clip(after)));
        rest = next;
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {}", clip(next));
            continue;
        }
        let (inside, is_empty) = inside.strip_suffix('/').map_or((inside, false), |inside| (inside, true));
        let tag = tag(inside);
        if !is_empty {
            open.push(tag.name.clone());
        }
        tags.push(tag);
    }
    assert!(open.is_empty(), "never closed: {open:?}");
    (tags, text)
}

fn tag(inside: &str) -> Tag {
    let (name, mut rest) = inside.split_once(' ').unwrap_or((inside, ""));
    assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()), "{inside}");
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim_start().split_once("=\"").unwrap_or_else(|| panic!("{inside}"));
        let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("{inside}"));
        assert!(key.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-'), "{inside}");
        assert!(attributes.iter().all(|(other, _)| other != key), "{key} twice: {inside}");
        assert_entities(value);
        attributes.push((key.to_owned(), value.to_owned()));
        rest = after;
    }
    Tag { name: name.to_owned(), attributes }
}

/// An ampersand is one of the entities that XML knows.
fn assert_entities(text: &str) {
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|entity| after.starts_with(entity));
        assert!(known, "&{}", clip(after));
    }
}

fn clip(text: &str) -> String {
    text.chars().take(80).collect()
}
