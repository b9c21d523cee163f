//! A question as the vector index takes it: word pieces with what each counts for.

use std::collections::HashSet;

use crate::embed::{self, DIM, QUANTUM, QUERY_TOKENS, Query, Token};
use crate::index::{self, Meaning, Probe, Term};
use crate::store::{Store, StoreError};

/// What the pieces of a word count for that only makes a question of it (`how`, `怎么`). They move a question away from
/// what it is about; the model was not trained to know (measured by `scripts/bench/retrieval`).
const FUNCTION_WORD: f32 = 0.5;
/// How far the rarity of a piece in this memory decides what it counts for; the rest is the model's own weight.
const RARITY_SHARE: f32 = 0.3;
/// The best of more rows is more similar by chance: so much for each factor e.
const CHANCE: f64 = 0.032;
/// Shares of the two similarities, as in the evaluation of the model.
const COSINE_SHARE: f64 = 0.5;
const MAXSIM_SHARE: f64 = 0.5;

/// What is asked for.
#[derive(Debug)]
pub(super) struct Question {
    /// Its vector, for the index.
    pub(super) vector: [i8; DIM],
    /// The same for an embeddings endpoint, if one is asked.
    pub(super) probe: Option<Probe>,
    pieces: Query,
}

/// How similar a record is to a question, from -1 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Similarity {
    /// Of the vectors.
    pub(super) cosine: f64,
    /// Of the word pieces.
    pub(super) maxsim: f64,
}

impl Similarity {
    /// Both in one number.
    pub(super) fn score(self) -> f64 {
        COSINE_SHARE * self.cosine + MAXSIM_SHARE * self.maxsim
    }
}

impl Question {
    /// `None` for a text without words.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(super) fn new(store: &Store, text: &str, terms: &[Term]) -> Result<Option<Self>, StoreError> {
        let tokens = embed::tokens(text, QUERY_TOKENS);
        let function_words: HashSet<Token> = terms
            .iter()
            .filter(|term| term.stop)
            .flat_map(|term| term.whole.iter().chain(&term.parts))
            .flat_map(|word| embed::tokens(word, QUERY_TOKENS))
            .collect();
        let rarity = index::rarity(store, &tokens)?;
        let weighted: Vec<(Token, f32)> = tokens
            .into_iter()
            .zip(rarity)
            .map(|(token, rarity)| {
                let weight = 1.0 - RARITY_SHARE + RARITY_SHARE * rarity;
                let factor = if function_words.contains(&token) { FUNCTION_WORD } else { 1.0 };
                (token, weight * factor)
            })
            .collect();
        let vector = embed::vector(&weighted).map(|vector| embed::quantize(&vector));
        Ok(vector.zip(Query::new(&weighted)).map(|(vector, pieces)| Self { vector, probe: None, pieces }))
    }

    /// Compares with a record.
    pub(super) fn similarity(&mut self, kept: &Meaning) -> Similarity {
        Similarity { cosine: self.cosine(kept), maxsim: f64::from(self.pieces.maxsim(&kept.tokens)) }
    }

    /// The part of that which costs little.
    pub(super) fn cosine(&self, kept: &Meaning) -> f64 {
        cosine(kept.vector.as_ref().map_or(0, |vector| embed::dot(&self.vector, vector)))
    }
}

/// How much more similar than to one the best of all observations is to anything.
///
/// # Errors
/// [`StoreError`].
pub(super) fn by_chance(store: &Store) -> Result<f64, StoreError> {
    Ok(CHANCE * (index::observations(store)?.max(1) as f64).ln())
}

/// The cosine that a product of two kept vectors stands for.
pub(super) fn cosine(product: i32) -> f64 {
    f64::from(product) * f64::from(QUANTUM * QUANTUM)
}
