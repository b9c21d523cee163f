//! Patches as texts that can be compared: which lines a change takes out and puts in, wherever they stand.

use std::collections::HashSet;

use imara_diff::{Algorithm, Diff, InternedInput};
use sha2::{Digest, Sha256};

use super::history::{Entry, FileChange, History, HistoryError, Id};

/// A larger file is compared by its id.
const MAX_FILE: usize = 1 << 20;

/// What tells two patches apart, after the idea of git-patch-id(1): line numbers do not count, and blanks at line
/// ends only where nothing else changes. One line on each side belongs to it, rather than three: the same line put
/// in elsewhere is another patch, and a main line that moved on nearby is none.
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
                for hunk in hunks(&old, &new) {
                    put(&mut forward, &hunk.removed, &hunk.added);
                    put(&mut inverse, &hunk.added, &hunk.removed);
                    put(&mut forward, &hunk.around, b"");
                    put(&mut inverse, &hunk.around, b"");
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
        if let (None, Some(new), Some(now)) = (change.old, change.new, present) {
            // A file of the branch's own, with more in it by now.
            let (Some(new), Some(now)) = (text(history, Some(new)), text(history, Some(now))) else {
                return Ok(false);
            };
            if !hunks(&new, &now).iter().all(|hunk| hunk.removed.is_empty()) {
                return Ok(false);
            }
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

/// Whether nothing of `changes` is left in `tree`: each changed place is again (or still) as it was before.
pub(super) fn is_gone(history: &History, tree: Id, changes: &[FileChange]) -> Result<bool, HistoryError> {
    for change in changes {
        let present = history.entry(tree, &change.path)?;
        if present == change.old {
            continue;
        }
        let (Some(old), Some(new), Some(now)) = (change.old, change.new, present) else { return Ok(false) };
        let texts = (text(history, Some(old)), text(history, Some(new)), text(history, Some(now)));
        let (Some(old), Some(new), Some(now)) = texts else { return Ok(false) };
        let since = hunks(&old, &now);
        let touched = |hunk: &Hunk| since.iter().any(|other| other.at <= hunk.end && hunk.at <= other.end);
        if hunks(&old, &new).iter().any(touched) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One changed place: where it lies in the old text, the lines that go, the lines that come, and the line before and
/// the line after it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Hunk {
    at: u32,
    end: u32,
    removed: Vec<u8>,
    added: Vec<u8>,
    around: Vec<u8>,
}

fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let lines = |tokens: &[imara_diff::Token], trim: bool| {
        let mut text = Vec::new();
        for token in tokens {
            let line = input.interner[*token];
            text.extend_from_slice(if trim { line.trim_ascii_end() } else { line });
            text.push(b'\n');
        }
        text
    };
    let range = |range: &std::ops::Range<u32>| range.start as usize..range.end as usize;
    diff.hunks()
        .map(|hunk| {
            let (before, after) = (&input.before[range(&hunk.before)], &input.after[range(&hunk.after)]);
            let (mut removed, mut added) = (lines(before, true), lines(after, true));
            if removed == added {
                (removed, added) = (lines(before, false), lines(after, false));
            }
            let neighbour = |at: Option<u32>| {
                at.and_then(|at| input.before.get(at as usize)).map(std::slice::from_ref).unwrap_or_default()
            };
            let above = lines(neighbour(hunk.before.start.checked_sub(1)), true);
            let below = lines(neighbour(Some(hunk.before.end)), true);
            Hunk {
                at: hunk.before.start,
                end: hunk.before.end,
                removed,
                added,
                around: [above, below].join(&b'|'),
            }
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
