//! Meaning as numbers: the embedded multilingual model turns a text into tokens, and tokens into one vector.
//!
//! The model is a table of 80,000 word pieces with 256 numbers of 4 bits each (`model/FORMAT.md`). It lies in the
//! binary and is used in place: nothing is read, copied or unpacked at start.

mod dot;
mod maxsim;
mod model;
mod tokenize;
mod vector;

pub use dot::{dot, dots};
pub use maxsim::{Query, weight};
pub use tokenize::tokens;
pub use vector::{DIM, QUANTUM, Vector, quantize, unit_bytes, vector};

/// Names the model wherever one of its vectors is kept: vectors of different models are never compared.
pub const MODEL: &str = "cmse-base-1";

/// A word piece, as its row in the table.
pub type Token = u32;

/// Most tokens of a query that are compared one by one.
pub const QUERY_TOKENS: usize = 64;
/// Most tokens of a document that are kept for that.
pub const DOCUMENT_TOKENS: usize = 256;

#[cfg(test)]
mod tests;
