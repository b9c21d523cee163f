//! Memories that say the same in nearly the same words: told once, the newest of them.

use std::collections::{BTreeSet, HashMap};

use super::question::cosine;
use crate::embed::{self, Query};
use crate::index::{self, Meaning};
use crate::model::Observation;
use crate::store::{Store, StoreError};

/// What two memories of other titles must have in common: both vectors, and each word of either with one of the other. Among
/// the 1,408 texts of `tests/eval` (handmade, commits, React in English) one pair has as much, and it is a commit and the
/// merge that repeats it; the nearest two that are not the same reach a cosine of 0.962.
const LEAST_COSINE: f64 = 0.97;
const LEAST_MAXSIM: f32 = 0.9;
/// What stands for the number of a counter in a title.
const COUNT: &str = "#";
/// What a number before it counts, in Chinese.
const MEASURES: &str = "个個次条條项項件处處行轮輪遍";
/// What a number after it counts.
const ROUNDS: [&str; 8] = ["attempt", "try", "run", "round", "pass", "iteration", "retry", "take"];

/// Each memory once, in the order of `rows`: where several are near-copies, the newest of them in the place of the best, or
/// the newest of those that are pinned. At most so many.
///
/// # Errors
/// [`StoreError`].
pub(super) fn each_once(
    store: &Store,
    rows: Vec<Observation>,
    most: usize,
) -> Result<Vec<Observation>, StoreError> {
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let kept = index::kept(store, &ids)?;
    let mut titles: HashMap<String, usize> = HashMap::new();
    let mut told: Vec<Told<'_>> = Vec::new();
    for row in rows {
        let key = title_key(&row.title);
        let meaning = kept.get(&row.id);
        // Without titles two have nothing in common yet.
        let known = titles.get(&key).copied().filter(|_| !key.is_empty());
        let copy = known.or_else(|| told.iter_mut().position(|other| other.is_copy(&row, meaning)));
        let Some(place) = copy else {
            // Further ones may still be newer copies of these.
            if told.len() >= most {
                continue;
            }
            titles.insert(key, told.len());
            told.push(Told::new(row, meaning));
            continue;
        };
        titles.insert(key, place);
        let rank = |row: &Observation| (row.pinned, row.created_at, row.id);
        if rank(&row) > rank(&told[place].row) {
            told[place] = Told::new(row, meaning);
        }
    }
    Ok(told.into_iter().map(|told| told.row).collect())
}

/// A memory that is told, ready to be compared.
struct Told<'a> {
    row: Observation,
    meaning: Option<&'a Meaning>,
    numbers: BTreeSet<String>,
    pieces: Option<Query>,
}

impl<'a> Told<'a> {
    fn new(row: Observation, meaning: Option<&'a Meaning>) -> Self {
        let numbers = numbers(&row);
        Self { row, meaning, numbers, pieces: None }
    }

    /// Whether both say nearly the same, and no other number.
    fn is_copy(&mut self, row: &Observation, meaning: Option<&Meaning>) -> bool {
        let (Some(ours), Some(theirs)) = (self.meaning, meaning) else { return false };
        let near = match (&ours.vector, &theirs.vector) {
            (Some(a), Some(b)) => cosine(embed::dot(a, b)) >= LEAST_COSINE,
            _ => false,
        };
        if !near || numbers(row) != self.numbers {
            return false;
        }
        let met = |query: &mut Option<Query>, of: &Meaning| {
            query.as_mut().is_some_and(|query| query.maxsim(&of.tokens) >= LEAST_MAXSIM)
        };
        if self.pieces.is_none() {
            self.pieces = pieces(ours);
        }
        met(&mut self.pieces, theirs) && met(&mut pieces(theirs), ours)
    }
}

fn pieces(meaning: &Meaning) -> Option<Query> {
    let weighted: Vec<_> = meaning.tokens.iter().map(|token| (*token, 1.0)).collect();
    Query::new(&weighted)
}

