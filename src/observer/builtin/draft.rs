//! One turn as one observation, and what of it belongs into the summary.

use super::edits::{Edit, edits};
use super::keywords::keywords;
use super::kind;
use super::runs::{Runs, runs};
use super::sentences::{self, Sentence, headline, names_something, sentences, tells, weight};
use super::turn::Turn;
use super::words::{Language, Words, fill};
use crate::mode::Mode;
use crate::model::Draft;
use crate::observer::evidence::{self, Files};
use crate::observer::text::{head, one_line, shorten};

const MAX_REQUEST: usize = 300;
const MAX_NARRATIVE: usize = 1_000;
const MAX_FACT: usize = 300;
const MAX_FILES: usize = 12;
const MAX_FINDINGS: usize = 6;
/// A message that says less than this (in Latin characters), such as "Done.", is no conclusion.
const BRIEF: usize = 20;
/// A message that says at least this much is worth keeping without any evidence.
const TALKATIVE: usize = 240;

/// A turn, understood.
pub(super) struct Understood {
    /// What the user asked, in one line; empty when the prompt says nothing ("go on").
    pub(super) request: String,
    pub(super) message: Vec<Sentence>,
    pub(super) edits: Vec<Edit>,
    pub(super) runs: Runs,
    pub(super) files: Files,
    /// A tool was called: what is said stands on evidence.
    pub(super) looked: bool,
    pub(super) words: &'static Words,
    /// The title of the observation.
    pub(super) title: String,
}

/// Reads a turn. `locale` is the language that the mode prescribes, if it does.
pub(super) fn understand(turn: &Turn<'_>, root: &str, locale: Option<Language>) -> Understood {
    let words = locale.unwrap_or_else(|| Language::of(&[turn.prompt, turn.message])).words();
    let mut message = sentences(turn.message);
    if message.iter().all(|sentence| sentence.talk) {
        message = turn.reports.iter().flat_map(|report| sentences(report)).collect();
    }
    let edits = edits(&turn.events, root);
    let runs = runs(&turn.events, root, words);
    let request = request(turn.prompt);
    let title = title(&message, &request, &edits, &runs, words);
    let files = evidence::files(&turn.events, root);
    Understood { request, message, edits, runs, files, looked: !turn.events.is_empty(), words, title }
}

/// What a prompt asks for: its first sentences that say something, without code and markup.
fn request(prompt: &str) -> String {
    let prompt = without_tags(head(prompt, 8_000));
    // What a user pastes (a log, somebody else's words) is not what the user asks.
    let own = prompt.lines().skip_while(|line| is_pasted(line)).take_while(|line| !is_pasted(line));
    let mut line = String::new();
    for sentence in sentences(&own.collect::<Vec<_>>().join("\n")) {
        if !line.is_empty() && line.chars().count() + sentence.text.chars().count() > MAX_REQUEST {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&sentence.text);
        if sentence.bullet {
            line.push(';');
        }
    }
    let line = shorten(one_line(&line).trim_end_matches(';'), MAX_REQUEST);
    let says_little = weight(&line) < 12 && line.split(' ').count() < 3;
    if says_little || is_nod(&line) { String::new() } else { line }
}

fn is_pasted(line: &str) -> bool {
    let line = line.trim();
    let starts = ["> ", "$ ", "❯", "[", "=>", "at ", "Traceback", "    at", "diff --git", "+++", "---", "//"];
    let letters = line.chars().filter(|c| c.is_alphanumeric()).count();
    let signs = line.chars().filter(|c| !c.is_alphanumeric() && *c != ' ').count();
    starts.iter().any(|start| line.starts_with(start)) || (line.len() > 20 && letters < 2 * signs)
}

fn is_nod(line: &str) -> bool {
    let lower = line.to_lowercase();
    let lower = lower.trim_end_matches(['.', '!', '。', '！']);
    let nods = [
        "please continue",
        "continue please",
        "go on",
        "go ahead",
        "yes please",
        "please go on",
        "keep going",
        "yes, go ahead",
        "sounds good to me",
        "do it please",
        "try it again",
        "try again",
        "looks good to me",
        "继续",
        "请继续",
        "好的继续",
        "請繼續",
        "続けて",
        "続けてください",
        "계속해",
        "계속해줘",
        "mach weiter",
        "weiter bitte",
        "continue",
        "sigue",
        "continúa",
    ];
    nods.contains(&lower)
}

