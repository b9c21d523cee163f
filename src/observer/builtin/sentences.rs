//! A message of the assistant, or a prompt of the user, as plain sentences: Markdown, courtesies and
//! announcements stripped; and the choice of the one that says most.

mod openers;

use self::openers::{
    ANNOUNCEMENTS, GENERIC_HEADINGS, NEXT, OFFERS, OPENERS, POINTERS, STATUS, TURNING_POINTS, WARNINGS,
};
use crate::observer::text::{one_line, shorten};

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    /// Without Markdown except for code spans.
    pub(super) text: String,
    /// It is or belongs to a list item.
    pub(super) bullet: bool,
    /// It is a heading.
    pub(super) heading: bool,
    /// It begins a line.
    pub(super) begins: bool,
    /// It announces, offers or asks something instead of stating it.
    pub(super) talk: bool,
    /// It says what is left to do.
    pub(super) next: bool,
}

/// Longest text that is looked at, in characters.
const MAX_TEXT: usize = 20_000;

/// The sentences of a message, courtesies left out.
pub(super) fn sentences(message: &str) -> Vec<Sentence> {
    let message = crate::observer::text::head(message, MAX_TEXT);
    let mut found = Vec::new();
    let mut fenced = false;
    let mut section = Section::Other;
    for line in message.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.is_empty() || is_rule(line) {
            continue;
        }
        let (text, heading, bullet) = without_block_marks(line);
        let text = inline(&text);
        let leads = heading || text.ends_with([':', '：']);
        section = match (section, leads && says_next(&text)) {
            (_, true) if heading => Section::NextHeading,
            (_, true) => Section::NextList,
            (Section::NextHeading | Section::NextList, false) if bullet => Section::NextList,
            (Section::NextHeading, false) if !heading => Section::NextHeading,
            _ => Section::Other,
        };
        if heading && GENERIC_HEADINGS.contains(&text.trim_end_matches([':', '：']).to_lowercase().as_str())
        {
            continue;
        }
        let mut begins = true;
        for piece in split(&text) {
            let piece = without_opener(piece);
            if !piece.chars().any(char::is_alphanumeric) {
                continue;
            }
            let talk = is_talk(piece);
            let next = !talk && (section != Section::Other || says_next(piece));
            found.push(Sentence { text: piece.to_owned(), bullet, heading, begins, talk, next });
            begins = false;
        }
    }
    found
}

/// Where a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Below a heading that announces what is left to do.
    NextHeading,
    /// In a list that such a line introduces.
    NextList,
    Other,
}

fn says_next(text: &str) -> bool {
    let lower = text.to_lowercase();
    NEXT.iter().any(|word| super::kind::has_word(&lower, word))
}

/// A horizontal rule, or the line under a table's head.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ' | '+'))
}

fn without_block_marks(line: &str) -> (String, bool, bool) {
    let line = line.trim_start_matches(['>', ' ']);
    let line = line.trim_start_matches(|c: char| is_symbol(c) || c == ' ');
    // `**1. Name** - text` is a list item in bold.
    let line = match line.strip_prefix("**") {
        Some(rest)
            if rest
                .trim_start_matches(|c: char| is_symbol(c) || c == ' ')
                .starts_with(|c: char| c.is_ascii_digit()) =>
        {
            rest.trim_start_matches(|c: char| is_symbol(c) || c == ' ')
        }
        _ => line,
    };
    let title = line.trim_start_matches('#');
    if title.len() < line.len() && title.starts_with(' ') {
        return (title.trim().to_owned(), true, false);
    }
    if line.starts_with('|') {
        let cells: Vec<&str> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        return (cells.join(": "), false, true);
    }
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "+ ", "• ", "・"] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (rest.to_owned(), false, true);
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=3).contains(&digits)
        && let Some(rest) = line[digits..].strip_prefix(['.', ')']).and_then(|rest| rest.strip_prefix(' '))
    {
        return (rest.to_owned(), false, true);
    }
    (line.to_owned(), false, false)
}

/// Without emphasis, links and leading symbols; code spans stay.
fn inline(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut code = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '`' {
            code = !code;
        }
        if !code && (rest.starts_with("**") || rest.starts_with("__") || rest.starts_with("~~")) {
            rest = &rest[2..];
            continue;
        }
        if !code
            && c == '['
            && let Some((label, after)) = rest[1..].split_once("](")
            && let Some((_, after)) = after.split_once(')')
            && !label.contains('[')
        {
            plain.push_str(label);
            rest = after;
            continue;
        }
        plain.push(c);
        rest = &rest[c.len_utf8()..];
    }
    let plain = one_line(&plain);
    plain
        .trim_start_matches(|c: char| is_symbol(c) || c == ' ')
        .trim_end_matches(|c: char| is_symbol(c) || c == ' ')
        .to_owned()
}

