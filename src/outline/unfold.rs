//! One item whole: found by its name, its path, or a line in it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::{Item, Outline, PATIENCE, Plain, Source, SourceError, Until, whole};
use crate::model::Gone;

/// Several of one name are shown as far as they have so many lines together.
const SEVERAL: usize = 300;
/// Most lines of one.
const LONGEST: usize = 2_000;
/// Most bytes of all that is shown.
const MOST_BYTES: usize = 60_000;
/// Most bytes of one line.
const LONGEST_LINE: usize = 2_000;
/// Most names that are offered instead of one that is not there.
const NEAR: usize = 5;
/// What is less alike is another name.
const LIKENESS: f64 = 0.5;
/// What only adds to a type that is defined elsewhere: not what a name means first.
const ADDITIONS: [&str; 3] = ["impl", "extension", "alter"];

/// Why nothing was unfolded.
#[derive(Debug, Error)]
pub enum UnfoldError {
    /// The file cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It is no text.
    #[error("{} is no text", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
    },
    /// Nothing in it has that name.
    #[error("{} has no {symbol}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        symbol: String,
        /// Paths of what is there and is spelled nearly so.
        near: Vec<String>,
    },
}

/// An item with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    #[serde(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub item: Item,
    /// Its lines as they are, the comments and attributes right above included; a very long one ends with `…`.
    pub text: String,
    /// How many of its lines are cut so.
    pub lines_cut: usize,
    /// How many of its last lines are not in it.
    pub lines_left_out: usize,
}

/// What a name stands for in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unfolded {
    /// The language, if the name of the file tells.
    pub language: Option<&'static str>,
    /// Why these are lines and no items of a language; `None` if they are.
    pub plain: Option<Plain>,
    /// What was found, in the order of the file; at least one.
    pub pieces: Vec<Piece>,
    /// Others of that name.
    pub others: Vec<Item>,
}

/// Finds what a name stands for. `symbol` is a name, a path (`Type.method`, `Type::method`), a declaration as the
/// outline shows it, or a line number (also `4-5`): the innermost item there.
///
/// # Errors
/// [`UnfoldError`] when the file cannot be read, or has nothing of that name.
pub fn unfold(path: &Path, symbol: &str) -> Result<Unfolded, UnfoldError> {
    let source = Source::read(path)?;
    let outline = whole(path, &source, &Until::after(PATIENCE, &Gone::default()));
    if outline.plain == Some(Plain::Binary) {
        return Err(UnfoldError::Binary { path: path.to_owned() });
    }
    let found = meant(&outline, symbol);
    if found.is_empty() {
        let near = near(&outline, symbol);
        return Err(UnfoldError::Unknown { path: path.to_owned(), symbol: symbol.to_owned(), near });
    }
    let (shown, others) = chosen(found);
    let lines: Vec<&str> = source.text().split_inclusive('\n').collect();
    let mut room = MOST_BYTES;
    let pieces = shown.into_iter().map(|item| piece(item, &lines, &mut room)).collect();
    let others = others.into_iter().cloned().collect();
    Ok(Unfolded { language: outline.language, plain: outline.plain, pieces, others })
}

/// An item with its lines, as far as there is room: bytes that are left for this one and the next.
fn piece(item: &Item, lines: &[&str], room: &mut usize) -> Piece {
    let first = item.from_line - 1;
    let lines = lines.get(first..item.last_line.min(lines.len())).unwrap_or_default();
    let mut piece = Piece { item: item.clone(), text: String::new(), lines_cut: 0, lines_left_out: 0 };
    for (number, line) in lines.iter().enumerate() {
        let bare = line.trim_end_matches(['\r', '\n']);
        let kept = bare.floor_char_boundary(LONGEST_LINE);
        let is_cut = kept < bare.len();
        let shown = if is_cut { kept + '…'.len_utf8() + 1 } else { line.len() };
        if number == LONGEST || shown > *room {
            *room = 0;
            piece.lines_left_out = lines.len() - number;
            break;
        }
        *room -= shown;
        if is_cut {
            piece.lines_cut += 1;
            piece.text.push_str(&bare[..kept]);
            piece.text.push_str("…\n");
        } else {
            piece.text.push_str(line);
        }
    }
    piece
}

/// What a symbol means: a line, or else a name, what the outline shows of an item, lines as it shows them, or what is
/// left of a declaration or a call without types and arguments.
fn meant<'a>(outline: &'a Outline, symbol: &str) -> Vec<&'a Item> {
    let symbol = symbol.trim();
    if let Ok(line) = symbol.parse() {
        return at_lines(outline, line, line);
    }
    let shown =
        || outline.items.iter().filter(|item| !symbol.is_empty() && item.signature == symbol).collect();
    let at = || span(symbol).map(|(first, last)| at_lines(outline, first, last)).unwrap_or_default();
    let bare = || named(outline, &bare(symbol));
    let ways: [&dyn Fn() -> Vec<&'a Item>; 4] = [&|| named(outline, symbol), &shown, &at, &bare];
    ways.iter().map(|way| way()).find(|found| !found.is_empty()).unwrap_or_default()
}

