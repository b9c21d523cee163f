//! Bounding and flattening of text. Every cut is between characters.

use unicode_segmentation::UnicodeSegmentation;

/// The first `max` characters.
pub(super) fn head(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// The last `max` characters.
fn tail(text: &str, max: usize) -> &str {
    match max.checked_sub(1).and_then(|last| text.char_indices().nth_back(last)) {
        Some((at, _)) => &text[at..],
        None if max == 0 => "",
        None => text,
    }
}

/// At most `max` characters of content: two thirds from the head, one third from the tail, and a note of what
/// is missing between them.
pub(super) fn elide(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count <= max {
        return text.to_owned();
    }
    let front = max - max / 3;
    let (front, back) = (head(text, front), tail(text, max / 3));
    format!("{front}\n[… {} of {count} characters left out …]\n{back}", count - max)
}

/// White space and control characters become single spaces.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Cuts one line to at most `max` characters, between words where the script has them; `…` marks the cut.
pub(crate) fn shorten(line: &str, max: usize) -> String {
    if line.chars().count() <= max {
        return line.to_owned();
    }
    let room = head(line, max.saturating_sub(1));
    let cut = match room.rfind(' ') {
        Some(at) if at * 2 > room.len() => &room[..at],
        _ => room,
    };
    format!("{}…", cut.trim_end_matches([' ', ',', ';', ':', '.', '-', '(', '，', '、', '。', '；', '：']))
}

/// Longest title that is taken from a text, in characters.
const MAX_OWN_TITLE: usize = 100;

/// A title for a text: its first sentence or line, whichever ends first, without marks of a heading or a list.
pub(crate) fn title_of(text: &str) -> String {
    let bare = |line| one_line(line).trim_start_matches(['#', '-', '*', '>', ' ']).to_owned();
    let line = text.lines().map(bare).find(|line| !line.is_empty()).unwrap_or_else(|| one_line(text));
    let sentence = line.unicode_sentences().next().unwrap_or(&line);
    shorten(sentence.trim().trim_end_matches(['.', '。']), MAX_OWN_TITLE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elision_keeps_both_ends_and_says_how_much_is_gone() {
        let text = format!("HEAD{}TAIL", "x".repeat(60_000));
        let short = elide(&text, 16_000);
        assert!(short.starts_with("HEAD") && short.ends_with("TAIL"));
        assert!(short.contains("[… 44008 of 60008 characters left out …]"));
        assert!(short.chars().count() < 16_100);
        assert_eq!(elide("small", 16_000), "small");
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(shorten("one two three four", 12), "one two…");
        assert_eq!(shorten("登录接口在网关校验令牌", 6), "登录接口在…");
        assert_eq!(shorten("short", 12), "short");
    }

    proptest! {
        #[test]
        fn nothing_grows_past_its_limit(text in "\\PC{0,200}", max in 0usize..60) {
            prop_assert!(head(&text, max).chars().count() <= max);
            prop_assert!(tail(&text, max).chars().count() <= max);
            prop_assert!(shorten(&text, max.max(1)).chars().count() <= max.max(1));
            prop_assert!(!one_line(&text).contains("  "));
            elide(&text, max);
        }
    }
}
