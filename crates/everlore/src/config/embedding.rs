//! Settings of `[embedding]`: the embedding model for recall by meaning.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    memory_agent::SecretString,
    validate::{InvalidSetting, check_range, settings},
};

settings! {
    /// Embedding model, by which recall finds memories by meaning. After a change, `everlore embed switch` computes all
    /// vectors anew.
    pub struct EmbeddingConfig in "embedding" {
        /// Provider of the vectors: "builtin" (in the program, English and Chinese, no network), "openai" (and every server with its
        /// protocol) or "ollama".
        pub provider: EmbeddingProvider = EmbeddingProvider::Builtin;
        /// Model name as its provider spells it, such as "text-embedding-3-small" or "nomic-embed-text".
        pub model: String = String::new();
        /// Address of the provider; empty for `https://api.openai.com/v1` or `http://127.0.0.1:11434`.
        pub base_url: String = String::new();
        /// Environment variable with the key. A variable that is not set means no key.
        pub api_key_env: String = "OPENAI_API_KEY".into();
        /// Key, if no variable has it. It is never shown.
        pub api_key: SecretString = SecretString::default();
        /// Dimensions of a vector. From 0 to 8192; 0 takes what the model gives. Some models can shorten theirs.
        pub dimensions: usize = 0, in 0..=8_192;
        /// Encoding of vectors in transit: "float" (every server knows it) or "base64" (shorter; OpenAI and some others
        /// know it).
        pub encoding: VectorEncoding = VectorEncoding::Float;
        /// Prefix of every memory, for models that need one, such as "search_document: ".
        pub text_prefix: String = String::new();
        /// Prefix of every question, for models that need one, such as "search_query: ".
        pub query_prefix: String = String::new();
        /// Similarity below which two texts are unrelated. From 0 to 1. Models that rate unrelated texts as similar need
        /// more than the default. The built-in model has its own.
        pub least_similarity: f64 = 0.3, in 0.0..=1.0;
        /// Built-in encoder: it tells which messages call for memory and compares the best memories with them. Without it,
        /// recall goes by words and the embedding model alone.
        pub encoder: bool = true;
        /// Most texts in one request. From 1 to 2048.
        // Servers small and large answer as many texts within a second or two.
        pub batch: usize = 64, in 1..=2_048;
        /// Most characters in one request; a longer text goes alone. From 1000 to 10000000.
        // Below the 300,000 tokens that OpenAI takes at once, even where every character is a token.
        pub batch_chars: usize = 100_000, in 1_000..=10_000_000;
        /// Timeout of a request for memories, such as "30s". From 1 second to 1 hour.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        pub timeout: Duration = Duration::from_secs(30);
        /// Retries of a request of `embed switch` or `embed rebuild` when the server is busy or away. From 0 to 20. Other
        /// commands ask once.
        pub retries: u32 = 4, in 0..=20;
        /// Time that a recall waits for the vector of its question before it ranks by words alone. From 0 to 1 minute.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        // A question that waits longer costs the conversation more than ranking by words alone.
        pub query_limit: Duration = Duration::from_millis(300);
        /// Time that a command stays after a save to compute its vectors, once it has answered. From 0 to 1 minute; missing
        /// vectors are computed after the next save or by `everlore embed rebuild`.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        pub linger: Duration = Duration::from_millis(500);
        /// Cached vectors, so that the same text is not requested twice; those unused for longest are dropped first. From 0
        /// to 10000000; 0 caches none. A vector takes one byte a dimension.
        pub cache_entries: usize = 20_000, in 0..=10_000_000;
    }
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

crate::types::variant_names! { pub EmbeddingProvider: Builtin = "builtin", Openai = "openai", Ollama = "ollama" }

impl EmbeddingConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let seconds = |duration: Duration| duration.as_secs_f64();
        let checks = [
            self.validate_model(),
            self.api_key.validate("embedding.api_key"),
            check_range("embedding.timeout", seconds(self.timeout), 1.0..=3_600.0),
            check_range("embedding.query_limit", seconds(self.query_limit), 0.0..=60.0),
            check_range("embedding.linger", seconds(self.linger), 0.0..=60.0),
        ];
        checks.into_iter().flatten().chain(self.out_of_range()).collect()
    }

    fn validate_model(&self) -> Option<InvalidSetting> {
        let missing = self.provider != EmbeddingProvider::Builtin && self.model.trim().is_empty();
        missing.then(|| {
            InvalidSetting::new("embedding.model", "must be set when `provider` is not \"builtin\"")
        })
    }
}
