//! The forward pass: pieces in, one vector for each of them out.
//!
//! Tables are multiplied in eight bits, each row of activations with a scale of its own; everything else is in single
//! precision.

use everlore_kernel as kernel;

use super::{
    shape::Shape,
    weights::{Layer, Linear, Norm, Weights},
};

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
    let rows = hidden.chunks_exact_mut(shape.hidden_size);
    for ((position, piece), row) in pieces.iter().enumerate().zip(rows) {
        let word = weights.words.row(usize::from(*piece));
        for (values, scale) in [word, weights.positions.row(position), weights.kinds.row(0)] {
            kernel::add_rounded(row, values, scale);
        }
    }
    normalize(&mut hidden, &weights.norm, shape);
    hidden
}

fn run_layer(layer: &Layer, shape: &Shape, hidden: &[f32]) -> Vec<f32> {
    let input = Rounded::new(hidden, shape.hidden_size);
    let parts = [&layer.query, &layer.key, &layer.value].map(|linear| input.times(linear));
    let mut attended = vec![0.0; hidden.len()];
    let parts = parts.each_ref().map(Vec::as_slice);
    kernel::attend(parts, (shape.hidden_size, shape.head()), &mut attended);
    let mut attended = Rounded::new(&attended, shape.hidden_size).times(&layer.attended);
    kernel::add(&mut attended, hidden, 1.0);
    normalize(&mut attended, &layer.attended_norm, shape);
    let mut inner = Rounded::new(&attended, shape.hidden_size).times(&layer.up);
    kernel::gelu(&mut inner);
    let mut output = Rounded::new(&inner, shape.intermediate_size).times(&layer.down);
    kernel::add(&mut output, &attended, 1.0);
    normalize(&mut output, &layer.output_norm, shape);
    output
}

fn normalize(rows: &mut [f32], norm: &Norm, shape: &Shape) {
    kernel::normalize(rows, &norm.gain, &norm.bias, shape.layer_norm_eps);
}

/// Rows in eight bits a number, widened as the kernel wants them.
struct Rounded {
    width: usize,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Rounded {
    fn new(numbers: &[f32], width: usize) -> Self {
        let (mut values, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        kernel::round(numbers, width, &mut values, &mut scales);
        Self { width, values, scales }
    }

    /// Every row times every row of a table.
    fn times(&self, linear: &Linear) -> Vec<f32> {
        let mut sums = vec![0; self.scales.len() * linear.bias.len()];
        kernel::multiply(&self.values, &linear.weight.values, self.width, &mut sums);
        kernel::restore(&sums, &self.scales, &linear.weight.scales, &linear.bias)
    }
}
