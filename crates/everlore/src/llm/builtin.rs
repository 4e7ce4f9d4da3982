//! Built-in embedding model: a static table with one row per word piece, compiled into the program.
//!
//! The vector of a text is the normalized sum of the rows of its pieces and of its Chinese words. The table was distilled
//! from all-MiniLM-L6-v2 (`assets/embedder/MODEL_CARD.md`); Chinese words are sums of its rows (`ZH_WORDS.md`).
//! `embed_with_coverage` measures the share of a text that it knows. Nothing is loaded at start.

use std::ops::ControlFlow;

use async_trait::async_trait;
use everlore_kernel::{add_packed_row, packed_row_bytes};

use super::{
    Embedder,
    chinese_words::{self, ChineseWord},
    wordpiece::{self, UNKNOWN_PIECE, VOCAB_SIZE},
};
use crate::{error::Result, types::EmbeddingModelId};

/// Components of a vector.
pub(super) const DIMENSIONS: usize = 256;

/// Most Chinese words and pieces of a text that are embedded: a sum of so many hardly changes, and each text costs
/// microseconds.
pub(super) const MAX_PIECES: usize = 512;

/// Smallest coverage of a text that gets a vector: the few words that a foreign text shares with English carry no
/// meaning.
const MIN_COVERAGE: f64 = 0.5;

/// Table row: the half-precision scales of its groups, then four bits per value.
type QuantizedRow = [u8; packed_row_bytes(DIMENSIONS)];

static EMBEDDING_TABLE: &[QuantizedRow] =
    include_bytes!("../../assets/embedder/table.i4").as_chunks().0;

/// Model name with the first bytes of the SHA-256 of table, vocabulary and Chinese words; a test compares them.
static MODEL_ID: &str = include_str!("../../assets/embedder/model_id");

/// Part of every id before the version.
const ID_PREFIX: &str = "everlore-static-256-v";

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

/// Returns `true` if `in_use` is an earlier version of the built-in model than `model`: its vectors are computed again
/// without asking. Another program of an earlier version leaves those of a later one alone.
pub(crate) fn replaces_builtin(model: &EmbeddingModelId, in_use: &EmbeddingModelId) -> bool {
    version(in_use).is_some_and(|earlier| version(model).is_some_and(|own| earlier < own))
}

/// Returns `true` for a built-in model, of any version.
pub(crate) fn is_builtin(model: &EmbeddingModelId) -> bool {
    version(model).is_some()
}

/// Returns the version of a built-in model.
fn version(model: &EmbeddingModelId) -> Option<u32> {
    let (version, _) = model.name.strip_prefix(ID_PREFIX)?.split_once('-')?;
    version.parse().ok()
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
        // Signs without letters are in no language.
        embed_with_coverage(text).1 >= MIN_COVERAGE || !text.contains(char::is_alphabetic)
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

/// Returns the share of a text that the built-in model knows, from 0 to 1: Chinese words of the table and pieces of plain
/// Latin letters and digits, among all words and pieces but punctuation. Other scripts, emoji and unknown words lower
/// it; a text without words has 0.
#[cfg(test)]
fn coverage(text: &str) -> f64 {
    embed_with_coverage(text).1
}

/// Returns the vector of a text and its coverage.
fn embed_with_coverage(text: &str) -> (Vec<f32>, f64) {
    let mut sums = TextSums::default();
    if !text.is_ascii() {
        chinese_words::for_each_word(text, |word| sums.add_word(word));
    }
    sums.add_pieces(text);
    normalize(&mut sums.values);
    (sums.values.to_vec(), f64::from(sums.known) / f64::from(sums.all.max(1)))
}

/// Sums over the Chinese words and pieces of a text, and how many of them the table knows.
struct TextSums {
    values: [f32; DIMENSIONS],
    known: u32,
    all: u32,
    /// Words and pieces that may still be added.
    left: usize,
}

impl Default for TextSums {
    fn default() -> Self {
        Self { values: [0.0; DIMENSIONS], known: 0, all: 0, left: MAX_PIECES }
    }
}

impl TextSums {
    /// Adds a Chinese word, or counts a character that begins none.
    fn add_word(&mut self, word: Option<ChineseWord>) {
        let Some(left) = self.left.checked_sub(usize::from(word.is_some())) else { return };
        self.left = left;
        self.all += 1;
        let Some(word) = word else { return };
        self.known += 1;
        for (row, weight) in word.rows() {
            add_unit_row(&mut self.values, &EMBEDDING_TABLE[usize::from(row)], weight);
        }
    }

    /// Adds the pieces of a text beside its Chinese words.
    fn add_pieces(&mut self, text: &str) {
        let _ = wordpiece::tokenize(
            &wordpiece::BERT,
            chinese_words::without_chinese(text),
            &mut |id| {
                let Some(left) = self.left.checked_sub(1) else { return ControlFlow::Break(()) };
                self.left = left;
                self.add_piece(id);
                ControlFlow::Continue(())
            },
        );
    }

    fn add_piece(&mut self, id: u16) {
        add_packed_row(&mut self.values, &EMBEDDING_TABLE[usize::from(id)]);
        match wordpiece::piece_text(id)[0] {
            _ if id == UNKNOWN_PIECE => self.all += 1,
            first if first.is_ascii_alphanumeric() => {
                (self.known, self.all) = (self.known + 1, self.all + 1);
            }
            first if first.is_ascii() => {}
            _ => self.all += 1,
        }
    }
}

/// Adds a row brought to the length `weight`.
fn add_unit_row(sums: &mut [f32; DIMENSIONS], row: &QuantizedRow, weight: f32) {
    let mut values = [0.0; DIMENSIONS];
    add_packed_row(&mut values, row);
    let length = length(&values);
    let factor = if length > 0.0 { weight / length } else { 0.0 };
    sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += factor * value);
}

fn normalize(vector: &mut [f32; DIMENSIONS]) {
    let length = length(vector);
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

fn length(vector: &[f32; DIMENSIONS]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

// One row per piece: otherwise a piece id could point beyond the table.
const _: () = assert!(EMBEDDING_TABLE.len() == VOCAB_SIZE);

#[cfg(test)]
#[path = "goldens_tests.rs"]
pub(super) mod goldens;

#[cfg(test)]
#[path = "builtin_tests.rs"]
mod tests;
