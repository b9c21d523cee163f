//! Worktrees: what is recorded while somebody works there, and how it comes home.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cmem::spool::FileLock;
use serde_json::{Value, json};

use crate::common::world::{Ran, binary};
use crate::common::{ModelServer, World, payload};

struct Scene {
    world: World,
    _model: ModelServer,
    app: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        let app = world.repository("app");
        Self { world, _model: model, app }
    }

    fn git(&self, dir: &Path, args: &[&str]) {
        self.world.git(dir, args);
    }

    fn cmem(&self, dir: &Path, args: &[&str]) -> Ran {
        self.world.cmem_in(dir, args, b"")
    }

    /// One event of a session that stands in `dir`.
    fn send(&self, dir: &Path, event: &str, fields: Value) -> Ran {
        self.world.hook(&payload::event(event, dir, fields))
    }

    fn worktree(&self, folder: &str, branch: &str) -> PathBuf {
        let path = self.world.path(folder);
        self.git(&self.app, &["worktree", "add", "-q", path.to_str().unwrap(), "-b", branch]);
        path
    }

    fn commit(&self, dir: &Path, file: &str) {
        fs::write(dir.join(file), file).unwrap();
        self.git(dir, &["add", "-A"]);
        self.git(dir, &["commit", "-q", "-m", file]);
    }

    fn note(&self, text: &str, dir: &Path) {
        self.world.note_in(dir, text);
    }

    /// The worktree `wt` on the branch `feat`, with a commit and a lesson that is stored.
    fn learned(&self, lesson: &str) -> PathBuf {
        let wt = self.worktree("wt", "feat");
        self.commit(&wt, "a");
        self.note(lesson, &wt);
        self.world.drain();
        wt
    }

    fn squash(&self, branch: &str) {
        self.git(&self.app, &["merge", "-q", "--squash", branch]);
        self.git(&self.app, &["commit", "-q", "-m", "squashed"]);
    }

    fn adopt(&self, args: &[&str]) -> Value {
        self.cmem(&self.app, &[&["adopt", "--json"], args].concat()).json()
    }

    fn sees(&self, dir: &Path, word: &str) -> bool {
        self.world.search_in(dir, word).iter().any(|title| title.contains(word))
    }

    /// Every pointer, in the order of the rows.
    fn pointers(&self) -> i64 {
        self.world.number("memory.db", "SELECT count(*) FROM observations WHERE merged_into IS NOT NULL")
    }
}

/// Branch, state and test of every worktree in a report.
fn states(report: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let worktrees = report["worktrees"].as_array().unwrap();
    worktrees.iter().map(|w| (text(&w["branch"]), text(&w["state"]), text(&w["matched_by"]))).collect()
}

