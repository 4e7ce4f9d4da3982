//! The forward pass: pieces in, one vector for each of them out.
//!
//! Tables are multiplied in eight bits, each row of activations with a scale of its own; everything else is in single
//! precision. Sums are made in the same order on every processor, so that a text has the same vectors everywhere.

use super::{
    shape::Shape,
    weights::{Layer, Linear, Norm, Weights},
};
use crate::llm::kernel::{Work, multiply, widest};

/// The vectors of the pieces, one after the other, as the last layer leaves them.
pub(super) fn forward(weights: &Weights, shape: &Shape, pieces: &[u16]) -> Vec<f32> {
    let mut hidden = embeddings(weights, shape, pieces);
    for layer in &weights.layers {
        hidden = run_layer(layer, shape, &hidden);
    }
    hidden
}

/// The sum of what a piece, its position and its part of the text say.
fn embeddings(weights: &Weights, shape: &Shape, pieces: &[u16]) -> Vec<f32> {
    let mut hidden = vec![0.0; pieces.len() * shape.hidden_size];
    for ((position, piece), row) in
        pieces.iter().enumerate().zip(hidden.chunks_exact_mut(shape.hidden_size))
    {
        for (values, scale) in [
            weights.words.row(usize::from(*piece)),
            weights.positions.row(position),
            weights.kinds.row(0),
        ] {
            row.iter_mut().zip(values).for_each(|(sum, value)| *sum += scale * f32::from(*value));
        }
    }
    widest(Normalize { rows: &mut hidden, norm: &weights.norm, shape });
    hidden
}

fn run_layer(layer: &Layer, shape: &Shape, hidden: &[f32]) -> Vec<f32> {
    let input = Rounded::new(hidden, shape.hidden_size);
    let [queries, keys, values] =
        [&layer.query, &layer.key, &layer.value].map(|linear| input.times(linear));
    let mut attended = vec![0.0; hidden.len()];
    widest(Attend { queries: &queries, keys: &keys, values: &values, shape, out: &mut attended });
    let mut attended = Rounded::new(&attended, shape.hidden_size).times(&layer.attended);
    add(&mut attended, hidden);
    widest(Normalize { rows: &mut attended, norm: &layer.attended_norm, shape });
    let mut inner = Rounded::new(&attended, shape.hidden_size).times(&layer.up);
    widest(Gelu { values: &mut inner });
    let mut output = Rounded::new(&inner, shape.intermediate_size).times(&layer.down);
    add(&mut output, &attended);
    widest(Normalize { rows: &mut output, norm: &layer.output_norm, shape });
    output
}

fn add(sums: &mut [f32], others: &[f32]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

/// Rows in eight bits a number, widened as the kernel wants them.
struct Rounded {
    width: usize,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Rounded {
    fn new(numbers: &[f32], width: usize) -> Self {
        let mut rounded = Self {
            width,
            values: vec![0; numbers.len()],
            scales: vec![0.0; numbers.len() / width],
        };
        widest(Round { numbers, rounded: &mut rounded });
        rounded
    }

    /// Every row times every row of a table.
    fn times(&self, linear: &Linear) -> Vec<f32> {
        let columns = linear.bias.len();
        let mut sums = vec![0; self.scales.len() * columns];
        multiply(&self.values, &linear.weight.values, self.width, &mut sums);
        let mut out = vec![0.0; sums.len()];
        for ((out, sums), scale) in
            out.chunks_exact_mut(columns).zip(sums.chunks_exact(columns)).zip(&self.scales)
        {
            for (((out, sum), other), bias) in
                out.iter_mut().zip(sums).zip(&linear.weight.scales).zip(&linear.bias)
            {
                *out = *sum as f32 * scale * other + bias;
            }
        }
        out
    }
}

struct Round<'a> {
    numbers: &'a [f32],
    rounded: &'a mut Rounded,
}

impl Work for Round<'_> {
    #[inline(always)]
    fn run(self) {
        let Rounded { width, values, scales } = self.rounded;
        let rows = self.numbers.chunks_exact(*width).zip(values.chunks_exact_mut(*width));
        for ((row, values), scale) in rows.zip(scales) {
            let largest = row.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
            *scale = largest / f32::from(i8::MAX);
            let each = if *scale > 0.0 { scale.recip() } else { 0.0 };
            for (value, number) in values.iter_mut().zip(row) {
                *value = nearest(number * each) as i32 as i16;
            }
        }
    }
}

