//! The hot loops of recall by meaning: the only place that asks what the processor can do.

/// The sum of the products of a query's bytes and those of a stored vector, which lie in the store as plain bytes.
///
/// Measured for 256 of them: 10 ns with AVX2, 20 ns with what every x86-64 has; the plain loop takes 48 ns.
pub fn dot(query: &[i8], stored: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the hot kernel of every recall, twice as fast with AVX2")]
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { dot_avx2(query, stored) };
    }
    sum_of_products(query, stored)
}

/// The same source for newer processors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(query: &[i8], stored: &[u8]) -> i32 {
    sum_of_products(query, stored)
}

/// Sums in pieces of 32, because the compiler then multiplies and adds eight or sixteen pairs at once.
#[inline(always)]
fn sum_of_products(query: &[i8], stored: &[u8]) -> i32 {
    let length = query.len().min(stored.len());
    let (wholes_a, rest_a) = query[..length].as_chunks::<32>();
    let (wholes_b, rest_b) = stored[..length].as_chunks::<32>();
    let wholes = wholes_a.iter().zip(wholes_b).map(|(a, b)| plain(a, b));
    wholes.sum::<i32>() + plain(rest_a, rest_b)
}

#[inline(always)]
fn plain(query: &[i8], stored: &[u8]) -> i32 {
    // The product of two bytes fits into 16 bits.
    let product = |(&a, &b): (&i8, &u8)| i32::from(i16::from(a) * i16::from(b.cast_signed()));
    query.iter().zip(stored).map(product).sum()
}

/// Work whose loops gain from wide instructions. `run` must be `#[inline(always)]`.
#[cfg(feature = "local-model")]
pub(super) trait Work {
    fn run(self);
}

/// Runs work with the widest instructions that the processor knows.
#[cfg(feature = "local-model")]
pub(super) fn widest(work: impl Work) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "twice as fast with AVX2")]
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { widest_avx2(work) };
    }
    work.run();
}

#[cfg(all(target_arch = "x86_64", feature = "local-model"))]
#[target_feature(enable = "avx2")]
fn widest_avx2(work: impl Work) {
    work.run();
}

/// Multiplies every row of `a` with every row of `b`, all of this width; `out` gets a row for each row of `a`.
///
/// Measured for 22 rows by 1,536 of 384 bytes: 65 billion products a second with AVX2, 14 by the plain loop.
#[cfg(feature = "local-model")]
pub(super) fn multiply(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if width.is_multiple_of(avx2::LANES) && std::arch::is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "the hot kernel of the local model, five times as fast with AVX2"
        )]
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { avx2::multiply(a, b, width, out) };
    }
    multiply_plainly(a, b, width, out);
}

#[cfg(feature = "local-model")]
fn multiply_plainly(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
    for (a, out) in a.chunks_exact(width).zip(out.chunks_exact_mut(b.len() / width)) {
        for (b, out) in b.chunks_exact(width).zip(out) {
            *out = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        }
    }
}

#[cfg(all(target_arch = "x86_64", feature = "local-model"))]
mod avx2 {
    use std::arch::x86_64::*;

    /// Numbers that are multiplied at once.
    pub(super) const LANES: usize = 16;

    /// Rows of `a` and of `b` whose products are summed side by side: as many as there are registers for.
    const ROWS_A: usize = 4;
    const ROWS_B: usize = 2;

    #[target_feature(enable = "avx2")]
    pub(super) fn multiply(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
        let columns = b.len() / width;
        let rows_a = a.len() / width;
        for first_b in (0..columns).step_by(ROWS_B) {
            for first_a in (0..rows_a).step_by(ROWS_A) {
                // Beyond the last row it is multiplied once more, and the product left out.
                let a: [&[[i16; LANES]]; ROWS_A] =
                    std::array::from_fn(|row| lanes(a, width, (first_a + row).min(rows_a - 1)));
                let b: [&[[i8; LANES]]; ROWS_B] =
                    std::array::from_fn(|row| lanes(b, width, (first_b + row).min(columns - 1)));
                let sums = sums(a, b);
                for (row, sums) in (first_a..rows_a).zip(&sums) {
                    for (column, sum) in (first_b..columns).zip(sums) {
                        out[row * columns + column] = *sum;
                    }
                }
            }
        }
    }

    fn lanes<T>(rows: &[T], width: usize, row: usize) -> &[[T; LANES]] {
        rows[row * width..][..width].as_chunks().0
    }

    #[target_feature(enable = "avx2")]
    fn sums(a: [&[[i16; LANES]]; ROWS_A], b: [&[[i8; LANES]]; ROWS_B]) -> [[i32; ROWS_B]; ROWS_A] {
        let mut sums = [[_mm256_setzero_si256(); ROWS_B]; ROWS_A];
        let [a0, a1, a2, a3] = a;
        let [b0, b1] = b;
        for (((((a0, a1), a2), a3), b0), b1) in a0.iter().zip(a1).zip(a2).zip(a3).zip(b0).zip(b1) {
            let b = [widened(b0), widened(b1)];
            for (sums, a) in sums.iter_mut().zip([a0, a1, a2, a3]) {
                let a = loaded(a);
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(a, b));
                }
            }
        }
        sums.map(|sums| sums.map(|sum| total(sum)))
    }

    #[target_feature(enable = "avx2")]
    fn loaded(numbers: &[i16; LANES]) -> __m256i {
        #[expect(unsafe_code, reason = "there is no safe way to load a register")]
        // SAFETY: the array is as long as the register, and the load asks for no alignment.
        unsafe {
            _mm256_loadu_si256(numbers.as_ptr().cast())
        }
    }

    #[target_feature(enable = "avx2")]
    fn widened(numbers: &[i8; LANES]) -> __m256i {
        #[expect(unsafe_code, reason = "there is no safe way to load a register")]
        // SAFETY: the array is as long as the register, and the load asks for no alignment.
        let bytes = unsafe { _mm_loadu_si128(numbers.as_ptr().cast()) };
        _mm256_cvtepi8_epi16(bytes)
    }

    #[target_feature(enable = "avx2")]
    fn total(sums: __m256i) -> i32 {
        let halves =
            _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let quarters = _mm_add_epi32(halves, _mm_shuffle_epi32::<0b1110>(halves));
        _mm_cvtsi128_si32(_mm_add_epi32(quarters, _mm_shuffle_epi32::<1>(quarters)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn every_way_of_summing_gives_the_same(query in vec(any::<i8>(), 0..300), stored in vec(any::<u8>(), 0..300)) {
            let one_by_one: i32 =
                query.iter().zip(&stored).map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum();
            prop_assert_eq!(dot(&query, &stored), one_by_one);
            prop_assert_eq!(sum_of_products(&query, &stored), one_by_one);
        }
    }
    #[cfg(feature = "local-model")]
    proptest! {
        #[test]
        fn tables_are_multiplied_the_same_in_every_way(
            (rows, columns, width) in (1..7usize, 1..6usize, prop::sample::select(vec![16usize, 20, 48])),
            seed in vec(any::<i8>(), 700),
        ) {
            let number = |index: usize| seed[index % seed.len()];
            let a: Vec<i16> = (0..rows * width).map(|index| number(index * 7).into()).collect();
            let b: Vec<i8> = (0..columns * width).map(|index| number(index * 3 + 1)).collect();
            let (mut fast, mut plain) = (vec![0; rows * columns], vec![0; rows * columns]);
            multiply(&a, &b, width, &mut fast);
            multiply_plainly(&a, &b, width, &mut plain);
            prop_assert_eq!(fast, plain);
        }
    }
}
