//! Patches as texts that can be compared: which lines a change takes out and puts in, wherever they stand.

use std::collections::HashSet;

use imara_diff::{Algorithm, Diff, InternedInput};
use sha2::{Digest, Sha256};

use super::history::{Entry, FileChange, History, HistoryError, Id};

/// A larger file is compared by its id.
const MAX_FILE: usize = 1 << 20;

/// What tells two patches apart, after the idea of git-patch-id(1): neither line numbers nor blanks at line ends
/// count. Unlike there, the lines around a change do not count either: the same change on a main line that moved
/// on is the same patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatchId {
    /// The change.
    pub(super) forward: [u8; 32],
    /// The change that undoes it.
    pub(super) inverse: [u8; 32],
}

/// The id of a set of changes.
pub(super) fn patch_id(history: &History, changes: &[FileChange]) -> PatchId {
    let (mut forward, mut inverse) = (Sha256::new(), Sha256::new());
    for change in changes {
        for hash in [&mut forward, &mut inverse] {
            hash.update(change.path.len().to_le_bytes());
            hash.update(&change.path);
        }
        let mode = |entry: Option<Entry>| entry.map_or(0, |(_, mode)| mode).to_le_bytes();
        let (old, new) = (mode(change.old), mode(change.new));
        put(&mut forward, &old, &new);
        put(&mut inverse, &new, &old);
        match (text(history, change.old), text(history, change.new)) {
            (Some(old), Some(new)) => {
                for (removed, added) in hunks(&old, &new).into_iter().map(|hunk| (hunk.removed, hunk.added)) {
                    put(&mut forward, &removed, &added);
                    put(&mut inverse, &added, &removed);
                }
            }
            _ => {
                let id = |entry: Option<Entry>| entry.map_or_else(Vec::new, |(id, _)| id.as_slice().to_vec());
                let (old, new) = (id(change.old), id(change.new));
                put(&mut forward, &old, &new);
                put(&mut inverse, &new, &old);
            }
        }
    }
    PatchId { forward: forward.finalize().into(), inverse: inverse.finalize().into() }
}

/// Whether a three-way merge of `changes` into `tree` would leave it as it is: every change is there already.
pub(super) fn contains(history: &History, tree: Id, changes: &[FileChange]) -> Result<bool, HistoryError> {
    for change in changes {
        let present = history.entry(tree, &change.path)?;
        if present == change.new {
            continue;
        }
        let (Some(old), Some(new), Some(now)) = (change.old, change.new, present) else { return Ok(false) };
        if now == old || now.1 != new.1 && new.1 != old.1 {
            return Ok(false);
        }
        let texts = (text(history, Some(old)), text(history, Some(new)), text(history, Some(now)));
        let (Some(old), Some(new), Some(now)) = texts else { return Ok(false) };
        let there: HashSet<Hunk> = hunks(&old, &now).into_iter().collect();
        if !hunks(&old, &new).iter().all(|hunk| there.contains(hunk)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One changed place: where it begins in the old text, the lines that go, the lines that come.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Hunk {
    at: u32,
    removed: Vec<u8>,
    added: Vec<u8>,
}

fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let lines = |tokens: &[imara_diff::Token]| {
        let mut text = Vec::new();
        for token in tokens {
            text.extend_from_slice(input.interner[*token].trim_ascii_end());
            text.push(b'\n');
        }
        text
    };
    let range = |range: &std::ops::Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| Hunk {
            at: hunk.before.start,
            removed: lines(&input.before[range(&hunk.before)]),
            added: lines(&input.after[range(&hunk.after)]),
        })
        .collect()
}

/// The lines of a file; none for one that is not there.
fn text(history: &History, entry: Option<Entry>) -> Option<Vec<u8>> {
    match entry {
        Some(entry) => history.text(entry, MAX_FILE),
        None => Some(Vec::new()),
    }
}

fn put(hash: &mut Sha256, removed: &[u8], added: &[u8]) {
    for part in [removed, added] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
}
