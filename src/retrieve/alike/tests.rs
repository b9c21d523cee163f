use std::fs;
use std::path::Path;

use super::*;

/// Enough of each set for the figures, few enough for a build without optimisation.
const DOCS: usize = 30;

fn passages(set: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval").join(format!("{set}.json"));
    let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let docs = value["docs"].as_array().unwrap();
    docs.iter().take(DOCS).map(|doc| doc.as_str().unwrap().to_owned()).collect()
}

/// The sentences in another order, every tenth word (or sign, without blanks) left out.
fn reworded(text: &str) -> String {
    let keep = |index: &usize| index % 10 != 9;
    let shorter = |sentence: &str| match sentence.contains(' ') {
        true => {
            let words = sentence.split(' ').enumerate().filter(|(index, _)| keep(index));
            words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
        }
        false => sentence.chars().enumerate().filter(|(index, _)| keep(index)).map(|(_, c)| c).collect(),
    };
    text.split_inclusive(['.', '。']).rev().map(shorter).collect::<Vec<_>>().join(" ")
}

fn half(text: &str) -> String {
    text.chars().take(text.chars().count() / 2).collect()
}

#[test]
fn the_thresholds_tell_passages_apart_and_copies_of_them_together() {
    for set in ["react_en2en", "react_zh2zh"] {
        let texts = passages(set);
        let meanings: Vec<Meaning> = texts.iter().map(|text| Meaning::of_text(text)).collect();
        for (place, a) in meanings.iter().enumerate() {
            for b in &meanings[..place] {
                assert!(likeness(a, b) < TOPIC, "{set}: two passages about different things");
            }
        }
        let copies = |copy: fn(&str) -> String, least: f64| {
            let alike = |(text, meaning): (&String, &Meaning)| {
                likeness(meaning, &Meaning::of_text(&copy(text))) >= least
            };
            texts.iter().zip(&meanings).map(alike).filter(|alike| *alike).count()
        };
        assert!(copies(reworded, NEAR) >= DOCS * 9 / 10, "{set}: reworded");
        assert!(copies(half, TOPIC) >= DOCS * 9 / 10, "{set}: half of it");
        assert!(copies(half, NEAR) <= DOCS / 4, "{set}: half of it is not the same");
    }
}

#[test]
fn nothing_joins_a_group_that_is_not_alike_to_all_of_it() {
    let pairs = vec![(0.9, 1, 2), (0.85, 2, 3), (0.84, 1, 3), (0.83, 3, 4), (0.7, 5, 6), (0.65, 4, 5)];
    let mut groups = joined(pairs);
    groups.iter_mut().for_each(|(_, members)| members.sort_unstable());
    assert_eq!(groups, [(0.84, vec![1, 2, 3]), (0.7, vec![5, 6])]);
    // What says the same stays by itself.
    let pairs = vec![(0.9, 1, 2), (0.7, 1, 3), (0.7, 2, 3)];
    assert_eq!(joined(pairs), [(0.9, vec![1, 2])]);
    let all: Vec<(f64, i64, i64)> = (1..20).flat_map(|a| (a + 1..20).map(move |b| (0.9, a, b))).collect();
    assert!(joined(all).iter().all(|(_, members)| members.len() <= MOST));
}