#[test]
fn a_dry_run_says_what_would_happen_and_why_and_writes_nothing() {
    let scene = Scene::new();
    let merged = scene.worktree("wt-merged", "feat/auth");
    scene.commit(&merged, "a");
    scene.commit(&merged, "b");
    scene.note("jwt choice", &merged);
    let open = scene.worktree("wt-open", "open");
    scene.commit(&open, "o");
    scene.note("open thought", &open);
    let fresh = scene.worktree("wt-fresh", "fresh");
    scene.note("fresh thought", &fresh);
    let detached = scene.world.path("wt-detached");
    scene.git(&scene.app, &["worktree", "add", "-q", "--detach", detached.to_str().unwrap()]);
    scene.note("detached thought", &detached);
    scene.world.drain();
    scene.squash("feat/auth");
    scene.commit(&scene.app, "later");

    let dry = scene.adopt(&["--dry-run"]);
    let expected = [
        ("feat/auth", "merged", "squash"),
        ("open", "open", "-"),
        ("fresh", "nothing", "-"),
        ("-", "detached", "-"),
    ];
    assert_eq!(states(&dry), expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    assert_eq!((&dry["dry_run"], &dry["adopted_observations"]), (&json!(true), &json!(1)));
    assert_eq!((&dry["parent"], &dry["worktrees"][0]["name"]), (&json!("app"), &json!("app/wt-merged")));
    assert!(!scene.sees(&scene.app, "jwt"));
    let keys: Vec<&String> = dry.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["repo", "parent", "dry_run", "worktrees", "adopted_observations", "adopted_summaries"]);

    let text = scene.cmem(&scene.app, &["adopt", "--dry-run"]).ok();
    for line in [
        "merged by squash into main at ",
        "open: 1 commit not in main",
        "nothing to adopt yet: no commit of its own",
        "detached at ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }

    // The real run gives the same report, and says "adopted" from then on.
    let mut real = scene.adopt(&[]);
    real["dry_run"] = json!(true);
    assert_eq!(real, dry);
    assert!(scene.sees(&scene.app, "jwt") && scene.sees(&merged, "jwt"));
    assert!(!scene.sees(&scene.app, "thought"));
    let again = scene.adopt(&[]);
    assert_eq!(
        (&again["worktrees"][0]["state"], &again["adopted_observations"]),
        (&json!("adopted"), &json!(0))
    );
    scene.world.assert_sound();
}

#[test]
fn adoption_is_a_pointer_that_later_rows_follow_and_undo_takes_away() {
    let scene = Scene::new();
    let wt = scene.learned("first lesson");
    scene.squash("feat");
    assert_eq!(scene.adopt(&[])["adopted_observations"], 1);
    scene.note("second lesson", &wt);
    scene.world.drain();
    assert_eq!(scene.pointers(), 2);

    // Every reader shows where it comes from.
    let line = scene.cmem(&scene.app, &["search", "second"]).ok();
    assert!(line.contains("← app/wt, merged"), "{line}");
    let hit = &scene.cmem(&scene.app, &["search", "second", "--json"]).json()["results"][0];
    assert_eq!((&hit["project"], &hit["merged_into"]), (&json!("app/wt"), &json!("app")));
    let id = hit["id"].to_string();
    let whole = scene.cmem(&scene.app, &["get", &id]).ok();
    assert!(whole.contains("app/wt") && whole.contains("merged"), "{whole}");
    let context = scene.cmem(&scene.app, &["context"]).ok();
    assert!(context.contains("second lesson"), "{context}");
    let around = scene.cmem(&scene.app, &["timeline", &id]).ok();
    assert!(around.contains("first lesson"), "{around}");

    let undone = scene.adopt(&["--undo"]);
    assert_eq!(undone["worktrees"][0]["state"], "released");
    assert_eq!(scene.pointers(), 0);
    assert!(!scene.sees(&scene.app, "lesson") && scene.sees(&wt, "lesson"));
    // By itself it does not come back; asked for, it does.
    scene.send(&scene.app, "SessionStart", json!({"session_id": "next"})).answer();
    scene.world.drain();
    assert_eq!(scene.pointers(), 0);
    assert_eq!(scene.adopt(&[])["worktrees"][0]["state"], "held");
    assert_eq!(scene.adopt(&["--branch", "feat"])["adopted_observations"], 2);
}

#[test]
fn it_comes_home_by_itself() {
    // A session starts in the main checkout after the merge.
    let scene = Scene::new();
    let wt = scene.learned("lesson of the worktree");
    scene.squash("feat");
    scene.git(&scene.app, &["worktree", "remove", "--force", wt.to_str().unwrap()]);
    scene.git(&scene.app, &["branch", "-q", "-D", "feat"]);
    let answer = scene.send(&scene.app, "SessionStart", json!({"session_id": "next"})).answer().unwrap();
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("lesson of the worktree") && told.contains("app/wt"), "{told}");
    assert!(scene.sees(&scene.app, "lesson"));

    // A session in the main checkout merges.
    let scene = Scene::new();
    let _ = scene.learned("lesson of the worktree");
    scene.squash("feat");
    let merge = json!({"tool_input": {"command": "git merge --squash feat && git commit -m x"},
                       "tool_response": {"stdout": "@@merged it@@", "stderr": ""}});
    scene.send(&scene.app, "PostToolUse", merge).silent();
    scene.world.drain();
    assert!(scene.sees(&scene.app, "lesson"));

    // The worktree is about to be removed.
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.note("lesson of the worktree", &wt);
    scene.commit(&wt, "a");
    scene.squash("feat");
    let removed = json!({"worktree_path": wt});
    scene.send(&scene.app, "WorktreeRemove", removed).silent();
    scene.git(&scene.app, &["worktree", "remove", "--force", wt.to_str().unwrap()]);
    scene.world.drain();
    assert!(scene.sees(&scene.app, "lesson"));
}