/// Emoji and dingbats, and what joins them.
fn is_symbol(c: char) -> bool {
    matches!(u32::from(c), 0x2190..=0x21FF | 0x2300..=0x23FF | 0x2460..=0x27BF | 0x2900..=0x297F | 0x2B00..=0x2BFF | 0xFE0F | 0x200D | 0x1F000..=0x1FAFF)
        && c != '→'
}

/// Sentences of one line; a full stop ends one only before a blank and not after an abbreviation or in code.
fn split(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut code = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '`' => {
                code = !code;
                false
            }
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => {
                next.is_none_or(|next| next == ' ') && !abbreviation(&line[start..at], &line[at + 1..])
            }
            _ => false,
        };
        if ends && !code {
            let end = at + c.len_utf8();
            pieces.push(line[start..end].trim());
            start = end;
        }
    }
    pieces.push(line[start..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn abbreviation(before: &str, after: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or_default().to_lowercase();
    let known = ["e.g", "i.e", "etc", "vs", "cf", "z.b", "d.h", "bzw", "usw", "p.ex", "ej", "no", "approx"];
    known.contains(&word.as_str()) || after.trim_start().starts_with(char::is_lowercase)
}

/// "Done! Added x" says "Added x"; "Done" says nothing.
fn without_opener(sentence: &str) -> &str {
    let mut text = sentence.trim_start_matches(|c: char| is_symbol(c) || c == ' ');
    for _ in 0..3 {
        let lower = text.to_lowercase();
        let found =
            OPENERS.iter().filter(|opener| lower.starts_with(**opener)).max_by_key(|opener| opener.len());
        let Some(rest) = found.and_then(|opener| text.get(opener.len()..)) else { break };
        let after = rest.trim_start_matches([
            ' ', '!', '.', ',', ':', ';', '-', '—', '–', '。', '！', '，', '、', '：', '；',
        ]);
        let after = after.trim_start_matches(|c: char| is_symbol(c) || c == ' ');
        let separated = after.len() < rest.len() && !rest.starts_with(' ')
            || rest.trim_start().starts_with(['-', '—', '–']);
        if !(separated || rest.is_empty()) {
            break;
        }
        text = after;
    }
    text
}

fn is_talk(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    sentence.ends_with(['?', '？', ':', '：'])
        || ANNOUNCEMENTS.iter().any(|start| lower.starts_with(start))
        || OFFERS.iter().any(|part| lower.starts_with(part))
}

/// Whether a sentence names something of the program: a code span, a path, an identifier.
pub(super) fn names_something(text: &str) -> bool {
    text.contains('`')
        || text.split_whitespace().any(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '(' | ')'));
            let inner_capital = word
                .chars()
                .zip(word.chars().skip(1))
                .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
            let path = word.contains('/') && word.len() > 3
                || word.rsplit_once('.').is_some_and(|(stem, end)| {
                    !stem.is_empty()
                        && (1..=5).contains(&end.len())
                        && end.bytes().all(|b| b.is_ascii_lowercase())
                });
            word.is_ascii()
                && (inner_capital || path || (word.contains('_') && word.len() > 2) || word.ends_with("()"))
        })
}

/// Whether a sentence states a result, a cause or a rule.
pub(super) fn tells(text: &str) -> bool {
    let lower = text.to_lowercase();
    TURNING_POINTS.iter().any(|word| super::kind::has_word(&lower, word))
}

/// Whether a sentence warns.
pub(super) fn warns(text: &str) -> bool {
    let lower = text.to_lowercase();
    WARNINGS.iter().any(|word| super::kind::has_word(&lower, word))
}

