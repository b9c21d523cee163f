//! The one text splitter, for what is indexed and for what is asked.
//!
//! A token is folded (case, compatibility forms, diacritics) and holds ASCII letters and digits or non-ASCII
//! characters only, so that FTS5's `ascii` tokenizer keeps it whole. Words give themselves; identifiers also
//! their parts (`parseHTTPHeader` → `parsehttpheader parse http header`) and, across `_ - . / : @ '`, the
//! whole without separators (`max_retry_count`, `maxRetryCount` and `max-retry-count` share one form).
//! Chinese, Japanese and Korean, and scripts written without blanks (Thai, Lao, Khmer, Burmese), give single
//! characters (grapheme clusters) and pairs: most Chinese words have two characters, which trigrams miss.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// A longer run without any break is no word (base64, minified code); it is cut to this many characters.
const MAX_WORD: usize = 128;

/// One thing that a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Tokens of which each must occur.
    pub parts: Vec<String>,
    /// The joined form of an identifier: finds it however its parts were separated.
    pub whole: Option<String>,
    /// It carries no meaning of its own (`the`, `怎么`): it must not decide what is found.
    pub stop: bool,
    /// A pair of characters of a script without blanks: many such are no words.
    pub pair: bool,
}

/// Tokens of a text, separated by blanks, for a column of a text index.
pub fn tokens(text: &str) -> String {
    let mut out = Indexed(String::with_capacity(text.len() * 2));
    Splitter::new(text).run(&mut out);
    out.0
}

/// What a query asks for, in its order. A query of signs only asks for nothing.
pub fn query_terms(text: &str) -> Vec<Term> {
    let mut out = Asked(Vec::new());
    Splitter::new(text).run(&mut out);
    let mut terms: Vec<Term> = Vec::new();
    for term in out.0 {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

/// How a text writes a token, if it is a word or several that are joined there: `max_retry_count` for
/// `maxretrycount`.
pub fn spelled(text: &str, token: &str) -> Option<String> {
    let chars = Splitter::new(text).chars;
    let is_word = |at: usize| chars.get(at).is_some_and(|c| classify(*c) == Class::Word);
    let word_end = |at: usize| (at..chars.len()).find(|at| !is_word(*at)).unwrap_or(chars.len());
    let starts = (0..chars.len()).filter(|at| is_word(*at) && !(*at > 0 && is_word(at - 1)));
    for start in starts {
        let mut end = word_end(start);
        let mut joined = fold(&chars[start..end]);
        while joined.len() < token.len()
            && token.starts_with(&joined)
            && chars.get(end).is_some_and(|c| CONNECTORS.contains(*c))
            && is_word(end + 1)
        {
            let next = end + 1;
            end = word_end(next);
            joined.push_str(&fold(&chars[next..end]));
        }
        if joined == token {
            return Some(chars[start..end].iter().collect());
        }
    }
    None
}

/// Whether a token is one that people spell letter by letter: in a script with blanks, and no number.
pub(super) fn is_spelled_out(token: &str) -> bool {
    let letters = token.chars().filter(|c| classify(*c) == Class::Word && !c.is_ascii_digit()).count();
    letters * 2 > token.chars().count()
}

/// Whether a token carries no meaning of its own.
pub(super) fn is_stop_word(token: &str) -> bool {
    STOP_WORDS.contains(&token)
}

/// Takes what the splitter finds.
trait Sink {
    /// An identifier or word: its leaf parts, and forms that join several of them.
    fn word(&mut self, parts: &[String], wholes: &[String]);
    /// A run of a script without blanks, as grapheme clusters.
    fn run(&mut self, clusters: &[String]);
    /// A symbol that stands for itself, such as an emoji.
    fn symbol(&mut self, symbol: &str);
}

struct Indexed(String);

impl Indexed {
    fn push(&mut self, token: &str) {
        if !token.is_empty() {
            self.0.push_str(token);
            self.0.push(' ');
        }
    }
}

impl Sink for Indexed {
    fn word(&mut self, parts: &[String], wholes: &[String]) {
        for token in parts.iter().chain(wholes) {
            self.push(token);
        }
    }

    fn run(&mut self, clusters: &[String]) {
        for (index, cluster) in clusters.iter().enumerate() {
            self.push(cluster);
            if let Some(next) = clusters.get(index + 1) {
                self.push(&format!("{cluster}{next}"));
            }
        }
    }

    fn symbol(&mut self, symbol: &str) {
        self.push(symbol);
    }
}

struct Asked(Vec<Term>);

impl Sink for Asked {
    fn word(&mut self, parts: &[String], wholes: &[String]) {
        let stop = parts.len() == 1 && wholes.is_empty() && is_stop_word(&parts[0]);
        self.0.push(Term { parts: parts.to_vec(), whole: wholes.last().cloned(), stop, pair: false });
    }

    fn run(&mut self, clusters: &[String]) {
        let stop = |text: &str| text.chars().any(|c| STOP_CHARACTERS.contains(c));
        if let [only] = clusters {
            self.0.push(Term { parts: vec![only.clone()], whole: None, stop: stop(only), pair: false });
        }
        for pair in clusters.windows(2) {
            let joined = pair.concat();
            self.0.push(Term { stop: stop(&joined), parts: vec![joined], whole: None, pair: true });
        }
    }

    fn symbol(&mut self, symbol: &str) {
        self.0.push(Term { parts: vec![symbol.to_owned()], whole: None, stop: false, pair: false });
    }
}

/// Words that a question is made of, whatever it asks about.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has", "have",
    "how", "i", "in", "is", "it", "its", "my", "not", "of", "on", "or", "our", "that", "the", "their",
    "this", "to", "was", "we", "were", "what", "when", "where", "which", "who", "why", "with", "you", "der",
    "die", "das", "und", "ist", "wie", "ein", "eine", "zu", "von", "mit", "le", "la", "les", "un", "une",
    "et", "est", "des", "du", "en", "que", "el", "los", "las", "y", "es", "de", "por", "para", "como", "il",
    "che", "e", "di", "o", "um", "uma", "os", "as",
];

/// Characters whose pairs with others are grammar rather than words, in Chinese, Japanese and Korean.
const STOP_CHARACTERS: &str = "的了吗呢吧怎么什麼嗎做是在和与與有我你他她它这那這個个们們把被就也都很会會能要为為哪请請の\
はがをにでともやへかなたしてす은는이가을를에의도";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Dense,
    Symbol,
    Other,
}

