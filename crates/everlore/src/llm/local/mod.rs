//! A sentence encoder of the BERT family, run here: from a folder that the user points at, in eight bits.
//!
//! It serves in two ways: as a [`Reranker`], which compares a question with texts word by word, and as an [`Embedder`],
//! which makes one vector of a text. Nothing is read before it is first needed.

mod safetensors;
mod bert_config;
mod projection;
mod weights;
mod forward;

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use self::{
    bert_config::BertConfig, projection::PcaProjection, safetensors::TensorFile,
    weights::EncoderWeights,
};
use super::{
    Embedder, Reranker,
    late_interaction::{PackedTokenVectors, QueryVectors},
    wordpiece,
};
use crate::{
    error::{Error, Result},
    text::language::cjk_share,
    types::EmbeddingModelId,
};

/// The pieces that begin and end every text.
const CLS_PIECE: u16 = 101;
const SEP_PIECE: u16 = 102;

/// What follows in a text is not read: the encoders of this family were trained on no more, and the cost grows with it.
const MAX_PIECES: usize = 254;

/// The files of a folder.
const CONFIG_FILE: &str = "config.json";
const TENSORS_FILE: &str = "model.safetensors";
const VOCABULARY_FILE: &str = "vocab.txt";
const TOKENIZER_FILE: &str = "tokenizer.json";
const MANIFEST_FILE: &str = "everlore.json";

/// Raised when texts are read or packed differently, so that vectors made before are made anew.
const ENCODING_VERSION: u32 = 1;

/// A model that runs here.
#[derive(Clone)]
pub struct LocalModel {
    folder: PathBuf,
    embedder_id: EmbeddingModelId,
    reranker_id: EmbeddingModelId,
    encoder: Arc<OnceLock<BertEncoder>>,
}

/// What a folder that was made by [`LocalModel::convert`] says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ModelManifest {
    /// The digest of its weights.
    digest: String,
    dimensions: usize,
}

struct BertEncoder {
    config: BertConfig,
    weights: EncoderWeights,
}

impl LocalModel {
    /// A model as others publish it: `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json`. All of it is
    /// read and checked at once.
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

    /// A model in a folder that [`LocalModel::convert`] made. Its weights are read when they are first needed.
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

    /// Writes the model in eight bits into a folder, which is quicker to read and a quarter of the size. The folder must
    /// not exist; it is there as a whole or not at all.
    pub fn save_quantized(&self, into: &Path) -> Result<u64> {
        let encoder = self.encoder()?;
        let failed = |error| Error::io(into.display().to_string(), error);
        let name = into.file_name().unwrap_or_default().to_string_lossy();
        let half_done = into.with_file_name(format!(".{name}.part"));
        // What an earlier attempt left behind.
        let _ = fs::remove_dir_all(&half_done);
        fs::create_dir_all(&half_done).map_err(failed)?;
        let tensors = encoder.weights.to_safetensors()?;
        let size = tensors.len() as u64;
        let config = serde_json::to_vec_pretty(&encoder.config).map_err(Error::store)?;
        let manifest = ModelManifest::new(encoder, &tensors)?;
        let manifest = serde_json::to_vec_pretty(&manifest).map_err(Error::store)?;
        for (name, bytes) in
            [(TENSORS_FILE, tensors), (CONFIG_FILE, config), (MANIFEST_FILE, manifest)]
        {
            fs::write(half_done.join(name), bytes).map_err(failed)?;
        }
        fs::rename(&half_done, into).map_err(failed)?;
        Ok(size)
    }

    /// The name of its sentence vectors.
    pub fn id(&self) -> &EmbeddingModelId {
        &self.embedder_id
    }

    /// Reads the weights, if that was not done yet.
    pub fn preload(&self) -> Result<()> {
        self.encoder().map(drop)
    }