/// Softmax of queries times keys, times values, for each head.
struct Attend<'a> {
    queries: &'a [f32],
    keys: &'a [f32],
    values: &'a [f32],
    shape: &'a Shape,
    out: &'a mut [f32],
}

impl Work for Attend<'_> {
    #[inline(always)]
    fn run(self) {
        let (width, head) = (self.shape.hidden_size, self.shape.head());
        let scale = (head as f32).sqrt().recip();
        let mut weights = vec![0.0; self.queries.len() / width];
        for (query, out) in self.queries.chunks_exact(width).zip(self.out.chunks_exact_mut(width)) {
            for start in (0..width).step_by(head) {
                let query = &query[start..start + head];
                for (weight, key) in weights.iter_mut().zip(self.keys.chunks_exact(width)) {
                    *weight = dot(query, &key[start..start + head]) * scale;
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

/// Sums in eight lanes, which every processor adds up in the same order.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
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

/// Brings each row to mean 0 and deviation 1, then to the learned size and place.
struct Normalize<'a> {
    rows: &'a mut [f32],
    norm: &'a Norm,
    shape: &'a Shape,
}

impl Work for Normalize<'_> {
    #[inline(always)]
    fn run(self) {
        let ones = vec![1.0; self.shape.hidden_size];
        for row in self.rows.chunks_exact_mut(self.shape.hidden_size) {
            let mean = dot(row, &ones) / row.len() as f32;
            row.iter_mut().for_each(|value| *value -= mean);
            let variance = dot(row, row) / row.len() as f32;
            let each = (variance + self.shape.layer_norm_eps).sqrt().recip();
            for ((value, gain), bias) in row.iter_mut().zip(&self.norm.gain).zip(&self.norm.bias) {
                *value = *value * each * gain + bias;
            }
        }
    }
}

/// x times the share of a normal distribution below x.
struct Gelu<'a> {
    values: &'a mut [f32],
}

impl Work for Gelu<'_> {
    #[inline(always)]
    fn run(self) {
        for value in self.values {
            *value *= 0.5 * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// The error function by formula 7.1.26 of Abramowitz and Stegun, which is right to 1.5e-7.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let sum = t
        * (0.254_829_6
            + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152_1 + t * 1.061_405_4))));
    (1.0 - sum * exp(-size * size)).copysign(x)
}

/// e^x to about seven digits, for x up to 80, without a call that would keep loops from being widened.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Smaller powers are nothing beside 1.
    let x = x.max(-80.0);
    let whole = nearest(x * std::f32::consts::LOG2_E);
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

/// The nearest whole number, for sizes below four million: beyond this sum no fractions are left.
#[inline(always)]
fn nearest(x: f32) -> f32 {
    const NO_FRACTIONS: f32 = 12_582_912.0;
    (x + NO_FRACTIONS) - NO_FRACTIONS
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
    fn the_error_function_is_right_to_six_digits() {
        // Values of the table of Abramowitz and Stegun.
        for (x, expected) in
            [(0.0, 0.0), (0.5, 0.520_499_9), (1.0, 0.842_700_8), (2.0, 0.995_322_3), (5.0, 1.0)]
        {
            assert!((erf(x) - expected).abs() < 1e-6 && (erf(-x) + expected).abs() < 1e-6, "{x}");
        }
    }
}
