//! JSON with comments and trailing commas, as some agents read it.

/// The text with blanks in the place of comments and trailing commas, byte by byte; line ends stay.
pub(super) fn blanked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at = after_string(&bytes, at);
            comma = None;
            continue;
        }
        if let Some(comment) = comment_end(text, at) {
            bytes[at..comment]
                .iter_mut()
                .filter(|byte| !matches!(byte, b'\n' | b'\r'))
                .for_each(|byte| *byte = b' ');
            at = comment;
            continue;
        }
        match bytes[at] {
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Whole characters were replaced by blanks.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Where the comma stands that follows a value which ends at `at`, behind whatever comments.
pub(super) fn comma_after(text: &str, at: usize) -> Option<usize> {
    let at = skip(text, at, |byte| byte.is_ascii_whitespace());
    (text.as_bytes().get(at) == Some(&b',')).then_some(at)
}

/// Where the last of the comments ends that begin in the line behind `at`; `at` itself without any.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let end = skip(text, at, |byte| matches!(byte, b' ' | b'\t'));
    at + text[at..end].trim_end().len()
}

/// Whether nothing but comments follows in the line.
pub(super) fn is_rest_of_line(text: &str, at: usize) -> bool {
    text[line_end(text, at)..].trim_start_matches([' ', '\t', '\r']).starts_with('\n')
}

/// Over comments and what else may be skipped.
fn skip(text: &str, start: usize, may: impl Fn(u8) -> bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match comment_end(text, at) {
            Some(end) => at = end,
            None if may(*byte) => at += 1,
            None => break,
        }
    }
    at
}

/// The end of the comment that begins at `at`; a line's end is no part of it.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if rest.starts_with("//") {
        let line = rest.split('\n').next().unwrap_or(rest);
        return Some(at + line.len());
    }
    let inner = rest.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |end| at + end + 4))
}

fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::blanked;

    #[test]
    fn comments_and_trailing_commas_are_no_part_of_the_value() {
        let text =
            "{ // ünïcode, \"no\"\n  \"a\": \"// no, /* no */ ,]\", /* x\n y */ \"b\": [1, 2, // two\n ], }";
        let plain = blanked(text);
        assert_eq!(plain.len(), text.len());
        let value: Value = serde_json::from_str(&plain).unwrap();
        assert_eq!(value, json!({"a": "// no, /* no */ ,]", "b": [1, 2]}));
        for odd in ["/", "/*", "//", "\"", "\"\\", ",", ",]", "{\"a\": 1, /"] {
            assert_eq!(blanked(odd).len(), odd.len(), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length(text in "[/*\\\\\",\\]\\[{}\n aé🚀]{0,60}") {
            prop_assert_eq!(blanked(&text).len(), text.len());
        }
    }
}
