//! Late interaction (MaxSim, Khattab and Zaharia 2020, <https://arxiv.org/abs/2004.12832>) over the static table: how
//! well each token of a query is met by the document's best token for it.

use std::collections::HashMap;

use super::Token;
use super::dot::dot;
use super::model::{row, scale};
use super::vector::DIM;

/// The tokens of a query, ready to be compared with many documents.
#[derive(Debug)]
pub struct Query {
    parts: Vec<Part>,
    weight: f32,
    /// Cosines with each part, of every token of a document that was met so far.
    met: HashMap<Token, Box<[f32]>>,
}

#[derive(Debug)]
struct Part {
    row: [i8; DIM],
    length: f32,
    weight: f32,
}

impl Query {
    /// Tokens with what each counts beside its weight in the model; `None` without tokens.
    pub fn new(tokens: &[(Token, f32)]) -> Option<Self> {
        let parts: Vec<Part> = tokens
            .iter()
            .map(|&(token, factor)| {
                let row = row(token);
                let length = length(&row);
                Part { row, length, weight: length * scale(token) * factor }
            })
            .collect();
        let weight = parts.iter().map(|part| part.weight).sum();
        (weight > 0.0).then(|| Self { parts, weight, met: HashMap::new() })
    }

    /// From -1 to 1; 0 for a document without tokens.
    pub fn maxsim(&mut self, document: &[Token]) -> f32 {
        if document.is_empty() {
            return 0.0;
        }
        let mut best = vec![f32::NEG_INFINITY; self.parts.len()];
        for &token in document {
            let parts = &self.parts;
            let cosines = self.met.entry(token).or_insert_with(|| {
                let row = row(token);
                let length = length(&row);
                parts.iter().map(|part| cosine(&part.row, &row, part.length * length)).collect()
            });
            for (best, cosine) in best.iter_mut().zip(cosines.iter()) {
                *best = best.max(*cosine);
            }
        }
        self.parts.iter().zip(best).map(|(part, best)| part.weight * best).sum::<f32>() / self.weight
    }
}

/// What a token counts for in a vector or a comparison: the length of its row.
pub fn weight(token: Token) -> f32 {
    length(&row(token)) * scale(token)
}

#[expect(clippy::cast_precision_loss, reason = "at most 256 * 64")]
fn length(row: &[i8; DIM]) -> f32 {
    (dot(row, row) as f32).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "at most 256 * 64")]
fn cosine(a: &[i8; DIM], b: &[i8; DIM], lengths: f32) -> f32 {
    if lengths > 0.0 { dot(a, b) as f32 / lengths } else { 0.0 }
}
