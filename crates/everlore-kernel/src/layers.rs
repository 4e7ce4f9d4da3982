//! Layers of a transformer in single precision: attention, normalization, activation.

use crate::{SimdTask, quantize::round_to_nearest, run_widest};

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

/// Writes the dot products of a vector and rows of its width, as [`dot_f32`] computes them.
pub fn dot_rows(rows: &[f32], vector: &[f32], out: &mut [f32]) {
    run_widest(DotRowsTask { rows, vector, out });
}

struct DotRowsTask<'a> {
    rows: &'a [f32],
    vector: &'a [f32],
    out: &'a mut [f32],
}

/// Rows whose sums are made at the same time: a sum by itself waits for each of its additions.
const DOT_ROWS: usize = 4;

impl SimdTask for DotRowsTask<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { rows, vector, out } = self;
        let width = vector.len().max(1);
        let (groups, rest) = rows.split_at(rows.len() - rows.len() % (DOT_ROWS * width));
        let (out, out_rest) = out.split_at_mut(groups.len() / width);
        let groups = groups.chunks_exact(DOT_ROWS * width);
        for (rows, out) in groups.zip(out.as_chunks_mut::<DOT_ROWS>().0) {
            *out = dots_in_lanes(rows, vector);
        }
        for (row, out) in rest.chunks_exact(width).zip(out_rest) {
            *out = dot_in_lanes(row, vector);
        }
    }
}

/// Returns the dot products of four rows, each summed as by [`dot_in_lanes`].
#[inline(always)]
fn dots_in_lanes(rows: &[f32], vector: &[f32]) -> [f32; DOT_ROWS] {
    let (wholes, rest) = vector.as_chunks::<8>();
    let row = |row: usize| rows[row * vector.len()..][..vector.len()].as_chunks::<8>();
    let rows: [(&[[f32; 8]], &[f32]); DOT_ROWS] = std::array::from_fn(row);
    let mut lanes = [[0.0f32; 8]; DOT_ROWS];
    for (index, whole) in wholes.iter().enumerate() {
        for (lanes, (row, _)) in lanes.iter_mut().zip(&rows) {
            for ((lane, a), b) in lanes.iter_mut().zip(&row[index]).zip(whole) {
                *lane += a * b;
            }
        }
    }
    std::array::from_fn(|index| {
        let rest: f32 = rows[index].1.iter().zip(rest).map(|(a, b)| a * b).sum();
        lanes[index].iter().sum::<f32>() + rest
    })
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn dot_products_of_many_rows_are_those_of_each() {
        let number = |index: usize| ((index * 37 % 101) as f32 - 50.0) / 7.0;
        for (width, count) in [(384, 9), (13, 6), (8, 4), (1, 3), (5, 0)] {
            let rows: Vec<f32> = (0..width * count).map(number).collect();
            let vector: Vec<f32> = (0..width).map(|index| number(index + 5)).collect();
            let mut out = vec![0.0; count];
            dot_rows(&rows, &vector, &mut out);
            let each: Vec<f32> = rows.chunks(width).map(|row| dot_f32(row, &vector)).collect();
            assert_eq!(out, each);
        }
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
