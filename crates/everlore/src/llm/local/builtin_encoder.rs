//! Built-in encoder: a small transformer for English and Chinese, compiled into the program
//! (`assets/encoder/MODEL_CARD.md`). Weights are unpacked on first use.

use std::sync::OnceLock;

use async_trait::async_trait;
use xxhash_rust::xxh3::xxh3_64;

use super::{bert_encoder::BertEncoder, change_head, message_head, sentence_head};
use crate::{
    error::Result,
    llm::{
        Embedder, EncodedQuery, MessageModel, MessageReading, PackedTokenVectors, Reranker,
        SentenceInput, SentenceScores, late_interaction::split_words, wordpiece,
    },
    sync,
    types::EmbeddingModelId,
};

/// Version of tokenization and packing. A higher one makes stored vectors stale, so that they are computed again.
const ENCODING_VERSION: u32 = 1;

static CONFIG: &[u8] = include_bytes!("../../../assets/encoder/config.json");
static TENSORS: &[u8] = include_bytes!("../../../assets/encoder/model.safetensors");

/// Bytes of the weights that the model's id depends on: the header and the first tensors differ between any two
/// training runs, and reading all of them would cost a millisecond at start.
const DIGEST_BYTES: usize = 64 << 10;

static ENCODER: OnceLock<BertEncoder> = OnceLock::new();

/// Encoder that is part of the program.
#[derive(Debug, Clone)]
pub struct BuiltinEncoder {
    model: EmbeddingModelId,
}

impl BuiltinEncoder {
    /// Creates the encoder, at no cost.
    pub fn new() -> Self {
        let digest = xxh3_64(&TENSORS[TENSORS.len().saturating_sub(DIGEST_BYTES)..]);
        let name = format!("everlore-encoder-{ENCODING_VERSION}-{digest:016x}");
        Self { model: EmbeddingModelId { name, dimensions: 384 } }
    }

    /// Returns the vector of a message: of length 1, or zero for a text without words.
    pub fn message_vector(&self, message: &str) -> Result<Vec<f32>> {
        Ok(encoder()?.encode(message).pooled)
    }

    /// Judges a sentence of a conversation.
    pub fn judge_sentence(&self, input: &SentenceInput<'_>) -> Result<SentenceScores> {
        sentence_head::judge_sentence(encoder()?, input)
    }

    /// Returns the log odds that an older statement no longer holds after a newer one of the same person.
    pub fn replaces_log_odds(&self, old: &str, new: &str) -> Result<f32> {
        change_head::replaces_log_odds(encoder()?, old, new)
    }

    /// Unpacks the weights unless they are unpacked already.
    pub fn preload(&self) -> Result<()> {
        encoder().map(drop)
    }
}

impl Default for BuiltinEncoder {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Embedder for BuiltinEncoder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    fn understands(&self, _: &str) -> bool {
        true
    }

    fn least_similarity(&self) -> f32 {
        0.3
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let run = move || {
            let encoder = encoder()?;
            Ok(texts.iter().map(|text| encoder.encode(text).pooled).collect())
        };
        sync::run_blocking(run).await
    }
}

fn encoder() -> Result<&'static BertEncoder> {
    if let Some(encoder) = ENCODER.get() {
        return Ok(encoder);
    }
    let encoder = BertEncoder::from_static(CONFIG, TENSORS, &wordpiece::ENCODER)?;
    Ok(ENCODER.get_or_init(|| encoder))
}

#[async_trait]
impl MessageModel for BuiltinEncoder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    async fn read_message(&self, message: &str) -> Result<MessageReading> {
        let message = message.to_owned();
        sync::run_blocking(move || message_head::read_message(encoder()?, &message)).await
    }
}

#[async_trait]
impl Reranker for BuiltinEncoder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    fn understands(&self, _: &str) -> bool {
        true
    }

    /// Splits Chinese text into the model's own words, so that each gets the weight of its rarity.
    fn split_words<'a>(&self, query: &'a str) -> Vec<&'a str> {
        split_words(query).flat_map(|word| wordpiece::ENCODER.split_text(word)).collect()
    }

    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let run = move || {
            let encoder = encoder()?;
            Ok(texts.iter().map(|text| encoder.encode_packed(text)).collect())
        };
        sync::run_blocking(run).await
    }

    async fn encode_query(&self, words: &[&str]) -> Result<EncodedQuery> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        sync::run_blocking(move || Ok(encoder()?.encode_query(words))).await
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        text: String,
        ids: Vec<u16>,
        vector: Vec<f32>,
    }

    fn goldens() -> Vec<Golden> {
        serde_json::from_str(include_str!("../../../assets/encoder/golden.json")).unwrap()
    }

    fn cosine(a: &str, b: &str) -> f32 {
        let encoder = BuiltinEncoder::new();
        let (a, b) = (encoder.message_vector(a).unwrap(), encoder.message_vector(b).unwrap());
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn texts_are_cut_and_encoded_as_by_the_reference() {
        let encoder = encoder().unwrap();
        for golden in goldens() {
            assert_eq!(encoder.tokenize(&golden.text), golden.ids, "{}", golden.text);
            let vector = encoder.encode(&golden.text).pooled;
            for (own, reference) in vector.iter().zip(&golden.vector) {
                // Rounding to eight bits may fall the other way once in a while.
                assert!((own - reference).abs() < 0.01, "{}: {own} {reference}", golden.text);
            }
        }
    }

    #[test]
    fn both_languages_share_one_space() {
        let (english, chinese) = ("I'm allergic to peanuts.", "我对花生过敏。");
        let other = "支付网关每周四晚上发版。";
        assert!(cosine(english, chinese) > cosine(english, other) + 0.3);
        assert!(
            cosine(chinese, "is there anything i must not eat?")
                > cosine(other, "is there anything i must not eat?") + 0.1
        );
    }

    #[test]
    fn the_words_of_a_query_are_weighed_one_by_one() {
        let encoder = BuiltinEncoder::new();
        let words = encoder.split_words("我的生日是什么时候, Tom?");
        assert_eq!(words.concat(), "我的生日是什么时候,Tom?");
        assert!(words.len() > 5 && words.contains(&"生日"), "{words:?}");
        assert_eq!(encoder.split_words(""), Vec::<&str>::new());
    }

    #[test]
    fn nothing_has_no_vector() {
        assert!(
            BuiltinEncoder::new().message_vector(" \n").unwrap().iter().all(|value| *value == 0.0)
        );
    }
}
