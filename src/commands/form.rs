//! An observation as a text that can be edited, and back.

use crate::model::{Draft, Priority, Timestamp};

/// Ends the fields; everything after it is the text.
const TEXT: &str = "---";
/// Continues the line before.
const INDENT: &str = "  ";
pub(super) const NEVER: &str = "never";

/// What can be changed about an observation, as strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub kind: String,
    pub title: String,
    pub subtitle: String,
    pub priority: String,
    pub expires: String,
    pub tags: Vec<String>,
    pub keywords: Vec<String>,
    pub files_read: Vec<String>,
    pub files_modified: Vec<String>,
    pub facts: Vec<String>,
    pub text: String,
}

/// The text is no form.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum FormError {
    #[error("line {0}: {1:?} is no field; known are {FIELDS}")]
    Field(usize, String),
    #[error("line {0} is neither a field (`title: ...`) nor an entry of a list (`- ...`)")]
    Stray(usize),
    #[error("there is no line {TEXT} before the text")]
    NoText,
}

const FIELDS: &str =
    "type, title, subtitle, priority, expires, tags, keywords, files read, files modified, facts";

/// A field by name: one value, or a list of them.
enum Field<'a> {
    One(&'a mut String),
    Words(&'a mut Vec<String>),
    Lines(&'a mut Vec<String>),
}

impl Form {
    pub(super) fn of(draft: &Draft, priority: Priority, expires_at: Option<Timestamp>) -> Self {
        let form = Self {
            kind: draft.r#type.clone(),
            title: draft.title.clone(),
            subtitle: draft.subtitle.clone(),
            priority: priority.name().to_owned(),
            expires: expires_at.map_or_else(|| NEVER.to_owned(), |at| at.to_string()),
            tags: draft.concepts.clone(),
            keywords: draft.keywords.clone(),
            files_read: draft.files_read.clone(),
            files_modified: draft.files_modified.clone(),
            facts: draft.facts.clone(),
            text: draft.narrative.clone(),
        };
        // As it comes back from an editor in which nothing was changed.
        Self::read(&form.write("")).unwrap_or(form)
    }

    /// As a text, below a comment.
    pub(super) fn write(&self, comment: &str) -> String {
        let mut text = String::new();
        for line in comment.lines() {
            text.push_str(&format!("# {line}\n"));
        }
        let indented = |value: &str| value.replace('\n', &format!("\n{INDENT}"));
        for (name, value) in [
            ("type", &self.kind),
            ("title", &self.title),
            ("subtitle", &self.subtitle),
            ("priority", &self.priority),
            ("expires", &self.expires),
        ] {
            text.push_str(format!("{name}: {}", indented(value)).trim_end());
            text.push('\n');
        }
        for (name, values) in [
            ("tags", &self.tags),
            ("keywords", &self.keywords),
            ("files read", &self.files_read),
            ("files modified", &self.files_modified),
            ("facts", &self.facts),
        ] {
            text.push_str(&format!("{name}:\n"));
            for value in values {
                text.push_str(&format!("- {}\n", indented(value)));
            }
        }
        text.push_str(&format!("{TEXT}\n{}\n", self.text));
        text
    }

    /// Back from a text. A field that is not there is empty.
    pub(super) fn read(text: &str) -> Result<Self, FormError> {
        let (head, body) = split(text).ok_or(FormError::NoText)?;
        let mut form = Self { text: body.trim().to_owned(), ..Self::default() };
        let mut name = String::new();
        for (index, line) in head.lines().enumerate() {
            let number = index + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with(INDENT) || line.starts_with('\t') {
                let value = form.field(&name).and_then(Field::last).ok_or(FormError::Stray(number))?;
                value.push('\n');
                value.push_str(line.trim());
            } else if let Some(entry) = line.strip_prefix('-') {
                form.field(&name).and_then(Field::list).ok_or(FormError::Stray(number))?.push(trimmed(entry));
            } else if let Some((word, value)) = line.split_once(':') {
                name = word.trim().to_lowercase();
                form.field(&name)
                    .ok_or_else(|| FormError::Field(number, word.trim().to_owned()))?
                    .begin(value);
            } else {
                return Err(FormError::Stray(number));
            }
        }
        for list in [
            &mut form.tags,
            &mut form.keywords,
            &mut form.files_read,
            &mut form.files_modified,
            &mut form.facts,
        ] {
            list.retain(|value| !value.is_empty());
        }
        Ok(form)
    }

    fn field(&mut self, name: &str) -> Option<Field<'_>> {
        Some(match name {
            "type" => Field::One(&mut self.kind),
            "title" => Field::One(&mut self.title),
            "subtitle" => Field::One(&mut self.subtitle),
            "priority" => Field::One(&mut self.priority),
            "expires" => Field::One(&mut self.expires),
            "tags" => Field::Words(&mut self.tags),
            "keywords" => Field::Words(&mut self.keywords),
            "files read" => Field::Lines(&mut self.files_read),
            "files modified" => Field::Lines(&mut self.files_modified),
            "facts" => Field::Lines(&mut self.facts),
            _ => return None,
        })
    }
}

impl<'a> Field<'a> {
    /// Takes what stands behind the name.
    fn begin(self, value: &str) {
        match self {
            Self::One(field) => *field = trimmed(value),
            Self::Words(list) => list.extend(value.split(',').map(trimmed)),
            Self::Lines(list) => list.push(trimmed(value)),
        }
    }

    fn list(self) -> Option<&'a mut Vec<String>> {
        match self {
            Self::One(_) => None,
            Self::Words(list) | Self::Lines(list) => Some(list),
        }
    }

    fn last(self) -> Option<&'a mut String> {
        match self {
            Self::One(field) => Some(field),
            Self::Words(list) | Self::Lines(list) => list.last_mut(),
        }
    }
}

