//! Symbols of a name across a tree.

use std::path::Path;
use std::sync::Mutex;

use serde::Serialize;

use super::tree::{ALL, Looked, TreeError, outlines};
use super::{Item, Outline, Until, languages};
use crate::model::Gone;

/// Most names that are offered instead of one that is not there.
const NEAR: usize = 5;
/// What is less alike is another name.
const LIKENESS: f64 = 0.8;
/// So often the time is looked at: every so many symbols.
const ROUND: usize = 256;

/// How a name fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Fit {
    Exact,
    Prefix,
    Part,
    Words,
    PathWords,
}

/// A symbol that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Its path, beginning with that of the directory as it was named (without `.`).
    pub file: String,
    #[serde(flatten)]
    #[expect(missing_docs, reason = "the flattened type is documented")]
    pub item: Item,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The best first: the name itself, names that begin with it, that hold it, that have its
    /// words, paths that have them; then by file.
    pub hits: Vec<Hit>,
    /// How many more there are.
    pub left_out: usize,
    /// Names that are spelled nearly so, if there are no hits.
    pub near: Vec<String>,
    /// How many files no grammar can be used on: too large, minified, too deep, too slow.
    pub files_unread: usize,
    /// Whether there are more files than were looked into, or no time was left for them.
    pub is_cut: bool,
}

/// Looks for symbols of a name, or a path (`Type.method`), in the files of a directory; at most `limit` of them.
/// Upper and lower case are the same. Keys of data files and headings count too. It stops once `gone` is set.
///
/// # Errors
/// [`TreeError`] when it is no directory.
pub fn find(directory: &Path, name: &str, limit: usize, gone: &Gone) -> Result<Found, TreeError> {
    let until = Until::after(ALL, gone);
    let wanted = Wanted::new(name);
    let best = Mutex::new(Best::default());
    let each = |number: usize, file: String, outline: Outline| {
        let own = wanted.among(number, &file, outline, &until);
        if let Ok(mut best) = best.lock() {
            best.add(own, limit);
        }
    };
    let Looked { files_unread, is_cut } = outlines(directory, &until, each)?;
    let best = best.into_inner().unwrap_or_default();
    let near = if best.count > 0 { Vec::new() } else { best.near.names() };
    let left_out = best.count.saturating_sub(limit);
    let hits = best.hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(Found { hits, left_out, near, files_unread, is_cut: is_cut || until.is_over() })
}

/// How well something fits, then whether it is data, then where it stands: which file, which item of it.
type Rank = (Fit, bool, usize, usize);

/// The best of what was found, and no more of it than is told.
#[derive(Debug, Default)]
struct Best {
    hits: Vec<(Rank, Hit)>,
    /// How many there were.
    count: usize,
    near: Near,
}

impl Best {
    fn add(&mut self, other: Self, limit: usize) {
        self.count += other.count;
        if !other.hits.is_empty() {
            self.hits.extend(other.hits);
            self.hits.sort_by_key(|(rank, _)| *rank);
            self.hits.truncate(limit);
        }
        for (likeness, place, name) in other.near.0 {
            self.near.note(likeness, place, &name);
        }
    }
}

/// Names that are spelled nearly so, the best first: how much so, which file and item, the name.
#[derive(Debug, Default)]
struct Near(Vec<(f64, (usize, usize), String)>);

impl Near {
    fn note(&mut self, likeness: f64, place: (usize, usize), name: &str) {
        let is_before = |other: &(f64, (usize, usize), String)| {
            other.0.total_cmp(&likeness).reverse().then(other.1.cmp(&place)).is_lt()
        };
        let at = self.0.partition_point(is_before);
        match self.0.iter().position(|(.., own)| own == name) {
            Some(own) if own < at => return,
            Some(own) => _ = self.0.remove(own),
            None if at >= NEAR => return,
            None => {}
        }
        self.0.insert(at, (likeness, place, name.to_owned()));
        self.0.truncate(NEAR);
    }

    fn names(self) -> Vec<String> {
        self.0.into_iter().map(|(.., name)| name).collect()
    }
}

/// A name that is looked for.
struct Wanted {
    folded: String,
    words: Vec<String>,
}

impl Wanted {
    fn new(name: &str) -> Self {
        let name = name.trim().trim_end_matches("()").replace("::", ".").replace(['#', '/'], ".");
        let name = name.trim_matches('.');
        Self { folded: name.to_lowercase(), words: words(name) }
    }

