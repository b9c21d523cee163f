//! Which files a branch is about.

use std::path::Path;

use super::history::{History, HistoryError, Id};
use crate::model::Identity;

/// A branch that changes more files than this is about none of them.
const MOST: usize = 1_000;

/// Paths of the files that the branch checked out changed since it left the main line, relative to the root; of what is
/// committed. None for the main line itself, outside git, and where the history is so large that a look at it takes
/// noticeable time: that rule, not the clock, bounds the work, so that the same repository gives the same answer.
pub fn changed_files(identity: &Identity) -> Vec<String> {
    let Some(head) = identity.head.as_deref().and_then(History::id) else { return Vec::new() };
    match History::open(Path::new(&identity.key)) {
        Ok(history) if !history.is_large() => {
            changed(&history, head, identity.branch.as_deref()).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn changed(history: &History, head: Id, branch: Option<&str>) -> Result<Vec<String>, HistoryError> {
    let others = history
        .targets()
        .into_iter()
        .filter(|target| target.branch.is_none() || target.branch.as_deref() != branch);
    let bases = others.filter_map(|target| history.merge_base(head, target.tip));
    // Where it left the main line last: that may have gone further at a remote than here.
    let nearest = bases.reduce(|near, base| if history.is_behind(near, base) { base } else { near });
    let Some(base) = nearest.filter(|base| *base != head) else { return Ok(Vec::new()) };
    let changes = history.changes(Some(history.commit(base)?.tree), history.commit(head)?.tree)?;
    if changes.len() > MOST {
        return Ok(Vec::new());
    }
    Ok(changes.iter().map(|change| String::from_utf8_lossy(&change.path).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::process::Command;

    use super::super::identify;
    use super::*;

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Self(tempfile::tempdir().unwrap());
            repository.git(&["init", "-q", "-b", "main"]);
            repository.commit("first.rs");
            repository
        }

        fn path(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }

        fn git(&self, args: &[&str]) {
            let dates =
                [("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"), ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")];
            let status = Command::new("git")
                .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
                .args(args)
                .envs(dates)
                .current_dir(self.path())
                .status()
                .unwrap();
            assert!(status.success(), "{args:?}");
        }

        fn commit(&self, file: &str) {
            let path = self.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
            self.git(&["add", "."]);
            self.git(&["commit", "-q", "-m", file]);
        }

        fn changed(&self) -> Vec<String> {
            changed_files(&identify(&self.path()))
        }
    }

    #[test]
    fn the_files_of_a_branch_are_those_since_it_left_the_main_line() {
        let r = Repository::new();
        assert_eq!(r.changed(), Vec::<String>::new());
        r.git(&["checkout", "-q", "-b", "side"]);
        assert_eq!(r.changed(), Vec::<String>::new());
        r.commit("src/upload.rs");
        r.commit("src/retry.rs");
        r.git(&["checkout", "-q", "main"]);
        r.commit("unrelated.rs");
        assert_eq!(r.changed(), Vec::<String>::new());
        r.git(&["checkout", "-q", "side"]);
        assert_eq!(r.changed(), ["src/retry.rs", "src/upload.rs"]);
        r.git(&["checkout", "-q", "--detach"]);
        assert_eq!(r.changed(), ["src/retry.rs", "src/upload.rs"]);
        r.git(&["checkout", "-q", "side"]);
        r.git(&["merge", "-q", "-m", "main into side", "main"]);
        assert_eq!(r.changed(), ["src/retry.rs", "src/upload.rs"]);
    }

    #[test]
    fn a_branch_that_changes_everything_is_about_nothing() {
        let r = Repository::new();
        r.git(&["checkout", "-q", "-b", "vendored"]);
        for n in 0..=MOST {
            fs::write(r.path().join(format!("{n}.txt")), "x").unwrap();
        }
        r.commit("last.txt");
        assert_eq!(r.changed(), Vec::<String>::new());
    }

    #[test]
    fn outside_git_nothing_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(changed_files(&identify(dir.path())), Vec::<String>::new());
    }
}
