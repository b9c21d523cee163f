//! A text as pieces of the model's vocabulary, by the rules of `model/FORMAT.md`: runs of one script, words cut at
//! the joints of identifiers, and the likeliest division (Viterbi) of what is no piece as a whole.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::Token;
use super::model::{Hash, LONGEST_PIECE, UNKNOWN, find, score, simplified};

/// Begins a word in the vocabulary.
const WORD_START: char = '\u{2581}';

/// The scripts that are treated differently. The ranges are part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Digit,
    Letter,
    /// Chinese characters and kana: no blanks between words.
    Han,
    /// Korean: words take endings, but there are blanks.
    Hangul,
    Separator,
}

/// The first `most` tokens of a text; empty for a text without letters or digits.
pub fn tokens(text: &str, most: usize) -> Vec<Token> {
    let chars: Vec<char> = match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text.chars().map(simplified).collect(),
        _ => text.nfkc().map(simplified).collect(),
    };
    let classes: Vec<Class> = chars.iter().copied().map(class).collect();
    let mut out = Vec::new();
    let (mut at, mut before) = (0, Class::Separator);
    while at < chars.len() && out.len() < most {
        let start = at;
        let run_of = |wanted: &[Class]| {
            start + classes[start..].iter().take_while(|class| wanted.contains(class)).count()
        };
        match classes[at] {
            Class::Separator => {
                at += 1;
                before = Class::Separator;
            }
            Class::Han => {
                at = run_of(&[Class::Han]);
                likeliest(&chars[start..at], &mut out);
                before = Class::Han;
            }
            Class::Hangul => {
                at = run_of(&[Class::Hangul]);
                word(&chars[start..at], before != Class::Letter, &mut out);
                before = Class::Hangul;
            }
            Class::Letter | Class::Digit => {
                at = run_of(&[Class::Letter, Class::Digit]);
                at += name_suffix(&chars, start, at);
                identifier(&chars[start..at], &classes[start..at], &mut out);
                before = Class::Letter;
            }
        }
    }
    out.truncate(most);
    out
}

/// How many characters after a one-letter word belong to the name of a language: `C++`, `C#`, `F#`.
fn name_suffix(chars: &[char], start: usize, end: usize) -> usize {
    if end - start != 1 {
        return 0;
    }
    match (chars[start], chars.get(end), chars.get(end + 1)) {
        ('c' | 'C', Some('+'), Some('+')) => 2,
        ('c' | 'C' | 'f' | 'F', Some('#'), _) => 1,
        _ => 0,
    }
}

/// Letters and digits: as a whole if that is a piece, otherwise cut where a name has its joints.
fn identifier(run: &[char], classes: &[Class], out: &mut Vec<Token>) {
    if let Some(token) = find(hash(lower(run, true))) {
        out.push(token);
        return;
    }
    let mut start = 0;
    for at in 1..=run.len() {
        if at == run.len() || is_joint(run, classes, at) {
            word(&run[start..at], true, out);
            start = at;
        }
    }
}

fn is_joint(run: &[char], classes: &[Class], at: usize) -> bool {
    let (left, right) = (run[at - 1], run[at]);
    let digits_meet_letters = (classes[at - 1] == Class::Digit) != (classes[at] == Class::Digit);
    let word_begins = left.is_lowercase() && right.is_uppercase();
    let acronym_ends = left.is_uppercase()
        && right.is_uppercase()
        && run.get(at + 1).is_some_and(|next| next.is_lowercase());
    digits_meet_letters || word_begins || acronym_ends
}

fn word(run: &[char], initial: bool, out: &mut Vec<Token>) {
    let lowered: Vec<char> = lower(run, initial).collect();
    match find(hash(lowered.iter().copied())) {
        Some(token) => out.push(token),
        None => likeliest(&lowered, out),
    }
}

fn lower(run: &[char], initial: bool) -> impl Iterator<Item = char> + '_ {
    initial.then_some(WORD_START).into_iter().chain(run.iter().flat_map(|c| c.to_lowercase()))
}

fn hash(chars: impl Iterator<Item = char>) -> Hash {
    chars.fold(Hash::EMPTY, Hash::with)
}

/// The division into pieces with the highest product of probabilities (Viterbi); a character that no piece holds
/// is passed over.
fn likeliest(chars: &[char], out: &mut Vec<Token>) {
    let mut best = vec![(f32::NEG_INFINITY, 0, None); chars.len() + 1];
    best[0].0 = 0.0;
    for start in 0..chars.len() {
        let so_far = best[start].0;
        let mut hash = Hash::EMPTY;
        for (length, c) in chars[start..].iter().take(LONGEST_PIECE).enumerate() {
            hash = hash.with(*c);
            let Some(token) = find(hash) else { continue };
            let (end, total) = (start + length + 1, so_far + score(token));
            if total > best[end].0 {
                best[end] = (total, start, Some(token));
            }
        }
        if so_far + UNKNOWN > best[start + 1].0 {
            best[start + 1] = (so_far + UNKNOWN, start, None);
        }
    }
    let first = out.len();
    let mut at = chars.len();
    while at > 0 {
        let (_, start, token) = best[at];
        out.extend(token);
        at = start;
    }
    out[first..].reverse();
}

fn class(c: char) -> Class {
    match u32::from(c) {
        0x30..=0x39 => Class::Digit,
        0xd7 | 0xf7 | 0x37e | 0x387 | 0x30fb => Class::Separator,
        0x41..=0x5a
        | 0x61..=0x7a
        | 0xaa
        | 0xb5
        | 0xba
        | 0xc0..=0x2af
        | 0x300..=0x52f
        | 0x531..=0x587
        | 0x5d0..=0x5ea
        | 0x620..=0x6ff
        | 0x900..=0xe7f
        | 0x10a0..=0x10ff
        | 0x1e00..=0x1fff => Class::Letter,
        0x3005
        | 0x3007
        | 0x3040..=0x30ff
        | 0x31f0..=0x31ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x20000..=0x2fa1f => Class::Han,
        0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7a3 => Class::Hangul,
        _ => Class::Separator,
    }
}
