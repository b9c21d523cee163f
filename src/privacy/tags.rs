//! Text that the user or the client marked as not to be kept.

use std::borrow::Cow;

use memchr::memchr;

/// `private` is the user's; the others hold what a client or a memory tool put into the conversation.
const TAGS: &[&str] = &[
    "private",
    "claude-mem-context",
    "cmem-context",
    "system-reminder",
    "system_instruction",
    "system-instruction",
    "persisted-output",
];

/// Removing a tag may join the halves of another; more rounds than this are an attack, which loses its rest.
const MAX_ROUNDS: usize = 8;

struct Tag {
    name: &'static str,
    closing: bool,
    empty: bool,
    end: usize,
}

/// Removes marked text with its tags: nested by depth, an unclosed tag to the end of the text, a stray
/// closing tag alone. What is left is trimmed if anything was removed. Each round is one linear scan.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    let Some(first) = strip_once(text) else { return Cow::Borrowed(text) };
    let mut current = first;
    for _ in 0..MAX_ROUNDS {
        match strip_once(&current) {
            Some(next) => current = next,
            None => return Cow::Owned(current.trim().to_owned()),
        }
    }
    Cow::Owned(String::new())
}

/// One scan; `None` when there is nothing to remove.
fn strip_once(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut kept = String::new();
    let mut changed = false;
    // Start of the text not yet copied, and the open tag with its depth while inside one.
    let (mut from, mut hidden): (usize, Option<(&str, usize)>) = (0, None);
    let mut at = 0;
    while let Some(offset) = memchr(b'<', &bytes[at..]) {
        let start = at + offset;
        let Some(tag) = tag_at(bytes, start) else {
            at = start + 1;
            continue;
        };
        at = tag.end;
        match &mut hidden {
            None => {
                kept.push_str(&text[from..start]);
                from = tag.end;
                changed = true;
                if !tag.closing && !tag.empty {
                    hidden = Some((tag.name, 1));
                }
            }
            Some((name, depth)) if *name == tag.name && !tag.empty => {
                *depth = if tag.closing { *depth - 1 } else { *depth + 1 };
                if *depth == 0 {
                    hidden = None;
                    from = tag.end;
                }
            }
            Some(_) => {}
        }
    }
    if !changed {
        return None;
    }
    if hidden.is_none() {
        kept.push_str(&text[from..]);
    }
    Some(kept)
}

/// The tag that starts at a `<`, if it is one of ours. A tag cut off before its `>` reaches to the end.
fn tag_at(bytes: &[u8], start: usize) -> Option<Tag> {
    let mut at = start + 1;
    let closing = bytes.get(at) == Some(&b'/');
    at += usize::from(closing);
    let rest = &bytes[at..];
    let name = TAGS.iter().find(|name| {
        rest.len() >= name.len()
            && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && rest.get(name.len()).is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/'))
    })?;
    at += name.len();
    let mut quote = None;
    while let Some(&byte) = bytes.get(at) {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'>' => {
                let empty = bytes[at - 1] == b'/';
                return Some(Tag { name, closing, empty, end: at + 1 });
            }
            None if matches!(byte, b'"' | b'\'') => quote = Some(byte),
            None => {}
        }
        at += 1;
    }
    Some(Tag { name, closing, empty: false, end: bytes.len() })
}

/// Whether a prompt held marked text and nothing else.
pub fn is_wholly_private(prompt: &str) -> bool {
    matches!(strip(prompt), Cow::Owned(rest) if rest.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn table() {
        for (text, expected) in [
            ("public content <private>x</private> more public", "public content  more public"),
            ("public\n<private>a\nb</private>\nend", "public\n\nend"),
            ("<private>pw</private> Please help", "Please help"),
            ("a <private>1<private>2</private>3</private> b", "a  b"),
            ("text <private>rest", "text"),
            ("text </private> rest", "text  rest"),
            ("a <PRIVATE reason=\"x>y\">1</Private > b", "a  b"),
            ("a <private/> b", "a  b"),
            ("<system-reminder>a <claude-mem-context>b</claude-mem-context> c</system-reminder>d", "d"),
            ("<pri<private></private>vate>secret</private>", ""),
            ("cut <private", "cut"),
            ("a <privateer> b <p> 1 < 2", "a <privateer> b <p> 1 < 2"),
            ("<persisted-output>x</persisted-output><system_instruction>y</system_instruction>z", "z"),
        ] {
            assert_eq!(strip(text), expected, "{text}");
        }
    }

    #[test]
    fn only_a_prompt_of_nothing_else_is_wholly_private() {
        assert!(is_wholly_private(" <private>x</private>\n"));
        assert!(is_wholly_private("<private>x"));
        assert!(!is_wholly_private("<private>x</private> go"));
        assert!(!is_wholly_private(""));
    }

    proptest! {
        #[test]
        fn stripping_is_final_and_nothing_marked_survives(parts in prop::collection::vec(
            prop::sample::select(vec!["<private>", "</private>", "SECRET", "<system-reminder>", "</system-reminder>", " x ", "<"]), 0..30)
        ) {
            let text = parts.concat();
            let once = strip(&text).into_owned();
            prop_assert_eq!(&strip(&once), &once);
            let marked = format!("{once}<private>SECRET-2</private>");
            prop_assert!(!strip(&marked).contains("SECRET-2"));
        }
    }
}