/// `4-5`, `#12`, `L12` and `#L4-L5` are lines, first and last.
fn span(symbol: &str) -> Option<(usize, usize)> {
    let number = |text: &str| text.trim_start_matches(['#', 'L', ':']).parse::<usize>().ok();
    match symbol.split_once('-') {
        Some((first, last)) => Some((number(first)?, number(last)?)),
        None => number(symbol).map(|line| (line, line)),
    }
}

/// The name in `pub fn new(x: u8) -> Self`, `Pool<T>::new` or `class Pool(Base):`.
fn bare(symbol: &str) -> String {
    let head = symbol.split('(').next().unwrap_or_default();
    let mut depth = 0_usize;
    let mut plain = String::new();
    for c in head.chars() {
        match c {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let end = |c: char| c.is_whitespace() || matches!(c, '{' | '=' | ':' | ';');
    let name = plain.trim_end_matches(end).rsplit(char::is_whitespace).next().unwrap_or_default();
    // `Pool::<u8>::new`
    name.replace("::::", "::")
}

/// The innermost item around these lines, its comments included.
fn at_lines(outline: &Outline, first: usize, last: usize) -> Vec<&Item> {
    let is_around = |item: &&Item| item.from_line <= first && last <= item.last_line && first <= last;
    let around = outline.items.iter().filter(is_around);
    around.min_by_key(|item| item.last_line - item.from_line).into_iter().collect()
}

/// Those that a name fits best: exactly before without regard to case, whole paths before their ends.
fn named<'a>(outline: &'a Outline, symbol: &str) -> Vec<&'a Item> {
    let wanted = normal(symbol);
    let folded = wanted.to_lowercase();
    let fits = |item: &Item| {
        let path = normal(&item.path);
        let ends =
            |path: &str, name: &str| path.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
        if path == wanted {
            return Some(0);
        }
        if item.name == symbol || ends(&path, &wanted) {
            return Some(1);
        }
        let path = path.to_lowercase();
        (path == folded || ends(&path, &folded)).then_some(2)
    };
    let ranked: Vec<(u8, &Item)> =
        outline.items.iter().filter_map(|item| Some((fits(item)?, item))).collect();
    let best = ranked.iter().map(|(rank, _)| *rank).min();
    // A name at the top and the same name inside of something are both what a bare name may mean.
    let is_kept = |rank: u8| best == Some(rank) || best == Some(0) && rank == 1 && !wanted.contains('.');
    ranked.into_iter().filter(|(rank, _)| is_kept(*rank)).map(|(_, item)| item).collect()
}

/// `Type::method`, `Type#method` and `Type->method` are `Type.method`; arguments and signs of a call go.
fn normal(path: &str) -> String {
    let path = path.trim().trim_end_matches("()");
    path.replace("::", ".").replace("->", ".").replace(['#', '/'], ".").trim_matches('.').to_owned()
}

/// What is shown of several, and what is only named: definitions before what adds to them, as many as fit.
fn chosen(found: Vec<&Item>) -> (Vec<&Item>, Vec<&Item>) {
    let is_definition = |item: &&Item| !ADDITIONS.contains(&item.kind);
    let (mut first, mut rest): (Vec<&Item>, Vec<&Item>) = found.into_iter().partition(is_definition);
    if first.is_empty() {
        first = std::mem::take(&mut rest);
    }
    let least_deep = first.iter().map(|item| item.depth).min().unwrap_or_default();
    let mut room = SEVERAL;
    let mut shown: Vec<&Item> = Vec::new();
    for item in first {
        let lines = item.last_line + 1 - item.from_line;
        if item.depth == least_deep && (shown.is_empty() || lines <= room) {
            room = room.saturating_sub(lines);
            shown.push(item);
        } else {
            rest.push(item);
        }
    }
    rest.sort_by_key(|item| item.first_line);
    (shown, rest)
}

