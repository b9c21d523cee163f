//! How long a large memory of another program takes to come over.

use std::fs;

use rusqlite::Connection;

use crate::common::World;
use crate::measure::{cmem, run};
use crate::row;

const ROWS: usize = 100_000;
const SCHEMA: &str = include_str!("../../fixtures/claude-mem/schema-49.sql");
const WORDS: [&str; 24] = [
    "cart",
    "voucher",
    "ledger",
    "index",
    "planner",
    "session",
    "cookie",
    "browser",
    "deploy",
    "migration",
    "lock",
    "lease",
    "timeout",
    "retry",
    "queue",
    "signal",
    "branch",
    "worktree",
    "refund",
    "payment",
    "schema",
    "column",
    "cache",
    "token",
];

pub fn from_claude_mem() {
    let world = World::new();
    let folder = world.path("home/.claude-mem");
    fs::create_dir_all(&folder).unwrap();
    fill(&Connection::open(folder.join("claude-mem.db")).unwrap());
    for what in ["first run", "second run"] {
        let cost = run(&mut cmem(&world, &["import", "--from", "claude-mem"], b""));
        row(
            &format!("import --from claude-mem, {ROWS} rows, {what}"),
            &format!("{:.1} s, at most {} MiB", cost.wall.as_secs_f64(), cost.peak_kib / 1024),
        );
    }
    let stored = world.number("memory.db", "SELECT count(*) FROM observations");
    assert!(stored >= i64::try_from(ROWS).unwrap(), "{stored} of {ROWS}");
}

/// Observations of some 200 words, 25 to a session, in 20 projects.
fn fill(conn: &Connection) {
    conn.execute_batch(SCHEMA).unwrap();
    conn.execute_batch("BEGIN").unwrap();
    let mut session = conn
        .prepare(
            "INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch)
             VALUES (?1, ?2, ?3, '', ?4)",
        )
        .unwrap();
    let mut observation = conn
        .prepare(
            "INSERT INTO observations (memory_session_id, project, type, title, subtitle, facts, narrative, concepts,
               files_read, files_modified, prompt_number, content_hash, created_at, created_at_epoch)
             VALUES (?1, ?2, 'discovery', ?3, ?4, ?5, ?6, '[\"gotcha\"]', '[]', ?7, 1, ?8, '', ?9)",
        )
        .unwrap();
    for number in 0..ROWS {
        let (at, project) =
            (1_785_000_000_000 + number as i64 * 1_000, format!("project-{}", number / 25 % 20));
        let memory = format!("observer of {}", number / 25);
        if number % 25 == 0 {
            session.execute((format!("client of {}", number / 25), &memory, &project, at)).unwrap();
        }
        let facts: Vec<String> = (0..4).map(|fact| text(number * 7 + fact, 20)).collect();
        observation
            .execute((
                memory,
                project,
                format!("{} {number}", text(number, 8)),
                text(number + 1, 15),
                serde_json::to_string(&facts).unwrap(),
                text(number + 2, 90),
                format!("[\"src/{}.rs\"]", text(number, 1)),
                number.to_string(),
                at,
            ))
            .unwrap();
    }
    conn.execute_batch("COMMIT").unwrap();
}

fn text(seed: usize, words: usize) -> String {
    let word = |at: usize| WORDS[(seed * 31 + at * at * 7 + at) % WORDS.len()];
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}