/// Walks a text once.
#[derive(Debug)]
struct Splitter {
    chars: Vec<char>,
}

impl Splitter {
    fn new(text: &str) -> Self {
        // Compatibility composition turns full-width letters and ligatures into plain ones; ASCII is done.
        let chars = if text.is_ascii() { text.chars().collect() } else { text.nfkc().collect() };
        Self { chars }
    }

    fn class(&self, at: usize) -> Class {
        self.chars.get(at).map_or(Class::Other, |c| classify(*c))
    }

    fn run(&self, sink: &mut impl Sink) {
        let mut at = 0;
        while at < self.chars.len() {
            at = match self.class(at) {
                Class::Word => self.compound(at, sink),
                Class::Dense => self.dense(at, sink),
                Class::Symbol => {
                    sink.symbol(&self.chars[at].to_string());
                    at + 1
                }
                Class::Other => at + 1,
            };
        }
    }

    /// A run of a script without blanks.
    fn dense(&self, start: usize, sink: &mut impl Sink) -> usize {
        let end =
            (start..self.chars.len()).find(|at| self.class(*at) != Class::Dense).unwrap_or(self.chars.len());
        let run: String = self.chars[start..end].iter().flat_map(|c| c.to_lowercase()).collect();
        let clusters: Vec<String> = run.graphemes(true).map(str::to_owned).collect();
        sink.run(&clusters);
        end
    }

    /// Words joined by connectors, each split by case and digits.
    fn compound(&self, start: usize, sink: &mut impl Sink) -> usize {
        let mut parts = Vec::new();
        let mut wholes = Vec::new();
        let mut joined = String::new();
        let mut segments = 0;
        let mut at = start;
        loop {
            let end =
                (at..self.chars.len()).find(|i| self.class(*i) != Class::Word).unwrap_or(self.chars.len());
            let segment = &self.chars[at..end.min(at + MAX_WORD)];
            let before = parts.len();
            pieces(segment, &mut parts);
            let whole = if parts.len() > before + 1 {
                wholes.push(fold(segment));
                &wholes[wholes.len() - 1]
            } else {
                &parts[before]
            };
            if joined.chars().count() < MAX_WORD {
                joined.push_str(whole);
            }
            segments += 1;
            at = end;
            let connects = self.chars.get(at).is_some_and(|c| CONNECTORS.contains(*c));
            if !(connects && self.class(at + 1) == Class::Word) {
                break;
            }
            at += 1;
        }
        if segments > 1 {
            wholes.push(joined.clone());
        }
        if let Some((name, after)) = self.sign_name(start, at, &joined) {
            sink.word(&parts, &wholes);
            sink.word(std::slice::from_ref(&name), &[]);
            return after;
        }
        parts.retain(|part| !part.is_empty());
        if !parts.is_empty() {
            sink.word(&parts, &wholes);
        }
        at
    }

