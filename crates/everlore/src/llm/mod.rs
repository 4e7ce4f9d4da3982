//! Models: what they are asked and what they answer. The built-in one turns a text into a vector without any set-up.

mod characters;
mod wordpiece;
pub mod builtin;
pub mod quantize;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use builtin::Builtin;

use crate::error::Result;

/// Turns texts into vectors whose cosine says how alike their meanings are.
///
/// A text with nothing in it to embed gets the zero vector; any other vector has length 1.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model makes the vectors.
    fn model(&self) -> &ModelId;

    /// How many components each vector has.
    fn dimensions(&self) -> usize;

    /// One vector for each text, in the same order.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// The identity of a model, for example `everlore-static-256-v1-0123456789ab`.
///
/// Invariant: two models that can answer the same text differently have different identities, so vectors that carry the
/// same one may be compared, and no others.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelId(String);

impl ModelId {
    /// The identity with this name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name as it is stored beside each vector.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ModelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