/// The sentence that would make the best title, if any is good enough, and how good it is (9 = it opens the
/// message, names something and states a result).
pub(super) fn headline(sentences: &[Sentence]) -> Option<(i64, &Sentence)> {
    let several = sentences.iter().filter(|sentence| sentence.bullet && sentence.begins).count() > 2;
    let score = |index: usize, sentence: &Sentence| {
        let lower = sentence.text.to_lowercase();
        let length = weight(&sentence.text);
        let mut score: i64 = 0;
        score += if names_something(&sentence.text) { 3 } else { 0 };
        score += if tells(&sentence.text) { 3 } else { 0 };
        score += match index {
            0 => 3,
            1 => 1,
            _ => -i64::try_from(index / 3).unwrap_or(9),
        };
        score -= if length < 14 { 5 } else { 0 };
        score -= if length > 220 { 2 } else { 0 };
        score -= match sentence.bullet {
            true if several => 4,
            bullet => i64::from(bullet),
        };
        score -= if sentence.heading { 2 } else { 0 };
        score -= if POINTERS.iter().any(|start| lower.starts_with(start)) { 3 } else { 0 };
        score -= if STATUS.iter().any(|word| super::kind::has_word(&lower, word)) { 3 } else { 0 };
        score -= if lower.starts_with(['"', '“', '\'']) { 3 } else { 0 };
        score - i64::from(!sentence.begins)
    };
    let candidates =
        sentences.iter().filter(|sentence| !sentence.talk && !sentence.next).take(12).enumerate();
    candidates
        .map(|(index, sentence)| (score(index, sentence), sentence))
        .filter(|(score, _)| *score >= 2)
        .fold(None, |best: Option<(i64, &Sentence)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
}

/// Length in Latin characters: a CJK character says about as much as three of them.
pub(super) fn weight(text: &str) -> usize {
    text.chars().map(|c| if u32::from(c) >= 0x2E80 { 3 } else { 1 }).sum()
}

/// A sentence as a title: one line of at most 90 characters, no Markdown, no `I`, no full stop.
pub(super) fn title(sentence: &str) -> String {
    let line = one_line(&sentence.replace(['`', '*'], ""));
    let line = without_subject(without_courtesy(&line));
    let line = line.trim_end_matches(['.', '。', '!', '！', ':', '：', ';', '；', ' ']);
    let mut title = shorten_at_clause(line, 90);
    let is_code = sentence.starts_with('`');
    if !is_code
        && let Some(first) = title.chars().next()
        && first.is_lowercase()
        && title.split(' ').next().is_some_and(|word| word.bytes().all(|b| b.is_ascii_lowercase()))
        && !title.chars().any(|c| u32::from(c) >= 0x2E80)
    {
        title.replace_range(..first.len_utf8(), &first.to_uppercase().to_string());
    }
    title
}

/// "Can you rebase on main, please?" asks to "rebase on main".
fn without_courtesy(line: &str) -> &str {
    let mut text = line;
    for start in COURTESIES {
        let same = text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start));
        text = if same { &text[start.len()..] } else { text };
    }
    let end = text.trim_end_matches(['?', '？', '.', '!', ' ']);
    match end.strip_suffix("please").or_else(|| end.strip_suffix("bitte")) {
        Some(rest) => rest.trim_end_matches([',', ' ']),
        None if text.len() < line.len() => end,
        None => text,
    }
}

/// In the order in which they stand in a sentence.
static COURTESIES: &[&str] = &[
    "ok, ",
    "okay, ",
    "now ",
    "please ",
    "can you ",
    "can we ",
    "could you ",
    "could we ",
    "would you ",
    "i want you to ",
    "i'd like you to ",
    "help me ",
    "let's ",
    "please ",
    "请",
    "請",
    "帮我",
    "幫我",
    "麻烦",
    "麻煩",
    "bitte ",
];

fn without_subject(line: &str) -> &str {
    for subject in [
        "I've now ",
        "I've also ",
        "I've ",
        "I have now ",
        "I have ",
        "I also ",
        "I ",
        "We've ",
        "We have ",
        "We ",
    ] {
        if let Some(rest) = line.strip_prefix(subject) {
            let word = rest.split(' ').next().unwrap_or_default();
            let irregular = [
                "wrote", "made", "ran", "found", "built", "split", "moved", "set", "put", "cut", "kept",
                "rewrote", "took", "chose",
            ];
            if word.ends_with("ed") || irregular.contains(&word) {
                return rest;
            }
        }
    }
    for subject in ["我已经", "我已經", "我已", "我"] {
        if let Some(rest) = line.strip_prefix(subject).filter(|rest| {
            rest.starts_with([
                '将', '把', '在', '为', '给', '將', '為', '給', '修', '添', '新', '增', '实', '實', '创',
                '創', '更',
            ])
        }) {
            return rest;
        }
    }
    line
}

