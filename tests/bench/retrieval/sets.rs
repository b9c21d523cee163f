//! The sets in one form.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

pub(crate) struct Set {
    pub name: String,
    pub documents: Vec<Document>,
    pub questions: Vec<Question>,
}

#[derive(Clone)]
pub(crate) struct Document {
    pub title: String,
    pub text: String,
}

pub(crate) struct Question {
    pub text: String,
    /// Places of the documents that answer it.
    pub answers: Vec<usize>,
}

/// The sets of the project.
pub(crate) fn own(folder: &Path) -> Vec<Set> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort();
    [handmade(&folder.join("handmade.jsonl"))]
        .into_iter()
        .chain(files.iter().map(|file| indexed(file)))
        .collect()
}

/// Questions about nothing in any set.
pub(crate) fn unanswerable(folder: &Path) -> Vec<String> {
    lines(&folder.join("unanswerable.jsonl")).iter().map(|line| text(&line["text"])).collect()
}

/// Prompts about the work itself.
pub(crate) fn everyday(folder: &Path) -> Vec<String> {
    lines(&folder.join("everyday.jsonl")).iter().map(|line| text(&line["text"])).collect()
}

/// LoCoMo, CMRC 2018 and DevBench, as far as they are there.
pub(crate) fn further(folder: &Path) -> Vec<Set> {
    let read = |name: &str| {
        let file = folder.join(name);
        let Ok(json) = fs::read_to_string(&file) else {
            println!("{} is not there: left out", file.display());
            return None;
        };
        Some(serde_json::from_str::<Value>(&json).unwrap())
    };
    let mut sets = Vec::new();
    if let Some(value) = read("devbench_dataset.json") {
        sets.push(devbench(&value));
    }
    if let Some(value) = read("cmrc2018_dev.json") {
        sets.push(cmrc(&value));
    }
    if let Some(value) = read("locomo10.json") {
        sets.extend(locomo(&value));
    }
    sets
}

fn lines(file: &Path) -> Vec<Value> {
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn plain(text: String) -> Document {
    Document { title: String::new(), text }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Notes and questions in one file.
fn handmade(file: &Path) -> Set {
    let mut set = Set { name: String::from("handmade"), documents: Vec::new(), questions: Vec::new() };
    let lines = lines(file);
    let mut places = HashMap::new();
    for note in lines.iter().filter(|line| line["kind"] == "note") {
        places.insert(text(&note["id"]), set.documents.len());
        set.documents.push(Document { title: text(&note["title"]), text: text(&note["text"]) });
    }
    for line in lines.iter().filter(|line| line["kind"] == "query") {
        let answers: Vec<usize> =
            items(&line["rel"]).filter_map(|id| places.get(&text(id)).copied()).collect();
        if !answers.is_empty() {
            set.questions.push(Question { text: text(&line["text"]), answers });
        }
    }
    set
}

/// `docs`, `queries` and `rel`.
fn indexed(file: &Path) -> Set {
    let value: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let answers = |rel: &Value| items(rel).map(|at| usize::try_from(at.as_u64().unwrap()).unwrap()).collect();
    Set {
        name: file.file_stem().unwrap().to_string_lossy().into_owned(),
        documents: items(&value["docs"]).map(|doc| plain(text(doc))).collect(),
        questions: items(&value["queries"])
            .zip(items(&value["rel"]))
            .map(|(query, rel)| Question { text: text(query), answers: answers(rel) })
            .collect(),
    }
}

/// Memories of a developer, with the ids that answer each question.
fn devbench(value: &Value) -> Set {
    let mut set = Set { name: String::from("devbench"), documents: Vec::new(), questions: Vec::new() };
    let mut places = HashMap::new();
    for memory in items(&value["memories"]) {
        places.insert(text(&memory["id"]), set.documents.len());
        set.documents.push(plain(text(&memory["content"])));
    }
    for query in items(&value["queries"]) {
        let answers: Vec<usize> = items(&query["expected_tags"])
            .filter_map(|id| places.get(id.as_str().unwrap_or_default()).copied())
            .collect();
        if !answers.is_empty() {
            set.questions.push(Question { text: text(&query["question"]), answers });
        }
    }
    set
}

/// A question's passage among all of them.
fn cmrc(value: &Value) -> Set {
    let mut set = Set { name: String::from("cmrc2018"), documents: Vec::new(), questions: Vec::new() };
    for paragraph in items(&value["data"]).flat_map(|article| items(&article["paragraphs"])) {
        for question in items(&paragraph["qas"]) {
            let answers = vec![set.documents.len()];
            set.questions.push(Question { text: text(&question["question"]), answers });
        }
        set.documents.push(plain(text(&paragraph["context"])));
    }
    set
}

/// Categories 1 to 4: every session of every conversation in one memory; and one memory of turns for each conversation.
fn locomo(value: &Value) -> Vec<Set> {
    let mut sessions =
        Set { name: String::from("locomo/session"), documents: Vec::new(), questions: Vec::new() };
    let mut sets = Vec::new();
    for (number, sample) in items(value).enumerate() {
        let conversation = &sample["conversation"];
        let mut turns =
            Set { name: format!("locomo/turn{number}"), documents: Vec::new(), questions: Vec::new() };
        let (mut turn_of, mut session_of) = (HashMap::new(), HashMap::new());
        for session in 1.. {
            let Some(told) = conversation[format!("session_{session}")].as_array() else {
                if session > 40 {
                    break;
                } else {
                    continue;
                };
            };
            let mut whole = text(&conversation[format!("session_{session}_date_time")]);
            for turn in told {
                let id = text(&turn["dia_id"]);
                let mut said = format!("{}: {}", text(&turn["speaker"]), text(&turn["text"]));
                if let Some(caption) = turn["blip_caption"].as_str() {
                    said = format!("{said} [{caption}]");
                }
                whole = format!("{whole}\n{said}");
                turn_of.insert(id.clone(), turns.documents.len());
                session_of.insert(id, sessions.documents.len());
                turns.documents.push(plain(said));
            }
            sessions.documents.push(plain(whole));
        }
        for question in items(&sample["qa"]).filter(|question| question["category"] != 5) {
            let evidence: Vec<&str> = items(&question["evidence"]).filter_map(Value::as_str).collect();
            let places = |of: &HashMap<String, usize>| {
                let mut places: Vec<usize> = evidence.iter().filter_map(|id| of.get(*id).copied()).collect();
                places.sort_unstable();
                places.dedup();
                places
            };
            for (set, answers) in [(&mut sessions, places(&session_of)), (&mut turns, places(&turn_of))] {
                if !answers.is_empty() {
                    set.questions.push(Question { text: text(&question["question"]), answers });
                }
            }
        }
        sets.push(turns);
    }
    sets.insert(0, sessions);
    sets
}
