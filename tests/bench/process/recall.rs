//! How much of the exact scan the inverted lists of the vector index find.

use std::env;
use std::path::Path;
use std::process::Command;

use cmem::config::Paths;
use cmem::index::{self, Meaning};
use cmem::store::Store;

use crate::common::World;
use crate::corpus;

/// First argument of the process that compares.
pub const RECALL: &str = "--recall";

const QUESTIONS: usize = 200;
const NEAREST: usize = 10;

/// The part of the ten nearest vectors that is found, over questions in the words of the corpus.
pub fn of_lists(world: &World) -> f64 {
    let mut command = Command::new(env::current_exe().unwrap());
    let output = command.arg(RECALL).arg(world.data()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// The work of that process: DATA. In one of its own, because what this one has used would count as the peak memory of
/// everything it starts.
pub fn compare_here(arguments: &[String]) {
    let [data] = arguments else { panic!("{RECALL} DATA") };
    let store = Store::open_read_only(&Paths::resolve(Some(Path::new(data))).unwrap()).unwrap();
    let mut found = 0;
    for number in 0..QUESTIONS {
        let question = Meaning::of_text(&corpus::question(number)).vector.unwrap();
        let nearest = |most: usize| index::nearest(&store, &question, None, most).unwrap();
        let by_lists = nearest(NEAREST);
        // Whoever asks for all gets the exact order.
        found += nearest(usize::MAX).iter().take(NEAREST).filter(|near| by_lists.contains(near)).count();
    }
    println!("{}", found as f64 / (QUESTIONS * NEAREST) as f64);
}
