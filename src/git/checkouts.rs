//! When git itself wrote the files of a checkout: their times say then when they came, not when somebody changed them.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::model::Timestamp;

/// How long git may take to write the files of a whole checkout, and those that differ between two commits.
const WHOLE_MS: i64 = 600_000;
const SOME_MS: i64 = 60_000;
/// A reflog counts in whole seconds.
const SECOND_MS: i64 = 1_000;
/// So much of the end of a reflog is read: some 400 movements.
const TAIL: u64 = 64 * 1024;

/// From when to when files of a checkout may have been written by git, as far as its reflog reaches back: a clone, a
/// new worktree, another branch, a reset. What came with a pull or a merge is a change like any other. Reads one file;
/// nothing outside git.
pub fn checkouts(root: &Path) -> Vec<(Timestamp, Timestamp)> {
    let Some((git_dir, made)) = git_dir(root) else { return Vec::new() };
    let (text, is_whole) = tail(&git_dir.join("logs/HEAD")).unwrap_or_default();
    // A line that was cut is none.
    let lines = text.lines().skip(usize::from(!is_whole)).filter_map(Line::parse);
    let spans = spans(&lines.collect::<Vec<_>>());
    let unlogged = made.filter(|_| spans.is_empty() || !is_whole);
    spans.into_iter().chain(unlogged.map(|at| (at, at.plus_ms(WHOLE_MS)))).collect()
}

/// The directory of a checkout's own state; of a linked worktree, also when it was made.
fn git_dir(root: &Path) -> Option<(PathBuf, Option<Timestamp>)> {
    let dot_git = root.join(".git");
    let about = fs::metadata(&dot_git).ok()?;
    if about.is_dir() {
        return Some((dot_git, None));
    }
    let text = fs::read_to_string(&dot_git).ok()?;
    let made = about.modified().ok().map(Timestamp::from);
    Some((root.join(text.strip_prefix("gitdir:")?.trim()), made))
}

fn tail(path: &Path) -> Option<(String, bool)> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let start = length.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), start == 0))
}

/// One movement of HEAD.
struct Line<'a> {
    at: Timestamp,
    /// What moved it; the first line of a new worktree does not say.
    verb: &'a str,
}

impl<'a> Line<'a> {
    /// `OLD NEW NAME <ADDRESS> SECONDS ZONE<tab>WHAT`.
    fn parse(line: &'a str) -> Option<Self> {
        let (who, what) = line.split_once('\t').unwrap_or((line, ""));
        let seconds: i64 = who.rsplit(' ').nth(1)?.parse().ok()?;
        let verb = what.split([':', ' ']).next()?;
        let is_first = line.starts_with("0000000000");
        let verb = if verb.is_empty() && is_first { "clone" } else { verb };
        Some(Self { at: Timestamp(seconds.saturating_mul(SECOND_MS)), verb })
    }
}

/// A clone and a new worktree are logged before their files are written, the other movements after it. What was written
/// before the movement before is none of it, and neither is what was written after the next one.
fn spans(lines: &[Line<'_>]) -> Vec<(Timestamp, Timestamp)> {
    let span = |(index, line): (usize, &Line<'_>)| {
        let before = index.checked_sub(1).and_then(|before| lines.get(before));
        match line.verb {
            "clone" => {
                let latest = line.at.plus_ms(WHOLE_MS);
                let next = lines.get(index + 1).map_or(latest, |next| next.at.plus_ms(SECOND_MS));
                Some((line.at, next.min(latest)))
            }
            "checkout" | "reset" | "rebase" => {
                let earliest = line.at.plus_ms(-SOME_MS);
                let from = before.map_or(earliest, |before| before.at.max(earliest));
                Some((from, line.at.plus_ms(SECOND_MS)))
            }
            _ => None,
        }
    };
    lines.iter().enumerate().filter_map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reflog_tells_when_git_wrote_files() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(checkouts(root.path()), []);
        let logs = root.path().join(".git/logs");
        fs::create_dir_all(&logs).unwrap();
        assert_eq!(checkouts(root.path()), []);
        let zero = "0".repeat(40);
        let one = "1".repeat(40);
        let log = format!(
            "{zero} {one} A B <a@b> 100 +0000\tclone: from https://example.org/x\n\
             {one} {one} A B <a@b> 200 +0200\tcommit: checkout is faster\n\
             {one} {one} A B <a@b> 300 +0000\tcheckout: moving from main to side\n\
             {one} {one} A B <a@b> 400 +0000\tpull: Fast-forward\n\
             {one} {one} A B <a@b> 500 -0100\trebase (start): checkout main\n\
             {one} {one} A B <a@b> soon +0000\treset: moving to HEAD\n\
             {one} {one} A B <a@b> 600 +0000\treset: moving to HEAD\nnonsense\n"
        );
        fs::write(logs.join("HEAD"), &log).unwrap();
        let span = |from: i64, to: i64| (Timestamp(from * 1_000), Timestamp(to * 1_000));
        let rest = [span(440, 501), span(540, 601)];
        assert_eq!(checkouts(root.path()), [&[span(100, 201), span(240, 301)], &rest[..]].concat());
        // Of a long one only the end is read.
        let padding = format!("{one} {one} A B <a@b> 150 +0000\tcommit: {}\n", "x".repeat(TAIL as usize));
        let (first, others) = log.split_once('\n').unwrap();
        fs::write(logs.join("HEAD"), format!("{first}\n{padding}{others}")).unwrap();
        assert_eq!(checkouts(root.path()), [&[span(240, 301)], &rest[..]].concat());
    }

    #[test]
    fn a_linked_worktree_has_a_reflog_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join("main/.git/worktrees/side");
        let root = dir.path().join("side");
        fs::create_dir_all(own.join("logs")).unwrap();
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        let zero = "0".repeat(40);
        fs::write(own.join("logs/HEAD"), format!("{zero} {zero} A <a@b> 100 +0000\t\n")).unwrap();
        assert_eq!(checkouts(&root), [(Timestamp(100_000), Timestamp(700_000))]);
        // Git logs the end of it too.
        fs::write(
            own.join("logs/HEAD"),
            format!(
                "{zero} {zero} A <a@b> 100 +0000\t\n{zero} {zero} A <a@b> 102 +0000\treset: moving to HEAD\n"
            ),
        )
        .unwrap();
        assert_eq!(checkouts(&root), [(Timestamp(100_000), Timestamp(103_000)); 2]);
        // Without a reflog, what is left is when it was made.
        fs::remove_file(own.join("logs/HEAD")).unwrap();
        let found = checkouts(&root);
        assert_eq!(found.len(), 1);
        assert!(Timestamp::now().since_ms(found[0].0) < 60_000);
    }
}
