//! The usual figures of retrieval, in percent, and their comparison with the committed ones.

use std::collections::HashMap;
use std::fmt;

/// Loss that is not taken for one, in points.
const TOLERANCE: f64 = 0.5;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// Questions with an answer among the first 1, 5 and 10.
    pub recall: [f64; 3],
    /// Mean reciprocal rank of the first answer among ten.
    pub mrr: f64,
    /// Normalised discounted cumulative gain of the first ten.
    pub ndcg: f64,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub set: String,
    pub method: String,
    pub figures: Figures,
    /// Questions about nothing that were answered all the same.
    pub noise: Option<f64>,
    /// Prompts about the work itself beside which something was told.
    pub everyday: Option<f64>,
}

impl Figures {
    /// From which of the first ten are answers, and how many answers there are.
    pub(crate) fn of(ranks: impl Iterator<Item = (Vec<bool>, usize)>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0.0);
        for (hits, answers) in ranks {
            let first = hits.iter().position(|hit| *hit);
            for (recall, depth) in sum.recall.iter_mut().zip([1, 5, 10]) {
                *recall += f64::from(first.is_some_and(|rank| rank < depth));
            }
            sum.mrr += first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
            let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
            let got: f64 = hits.iter().enumerate().filter(|(_, hit)| **hit).map(|(rank, _)| gain(rank)).sum();
            sum.ndcg += got / (0..answers.min(10)).map(gain).sum::<f64>();
            count += 1.0;
        }
        let percent = |value: f64| 100.0 * value / count;
        Self { recall: sum.recall.map(percent), mrr: percent(sum.mrr), ndcg: percent(sum.ndcg) }
    }

    fn named(self) -> [(&'static str, f64); 5] {
        let [r1, r5, r10] = self.recall;
        [("R@1", r1), ("R@5", r5), ("R@10", r10), ("MRR@10", self.mrr), ("nDCG@10", self.ndcg)]
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<14} {:<7}", self.set, self.method)?;
        for (name, value) in self.figures.named() {
            write!(f, "  {name} {value:>5.1}")?;
        }
        if let Some(noise) = self.noise {
            write!(f, "  answered without an answer {noise:>5.1}")?;
        }
        if let Some(everyday) = self.everyday {
            write!(f, "  beside everyday prompts {everyday:>5.1}")?;
        }
        Ok(())
    }
}

pub(crate) fn as_text(rows: &[Row]) -> String {
    let mut text = String::from("set\tmethod\tR@1\tR@5\tR@10\tMRR@10\tnDCG@10\tnoise\teveryday\n");
    for row in rows {
        let values: Vec<String> =
            row.figures.named().iter().map(|(_, value)| format!("{value:.1}")).collect();
        let shown = |part: Option<f64>| part.map_or_else(String::new, |part| format!("{part:.1}"));
        let (noise, everyday) = (shown(row.noise), shown(row.everyday));
        text.push_str(&format!("{}\t{}\t{}\t{noise}\t{everyday}\n", row.set, row.method, values.join("\t")));
    }
    text
}

/// What is more than the tolerance below the committed figures of the search that users get, and of what is told beside
/// prompts.
pub(crate) fn worse(rows: &[Row], committed: &str) -> Vec<String> {
    let known: HashMap<(&str, &str), Vec<&str>> = committed
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut cells = line.split('\t');
            Some(((cells.next()?, cells.next()?), cells.collect()))
        })
        .collect();
    let mut worse = Vec::new();
    for row in rows.iter().filter(|row| matches!(row.method.as_str(), "hybrid" | "prompt")) {
        let Some(values) = known.get(&(row.set.as_str(), row.method.as_str())) else { continue };
        let now = row.figures.named().into_iter().map(|(name, value)| (name, value, 1.0));
        let now = now.chain(row.noise.map(|noise| ("noise", noise, -1.0)));
        let now = now.chain(row.everyday.map(|everyday| ("everyday", everyday, -1.0)));
        for ((name, value, sign), before) in now.zip(values) {
            let before: f64 = before.parse().unwrap();
            if sign * (before - value) > TOLERANCE + 0.05 {
                worse.push(format!("{} {name}: {value:.1}, was {before:.1}", row.set));
            }
        }
    }
    worse
}
