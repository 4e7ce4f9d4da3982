//! Local sentence encoder of the BERT family, run from a folder that the user names, with 8-bit weights.
//!
//! It serves as a [`Reranker`], which compares a query with texts token by token, and as an [`Embedder`] with one
//! vector per text. Weights are loaded on first use.

mod safetensors;
mod bert_config;
mod projection;
mod packed_rows;
mod weights;
mod adapter;
mod forward;
mod bert_encoder;
mod builtin_encoder;
mod sentence_head;
mod change_head;
mod message_head;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

pub use self::builtin_encoder::BuiltinEncoder;
use self::{
    bert_encoder::{BertEncoder, read},
    projection::PcaProjection,
};
use super::{
    Embedder, Reranker,
    late_interaction::{EncodedQuery, PackedTokenVectors},
    wordpiece,
};
use crate::{
    error::{Error, Result},
    sync,
    text::language::cjk_share,
    types::EmbeddingModelId,
};

/// File names in a model folder.
const CONFIG_FILE: &str = "config.json";
const TENSORS_FILE: &str = "model.safetensors";
const VOCABULARY_FILE: &str = "vocab.txt";
const TOKENIZER_FILE: &str = "tokenizer.json";
const MANIFEST_FILE: &str = "everlore.json";

/// Version of tokenization and packing. A higher one makes stored vectors stale, so that they are computed again.
const ENCODING_VERSION: u32 = 1;

/// Sentence encoder that runs in this process.
#[derive(Clone)]
pub struct LocalModel {
    folder: PathBuf,
    embedder_id: EmbeddingModelId,
    reranker_id: EmbeddingModelId,
    encoder: Arc<OnceLock<BertEncoder>>,
}

/// Manifest of a folder written by [`LocalModel::save_quantized`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ModelManifest {
    /// Digest of the weights.
    digest: String,
    dimensions: usize,
}

impl LocalModel {
    /// Reads a published model: `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json`. Loads and
    /// checks everything at once.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        check_tokenizer_files(folder)?;
        let (mut encoder, _) = BertEncoder::load(folder)?;
        encoder.fit_projection();
        let manifest = ModelManifest::new(&encoder, &encoder.weights.to_safetensors()?)?;
        let model = Self::new(folder, &manifest);
        let _ = model.encoder.set(encoder);
        Ok(model)
    }

    /// Opens a folder written by [`LocalModel::save_quantized`]. The weights are loaded on first use.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let manifest = serde_json::from_slice(&read(folder, MANIFEST_FILE)?);
        let manifest = manifest.map_err(|error| {
            let path = folder.join(MANIFEST_FILE);
            Error::invalid(
                format!("{}: {error}", path.display()),
                "add the model again with `everlore model add`",
            )
        })?;
        Ok(Self::new(folder, &manifest))
    }

    /// Writes the model with 8-bit weights into a new folder, a quarter of the size and faster to load, and returns the
    /// size of its weights in bytes. The folder must not exist; it appears complete or not at all.
    pub fn save_quantized(&self, into: &Path) -> Result<u64> {
        let encoder = self.encoder()?;
        let io_error = |error| Error::io(into.display().to_string(), error);
        let name = into.file_name().unwrap_or_default().to_string_lossy();
        let partial = into.with_file_name(format!(".{name}.part"));
        // Remains of an earlier attempt.
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial).map_err(io_error)?;
        let tensors = encoder.weights.to_safetensors()?;
        let size = tensors.len() as u64;
        let config = serde_json::to_vec_pretty(&encoder.config).map_err(Error::store)?;
        let manifest = ModelManifest::new(encoder, &tensors)?;
        let manifest = serde_json::to_vec_pretty(&manifest).map_err(Error::store)?;
        for (name, bytes) in
            [(TENSORS_FILE, tensors), (CONFIG_FILE, config), (MANIFEST_FILE, manifest)]
        {
            fs::write(partial.join(name), bytes).map_err(io_error)?;
        }
        fs::rename(&partial, into).map_err(io_error)?;
        Ok(size)
    }

    /// Returns the id of the sentence vectors.
    pub fn id(&self) -> &EmbeddingModelId {
        &self.embedder_id
    }

    /// Loads the weights unless they are loaded already.
    pub fn preload(&self) -> Result<()> {
        self.encoder().map(drop)
    }

    /// Returns the vector of a text: of length 1, or zero for a text without words.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.encoder()?.encode(text).pooled)
    }

    /// Returns the token vectors of a text, each of length 1.
    pub fn token_vectors(&self, text: &str) -> Result<Vec<Vec<f32>>> {
        Ok(self.encoder()?.encode(text).tokens)
    }

    fn new(folder: &Path, manifest: &ModelManifest) -> Self {
        let ModelManifest { digest, dimensions } = manifest;
        let id = |use_case: &str| EmbeddingModelId {
            name: format!("local-{use_case}-{ENCODING_VERSION}-{digest}"),
            dimensions: *dimensions,
        };
        Self {
            folder: folder.to_owned(),
            embedder_id: id("sentence"),
            reranker_id: id("words"),
            encoder: Arc::default(),
        }
    }

    fn encoder(&self) -> Result<&BertEncoder> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let (encoder, weights_digest) = BertEncoder::load(&self.folder)?;
        if Self::new(&self.folder, &ModelManifest::with_digest(&encoder, weights_digest)?)
            .embedder_id
            != self.embedder_id
        {
            return Err(Error::invalid(
                format!("the model in {} was changed after it was added", self.folder.display()),
                "remove it and add it again with `everlore model add`",
            ));
        }
        Ok(self.encoder.get_or_init(|| encoder))
    }

    /// Runs `work` for each text on a blocking thread: a text takes milliseconds.
    async fn map_blocking<T: Send + 'static>(
        &self,
        texts: &[&str],
        work: fn(&Self, &str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (model, texts) =
            (self.clone(), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let run = move || texts.iter().map(|text| work(&model, text)).collect();
        sync::run_blocking(run).await
    }
}

