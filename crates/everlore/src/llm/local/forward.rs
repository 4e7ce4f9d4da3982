//! Forward pass of the encoder: pieces in, one vector per piece out.
//!
//! Matrix products use 8-bit integers, with one scale per row of activations; everything else is in single precision. An
//! adapter adds its low-rank change to every product.

use everlore_kernel as kernel;

use super::{
    adapter::{EncoderAdapter, LayerAdapter, LowRankDelta},
    bert_config::BertConfig,
    weights::{EncoderLayer, EncoderWeights, LayerNorm, LinearLayer, WordEmbeddings},
};

/// Runs the encoder and returns the hidden states of the last layer, concatenated.
pub(super) fn forward(
    weights: &EncoderWeights,
    config: &BertConfig,
    adapter: Option<&EncoderAdapter>,
    pieces: &[u16],
) -> Vec<f32> {
    let mut hidden = embed_pieces(weights, config, pieces);
    for (number, layer) in weights.layers.iter().enumerate() {
        let adapter = adapter.map(|adapter| &adapter.layers[number]);
        hidden = run_layer(layer, config, adapter, &hidden);
    }
    hidden
}

/// Sums word, position and token type embeddings, and normalizes them.
fn embed_pieces(weights: &EncoderWeights, config: &BertConfig, pieces: &[u16]) -> Vec<f32> {
    let mut hidden = word_rows(weights, config, pieces);
    for (position, row) in hidden.chunks_exact_mut(config.hidden_size).enumerate() {
        for (values, scale) in
            [weights.position_embeddings.row(position), weights.token_type_embeddings.row(0)]
        {
            kernel::add_scaled_i8(row, values, scale);
        }
    }
    normalize(&mut hidden, &weights.norm, config);
    hidden
}

/// Returns the word embeddings of the pieces, concatenated.
fn word_rows(weights: &EncoderWeights, config: &BertConfig, pieces: &[u16]) -> Vec<f32> {
    match &weights.word_embeddings {
        WordEmbeddings::Quantized(words) => {
            let mut rows = vec![0.0; pieces.len() * config.hidden_size];
            for (piece, row) in pieces.iter().zip(rows.chunks_exact_mut(config.hidden_size)) {
                let (values, scale) = words.row(usize::from(*piece));
                kernel::add_scaled_i8(row, values, scale);
            }
            rows
        }
        WordEmbeddings::Packed { rows: words, projection } => {
            let mut rows = vec![0.0; pieces.len() * words.width];
            for (piece, row) in pieces.iter().zip(rows.chunks_exact_mut(words.width)) {
                words.unpack(usize::from(*piece), row);
            }
            QuantizedRows::new(&rows, words.width).matmul(projection)
        }
    }
}

fn run_layer(
    layer: &EncoderLayer,
    config: &BertConfig,
    adapter: Option<&LayerAdapter>,
    hidden: &[f32],
) -> Vec<f32> {
    let input = QuantizedRows::new(hidden, config.hidden_size);
    let parts = [
        input.apply(&layer.query, adapter.map(|adapter| &adapter.query)),
        input.apply(&layer.key, adapter.map(|adapter| &adapter.key)),
        input.apply(&layer.value, adapter.map(|adapter| &adapter.value)),
    ];
    let mut attended = vec![0.0; hidden.len()];
    let parts = parts.each_ref().map(Vec::as_slice);
    kernel::attention(parts, (config.hidden_size, config.head_width()), &mut attended);
    let mut attended = QuantizedRows::new(&attended, config.hidden_size)
        .apply(&layer.attention_output, adapter.map(|adapter| &adapter.attention_output));
    kernel::add_scaled(&mut attended, hidden, 1.0);
    normalize(&mut attended, &layer.attention_norm, config);
    let mut inner = QuantizedRows::new(&attended, config.hidden_size)
        .apply(&layer.up, adapter.map(|adapter| &adapter.up));
    kernel::gelu(&mut inner);
    let mut output = QuantizedRows::new(&inner, config.intermediate_size)
        .apply(&layer.down, adapter.map(|adapter| &adapter.down));
    kernel::add_scaled(&mut output, &attended, 1.0);
    normalize(&mut output, &layer.output_norm, config);
    output
}

fn normalize(rows: &mut [f32], norm: &LayerNorm, config: &BertConfig) {
    kernel::layer_norm(rows, &norm.gain, &norm.bias, config.layer_norm_eps);
}

/// Rows quantized to eight bits, widened to 16 as the kernel expects.
struct QuantizedRows {
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl QuantizedRows {
    fn new(numbers: &[f32], width: usize) -> Self {
        let (mut values, mut scales) = (vec![0; numbers.len()], vec![0.0; numbers.len() / width]);
        kernel::quantize_rows(numbers, width, &mut values, &mut scales);
        Self { values, scales }
    }

    /// Applies a linear layer to every row, with its change by an adapter.
    fn apply(&self, linear: &LinearLayer, delta: Option<&LowRankDelta>) -> Vec<f32> {
        let mut output = self.matmul(linear);
        let Some(delta) = delta else { return output };
        let (narrow, rank) = (self.matmul(&delta.narrow), delta.narrow.bias.len());
        kernel::add_low_rank(&narrow, rank, &delta.tall, &mut output);
        output
    }

    /// Multiplies every row by every row of a weight matrix.
    fn matmul(&self, linear: &LinearLayer) -> Vec<f32> {
        let mut sums = vec![0; self.scales.len() * linear.bias.len()];
        linear.weight.multiply(&self.values, &mut sums);
        kernel::dequantize(&sums, &self.scales, &linear.scales, &linear.bias)
    }
}