#[test]
fn a_repository_is_looked_at_once_for_each_state() {
    let scene = Scene::new();
    for (folder, branch) in [("wt", "feat"), ("wt2", "open")] {
        let wt = scene.worktree(folder, branch);
        scene.commit(&wt, folder);
        scene.note(&format!("lesson of {folder}"), &wt);
    }
    scene.world.drain();
    scene.squash("feat");
    let start = |session: &str| {
        scene.send(&scene.app, "SessionStart", json!({"session_id": session})).answer();
        scene.world.drain();
        scene.world.number("memory.db", "SELECT at FROM adoption_checks")
    };
    let first = start("one");
    assert_eq!(scene.pointers(), 1);
    assert_eq!(start("two"), first, "nothing changed");
    scene.commit(&scene.app, "more");
    assert_ne!(start("three"), first);
}

#[test]
fn what_cannot_be_done_is_said() {
    let scene = Scene::new();
    let nothing = scene.adopt(&[]);
    assert_eq!(nothing["worktrees"], json!([]));
    let wt = scene.worktree("wt", "feat");
    scene.note("lesson", &wt);
    scene.world.drain();
    let error = scene.cmem(&scene.app, &["adopt", "--branch", "no/such"]).failed(1);
    assert!(error.contains("no/such") && error.contains("feat"), "{error}");
    let error = scene.cmem(&scene.app, &["adopt", "--into", "nowhere"]).failed(1);
    assert!(error.contains("nowhere"), "{error}");
    let outside = scene.world.path("outside");
    fs::create_dir(&outside).unwrap();
    let error = scene.cmem(&outside, &["adopt"]).failed(1);
    assert!(error.contains("no git repository"), "{error}");
    // From anywhere, by its directory, and from the worktree itself.
    for (dir, args) in
        [(&outside, vec!["adopt", "--repo", scene.app.to_str().unwrap()]), (&wt, vec!["adopt"])]
    {
        assert!(scene.cmem(dir, &args).ok().contains("feat"));
    }
    assert_eq!(scene.adopt(&["--branch", "feat"])["worktrees"][0]["matched_by"], "branch");
    assert!(scene.sees(&scene.app, "lesson"));
}

#[test]
fn a_detached_worktree_is_adopted_when_it_is_named() {
    let scene = Scene::new();
    let wt = scene.world.path("spike");
    scene.git(&scene.app, &["worktree", "add", "-q", "--detach", wt.to_str().unwrap()]);
    scene.note("lesson of the spike", &wt);
    scene.world.drain();
    assert_eq!(scene.adopt(&[])["worktrees"][0]["state"], "detached");
    assert_eq!(scene.adopt(&["--branch", "spike"])["adopted_observations"], 1);
    assert!(scene.sees(&scene.app, "spike"));
}

#[test]
fn every_repository_at_once_and_one_that_is_gone() {
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.commit(&wt, "a");
    scene.note("lesson here", &wt);
    let other = scene.world.repository("other");
    let far = scene.world.path("far");
    scene.git(&other, &["worktree", "add", "-q", far.to_str().unwrap(), "-b", "gone"]);
    scene.commit(&far, "a");
    scene.note("lesson there", &far);
    scene.world.drain();
    scene.squash("feat");
    fs::remove_dir_all(&other).unwrap();
    let reports = scene.adopt(&["--all"]);
    assert_eq!(reports.as_array().unwrap().len(), 1);
    assert_eq!(reports[0]["adopted_observations"], 1);
    // The memory of the repository that is gone is not lost: it is adopted when it is named.
    let ran = scene.world.cmem(&["adopt", "--branch", "gone", "--repo", other.to_str().unwrap(), "--json"]);
    assert!(ran.failed(1).contains("no git repository"));
}

#[test]
fn a_branch_in_the_middle_of_a_rebase_is_itself() {
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.commit(&wt, "same");
    fs::write(scene.app.join("same"), "another").unwrap();
    scene.git(&scene.app, &["add", "-A"]);
    scene.git(&scene.app, &["commit", "-q", "-m", "conflict"]);
    let stopped = Command::new("git").args(["rebase", "-q", "main"]).current_dir(&wt).output().unwrap();
    assert!(!stopped.status.success());
    scene.note("lesson", &wt);
    scene.world.drain();
    assert_eq!(scene.adopt(&["--dry-run"])["worktrees"][0]["branch"], "feat");
}

