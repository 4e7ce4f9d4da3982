//! Models: what they are asked and what they answer. The built-in one turns a text into a vector without any set-up.

mod characters;
mod wordpiece;
pub mod builtin;
mod kernel;
#[cfg(feature = "remote")]
mod http;
#[cfg(feature = "remote")]
mod trouble;
#[cfg(feature = "remote")]
pub mod remote;

use async_trait::async_trait;

pub use builtin::Builtin;
#[cfg(feature = "remote")]
pub use http::Proxies;
pub use kernel::dot;

use crate::{error::Result, types::ModelId};

/// Turns texts into vectors whose cosine says how alike their meanings are.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model it is; vectors of another one cannot be compared with its own.
    fn model(&self) -> &ModelId;

    /// Whether it has anything to say about a text: a model may know one language and not another.
    fn understands(&self, text: &str) -> bool;

    /// Texts less similar than this have nothing to do with each other. Models differ: some see a likeness in all texts.
    fn least_similarity(&self) -> f32;

    /// A vector of length one for each text; all zeros for a text that means nothing to the model.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