/// The numbers that a memory names, but for counters.
fn numbers(row: &Observation) -> BTreeSet<String> {
    let text = [row.title.as_str(), &row.narrative, &row.facts.join("\n")].join("\n");
    words(&text).into_iter().filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// A title but for case, punctuation and the numbers of counters; without words, the title itself.
fn title_key(title: &str) -> String {
    let words = words(title);
    if words.is_empty() { title.trim().to_owned() } else { words.join(" ") }
}

/// The words of a text in lower case, [`COUNT`] in place of the number of a counter: `3 files`, `attempt 3`, `3/7`, `(3)`,
/// `3 次`. A number that is a name (`note 3`, `port 80`, `v2`) is none.
fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    let mut numbers: Vec<usize> = Vec::new();
    let chars: Vec<char> = lower.chars().collect();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if !c.is_alphanumeric() {
            at += 1;
            continue;
        }
        let is_digit = c.is_ascii_digit();
        let from = at;
        let same =
            |c: &char| if is_digit { c.is_ascii_digit() } else { c.is_alphanumeric() && !c.is_ascii_digit() };
        while chars.get(at).is_some_and(same) {
            at += 1;
        }
        let word: String = chars[from..at].iter().collect();
        let before = from.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or(' ');
        let after = chars.get(at).copied().unwrap_or(' ');
        let measured =
            chars[at..].iter().find(|c| **c != ' ').is_some_and(|c| MEASURES.contains(*c)) && before != '第';
        // `第3条` is the third.
        let alone = !before.is_alphanumeric() || measured;
        if is_digit && alone {
            let counts = ROUNDS.contains(&words.last().map_or("", String::as_str))
                || (before == '(' && after == ')')
                || (before == '/' && from > 1 && chars[from - 2].is_ascii_digit())
                || (after == '/' && chars.get(at + 1).is_some_and(char::is_ascii_digit))
                || measured;
            if counts {
                words.push(COUNT.to_owned());
                continue;
            }
            if after == ' ' {
                numbers.push(words.len());
            }
        }
        words.push(word);
    }
    // A plural after it says that something is counted.
    for place in numbers {
        let plural = |word: &String| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
        if words.get(place + 1).is_some_and(plural) {
            COUNT.clone_into(&mut words[place]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_title_is_no_copy_for_that() {
        let folder = tempfile::tempdir().unwrap();
        let paths = crate::config::Paths::resolve(Some(folder.path())).unwrap();
        let store = Store::open(&paths).unwrap();
        let untitled = |id, narrative: &str| Observation {
            id,
            narrative: narrative.to_owned(),
            ..crate::retrieve::tests::observed("")
        };
        let rows =
            || vec![untitled(1, "Releases are cut on Tuesdays."), untitled(2, "The cache lives in Redis.")];
        assert_eq!(each_once(&store, rows(), 10).unwrap().len(), 2);
    }

    #[test]
    fn titles_are_compared_without_what_says_nothing() {
        for (a, b) in [
            ("Ran 120 tests", "ran 125 tests."),
            ("Build failed (attempt 3)", "Build failed: attempt 4!"),
            ("Migrated 3/7 tables", "Migrated 4/7 tables"),
            ("Login `works`", "login works"),
            ("修复了 3 个测试", "修复了 4 个测试"),
            ("通过120个测试", "通过125个测试"),
        ] {
            assert_eq!(title_key(a), title_key(b), "{a}");
        }
        for (a, b) in [
            ("note 3", "note 4"),
            ("The port is 8080", "The port is 9090"),
            ("Added /v1/users", "Added /v2/users"),
            ("Fixed issue #12", "Fixed issue #13"),
            ("sha256 sums", "sha512 sums"),
            ("第3条规则", "第4条规则"),
            ("🚀", "✨"),
        ] {
            assert_ne!(title_key(a), title_key(b), "{a}");
        }
    }
}
