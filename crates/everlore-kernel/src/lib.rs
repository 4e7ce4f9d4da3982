//! Inner loops of Everlore's models: everything that runs over vectors number by number.
//!
//! It is a separate crate for two reasons: it is compiled for speed in every profile, tests included, and it is the
//! only crate with unsafe code, for instructions that the processor may not have. Sums are made in the same order on
//! every processor, so that a text has the same vectors everywhere.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod vnni;

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
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "twice as fast with AVX2")]
        // SAFETY: the processor has just reported these instructions.
        return unsafe { run_avx2(work) };
    }
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

/// Quantizes each row to integers up to 127 and writes its scale.
pub fn quantize_rows(numbers: &[f32], width: usize, values: &mut [i16], scales: &mut [f32]) {
    run_widest(QuantizeTask { numbers, width, values, scales });
}

struct QuantizeTask<'a> {
    numbers: &'a [f32],
    width: usize,
    values: &'a mut [i16],
    scales: &'a mut [f32],
}

impl SimdTask for QuantizeTask<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { numbers, width, values, scales } = self;
        let rows = numbers.chunks_exact(width).zip(values.chunks_exact_mut(width));
        for ((row, values), scale) in rows.zip(scales) {
            let largest = row.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
            *scale = largest / f32::from(i8::MAX);
            let each = if *scale > 0.0 { scale.recip() } else { 0.0 };
            for (value, number) in values.iter_mut().zip(row) {
                *value = round_to_nearest(number * each) as i32 as i16;
            }
        }
    }
}

/// Dequantizes integer sums by the scales of their row and column, and adds the bias of the column.
pub fn dequantize(sums: &[i32], rows: &[f32], columns: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; sums.len()];
    let width = columns.len();
    for ((out, sums), scale) in out.chunks_exact_mut(width).zip(sums.chunks_exact(width)).zip(rows)
    {
        for (((out, sum), column), bias) in out.iter_mut().zip(sums).zip(columns).zip(bias) {
            *out = *sum as f32 * scale * column + bias;
        }
    }
    out
}

/// Adds multi-head attention to `out`: softmax of queries times keys, times values, for each head of this width.
pub fn attention(
    [queries, keys, values]: [&[f32]; 3],
    (width, head): (usize, usize),
    out: &mut [f32],
) {
    run_widest(AttentionTask { queries, keys, values, width, head, out });
}

struct AttentionTask<'a> {
    queries: &'a [f32],
    keys: &'a [f32],
    values: &'a [f32],
    width: usize,
    head: usize,
    out: &'a mut [f32],
}

impl SimdTask for AttentionTask<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { width, head, .. } = self;
        let scale = (head as f32).sqrt().recip();
        let mut weights = vec![0.0; self.queries.len() / width];
        for (query, out) in self.queries.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            for start in (0..width).step_by(head) {
                let query = &query[start..start + head];
                for (weight, key) in weights.iter_mut().zip(self.keys.chunks_exact(width)) {
                    *weight = dot_in_lanes(query, &key[start..start + head]) * scale;
                }
                softmax(&mut weights);
                let out = &mut out[start..start + head];
                for (weight, value) in weights.iter().zip(self.values.chunks_exact(width)) {
                    let value = &value[start..start + head];
                    out.iter_mut().zip(value).for_each(|(sum, value)| *sum += weight * value);
                }
            }
        }
    }
}

/// Returns the dot product of two vectors.
pub fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    dot_in_lanes(a, b)
}

/// Adds a multiple of a vector to `sums`.
pub fn add_scaled(sums: &mut [f32], values: &[f32], times: f32) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * value);
}

/// Adds a multiple of a vector of bytes to `sums`.
pub fn add_scaled_i8(sums: &mut [f32], values: &[i8], times: f32) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += times * f32::from(*value));
}

/// Returns the dot product, summed in eight lanes that every processor adds up in the same order.
#[inline(always)]
fn dot_in_lanes(a: &[f32], b: &[f32]) -> f32 {
    let ((wholes_a, rest_a), (wholes_b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0f32; 8];
    for (a, b) in wholes_a.iter().zip(wholes_b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

#[inline(always)]
fn softmax(weights: &mut [f32]) {
    let largest = weights.iter().fold(f32::MIN, |largest, weight| largest.max(*weight));
    weights.iter_mut().for_each(|weight| *weight = exp(*weight - largest));
    let total: f32 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
}

/// Normalizes each row to mean 0 and deviation 1, then applies the learned gain and bias. `epsilon` keeps a row of
/// equal numbers from a division by zero.
pub fn layer_norm(rows: &mut [f32], gain: &[f32], bias: &[f32], epsilon: f32) {
    run_widest(LayerNormTask { rows, gain, bias, epsilon });
}

struct LayerNormTask<'a> {
    rows: &'a mut [f32],
    gain: &'a [f32],
    bias: &'a [f32],
    epsilon: f32,
}

impl SimdTask for LayerNormTask<'_> {
    #[inline(always)]
    fn run(self) {
        let ones = vec![1.0; self.gain.len()];
        for row in self.rows.chunks_exact_mut(self.gain.len()) {
            let mean = dot_in_lanes(row, &ones) / row.len() as f32;
            row.iter_mut().for_each(|value| *value -= mean);
            let variance = dot_in_lanes(row, row) / row.len() as f32;
            let each = (variance + self.epsilon).sqrt().recip();
            for ((value, gain), bias) in row.iter_mut().zip(self.gain).zip(self.bias) {
                *value = *value * each * gain + bias;
            }
        }
    }
}

/// Applies the GELU activation: each number times the share of a normal distribution below it.
pub fn gelu(values: &mut [f32]) {
    run_widest(GeluTask { values });
}

struct GeluTask<'a> {
    values: &'a mut [f32],
}

impl SimdTask for GeluTask<'_> {
    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value *= 0.5 * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// Returns the error function by formula 7.1.26 of Abramowitz and Stegun, which is right to 1.5e-7.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let sum = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - sum * exp(-size * size)).copysign(x)
}

/// Returns e^x to about seven digits, for x up to 80, without a call that would keep loops from being vectorized.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Smaller powers vanish beside 1.
    let x = x.max(-80.0);
    let whole = round_to_nearest(x * std::f32::consts::LOG2_E);
    // ln 2 in two parts, so that the rest keeps its digits.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let power = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_67
                                + rest
                                    * (0.041_666_67
                                        + rest * (0.008_333_334 + rest * 0.001_388_888_9)))));
    power * f32::from_bits(((whole as i32 + 127) << 23).cast_unsigned())
}

/// Rounds to the nearest integer, for sizes below four million: the sum with `NO_FRACTIONS` has no bits for fractions.
#[inline(always)]
fn round_to_nearest(x: f32) -> f32 {
    const NO_FRACTIONS: f32 = 12_582_912.0;
    (x + NO_FRACTIONS) - NO_FRACTIONS
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

    #[test]
    fn powers_of_e_are_right_to_six_digits() {
        for step in -8_000..800 {
            let x = step as f32 / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 1e-6, "{x}");
        }
        assert!(exp(-1e9) < 1e-30);
    }

    #[test]
    fn the_error_function_is_right_to_six_digits() {
        // Values of the table of Abramowitz and Stegun.
        for (x, expected) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (5.0, 1.0)]
        {
            assert!((erf(x) - expected).abs() < 1e-6 && (erf(-x) + expected).abs() < 1e-6, "{x}");
        }
    }
}
