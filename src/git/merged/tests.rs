//! Every way in which work reaches a main line, or does not, with real git.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::*;

struct Repo {
    dir: tempfile::TempDir,
    main: PathBuf,
    wt: PathBuf,
}

impl Repo {
    /// A main checkout on `main` with two files, and a worktree on `feat`.
    fn new() -> Self {
        let repo = Self::main_only();
        repo.git("main", &["worktree", "add", "-q", "../wt", "-b", "feat"]);
        repo
    }

    fn main_only() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let repo = Self { main: root.join("main"), wt: root.join("wt"), dir };
        fs::create_dir(&repo.main).unwrap();
        repo.git("main", &["init", "-q", "-b", "main"]);
        repo.commit("main", "shared", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        repo.commit("main", "other", "x\n");
        repo
    }

    fn run(&self, at: &str, args: &[&str]) -> (bool, String) {
        let dir = fs::canonicalize(self.dir.path()).unwrap().join(at);
        let output = Command::new("git")
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|name| (name, "t")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|name| (name, "t@example.org")))
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    fn git(&self, at: &str, args: &[&str]) -> String {
        let (fine, text) = self.run(at, args);
        assert!(fine, "git {args:?}: {text}");
        text
    }

    fn commit(&self, at: &str, file: &str, content: &str) -> String {
        let path = fs::canonicalize(self.dir.path()).unwrap().join(at).join(file);
        fs::write(path, content).unwrap();
        self.git(at, &["add", "-A"]);
        self.git(at, &["commit", "-q", "-m", &format!("change {file}")]);
        self.head(at)
    }

    fn head(&self, at: &str) -> String {
        self.git(at, &["rev-parse", "HEAD"])
    }

    fn lines(&self) -> MainLines {
        MainLines::open(&self.main.join(".git"), Duration::from_secs(60)).unwrap()
    }

    /// What would have been recorded of a session in the worktree by now.
    fn recorded(&self) -> Recorded {
        let branch = self.git("wt", &["branch", "--show-current"]);
        let branch = Some(branch.as_str()).filter(|name| !name.is_empty());
        self.lines().record(branch, &self.head("wt"), Some(&self.head("main")))
    }

    fn squash(&self, branch: &str) -> String {
        self.git("main", &["merge", "-q", "--squash", branch]);
        self.git("main", &["commit", "-q", "-m", "squashed"]);
        self.head("main")
    }
}

fn merged_by(verdict: &Verdict) -> (Test, &str) {
    match verdict {
        Verdict::Merged { test, commit, .. } => (*test, commit),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fresh_branch_has_nothing_even_when_main_moves_on() {
    let repo = Repo::new();
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    assert_eq!(repo.lines().verdict(&recorded), Verdict::Nothing);
    // Brought up to date with main, it still has nothing of its own.
    repo.git("wt", &["merge", "-q", "--ff-only", "main"]);
    assert_eq!(repo.lines().verdict(&recorded), Verdict::Nothing);
    assert_eq!(repo.lines().verdict(&Recorded { head: Some(repo.head("wt")), ..recorded }), Verdict::Nothing);
}

#[test]
fn a_merge_a_fast_forward_and_an_octopus() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    let merge = repo.head("main");
    repo.commit("main", "y", "y");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Ancestor, merge.as_str()));

    let repo = Repo::new();
    let tip = repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.git("main", &["merge", "-q", "--ff-only", "feat"]);
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Ancestor, tip.as_str()));
    // Nothing was recorded after the commit: the reflog knows that there was one.
    let early = Recorded { own: None, head: recorded.base.clone(), ..recorded };
    assert_eq!(merged_by(&repo.lines().verdict(&early)).0, Test::Ancestor);

    let repo = Repo::new();
    repo.git("main", &["worktree", "add", "-q", "../wt2", "-b", "feat2"]);
    repo.commit("wt", "a", "a");
    repo.commit("wt2", "b", "b");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    repo.git("main", &["merge", "-q", "-m", "octopus", "feat", "feat2"]);
    let octopus = repo.head("main");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Ancestor, octopus.as_str()));
}

#[test]
fn directory_and_branch_may_be_gone() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    let squash = repo.squash("feat");
    repo.git("main", &["worktree", "remove", "--force", "../wt"]);
    repo.git("main", &["branch", "-q", "-D", "feat"]);
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Squash, squash.as_str()));
    // A new branch of the old name says nothing about the old one.
    repo.git("main", &["branch", "feat"]);
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)).0, Test::Squash);
}