#[test]
fn a_repository_that_moved_keeps_its_memory_and_its_worktrees() {
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.commit(&wt, "a");
    scene.note("lesson of the worktree", &wt);
    scene.note("lesson of main", &scene.app);
    scene.world.drain();
    let moved = scene.world.path("moved");
    fs::rename(&scene.app, &moved).unwrap();
    assert!(!scene.sees(&moved, "lesson"));
    let alias = ["project", "alias", moved.to_str().unwrap(), "app"];
    let _ = scene.cmem(&moved, &alias).ok();
    assert!(scene.sees(&moved, "lesson of main"));
    scene.git(&moved, &["merge", "-q", "--squash", "feat"]);
    scene.git(&moved, &["commit", "-q", "-m", "squashed"]);
    let report = scene.cmem(&moved, &["adopt", "--json"]).json();
    assert_eq!(report["worktrees"][0]["matched_by"], "patches");
    assert!(scene.sees(&moved, "worktree"));
    // What is written there belongs to the same project.
    scene.note("later lesson", &moved);
    scene.world.drain();
    let hit = &scene.cmem(&moved, &["search", "later", "--json"]).json()["results"][0];
    assert_eq!(hit["project"], "app");
    let all = scene.cmem(&moved, &["adopt", "--all", "--json"]).json();
    assert_eq!(all[0]["worktrees"][0]["state"], "adopted");
    let error = scene.cmem(&moved, &["project", "alias", moved.to_str().unwrap(), "nowhere"]).failed(1);
    assert!(error.contains("known are app"), "{error}");
}

#[test]
fn two_projects_become_one_and_the_remote_hints_at_it() {
    let scene = Scene::new();
    let clone = scene.world.repository("elsewhere/app");
    for dir in [&scene.app, &clone] {
        scene.git(dir, &["remote", "add", "origin", "https://host.example/x/app.git"]);
    }
    scene.note("old lesson", &scene.app);
    scene.note("new lesson", &clone);
    scene.world.drain();
    assert!(!scene.sees(&clone, "old"));
    fs::remove_dir_all(&scene.app).unwrap();
    let listed = scene.cmem(&clone, &["project", "list"]);
    assert!(listed.err.contains("same remote"), "{}{}", listed.out, listed.err);
    let names = scene.cmem(&clone, &["project", "list", "--json"]).json();
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    let [old, new] = names[..] else { panic!("{names:?}") };
    let merged = scene.cmem(&clone, &["project", "merge", old, new, "--json"]).json();
    assert_eq!(merged["observations"], 1);
    assert!(scene.sees(&clone, "old") && scene.sees(&clone, "new"));
    assert!(!scene.cmem(&clone, &["project", "list"]).err.contains("same remote"));
    let _ = scene.cmem(&clone, &["project", "merge", new, new]).failed(1);
    scene.world.assert_sound();
}

#[test]
fn the_example_script_removes_a_worktree_only_when_its_memory_is_home() {
    let mut scene = Scene::new();
    let bin = scene.world.path("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(binary(), bin.join("cmem")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    scene.world.set("PATH", &path);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/worktree-done");
    let done = |dir: &Path, args: &[&str]| {
        scene.world.command(script, dir).args(args).output().unwrap().status.code().unwrap()
    };
    let wt = scene.worktree("wt", "feat/one");
    scene.commit(&wt, "a");
    scene.note("lesson of the worktree", &wt);
    assert_eq!(done(&wt, &[]), 3);
    assert!(wt.is_dir());
    scene.squash("feat/one");
    assert_eq!(done(&scene.app, &[wt.to_str().unwrap()]), 0);
    assert!(!wt.exists() && scene.sees(&scene.app, "lesson"));
    assert_eq!(done(&scene.app, &[]), 2);

    let spike = scene.worktree("spike", "feat/spike");
    scene.commit(&spike, "b");
    scene.note("lesson of the spike", &spike);
    assert_eq!(done(&scene.app, &["--force", spike.to_str().unwrap()]), 0);
    assert!(!spike.exists() && scene.sees(&scene.app, "spike"));

    // A branch of a name that came home before, in another folder; and a detached one.
    scene.git(&scene.app, &["branch", "-q", "-D", "feat/one"]);
    let other = scene.worktree("other", "feat/one");
    scene.commit(&other, "c");
    scene.note("lesson of the other", &other);
    assert_eq!(done(&other, &[]), 3);
    let loose = scene.world.path("loose");
    scene.git(&scene.app, &["worktree", "add", "-q", "--detach", loose.to_str().unwrap()]);
    scene.commit(&loose, "d");
    scene.note("lesson of the loose one", &loose);
    assert_eq!(done(&loose, &[]), 3);
    assert!(other.is_dir() && loose.is_dir());
}

