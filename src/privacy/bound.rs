//! How much of what was observed is kept: enough for an observer, bounded whatever comes in.

use unicode_segmentation::UnicodeSegmentation;

/// Longest string kept, in characters. A longer one keeps its head and its tail, where commands and errors
/// say what matters.
pub const MAX_CHARS: usize = 16_000;
const HEAD_CHARS: usize = 9_500;
const TAIL_CHARS: usize = 6_300;

/// Text around the kept parts that is redacted with them, so that nothing that straddles a cut leaves a half.
const MARGIN_BYTES: usize = 64 * 1024;

/// Most bytes of strings in one event.
pub(super) const MAX_EVENT_BYTES: usize = 256 * 1024;
/// Most entries kept of one array or object.
pub(super) const MAX_ENTRIES: usize = 1_000;
/// Deepest nesting kept.
pub(super) const MAX_DEPTH: usize = 64;

/// Applies `redact` and cuts to [`MAX_CHARS`], touching only the parts that are kept.
pub(super) fn redact_and_cut(text: &str, redact: impl Fn(&str) -> String) -> String {
    let window = |chars: usize| chars * 4 + MARGIN_BYTES;
    if text.len() <= window(HEAD_CHARS) + window(TAIL_CHARS) {
        return cut(&redact(text));
    }
    let head = redact(&text[..floor(text, window(HEAD_CHARS))]);
    let tail_from = floor(text, text.len() - window(TAIL_CHARS));
    let tail = whole_lines(&text[tail_from..]).map(&redact).unwrap_or_default();
    join(&head, &tail, text.len())
}

fn cut(text: &str) -> String {
    // Bytes bound characters from above, and counting is only needed above the bound.
    if text.len() <= MAX_CHARS || text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    join(text, text, text.len())
}

fn join(head: &str, tail: &str, bytes: usize) -> String {
    let (head, tail) = (first_chars(head, HEAD_CHARS), last_chars(tail, TAIL_CHARS));
    format!("{head}\n[elided: the middle of {bytes} bytes]\n{tail}")
}

/// The text after the first line break, else after the first blank, within the margin: a value that began
/// before the window is not seen as one and must not be shown in part.
fn whole_lines(window: &str) -> Option<&str> {
    let margin = &window[..floor(window, MARGIN_BYTES)];
    let at = margin.find('\n').or_else(|| margin.find(' '))?;
    Some(&window[at + 1..])
}

fn first_chars(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        None => text,
        Some((end, _)) => {
            let start = floor(text, end.saturating_sub(256));
            let whole = text[start..].grapheme_indices(true).map(|(at, _)| start + at);
            &text[..whole.take_while(|at| *at <= end).last().unwrap_or(end)]
        }
    }
}

fn last_chars(text: &str, count: usize) -> &str {
    let Some((from, _)) = text.char_indices().rev().nth(count.saturating_sub(1)) else { return text };
    let mut starts = text[from..].grapheme_indices(true).map(|(at, _)| from + at);
    // The first cluster of the slice may be the rest of one.
    &text[if from == 0 { 0 } else { starts.nth(1).unwrap_or(text.len()) }..]
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_and_long_ones_keep_both_ends() {
        let keep = |text: &str| redact_and_cut(text, str::to_owned);
        assert_eq!(keep("short"), "short");
        let long = format!("HEAD {} TAIL", "x ".repeat(30_000));
        let kept = keep(&long);
        assert!(kept.starts_with("HEAD ") && kept.ends_with(" TAIL") && kept.contains("[elided: "));
        assert!(kept.chars().count() <= MAX_CHARS);
        assert_eq!(keep(&kept), kept);
    }

    #[test]
    fn a_huge_text_is_cut_on_whole_clusters() {
        let kept = redact_and_cut(&"👩‍💻".repeat(300_000), str::to_owned);
        assert!(kept.chars().count() <= MAX_CHARS);
        let clusters: Vec<&str> = kept.graphemes(true).filter(|g| !g.is_ascii()).collect();
        assert!(clusters.iter().all(|g| *g == "👩‍💻"));
    }

    #[test]
    fn a_value_that_straddles_the_edge_of_a_window_is_not_shown_in_part() {
        let text = format!("{}{}", "a b\n".repeat(100_000), "Z".repeat(MARGIN_BYTES + 90_000));
        let kept = redact_and_cut(&text, str::to_owned);
        assert!(!kept.contains('Z'));
    }
}
