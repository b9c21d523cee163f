//! The session so far, from its turns.

use super::draft::Understood;
use super::sentences::{Sentence, names_something, tells, warns, weight};
use super::words::fill;
use crate::model::SummaryDraft;
use crate::observer::text::{one_line, shorten};

/// Longest field, in characters.
const MAX_FIELD: usize = 900;
/// Titles of earlier turns that are repeated, and files that are named.
const MAX_TITLES: usize = 6;
const MAX_FILES: usize = 12;

/// Writes the summary; `titles` are those recorded earlier in the session.
pub(super) fn summary(turns: &[Understood], titles: &[String]) -> Option<SummaryDraft> {
    let last = turns.last()?;
    let words = last.words;
    let field = |lines: Vec<String>| {
        let mut kept: Vec<String> = Vec::new();
        let mut room = MAX_FIELD;
        for line in lines.into_iter().map(|line| shorten(&one_line(&line), 300)) {
            let length = line.chars().count();
            if length <= room && !line.is_empty() && !kept.contains(&line) {
                room -= length;
                kept.push(line);
            }
        }
        kept.join("\n")
    };
    let said = |wanted: &dyn Fn(&Sentence) -> bool, most: usize| {
        let matching = turns.iter().flat_map(|turn| &turn.message).filter(|sentence| wanted(sentence));
        matching.take(most).map(|sentence| sentence.text.clone()).collect::<Vec<_>>()
    };
    let mut read: Vec<&str> = Vec::new();
    for path in turns.iter().flat_map(|turn| &turn.files.read).map(String::as_str) {
        if !read.contains(&path) && read.len() < MAX_FILES {
            read.push(path);
        }
    }
    let investigated =
        if read.is_empty() { Vec::new() } else { vec![fill(words.looked_at, &[&read.join(words.list)])] };
    let mut completed: Vec<String> = Vec::new();
    for turn in turns.iter().filter(|turn| !turn.edits.is_empty() || turn.runs.acted || turn.runs.recovered) {
        completed.push(turn.title.clone());
        completed.extend(turn.runs.commits.iter().cloned());
        completed.extend(turn.edits.iter().take(MAX_FILES).map(|edit| edit.fact(words)));
    }
    let mut next: Vec<String> =
        turns.iter().rev().take(1).flat_map(|turn| turn.runs.failing.clone()).collect();
    next.extend(said(&|sentence| sentence.next && !sentence.heading, 5));
    let mut notes = said(&|sentence| warns(&sentence.text) && !sentence.heading && !sentence.talk, 3);
    if !titles.is_empty() {
        let earlier: Vec<&str> = titles.iter().rev().take(MAX_TITLES).rev().map(String::as_str).collect();
        notes.push(fill(words.earlier, &[&earlier.join(words.clauses)]));
    }
    let known = |sentence: &Sentence| {
        let states = !sentence.talk && !sentence.next && !sentence.heading && tells(&sentence.text);
        states && !warns(&sentence.text) && (names_something(&sentence.text) || weight(&sentence.text) >= 50)
    };
    let mut learned: Vec<String> = Vec::new();
    for turn in turns.iter().filter(|turn| turn.edits.is_empty() && !turn.runs.acted) {
        learned.push(turn.title.clone());
    }
    let plain = |text: &str| text.replace('`', "").trim_end_matches(['.', '。', '!', '！']).to_lowercase();
    let heads: Vec<String> = turns.iter().map(|turn| plain(&turn.title)).collect();
    learned.extend(
        said(&known, 5).into_iter().filter(|text| !heads.iter().any(|head| plain(text).starts_with(head))),
    );
    let summary = SummaryDraft {
        request: field(turns.iter().map(|turn| turn.request.clone()).collect()),
        investigated: field(investigated),
        learned: field(learned),
        completed: field(completed),
        next_steps: field(next),
        notes: field(notes),
    };
    let first_five =
        [&summary.request, &summary.investigated, &summary.learned, &summary.completed, &summary.next_steps];
    first_five.iter().any(|text| !text.is_empty()).then_some(summary)
}