    /// Names that end or begin with signs: `C++`, `C#`, `F#`, `.NET`.
    fn sign_name(&self, start: usize, end: usize, word: &str) -> Option<(String, usize)> {
        // Marks that stand for nothing without a letter leave no word.
        if word.is_empty() {
            return None;
        }
        let sign = |at: usize| self.chars.get(at).copied();
        if word.len() <= 12 && sign(end) == Some('+') && sign(end + 1) == Some('+') {
            return Some((format!("{word}plusplus"), end + 2));
        }
        if word.len() <= 12 && sign(end) == Some('#') && self.class(end + 1) != Class::Word {
            return Some((format!("{word}sharp"), end + 1));
        }
        let starts_name = start > 0
            && sign(start - 1) == Some('.')
            && (start == 1 || !matches!(self.class(start - 2), Class::Word | Class::Dense));
        starts_name.then(|| (format!("dot{word}"), end))
    }
}

const CONNECTORS: &str = "_-./\\:@'’";

fn classify(c: char) -> Class {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Class::Word } else { Class::Other };
    }
    match c as u32 {
        // Kana, Han, Hangul, and their marks; then Thai, Lao, Burmese, Khmer.
        0x3005..=0x3007
        | 0x3041..=0x3096
        | 0x3099..=0x309A
        | 0x309D..=0x309F
        | 0x30A1..=0x30FA
        | 0x30FC..=0x30FF
        | 0x3105..=0x312F
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0x1100..=0x11FF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0x20000..=0x3FFFF => Class::Dense,
        0x0E01..=0x0E3A | 0x0E40..=0x0E4E | 0x0E81..=0x0EDF | 0x1000..=0x109F | 0x1780..=0x17D3 => {
            Class::Dense
        }
        0x2190..=0x21FF | 0x2300..=0x23FF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0x1F000..=0x1FAFF => {
            Class::Symbol
        }
        _ if c.is_alphanumeric() || is_combining_mark(c) => Class::Word,
        _ => Class::Other,
    }
}

/// Parts of a word by case and digits: `parseHTTPHeader2` → parse, http, header, 2.
fn pieces(word: &[char], pieces: &mut Vec<String>) {
    let mut start = 0;
    for at in 1..word.len() {
        let (before, here) = (word[at - 1], word[at]);
        let digit_edge = before.is_ascii_digit() != here.is_ascii_digit();
        let hump = before.is_lowercase() && here.is_uppercase();
        let acronym_end = before.is_uppercase()
            && here.is_uppercase()
            && word.get(at + 1).is_some_and(|c| c.is_lowercase());
        if digit_edge || hump || acronym_end {
            pieces.push(fold(&word[start..at]));
            start = at;
        }
    }
    pieces.push(fold(&word[start..]));
}

