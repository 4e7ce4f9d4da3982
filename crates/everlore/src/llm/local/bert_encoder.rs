//! BERT encoder in memory: splits a text into pieces, runs the forward pass and pools the result.

use std::{
    fs,
    ops::{ControlFlow, Range},
    path::Path,
};

use everlore_kernel::add_scaled;
use xxhash_rust::xxh3::xxh3_64;

use super::{
    adapter::EncoderAdapter, bert_config::BertConfig, forward, normalize, safetensors::TensorFile,
    weights::EncoderWeights,
};
use crate::{
    error::{Error, Result},
    llm::{
        late_interaction::{EncodedQuery, PackedTokenVectors},
        wordpiece::{self, Vocabulary},
    },
    text::traditional::simplify_char,
};

/// Special tokens that frame every text.
pub(super) const CLS_PIECE: u16 = 101;
pub(super) const SEP_PIECE: u16 = 102;

/// Longest encoded prefix of a text, in pieces: encoders of this family were trained on no more, and the cost grows
/// with it.
const MAX_PIECES: usize = 254;

/// Encoder with its weights and vocabulary.
pub(super) struct BertEncoder {
    pub(super) config: BertConfig,
    pub(super) weights: EncoderWeights,
    vocabulary: &'static Vocabulary,
}

/// Pooled vector and token vectors of a text.
pub(super) struct EncodedText {
    pub(super) pooled: Vec<f32>,
    pub(super) tokens: Vec<Vec<f32>>,
}

impl BertEncoder {
    /// Loads the model of a folder and the digest of its tensor file.
    pub(super) fn load(folder: &Path) -> Result<(Self, u64)> {
        let config = BertConfig::parse(&read(folder, super::CONFIG_FILE)?)?;
        let file = read(folder, super::TENSORS_FILE)?;
        let digest = xxh3_64(&file);
        let tensors = TensorFile::parse(file.into())?;
        let weights = EncoderWeights::from_tensors(&tensors, &config)?;
        Ok((Self { weights, config, vocabulary: &wordpiece::BERT }, digest))
    }

    /// Reads a compiled-in model; its word rows are not copied.
    pub(super) fn from_static(
        config: &[u8],
        file: &'static [u8],
        vocabulary: &'static Vocabulary,
    ) -> Result<Self> {
        let config = BertConfig::parse_for_vocabulary(config, vocabulary.size)?;
        let tensors = TensorFile::parse(file.into())?;
        let weights = EncoderWeights::from_tensors(&tensors, &config)?;
        Ok(Self { weights, config, vocabulary })
    }

    /// Encodes a text into vectors of length 1.
    pub(super) fn encode(&self, text: &str) -> EncodedText {
        let pieces = &self.tokenize(text);
        let mut pooled = vec![0.0; self.config.hidden_size];
        if pieces.is_empty() {
            return EncodedText { pooled, tokens: Vec::new() };
        }
        let hidden = self.run_forward(pieces);
        let rows = || hidden.chunks_exact(pooled.len());
        let vector = |row: &[f32]| {
            let mut vector = row.to_vec();
            normalize(&mut vector);
            vector
        };
        let tokens = rows().skip(1).take(rows().len() - 2).map(vector).collect();
        for row in hidden.chunks_exact(pooled.len()) {
            add_scaled(&mut pooled, row, 1.0);
        }
        normalize(&mut pooled);
        EncodedText { pooled, tokens }
    }

    /// Encodes a text for late interaction, with its token vectors projected to fewer dimensions.
    pub(super) fn encode_projected(&self, text: &str) -> EncodedText {
        let EncodedText { pooled, mut tokens } = self.encode(text);
        if let Some(projection) = &self.weights.projection {
            tokens.iter_mut().for_each(|token| *token = projection.apply(token));
        }
        EncodedText { pooled, tokens }
    }

    /// Encodes a text for storage.
    pub(super) fn encode_packed(&self, text: &str) -> PackedTokenVectors {
        let EncodedText { pooled, tokens } = self.encode_projected(text);
        PackedTokenVectors::new(&pooled, &tokens)
    }

    /// Encodes a query given as words.
    pub(super) fn encode_query(&self, words: Vec<String>) -> EncodedQuery {
        let word_tokens = words.iter().map(|word| self.tokenize(word).len()).collect();
        let EncodedText { pooled, tokens } = self.encode_projected(&words.join(" "));
        EncodedQuery { words, pooled, tokens, word_tokens }
    }

    /// Splits a text into pieces, up to the longest that the model reads.
    pub(super) fn tokenize(&self, text: &str) -> Vec<u16> {
        let most = MAX_PIECES.min(self.config.max_position_embeddings - 2);
        let mut pieces = Vec::new();
        let mut each = |piece| {
            pieces.push(piece);
            if pieces.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let _ = if self.vocabulary.chinese_words {
            wordpiece::tokenize(self.vocabulary, text.chars().map(simplify_char), &mut each)
        } else {
            wordpiece::tokenize(self.vocabulary, text.chars(), &mut each)
        };
        pieces
    }

    pub(super) fn run_forward(&self, pieces: &[u16]) -> Vec<f32> {
        let framed: Vec<u16> =
            [CLS_PIECE].into_iter().chain(pieces.iter().copied()).chain([SEP_PIECE]).collect();
        forward::forward(&self.weights, &self.config, None, &framed)
    }

    /// Returns the mean hidden state, by an adapter, of each of these parts of a framed text.
    pub(super) fn adapted_means<const PARTS: usize>(
        &self,
        adapter: &EncoderAdapter,
        framed: &[u16],
        parts: [Range<usize>; PARTS],
    ) -> [Vec<f32>; PARTS] {
        let hidden = forward::forward(&self.weights, &self.config, Some(adapter), framed);
        parts.map(|part| self.mean_of(&hidden, part))
    }

    /// Returns the mean hidden state, by an adapter, of a part of a framed text.
    pub(super) fn adapted_mean(
        &self,
        adapter: &EncoderAdapter,
        framed: &[u16],
        part: Range<usize>,
    ) -> Vec<f32> {
        let hidden = forward::forward(&self.weights, &self.config, Some(adapter), framed);
        self.mean_of(&hidden, part)
    }

    fn mean_of(&self, hidden: &[f32], part: Range<usize>) -> Vec<f32> {
        let width = self.config.hidden_size;
        let mut mean = vec![0.0; width];
        let share = 1.0 / part.len() as f32;
        for row in hidden[part.start * width..part.end * width].chunks_exact(width) {
            add_scaled(&mut mean, row, share);
        }
        mean
    }
}

/// Reads a file of a model folder.
pub(super) fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Error::invalid(
            format!("there is no {name} in {}", folder.display()),
            "point at the folder of a model: config.json, model.safetensors, and vocab.txt or tokenizer.json",
        ),
        _ => Error::io(path.display().to_string(), error),
    })
}
