//! Words of the text index that are spelled nearly like another.

use std::cmp::Reverse;

use super::split::{is_spelled_out, is_stop_word};
use crate::embed;
use crate::store::{Store, StoreError};

/// Shorter words are near to everything.
const SHORTEST: usize = 3;
/// Up to so many letters one slip is forgiven, above two: one letter missing, too many, wrong, or two exchanged.
const SHORT: usize = 5;
/// So many letters at the beginning are taken to be right, fewer only if nothing is found: most slips are further
/// back, and the vocabulary is in alphabetical order. Each with the most words that are looked at, which cost about
/// two microseconds; the words of one letter are fewer than that up to some thousand observations.
const RIGHT: [(usize, i64); 3] = [(3, 20_000), (2, 20_000), (1, 4_000)];

/// Whether a slip in a word can be told: not in numbers, short words, and scripts without blanks.
pub fn is_comparable(word: &str) -> bool {
    word.chars().count() >= SHORTEST && is_spelled_out(word)
}

/// Words of observations that are spelled nearly like one that is in none, nearest first.
///
/// # Errors
/// [`StoreError`].
pub fn nearest_words(store: &Store, word: &str) -> Result<Vec<String>, StoreError> {
    if !is_comparable(word) {
        return Ok(Vec::new());
    }
    let wanted = Wanted::new(word);
    // Of this connection alone, and in memory: it works on a database that is open for reading.
    store.conn().execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.observation_words
         USING fts5vocab ('main', 'observations_fts', 'row')",
    )?;
    for (right, most) in RIGHT {
        let found = beginning_alike(store, &wanted, right, most)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

fn beginning_alike(
    store: &Store,
    wanted: &Wanted<'_>,
    right: usize,
    most: i64,
) -> Result<Vec<String>, StoreError> {
    let beginning: String = wanted.word.chars().take(right).collect();
    let mut statement = store
        .conn()
        .prepare_cached("SELECT term FROM observation_words WHERE term >= ?1 AND term <= ?2 LIMIT ?3")?;
    let mut rows = statement.query((&beginning, format!("{beginning}\u{10FFFF}"), most))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let other = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if let Some(distance) = wanted.distance(other) {
            found.push((distance, Reverse(common_beginning(wanted.word, other)), other.to_owned()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(.., word)| word).collect())
}

/// The word for which others are looked at.
struct Wanted<'a> {
    word: &'a str,
    letters: usize,
    slips: usize,
    set: u64,
    /// The model knows it as it is, so it is no slip: only its other forms are of interest.
    is_known: bool,
}

impl<'a> Wanted<'a> {
    fn new(word: &'a str) -> Self {
        let letters = word.chars().count();
        Self {
            word,
            letters,
            slips: if letters > SHORT { 2 } else { 1 },
            set: letter_set(word),
            is_known: embed::tokens(word, 2).len() == 1,
        }
    }

    /// How many slips make the one of the other; `None` = too many.
    fn distance(&self, other: &str) -> Option<usize> {
        let is_form = || other.starts_with(self.word) || self.word.starts_with(other);
        let letters = other.chars().count();
        // A slip changes at most two letters of the set; this spares nearly all words the comparison.
        let near = letters.abs_diff(self.letters) <= self.slips
            && (letter_set(other) ^ self.set).count_ones() as usize <= 2 * self.slips
            && (!self.is_known || is_form())
            && !is_stop_word(other)
            && is_comparable(other);
        near.then(|| strsim::damerau_levenshtein(self.word, other)).filter(|slips| *slips <= self.slips)
    }
}

fn letter_set(word: &str) -> u64 {
    word.chars().fold(0, |set, c| set | 1 << (c as u32 % 64))
}

fn common_beginning(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(word: &str, other: &str) -> bool {
        Wanted::new(word).distance(other).is_some()
    }

    #[test]
    fn slips_are_forgiven_by_the_length_of_the_word() {
        for (word, other) in [
            ("maxretycount", "maxretrycount"),
            ("maxrtrycuont", "maxretrycount"),
            ("cahce", "cache"),
            ("autentication", "authentication"),
            ("jtw", "jwt"),
            ("größ", "größe"),
        ] {
            assert!(near(word, other), "{word} {other}");
        }
        for (word, other) in [("cahcs", "cache"), ("mxrtrycuont", "maxretrycount"), ("fhe", "the")] {
            assert!(!near(word, other), "{word} {other}");
        }
    }

    #[test]
    fn a_word_that_is_spelled_right_is_near_to_its_forms_alone() {
        assert!(near("users", "user") && near("token", "tokens"));
        assert!(!near("login", "logic") && !near("sign", "sigh"));
    }

    #[test]
    fn numbers_are_near_to_nothing() {
        assert!(!near("2025", "2026") && !near("v231", "v232"));
    }
}