/// Lower case, without the diacritics of European scripts.
fn fold(word: &[char]) -> String {
    if word.iter().all(char::is_ascii) {
        return word.iter().map(char::to_ascii_lowercase).collect();
    }
    let lower = word.iter().flat_map(|c| c.to_lowercase());
    let plain = lower.nfd().filter(|c| !matches!(*c as u32, 0x0300..=0x036F)).nfc();
    plain.fold(String::new(), |mut folded, c| {
        match c {
            'ß' => folded.push_str("ss"),
            'ø' => folded.push('o'),
            'đ' => folded.push('d'),
            'ł' => folded.push('l'),
            'ı' => folded.push('i'),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            other => folded.push(other),
        }
        folded
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<String> {
        tokens(text).split(' ').filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }

    /// Whether a row with this text is found by all terms of this query.
    fn finds(query: &str, text: &str) -> bool {
        let row = split(text);
        let has = |token: &String| row.contains(token);
        let terms = query_terms(query);
        !terms.is_empty()
            && terms.iter().all(|term| term.whole.as_ref().is_some_and(has) || term.parts.iter().all(has))
    }

    #[test]
    fn identifiers_whole_and_by_parts() {
        assert_eq!(split("parseHTTPHeader"), ["parse", "http", "header", "parsehttpheader"]);
        assert_eq!(split("max_retry_count"), ["max", "retry", "count", "maxretrycount"]);
        assert_eq!(split("sha256"), ["sha", "256", "sha256"]);
    }

    #[test]
    fn queries_find_what_people_mean() {
        for (query, text) in [
            ("MAX_RETRY_COUNT", "overflow of max_retry_count"),
            ("maxRetryCount", "overflow of max_retry_count"),
            ("retry", "overflow of max_retry_count"),
            ("HTTPHeader", "parseHTTPHeader panics"),
            ("parsehttpheader", "parseHTTPHeader panics"),
            ("body_bytes", "MAX_BODY_BYTES raised"),
            ("dry-run", "use --dry-run-only flag"),
            ("adapter", "class XmlHttpRequestAdapter"),
            ("src/a.rs", "edited src/a.rs today"),
            ("a.rs", "edited src/a.rs today"),
            ("don't", "dont-be-clever"),
            ("dont", "don't do that"),
            ("C++", "ported to C++ and C#"),
            ("c#", "ported to C++ and C#"),
            (".NET", "runs on .NET 9"),
            ("foo->bar", "call foo->bar()"),
            ("ｆｕｌｌ", "full width"),
            ("strasse", "Straße"),
            ("cafe", "CAFÉ au lait"),
            ("生产环境", "部署脚本在生产环境回滚失败"),
            ("回滚", "部署脚本在生产环境回滚失败"),
            ("itgc", "重跑gen-itgc后修复完成"),
            ("デプロイ", "ステージング環境のデプロイ手順"),
            ("파이프라인", "오늘 배포 파이프라인을 복구했다"),
            ("복구", "오늘 배포 파이프라인을 복구했다"),
            ("ระบบ", "เข้าสู่ระบบไม่ได้"),
            ("🚀", "shipped 🚀 today"),
        ] {
            assert!(finds(query, text), "{query} in {text}: {:?} {:?}", query_terms(query), split(text));
        }
    }

    #[test]
    fn queries_do_not_find_what_is_not_there() {
        for (query, text) in
            [("C++", "plain C code"), ("回滚", "回家 滚动"), ("登录", "接口鉴权"), ("cat", "concat")]
        {
            assert!(!finds(query, text), "{query} in {text}");
        }
    }

    #[test]
    fn a_token_is_found_as_the_text_writes_it() {
        for (token, text, written) in [
            ("maxretrycount", "overflow of `max_retry_count`.", Some("max_retry_count")),
            ("maxretrycount", "src/max.rs sets cfg.MAX-RETRY-COUNT", Some("MAX-RETRY-COUNT")),
            ("parsehttpheader", "call parseHTTPHeader()", Some("parseHTTPHeader")),
            ("strasse", "die Straße", Some("Straße")),
            ("retry", "max_retry_count", Some("retry")),
            ("openrs", "moved src/store/open.rs away", Some("open.rs")),
            ("http", "call parseHTTPHeader()", None),
            ("max", "maximum", None),
        ] {
            assert_eq!(spelled(text, token).as_deref(), written, "{token} in {text}");
        }
    }

    #[test]
    fn signs_alone_ask_for_nothing() {
        for query in
            ["", "\u{b8}#", "\u{327}++", " ", "'", "\"", "*", "(", ":", "-", "%", "_", "\u{1}", "，。"]
        {
            assert!(query_terms(query).is_empty(), "{query:?}");
        }
    }

    #[test]
    fn questions_are_mostly_stop_terms() {
        let content = |q: &str| -> Vec<String> {
            query_terms(q).into_iter().filter(|t| !t.stop).flat_map(|t| t.parts).collect()
        };
        assert_eq!(content("登录怎么做的"), ["登录"]);
        assert_eq!(content("how did we do the login"), ["login"]);
    }

    proptest! {
        #[test]
        fn every_word_of_a_text_finds_the_text(text in "\\PC{0,60}") {
            for word in text.split_whitespace() {
                if !query_terms(word).is_empty() {
                    prop_assert!(finds(word, &text), "{} in {}", word, text);
                }
            }
        }

        #[test]
        fn tokens_are_what_the_ascii_tokenizer_keeps_whole(text in any::<String>()) {
            for token in split(&text) {
                prop_assert!(token.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric()), "{}", token);
                prop_assert!(!token.chars().any(|c| c.is_ascii_uppercase()));
            }
        }
    }
}
