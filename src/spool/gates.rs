//! `gates.jsonl`: what was told before files were read, and what the agent did next, a line for each. Only numbers: no
//! text and no path. Bounded: a full file takes the place of the one before.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::SpoolError;
use super::open::locked;
use super::trail::Gate;
use crate::config::Paths;
use crate::model::Timestamp;

/// As for uses: who does not get the lock in this time leaves no line.
const PATIENCE: Duration = Duration::from_millis(50);
/// Some 5,000 files that were gated.
const LARGEST: u64 = 1024 * 1024;
/// No file and no answer has more tokens; a larger number was not written by cmem.
const MOST_TOKENS: usize = 1_000_000_000;

/// What an agent did after memories of a file were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// It read the whole file, for so many tokens.
    Whole(usize),
    /// It read a part of it.
    Part(usize),
    /// It got some of the memories.
    Got(usize),
    /// It looked at an outline of the file, or at an item of it.
    Outlined(usize),
    /// It edited the file.
    Edited,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    at: i64,
    gate: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Told { block: bool, memories: Vec<i64>, tokens: usize, price: usize },
    Then(Then),
}

/// Leaves a note of a gate: what was told cost `tokens`, and all of the file would cost `price`.
pub fn note_gate(paths: &Paths, gate: &Gate, tokens: usize, price: usize) {
    let what = What::Told { block: gate.is_block, memories: gate.told.clone(), tokens, price };
    note(paths, &gate.name, what);
}

/// Leaves a note of what came after it.
pub fn note_next(paths: &Paths, gate: &Gate, then: Then) {
    note(paths, &gate.name, What::Then(then));
}

fn note(paths: &Paths, gate: &str, what: What) {
    // A count that lacks one is not worth a word to anybody who reads a file.
    let _ = append(paths, &Line { at: Timestamp::now().0, gate: gate.to_owned(), what });
}

fn append(paths: &Paths, line: &Line) -> Result<(), SpoolError> {
    let line = serde_json::to_string(line)?;
    let _lock = locked(paths.uses_lock(), PATIENCE)?;
    let path = paths.gates();
    let written = || -> io::Result<()> {
        if fs::metadata(&path).is_ok_and(|file| file.len() > LARGEST) {
            fs::rename(&path, paths.older_gates())?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        let before = file.metadata()?.len();
        let mut last = [b'\n'];
        if let Some(at) = before.checked_sub(1) {
            file.read_exact_at(&mut last, at)?;
        }
        // Whoever was killed at his line must not spoil the next one.
        let start = if last == *b"\n" { "" } else { "\n" };
        file.write_all(format!("{start}{line}\n").as_bytes()).inspect_err(|_| {
            let _ = file.set_len(before);
        })
    };
    written().map_err(|source| SpoolError::File { path: path.clone(), source })
}

impl Line {
    fn is_plausible(&self) -> bool {
        let most = match &self.what {
            What::Told { tokens, price, .. } => *tokens.max(price),
            What::Then(
                Then::Whole(tokens) | Then::Part(tokens) | Then::Got(tokens) | Then::Outlined(tokens),
            ) => *tokens,
            What::Then(Then::Edited) => 0,
        };
        most <= MOST_TOKENS
    }
}

/// What came of the gates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct GateCount {
    /// When the first of them was.
    pub first_at: Option<Timestamp>,
    /// Files of which memories were told beside the read. They save nothing.
    pub hints: u64,
    /// Tokens of what was told there.
    pub hint_tokens: u64,
    /// Reads that were held back.
    pub blocks: u64,
    /// Of these: the whole file was read later in the session after all.
    pub read_whole: u64,
    /// Only parts of it were read.
    pub read_in_part: u64,
    /// Nothing of it was read.
    pub not_read: u64,
    /// After how many gates memories were got that were told there.
    pub looked_up: u64,
    /// After how many the file was outlined, or an item of it unfolded.
    pub outlined: u64,
    /// After how many the file was edited.
    pub edited: u64,
    /// What the files would have cost whose whole was not read, estimated from their sizes.
    pub spared: u64,
    /// What was told at blocks.
    pub told: u64,
    /// Parts of these files that were read.
    pub parts: u64,
    /// Memories that were got after blocks.
    pub got: u64,
    /// Outlines and items of these files after blocks.
    pub outlines: u64,
    /// `spared` without all that the gate itself cost: `told`, `parts`, `got`, `outlines` and `hint_tokens`. Below 0 if
    /// it cost more.
    pub saved: i64,
}

/// One gate with all that came after it.
#[derive(Debug, Default)]
struct Story {
    at: Option<Timestamp>,
    block: bool,
    tokens: usize,
    price: usize,
    whole: bool,
    parts: usize,
    was_read: bool,
    got: usize,
    was_got: bool,
    outlines: usize,
    was_outlined: bool,
    edited: bool,
}