#[test]
fn a_squash_with_later_commits_on_main() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "shared", "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    let recorded = repo.recorded();
    repo.commit("main", "before", "b");
    let squash = repo.squash("feat");
    repo.commit("main", "shared", "one\nsomething else\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Squash, squash.as_str()));
}

#[test]
fn a_rebase_and_cherry_picks() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    for commit in ["feat~1", "feat"] {
        repo.git("main", &["cherry-pick", commit]);
    }
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)).0, Test::Patches);

    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    repo.git("wt", &["rebase", "-q", "main"]);
    repo.git("main", &["merge", "-q", "--ff-only", "feat"]);
    assert_eq!(
        merged_by(&repo.lines().verdict(&recorded)).0,
        Test::Patches,
        "by the commit that was recorded"
    );
}

#[test]
fn partly_cherry_picked_is_open() {
    let repo = Repo::new();
    for file in ["a", "b", "c"] {
        repo.commit("wt", file, file);
    }
    let recorded = repo.recorded();
    repo.git("main", &["cherry-pick", "feat~1"]);
    let open = Verdict::Open { missing: 2, target: String::from("main"), compared: None };
    assert_eq!(repo.lines().verdict(&recorded), open);
}

#[test]
fn a_squash_that_was_amended_or_holds_several_branches() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "shared", "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    let recorded = repo.recorded();
    repo.squash("feat");
    fs::write(repo.main.join("shared"), "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n").unwrap();
    repo.git("main", &["commit", "-q", "-a", "--amend", "-m", "squashed and amended"]);
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)).0, Test::Content);
    // Later edits of the same lines: the commit that held it all is found.
    let amended = repo.head("main");
    repo.commit("main", "shared", "everything is new\n");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Content, amended.as_str()));

    let repo = Repo::new();
    repo.git("main", &["worktree", "add", "-q", "../wt2", "-b", "feat2"]);
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    repo.commit("wt2", "c", "c");
    let recorded = repo.recorded();
    repo.git("main", &["merge", "-q", "--squash", "feat"]);
    fs::copy(repo.wt.parent().unwrap().join("wt2/c"), repo.main.join("c")).unwrap();
    repo.git("main", &["add", "-A"]);
    repo.git("main", &["commit", "-q", "-m", "two branches"]);
    let both = repo.head("main");
    repo.commit("main", "a", "changed since");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Content, both.as_str()));
}

#[test]
fn a_squash_with_a_resolved_conflict_is_known_by_its_message() {
    let repo = Repo::new();
    repo.commit("wt", "shared", "one\nours\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.commit("main", "shared", "one\ntheirs\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
    assert!(!repo.run("main", &["merge", "--squash", "feat"]).0, "a conflict");
    fs::write(repo.main.join("shared"), "one\nboth\nthree\nfour\nfive\nsix\nseven\neight\nnine\n").unwrap();
    repo.git("main", &["add", "-A"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
    repo.git("main", &["commit", "-q", "--no-edit"]);
    let squash = repo.head("main");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Squash, squash.as_str()));
    // A cherry-pick that names one commit of two is not the branch.
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.git("main", &["cherry-pick", "-x", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { missing: 1, .. }));
}

#[test]
fn a_revert_means_not_merged_until_it_is_reverted_itself() {
    for way in ["merge", "squash", "ff"] {
        let repo = Repo::new();
        repo.commit("wt", "a", "a");
        let recorded = repo.recorded();
        if way != "ff" {
            repo.commit("main", "z", "z");
        }
        match way {
            "merge" => drop(repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"])),
            "squash" => drop(repo.squash("feat")),
            _ => drop(repo.git("main", &["merge", "-q", "--ff-only", "feat"])),
        }
        let merge = repo.head("main");
        let mainline: &[&str] = if way == "merge" { &["-m", "1"] } else { &[] };
        repo.git("main", &[&["revert", "--no-edit"], mainline, &["HEAD"]].concat());
        let revert = repo.head("main");
        let reverted = Verdict::Reverted { target: String::from("main"), commit: Some(revert) };
        assert_eq!(repo.lines().verdict(&recorded), reverted, "{way}");
        repo.commit("main", "y", "y");
        repo.git("main", &["revert", "--no-edit", "HEAD~1"]);
        let verdict = repo.lines().verdict(&recorded);
        assert!(matches!(verdict, Verdict::Merged { .. }), "{way}: {verdict:?} {merge}");
    }
    // A revert whose message was rewritten.
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.squash("feat");
    repo.git("main", &["revert", "--no-commit", "HEAD"]);
    repo.git("main", &["commit", "-q", "-m", "no, not yet"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Reverted { .. }));
}

#[test]
fn work_that_goes_on_after_a_merge_is_open_until_it_is_merged_again() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.squash("feat");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { missing: 1, .. }));
    repo.squash("feat");
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }));
}

