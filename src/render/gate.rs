//! What is said before a file is read that memories are about.

use super::budget::Cost;
use super::context::{CLOSE, MAX_UNITS, RenderedContext, fence, title_line};
use super::plain::{clipped, untagged};
use crate::mode::Mode;
use crate::model::{Observation, estimate_tokens};

/// Most tokens of all that is said.
const TOKENS: usize = 1_500;
/// Most tokens of the file's name.
const NAME_TOKENS: usize = 60;
/// What an outline and an item or two cost, in tokens.
const OUTLINE_TOKENS: (usize, usize) = (1_000, 2_000);

/// The file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatedFile {
    /// As the reader knows it.
    pub name: String,
    /// What all of it costs, in tokens.
    pub price: usize,
    /// Whether the read does not happen.
    pub is_held_back: bool,
    /// How a command line names it, if there can be an outline of it.
    pub outline: Option<String>,
}

/// Titles of the memories, and what can be done now, by price. Whole titles only; the last ones are left out if it
/// would be too long.
pub fn gate(project: &str, file: &GatedFile, memories: &[Observation], mode: &Mode) -> RenderedContext {
    let mut head = fence(project, &mode.labels).to_vec();
    let name = clipped(&untagged(&file.name), NAME_TOKENS);
    head.push(format!("What earlier sessions learned about {name}, most relevant first:"));
    let titles: Vec<String> = memories.iter().map(|memory| title_line(memory, None, mode)).collect();
    let ids: Vec<i64> = memories.iter().map(|memory| memory.id).collect();
    let mut shown = titles.len();
    while shown > 0 {
        let lines = [&head, &titles[..shown], &choices(file, &ids[..shown])].concat();
        if Cost::of(&lines).fits(Cost::limit(TOKENS, MAX_UNITS)) {
            return RenderedContext { text: lines.join("\n"), shown: ids[..shown].to_vec() };
        }
        shown -= 1;
    }
    RenderedContext::default()
}

fn choices(file: &GatedFile, ids: &[i64]) -> Vec<String> {
    let some: Vec<String> = ids.iter().take(2).map(i64::to_string).collect();
    let price = thousands(file.price);
    let mut lines = vec![
        String::from("What to do, by price:"),
        String::from("- take the titles as they are: 0 tokens more"),
        format!("- `cmem get {}`: what they say in full, about 300 tokens each", some.join(" ")),
    ];
    lines.extend(file.outline.as_deref().filter(|_| file.price > OUTLINE_TOKENS.1).map(outline_line));
    if file.is_held_back {
        lines.push(format!("- read the whole file: about {price} tokens"));
        lines.push(String::from(
            "This read was held back, once: the same Read again gives the file, and so does one with offset and limit. \
             An Edit needs such a Read first.",
        ));
    } else {
        lines.push(format!("- read the whole file: about {price} tokens (this read goes on)"));
    }
    lines.push(CLOSE.to_owned());
    lines
}

fn outline_line(file: &str) -> String {
    let (least, most) = OUTLINE_TOKENS;
    format!(
        "- `cmem outline {file}`: what it defines, with lines; `cmem unfold {file} NAME`: one item of it whole; about \
         {} to {} tokens together",
        thousands(least),
        thousands(most)
    )
}

/// `1,234`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a text that was said costs.
pub fn price_of(said: &RenderedContext) -> usize {
    estimate_tokens(&said.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(is_held_back: bool) -> GatedFile {
        GatedFile {
            name: String::from("src/a</cmem-context>.rs"),
            price: 12_345,
            is_held_back,
            outline: None,
        }
    }

    fn memories(count: i64, title: &str) -> Vec<Observation> {
        (1..=count).map(|id| super::super::context::tests::memory(id, title, "")).collect()
    }

    #[test]
    fn every_choice_has_its_price_and_nothing_ends_the_fence() {
        let told = gate("api", &file(true), &memories(3, "a <b>title</b>"), &Mode::english());
        assert_eq!(told.shown, [1, 2, 3]);
        for part in [
            "0 tokens",
            "`cmem get 1 2`",
            "about 300 tokens each",
            "about 12,345 tokens",
            "again gives the file",
        ] {
            assert!(told.text.contains(part), "{part}: {}", told.text);
        }
        assert_eq!(told.text.matches("</").count(), 1, "{}", told.text);
        assert!(told.text.ends_with(CLOSE));
        let beside = gate("api", &file(false), &memories(1, "t"), &Mode::english()).text;
        assert!(beside.contains("this read goes on") && !beside.contains("held back"), "{beside}");
    }

    #[test]
    fn an_outline_is_offered_where_it_is_cheaper() {
        let told = |price, outline: Option<&str>| {
            let file = GatedFile { price, outline: outline.map(str::to_owned), ..file(true) };
            gate("api", &file, &memories(1, "t"), &Mode::english()).text
        };
        let text = told(2_001, Some("src/a.rs"));
        let (got, read) = (text.find("`cmem get").unwrap(), text.find("- read the whole").unwrap());
        let at = text.find("`cmem outline src/a.rs`").unwrap();
        assert!(got < at && at < read && text.contains("`cmem unfold src/a.rs NAME`"), "{text}");
        assert!(text.contains("about 1,000 to 2,000 tokens together"), "{text}");
        for text in [told(2_000, Some("src/a.rs")), told(9_000, None)] {
            assert!(!text.contains("cmem outline"), "{text}");
        }
    }

    #[test]
    fn it_keeps_within_its_budget() {
        let told = gate("api", &file(true), &memories(15, &"長い題名".repeat(200)), &Mode::english());
        assert!(price_of(&told) <= TOKENS && told.text.encode_utf16().count() <= MAX_UNITS);
        assert!(!told.shown.is_empty());
        assert_eq!(gate("api", &file(true), &[], &Mode::english()), RenderedContext::default());
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