    /// The vector of a text: of length 1, or zero for a text without words.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.encoder()?.encode(text).pooled)
    }

    /// The vectors of the pieces of a text, each of length 1.
    pub fn token_vectors(&self, text: &str) -> Result<Vec<Vec<f32>>> {
        Ok(self.encoder()?.encode(text).tokens)
    }

    /// The same for comparing word by word: the vectors of the pieces in fewer dimensions.
    fn encode_projected(&self, text: &str) -> Result<EncodedText> {
        let encoder = self.encoder()?;
        let EncodedText { pooled: whole, tokens: mut pieces } = encoder.encode(text);
        if let Some(projection) = &encoder.weights.projection {
            pieces.iter_mut().for_each(|piece| *piece = projection.apply(piece));
        }
        Ok(EncodedText { pooled: whole, tokens: pieces })
    }

    fn new(folder: &Path, manifest: &ModelManifest) -> Self {
        let ModelManifest { digest, dimensions } = manifest;
        let id = |way: &str| EmbeddingModelId {
            name: format!("local-{way}-{ENCODING_VERSION}-{digest}"),
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
        let (encoder, file) = BertEncoder::load(&self.folder)?;
        if Self::new(&self.folder, &ModelManifest::with_digest(&encoder, file)?).embedder_id
            != self.embedder_id
        {
            return Err(Error::invalid(
                format!(
                    "the model in {} is not what it was when it was added",
                    self.folder.display()
                ),
                "remove it and add it again with `everlore model add`",
            ));
        }
        Ok(self.encoder.get_or_init(|| encoder))
    }

    /// Runs work for each text away from the async threads: a text takes milliseconds.
    async fn map_blocking<T: Send + 'static>(
        &self,
        texts: &[&str],
        work: fn(&Self, &str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let (model, texts) =
            (self.clone(), texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let run = move || texts.iter().map(|text| work(&model, text)).collect();
        tokio::task::spawn_blocking(run).await.map_err(Error::store)?
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
    /// The model of a folder, with the digest of its file of tensors.
    fn load(folder: &Path) -> Result<(Self, u64)> {
        let shape = BertConfig::parse(&read(folder, CONFIG_FILE)?)?;
        let file = read(folder, TENSORS_FILE)?;
        let digest = xxh3_64(&file);
        let tensors = TensorFile::parse(file)?;
        Ok((
            Self { weights: EncoderWeights::from_tensors(&tensors, &shape)?, config: shape },
            digest,
        ))
    }

    fn run_forward(&self, pieces: &[u16]) -> Vec<f32> {
        let most = MAX_PIECES.min(self.config.max_position_embeddings - 2).min(pieces.len());
        let framed: Vec<u16> = [CLS_PIECE]
            .into_iter()
            .chain(pieces[..most].iter().copied())
            .chain([SEP_PIECE])
            .collect();
        forward::forward(&self.weights, &self.config, &framed)
    }

    /// The vectors of a text, each of length 1.
    fn encode(&self, text: &str) -> EncodedText {
        let pieces = tokenize(text);
        let mut whole = vec![0.0; self.config.hidden_size];
        if pieces.is_empty() {
            return EncodedText { pooled: whole, tokens: Vec::new() };
        }
        let hidden = self.run_forward(&pieces);
        let rows = || hidden.chunks_exact(whole.len());
        let vector = |row: &[f32]| {
            let mut vector = row.to_vec();
            normalize(&mut vector);
            vector
        };
        let inner = rows().skip(1).take(rows().len() - 2).map(vector).collect();
        for row in hidden.chunks_exact(whole.len()) {
            whole.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        normalize(&mut whole);
        EncodedText { pooled: whole, tokens: inner }
    }

    /// Learns in which directions the vectors of pieces differ.
    fn fit_projection(&mut self) {
        let words = sample_words();
        let texts = words.chunks_exact(SAMPLE_WORDS).map(|text| text.join(" "));
        let vectors: Vec<Vec<f32>> = texts.flat_map(|text| self.encode(&text).tokens).collect();
        self.weights.projection = Some(PcaProjection::fit(&vectors));
    }
}

/// The vectors of a text.
struct EncodedText {
    pooled: Vec<f32>,
    tokens: Vec<Vec<f32>>,
}

/// Words in a text that is thrown together, and how many such texts: a dozen vectors for each dimension.
const SAMPLE_WORDS: usize = 12;
const SAMPLES: usize = 400;

/// Words from all over the common part of the vocabulary, which is ordered by how common they are; the same every time.
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
    /// Of a model and its file in eight bits.
    fn new(encoder: &BertEncoder, file: &[u8]) -> Result<Self> {
        Self::with_digest(encoder, xxh3_64(file))
    }

    fn with_digest(encoder: &BertEncoder, weights: u64) -> Result<Self> {
        let shape = serde_json::to_vec(&encoder.config).map_err(Error::store)?;
        let digest = format!("{:016x}", weights ^ xxh3_64(&shape));
        Ok(Self { digest, dimensions: encoder.config.hidden_size })
    }
}

/// Models of this kind know no Chinese, Japanese or Korean; some names in such a question carry them no further.
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

    /// As far apart as the texts of the built-in model, which was taught by such a one.
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

    fn understands(&self, question: &str) -> bool {
        is_supported_language(question)
    }

    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>> {
        let pack = |model: &Self, text: &str| {
            let text = model.encode_projected(text)?;
            Ok(PackedTokenVectors::new(&text.pooled, &text.tokens))
        };
        self.map_blocking(texts, pack).await
    }

    async fn encode_query(&self, words: &[(&str, f32)]) -> Result<QueryVectors> {
        let mut weights = Vec::new();
        for (word, weight) in words {
            weights.resize(weights.len() + tokenize(word).len(), *weight);
        }
        let text = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let made = self.map_blocking(&[&text], Self::encode_projected).await?.pop();
        Ok(made.map_or_else(QueryVectors::default, |made| {
            QueryVectors::new(&made.pooled, &made.tokens, &weights)
        }))
    }
}

/// The pieces of a text, as far as they are read.
fn tokenize(text: &str) -> Vec<u16> {
    let mut pieces = Vec::new();
    let _ = wordpiece::tokenize(text, &mut |piece| {
        pieces.push(piece);
        if pieces.len() < MAX_PIECES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    pieces
}

fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// The folder must cut texts as it is done here.
fn check_tokenizer_files(folder: &Path) -> Result<()> {
    if folder.join(VOCABULARY_FILE).is_file() {
        return bert_config::check_vocabulary(&read(folder, VOCABULARY_FILE)?);
    }
    bert_config::check_tokenizer(&read(folder, TOKENIZER_FILE)?)
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Error::invalid(
            format!("there is no {name} in {}", folder.display()),
            "point at the folder of a model: config.json, model.safetensors, and vocab.txt or tokenizer.json",
        ),
        _ => Error::io(path.display().to_string(), error),
    })
}

#[cfg(test)]
mod tests;