#[test]
fn a_branch_that_took_main_in_before_it_was_squashed() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("main", "z", "z");
    repo.git("wt", &["merge", "-q", "-m", "main into feat", "main"]);
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { missing: 2, .. }));
    let squash = repo.squash("feat");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Squash, squash.as_str()));
}

#[test]
fn deletions_modes_links_and_binary_files() {
    let repo = Repo::new();
    repo.git("wt", &["rm", "-q", "other"]);
    fs::write(repo.wt.join("picture"), [0_u8, 1, 2, 0]).unwrap();
    repo.git("wt", &["add", "-A"]);
    repo.git("wt", &["update-index", "--chmod=+x", "shared"]);
    repo.git("wt", &["commit", "-q", "-m", "all kinds"]);
    let recorded = repo.recorded();
    repo.commit("main", "shared", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
    let squash = repo.squash("feat");
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)), (Test::Patches, squash.as_str()));
}

#[test]
fn merged_at_the_remote_and_not_pulled_yet() {
    let repo = Repo::main_only();
    repo.git(".", &["clone", "-q", "--bare", "main", "hub.git"]);
    repo.git("main", &["remote", "add", "origin", "../hub.git"]);
    repo.git("main", &["fetch", "-q"]);
    repo.git("main", &["branch", "-q", "--set-upstream-to", "origin/main"]);
    repo.git("main", &["worktree", "add", "-q", "../wt", "-b", "feat"]);
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.git(".", &["clone", "-q", "hub.git", "colleague"]);
    repo.git("wt", &["push", "-q", "origin", "feat"]);
    repo.git("colleague", &["fetch", "-q"]);
    repo.git("colleague", &["merge", "-q", "--squash", "origin/feat"]);
    repo.git("colleague", &["commit", "-q", "-m", "feat (#1)"]);
    repo.git("colleague", &["push", "-q"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }), "nothing is fetched");
    repo.git("main", &["fetch", "-q"]);
    match repo.lines().verdict(&recorded) {
        Verdict::Merged { test: Test::Squash, target, .. } => assert_eq!(target, "origin/main"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_main_checkout_on_the_branch_itself_merges_nothing() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.git("main", &["worktree", "remove", "--force", "../wt"]);
    repo.git("main", &["checkout", "-q", "feat"]);
    assert!(!matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }));
}

#[test]
fn a_shallow_clone_and_missing_objects_say_so() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    repo.squash("feat");
    let url = format!("file://{}", repo.main.display());
    repo.git(".", &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let shallow =
        MainLines::open(&repo.main.with_file_name("shallow").join(".git"), Duration::from_secs(60)).unwrap();
    assert!(matches!(shallow.verdict(&recorded), Verdict::Unknown { .. }));
    let gone = Recorded { head: Some("1".repeat(40)), ..Recorded::default() };
    let Verdict::Unknown { reason } = repo.lines().verdict(&gone) else { panic!() };
    assert_eq!(reason, "commit 1111111 is not in the repository");
    assert!(MainLines::open(repo.dir.path(), Duration::ZERO).is_err());
}

#[test]
fn without_time_nothing_is_adopted() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.squash("feat");
    let lines = MainLines::open(&repo.main.join(".git"), Duration::ZERO).unwrap();
    assert!(matches!(lines.verdict(&recorded), Verdict::Unknown { .. }));
    assert!(lines.is_cut_short());
}

