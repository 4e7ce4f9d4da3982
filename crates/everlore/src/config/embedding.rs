//! Settings of `[embedding]`: the embedding model for recall by meaning.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    memory_agent::SecretString,
    validate::{InvalidSetting, check_range},
};

/// Embedding model, by which recall finds memories by meaning. After a change, `everlore embed switch` computes all
/// vectors anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EmbeddingConfig {
    /// Provider of the vectors: "builtin" (in the program, English and Chinese, no network), "openai" (and every server with its
    /// protocol) or "ollama".
    pub provider: EmbeddingProvider,
    /// Model name as its provider spells it, such as "text-embedding-3-small" or "nomic-embed-text".
    pub model: String,
    /// Address of the provider; empty for `https://api.openai.com/v1` or `http://127.0.0.1:11434`.
    pub base_url: String,
    /// Environment variable with the key. A variable that is not set means no key.
    pub api_key_env: String,
    /// Key, if no variable has it. It is never shown.
    pub api_key: SecretString,
    /// Dimensions of a vector. From 0 to 8192; 0 takes what the model gives. Some models can shorten theirs.
    pub dimensions: usize,
    /// Encoding of vectors in transit: "float" (every server knows it) or "base64" (shorter; OpenAI and some others
    /// know it).
    pub encoding: VectorEncoding,
    /// Prefix of every memory, for models that need one, such as "search_document: ".
    pub text_prefix: String,
    /// Prefix of every question, for models that need one, such as "search_query: ".
    pub query_prefix: String,
    /// Similarity below which two texts are unrelated. From 0 to 1. Models that rate unrelated texts as similar need
    /// more than the default. The built-in model has its own.
    pub least_similarity: f64,
    /// Built-in encoder: it tells which messages call for memory and compares the best memories with them. Without it,
    /// recall goes by words and the embedding model alone.
    pub encoder: bool,
    /// Most texts in one request. From 1 to 2048.
    pub batch: usize,
    /// Most characters in one request; a longer text goes alone. From 1000 to 10000000.
    pub batch_chars: usize,
    /// Timeout of a request for memories, such as "30s". From 1 second to 1 hour.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub timeout: Duration,
    /// Retries of a request of `embed switch` or `embed rebuild` when the server is busy or away. From 0 to 20. Other
    /// commands ask once.
    pub retries: u32,
    /// Time that a recall waits for the vector of its question before it ranks by words alone. From 0 to 1 minute.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub query_limit: Duration,
    /// Time that a command stays after a save to compute its vectors, once it has answered. From 0 to 1 minute; missing
    /// vectors are computed after the next save or by `everlore embed rebuild`.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub linger: Duration,
    /// Cached vectors, so that the same text is not requested twice; those unused for longest are dropped first. From 0
    /// to 10000000; 0 caches none. A vector takes one byte a dimension.
    pub cache_entries: usize,
}

/// Provider of vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingProvider {
    /// Model in the program.
    #[default]
    Builtin,
    /// Server with OpenAI's protocol.
    Openai,
    /// Ollama server.
    Ollama,
}

/// Encoding of vectors in transit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorEncoding {
    /// Numbers.
    #[default]
    Float,
    /// Bytes of the numbers.
    Base64,
}

impl EmbeddingProvider {
    /// Returns the name as written in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Openai => "openai",
            Self::Ollama => "ollama",
        }
    }
}

impl EmbeddingConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let seconds = |duration: Duration| duration.as_secs_f64();
        let checks = [
            self.validate_model(),
            self.api_key.validate("embedding.api_key"),
            check_range("embedding.dimensions", self.dimensions, 0..=8_192),
            check_range("embedding.least_similarity", self.least_similarity, 0.0..=1.0),
            check_range("embedding.batch", self.batch, 1..=2_048),
            check_range("embedding.batch_chars", self.batch_chars, 1_000..=10_000_000),
            check_range("embedding.timeout", seconds(self.timeout), 1.0..=3_600.0),
            check_range("embedding.retries", self.retries, 0..=20),
            check_range("embedding.query_limit", seconds(self.query_limit), 0.0..=60.0),
            check_range("embedding.linger", seconds(self.linger), 0.0..=60.0),
            check_range("embedding.cache_entries", self.cache_entries, 0..=10_000_000),
        ];
        checks.into_iter().flatten().collect()
    }

    fn validate_model(&self) -> Option<InvalidSetting> {
        let missing = self.provider != EmbeddingProvider::Builtin && self.model.trim().is_empty();
        missing.then(|| {
            InvalidSetting::new("embedding.model", "must be set when `provider` is not \"builtin\"")
        })
    }
}

impl Default for EmbeddingConfig {
    /// Servers small and large answer 64 texts within a second or two, and 100,000 characters stay below the 300,000
    /// tokens that OpenAI takes at once even where every character is a token. A question without an answer after 300
    /// milliseconds costs the conversation more than ranking by words alone.
    fn default() -> Self {
        Self {
            provider: EmbeddingProvider::Builtin,
            model: String::new(),
            base_url: String::new(),
            api_key_env: "OPENAI_API_KEY".into(),
            api_key: SecretString::default(),
            dimensions: 0,
            encoding: VectorEncoding::Float,
            text_prefix: String::new(),
            query_prefix: String::new(),
            least_similarity: 0.3,
            encoder: true,
            batch: 64,
            batch_chars: 100_000,
            timeout: Duration::from_secs(30),
            retries: 4,
            query_limit: Duration::from_millis(300),
            linger: Duration::from_millis(500),
            cache_entries: 20_000,
        }
    }
}
