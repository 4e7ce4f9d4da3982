//! Built-in embedding model: a static table with one row per word piece, compiled into the program.
//!
//! The vector of a text is the normalized sum of the rows of its pieces. The table was distilled from all-MiniLM-L6-v2
//! (`assets/embedder/MODEL_CARD.md`) and covers English only; `embed_with_coverage` measures the share of a text that it
//! knows. Nothing is loaded at start.

use std::ops::ControlFlow;

use async_trait::async_trait;

use super::Embedder;
use super::wordpiece::{self, UNKNOWN_PIECE, VOCAB_SIZE};
use crate::{error::Result, text::language::cjk_share, types::EmbeddingModelId};

/// Components of a vector.
pub(super) const DIMENSIONS: usize = 256;

/// Longest embedded prefix of a text, in pieces: a sum of so many words hardly changes, and each text costs
/// microseconds.
pub(super) const MAX_PIECES: usize = 512;

/// Smallest coverage of a text that gets a vector: the few words that a foreign text shares with English carry no
/// meaning.
const MIN_COVERAGE: f64 = 0.5;

/// Values that share a scale.
const GROUP_SIZE: usize = 32;
const GROUP_COUNT: usize = DIMENSIONS / GROUP_SIZE;
const SCALE_BYTES: usize = GROUP_COUNT * 2;

/// Table row: the half-precision scales of its groups, then four bits per value.
type QuantizedRow = [u8; SCALE_BYTES + DIMENSIONS / 2];

static EMBEDDING_TABLE: &[QuantizedRow] =
    include_bytes!("../../assets/embedder/table.i4").as_chunks().0;

/// Model name with the first bytes of the SHA-256 of table and vocabulary; a test compares them.
static MODEL_ID: &str = include_str!("../../assets/embedder/model_id");

/// Embedder that is part of the program.
#[derive(Debug, Clone)]
pub struct BuiltinEmbedder {
    model: EmbeddingModelId,
}

impl BuiltinEmbedder {
    /// Creates the embedder, at no cost.
    pub fn new() -> Self {
        Self {
            model: EmbeddingModelId { name: MODEL_ID.trim().to_owned(), dimensions: DIMENSIONS },
        }
    }

    /// Returns the vector of a text: of length 1, or zero for a text without known words.
    pub fn vector(&self, text: &str) -> Vec<f32> {
        embed_with_coverage(text).0
    }
}

impl Default for BuiltinEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Embedder for BuiltinEmbedder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    fn understands(&self, text: &str) -> bool {
        // A few names and identifiers in a Chinese question add nothing that the lexical index does not find.
        cjk_share(text) <= 0.3
    }

    /// Unrelated texts have a cosine of 0.1 on average.
    fn least_similarity(&self) -> f32 {
        0.3
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let embed = |text: &str| match embed_with_coverage(text) {
            (vector, coverage) if coverage >= MIN_COVERAGE => vector,
            _ => vec![0.0; DIMENSIONS],
        };
        Ok(texts.iter().map(|text| embed(text)).collect())
    }
}

/// Returns the share of a text that the built-in model knows, from 0 to 1: pieces of plain Latin letters and digits
/// among all pieces but punctuation. CJK and other foreign characters, emoji and unknown words lower it; a text without
/// words has 0.
#[cfg(test)]
fn coverage(text: &str) -> f64 {
    embed_with_coverage(text).1
}

/// Returns the vector of a text and its coverage.
fn embed_with_coverage(text: &str) -> (Vec<f32>, f64) {
    let mut sums = [0.0; DIMENSIONS];
    let (mut known, mut all) = (0_u32, 0_u32);
    for_each_piece(text, |id| {
        add_row(&mut sums, &EMBEDDING_TABLE[usize::from(id)]);
        match wordpiece::piece_text(id)[0] {
            _ if id == UNKNOWN_PIECE => all += 1,
            first if first.is_ascii_alphanumeric() => (known, all) = (known + 1, all + 1),
            first if first.is_ascii() => {}
            _ => all += 1,
        }
    });
    normalize(&mut sums);
    (sums.to_vec(), f64::from(known) / f64::from(all.max(1)))
}

/// Calls `each` with the pieces of a text, up to [`MAX_PIECES`].
fn for_each_piece(text: &str, mut each: impl FnMut(u16)) {
    let mut left = MAX_PIECES;
    let _ = wordpiece::tokenize(&wordpiece::BERT, text.chars(), &mut |id| {
        each(id);
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

/// Adds a row to `sums`: byte j of a group holds value j in the low and value j + 16 in the high four bits.
fn add_row(sums: &mut [f32; DIMENSIONS], row: &QuantizedRow) {
    let (scales, values) = row.split_at(SCALE_BYTES);
    let groups = sums.as_chunks_mut::<GROUP_SIZE>().0.iter_mut();
    let values = values.as_chunks::<{ GROUP_SIZE / 2 }>().0;
    for ((sums, bits), scale) in groups.zip(values).zip(scales.as_chunks().0) {
        add_group(sums, bits, half_to_f32(u16::from_le_bytes(*scale)));
    }
}

fn add_group(sums: &mut [f32; GROUP_SIZE], bits: &[u8; GROUP_SIZE / 2], scale: f32) {
    let (low, high) = sums.split_at_mut(GROUP_SIZE / 2);
    for ((low, high), &byte) in low.iter_mut().zip(high).zip(bits) {
        *low += scale * (f32::from(byte & 15) - 8.0);
        *high += scale * (f32::from(byte >> 4) - 8.0);
    }
}

/// Converts a scale, which is neither negative nor infinite, from half precision.
fn half_to_f32(half: u16) -> f32 {
    // The exponent biases of the two formats differ by 112.
    const UP: f32 = f32::from_bits((112 + 127) << 23);
    f32::from_bits(u32::from(half) << 13) * UP
}

fn normalize(vector: &mut [f32; DIMENSIONS]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

// One row per piece: otherwise a piece id could point beyond the table.
const _: () = assert!(EMBEDDING_TABLE.len() == VOCAB_SIZE);

#[cfg(test)]
#[path = "goldens_tests.rs"]
pub(super) mod goldens;

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
