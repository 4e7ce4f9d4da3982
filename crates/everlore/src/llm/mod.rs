//! Model interfaces (embedding, reranking, chat) and their implementations. The built-in embedder works without set-up.

mod characters;
mod wordpiece;
mod chinese_words;
mod builtin;
#[cfg(feature = "remote")]
mod http_client;
#[cfg(feature = "remote")]
mod remote_error;
#[cfg(feature = "remote")]
pub(crate) mod remote;
mod late_interaction;
mod chat;
mod sentence;
#[cfg(feature = "local-model")]
mod local;

use async_trait::async_trait;

pub use builtin::BuiltinEmbedder;
pub(crate) use builtin::{is_builtin, replaces_builtin};
pub use chat::{
    ChatChunk, ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatStream, ChatTool, StopReason,
    TokenUsage, ToolCall, complete,
};
#[cfg(feature = "remote")]
pub use http_client::Proxies;
pub use late_interaction::{EncodedQuery, MaxSimScores, PackedTokenVectors, QueryVectors};
#[cfg(feature = "local-model")]
pub use local::{BuiltinEncoder, LocalModel};
#[cfg(feature = "remote")]
pub use remote::{
    EmbeddingEndpoint, RemoteChatModel, RemoteEmbedder, RetryPolicy, chat_model, list_models,
};
pub use sentence::{SentenceInput, SentenceKind, SentenceMode, SentenceScores};

use crate::{error::Result, types::EmbeddingModelId};

/// Model that tells from a message alone whether it calls for memory, and for which.
#[async_trait]
pub trait MessageModel: Send + Sync {
    /// Returns the id of the model whose pooled text vectors [`MessageReading::sought`] is compared with.
    fn model(&self) -> &EmbeddingModelId;

    /// Reads a message.
    async fn read_message(&self, message: &str) -> Result<MessageReading>;
}

/// Answer of a [`MessageModel`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MessageReading {
    /// Log odds that the message calls for memory.
    pub need_log_odds: f32,
    /// Query vector of length 1 that is near the vectors of the memories that the message calls for, though the message's
    /// own may be far from them ("write a unit test for this" and "table tests only").
    pub sought: Vec<f32>,
}

/// Embedding model: maps texts to vectors whose cosine measures semantic similarity.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the model's id. Vectors of different models cannot be compared.
    fn model(&self) -> &EmbeddingModelId;

    /// Returns `true` if the model supports the language of `text`; a model may know one language and not another.
    fn understands(&self, text: &str) -> bool;

    /// Returns the cosine below which two texts are unrelated. Models differ: some find all texts similar.
    fn least_similarity(&self) -> f32;

    /// Returns a vector of length 1 for each text, or all zeros for a text without meaning to the model.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// Late-interaction model: compares a query with texts token by token, which is finer than one vector each.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Returns the model's id, under which token vectors are stored.
    fn model(&self) -> &EmbeddingModelId;

    /// Returns `true` if the model supports the language of `query`.
    fn understands(&self, question: &str) -> bool;

    /// Splits a query into the words that get a weight each.
    fn split_words<'a>(&self, query: &'a str) -> Vec<&'a str> {
        late_interaction::split_words(query).collect()
    }

    /// Returns the packed token vectors of each text, for storage.
    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>>;

    /// Encodes a query given as words.
    async fn encode_query(&self, words: &[&str]) -> Result<EncodedQuery>;
}
