//! A memory of any size, made through the library's own write path: made-up observations whose words are spread
//! as in natural texts, the same ones every time.

use cmem::config::Paths;
use cmem::index;
use cmem::model::{Draft, Timestamp};
use cmem::store::{NewObservation, Standing, Store, Trace};

use crate::common::World;
use std::env;
use std::path::Path;
use std::process::Command;

/// Different words.
const VOCABULARY: usize = 50_000;

/// First argument of the process that fills a memory.
pub const FILL: &str = "--fill";

/// A file that one in some 250 observations has read: its words are the most common ones.
pub const READ_OFTEN: &str = "src/cache/cache.rs";

/// Fills the memory of `world`'s project, which must be a git repository, from `from` up to `count` observations.
///
/// In a process of its own: what this one has used would count as the peak memory of everything it starts.
pub fn fill(world: &World, from: usize, count: usize) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg(FILL).arg(world.data()).arg(world.project()).args([from.to_string(), count.to_string()]);
    assert!(command.status().unwrap().success());
}

const WORDS: &str = "cache queue retry token session parser index worker socket buffer schema migration lock lease \
    drain hook prompt budget summary vector rank filter scope branch commit merge rebase worktree repository \
    timeout backoff jitter deadline signal process thread channel mutex future stream request response header \
    cookie proxy router handler middleware template layout widget button dialog theme color font image upload \
    download archive backup restore snapshot replica shard partition leader follower quorum ledger invoice \
    payment refund order basket checkout customer address tax currency discount coupon stock supplier delivery";

/// The work of that process: DATA PROJECT FROM COUNT.
pub fn fill_here(arguments: &[String]) {
    let [data, project, from, count] = arguments else { panic!("{FILL} DATA PROJECT FROM COUNT") };
    let (from, count): (usize, usize) = (from.parse().unwrap(), count.parse().unwrap());
    let paths = Paths::resolve(Some(Path::new(data))).unwrap();
    paths.create().unwrap();
    let store = Store::open(&paths).unwrap();
    let identity = cmem::git::identify(Path::new(project));
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let start = 1_750_000_000_000;
    for chunk in (from..count).collect::<Vec<_>>().chunks(1000) {
        let tx = store.begin().unwrap();
        let place = tx.place(&identity, &Trace::default()).unwrap();
        for &number in chunk {
            let draft = draft(number, &words);
            let observation = NewObservation {
                place,
                session: &format!("session-{}", number / 20),
                prompt_number: Some(1),
                draft: &draft,
                agent: None,
                model: "bench",
                tokens_spent: 0,
                created_at: Timestamp(start + i64::try_from(number).unwrap() * 60_000),
                standing: Standing::OBSERVED,
            };
            index::record_observation(&tx, &observation).unwrap();
        }
        tx.commit().unwrap();
    }
    store.tidy().unwrap();
}

/// Some words that may stand together in an observation.
pub fn question(number: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    draft(usize::MAX / 2 + number, &words).subtitle
}

fn draft(number: usize, words: &[&str]) -> Draft {
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut word = || {
        // xorshift64 (Marsaglia, 2003)
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Ranks with a probability of about 1/rank, as in natural texts (Zipf's law).
        let share = (state >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (VOCABULARY as f64).powf(share) as usize - 1;
        words.get(rank).map_or_else(|| made_up(rank), |word| (*word).to_owned())
    };
    let mut sentence = |length: usize| (0..length).map(|_| word()).collect::<Vec<_>>().join(" ");
    let kinds = ["discovery", "bugfix", "feature", "decision", "change"];
    Draft {
        r#type: kinds[number % kinds.len()].to_owned(),
        title: format!("{} {number}", sentence(7)),
        subtitle: sentence(10),
        narrative: sentence(60),
        facts: (0..3).map(|_| sentence(14)).collect(),
        concepts: vec![String::from("how-it-works")],
        keywords: (0..4).map(|_| sentence(1)).collect(),
        files_read: vec![format!("src/{}/{}.rs", sentence(1), sentence(1))],
        files_modified: vec![format!("src/{}_{number}.rs", sentence(1))],
        supersedes: Vec::new(),
    }
}

/// A word of syllables for a rank beyond the list.
fn made_up(mut rank: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za"];
    let mut word = String::new();
    while rank > 0 {
        word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
        rank /= SYLLABLES.len();
    }
    word
}
