//! Models: what they are asked and what they answer. The built-in one turns a text into a vector without any set-up.

mod characters;
mod wordpiece;
pub mod builtin;
#[cfg(feature = "remote")]
mod http_client;
#[cfg(feature = "remote")]
mod remote_error;
#[cfg(feature = "remote")]
pub mod remote;
pub mod late_interaction;
pub mod chat;
#[cfg(feature = "local-model")]
mod local;

use async_trait::async_trait;

pub use builtin::BuiltinEmbedder;
pub use chat::{
    ChatChunk, ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatStream, ChatTool, StopReason,
    TokenUsage, ToolCall, complete,
};
pub use everlore_kernel::dot;
#[cfg(feature = "remote")]
pub use http_client::Proxies;
pub use late_interaction::{MaxSimScores, PackedTokenVectors, QueryVectors};
#[cfg(feature = "local-model")]
pub use local::LocalModel;

use crate::{error::Result, types::EmbeddingModelId};

/// Turns texts into vectors whose cosine says how alike their meanings are.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model it is; vectors of another one cannot be compared with its own.
    fn model(&self) -> &EmbeddingModelId;

    /// Whether it has anything to say about a text: a model may know one language and not another.
    fn understands(&self, text: &str) -> bool;

    /// Texts less similar than this have nothing to do with each other. Models differ: some see a likeness in all texts.
    fn least_similarity(&self) -> f32;

    /// A vector of length one for each text; all zeros for a text that means nothing to the model.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// Compares a question with texts word by word, which is finer than comparing one vector of each.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Which model it is; what it made of texts is kept under this name.
    fn model(&self) -> &EmbeddingModelId;

    /// Whether it has anything to say about a question.
    fn understands(&self, question: &str) -> bool;

    /// What is kept of each text.
    async fn encode_texts(&self, texts: &[&str]) -> Result<Vec<PackedTokenVectors>>;

    /// A question, word by word, with how much each of them tells.
    async fn encode_query(&self, words: &[(&str, f32)]) -> Result<QueryVectors>;
}
