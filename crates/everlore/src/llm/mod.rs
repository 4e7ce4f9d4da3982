//! Models: what turns a text into a vector.

use async_trait::async_trait;

use crate::{error::Result, types::ModelId};

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Which model it is; vectors of another one cannot be compared with its own.
    fn model(&self) -> &ModelId;

    /// A vector of length one for each text; all zeros for a text that means nothing to the model.
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