impl std::fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalModel")
            .field("folder", &self.folder)
            .field("id", &self.embedder_id)
            .finish()
    }
}

impl BertEncoder {
    /// Fits the projection of token vectors (PCA) on sample texts.
    fn fit_projection(&mut self) {
        let words = sample_words();
        let texts = words.chunks_exact(SAMPLE_WORDS).map(|text| text.join(" "));
        let vectors: Vec<Vec<f32>> = texts.flat_map(|text| self.encode(&text).tokens).collect();
        self.weights.projection = Some(PcaProjection::fit(&vectors));
    }
}

/// Words in a random sample text, and the number of such texts: a dozen vectors per dimension.
const SAMPLE_WORDS: usize = 12;
const SAMPLES: usize = 400;

/// Returns words from all over the common part of the vocabulary, which is ordered by frequency; the same every time.
fn sample_words() -> Vec<&'static str> {
    const COMMON: std::ops::Range<u16> = 1_996..12_000;
    let words: Vec<&str> = COMMON.filter_map(wordpiece::plain_word).collect();
    let mut state = 5_u32;
    let mut pick = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        words[(state >> 8) as usize % words.len()]
    };
    (0..SAMPLE_WORDS * SAMPLES).map(&mut pick).collect()
}

impl ModelManifest {
    /// Creates the manifest of a model and its 8-bit tensor file.
    fn new(encoder: &BertEncoder, file: &[u8]) -> Result<Self> {
        Self::with_digest(encoder, xxh3_64(file))
    }

    fn with_digest(encoder: &BertEncoder, weights_digest: u64) -> Result<Self> {
        let config = serde_json::to_vec(&encoder.config).map_err(Error::store)?;
        let digest = format!("{:016x}", weights_digest ^ xxh3_64(&config));
        Ok(Self { digest, dimensions: encoder.config.hidden_size })
    }
}

/// Returns `false` for CJK text, which these models do not know; a few names in such a question add nothing.
fn is_supported_language(text: &str) -> bool {
    cjk_share(text) <= 0.3
}

#[async_trait]
impl Embedder for LocalModel {
    fn model(&self) -> &EmbeddingModelId {
        &self.embedder_id
    }

    fn understands(&self, text: &str) -> bool {
        is_supported_language(text)
    }

    /// Returns the value of the built-in model, which was distilled from a model of this kind.
    fn least_similarity(&self) -> f32 {
        0.3
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.map_blocking(texts, Self::vector).await
    }
}

#[async_trait]
impl Reranker for LocalModel {
    fn model(&self) -> &EmbeddingModelId {
        &self.reranker_id
    }

    fn understands(&self, query: &str) -> bool {
        is_supported_language(query)
    }

    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>> {
        self.map_blocking(texts, |model, text| Ok(model.encoder()?.encode_packed(text))).await
    }

    async fn encode_query(&self, words: &[&str]) -> Result<EncodedQuery> {
        let model = self.clone();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        sync::run_blocking(move || Ok(model.encoder()?.encode_query(words))).await
    }
}

fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// Checks that the folder's tokenizer has the compiled-in vocabulary.
fn check_tokenizer_files(folder: &Path) -> Result<()> {
    if folder.join(VOCABULARY_FILE).is_file() {
        return bert_config::check_vocabulary(&read(folder, VOCABULARY_FILE)?);
    }
    bert_config::check_tokenizer(&read(folder, TOKENIZER_FILE)?)
}

#[cfg(test)]
mod tests;
