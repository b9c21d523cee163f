//! What the score of a row is made of, below the row.

use super::style::FAINT;
use crate::retrieve::{Factors, Parts, PassedBy};

/// The parts of a score, indented below its row; `None` for a row that is not ranked.
pub fn score(parts: Option<&Parts>) -> String {
    let lines = match parts {
        Some(parts) => vec![sum(parts), details(parts)],
        None => vec![String::from("not ranked")],
    };
    let lines: Vec<String> = lines.iter().map(|line| format!("       {FAINT}{line}{FAINT:#}")).collect();
    lines.join("\n")
}

/// How the parts come to the score. Parts that are nothing are left out.
fn sum(parts: &Parts) -> String {
    let terms = [
        ("meaning", parts.meaning),
        ("words", parts.words),
        ("neighbours", parts.neighbours),
        ("exact", parts.exact),
    ];
    let terms: Vec<String> = terms
        .iter()
        .filter(|(_, value)| *value != 0.0)
        .map(|(name, value)| format!("{name} {value:.3}"))
        .collect();
    format!("{:.3} = ({}) × {:.3}", parts.score(), terms.join(" + "), parts.factors.product())
}

/// Where the parts come from, and why the row is shown.
fn details(parts: &Parts) -> String {
    let Factors { priority, recency, used, unused, files, status, kind } = parts.factors;
    let mut details = vec![format!("cosine {:.3}, maxsim {:.3}", parts.cosine, parts.maxsim)];
    if parts.bm25 > 0.0 {
        details.push(format!("bm25 {:.1}", parts.bm25));
    }
    let added =
        [("priority", priority), ("recency", recency), ("use", used), ("unused", unused), ("files", files)];
    details.extend(
        added.iter().filter(|(_, value)| *value != 0.0).map(|(name, value)| format!("{name} {value:+.3}")),
    );
    let factors = [("status", status), ("kind", kind)];
    details.extend(
        factors.iter().filter(|(_, value)| *value != 1.0).map(|(name, value)| format!("{name} ×{value}")),
    );
    let passed_by = match parts.passed_by {
        PassedBy::AllWords => "found by words: all of them",
        PassedBy::Meaning => "found by meaning",
        PassedBy::SomeWords => "found by words: enough of them",
    };
    details.push(format!("{passed_by} (floor of meaning {:.3})", parts.floor));
    details.join("; ")
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn only_what_counts_is_shown() {
        let parts = Parts {
            cosine: 0.5,
            maxsim: 0.3,
            meaning: 0.4,
            bm25: 0.0,
            words: 0.0,
            neighbours: 0.05,
            exact: 0.0,
            factors: Factors { priority: -0.05, status: 0.001, ..Factors::default() },
            floor: 0.2,
            passed_by: PassedBy::Meaning,
        };
        let text = strip_str(&score(Some(&parts))).to_string();
        assert_eq!(
            text,
            "       0.000 = (meaning 0.400 + neighbours 0.050) × 0.001\n       cosine 0.500, maxsim 0.300; \
             priority -0.050; status ×0.001; found by meaning (floor of meaning 0.200)"
        );
        assert!(score(None).contains("not ranked"));
    }
}