    fn fit(&self, item: &Item) -> Option<Fit> {
        if self.folded.is_empty() {
            return None;
        }
        let name = item.name.to_lowercase();
        let path = item.path.to_lowercase();
        let is_end = |path: &str| {
            path.strip_suffix(&*self.folded).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        if name == self.folded || is_end(&path) {
            return Some(Fit::Exact);
        }
        if name.starts_with(&*self.folded) {
            return Some(Fit::Prefix);
        }
        if name.contains(&*self.folded) {
            return Some(Fit::Part);
        }
        let has_all = |own: &[String]| {
            let is_there = |word: &String| own.iter().any(|other| other.starts_with(&**word));
            !self.words.is_empty() && self.words.iter().all(is_there)
        };
        let in_path = || has_all(&words(&item.path)).then_some(Fit::PathWords);
        if has_all(&words(&item.name)) { Some(Fit::Words) } else { in_path() }
    }

    /// What fits among the items of one file.
    fn among(&self, number: usize, file: &str, outline: Outline, until: &Until) -> Best {
        let is_data = !languages::is_code(outline.language.unwrap_or_default());
        let mut best = Best::default();
        for (at, item) in outline.items.into_iter().enumerate() {
            if at.is_multiple_of(ROUND) && until.is_over() {
                break;
            }
            if let Some(fit) = self.fit(&item) {
                best.count += 1;
                best.hits.push(((fit, is_data, number, at), Hit { file: file.to_owned(), item }));
            } else if best.count == 0 {
                let likeness = strsim::jaro_winkler(&item.name.to_lowercase(), &self.folded);
                if likeness >= LIKENESS {
                    best.near.note(likeness, (number, at), &item.name);
                }
            }
        }
        best
    }
}

/// The words of a name, in lower case: `parseHTTPHeader` and `parse_http_header` have the same three.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() {
            is_open = false;
            continue;
        }
        let before = at.checked_sub(1).map(|before| chars[before]);
        let is_hump = c.is_uppercase()
            && (before.is_some_and(|before| !before.is_uppercase())
                || chars.get(at + 1).is_some_and(|next| next.is_lowercase()));
        match words.last_mut() {
            Some(word) if is_open && !is_hump => word.extend(c.to_lowercase()),
            _ => words.push(c.to_lowercase().collect()),
        }
        is_open = true;
    }
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn item(path: &str) -> Item {
        let name = path.rsplit('.').next().unwrap().to_owned();
        Item {
            kind: "fn",
            name,
            path: path.to_owned(),
            depth: 0,
            signature: String::new(),
            from_line: 1,
            first_line: 1,
            last_line: 1,
        }
    }

    fn fit(wanted: &str, path: &str) -> Option<Fit> {
        Wanted::new(wanted).fit(&item(path))
    }

    /// The items of one file.
    fn among(wanted: &str, number: usize, paths: &[String], gone: &Gone) -> Best {
        let outline = Outline {
            language: Some("rust"),
            lines: 1,
            bytes: 1,
            plain: None,
            errors: Vec::new(),
            errors_left_out: 0,
            items: paths.iter().map(|path| item(path)).collect(),
            left_out: 0,
        };
        let until = Until::after(Duration::from_secs(60), gone);
        Wanted::new(wanted).among(number, "a.rs", outline, &until)
    }

    #[test]
    fn only_the_best_of_many_are_kept_whichever_file_comes_first() {
        let gone = Gone::default();
        let many: Vec<String> = (0..3_000).map(|n| format!("configure_{n}")).collect();
        let files = [&many[..], &["configurex".to_owned(), "configure_7".to_owned()]];
        for order in [[0, 1], [1, 0]] {
            let mut near = Best::default();
            let mut hits = Best::default();
            for number in order {
                near.add(among("configurx", number, files[number], &gone), 3);
                hits.add(among("configure", number, files[number], &gone), 3);
                assert!(near.near.0.len() <= NEAR && hits.hits.len() <= 3);
            }
            assert_eq!(
                near.near.names(),
                ["configurex", "configure_0", "configure_1", "configure_2", "configure_3"]
            );
            let names: Vec<&str> = hits.hits.iter().map(|(_, hit)| &*hit.item.name).collect();
            assert_eq!((names, hits.count), (vec!["configure_0", "configure_1", "configure_2"], 3_002));
        }
    }

    #[test]
    fn nothing_is_compared_for_somebody_who_is_gone() {
        let gone = Gone::default();
        gone.set();
        let best = among("a", 0, &["a".to_owned()], &gone);
        assert_eq!((best.count, best.near.0.len()), (0, 0));
    }

    #[test]
    fn the_name_itself_comes_first() {
        for (wanted, path, expected) in [
            ("getUser", "Store.getUser", Some(Fit::Exact)),
            ("GETUSER", "Store.getUser", Some(Fit::Exact)),
            ("Store::getUser", "api.Store.getUser", Some(Fit::Exact)),
            ("get", "Store.getUser", Some(Fit::Prefix)),
            ("user", "Store.getUser", Some(Fit::Part)),
            ("user get", "Store.getUser", Some(Fit::Words)),
            ("get_user", "Store.getUser", Some(Fit::Words)),
            ("store get", "Store.getUser", Some(Fit::PathWords)),
            ("setUser", "Store.getUser", None),
            ("", "Store.getUser", None),
            ("::", "Store.getUser", None),
        ] {
            assert_eq!(fit(wanted, path), expected, "{wanted} in {path}");
        }
    }

    #[test]
    fn a_name_has_its_words_however_they_are_joined() {
        for name in ["parseHTTPHeader2", "parse_http_header2", "Parse-Http header2", "PARSE_HTTP_HEADER2"] {
            assert_eq!(words(name), ["parse", "http", "header2"], "{name}");
        }
        assert_eq!(words("…"), Vec::<String>::new());
    }
}
