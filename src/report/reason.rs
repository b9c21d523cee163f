//! Which sentences of a memory give a reason or a cause. By their words: a memory is in any language.

use unicode_segmentation::UnicodeSegmentation;

use crate::model::Observation;

/// Most characters of reasons that are told.
const MAX_CHARS: usize = 600;

/// What begins a reason, lower case: as a word of its own where a script has words, anywhere else.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "because", "due to", "caused by", "the cause", "root cause", "the reason", "so that", "in order to", "since",
    "therefore", "otherwise", "which is why", "that is why", "rather than", "instead of", "to avoid", "as a result",
    "led to", "weil", "denn", "damit", "deshalb", "daher", "wegen", "ursache", "grund", "aufgrund", "parce que",
    "car", "afin de", "à cause", "grâce à", "puisque", "donc", "porque", "debido a", "a causa", "para que", "ya que",
    "por isso", "devido a", "perché", "poiché", "a causa di", "affinché", "omdat", "doordat", "zodat", "vanwege",
    "ponieważ", "dlatego", "żeby", "powodu", "потому что", "из-за", "поэтому", "чтобы", "причина", "тому що", "через те",
    "щоб", "eftersom", "därför", "fordi", "derfor", "koska", "protože", "proto", "mert", "pentru că", "çünkü",
    "nedeniyle", "karena", "agar", "vì", "bởi vì", "لأن", "بسبب", "כי", "בגלל", "क्योंकि", "কারণ", "επειδή", "γιατί",
];
const SIGNS: &[&str] = &[
    "因为",
    "因為",
    "由于",
    "由於",
    "所以",
    "因此",
    "导致",
    "導致",
    "原因",
    "为了",
    "為了",
    "以免",
    "ため",
    "ので",
    "から、",
    "原因は",
    "のせい",
    "때문",
    "그래서",
    "위해",
    "원인",
    "เพราะ",
    "เนื่องจาก",
];

/// The sentences of a memory that give a reason, in their order; `None` where none does.
pub(super) fn reason(memory: &Observation) -> Option<String> {
    let facts = memory.facts.iter().map(String::as_str);
    let texts = [memory.narrative.as_str(), memory.subtitle.as_str()].into_iter().chain(facts);
    let mut told: Vec<&str> = Vec::new();
    let mut chars = 0;
    for sentence in texts.flat_map(UnicodeSegmentation::unicode_sentences).map(str::trim) {
        let length = sentence.chars().count();
        if gives_reason(sentence)
            && !told.contains(&sentence)
            && (told.is_empty() || chars + length <= MAX_CHARS)
        {
            chars += length;
            told.push(sentence);
        }
    }
    (!told.is_empty()).then(|| told.join(" "))
}

/// What a memory says beside its title: the fullest that it has.
pub(super) fn text(memory: &Observation) -> String {
    match (memory.narrative.trim(), memory.subtitle.trim()) {
        ("", "") => memory.facts.join(" "),
        ("", subtitle) => subtitle.to_owned(),
        (narrative, _) => narrative.to_owned(),
    }
}

fn gives_reason(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign)) || WORDS.iter().any(|words| holds(&lower, words))
}

fn holds(text: &str, words: &str) -> bool {
    let is_apart = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(words).any(|(at, found)| {
        is_apart(text[..at].chars().next_back()) && is_apart(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_known_by_its_words() {
        for text in [
            "The lock was kept because the guard lived too long.",
            "Wir nehmen SQLite, weil kein Dienst laufen darf.",
            "因为连接没有归还，所以超时。",
            "接続が返されないためタイムアウトした。",
            "Потому что кэш устарел.",
        ] {
            assert!(gives_reason(text), "{text}");
        }
        for text in ["The carton is blue.", "A carpet was added.", "Retries are five.", ""] {
            assert!(!gives_reason(text), "{text}");
        }
    }
}
