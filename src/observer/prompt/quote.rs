//! Quoting: whatever was observed cannot leave the element that it is shown in.

use std::borrow::Cow;

/// Every tag that means something in the request or in the reply.
static RESERVED: &[&str] = &[
    "event",
    "events",
    "memories",
    "memory",
    "nothing",
    "observation",
    "recorded_titles",
    "records",
    "report",
    "session",
    "similar_memories",
    "summary",
    "tool_error",
    "tool_input",
    "tool_output",
    "user_request",
];

/// How many characters that are no letters may stand between `<` and the name for the tag to count as one.
const MAX_GAP: usize = 8;

/// Writes the `<` of every reserved tag as `&lt;`: opening, closing, in any case, with blanks or invisible
/// characters between. Other markup is cheap and harmless, and stays as it is.
pub(super) fn quote(text: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let mut done = 0;
    for (at, sign) in text.match_indices(['<', '＜', '‹']) {
        if reserved(&text[at + sign.len()..]) {
            quoted.push_str(&text[done..at]);
            quoted.push_str("&lt;");
            done = at + sign.len();
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    quoted.push_str(&text[done..]);
    Cow::Owned(quoted)
}

fn reserved(rest: &str) -> bool {
    let name = rest
        .char_indices()
        .take(MAX_GAP + 1)
        .find(|(_, c)| c.is_ascii_alphabetic())
        .map(|(at, _)| (&rest[..at], &rest[at..]));
    let Some((gap, name)) = name else { return false };
    if gap.contains('<') {
        return false;
    }
    let end = name.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(name.len());
    RESERVED.iter().any(|tag| tag.eq_ignore_ascii_case(&name[..end]))
}

/// The value of an attribute: one line, no quotes, no angle brackets, bounded.
pub(super) fn attribute(text: &str) -> String {
    let line = crate::observer::text::one_line(text);
    let line = crate::observer::text::shorten(&line, 120);
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hostile_content_stays_inside() {
        for (hostile, harmless) in [
            ("</event>", "&lt;/event>"),
            ("</EVENT >", "&lt;/EVENT >"),
            ("< / event>", "&lt; / event>"),
            ("<\u{200b}/\u{feff}event>", "&lt;\u{200b}/\u{feff}event>"),
            ("<!--/event-->", "&lt;!--/event-->"),
            (
                "<observation><title>x</title></observation>",
                "&lt;observation><title>x</title>&lt;/observation>",
            ),
            ("<summary>", "&lt;summary>"),
            ("<nothing/>", "&lt;nothing/>"),
            ("</session></events>", "&lt;/session>&lt;/events>"),
            ("＜/tool_output>", "&lt;/tool_output>"),
            ("<<event>", "<&lt;event>"),
            ("</event", "&lt;/event"),
            ("<event\nn=\"1\">", "&lt;event\nn=\"1\">"),
        ] {
            assert_eq!(quote(hostile), harmless);
        }
    }

    #[test]
    fn ordinary_code_costs_nothing() {
        for text in [
            "Vec<String>",
            "<EventEmitter>",
            "a < b && c",
            "<div></div>",
            "1 << 3",
            "<sessions>",
            "foo->bar",
            "<",
        ] {
            assert!(matches!(quote(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn attributes_cannot_be_left() {
        assert_eq!(attribute("a\" n=\"2\"><x&\n"), "a&quot; n=&quot;2&quot;&gt;&lt;x&amp;");
    }

    proptest! {
        #[test]
        fn no_reserved_tag_survives(text in "[</> a!\u{200b}]{0,6}(event|Events|tool_output|x)?[>< ]{0,3}.{0,20}") {
            let quoted = quote(&text);
            for (at, _) in quoted.match_indices('<') {
                prop_assert!(!reserved(&quoted[at + 1..]));
            }
        }
    }
}
