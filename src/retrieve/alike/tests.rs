use std::fs;
use std::path::Path;

use super::*;

fn docs(set: &str) -> Vec<Meaning> {
    texts(set).iter().take(80).map(|text| Meaning::of_text(text)).collect()
}

fn texts(set: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval").join(format!("{set}.json"));
    let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    value["docs"].as_array().unwrap().iter().map(|doc| doc.as_str().unwrap().to_owned()).collect()
}

/// Every nth word left out, the sentences in another order.
fn reworded(text: &str, n: usize) -> String {
    let mut sentences: Vec<String> = text
        .split_inclusive(['.', '。'])
        .map(|s| {
            if s.contains(' ') {
                s.split(' ')
                    .enumerate()
                    .filter(|(i, _)| i % n != n - 1)
                    .map(|(_, w)| w)
                    .collect::<Vec<_>>()
                    .join(" ")
            } else {
                let c: Vec<char> = s.chars().collect();
                c.iter().enumerate().filter(|(i, _)| i % n != n - 1).map(|(_, w)| *w).collect()
            }
        })
        .collect();
    sentences.reverse();
    sentences.join(" ")
}

fn q(mut v: Vec<f64>) -> String {
    v.sort_by(f64::total_cmp);
    let at = |p: f64| v[((v.len() - 1) as f64 * p) as usize];
    format!(
        "n={} 1%={:.3} 5%={:.3} 25%={:.3} 50%={:.3} 75%={:.3} 95%={:.3} 99%={:.3} 99.9%={:.3} max={:.3}",
        v.len(),
        at(0.01),
        at(0.05),
        at(0.25),
        at(0.5),
        at(0.75),
        at(0.95),
        at(0.99),
        at(0.999),
        at(1.0)
    )
}

#[test]
fn explore() {
    for set in ["react_en2en", "react_zh2zh", "react_ja2ja", "react_ko2ko", "commits_en"] {
        let texts = texts(set);
        let docs: Vec<Meaning> = texts.iter().map(|t| Meaning::of_text(t)).take(80).collect();
        let mut top = Vec::new();
        let mut pairs = Vec::new();
        for (i, a) in docs.iter().enumerate() {
            let mut best = 0.0f64;
            for b in &docs[..i] {
                if a.vector.is_none() || b.vector.is_none() {
                    continue;
                }
                let c = cosine(embed::dot(a.vector.as_ref().unwrap(), b.vector.as_ref().unwrap()));
                if c < 0.5 {
                    pairs.push(0.0);
                    continue;
                }
                let l = likeness(a, b);
                best = best.max(l);
                pairs.push(l);
            }
            top.push(best);
        }
        println!("{set} pairs   {}", q(pairs));
        println!("{set} nearest {}", q(top));
        for n in [4, 10] {
            let v = texts
                .iter()
                .take(80)
                .zip(&docs)
                .map(|(t, d)| likeness(d, &Meaning::of_text(&reworded(t, n))))
                .collect();
            println!("{set} reworded {n} {}", q(v));
        }
        let v = texts
            .iter()
            .take(80)
            .zip(&docs)
            .map(|(t, d)| {
                let h: String = t.chars().take(t.chars().count() / 2).collect();
                likeness(d, &Meaning::of_text(&h))
            })
            .collect();
        println!("{set} half {}", q(v));
    }
    let en = docs("react_en2en");
    for set in ["react_zh2zh", "react_ja2ja", "react_ko2ko"] {
        let v = en.iter().take(40).zip(docs(set)).map(|(a, b)| likeness(a, &b)).collect();
        println!("translated {set} {}", q(v));
    }
}
