//! The forward pass: pieces in, one vector for each of them out.
//!
//! Tables are multiplied in eight bits, each row of activations with a scale of its own; everything else is in single
//! precision.

use everlore_kernel as kernel;

use super::{
    bert_config::BertConfig,
    weights::{EncoderLayer, EncoderWeights, LayerNorm, LinearLayer},
};

/// The vectors of the pieces, one after the other, as the last layer leaves them.
pub(super) fn forward(weights: &EncoderWeights, shape: &BertConfig, pieces: &[u16]) -> Vec<f32> {
    let mut hidden = embed_pieces(weights, shape, pieces);
    for layer in &weights.layers {
        hidden = run_layer(layer, shape, &hidden);
    }
    hidden
}

/// The sum of what a piece, its position and its part of the text say.
fn embed_pieces(weights: &EncoderWeights, shape: &BertConfig, pieces: &[u16]) -> Vec<f32> {
    let mut hidden = vec![0.0; pieces.len() * shape.hidden_size];
    let rows = hidden.chunks_exact_mut(shape.hidden_size);
    for ((position, piece), row) in pieces.iter().enumerate().zip(rows) {
        let word = weights.word_embeddings.row(usize::from(*piece));
        for (values, scale) in
            [word, weights.position_embeddings.row(position), weights.token_type_embeddings.row(0)]
        {
            kernel::add_scaled_i8(row, values, scale);
        }
    }
    normalize(&mut hidden, &weights.norm, shape);
    hidden
}

fn run_layer(layer: &EncoderLayer, shape: &BertConfig, hidden: &[f32]) -> Vec<f32> {
    let input = QuantizedRows::new(hidden, shape.hidden_size);
    let parts = [&layer.query, &layer.key, &layer.value].map(|linear| input.matmul(linear));
    let mut attended = vec![0.0; hidden.len()];
    let parts = parts.each_ref().map(Vec::as_slice);
    kernel::attention(parts, (shape.hidden_size, shape.head_width()), &mut attended);
    let mut attended =
        QuantizedRows::new(&attended, shape.hidden_size).matmul(&layer.attention_output);
    kernel::add_scaled(&mut attended, hidden, 1.0);
    normalize(&mut attended, &layer.attention_norm, shape);
    let mut inner = QuantizedRows::new(&attended, shape.hidden_size).matmul(&layer.up);
    kernel::gelu(&mut inner);
    let mut output = QuantizedRows::new(&inner, shape.intermediate_size).matmul(&layer.down);
    kernel::add_scaled(&mut output, &attended, 1.0);
    normalize(&mut output, &layer.output_norm, shape);
    output
}

fn normalize(rows: &mut [f32], norm: &LayerNorm, shape: &BertConfig) {
    kernel::layer_norm(rows, &norm.gain, &norm.bias, shape.layer_norm_eps);
}

/// Rows in eight bits a number, widened as the kernel wants them.
struct QuantizedRows {
    width: usize,
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl QuantizedRows {
    fn new(numbers: &[f32], width: usize) -> Self {
        let (mut values, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        kernel::quantize_rows(numbers, width, &mut values, &mut scales);
        Self { width, values, scales }
    }

    /// Every row times every row of a table.
    fn matmul(&self, linear: &LinearLayer) -> Vec<f32> {
        let mut sums = vec![0; self.scales.len() * linear.bias.len()];
        kernel::matmul(&self.values, &linear.weight.values, self.width, &mut sums);
        kernel::dequantize(&sums, &self.scales, &linear.weight.scales, &linear.bias)
    }
}
