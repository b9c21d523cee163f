//! Text on one line.

/// Most characters of a signature or a name.
const LONGEST: usize = 160;

/// One line without runs of blanks, cut where it is too long.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::new();
    let mut left = LONGEST;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            if left == 0 {
                return cut(out);
            }
            out.push(' ');
            left -= 1;
        }
        for c in word.chars() {
            if left == 0 {
                return cut(out);
            }
            out.push(c);
            left -= 1;
        }
    }
    out
}

fn cut(mut text: String) -> String {
    text.pop();
    text.push('…');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_ends_with_a_mark() {
        assert_eq!(one_line(" a\r\n\t b "), "a b");
        let long = one_line(&"word ".repeat(100_000));
        assert!(long.ends_with('…') && long.chars().count() == 160, "{long}");
        assert_eq!(one_line(&"x".repeat(160)), "x".repeat(160));
    }
}
