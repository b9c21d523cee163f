//! What a source file holds, without its text: the items with their signatures and lines; one item whole; symbols
//! across a tree. Reads files, and knows nothing of memories.
//!
//! Where there is no grammar for a file, or none can be used on it, the outline is one of lines, and says why.

mod find;
#[cfg(feature = "grammars")]
mod grammar;
mod languages;
mod lines;
mod markdown;
mod scan;
mod source;
mod tree;
mod unfold;

use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::model::Gone;

pub use find::{Found, Hit, find};
pub use languages::{has_grammar, is_data};
pub use source::{Source, SourceError};
pub use tree::{Listed, Listing, TreeError, tree};
pub use unfold::{Piece, UnfoldError, Unfolded, unfold};

/// Most items of one outline.
pub const MOST_ITEMS: usize = 300;
/// What a file may take that somebody waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Something that a file defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// `fn`, `class`, `heading`, ...: a short word of the language.
    pub kind: &'static str,
    /// Its own name.
    pub name: String,
    /// The names of what it lies in and its own, with dots between them.
    pub path: String,
    /// How many items it lies in.
    pub depth: usize,
    /// How it is declared, on one line, without its body and its value.
    pub signature: String,
    /// Where its comments and attributes begin, counted from 1.
    pub from_line: usize,
    /// Where it is declared, counted from 1.
    pub first_line: usize,
    /// Its last line.
    pub last_line: usize,
}

/// Why an outline is one of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Plain {
    /// No grammar knows the name of the file.
    UnknownLanguage,
    /// This program was built without grammars.
    NoGrammars,
    /// More than a parser is given; only the beginning was looked at.
    TooLarge,
    /// It is no text.
    Binary,
    /// Its lines are too long to be anybody's.
    Minified,
    /// It is nested more deeply than the grammar bears.
    TooDeep,
    /// The parser took too long.
    TooSlow,
    /// The grammar found nothing to list.
    NothingFound,
    /// There is nothing in it.
    Empty,
}

/// The outline of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outline {
    /// The language, if its name tells.
    pub language: Option<&'static str>,
    /// How many lines the file has.
    pub lines: usize,
    /// What it is worth in bytes.
    pub bytes: u64,
    /// Why these are lines and no items of a language; `None` if they are.
    pub plain: Option<Plain>,
    /// Lines, first and last, that the grammar could not read.
    pub errors: Vec<(usize, usize)>,
    /// How many more such places there are.
    pub errors_left_out: usize,
    /// What was found, in the order of the file.
    pub items: Vec<Item>,
    /// How many were found and are not listed: the deepest ones, or the last ones.
    pub left_out: usize,
}

/// When to stop working: at a time, or as soon as nobody waits for it.
#[derive(Debug, Clone)]
struct Until {
    time: Instant,
    gone: Gone,
}

impl Until {
    fn after(patience: Duration, gone: &Gone) -> Self {
        Self { time: Instant::now() + patience, gone: gone.clone() }
    }

    /// The same, and no longer than this from now on.
    fn at_most(&self, patience: Duration) -> Self {
        Self { time: self.time.min(Instant::now() + patience), gone: self.gone.clone() }
    }

    fn is_over(&self) -> bool {
        self.gone.is_set() || Instant::now() >= self.time
    }
}

/// What a grammar made of a text.
#[derive(Debug, Default)]
struct Parsed {
    items: Vec<Item>,
    errors: Vec<(usize, usize)>,
    errors_left_out: usize,
}

/// The outline of a file; it is not parsed to the end once `gone` is set.
///
/// # Errors
/// [`SourceError`] when it cannot be read.
pub fn of_file(path: &Path, gone: &Gone) -> Result<Outline, SourceError> {
    Ok(of_source(path, &Source::read(path)?, gone))
}

/// The outline of a text, whose language the path tells. Never fails, and takes at most a few seconds.
pub fn of_source(path: &Path, source: &Source, gone: &Gone) -> Outline {
    bounded(whole(path, source, &Until::after(PATIENCE, gone)), MOST_ITEMS)
}

/// The same with every item.
fn whole(path: &Path, source: &Source, until: &Until) -> Outline {
    let language = languages::of(path, source.text());
    let mut outline = Outline {
        language,
        lines: source.lines(),
        bytes: source.bytes(),
        plain: source.flaw(),
        errors: Vec::new(),
        errors_left_out: 0,
        items: Vec::new(),
        left_out: 0,
    };
    if outline.plain.is_none() {
        match language.ok_or(Plain::UnknownLanguage).and_then(|name| parsed(name, source, until)) {
            Ok(parsed) => {
                outline.plain = parsed.items.is_empty().then_some(Plain::NothingFound);
                outline.errors = parsed.errors;
                outline.errors_left_out = parsed.errors_left_out;
                outline.items = parsed.items;
            }
            Err(why) => outline.plain = Some(why),
        }
    }
    if !matches!(outline.plain, None | Some(Plain::Binary | Plain::Empty)) {
        outline.items = lines::headings(source.text());
    }
    outline
}

fn parsed(language: &str, source: &Source, until: &Until) -> Result<Parsed, Plain> {
    if language == languages::MARKDOWN {
        return Ok(Parsed { items: markdown::headings(source.text()), ..Parsed::default() });
    }
    #[cfg(feature = "grammars")]
    return grammar::parse(language, source.text(), until);
    #[cfg(not(feature = "grammars"))]
    {
        let _ = until;
        Err(Plain::NoGrammars)
    }
}

/// At most so many items: what lies deepest goes first, then what comes last.
fn bounded(mut outline: Outline, most: usize) -> Outline {
    let found = outline.items.len();
    let mut room = most;
    let mut is_kept = vec![false; found];
    for depth in 0.. {
        let level = outline.items.iter().enumerate().filter(|(_, item)| item.depth == depth);
        let level: Vec<usize> = level.map(|(number, _)| number).collect();
        level.iter().take(room).for_each(|number| is_kept[*number] = true);
        room = room.saturating_sub(level.len());
        if room == 0 || level.is_empty() {
            break;
        }
    }
    let mut kept = is_kept.into_iter();
    outline.items.retain(|_| kept.next().unwrap_or_default());
    outline.left_out = found - outline.items.len();
    outline
}

#[cfg(test)]
mod tests;
