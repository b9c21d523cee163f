//! JSON with comments and trailing commas, as some agents read it.

/// The text with blanks in the place of comments and trailing commas, byte by byte; line ends stay.
pub(super) fn blanked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        let comment = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = after_string(&bytes, at);
                comma = None;
                continue;
            }
            (b'/', Some(b'/')) => text[at..].find('\n').map_or(bytes.len(), |end| at + end),
            (b'/', Some(b'*')) => text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4),
            _ => at,
        };
        if comment > at {
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
