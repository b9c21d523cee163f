//! Symbols of a name across a tree.

use std::path::Path;

use serde::Serialize;

use super::tree::{TreeError, outlines};
use super::{Item, languages};

/// Most names that are offered instead of one that is not there.
const NEAR: usize = 5;
/// What is less alike is another name.
const LIKENESS: f64 = 0.8;

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
    /// Whether there are more files than were looked into, or no time was left for them.
    pub is_cut: bool,
}

/// Looks for symbols of a name, or a path (`Type.method`), in the files of a directory; at most `limit` of them.
/// Upper and lower case are the same. Keys of data files and headings count too.
///
/// # Errors
/// [`TreeError`] when it is no directory.
pub fn find(directory: &Path, name: &str, limit: usize) -> Result<Found, TreeError> {
    let (outlines, is_cut) = outlines(directory)?;
    let wanted = Wanted::new(name);
    let mut ranked: Vec<(Fit, bool, Hit)> = Vec::new();
    let mut near: Vec<(f64, String)> = Vec::new();
    for (file, outline) in outlines {
        let is_code = languages::is_code(outline.language.unwrap_or_default());
        for item in outline.items {
            match wanted.fit(&item) {
                Some(fit) => ranked.push((fit, !is_code, Hit { file: file.clone(), item })),
                None if ranked.is_empty() => wanted.note(&item, &mut near),
                None => {}
            }
        }
    }
    ranked.sort_by_key(|(fit, is_data, _)| (*fit, *is_data));
    let left_out = ranked.len().saturating_sub(limit);
    let hits: Vec<Hit> = ranked.into_iter().take(limit).map(|(.., hit)| hit).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = if hits.is_empty() && left_out == 0 {
        near.into_iter().take(NEAR).map(|(_, name)| name).collect()
    } else {
        Vec::new()
    };
    Ok(Found { hits, left_out, near, is_cut })
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

    fn note(&self, item: &Item, near: &mut Vec<(f64, String)>) {
        let likeness = strsim::jaro_winkler(&item.name.to_lowercase(), &self.folded);
        if likeness >= LIKENESS && !near.iter().any(|(_, name)| *name == item.name) {
            near.push((likeness, item.name.clone()));
        }
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
    use super::*;

    fn fit(wanted: &str, path: &str) -> Option<Fit> {
        let name = path.rsplit('.').next().unwrap().to_owned();
        let item = Item {
            kind: "fn",
            name,
            path: path.to_owned(),
            depth: 0,
            signature: String::new(),
            from_line: 1,
            first_line: 1,
            last_line: 1,
        };
        Wanted::new(wanted).fit(&item)
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
