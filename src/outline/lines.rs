//! The outline of a text that no grammar reads: the lines that open something.

use super::Item;
use super::scan::one_line;

const KIND: &str = "line";
/// Fewer of them are no outline.
const FEWEST: usize = 3;
/// More are too many to be one.
const MOST: usize = 200;
/// Where no lines stand out, so many are listed, at equal distances ...
const SAMPLES: usize = 40;
/// ... of this many lines at least.
const STEP: usize = 25;

/// Lines at the left edge that have something below them, or a blank line above; where these are too few or too many to
/// tell anything, every so many lines the first that is not blank. Each goes on to the next.
pub(super) fn headings(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let mut at: Vec<usize> = (0..lines.len()).filter(|at| opens(&lines, *at)).collect();
    if !(FEWEST..=MOST).contains(&at.len()) {
        let step = lines.len().div_ceil(SAMPLES).max(STEP);
        let is_seen =
            |start: usize| (start..(start + step).min(lines.len())).find(|at| !is_blank(lines[*at]));
        at = (0..lines.len()).step_by(step).filter_map(is_seen).collect();
    }
    let ends = at.iter().skip(1).copied().chain([lines.len()]);
    at.iter()
        .zip(ends)
        .map(|(&first, end)| {
            let last = (first..end).rev().find(|at| !is_blank(lines[*at])).unwrap_or(first);
            let text = one_line(lines[first]);
            Item {
                kind: KIND,
                name: text.clone(),
                path: text.clone(),
                depth: 0,
                signature: text,
                from_line: first + 1,
                first_line: first + 1,
                last_line: last + 1,
            }
        })
        .collect()
}

fn opens(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    if is_blank(line)
        || !line.starts_with(|c: char| {
            c.is_alphanumeric() || matches!(c, '#' | '[' | '<' | '.' | '@' | '(' | '=' | '_' | '$')
        })
    {
        return false;
    }
    let is_after_blank = at == 0 || is_blank(lines[at - 1]);
    let is_above_more =
        lines.get(at + 1).is_some_and(|next| next.starts_with([' ', '\t']) && !is_blank(next));
    is_after_blank || is_above_more
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(String, usize, usize)> {
        headings(text).into_iter().map(|item| (item.name, item.first_line, item.last_line)).collect()
    }

    #[test]
    fn what_opens_something_is_listed() {
        let text = "FROM scratch\nCOPY a b\n\nserver {\n  listen 80\n}\n\nlast\n";
        let expected = [("FROM scratch", 1, 2), ("server {", 4, 6), ("last", 8, 8)];
        assert_eq!(seen(text), expected.map(|(name, first, last)| (name.to_owned(), first, last)));
    }

    #[test]
    fn where_nothing_stands_out_every_so_many_lines_one_is() {
        let even = "  indented\n".repeat(100);
        assert_eq!(seen(&even).iter().map(|(_, first, _)| *first).collect::<Vec<_>>(), [1, 26, 51, 76]);
        let crowded = "a\n\n".repeat(50_000);
        assert!(seen(&crowded).len() <= 40 && seen(&crowded).len() > 30);
        assert_eq!(seen("\n\n"), []);
        assert_eq!(seen(&"x".repeat(10_000))[0].0.chars().count(), 160);
    }
}
