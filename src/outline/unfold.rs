//! One item whole: found by its name, its path, or a line in it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::{Item, Outline, PATIENCE, Plain, Source, SourceError, whole};

/// Several of one name are shown as far as they have so many lines together.
const SEVERAL: usize = 300;
/// Most lines of one.
const LONGEST: usize = 2_000;
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
    /// Its lines as they are, the comments and attributes right above included.
    pub text: String,
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

/// Finds what a name stands for. `symbol` is a name, a path (`Type.method`, `Type::method`), or a line number: the
/// innermost item there.
///
/// # Errors
/// [`UnfoldError`] when the file cannot be read, or has nothing of that name.
pub fn unfold(path: &Path, symbol: &str) -> Result<Unfolded, UnfoldError> {
    let source = Source::read(path)?;
    let outline = whole(path, &source, PATIENCE);
    if outline.plain == Some(Plain::Binary) {
        return Err(UnfoldError::Binary { path: path.to_owned() });
    }
    let found = match symbol.trim().parse::<usize>() {
        Ok(line) => at_line(&outline, line),
        Err(_) => named(&outline, symbol),
    };
    if found.is_empty() {
        let near = near(&outline, symbol);
        return Err(UnfoldError::Unknown { path: path.to_owned(), symbol: symbol.to_owned(), near });
    }
    let (shown, others) = chosen(found);
    let lines: Vec<&str> = source.text().split_inclusive('\n').collect();
    let pieces = shown.into_iter().map(|item| piece(item, &lines)).collect();
    let others = others.into_iter().cloned().collect();
    Ok(Unfolded { language: outline.language, plain: outline.plain, pieces, others })
}

fn piece(item: &Item, lines: &[&str]) -> Piece {
    let first = item.from_line - 1;
    let end = item.last_line.min(lines.len());
    let shown = end.min(first + LONGEST);
    let text: String = lines.get(first..shown).unwrap_or_default().concat();
    Piece { item: item.clone(), text, lines_left_out: end - shown }
}

/// The innermost item at a line, its comments included.
fn at_line(outline: &Outline, line: usize) -> Vec<&Item> {
    let around = outline.items.iter().filter(|item| (item.from_line..=item.last_line).contains(&line));
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
        assert_eq!(lines(&at_line(&outline, 15)), [10]);
        assert_eq!(lines(&at_line(&outline, 55)), [0; 0]);
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