#[test]
fn commits_of_one_second_are_all_walked() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let mut merges = Vec::new();
    for round in 0..6 {
        repo.commit("main", &format!("m{round}"), "m");
        repo.commit("wt", &format!("w{round}"), "w");
        repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
        merges.push(repo.head("main"));
    }
    let lines = repo.lines();
    let head = History::id(&repo.head("main")).unwrap();
    for from in merges {
        let expected = repo.git("main", &["rev-list", "--count", &format!("{from}..HEAD")]);
        let found = lines.history.between(History::id(&from).unwrap(), head, 1_000).unwrap();
        assert_eq!(found.len().to_string(), expected);
    }
}

#[test]
fn what_a_branch_was_made_from_is_not_its_own() {
    // From a remote's main line that the local one does not have yet.
    let repo = Repo::main_only();
    repo.git(".", &["clone", "-q", "--bare", "main", "hub.git"]);
    repo.git(".", &["clone", "-q", "hub.git", "colleague"]);
    repo.commit("colleague", "c", "c");
    repo.git("colleague", &["push", "-q"]);
    repo.git("main", &["remote", "add", "origin", "../hub.git"]);
    repo.git("main", &["fetch", "-q"]);
    repo.git("main", &["worktree", "add", "-q", "../wt", "-b", "feat", "origin/main"]);
    let recorded = repo.recorded();
    assert_eq!(repo.lines().verdict(&recorded), Verdict::Nothing);
    repo.git("main", &["merge", "-q", "--ff-only", "origin/main"]);
    assert_eq!(repo.lines().verdict(&recorded), Verdict::Nothing);

    // From somebody else's branch, which is then merged or squashed; with a reflog and without one.
    for (reflog, squash) in [(true, false), (true, true), (false, false), (false, true)] {
        let repo = Repo::main_only();
        repo.git("main", &["branch", "other"]);
        repo.git("main", &["worktree", "add", "-q", "../other", "other"]);
        repo.commit("other", "o", "o");
        repo.git("main", &["config", "core.logAllRefUpdates", if reflog { "true" } else { "false" }]);
        repo.git("main", &["worktree", "add", "-q", "../wt", "-b", "feat", "other"]);
        let recorded = repo.recorded();
        assert_eq!(recorded.own, None, "reflog {reflog}");
        repo.commit("main", "z", "z");
        if squash {
            repo.squash("other");
        } else {
            repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "other"]);
        }
        let verdict = repo.lines().verdict(&recorded);
        assert_eq!(verdict, Verdict::Nothing, "reflog {reflog}, squash {squash}");
    }
}

#[test]
fn another_branch_of_the_same_name_says_nothing() {
    let repo = Repo::new();
    repo.commit("wt", "thrown away", "x");
    let recorded = repo.recorded();
    repo.git("main", &["worktree", "remove", "--force", "../wt"]);
    repo.git("main", &["branch", "-q", "-D", "feat"]);
    // Reflogs know seconds.
    std::thread::sleep(Duration::from_millis(1_100));
    repo.git("main", &["checkout", "-q", "-b", "feat"]);
    repo.commit("main", "kept", "y");
    repo.git("main", &["checkout", "-q", "main"]);
    repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
}

#[test]
fn a_look_at_a_branch_in_the_main_checkout_merges_nothing() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.git("main", &["checkout", "-q", "--detach", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
    repo.git("main", &["checkout", "-q", "-b", "try", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
    // Wherever the main checkout stands, what is merged into the main line is merged.
    repo.git("main", &["checkout", "-q", "-b", "elsewhere", "main"]);
    repo.git("main", &["branch", "-q", "-f", "main", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }));
    // A branch on which a team collects work is a main line as well.
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    repo.git("main", &["checkout", "-q", "-b", "develop"]);
    repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }));
}