#[test]
fn what_waits_belongs_to_the_branch_that_was_checked_out_then() {
    let scene = Scene::new();
    let wt = scene.worktree("wt", "spike");
    scene.commit(&wt, "s");
    // The drainer is held up: both turns wait.
    fs::create_dir_all(scene.world.data()).unwrap();
    let lock = FileLock::try_acquire(&scene.world.data().join("drain.lock")).unwrap().unwrap();
    scene.note("lesson of the spike", &wt);
    scene.git(&wt, &["checkout", "-q", "-b", "feat", "main"]);
    scene.commit(&wt, "f");
    let checkout = json!({"tool_input": {"command": "git checkout -b feat main && git commit -m f"},
                          "tool_response": {"stdout": "@@lesson of the feature@@", "stderr": ""}});
    scene.send(&wt, "PostToolUse", checkout).silent();
    drop(lock);
    scene.world.drain();
    scene.git(&scene.app, &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    let report = scene.adopt(&[]);
    assert_eq!(report["adopted_observations"], 1, "{report}");
    assert!(scene.sees(&scene.app, "feature") && !scene.sees(&scene.app, "spike"));
}

#[test]
fn a_worktree_that_is_made_anew_inherits_nothing() {
    let scene = Scene::new();
    let wt = scene.learned("first lesson");
    scene.squash("feat");
    assert_eq!(scene.adopt(&[])["adopted_observations"], 1);
    scene.git(&scene.app, &["worktree", "remove", "--force", wt.to_str().unwrap()]);
    scene.git(&scene.app, &["branch", "-q", "-D", "feat"]);
    // Reflogs know seconds.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let wt = scene.worktree("wt", "feat");
    scene.commit(&wt, "unmerged");
    scene.note("second lesson", &wt);
    scene.world.drain();
    let report = scene.adopt(&[]);
    assert_eq!(
        states(&report).into_iter().map(|(_, state, _)| state).collect::<Vec<_>>(),
        ["adopted", "open"],
        "{report}"
    );
    assert!(!scene.sees(&scene.app, "second") && scene.sees(&wt, "second"));
}

#[test]
fn merged_projects_can_be_merged_again_and_keep_their_worktrees() {
    // The repository moves; a worktree of it is used before and after.
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.commit(&wt, "a");
    scene.note("lesson before", &wt);
    scene.note("lesson of main", &scene.app);
    scene.world.drain();
    let moved = scene.world.path("new/app");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(&scene.app, &moved).unwrap();
    scene.git(&moved, &["worktree", "repair", wt.to_str().unwrap()]);
    scene.note("lesson after", &wt);
    scene.note("lesson of the new place", &moved);
    scene.world.drain();
    let _ = scene.cmem(&moved, &["project", "merge", "app", "app (new)"]).ok();
    assert!(scene.sees(&moved, "lesson of main"));
    for lesson in ["before", "after"] {
        assert!(scene.sees(&wt, lesson), "{lesson}");
    }
    scene.git(&moved, &["merge", "-q", "--no-ff", "-m", "m", "feat"]);
    let report = scene.cmem(&moved, &["adopt", "--json"]).json();
    assert_eq!(report["adopted_observations"], 2, "{report}");
    assert!(scene.sees(&moved, "before") && scene.sees(&moved, "after"));

    // A project that is part of another one takes a third one in.
    let third = scene.world.repository("third");
    scene.note("lesson of the third", &third);
    scene.world.drain();
    let _ = scene.cmem(&third, &["project", "merge", "third", "app"]).ok();
    assert!(scene.sees(&moved, "third"));
    scene.note("later lesson of the third", &third);
    scene.world.drain();
    assert!(scene.sees(&moved, "later"));
    scene.world.assert_sound();
}

#[test]
fn a_worktree_cannot_take_memory_in() {
    let scene = Scene::new();
    let wt = scene.worktree("wt", "feat");
    scene.note("lesson", &wt);
    scene.world.drain();
    let error = scene.cmem(&scene.app, &["adopt", "--branch", "feat", "--into", "app/wt"]).failed(1);
    assert!(error.contains("app/wt"), "{error}");
}
