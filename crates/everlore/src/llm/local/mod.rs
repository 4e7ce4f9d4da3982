//! A sentence encoder of the BERT family, run here: from a folder that the user points at, in eight bits.
//!
//! It serves in two ways: as a [`Reranker`], which compares a question with texts word by word, and as an [`Embedder`],
//! which makes one vector of a text. Nothing is read before it is first needed.

mod tensors;
mod shape;
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

use self::{projection::Projection, shape::Shape, tensors::Tensors, weights::Weights};
use super::{
    Embedder, Reranker,
    late::{Asked, Packed},
    wordpiece,
};
use crate::{
    error::{Error, Result},
    text::language::cjk_share,
    types::ModelId,
};

/// The pieces that begin and end every text.
const BEGIN: u16 = 101;
const END: u16 = 102;

/// What follows in a text is not read: the encoders of this family were trained on no more, and the cost grows with it.
const MAX_PIECES: usize = 254;

/// The files of a folder.
const CONFIG: &str = "config.json";
const TENSORS: &str = "model.safetensors";
const VOCABULARY: &str = "vocab.txt";
const TOKENIZER: &str = "tokenizer.json";
const MANIFEST: &str = "everlore.json";

/// Raised when texts are read or packed differently, so that vectors made before are made anew.
const FORM: u32 = 1;

/// A model that runs here.
#[derive(Clone)]
pub struct LocalModel {
    folder: PathBuf,
    pooled: ModelId,
    late: ModelId,
    encoder: Arc<OnceLock<Encoder>>,
}

/// What a folder that was made by [`LocalModel::convert`] says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    /// The digest of its weights.
    digest: String,
    dimensions: usize,
}

struct Encoder {
    shape: Shape,
    weights: Weights,
}

impl LocalModel {
    /// A model as others publish it: `config.json`, `model.safetensors` and `vocab.txt` or `tokenizer.json`. All of it is
    /// read and checked at once.
    pub fn read(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        check_pieces(folder)?;
        let (mut encoder, _) = Encoder::read(folder)?;
        encoder.learn_projection();
        let manifest = Manifest::of(&encoder, &encoder.weights.to_file()?)?;
        let model = Self::new(folder, &manifest);
        let _ = model.encoder.set(encoder);
        Ok(model)
    }

    /// A model in a folder that [`LocalModel::convert`] made. Its weights are read when they are first needed.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let manifest = serde_json::from_slice(&read(folder, MANIFEST)?);
        let manifest = manifest.map_err(|error| {
            let path = folder.join(MANIFEST);
            Error::invalid(
                format!("{}: {error}", path.display()),
                "add the model again with `everlore model add`",
            )
        })?;
        Ok(Self::new(folder, &manifest))
    }

    /// Writes the model in eight bits into a folder, which is quicker to read and a quarter of the size. The folder must
    /// not exist; it is there as a whole or not at all.
    pub fn convert(&self, into: &Path) -> Result<u64> {
        let encoder = self.encoder()?;
        let failed = |error| Error::io(into.display().to_string(), error);
        let name = into.file_name().unwrap_or_default().to_string_lossy();
        let half_done = into.with_file_name(format!(".{name}.part"));
        // What an earlier attempt left behind.
        let _ = fs::remove_dir_all(&half_done);
        fs::create_dir_all(&half_done).map_err(failed)?;
        let tensors = encoder.weights.to_file()?;
        let size = tensors.len() as u64;
        let config = serde_json::to_vec_pretty(&encoder.shape).map_err(Error::store)?;
        let manifest = Manifest::of(encoder, &tensors)?;
        let manifest = serde_json::to_vec_pretty(&manifest).map_err(Error::store)?;
        for (name, bytes) in [(TENSORS, tensors), (CONFIG, config), (MANIFEST, manifest)] {
            fs::write(half_done.join(name), bytes).map_err(failed)?;
        }
        fs::rename(&half_done, into).map_err(failed)?;
        Ok(size)
    }

    /// The name of its sentence vectors.
    pub fn id(&self) -> &ModelId {
        &self.pooled
    }

    /// Reads the weights, if that was not done yet.
    pub fn load(&self) -> Result<()> {
        self.encoder().map(drop)
    }

    /// The vector of a text: of length 1, or zero for a text without words.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.encoder()?.read_text(text).whole)
    }

    /// The vectors of the pieces of a text, each of length 1.
    pub fn piece_vectors(&self, text: &str) -> Result<Vec<Vec<f32>>> {
        Ok(self.encoder()?.read_text(text).pieces)
    }

    /// The same for comparing word by word: the vectors of the pieces in fewer dimensions.
    fn projected(&self, text: &str) -> Result<Text> {
        let encoder = self.encoder()?;
        let Text { whole, mut pieces } = encoder.read_text(text);
        if let Some(projection) = &encoder.weights.projection {
            pieces.iter_mut().for_each(|piece| *piece = projection.apply(piece));
        }
        Ok(Text { whole, pieces })
    }

    fn new(folder: &Path, manifest: &Manifest) -> Self {
        let Manifest { digest, dimensions } = manifest;
        let id = |way: &str| ModelId {
            name: format!("local-{way}-{FORM}-{digest}"),
            dimensions: *dimensions,
        };
        Self {
            folder: folder.to_owned(),
            pooled: id("sentence"),
            late: id("words"),
            encoder: Arc::default(),
        }
    }

    fn encoder(&self) -> Result<&Encoder> {
        if let Some(encoder) = self.encoder.get() {
            return Ok(encoder);
        }
        let (encoder, file) = Encoder::read(&self.folder)?;
        if Self::new(&self.folder, &Manifest::of_digest(&encoder, file)?).pooled != self.pooled {
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
    async fn each<T: Send + 'static>(
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
            .field("id", &self.pooled)
            .finish()
    }
}

