//! Every way in which a branch ends, in every kind of repository: a table of verdicts. A false adoption is worse
//! than a missed one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{ModelServer, World};

/// How the work of a branch reaches `main`, or does not.
const WAYS: [&str; 12] = [
    "merge",
    "fast-forward",
    "squash",
    "rebase",
    "cherry-pick",
    "squash, later edits",
    "squash, reverted",
    "merge, reverted",
    "partly picked",
    "open",
    "empty",
    "detached",
];
/// What of it must be adopted.
const ADOPTED: [&str; 6] =
    ["merge", "fast-forward", "squash", "rebase", "cherry-pick", "squash, later edits"];

#[derive(Debug, Clone, Copy)]
enum Home {
    Plain,
    Bare,
    Submodule,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Kept,
    DirectoryDeleted,
    BranchDeleted,
}

struct Lab {
    world: World,
    _model: ModelServer,
    /// Where `main` is checked out.
    main: PathBuf,
    /// Where worktrees are added from.
    home: PathBuf,
}

impl Lab {
    fn new(home: Home) -> Self {
        let model = ModelServer::start();
        let world = World::with_model(&model);
        let (home, main) = match home {
            Home::Plain => {
                let app = world.repository("app");
                (app.clone(), app)
            }
            Home::Bare => {
                let seed = world.repository("seed");
                let bare = world.path("app.git");
                world.git(&seed, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
                let main = world.path("main");
                world.git(&bare, &["worktree", "add", "-q", main.to_str().unwrap(), "main"]);
                (bare, main)
            }
            Home::Submodule => {
                let seed = world.repository("seed");
                let outer = world.repository("outer");
                let allow = "protocol.file.allow=always";
                let add = ["-c", allow, "submodule", "--quiet", "add", seed.to_str().unwrap(), "app"];
                world.git(&outer, &add);
                let app = outer.join("app");
                (app.clone(), app)
            }
        };
        let lab = Self { world, _model: model, main, home };
        for way in WAYS {
            lab.write(
                &lab.main,
                way,
                &format!("{}\n", (0..20).map(|n| format!("{way} {n}\n")).collect::<String>()),
            );
        }
        lab.commit(&lab.main, "base");
        lab
    }

    fn write(&self, dir: &Path, name: &str, text: &str) {
        fs::write(dir.join(name), text).unwrap();
    }

    /// Changes one line of a file.
    fn edit(&self, dir: &Path, name: &str, line: usize, to: &str) {
        let text = fs::read_to_string(dir.join(name)).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines[line] = to;
        self.write(dir, name, &(lines.join("\n") + "\n"));
    }

    fn commit(&self, dir: &Path, message: &str) {
        self.world.git(dir, &["add", "-A"]);
        self.world.git(dir, &["commit", "-q", "-m", message]);
    }

    /// A worktree in which somebody worked: two commits and a lesson, or less.
    fn work(&self, way: &str, relative: bool) -> PathBuf {
        let path = self.world.path(&format!("wt/{}", way.replace([' ', ','], "-")));
        let branch = branch(way);
        let mut add = vec!["worktree", "add", "-q", path.to_str().unwrap()];
        match way {
            "detached" => add.push("--detach"),
            _ => add.extend(["-b", &branch]),
        }
        add.push("main");
        self.world.git(&self.home, &add);
        if relative {
            use_relative_pointers(&path);
        }
        if way != "empty" {
            self.edit(&path, way, 3, "first change");
            self.commit(&path, "first");
            self.write(&path, &format!("{way} new"), "a new file\n");
            self.commit(&path, "second");
        }
        self.world.note_in(&path, &format!("lesson of {way}"));
        path
    }

    /// Brings the branch home in its way.
    fn arrive(&self, way: &str) {
        let branch = branch(way);
        let git = |args: &[&str]| drop(self.world.git(&self.main, args));
        match way {
            "merge" | "merge, reverted" => git(&["merge", "-q", "--no-ff", "-m", "merged", &branch]),
            "fast-forward" => git(&["merge", "-q", "--ff-only", &branch]),
            "squash" | "squash, later edits" | "squash, reverted" => {
                git(&["merge", "-q", "--squash", &branch]);
                git(&["commit", "-q", "-m", "squashed (#1)"]);
            }
            "rebase" | "cherry-pick" => git(&["cherry-pick", &format!("{branch}~1"), &branch]),
            "partly picked" => git(&["cherry-pick", &branch]),
            _ => {}
        }
        match way {
            "squash, later edits" => {
                self.edit(&self.main, way, 3, "changed again");
                self.commit(&self.main, "later");
            }
            "squash, reverted" => git(&["revert", "--no-edit", "HEAD"]),
            "merge, reverted" => git(&["revert", "--no-edit", "-m", "1", "HEAD"]),
            _ => {}
        }
    }

    fn end(&self, way: &str, path: &Path, end: End) {
        match end {
            End::Kept => {}
            End::DirectoryDeleted => fs::remove_dir_all(path).unwrap(),
            // What `git worktree remove` and `git branch -D` do; a git that is older than relative pointers refuses.
            End::BranchDeleted => {
                let pointer = fs::read_to_string(path.join(".git")).unwrap();
                fs::remove_dir_all(path.join(pointer.strip_prefix("gitdir: ").unwrap().trim())).unwrap();
                fs::remove_dir_all(path).unwrap();
                if way != "detached" {
                    self.world.git(&self.home, &["update-ref", "-d", &format!("refs/heads/{}", branch(way))]);
                }
            }
        }
    }
}

fn branch(way: &str) -> String {
    format!("feat/{}", way.replace([' ', ','], "-"))
}

/// Rewrites the two pointers between worktree and repository as `worktree.useRelativePaths` of git 2.48 does.
fn use_relative_pointers(worktree: &Path) {
    let pointer = fs::read_to_string(worktree.join(".git")).unwrap();
    let git_dir = PathBuf::from(pointer.strip_prefix("gitdir: ").unwrap().trim());
    fs::write(worktree.join(".git"), format!("gitdir: {}\n", relative(worktree, &git_dir))).unwrap();
    let back = relative(&git_dir, &worktree.join(".git"));
    fs::write(git_dir.join("gitdir"), format!("{back}\n")).unwrap();
}

fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_str().unwrap().to_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[test]
fn a_plain_repository() {
    insta::assert_snapshot!(table(Home::Plain));
}

#[test]
fn a_bare_repository() {
    insta::assert_snapshot!(table(Home::Bare));
}

#[test]
fn a_submodule() {
    insta::assert_snapshot!(table(Home::Submodule));
}

/// The verdicts, checked, as a table.
fn table(home: Home) -> String {
    let mut table = String::new();
    for relative in [false, true] {
        for end in [End::Kept, End::DirectoryDeleted, End::BranchDeleted] {
            let lab = Lab::new(home);
            // A fast-forward is only possible as the first one.
            let others = WAYS.into_iter().filter(|way| *way != "fast-forward");
            let ways: Vec<&str> = ["fast-forward"].into_iter().chain(others).collect();
            let paths: Vec<PathBuf> = ways.iter().map(|way| lab.work(way, relative)).collect();
            lab.world.drain();
            for (way, path) in ways.iter().zip(&paths) {
                lab.arrive(way);
                lab.end(way, path, end);
            }
            let report = lab.world.cmem_in(&lab.main, &["adopt", "--json"], b"").json();
            let layout = if relative { "relative" } else { "absolute" };
            writeln!(table, "{layout} pointers, {end:?}").unwrap();
            for way in WAYS {
                let found = verdict(&report, way);
                writeln!(table, "    {way:<20} {found}").unwrap();
                let adopted = found.starts_with("merged");
                assert_eq!(adopted, ADOPTED.contains(&way), "{home:?} {layout} {end:?} {way}: {found}");
                let seen = !lab.world.search_in(&lab.main, &format!("\"lesson of {way}\"")).is_empty();
                assert!(seen || !adopted, "{way} is adopted and not found");
            }
            let pointers = "SELECT count(*) FROM observations WHERE merged_into IS NOT NULL";
            assert_eq!(lab.world.number("memory.db", pointers), 6, "{home:?} {layout} {end:?}");
        }
    }
    table
}

/// State and test of one branch in a report.
fn verdict(report: &Value, way: &str) -> String {
    let wanted = (way != "detached").then(|| branch(way));
    let worktrees = report["worktrees"].as_array().unwrap();
    let found = worktrees.iter().find(|worktree| worktree["branch"].as_str() == wanted.as_deref());
    let found = found.unwrap_or_else(|| panic!("{way} is not in {report}"));
    let test = found["matched_by"].as_str().map(|test| format!(" by {test}")).unwrap_or_default();
    format!("{}{test}", found["state"].as_str().unwrap())
}