fn trimmed(value: &str) -> String {
    value.trim().to_owned()
}

/// Fields and text; `None` where nothing divides them.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == TEXT {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("[ #:,a-z-]{0,6}[a-z部]", 0..4)
    }

    proptest! {
        #[test]
        fn what_nobody_changes_comes_back_as_it_was(
            lines in prop::collection::vec("[-# \ta-z:,部]{0,12}", 0..5),
            lists in prop::collection::vec(words(), 5),
            title in "[-# a-z:,\n部]{0,20}",
        ) {
            let draft = Draft {
                r#type: String::from("note"),
                title,
                narrative: lines.join("\n"),
                concepts: lists[0].clone(),
                keywords: lists[1].clone(),
                files_read: lists[2].clone(),
                files_modified: lists[3].clone(),
                facts: lists[4].iter().map(|fact| format!("{fact}\n{fact}")).collect(),
                ..Draft::default()
            };
            let form = Form::of(&draft, Priority::High, Some(Timestamp(1_770_000_000_123)));
            prop_assert_eq!(&Form::read(&form.write("a comment\nof two lines")).unwrap(), &form);
            prop_assert_eq!(form.text, draft.narrative.trim());
            prop_assert_eq!(form.facts.len(), draft.facts.len());
        }
    }

    #[test]
    fn lists_may_be_written_either_way() {
        let form =
            Form::read("tags: a, b,\nfacts:\n- one\n  and more\n-two\n---\n# not a comment\n").unwrap();
        assert_eq!(form.tags, ["a", "b"]);
        assert_eq!(form.facts, ["one\nand more", "two"]);
        assert_eq!(form.text, "# not a comment");
    }

    #[test]
    fn what_is_no_form_is_named_by_its_line() {
        let told = |text: &str| Form::read(text).unwrap_err().to_string();
        assert!(
            told("# c\ntitel: x\n---\n").contains("line 2: \"titel\" is no field; known are type, title")
        );
        assert!(told("title: x\n- y\n---\n").contains("line 2 is neither"));
        assert!(told("  x\n---\n").contains("line 1 is neither"));
        assert!(told("words\n---\n").contains("line 1 is neither"));
        assert!(told("title: x\n").contains("no line --- before"));
    }
}
