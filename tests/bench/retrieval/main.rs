//! What search finds, on sets of questions with known answers: `scripts/bench/retrieval [FOLDER]`.
//!
//! Each set becomes a memory of its own, written and searched by the functions behind the commands. The figures depend
//! on nothing but the code and the sets; more than half a point below the committed table (`tests/eval/figures.tsv`) is
//! a failure. Sets that may not be part of the project are taken from FOLDER if it is given.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark stops where it cannot go on, and prints"
)]

mod figures;
mod sets;

use std::path::Path;
use std::process::ExitCode;
use std::thread;

use cmem::config::Paths;
use cmem::index;
use cmem::model::{Draft, Identity, RecordId, Timestamp};
use cmem::retrieve::{self, Filter, Known, Scope, Using};
use cmem::store::{NewObservation, Standing, Store, Trace};

use figures::{Figures, Row};
use sets::Set;

const METHODS: [(&str, Using); 4] =
    [("text", Using::Text), ("vector", Using::Vectors), ("meaning", Using::Meaning), ("hybrid", Using::Both)];

/// As many memories as are told beside a prompt.
const HITS: usize = 3;

fn main() -> ExitCode {
    let eval = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval");
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let write = arguments.iter().any(|word| word == "--write");
    let further = arguments.iter().find(|word| !word.starts_with("--"));
    let (unanswerable, everyday) = (sets::unanswerable(&eval), sets::everyday(&eval));
    let mut rows = Vec::new();
    for set in
        sets::own(&eval).into_iter().chain(further.iter().flat_map(|folder| sets::further(folder.as_ref())))
    {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let ids = fill(&paths, &set);
        let found: Vec<(&str, Figures)> = thread::scope(|scope| {
            let ask = |using| ask(&paths, &set, &ids, using);
            let workers = METHODS.map(|(name, using)| scope.spawn(move || (name, ask(using))));
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        let noise = noise(&paths, &unanswerable);
        for (method, figures) in found {
            let noise = (method == "hybrid").then_some(noise);
            rows.push(Row {
                set: set.name.clone(),
                method: method.to_owned(),
                figures,
                noise,
                everyday: None,
            });
            println!("{}", rows.last().unwrap());
        }
        rows.push(Row {
            set: set.name.clone(),
            method: String::from("prompt"),
            figures: recalled(&paths, &set, &ids),
            noise: Some(told_beside(&paths, &unanswerable)),
            everyday: Some(told_beside(&paths, &everyday)),
        });
        println!("{}", rows.last().unwrap());
    }
    let kept = eval.join("figures.tsv");
    if write {
        std::fs::write(kept, figures::as_text(&rows)).unwrap();
        return ExitCode::SUCCESS;
    }
    let worse = figures::worse(&rows, &std::fs::read_to_string(kept).unwrap_or_default());
    worse.iter().for_each(|line| println!("WORSE: {line}"));
    if worse.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Remembers each document; returns their ids.
fn fill(paths: &Paths, set: &Set) -> Vec<i64> {
    let store = Store::open(paths).unwrap();
    let tx = store.begin().unwrap();
    let identity = Identity {
        key: String::from("/eval/.git"),
        name: String::from("eval"),
        root: String::from("/eval"),
        worktree: None,
        branch: None,
        head: None,
        main_head: None,
        remote: None,
    };
    let place = tx.place(&identity, &Trace::default()).unwrap();
    let ids = set.documents.iter().map(|document| {
        let draft = Draft {
            r#type: String::from("discovery"),
            title: document.title.clone(),
            narrative: document.text.clone(),
            ..Draft::default()
        };
        let new = NewObservation {
            place,
            session: "eval",
            prompt_number: None,
            draft: &draft,
            agent: None,
            model: "eval",
            tokens_spent: 0,
            created_at: Timestamp::now(),
            standing: Standing::OBSERVED,
        };
        index::record_observation(&tx, &new).unwrap().id
    });
    let ids = ids.collect();
    tx.commit().unwrap();
    ids
}

fn ask(paths: &Paths, set: &Set, ids: &[i64], using: Using) -> Figures {
    let store = Store::open_read_only(paths).unwrap();
    let filter = Filter::all(Scope::All);
    let ranks = set.questions.iter().map(|question| {
        let found = retrieve::search_with(&store, &question.text, &filter, 10, 0, using).unwrap();
        let wanted: Vec<RecordId> =
            question.answers.iter().map(|at| RecordId::Observation(ids[*at])).collect();
        let hits: Vec<bool> = found.hits.iter().map(|hit| wanted.contains(&hit.id)).collect();
        (hits, wanted.len())
    });
    Figures::of(ranks)
}

/// What is told beside the questions as prompts, unasked.
fn recalled(paths: &Paths, set: &Set, ids: &[i64]) -> Figures {
    let store = Store::open_read_only(paths).unwrap();
    let ranks = set.questions.iter().map(|question| {
        let found = retrieve::recall(&store, &Scope::All, &question.text, &Known::default(), HITS).unwrap();
        let wanted: Vec<i64> = question.answers.iter().map(|at| ids[*at]).collect();
        (found.iter().map(|row| wanted.contains(&row.id)).collect(), wanted.len())
    });
    Figures::of(ranks)
}

/// Of some prompts, the part beside which something is told.
fn told_beside(paths: &Paths, prompts: &[String]) -> f64 {
    let store = Store::open_read_only(paths).unwrap();
    let is_told = |text: &&String| {
        !retrieve::recall(&store, &Scope::All, text, &Known::default(), HITS).unwrap().is_empty()
    };
    100.0 * prompts.iter().filter(is_told).count() as f64 / prompts.len() as f64
}

/// Of the questions without an answer, the part that is answered all the same.
fn noise(paths: &Paths, questions: &[String]) -> f64 {
    let store = Store::open_read_only(paths).unwrap();
    let filter = Filter::all(Scope::All);
    let answered = questions
        .iter()
        .filter(|text| retrieve::search(&store, text, &filter, 10, 0).unwrap().total > 0)
        .count();
    100.0 * answered as f64 / questions.len() as f64
}