fn near(outline: &Outline, symbol: &str) -> Vec<String> {
    let wanted = normal(symbol).to_lowercase();
    let last = wanted.rsplit('.').next().unwrap_or(&wanted);
    let mut ranked: Vec<(f64, &str)> = Vec::new();
    for item in &outline.items {
        let name = item.name.to_lowercase();
        let holds = last.len() > 2 && (name.contains(last) || last.contains(&*name) && name.len() > 2);
        let likeness = strsim::jaro_winkler(&name, last).max(if holds { 0.9 } else { 0.0 });
        if likeness > LIKENESS && !ranked.iter().any(|(_, path)| *path == item.path) {
            ranked.push((likeness, &item.path));
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(NEAR).map(|(_, path)| path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: &'static str, path: &str, first: usize, last: usize) -> Item {
        let name = path.rsplit('.').next().unwrap().to_owned();
        Item {
            kind,
            name,
            path: path.to_owned(),
            depth: path.matches('.').count(),
            signature: String::new(),
            from_line: first,
            first_line: first,
            last_line: last,
        }
    }

    fn outline(items: Vec<Item>) -> Outline {
        Outline {
            language: Some("rust"),
            lines: 0,
            bytes: 0,
            plain: None,
            errors: Vec::new(),
            errors_left_out: 0,
            items,
            left_out: 0,
        }
    }

    fn lines(found: &[&Item]) -> Vec<usize> {
        found.iter().map(|item| item.first_line).collect()
    }

    #[test]
    fn a_name_is_found_in_every_spelling() {
        let outline = outline(vec![
            item("struct", "Pool", 1, 3),
            item("impl", "Pool", 5, 50),
            item("fn", "Pool.get", 10, 20),
            item("fn", "get", 60, 70),
            item("fn", "inner.Pool.get", 80, 90),
        ]);
        for spelling in ["Pool.get", "Pool::get", "Pool#get", "Pool->get", "Pool::get()", " Pool.get "] {
            assert_eq!(lines(&named(&outline, spelling)), [10], "{spelling}");
        }
        assert_eq!(lines(&named(&outline, "pool.GET")), [10, 80]);
        assert_eq!(lines(&named(&outline, "get")), [10, 60, 80]);
        assert_eq!(lines(&named(&outline, "et")), [0; 0]);
        assert_eq!(lines(&named(&outline, "")), [0; 0]);
        assert_eq!(lines(&at_lines(&outline, 15, 15)), [10]);
        assert_eq!(lines(&at_lines(&outline, 55, 55)), [0; 0]);
    }

    #[test]
    fn what_the_outline_shows_and_what_people_type_is_understood() {
        let mut outline = outline(vec![
            item("struct", "Pool", 1, 3),
            item("fn", "Pool.new", 10, 20),
            item("key", "4-5", 30, 31),
            item("heading", "Use it", 40, 41),
        ]);
        outline.items[0].signature = String::from("pub struct Pool<T> where T: Fn(u8) -> u8");
        for (typed, line) in [
            ("Pool<T>::new", 10),
            ("Pool::<Vec<u8>>::new(1)", 10),
            ("new(x)", 10),
            ("fn new", 10),
            ("fn Pool.new", 10),
            ("pub async fn new(x: impl Fn(u8) -> u8) -> Self {", 10),
            ("pub struct Pool<T> where T: Fn(u8) -> u8", 1),
            ("class Pool:", 1),
            ("1-3", 1),
            ("#12", 10),
            ("L12", 10),
            ("#L12-L13", 10),
            ("12", 10),
            ("4-5", 30),
            ("Use it", 40),
        ] {
            assert_eq!(lines(&meant(&outline, typed)), [line], "{typed}");
        }
        for typed in ["1-10", "3-1", "(x)", "<T>", "fn", "-", "#", "", "12-", "fn old"] {
            assert_eq!(lines(&meant(&outline, typed)), [0; 0], "{typed}");
        }
    }

    #[test]
    fn a_piece_has_an_end_in_bytes_too() {
        let long = "é".repeat(LONGEST_LINE);
        let text = format!("a\r\n{long}\n{long}");
        let own: Vec<&str> = text.split_inclusive('\n').collect();
        let cut = format!("{}…\n", "é".repeat(LONGEST_LINE / 2));
        let mut room = MOST_BYTES;
        let whole = piece(&item("fn", "a", 1, 3), &own, &mut room);
        assert_eq!(whole.text, format!("a\r\n{cut}{cut}"));
        assert_eq!((whole.lines_cut, whole.lines_left_out), (2, 0));
        assert_eq!(room, MOST_BYTES - whole.text.len());
        let mut room = cut.len() + 3;
        let part = piece(&item("fn", "a", 1, 3), &own, &mut room);
        assert_eq!((part.text, part.lines_cut, part.lines_left_out), (format!("a\r\n{cut}"), 1, 1));
        let next = piece(&item("fn", "a", 1, 1), &own, &mut room);
        assert_eq!((&*next.text, next.lines_left_out), ("", 1));
    }

    #[test]
    fn definitions_come_before_additions_and_what_does_not_fit_is_named() {
        let (short, long, addition) =
            (item("fn", "a", 1, 9), item("fn", "a", 10, 900), item("impl", "a", 901, 902));
        let (shown, others) = chosen(vec![&short, &long, &addition]);
        assert_eq!((lines(&shown), lines(&others)), (vec![1], vec![10, 901]));
        let (shown, others) = chosen(vec![&addition]);
        assert_eq!((lines(&shown), others.len()), (vec![901], 0));
        let outer = item("fn", "b.a", 3, 4);
        let (shown, others) = chosen(vec![&outer, &short]);
        assert_eq!((lines(&shown), lines(&others)), (vec![1], vec![3]));
    }

    #[test]
    fn a_slip_is_answered_with_what_is_near() {
        let outline = outline(vec![item("fn", "Pool.checkout", 1, 2), item("fn", "render", 3, 4)]);
        assert_eq!(near(&outline, "Pool.chekout"), ["Pool.checkout"]);
        assert_eq!(near(&outline, "check"), ["Pool.checkout"]);
        assert_eq!(near(&outline, "zzz"), Vec::<String>::new());
    }
}
