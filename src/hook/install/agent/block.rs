//! Lines of ours in a text of the user, between two markers.

/// What begins the block.
pub(super) const OPEN: &str = "<!-- cmem: begin -->";
/// What ends it.
const CLOSE: &str = "<!-- cmem: end -->";
/// What a block should be.
pub(super) const CLOSED: &str = "followed by `<!-- cmem: end -->`";

/// Whether the text has a block.
pub(super) fn holds(text: &str) -> bool {
    place(text).is_some()
}

/// Whether a block lost its end: what stands below its beginning may be anybody's.
pub(super) fn is_torn(text: &str) -> bool {
    text.split(OPEN).skip(1).any(|block| !block.contains(CLOSE))
}

/// The text with this block at the place of the one it has, else at its end; `None` = without one.
pub(super) fn with(text: &str, block: Option<&str>) -> String {
    let block = block.map(|block| format!("{OPEN}\n{block}{CLOSE}\n")).unwrap_or_default();
    match place(text) {
        Some((start, end)) if block.is_empty() => {
            // The blank line that was put before it goes with it.
            let before = text[..start].strip_suffix("\n\n").map(|before| format!("{before}\n"));
            before.unwrap_or_else(|| text[..start].to_owned()) + &text[end..]
        }
        Some((start, end)) => format!("{}{block}{}", &text[..start], &text[end..]),
        None if block.is_empty() || text.is_empty() => format!("{text}{block}"),
        None => format!("{text}{}\n{block}", if text.ends_with('\n') { "" } else { "\n" }),
    }
}

/// From the first marker to the end of the line of the second.
fn place(text: &str) -> Option<(usize, usize)> {
    let first = text.find(OPEN)?;
    let close = first + text[first..].find(CLOSE)?;
    let start = text[..close].rfind(OPEN)?;
    let close = close + CLOSE.len();
    let end = if text[close..].starts_with('\n') { close + 1 } else { close };
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_stays_and_goes() {
        for text in ["", "# Mine\n", "# Mine\n\nno line end", "a\n\n"] {
            let once = with(text, Some("one\n"));
            assert_eq!(with(&once, Some("one\n")), once);
            let other = with(&once, Some("two\n"));
            assert!(other.contains("two\n") && !other.contains("one\n"));
            let gone = with(&other, None);
            assert_eq!(gone.trim_end(), text.trim_end());
            assert_eq!(with(&gone, None), gone);
        }
        let between = format!("a\n\n{OPEN}\nx\n{CLOSE}\nb\n");
        assert_eq!(with(&between, None), "a\nb\n");
        assert!(!is_torn(&between) && !is_torn("") && !is_torn(CLOSE));
        let torn = format!("{OPEN}\nx\nmine\n{between}");
        assert!(is_torn(&torn) && is_torn(OPEN));
        assert_eq!(with(&torn, None), format!("{OPEN}\nx\nmine\na\nb\n"));
    }
}
