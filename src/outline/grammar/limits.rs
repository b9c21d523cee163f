//! What may not be given to a grammar: some keep their state in 1,024 bytes and write on behind them, which ends the
//! process. Estimated from the text, rather too much than too little.

/// Python keeps two bytes for each indentation, and up to 255 more.
const PYTHON: usize = 350;
/// YAML keeps four bytes for each.
const YAML: usize = 240;
/// Ruby keeps five bytes for each string around, and each heredoc whose text is still to come with its word.
const RUBY: usize = 1_000;
/// The length of such a word is kept in one byte.
const RUBY_WORD: usize = 250;

/// Whether a text is nested so little that its grammar can be used.
pub(super) fn fit(language: &str, text: &str) -> bool {
    match language {
        "python" => text.lines().all(|line| indentation(line) <= PYTHON),
        "yaml" => text.lines().all(|line| indentation(line) + indicators(line) <= YAML),
        "ruby" => ruby_state(text) <= RUBY,
        _ => true,
    }
}

/// Columns before the first sign; no more indentations can be open on a line.
fn indentation(line: &str) -> usize {
    let blanks = line.bytes().take_while(u8::is_ascii_whitespace);
    blanks.map(|blank| if blank == b'\t' { 8 } else { 1 }).sum()
}

/// What can open a block within a line.
fn indicators(line: &str) -> usize {
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = line.as_bytes();
    let opens = |at: &usize| matches!(bytes[*at], b'-' | b'?' | b':') && is_end(bytes.get(at + 1));
    (0..bytes.len()).filter(opens).count()
}

/// How many bytes the state can take, from the deepest `#{`, the most `<<` on a line and the longest word behind one.
fn ruby_state(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut heredocs, mut most, mut longest) = (0, 0, 0);
    let bytes = text.as_bytes();
    for at in 0..bytes.len() {
        match bytes[at..] {
            [b'\n', ..] => heredocs = 0,
            [b'#', b'{', ..] => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            [b'}', ..] => depth = depth.saturating_sub(1),
            [b'<', b'<', ref rest @ ..] => {
                let word = word_length(rest);
                heredocs += usize::from(word > 0);
                most = most.max(heredocs);
                longest = longest.max(word);
            }
            _ => {}
        }
    }
    if longest > RUBY_WORD {
        return usize::MAX;
    }
    2 + 5 * deepest + (deepest + 1) * most * (4 + longest)
}

/// A word in quotes may go on over several lines.
fn word_length(rest: &[u8]) -> usize {
    let rest = rest.strip_prefix(b"-").or(rest.strip_prefix(b"~")).unwrap_or(rest);
    match rest.first() {
        Some(quote @ (b'"' | b'\'' | b'`')) => rest[1..].iter().take_while(|byte| *byte != quote).count() + 1,
        _ => rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || !byte.is_ascii())
            .count(),
    }
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
            ("ruby", "x = <<~SQL + \"#{a} #{b}\"\n  text\nSQL\nlist << item\n".repeat(500), true),
            ("ruby", format!("x = <<{}\n", "A".repeat(1_019)), false),
            ("ruby", format!("x = <<'a\n{}'\n", "b\n".repeat(130)), false),
            ("ruby", "\"#{".repeat(300), false),
            ("ruby", "f(<<A, <<A, <<A, <<A)\n".replace("<<A", &"<<'A B', ".repeat(40)), false),
            ("rust", nested("fn", 1_000), true),
        ] {
            assert_eq!(fit(language, &text), expected, "{language}: {}", &text[..text.len().min(60)]);
        }
    }
}
