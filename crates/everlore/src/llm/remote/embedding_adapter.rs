//! Request and response bodies of the two embedding protocols, OpenAI's and Ollama's.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

use crate::config::{EmbeddingProvider, VectorEncoding};

/// Protocol adapter with the parts that all requests to one model share.
#[derive(Debug, Clone)]
pub(super) struct EmbeddingAdapter {
    pub(super) provider: EmbeddingProvider,
    pub(super) model: String,
    pub(super) encoding: VectorEncoding,
    /// Requested vector size; 0 leaves it to the model.
    pub(super) dimensions: usize,
}

#[derive(Serialize)]
struct OpenaiEmbedRequest<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: VectorEncoding,
    #[serde(skip_serializing_if = "is_zero")]
    dimensions: usize,
}

#[derive(Serialize)]
struct OllamaEmbedRequest<'a> {
    model: &'a str,
    input: &'a [String],
    /// Lets the server cut off text beyond the model's context, whose size it knows.
    truncate: bool,
    #[serde(skip_serializing_if = "is_zero")]
    dimensions: usize,
}

#[derive(Deserialize)]
struct OpenaiEmbedResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Deserialize)]
struct EmbeddingItem {
    index: usize,
    embedding: EmbeddingValues,
}

#[derive(Deserialize)]
struct OllamaEmbedResponse {
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum EmbeddingValues {
    Float(Vec<f32>),
    Base64(String),
}

impl EmbeddingAdapter {
    /// Returns the server used when the settings name none.
    pub(super) fn default_base_url(provider: EmbeddingProvider) -> &'static str {
        match provider {
            EmbeddingProvider::Ollama => "http://127.0.0.1:11434",
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => "https://api.openai.com/v1",
        }
    }

    /// Returns the path of the embedding endpoint.
    pub(super) fn path(&self) -> &'static str {
        match self.provider {
            EmbeddingProvider::Ollama => "/api/embed",
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => "/embeddings",
        }
    }

    /// Returns advice for a model that the server does not have.
    pub(super) fn missing_model_hint(&self) -> String {
        match self.provider {
            EmbeddingProvider::Ollama => format!("get it with `ollama pull {}`, or name another in the settings", self.model),
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => {
                "check model and base_url in the section [embedding]; base_url usually ends with /v1".to_owned()
            }
        }
    }

    /// Builds the request body.
    pub(super) fn request_body(&self, texts: &[String]) -> Vec<u8> {
        let Self { model, dimensions, encoding, .. } = self;
        let body = match self.provider {
            EmbeddingProvider::Ollama => serde_json::to_vec(&OllamaEmbedRequest {
                model,
                input: texts,
                truncate: true,
                dimensions: *dimensions,
            }),
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => {
                serde_json::to_vec(&OpenaiEmbedRequest {
                    model,
                    input: texts,
                    encoding_format: *encoding,
                    dimensions: *dimensions,
                })
            }
        };
        body.expect("texts and numbers are always JSON")
    }

    /// Parses the vectors of a response, in the order of the texts; the error says what is wrong with the response.
    pub(super) fn parse_response(&self, body: &[u8]) -> Result<Vec<Vec<f32>>, String> {
        let unread = |error: serde_json::Error| format!("cannot be read: {error}");
        match self.provider {
            EmbeddingProvider::Ollama => {
                Ok(serde_json::from_slice::<OllamaEmbedResponse>(body).map_err(unread)?.embeddings)
            }
            EmbeddingProvider::Openai | EmbeddingProvider::Builtin => order_by_index(
                serde_json::from_slice::<OpenaiEmbedResponse>(body).map_err(unread)?.data,
            ),
        }
    }
}

/// Sorts vectors by their index and checks that each text has exactly one.
fn order_by_index(mut items: Vec<EmbeddingItem>) -> Result<Vec<Vec<f32>>, String> {
    items.sort_by_key(|item| item.index);
    if items.iter().enumerate().any(|(position, item)| item.index != position) {
        return Err("leaves out or repeats texts".to_owned());
    }
    items.into_iter().map(|item| item.embedding.decode()).collect()
}

impl EmbeddingValues {
    fn decode(self) -> Result<Vec<f32>, String> {
        let text = match self {
            Self::Float(numbers) => return Ok(numbers),
            Self::Base64(text) => text,
        };
        let bytes = STANDARD.decode(text).map_err(|error| format!("is not base64: {error}"))?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("is not made of whole numbers of four bytes".to_owned());
        }
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
