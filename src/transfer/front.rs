//! Front matter: the subset of YAML that our pages are written in, and nothing beyond it.
//!
//! Between two lines `---` stand `key: value` lines. A value is plain text, a JSON string, a block (`|-` and lines that
//! are indented by two blanks), or a list of the first two, one a line behind `  - `. The body follows.

/// One value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    /// A number, a time or an id: written as it is, read as a text.
    Word(String),
    List(Vec<String>),
}

/// Front matter and body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub fields: Vec<(String, Value)>,
    /// Without blanks around it.
    pub body: String,
}

const FENCE: &str = "---";

impl Page {
    /// The page as a file.
    pub(super) fn write(&self) -> String {
        let mut text = format!("{FENCE}\n");
        for (key, value) in &self.fields {
            match value {
                Value::Text(value) if is_block(value) => {
                    text.push_str(&format!("{key}: |-\n"));
                    for line in value.lines() {
                        let indent = if line.is_empty() { "" } else { "  " };
                        text.push_str(&format!("{indent}{line}\n"));
                    }
                }
                Value::Text(value) => text.push_str(&format!("{key}: {}\n", scalar(value))),
                Value::Word(value) => text.push_str(&format!("{key}: {value}\n")),
                Value::List(items) => {
                    text.push_str(&format!("{key}:\n"));
                    for item in items {
                        text.push_str(&format!("  - {}\n", scalar(item)));
                    }
                }
            }
        }
        text.push_str(FENCE);
        text.push('\n');
        if !self.body.is_empty() {
            text.push_str(&format!("\n{}\n", self.body));
        }
        text
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A sentence that names the line.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.replace("\r\n", "\n");
        if text.lines().any(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")) {
            return Err(String::from("it holds the marks of an unresolved merge; resolve it first"));
        }
        let mut lines = text.lines().enumerate().skip(1).peekable();
        let mut page = Self::default();
        loop {
            let Some((number, line)) = lines.next() else {
                return Err(String::from("its front matter has no closing `---`"));
            };
            let wrong = |why: &str| Err(format!("line {}: {why}", number + 1));
            if line == FENCE {
                break;
            }
            if line.trim().is_empty() {
                continue;
            }
            let Some((key, value)) = line.split_once(':') else {
                return wrong("it is no `key: value`");
            };
            if key.is_empty() || !key.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                return wrong("a key is a word of small letters at the beginning of a line");
            }
            if page.fields.iter().any(|(known, _)| known == key) {
                return wrong(&format!("`{key}` is there twice"));
            }
            let value = match value.trim() {
                "" => {
                    let mut items = Vec::new();
                    while let Some((number, item)) =
                        lines.next_if(|(_, line)| line.trim_start().starts_with("- "))
                    {
                        let item = item.trim_start();
                        let item = item.strip_prefix("- ").unwrap_or(item);
                        items.push(read_scalar(item).map_err(|why| format!("line {}: {why}", number + 1))?);
                    }
                    Value::List(items)
                }
                "|-" => {
                    let mut block = Vec::new();
                    while let Some((_, line)) =
                        lines.next_if(|(_, line)| line.is_empty() || line.starts_with("  "))
                    {
                        block.push(line.strip_prefix("  ").unwrap_or_default());
                    }
                    Value::Text(block.join("\n").trim_end_matches('\n').to_owned())
                }
                value => match read_scalar(value) {
                    Ok(value) => Value::Text(value),
                    Err(why) => return wrong(&why),
                },
            };
            page.fields.push((key.to_owned(), value));
        }
        page.body = lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n").trim().to_owned();
        Ok(page)
    }
}

/// Whether a text can be a body: it comes back as it is.
pub(super) fn is_body(text: &str) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.trim() == text
        && !text.contains(odd)
        && !text.lines().any(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "))
}

/// Whether a text of several lines can stand there line by line.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && text.trim() == text
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
        && !text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'))
}

fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Whether every reader of YAML takes it for just this text.
fn is_plain(text: &str) -> bool {
    let word = text.to_ascii_lowercase();
    let is_other = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&word.as_str());
    let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '/' || c == '.');
    let is_number = text.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    first
        && !is_other
        && !is_number
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.starts_with("---")
        && !text.contains(char::is_control)
}

fn read_scalar(text: &str) -> Result<String, String> {
    if text.starts_with('"') {
        return serde_json::from_str(text)
            .map_err(|error| format!("text in double quotes must be a JSON string ({error})"));
    }
    if text.starts_with(['[', '{', '\'', '&', '*', '!', '|', '>', '%', '@', '`', '#']) {
        return Err(String::from(
            "only plain text, text in double quotes, a block (`|-`) or a list with one `  - item` a line can stand \
             here",
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_page_reads_as_people_would_write_it() {
        let page = Page {
            fields: vec![
                (String::from("title"), Value::Text(String::from("Retries: three"))),
                (String::from("project"), Value::Text(String::from("api/side"))),
                (String::from("learned"), Value::Text(String::from("one\n\n  two"))),
                (String::from("facts"), Value::List(vec![String::from("a fact"), String::from("12")])),
            ],
            body: String::from("The body.\n\n---\nmore"),
        };
        let text = "---\ntitle: \"Retries: three\"\nproject: api/side\nlearned: |-\n  one\n\n    two\nfacts:\n  - a \
                    fact\n  - \"12\"\n---\n\nThe body.\n\n---\nmore\n";
        assert_eq!(page.write(), text);
        assert_eq!(Page::read(text), Ok(page.clone()));
        assert_eq!(Page::read(&text.replace('\n', "\r\n")), Ok(page));
    }

    #[test]
    fn what_is_not_ours_to_read_is_named_with_its_line() {
        for (text, told) in [
            ("---\ntitle: x\n", "no closing"),
            ("---\ntitle x\n---\n", "line 2"),
            ("---\ntags: [a, b]\n---\n", "line 2"),
            ("---\ntitle: a\ntitle: b\n---\n", "twice"),
            ("---\ntitle: \"a\n---\n", "double quotes"),
            ("---\ntitle: a\n---\n<<<<<<< HEAD\n", "unresolved"),
        ] {
            let why = Page::read(text).unwrap_err();
            assert!(why.contains(told), "{text}: {why}");
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(
            text in prop_oneof!["\\PC{0,20}", "[ a:#\\n\"\\\\|\\-\\t\\r]{0,12}", any::<String>()],
            items in prop::collection::vec(any::<String>(), 0..4),
        ) {
            let page = Page {
                fields: vec![
                    (String::from("a"), Value::Text(text.clone())),
                    (String::from("b"), Value::List(items)),
                ],
                body: if is_body(&text) { text } else { String::new() },
            };
            let is_empty = matches!(&page.fields[0].1, Value::Text(text) if text.is_empty());
            prop_assert!(is_empty || Page::read(&page.write()) == Ok(page.clone()), "{}", page.write());
        }
    }
}
