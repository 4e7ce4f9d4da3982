//! Inner loops of Everlore's models and of ranking: everything that runs over vectors number by number, from the
//! bytes of a file on, and over all documents of a scope.
//!
//! It is a separate crate for two reasons: it is compiled for speed in every profile, tests included, and it is the
//! only crate with unsafe code, for instructions that the processor may not have. Sums are made in the same order on
//! every processor, so that a text has the same vectors everywhere.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bm25;
mod layers;
mod numbers;
mod packed_tokens;
mod quantize;
#[cfg(target_arch = "x86_64")]
mod vnni;

pub use bm25::{
    Bm25Sums, IRREGULAR_TURNS, LengthNorm, Posting, PostingWeights, TermFrequencies, TermWorth,
    TurnRuns, length_norms, turn_run,
};
pub use layers::{add_scaled, add_scaled_i8, attention, dot_f32, dot_rows, gelu, layer_norm};
pub use numbers::{add_packed_row, packed_row_bytes, read_bf16s, read_f16s, read_f32s, read_i8s};
pub use packed_tokens::{TokenMatrix, packed_cosine};
pub use quantize::{add_low_rank, dequantize, quantize_rows};

/// Returns the dot product of a query's bytes and a stored vector, which the store keeps as plain bytes.
///
/// Measured for 256 dimensions: 8 ns with AVX2, 20 ns with SSE2, which every x86-64 has; the plain loop takes 48 ns.
pub fn dot(query: &[i8], stored: &[u8]) -> i32 {
    let length = query.len().min(stored.len());
    let (query, stored) = (&query[..length], &stored[..length]);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the hot kernel of every recall, twice as fast with AVX2")]
        // SAFETY: the processor has just reported these instructions.
        return unsafe { avx2::dot(query, stored) };
    }
    dot_portable(query, stored)
}

fn dot_portable(query: &[i8], stored: &[u8]) -> i32 {
    let (query, stored) = (query.as_chunks::<32>(), stored.as_chunks::<32>());
    // In chunks of 32 the compiler multiplies and adds eight pairs at once.
    let sums = query.0.iter().zip(stored.0).map(|(query, stored)| dot_bytes(query, stored));
    sums.sum::<i32>() + dot_bytes(query.1, stored.1)
}

#[inline(always)]
fn dot_bytes(query: &[i8], stored: &[u8]) -> i32 {
    // The product of two bytes fits into 16 bits.
    let product = |(&a, &b): (&i8, &u8)| i32::from(i16::from(a) * i16::from(b.cast_signed()));
    query.iter().zip(stored).map(product).sum()
}

/// Work that gains from wide instructions. `run` must be `#[inline(always)]`.
trait SimdTask {
    fn run(self);
}

/// Runs work with the widest instructions of the processor.
fn run_widest(work: impl SimdTask) {
    #[cfg(target_arch = "x86_64")]
    if vnni::is_supported() && std::arch::is_x86_feature_detected!("avx512dq") {
        #[expect(unsafe_code, reason = "wider registers than those of AVX2")]
        // SAFETY: the processor has just reported these instructions.
        return unsafe { run_avx512(work) };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "twice as fast with AVX2")]
        // SAFETY: the processor has just reported these instructions.
        return unsafe { run_avx2(work) };
    }
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512dq")]
fn run_avx512(work: impl SimdTask) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(work: impl SimdTask) {
    work.run();
}

/// Weights of a matrix product, a row for each column of the product, laid out for this processor.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightMatrix {
    width: usize,
    layout: WeightLayout,
}

#[derive(Debug, Clone, PartialEq)]
enum WeightLayout {
    Rows(Vec<i8>),
    #[cfg(target_arch = "x86_64")]
    Blocked(vnni::BlockedWeights),
}

impl WeightMatrix {
    /// Lays out rows of this width.
    pub fn new(values: Vec<i8>, width: usize) -> Self {
        Self { width, layout: WeightLayout::new(values, width) }
    }

    /// Returns the rows as they came, concatenated.
    pub fn to_rows(&self) -> Vec<i8> {
        match &self.layout {
            WeightLayout::Rows(values) => values.clone(),
            #[cfg(target_arch = "x86_64")]
            WeightLayout::Blocked(weights) => weights.to_rows(),
        }
    }

    /// Multiplies rows of integers up to 127: `out` gets a row for each.
    ///
    /// Measured for 22 rows by 1,536 of 384 bytes, in products a second: 14 billion by the plain loop, 65 with AVX2, 210
    /// with AVX-512 VNNI.
    pub fn multiply(&self, a: &[i16], out: &mut [i32]) {
        match &self.layout {
            WeightLayout::Rows(b) => matmul(a, b, self.width, out),
            #[cfg(target_arch = "x86_64")]
            WeightLayout::Blocked(weights) => {
                #[expect(unsafe_code, reason = "four times as fast as AVX2")]
                // SAFETY: weights are laid out this way only if the processor has reported these instructions.
                unsafe {
                    weights.matmul(a, out);
                }
            }
        }
    }
}

impl WeightLayout {
    fn new(values: Vec<i8>, width: usize) -> Self {
        #[cfg(target_arch = "x86_64")]
        if vnni::is_supported()
            && let Some(weights) = vnni::BlockedWeights::new(&values, width)
        {
            return Self::Blocked(weights);
        }
        Self::Rows(values)
    }
}

/// Multiplies `a` with the transpose of `b`: `out` gets a row for each row of `a`. All rows have this width.
fn matmul(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if width.is_multiple_of(avx2::LANES) && std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "five times as fast with AVX2")]
        // SAFETY: the processor has just reported these instructions.
        return unsafe { avx2::matmul(a, b, width, out) };
    }
    matmul_portable(a, b, width, out);
}

fn matmul_portable(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
    for (a, out) in a.chunks_exact(width).zip(out.chunks_exact_mut(b.len() / width)) {
        for (b, out) in b.chunks_exact(width).zip(out) {
            *out = a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        }
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
            let length = query.len().min(stored.len());
            prop_assert_eq!(dot_portable(&query[..length], &stored[..length]), one_by_one);
        }
    }
    proptest! {
        #[test]
        fn tables_are_multiplied_the_same_in_every_way(
            (rows, columns, width) in (1..11usize, 1..90usize, prop::sample::select(vec![16usize, 20, 48, 18])),
            seed in vec(any::<i8>(), 700),
        ) {
            let number = |index: usize| seed[index % seed.len()];
            let a: Vec<i16> = (0..rows * width).map(|index| number(index * 7).into()).collect();
            let b: Vec<i8> = (0..columns * width).map(|index| number(index * 3 + 1)).collect();
            let (mut fast, mut plain) = (vec![0; rows * columns], vec![0; rows * columns]);
            matmul(&a, &b, width, &mut fast);
            matmul_portable(&a, &b, width, &mut plain);
            prop_assert_eq!(&fast, &plain);
            fast.fill(0);
            let weights = WeightMatrix::new(b.clone(), width);
            weights.multiply(&a, &mut fast);
            prop_assert_eq!(fast, plain);
            prop_assert_eq!(weights.to_rows(), b);
        }
    }
}
