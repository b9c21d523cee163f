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
    vector.map(|value| byte(value, QUANTUM))
}

/// A vector of any length, brought to length 1, as bytes of which one step is `quantum`; `None` when nothing is left of
/// it, or when it holds something that is no number.
pub fn unit_bytes(vector: &[f32], quantum: f32) -> Option<Vec<i8>> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 1")]
    let unit = |value: &f32| (f64::from(*value) / length) as f32;
    Some(vector.iter().map(|value| byte(unit(value), quantum)).collect())
}

#[expect(clippy::cast_possible_truncation, reason = "clamped")]
fn byte(value: f32, quantum: f32) -> i8 {
    (value / quantum).round().clamp(-127.0, 127.0) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_vector_is_brought_to_length_1() {
        assert_eq!(unit_bytes(&[3.0, -4.0, 0.0], 1.0 / 127.0), Some(vec![76, -102, 0]));
        assert_eq!(unit_bytes(&[f32::MAX, 0.0], 1.0 / 127.0), Some(vec![127, 0]));
        for nothing in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 1.0]] {
            assert_eq!(unit_bytes(nothing, 1.0 / 127.0), None, "{nothing:?}");
        }
    }
}