/// Cuts a long line where a clause ends, else between words.
fn shorten_at_clause(line: &str, max: usize) -> String {
    if line.chars().count() <= max {
        return line.to_owned();
    }
    let room = crate::observer::text::head(line, max);
    let wide =
        ["; ", " — ", " – ", ". ", ": ", ", ", "；", "，", "。", "：", " because ", " so that ", " which "];
    let cut = wide.iter().filter_map(|mark| room.rfind(mark)).filter(|at| *at * 2 >= room.len()).max();
    match cut {
        Some(at) if line[..at].matches('(').count() == line[..at].matches(')').count() => {
            line[..at].trim_end_matches([' ', ',', ';', ':', '，']).to_owned()
        }
        _ => {
            let cut = shorten(line, max);
            match cut.rfind(" (").filter(|at| *at > 20 && !cut[*at..].contains(')')) {
                Some(at) => cut[..at].to_owned(),
                None => cut,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(message: &str) -> Vec<String> {
        sentences(message).into_iter().map(|sentence| sentence.text).collect()
    }

    fn best(message: &str) -> String {
        headline(&sentences(message)).map(|(_, sentence)| title(&sentence.text)).unwrap_or_default()
    }

    #[test]
    fn markdown_and_courtesies_go() {
        let message = "Perfect! ✅ **All done.**\n\n## Summary\n\n- **Root cause**: the cache in `src/a.rs` was stale.\n- See [docs](http://x/y)\n\n```rust\nfn x() {}\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n> quoted e.g. this one. Next!";
        assert_eq!(
            texts(message),
            [
                "Root cause: the cache in `src/a.rs` was stale.",
                "See docs",
                "a: b",
                "1: 2",
                "quoted e.g. this one.",
                "Next!"
            ]
        );
    }

    #[test]
    fn titles_state_the_result() {
        for (message, expected) in [
            (
                "Added `farewell` to src/app.py and ran it; it prints `Bye, Ann!`.",
                "Added farewell to src/app.py and ran it; it prints Bye, Ann",
            ),
            ("Done. I've added retry logic to the upload client.", "Added retry logic to the upload client"),
            (
                "I'll look at the tests first. The failure comes from a stale mock in tests/login.rs.",
                "The failure comes from a stale mock in tests/login.rs",
            ),
            ("Done! Want me to commit it?", ""),
            ("greet is at src/app.py:4.", "Greet is at src/app.py:4"),
            (
                "好的，已完成。登录接口返回 500 的原因是 token 过期未处理，已在 `auth.rs` 中修复。",
                "登录接口返回 500 的原因是 token 过期未处理，已在 auth.rs 中修复",
            ),
            ("完了しました。`login` のバグを修正しました。", "login のバグを修正しました"),
            (
                "We keep it in the worktree (`/home/someone/a/very/long/path/to/a/checkout/of/the/project/itself/and/more`).",
                "We keep it in the worktree",
            ),
            (
                "You're absolutely right! The **linter** reformats the files, not db:generate, because biome.json does not exclude them.",
                "The linter reformats the files, not db:generate, because biome.json does not exclude them",
            ),
            ("Found the issue! The cache in `a.rs` was stale.", "The cache in a.rs was stale"),
            ("Oh, you're right. All tests pass. `parse` now accepts tabs.", "parse now accepts tabs"),
            (
                "Erledigt: Der Timeout in `client.ts` ist jetzt auf 30 s gesetzt.",
                "Der Timeout in client.ts ist jetzt auf 30 s gesetzt",
            ),
        ] {
            assert_eq!(best(message), expected, "{message}");
        }
    }

    #[test]
    fn titles_are_bounded_and_whole() {
        let long = "Replaced the hand-written connection pool in src/db/pool.rs with deadpool, because the old one leaked connections whenever a report job was cancelled in the middle of a transaction.";
        let cut = title(long);
        assert_eq!(cut, "Replaced the hand-written connection pool in src/db/pool.rs with deadpool");
        let words = title(&"word ".repeat(60));
        assert!(words.chars().count() <= 90 && words.ends_with("word…"), "{words}");
    }

    proptest! {
        #[test]
        fn never_panics(message in "(Done|I'll |好的|\\*\\*|`|\\[a\\]\\(b\\)|#+ |- |1\\. |\\.|。|✅|\n|\\PC){0,40}") {
            let found = sentences(&message);
            if let Some((_, sentence)) = headline(&found) {
                prop_assert!(title(&sentence.text).chars().count() <= 90);
            }
        }
    }
}
