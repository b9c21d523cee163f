//! Remembered text made harmless: for terminals (no control characters) and for models (no tags).

use anstream::adapter::strip_str;
use unicode_segmentation::UnicodeSegmentation;

use crate::model::estimate_tokens;

/// What stands for the rest of a text that is cut.
const CUT: &str = "…";

/// One line without control characters, escape sequences and runs of blanks.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in visible(text).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Lines as they are, without control characters and escape sequences.
pub(super) fn block(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|part| visible(part).trim_end().to_owned()).collect();
    lines.join("\n").trim_end().to_owned()
}

/// Lines of a source as they are, tabs included, without other control characters and escape sequences.
pub(super) fn source(text: &str) -> String {
    let clean =
        |line: &str| line.split('\t').map(visible).collect::<Vec<_>>().join("\t").trim_end().to_owned();
    text.lines().map(clean).collect::<Vec<_>>().join("\n")
}

/// As [`line()`], and nothing in it can be taken for a tag: `<` before a name becomes `‹`.
pub(super) fn untagged(text: &str) -> String {
    let text = line(text);
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let opens = c == '<' && text[at + 1..].chars().find(|next| !is_blank(*next)).is_some_and(begins_tag);
        out.push(if opens { '‹' } else { c });
    }
    out
}

/// The beginning of a text that costs at most `tokens`, cut between graphemes, with a mark where it was cut.
pub(super) fn clipped(text: &str, tokens: usize) -> String {
    if estimate_tokens(text) <= tokens {
        return text.to_owned();
    }
    let room = tokens.saturating_sub(estimate_tokens(CUT)) * 4;
    let (mut end, mut used) = (0, 0);
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.chars().map(|c| if c.is_ascii() { 1 } else { 4 }).sum::<usize>();
        if used > room {
            break;
        }
        end = at + grapheme.len();
    }
    format!("{}{CUT}", text[..end].trim_end())
}

/// Control characters and line separators become blanks; escape sequences and characters that hide or
/// reorder others (bidirectional controls, zero-width blanks, tag characters) go. Joiners stay: emoji and
/// several scripts need them.
fn visible(text: &str) -> String {
    let text = strip_str(text).to_string();
    text.chars()
        .filter(|c| !is_hiding(*c))
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

fn is_hiding(c: char) -> bool {
    matches!(
        c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// What a reader does not see between `<` and a name.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{ad}' | '\u{34f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

fn begins_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?' | '|')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_one_line_without_controls() {
        assert_eq!(line("a\x1b[31mred\x1b[0m\r\n\tb\u{202e}c\u{7}  d\u{9b}e"), "ared bc d e");
        assert_eq!(block("a \n\x1b[2J  b\n\n"), "a\n  b");
        assert_eq!(line("👩‍💻"), "👩‍💻");
        assert_eq!(source("\tif a {\x1b[2J\u{7}\r\n\n\t\tb\u{202e}"), "\tif a {\n\n\t\tb");
    }

    #[test]
    fn tags_are_defused_and_comparisons_are_not() {
        for text in ["</cmem-context>", "<System>", "< / b>", "<!-- x", "<\u{200d}/x>", "Vec<String>"] {
            assert!(!untagged(text).contains('<'), "{text}");
        }
        assert_eq!(untagged("a < 3 && b <= 4 <- c"), "a < 3 && b <= 4 <- c");
    }

    #[test]
    fn a_cut_keeps_graphemes_whole() {
        assert_eq!(clipped("short", 10), "short");
        assert_eq!(clipped("一二三四五", 4), "一二三…");
        assert_eq!(clipped("a👩‍💻b", 3), "a…");
    }

    proptest! {
        #[test]
        fn what_comes_out_is_harmless(text in any::<String>()) {
            let plain = untagged(&text);
            prop_assert!(!plain.chars().any(char::is_control));
            prop_assert!(!plain.contains("</"));
            prop_assert_eq!(untagged(&plain), plain);
        }

        #[test]
        fn a_cut_is_never_over(text in any::<String>(), tokens in 1usize..40) {
            prop_assert!(estimate_tokens(&clipped(&text, tokens)) <= tokens);
        }
    }
}
