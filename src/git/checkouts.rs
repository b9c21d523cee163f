//! When git itself wrote the files of a checkout: their times say then when they came, not when somebody changed them.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::Timestamp;

/// How long git may have taken to write them: a whole checkout, and what differs between two commits.
const WHOLE: Duration = Duration::from_secs(600);
const SOME: Duration = Duration::from_secs(60);
/// So much of the end of a reflog is read: some 400 movements.
const TAIL: u64 = 64 * 1024;

/// When files of a checkout were written by git, and for how long at most, as far as its reflog reaches back: a clone, a
/// new worktree, another branch, a reset. What came with a pull or a merge is a change like any other. Reads one file;
/// nothing outside git.
pub fn checkouts(root: &Path) -> Vec<(Timestamp, Duration)> {
    let Some((git_dir, made)) = git_dir(root) else { return Vec::new() };
    let mut found: Vec<_> = made.map(|at| (at, WHOLE)).into_iter().collect();
    let (text, is_whole) = tail(&git_dir.join("logs/HEAD")).unwrap_or_default();
    // A line that was cut is none.
    let lines = text.lines().skip(usize::from(!is_whole));
    found.extend(lines.filter_map(movement));
    found
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

/// `OLD NEW NAME <ADDRESS> SECONDS ZONE<tab>WHAT`, where it is about a checkout.
fn movement(line: &str) -> Option<(Timestamp, Duration)> {
    let (who, what) = line.split_once('\t').unwrap_or((line, ""));
    let seconds: i64 = who.rsplit(' ').nth(1)?.parse().ok()?;
    let takes = match what.split([':', ' ']).next()? {
        "clone" => WHOLE,
        "checkout" | "reset" | "rebase" => SOME,
        // The first line of a new worktree says nothing.
        "" if line.starts_with("0000000000") => WHOLE,
        _ => return None,
    };
    Some((Timestamp(seconds.saturating_mul(1_000)), takes))
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
        let at = |seconds: i64| Timestamp(seconds * 1_000);
        let rest = [(at(300), SOME), (at(500), SOME), (at(600), SOME)];
        assert_eq!(checkouts(root.path()), [&[(at(100), WHOLE)], &rest[..]].concat());
        // Of a long one only the end is read.
        let padding = format!("{one} {one} A B <a@b> 150 +0000\tcommit: {}\n", "x".repeat(TAIL as usize));
        let (first, others) = log.split_once('\n').unwrap();
        fs::write(logs.join("HEAD"), format!("{first}\n{padding}{others}")).unwrap();
        assert_eq!(checkouts(root.path()), rest);
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
        let found = checkouts(&root);
        assert_eq!((found.len(), found[1]), (2, (Timestamp(100_000), WHOLE)));
        assert!(Timestamp::now().since_ms(found[0].0) < 60_000);
    }
}
