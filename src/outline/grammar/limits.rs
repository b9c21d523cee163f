//! What may not be given to a grammar: some keep their state in 1,024 bytes and write on behind them, which ends the
//! process. Estimated from the text, rather too much than too little.

/// Python keeps two bytes for each indentation, and up to 255 more.
const PYTHON: usize = 350;
/// YAML keeps four bytes for each; at one column a map and a sequence can open.
const YAML: usize = 240;

/// Whether a text is nested so little that its grammar can be used.
pub(super) fn fit(language: &str, text: &str) -> bool {
    let is_shallow = |line: &str| 2 * indentation(line) + indicators(line) <= YAML;
    match language {
        "python" => deepest(text) <= PYTHON,
        "yaml" => text.split(['\n', '\r']).all(is_shallow),
        _ => true,
    }
}

/// Most columns before the first sign of a line of Python, a line that only goes on with `\` counted into the next one.
/// Each indentation is larger than the one around it, so that no more of them can be open.
fn deepest(text: &str) -> usize {
    let (mut deepest, mut columns) = (0, Some(0));
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        columns = match (byte, columns) {
            // Its grammar takes a comment to end at a zero, too.
            (b'\n' | b'\r' | b'\x0c' | 0, _) => Some(0),
            (b' ', Some(columns)) => Some(columns + 1),
            (b'\t', Some(columns)) => Some(columns + 8),
            (b'\\', Some(_)) => {
                bytes.next_if_eq(&b'\r');
                bytes.next_if_eq(&b'\n');
                columns
            }
            _ => None,
        };
        deepest = deepest.max(columns.unwrap_or_default());
    }
    deepest
}

/// Columns before the first sign.
fn indentation(line: &str) -> usize {
    let blanks = line.bytes().take_while(u8::is_ascii_whitespace);
    blanks.map(|blank| if blank == b'\t' { 8 } else { 1 }).sum()
}

/// What can open a block within a line.
fn indicators(line: &str) -> usize {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == 0 || byte.is_ascii_whitespace());
    let bytes = line.as_bytes();
    let opens = |at: &usize| match bytes[*at] {
        b'-' | b'?' | b':' => is_end(bytes.get(at + 1)),
        b'|' | b'>' => {
            is_end(bytes.get(at + 1)) || bytes[at + 1].is_ascii_digit() || b"+-".contains(&bytes[at + 1])
        }
        _ => false,
    };
    (0..bytes.len()).filter(opens).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_fits_and_what_ends_a_scanner_does_not() {
        let nested = |line: &str, many: usize| {
            (0..many).map(|n| format!("{}{line}\n", " ".repeat(n))).collect::<String>()
        };
        for (language, text, expected) in [
            ("yaml", nested("a:", 100), true),
            ("yaml", nested("a:", 300), false),
            ("yaml", "- ".repeat(300), false),
            ("yaml", "a: https://example.org/a-b?c:d\n".repeat(1_000), true),
            ("python", nested("if a:", 300), true),
            ("python", nested("if a:", 400), false),
            ("python", "\t".repeat(50), false),
            ("yaml", nested("k:\n-", 50), true),
            ("yaml", (0..127).map(|n| format!("{0}k:\n{0}-\n", " ".repeat(n))).collect(), false),
            ("yaml", format!("a:\r{}b:", " ".repeat(130)), false),
            ("yaml", "| ".repeat(300), false),
            ("python", format!("if a:\n{}b\n", format!("{}\\\n", " ".repeat(300)).repeat(3)), false),
            ("python", format!("if a:\n{}b\n", format!("{}\\\r\n", " ".repeat(300)).repeat(3)), false),
            ("python", format!("a = \\\n{}b\n{}# c\n", " ".repeat(300), "x\t".repeat(300)), true),
            ("rust", nested("fn", 1_000), true),
        ] {
            assert_eq!(fit(language, &text), expected, "{language}: {}", &text[..text.len().min(60)]);
        }
    }
}
