//! The inner loop of every comparison: products of rows of bytes, with the instructions that the processor has.

use fearless_simd::{Level, Simd, dispatch, i8x32, i32x8, prelude::*};

use super::vector::DIM;

/// The product of two vectors of one length.
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    let mut product = [0];
    dots(a, b, &mut product);
    product[0]
}

/// The products of a vector with each of several that lie one after the other, as many as there is room for.
pub fn dots(query: &[i8], vectors: &[i8], products: &mut [i32]) {
    dispatch!(Level::new(), simd => match <&[i8; DIM]>::try_from(query) {
        Ok(query) => all(simd, query, vectors, products),
        Err(_) => all_of_any_length(simd, query, vectors, products),
    });
}

/// For the embedded model: the length is known to the compiler.
#[inline(always)]
fn all<S: Simd>(simd: S, query: &[i8; DIM], vectors: &[i8], products: &mut [i32]) {
    for (product, vector) in products.iter_mut().zip(vectors.chunks_exact(DIM)) {
        *product = one(simd, query, vector);
    }
}

#[inline(always)]
fn all_of_any_length<S: Simd>(simd: S, query: &[i8], vectors: &[i8], products: &mut [i32]) {
    let whole = query.len() - query.len() % LANES;
    for (product, vector) in products.iter_mut().zip(vectors.chunks_exact(query.len().max(1))) {
        let ((a, rest_of_a), (b, rest_of_b)) = (query.split_at(whole), vector.split_at(whole));
        let rest = rest_of_a.iter().zip(rest_of_b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
        *product = one(simd, a, b) + rest;
    }
}

const LANES: usize = 32;

#[inline(always)]
fn one<S: Simd>(simd: S, a: &[i8], b: &[i8]) -> i32 {
    let mut sums = [i32x8::splat(simd, 0); 2];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        let (a, b) = (i8x32::from_slice(simd, a).widen(), i8x32::from_slice(simd, b).widen());
        sums[0] += a.0.pairwise_dot_product(b.0);
        sums[1] += a.1.pairwise_dot_product(b.1);
    }
    (sums[0] + sums[1]).reduce_sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extremes_do_not_overflow() {
        assert_eq!(dot(&[-128; DIM], &[-128; DIM]), 128 * 128 * 256);
        assert_eq!(dot(&[127; DIM], &[-128; DIM]), -127 * 128 * 256);
        assert_eq!(dot(&[0; DIM], &[77; DIM]), 0);
    }

    #[test]
    fn it_is_the_sum_of_the_products() {
        let value = |seed: usize, at: usize| ((seed * 31 + at * 97 + at * at * 13) % 251) as u8 as i8;
        for length in [1, 31, 32, 100, DIM, 300, 1_536] {
            let vectors: Vec<i8> = (0..5 * length).map(|at| value(3, at)).collect();
            let query: Vec<i8> = (0..length).map(|at| value(11, at)).collect();
            let mut products = [0; 5];
            dots(&query, &vectors, &mut products);
            for (index, product) in products.into_iter().enumerate() {
                let plain: i32 = (0..length)
                    .map(|at| i32::from(query[at]) * i32::from(vectors[index * length + at]))
                    .sum();
                assert_eq!(product, plain, "{length}");
            }
        }
        dots(&[], &[], &mut [0; 2]);
    }
}
