//! From tokens to one vector of length 1, and to the bytes that are kept of it.

use super::Token;
use super::model::{row, scale};

/// Numbers in a vector.
pub const DIM: usize = 256;
/// One step of a kept vector: a component of a unit vector seldom exceeds a half.
pub const QUANTUM: f32 = 1.0 / 254.0;

/// A vector of length 1.
pub type Vector = [f32; DIM];

/// The sum of the tokens' rows, each times its weight, brought to length 1; `None` when nothing is left of it.
pub fn vector(tokens: &[(Token, f32)]) -> Option<Vector> {
    let mut sum = [0.0; DIM];
    for &(token, weight) in tokens {
        let scale = scale(token) * weight;
        for (sum, value) in sum.iter_mut().zip(row(token)) {
            *sum += f32::from(value) * scale;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length == 0.0 {
        return None;
    }
    Some(sum.map(|value| value / length))
}

/// A vector as bytes, for [`super::dot()`]: the product of two is their cosine divided by [`QUANTUM`] squared.
pub fn quantize(vector: &Vector) -> [i8; DIM] {
    #[expect(clippy::cast_possible_truncation, reason = "clamped")]
    vector.map(|value| (value / QUANTUM).round().clamp(-127.0, 127.0) as i8)
}
