//! Headings of Markdown: `# so` and underlined ones, not in code, front matter, or quotes.

use super::Item;
use super::scan::one_line;

/// A heading: level, text, line.
struct Heading {
    level: usize,
    text: String,
    line: usize,
}

/// The headings; each goes on to the next of its level or above.
pub(super) fn headings(text: &str) -> Vec<Item> {
    let lines: Vec<&str> = text.lines().collect();
    let found = found(&lines);
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut items = Vec::with_capacity(found.len());
    for (number, heading) in found.iter().enumerate() {
        open.retain(|(level, _)| *level < heading.level);
        let depth = open.len();
        open.push((heading.level, heading.text.clone()));
        let next = found[number + 1..].iter().find(|next| next.level <= heading.level);
        let end = next.map_or(lines.len(), |next| next.line);
        let last = (heading.line..end).rev().find(|at| !lines[*at].trim().is_empty()).unwrap_or(heading.line);
        let path: Vec<&str> = open.iter().map(|(_, text)| text.as_str()).collect();
        items.push(Item {
            kind: "heading",
            name: heading.text.clone(),
            path: path.join("."),
            depth,
            signature: format!("{} {}", "#".repeat(heading.level), heading.text),
            from_line: heading.line + 1,
            first_line: heading.line + 1,
            last_line: last + 1,
        });
    }
    items
}

fn found(lines: &[&str]) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut paragraph: Option<usize> = None;
    let mut at = after_front_matter(lines);
    while let Some(line) = lines.get(at) {
        let body = line.trim_end();
        let indent = body.len() - body.trim_start_matches(' ').len();
        let body = body.trim_start();
        let mark = fence_mark(body);
        match (fence, mark) {
            (Some((sign, length)), Some((other, many, bare))) if sign == other && many >= length && bare => {
                fence = None
            }
            (Some(_), _) => {}
            // Four blanks are code, unless they go on with a paragraph.
            (None, _) if (indent >= 4 || line.starts_with('\t')) && paragraph.is_none() => {}
            (None, Some((sign, many, _))) if indent < 4 => (fence, paragraph) = (Some((sign, many)), None),
            (None, _) => match (hashes(body), underline(body), paragraph) {
                (Some((level, text)), _, _) if indent < 4 => {
                    found.push(Heading { level, text: one_line(text), line: at });
                    paragraph = None;
                }
                (_, Some(level), Some(start)) if indent < 4 => {
                    let text = one_line(&lines[start..at].join(" "));
                    found.push(Heading { level, text, line: start });
                    paragraph = None;
                }
                _ if body.is_empty() || body.starts_with(['>', '-', '*', '+', '|', '<']) => paragraph = None,
                _ => paragraph = paragraph.or(Some(at)),
            },
        }
        at += 1;
    }
    found
}

/// The first line after a block between `---` at the very beginning.
fn after_front_matter(lines: &[&str]) -> usize {
    let (true, [_, rest @ ..]) = (lines.first().is_some_and(|line| line.trim_end() == "---"), lines) else {
        return 0;
    };
    rest.iter().position(|line| line.trim_end() == "---").map_or(0, |end| end + 2)
}

/// Sign and length of a fence, and whether nothing follows it.
fn fence_mark(line: &str) -> Option<(char, usize, bool)> {
    let sign = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == sign).count();
    let rest = line[length..].trim();
    // What has such a sign once more is code within a line.
    (length >= 3 && !(sign == '`' && rest.contains('`'))).then_some((sign, length, rest.is_empty()))
}

fn hashes(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let text = rest.trim();
    let closed = text.trim_end_matches('#');
    let text = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { text };
    Some((level, text))
}

fn underline(line: &str) -> Option<usize> {
    let is_of = |sign: char| !line.is_empty() && line.chars().all(|c| c == sign);
    if is_of('=') { Some(1) } else { is_of('-').then_some(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<(String, usize, usize, usize)> {
        let items = headings(text).into_iter();
        items.map(|item| (item.path, item.depth, item.first_line, item.last_line)).collect()
    }

    #[test]
    fn levels_nest_and_end_where_the_next_begins() {
        let text = "# A\n\ntext\n## B\ntext\n\n# C ##\n### D#\n";
        let expected = [("A", 0, 1, 5), ("A.B", 1, 4, 5), ("C", 0, 7, 8), ("C.D#", 1, 8, 8)];
        assert_eq!(
            seen(text),
            expected.map(|(path, depth, first, last)| (path.to_owned(), depth, first, last))
        );
    }

    #[test]
    fn an_underlined_paragraph_is_a_heading_and_a_rule_is_none() {
        assert_eq!(seen("One\nand more\n===\n\n---\n- list\n---\n").len(), 1);
        assert_eq!(seen("One\nand more\n---\n")[0].0, "One and more");
    }

    #[test]
    fn code_quotes_and_front_matter_hold_none() {
        for text in [
            "---\ntitle: x\n# no\n---\n",
            "```\n# no\n```\n",
            "~~~~ sh\n# no\n~~~\n# no\n~~~~\n",
            "    # no\n",
            "> # no\n",
            "#no\n####### no\n",
            "```\n# never closed\n",
        ] {
            assert_eq!(seen(text), [], "{text}");
        }
        assert_eq!(seen("---\nno front matter\n# yes\n").len(), 1);
        assert_eq!(seen("`` ` `` x\n# yes\n").len(), 1);
    }
}