impl Encoder {
    /// The model of a folder, with the digest of its file of tensors.
    fn read(folder: &Path) -> Result<(Self, u64)> {
        let shape = Shape::parse(&read(folder, CONFIG)?)?;
        let file = read(folder, TENSORS)?;
        let digest = xxh3_64(&file);
        let tensors = Tensors::parse(file)?;
        Ok((Self { weights: Weights::read(&tensors, &shape)?, shape }, digest))
    }

    fn run(&self, pieces: &[u16]) -> Vec<f32> {
        let most = MAX_PIECES.min(self.shape.max_position_embeddings - 2).min(pieces.len());
        let framed: Vec<u16> =
            [BEGIN].into_iter().chain(pieces[..most].iter().copied()).chain([END]).collect();
        forward::forward(&self.weights, &self.shape, &framed)
    }

    /// The vectors of a text, each of length 1.
    fn read_text(&self, text: &str) -> Text {
        let pieces = pieces(text);
        let mut whole = vec![0.0; self.shape.hidden_size];
        if pieces.is_empty() {
            return Text { whole, pieces: Vec::new() };
        }
        let hidden = self.run(&pieces);
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
        Text { whole, pieces: inner }
    }

    /// Learns in which directions the vectors of pieces differ.
    fn learn_projection(&mut self) {
        let words = common_words();
        let texts = words.chunks_exact(SAMPLE_WORDS).map(|text| text.join(" "));
        let vectors: Vec<Vec<f32>> = texts.flat_map(|text| self.read_text(&text).pieces).collect();
        self.weights.projection = Some(Projection::learn(&vectors));
    }
}

/// The vectors of a text.
struct Text {
    whole: Vec<f32>,
    pieces: Vec<Vec<f32>>,
}

/// Words in a text that is thrown together, and how many such texts: a dozen vectors for each dimension.
const SAMPLE_WORDS: usize = 12;
const SAMPLES: usize = 400;

/// Words from all over the common part of the vocabulary, which is ordered by how common they are; the same every time.
fn common_words() -> Vec<&'static str> {
    const COMMON: std::ops::Range<u16> = 1_996..12_000;
    let words: Vec<&str> = COMMON.filter_map(wordpiece::plain_word).collect();
    let mut state = 5_u32;
    let mut pick = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        words[(state >> 8) as usize % words.len()]
    };
    (0..SAMPLE_WORDS * SAMPLES).map(&mut pick).collect()
}

impl Manifest {
    /// Of a model and its file in eight bits.
    fn of(encoder: &Encoder, file: &[u8]) -> Result<Self> {
        Self::of_digest(encoder, xxh3_64(file))
    }

    fn of_digest(encoder: &Encoder, weights: u64) -> Result<Self> {
        let shape = serde_json::to_vec(&encoder.shape).map_err(Error::store)?;
        let digest = format!("{:016x}", weights ^ xxh3_64(&shape));
        Ok(Self { digest, dimensions: encoder.shape.hidden_size })
    }
}

/// Models of this kind know no Chinese, Japanese or Korean; some names in such a question carry them no further.
fn is_read(text: &str) -> bool {
    cjk_share(text) <= 0.3
}

#[async_trait]
impl Embedder for LocalModel {
    fn model(&self) -> &ModelId {
        &self.pooled
    }

    fn understands(&self, text: &str) -> bool {
        is_read(text)
    }

    /// As far apart as the texts of the built-in model, which was taught by such a one.
    fn least_similarity(&self) -> f32 {
        0.3
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.each(texts, Self::vector).await
    }
}

#[async_trait]
impl Reranker for LocalModel {
    fn model(&self) -> &ModelId {
        &self.late
    }

    fn understands(&self, question: &str) -> bool {
        is_read(question)
    }

    async fn read(&self, texts: &[&str]) -> Result<Vec<Packed>> {
        let pack = |model: &Self, text: &str| {
            let text = model.projected(text)?;
            Ok(Packed::new(&text.whole, &text.pieces))
        };
        self.each(texts, pack).await
    }

    async fn ask(&self, words: &[(&str, f32)]) -> Result<Asked> {
        let mut weights = Vec::new();
        for (word, weight) in words {
            weights.resize(weights.len() + pieces(word).len(), *weight);
        }
        let text = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let made = self.each(&[&text], Self::projected).await?.pop();
        Ok(made.map_or_else(Asked::default, |made| Asked::new(&made.whole, &made.pieces, &weights)))
    }
}

/// The pieces of a text, as far as they are read.
fn pieces(text: &str) -> Vec<u16> {
    let mut pieces = Vec::new();
    let _ = wordpiece::pieces(text, &mut |piece| {
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
fn check_pieces(folder: &Path) -> Result<()> {
    if folder.join(VOCABULARY).is_file() {
        return shape::check_vocabulary(&read(folder, VOCABULARY)?);
    }
    shape::check_tokenizer(&read(folder, TOKENIZER)?)
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