/// Counts the gates since a moment.
///
/// # Errors
/// [`SpoolError::File`] when a file cannot be read.
pub fn count_gates(paths: &Paths, since: Timestamp) -> Result<GateCount, SpoolError> {
    let mut stories: HashMap<String, Story> = HashMap::new();
    for path in [paths.older_gates(), paths.gates()] {
        for line in lines(&path)? {
            let story = stories.entry(line.gate).or_default();
            match line.what {
                What::Told { block, tokens, price, .. } => {
                    (story.at, story.block) = (Some(Timestamp(line.at)), block);
                    (story.tokens, story.price) = (tokens, price);
                }
                What::Then(Then::Whole(_)) => story.whole = true,
                What::Then(Then::Part(tokens)) => {
                    (story.parts, story.was_read) = (story.parts + tokens, true)
                }
                What::Then(Then::Got(tokens)) => (story.got, story.was_got) = (story.got + tokens, true),
                What::Then(Then::Outlined(tokens)) => {
                    (story.outlines, story.was_outlined) = (story.outlines + tokens, true)
                }
                What::Then(Then::Edited) => story.edited = true,
            }
        }
    }
    let mut count = GateCount::default();
    for story in stories.into_values() {
        count.add(&story, since);
    }
    let costs = count.told + count.parts + count.got + count.outlines + count.hint_tokens;
    count.saved = i64::try_from(count.spared).unwrap_or(i64::MAX) - i64::try_from(costs).unwrap_or(i64::MAX);
    Ok(count)
}

impl GateCount {
    fn add(&mut self, story: &Story, since: Timestamp) {
        // What was told may be in a file that is gone.
        let Some(at) = story.at.filter(|at| *at >= since) else { return };
        self.first_at = Some(self.first_at.map_or(at, |first| first.min(at)));
        self.looked_up += u64::from(story.was_got);
        self.outlined += u64::from(story.was_outlined);
        self.edited += u64::from(story.edited);
        if !story.block {
            self.hints += 1;
            self.hint_tokens += story.tokens as u64;
            return;
        }
        self.blocks += 1;
        self.told += story.tokens as u64;
        self.got += story.got as u64;
        self.outlines += story.outlines as u64;
        match (story.whole, story.was_read) {
            // What it read of it would have been read anyway.
            (true, _) => self.read_whole += 1,
            (false, true) => self.read_in_part += 1,
            (false, false) => self.not_read += 1,
        }
        if !story.whole {
            self.spared += story.price as u64;
            self.parts += story.parts as u64;
        }
    }
}

/// The lines of a file; one that was cut off is none, and a missing file has none.
fn lines(path: &Path) -> Result<Vec<Line>, SpoolError> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        outcome => outcome.map_err(|source| SpoolError::File { path: path.to_owned(), source })?,
    };
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok(lines.filter(Line::is_plausible).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(name: &str, is_block: bool) -> Gate {
        Gate { file: String::from("f"), name: name.to_owned(), is_block, told: vec![1, 2] }
    }

    #[test]
    fn a_damaged_file_still_counts() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        note_gate(&paths, &gate("a", true), 100, 5_000);
        note_next(&paths, &gate("a", true), Then::Part(usize::MAX));
        let mut file = OpenOptions::new().append(true).open(paths.gates()).unwrap();
        file.write_all(b"\xff\n{\"at\":1,\"gate\":\"a\",\"th").unwrap();
        note_next(&paths, &gate("a", true), Then::Part(700));
        let count = count_gates(&paths, Timestamp(0)).unwrap();
        assert_eq!((count.blocks, count.parts), (1, 700));
    }

    #[test]
    fn only_what_was_not_read_is_saved_and_everything_that_was_said_costs() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        assert_eq!(count_gates(&paths, Timestamp(0)).unwrap(), GateCount::default());
        let told = |name: &str, is_block| note_gate(&paths, &gate(name, is_block), 100, 5_000);
        let then = |name: &str, then| note_next(&paths, &gate(name, true), then);
        told("insists", true);
        then("insists", Then::Part(50));
        then("insists", Then::Whole(4_900));
        told("part", true);
        then("part", Then::Got(300));
        then("part", Then::Part(700));
        then("part", Then::Edited);
        told("nothing", true);
        then("nothing", Then::Outlined(150));
        then("nothing", Then::Outlined(50));
        told("hint", false);
        then("from before", Then::Got(9));
        let count = count_gates(&paths, Timestamp(0)).unwrap();
        assert_eq!((count.blocks, count.hints), (3, 1));
        assert_eq!((count.read_whole, count.read_in_part, count.not_read), (1, 1, 1));
        assert_eq!((count.looked_up, count.outlined, count.edited), (1, 1, 1));
        assert_eq!((count.spared, count.told, count.parts, count.got), (10_000, 300, 700, 300));
        assert_eq!(count.outlines, 200);
        assert_eq!(count.saved, 10_000 - 300 - 700 - 300 - 200 - 100);
        let later = Timestamp::now().plus_ms(1_000);
        assert_eq!(count_gates(&paths, later).unwrap(), GateCount::default());
    }

    #[test]
    fn a_full_file_makes_room_and_still_counts() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        note_gate(&paths, &gate("old", true), 1, 1);
        let mut file = OpenOptions::new().append(true).open(paths.gates()).unwrap();
        file.write_all(&vec![b'\n'; 1024 * 1024]).unwrap();
        note_gate(&paths, &gate("new", true), 1, 1);
        assert!(fs::metadata(paths.gates()).unwrap().len() < 1_000);
        assert_eq!(count_gates(&paths, Timestamp(0)).unwrap().blocks, 2);
    }
}