#[test]
fn ordinary_ways_of_taking_work_back() {
    let reverted = |way: &str, arrive: &dyn Fn(&Repo), back: &dyn Fn(&Repo)| {
        let repo = Repo::new();
        repo.commit("wt", "a", "a");
        repo.commit("wt", "shared", "one\nTWO\nthree\nfour\nfive\nsix\nseven\neight\nnine\n");
        let recorded = repo.recorded();
        arrive(&repo);
        assert!(matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }), "{way}");
        back(&repo);
        repo.commit("main", "later", "x");
        let verdict = repo.lines().verdict(&recorded);
        assert!(matches!(verdict, Verdict::Reverted { .. } | Verdict::Open { .. }), "{way}: {verdict:?}");
    };
    let merge = |repo: &Repo| {
        repo.commit("main", "z", "z");
        repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    };
    let fast_forward = |repo: &Repo| drop(repo.git("main", &["merge", "-q", "--ff-only", "feat"]));
    let picks = |repo: &Repo| {
        repo.commit("main", "z", "z");
        repo.git("main", &["cherry-pick", "feat~1", "feat"]);
    };
    let squash = |repo: &Repo| drop(repo.squash("feat"));
    reverted("each commit of a merge", &merge, &|repo| {
        repo.git("main", &["revert", "--no-edit", "feat", "feat~1"]);
    });
    for (way, arrive) in [("fast-forward", &fast_forward as &dyn Fn(&Repo)), ("cherry-picks", &picks)] {
        reverted(way, arrive, &|repo| {
            repo.git("main", &["revert", "-n", "HEAD~2..HEAD"]);
            repo.git("main", &["commit", "-q", "-m", "Back out"]);
        });
    }
    reverted("a squash, with a line in the change log", &squash, &|repo| {
        repo.git("main", &["revert", "-n", "HEAD"]);
        repo.commit("main", "CHANGELOG", "backed out\n");
    });
    // The files went on elsewhere.
    reverted("a squash, beside other edits", &squash, &|repo| {
        repo.git("main", &["revert", "-n", "HEAD"]);
        repo.commit("main", "shared", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    });
}

#[test]
fn a_like_change_elsewhere_is_another_patch() {
    // The same line, in another place of the file.
    let long: String = (0..40).map(|n| format!("line {n}\n")).collect();
    let with = |at: usize| long.replacen(&format!("line {at}\n"), &format!("line {at}\n    retry()\n"), 1);
    let repo = Repo::new();
    repo.commit("main", "long", &long);
    repo.git("wt", &["merge", "-q", "--ff-only", "main"]);
    repo.commit("wt", "long", &with(30));
    let recorded = repo.recorded();
    repo.commit("main", "long", &with(5));
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
    // Other blanks at the ends of lines.
    for (branch, main) in [("x \n", "x\t\n"), ("x\r\n", "x  \n")] {
        let repo = Repo::new();
        repo.commit("wt", "other", branch);
        let recorded = repo.recorded();
        repo.commit("main", "other", main);
        assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }), "{branch:?} {main:?}");
    }
}

#[test]
fn a_message_that_mentions_a_commit_is_no_squash() {
    let repo = Repo::new();
    let tip = repo.commit("wt", "a", "a");
    let recorded = repo.recorded();
    fs::write(repo.main.join("q"), "q").unwrap();
    repo.git("main", &["add", "-A"]);
    repo.git(
        "main",
        &["commit", "-q", "-m", &format!("Another way; see commit {tip} for the abandoned try")],
    );
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
}

#[test]
fn work_that_was_reset_away_is_open_though_the_branch_is_merged() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.git("main", &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.git("wt", &["reset", "-q", "--hard", "main"]);
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Open { .. }));
}

#[test]
fn a_branch_that_took_in_the_main_line_after_its_squash() {
    let repo = Repo::new();
    repo.commit("wt", "a", "a");
    repo.commit("wt", "b", "b");
    repo.squash("feat");
    repo.git("wt", &["merge", "-q", "-m", "main into feat", "main"]);
    let recorded = repo.recorded();
    assert!(matches!(repo.lines().verdict(&recorded), Verdict::Merged { .. }));
    // Commits that cancel each other out have arrived nowhere.
    let repo = Repo::new();
    repo.commit("wt", "other", "y\n");
    repo.commit("wt", "other", "x\n");
    let recorded = repo.recorded();
    repo.commit("main", "z", "z");
    assert_eq!(repo.lines().verdict(&recorded), Verdict::Nothing);
}

#[test]
fn an_amended_squash_may_hold_more_of_a_new_file() {
    let repo = Repo::new();
    repo.commit("wt", "new", "one\ntwo\n");
    repo.commit("wt", "b", "b");
    let recorded = repo.recorded();
    repo.squash("feat");
    fs::write(repo.main.join("new"), "one\nand a half\ntwo\n").unwrap();
    repo.git("main", &["commit", "-q", "-a", "--amend", "-m", "amended"]);
    assert_eq!(merged_by(&repo.lines().verdict(&recorded)).0, Test::Content);
}