/// Prompts of slash commands come wrapped: `<command-name>/x</command-name><command-args>…`.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let inside = rest[1..].bytes().position(|b| b == b'>').filter(|end| *end <= 60);
        let is_tag = |tag: &str| {
            let name = tag.trim_start_matches('/');
            name.contains('-') && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        };
        match inside {
            Some(end) if is_tag(&rest[1..=end]) => {
                plain.push(' ');
                rest = &rest[end + 2..];
            }
            _ => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn title(message: &[Sentence], request: &str, edits: &[Edit], runs: &Runs, words: &Words) -> String {
    let best = headline(message);
    let spoken = || best.map(|(_, sentence)| sentences::title(&sentence.text));
    let asked = || Some(request).filter(|text| !text.is_empty()).map(sentences::title);
    let committed = || {
        let subject = runs.commits.last()?.split_once(": ")?.1;
        Some(sentences::title(without_prefix(subject)))
    };
    let edited = || Some(sentences::title(&edits.first()?.fact(words)));
    let ran = || Some(shorten(&one_line(&runs.facts.first()?.replace('`', "")), 90));
    let loose =
        || message.iter().find(|sentence| !sentence.talk).map(|sentence| sentences::title(&sentence.text));
    // A commit's subject was written to be a title; only a message that opens with its result is better.
    let found = match best {
        Some((score, _)) if score >= 9 || runs.commits.is_empty() => spoken(),
        _ => committed().or_else(spoken),
    };
    found.or_else(asked).or_else(edited).or_else(ran).or_else(loose).unwrap_or_default()
}

/// Without the type of a conventional commit: `fix(ui): x` is `x`.
fn without_prefix(subject: &str) -> &str {
    match subject.split_once(": ") {
        Some((prefix, rest)) if !prefix.contains(' ') && !rest.trim().is_empty() => rest.trim(),
        _ => subject,
    }
}

impl Understood {
    /// Whether somebody will want to know this later.
    pub(super) fn matters(&self) -> bool {
        if self.title.is_empty() {
            return false;
        }
        let work =
            !self.edits.is_empty() || !self.runs.commits.is_empty() || self.runs.recovered || self.runs.acted;
        let said: usize = self.conclusion().map(|sentence| weight(&sentence.text)).sum();
        let telling =
            self.conclusion().any(|sentence| names_something(&sentence.text) || tells(&sentence.text));
        let ruled = kind::decides(&self.request);
        work || ruled
            || (self.runs.failed && said > 0)
            || (self.looked && said >= BRIEF)
            || (telling && said >= 40 && self.asked_about_program())
            || (telling && said >= TALKATIVE)
    }

    /// The question names something of the program, so that its answer is about it as well.
    fn asked_about_program(&self) -> bool {
        names_something(&self.request) || self.conclusion().any(|sentence| names_something(&sentence.text))
    }

    fn conclusion(&self) -> impl Iterator<Item = &Sentence> {
        self.message.iter().filter(|sentence| !sentence.talk)
    }

    /// The observation.
    pub(super) fn draft(&self, mode: &Mode) -> Draft {
        let (narrative, rest) = self.narrative();
        let kind = kind::kind(&self.request, &self.title, &self.edits, &self.runs);
        let facts = self.facts(&rest);
        let said = format!("{}\n{}\n{narrative}", self.title, self.request);
        let core = format!("{}\n{}\n{}", self.title, self.request, facts.join("\n"));
        let concepts = kind::concepts(kind, &said, &self.edits, &self.runs);
        let paths = self.files.modified.iter().chain(&self.files.read).map(String::as_str);
        let names = self.edits.iter().filter(|edit| edit.is_code()).flat_map(Edit::names);
        let same = one_line(&self.title.to_lowercase()) == one_line(&self.request.to_lowercase());
        Draft {
            r#type: mode.type_or_first(kind).to_owned(),
            title: self.title.clone(),
            subtitle: if same { String::new() } else { shorten(&self.request, 160) },
            narrative,
            keywords: keywords(names, paths, &said, &core),
            facts,
            concepts: concepts.into_iter().filter(|word| mode.has_concept(word)).map(str::to_owned).collect(),
            files_read: self.files.read.clone(),
            files_modified: self.files.modified.clone(),
            supersedes: Vec::new(),
        }
    }

    /// The request and the assistant's conclusion, as far as they fit, and the sentences that do not.
    fn narrative(&self) -> (String, Vec<&Sentence>) {
        let mut text = String::new();
        if !self.request.is_empty() {
            text = fill(self.words.request, &[&self.request]);
        }
        let says_more = |sentence: &&Sentence| {
            !sentence.heading || names_something(&sentence.text) || tells(&sentence.text)
        };
        let all: Vec<&Sentence> = self.conclusion().filter(says_more).collect();
        let (kept, rest) = choose(&all, MAX_NARRATIVE);
        for sentence in kept {
            let wide = sentence.text.chars().next().is_some_and(|c| u32::from(c) >= 0x2E80);
            match () {
                () if text.is_empty() => {}
                () if sentence.begins => text.push('\n'),
                () if !wide => text.push(' '),
                () => {}
            }
            if sentence.bullet && sentence.begins {
                text.push_str("- ");
            }
            text.push_str(&sentence.text);
        }
        (text, rest)
    }

    fn facts(&self, rest: &[&Sentence]) -> Vec<String> {
        let mut facts: Vec<String> = self.runs.facts.clone();
        facts.extend(self.edits.iter().take(MAX_FILES).map(|edit| edit.fact(self.words)));
        if self.edits.len() > MAX_FILES {
            facts.push(fill(self.words.more_files, &[&(self.edits.len() - MAX_FILES).to_string()]));
        }
        let findings =
            rest.iter().filter(|sentence| names_something(&sentence.text) && tells(&sentence.text));
        facts.extend(findings.take(MAX_FINDINGS).map(|sentence| sentence.text.clone()));
        facts.iter().map(|fact| shorten(&one_line(fact), MAX_FACT)).collect()
    }
}

/// The sentences that say most and fit into `room` characters, in their order, and the others.
fn choose<'a>(all: &[&'a Sentence], room: usize) -> (Vec<&'a Sentence>, Vec<&'a Sentence>) {
    let length = |sentence: &Sentence| sentence.text.chars().count() + 1;
    if all.iter().map(|sentence| length(sentence)).sum::<usize>() <= room {
        return (all.to_vec(), Vec::new());
    }
    let value = |index: usize, sentence: &Sentence| {
        let telling = 2 * i32::from(names_something(&sentence.text)) + 2 * i32::from(tells(&sentence.text));
        telling + 3 * i32::from(index == 0) - i32::from(sentence.bullet) - 4 * i32::from(sentence.heading)
    };
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|index| all.get(*index).map_or(0, |sentence| -value(*index, sentence)));
    let mut left = room;
    let mut chosen: Vec<usize> = Vec::new();
    for index in order {
        let Some(sentence) = all.get(index) else { continue };
        if !sentence.heading && length(sentence) <= left {
            left -= length(sentence);
            chosen.push(index);
        }
    }
    let of = |wanted: bool| {
        let matching = all.iter().enumerate().filter(|(index, _)| chosen.contains(index) == wanted);
        matching.map(|(_, sentence)| *sentence).collect()
    };
    (of(true), of(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_one_line_and_say_something() {
        for (prompt, expected) in [
            (
                "Add a farewell function to src/app.py and run it.",
                "Add a farewell function to src/app.py and run it.",
            ),
            (
                "Please fix:\n\n- the login\n- the logout\n\n```\nlog\n```",
                "Please fix: the login; the logout",
            ),
            (
                "<command-name>/review</command-name> <command-args>src/a.rs for races</command-args>",
                "/review src/a.rs for races",
            ),
            ("continue", ""),
            ("ok", ""),
            ("继续", ""),
            ("Please continue.", ""),
            ("修复登录错误", "修复登录错误"),
            ("Use Vec<String> here <b>now</b>", "Use Vec<String> here <b>now</b>"),
        ] {
            assert_eq!(request(prompt), expected, "{prompt}");
        }
        assert!(request(&"word ".repeat(5_000)).chars().count() <= MAX_REQUEST);
    }
}
