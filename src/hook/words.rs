//! A command line as words: quotes and backslashes are taken as a shell takes them, nothing is expanded.

use std::ops::Range;

/// A word without its quotes, and the bytes of the command that it stands for.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) place: Range<usize>,
    /// It is a letter that ends a call, wherever that stands.
    pub(super) is_end: bool,
}

/// The words of a command; each of the letters `ends` that is not quoted is one by itself.
pub(super) fn words(command: &str, ends: &[char]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut quote = None;
    let mut letters = command.char_indices();
    while let Some((at, letter)) = letters.next() {
        if quote.is_none() && ends.contains(&letter) {
            words.extend(word.take());
            let place = at..at + letter.len_utf8();
            words.push(Word { text: letter.to_string(), place, is_end: true });
            continue;
        }
        if quote.is_none() && letter.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_with(|| Word { text: String::new(), place: at..at, is_end: false });
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None | Some('"'), '\\') => word.text.extend(letters.next().map(|(_, letter)| letter)),
            (_, other) => word.text.push(other),
        }
        word.place.end = letters.offset();
    }
    words.extend(word);
    words
}

/// What is called behind the options of cmem itself: a command, and the words behind it.
pub(super) fn after_options(words: &[Word]) -> Option<(&str, &[Word])> {
    match words {
        [option, _, rest @ ..] if option.text == "--data-dir" => after_options(rest),
        [option, rest @ ..] if option.text.starts_with('-') => after_options(rest),
        [command, rest @ ..] => Some((&command.text, rest)),
        [] => None,
    }
}
