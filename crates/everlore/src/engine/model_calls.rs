//! Small calls on models: the tokens and the vector of a text, and the providers of vectors.

use serde::Serialize;

use super::Engine;
use crate::{
    config::EmbeddingProvider,
    error::{Error, Result},
    llm::is_builtin,
    text::tokens::estimate_tokens,
    types::MAX_CONTENT_BYTES,
};

/// Size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TextSize {
    /// Tokens that today's large models count, a few percent too many rather than one too few.
    pub tokens: usize,
    /// Characters.
    pub characters: usize,
    /// Bytes in UTF-8.
    pub bytes: usize,
}

/// Vector of a text.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EmbeddedText {
    /// Model that made it.
    pub model: String,
    /// Number of its dimensions.
    pub dimensions: usize,
    /// Vector of length 1, or all zeros for a text without meaning to the model.
    pub vector: Vec<f32>,
}

/// Provider of vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EmbeddingProviderView {
    /// Name in the settings, or `local` for a model of the home.
    pub name: String,
    /// `program` for a model in the program, `home` for one in a folder of the home, `server` for one on a server.
    pub runs: &'static str,
    /// Set for the one in use.
    pub in_use: bool,
    /// Model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Engine {
    /// Counts the tokens of a text, as budgets do.
    pub fn count_tokens(&self, text: &str) -> TextSize {
        TextSize {
            tokens: estimate_tokens(text),
            characters: text.chars().count(),
            bytes: text.len(),
        }
    }

    /// Embeds a text as memories are embedded; nothing is stored. Fails if the text is empty or too long, if there is no
    /// embedding model, or if its server fails.
    pub async fn embed_text(&self, text: &str) -> Result<EmbeddedText> {
        if text.trim().is_empty() || text.len() > MAX_CONTENT_BYTES {
            return Err(Error::invalid(
                "there is no text to embed, or too much",
                format!("give a text of 1 to {MAX_CONTENT_BYTES} bytes"),
            ));
        }
        let backfill = self.backfill.as_ref().ok_or_else(|| {
            Error::invalid(
                "there is no embedding model",
                "switch memory.long_term.vector_index on in the settings",
            )
        })?;
        let embedder = &backfill.embedder;
        let vector = embedder.embed(&[text]).await?.pop().unwrap_or_default();
        let model = embedder.model().to_string();
        Ok(EmbeddedText { model, dimensions: vector.len(), vector })
    }

    /// Returns the providers of vectors that the settings can name, and a model of the home if one is in use.
    pub fn embedding_providers(&self) -> Vec<EmbeddingProviderView> {
        let model = self.backfill.as_ref().map(|backfill| backfill.embedder.model());
        let chosen = self.config.embedding.provider;
        let is_builtin = model.is_some_and(is_builtin);
        let is_local = model.is_some() && !is_builtin && chosen == EmbeddingProvider::Builtin;
        let view = |name: &str, runs, in_use: bool| EmbeddingProviderView {
            name: name.to_owned(),
            runs,
            in_use,
            model: model.filter(|_| in_use).map(ToString::to_string),
        };
        let providers = EmbeddingProvider::ALL.into_iter().map(|provider| match provider {
            EmbeddingProvider::Builtin => view("builtin", "program", is_builtin),
            other => view(other.as_str(), "server", model.is_some() && other == chosen),
        });
        providers.chain(is_local.then(|| view("local", "home", true))).collect()
    }
}
