//! Adoption over a long history with many worktrees, beside what git itself takes to ask about the same branches.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::common::{World, payload};
use crate::measure::{Series, cmem, run};
use crate::row;

const COMMITS: usize = 20_000;
const WORKTREES: usize = 50;
const FILES: usize = 400;
const LINES: usize = 120;
const ROUNDS: usize = 3;

pub fn beside_git() {
    let world = World::new();
    let app = world.repository("project");
    import(&world);
    for number in 0..WORKTREES {
        let (path, branch) = (world.path(&format!("wt/{number}")), branch(number));
        world.git(&app, &["worktree", "add", "-q", path.to_str().unwrap(), &branch]);
        let session = format!("s-{number}");
        let said = format!("Branch {number} fails in src/main.rs because make_{number}() is cold.");
        for (event, fields) in [
            ("UserPromptSubmit", json!({"session_id": session, "prompt": "why does src/main.rs fail?"})),
            ("Stop", json!({"session_id": session, "last_assistant_message": said})),
        ] {
            world.hook(&payload::event(event, &path, fields)).silent();
        }
    }
    world.drain();
    let mut adoption = Series::default();
    let mut git = f64::MAX;
    for _ in 0..ROUNDS {
        let mut command = cmem(&world, &["adopt", "--dry-run", "--json"], b"");
        command.current_dir(&app);
        adoption.add(run(&mut command));
        let began = Instant::now();
        world.git(&app, &["branch", "--merged", "main"]);
        for number in 0..WORKTREES {
            world.git(&app, &["cherry", "main", &branch(number)]);
        }
        git = git.min(began.elapsed().as_secs_f64());
    }
    let report: Value = world.cmem_in(&app, &["adopt", "--dry-run", "--json"], b"").json();
    let states = |state: &str| {
        let worktrees = report["worktrees"].as_array().unwrap();
        worktrees.iter().filter(|worktree| worktree["state"] == state).count()
    };
    let seconds = adoption.quantile(0.5) / 1000.0;
    row(
        &format!("adopt --dry-run, {COMMITS} commits, {WORKTREES} worktrees"),
        &format!(
            "{seconds:.2} s, peak {:.0} MiB ({} merged, {} open); git branch --merged and git cherry: {git:.2} s ({:.2} \
             times)",
            adoption.peak_mib(),
            states("merged"),
            states("open"),
            seconds / git
        ),
    );
}

fn branch(number: usize) -> String {
    format!("feat/{number}")
}

/// A main line of small edits, and branches of three commits each from its beginning; every second one was
/// squashed into it.
fn import(world: &World) {
    let mut files: Vec<Vec<String>> =
        (0..FILES).map(|file| (0..LINES).map(|line| format!("line {line} of {file}")).collect()).collect();
    let path = |file: usize| format!("src/d{}/m{}/f{file}.rs", file % 20, file % 7);
    let mut stream = String::new();
    let mut mark = 0;
    let mut commit = |branch: &str, from: Option<usize>, changes: &[(usize, String)]| {
        mark += 1;
        let time = 1_700_000_000 + mark * 60;
        write!(
            stream,
            "commit refs/heads/{branch}\nmark :{mark}\ncommitter t <t@e> {time} +0000\ndata 1\nx\n"
        )
        .unwrap();
        if let Some(from) = from {
            writeln!(stream, "from :{from}").unwrap();
        }
        for (file, text) in changes {
            write!(stream, "M 100644 inline {}\ndata {}\n{text}\n", path(*file), text.len()).unwrap();
        }
        mark
    };
    let whole = |lines: &[String]| lines.join("\n") + "\n";
    let all: Vec<(usize, String)> = (0..FILES).map(|file| (file, whole(&files[file]))).collect();
    let base = commit("line", None, &all);
    for number in 0..WORKTREES {
        let mut from = base;
        for step in 0..3 {
            let file = number * 3 + step;
            let mut lines = files[file].clone();
            lines[7] = format!("work {step} of branch {number}");
            from = commit(&branch(number), Some(from), &[(file, whole(&lines))]);
        }
    }
    let mut last = base;
    for number in 0..COMMITS {
        let squashed = number / (COMMITS / WORKTREES);
        let changes: Vec<usize> = if number % (COMMITS / WORKTREES) == 100 && squashed.is_multiple_of(2) {
            (0..3)
                .map(|step| {
                    let file = squashed * 3 + step;
                    files[file][7] = format!("work {step} of branch {squashed}");
                    file
                })
                .collect()
        } else {
            let file = number * 7919 % FILES;
            files[file][20 + number % (LINES - 20)] = format!("edit {number}");
            vec![file]
        };
        let changes: Vec<(usize, String)> =
            changes.into_iter().map(|file| (file, whole(&files[file]))).collect();
        last = commit("line", Some(last), &changes);
    }
    let app = world.project();
    let mut child = world.command("git", &app);
    let mut child = child.args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stream.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    world.git(&app, &["reset", "-q", "--hard", "line"]);
    // They would say that the branches came into being as they are.
    std::fs::remove_dir_all(app.join(".git/logs")).unwrap();
}
