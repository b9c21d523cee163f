//! Ruby without heredocs: its grammar keeps their words in 1,024 bytes beside the strings that are open, writes one
//! byte behind them, and that ends the process. No item lies in one.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The same text, as long in every line, with a string where a heredoc begins and blanks where its text stands. What
/// looks like the beginning of one and has no end becomes another operator.
pub(super) fn blanked(text: &str) -> Cow<'_, str> {
    if !text.contains("<<") {
        return Cow::Borrowed(text);
    }
    // Where each word stands alone on a line for the last time.
    let ends: HashMap<&str, usize> = text.lines().enumerate().map(|(row, line)| (line.trim(), row)).collect();
    let mut out = String::with_capacity(text.len());
    let mut open: VecDeque<&str> = VecDeque::new();
    for (row, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        if let Some(word) = open.front() {
            if bare.trim() == *word {
                open.pop_front();
            }
            out.extend(std::iter::repeat_n(' ', bare.len()));
        } else {
            let is_comment = bare.trim_start().starts_with('#');
            let ends_below = |word: &str| !is_comment && ends.get(word).is_some_and(|end| *end > row);
            open = begun(bare, ends_below, &mut out);
        }
        out.push_str(&line[bare.len()..]);
    }
    Cow::Owned(out)
}

/// Writes a line without the beginnings of heredocs, and tells the words of those that have an end.
fn begun<'a>(line: &'a str, has_end: impl Fn(&str) -> bool, out: &mut String) -> VecDeque<&'a str> {
    let mut words = VecDeque::new();
    let mut rest = line;
    while let Some(at) = rest.find("<<") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        rest = match beginning(from) {
            None => {
                out.push('<');
                &from[1..]
            }
            Some((word, length)) if has_end(word) => {
                words.push_back(word);
                out.push('"');
                out.extend(std::iter::repeat_n('_', length - 2));
                out.push('"');
                &from[length..]
            }
            Some(_) => {
                out.push_str("+ ");
                &from[2..]
            }
        };
    }
    out.push_str(rest);
    words
}

/// The word of a heredoc that begins here, and how long its beginning is.
fn beginning(from: &str) -> Option<(&str, usize)> {
    let rest = &from[2..];
    let rest = rest.strip_prefix(['-', '~']).unwrap_or(rest);
    let before = from.len() - rest.len();
    if let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() {
        // A word without an end on this line is none that anybody would write.
        let word = rest[1..].split(quote).next().unwrap_or_default();
        return Some((word, (before + word.len() + 2).min(from.len())));
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    (length > 0).then(|| (&rest[..length], before + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_heredocs_are_blank_and_everything_else_stays_where_it_is() {
        for (text, expected) in [
            ("a = 1\n", "a = 1\n"),
            ("a << b\nclass << self\n", "a << b\nclass << self\n"),
            ("x = <<~SQL\n  SELECT é\n  SQL\ny\n", "x = \"____\"\n           \n     \ny\n"),
            (
                "f(<<A, <<-'B C')\r\na\r\nA\r\nb\r\n B C\r\nz",
                "f(\"_\", \"______\")\r\n \r\n \r\n \r\n    \r\nz",
            ),
            ("list <<item\n# <<A\nA\n", "list + item\n# + A\nA\n"),
            ("<<<A\nA\n", "<\"_\"\n \n"),
            ("x = <<\"A\nA\n", "x = \"__\"\n \n"),
            ("x = <<'", "x = + '"),
        ] {
            let out = blanked(text);
            assert_eq!(out, expected, "{text:?}");
            assert_eq!(out.len(), text.len(), "{text:?}");
        }
    }
}
