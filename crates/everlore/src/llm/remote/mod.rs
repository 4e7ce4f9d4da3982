//! Remote models: chat models in `chat/`, and here embedding models behind OpenAI's protocol or Ollama's.
//!
//! Texts are sent in batches, in order. Transient failures are retried after a pause, a server that rejects the size
//! gets smaller batches, and every response is validated.

mod batch;
mod embedding_adapter;
mod chat;
mod upstream;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use self::embedding_adapter::EmbeddingAdapter;
pub use self::{
    batch::RetryPolicy,
    chat::{FrameDecoder, FrameTooLong, Framing, RemoteChatModel, chat_model, list_models},
    upstream::{ClientProtocol, Upstream, UpstreamResponse},
};
use super::{
    Embedder,
    http_client::{HttpClient, Proxies},
    remote_error::{RemoteError, RequestInfo},
};
use crate::{
    config::{EmbeddingConfig, EmbeddingProvider, SecretString},
    error::{Error, Result},
    types::{EmbeddingModelId, Fingerprint},
};

/// First pause before a retry: enough for a server that restarts a worker.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Longest pause: rate limits are counted per minute.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A text is not shortened below this many characters: no model has so small a context.
const MIN_TEXT_CHARS: usize = 256;

/// Embedding model on a server, before its vector size is known.
#[derive(Debug, Clone)]
pub struct EmbeddingEndpoint {
    http: Arc<HttpClient>,
    adapter: EmbeddingAdapter,
    request_info: RequestInfo,
    text_prefix: String,
    query_prefix: String,
    batch: usize,
    batch_chars: usize,
    timeout: Duration,
    query_timeout: Duration,
    retry_policy: RetryPolicy,
    least_similarity: f32,
}

/// Embedding model on a server, for documents or for queries.
#[derive(Debug, Clone)]
pub struct RemoteEmbedder {
    model: EmbeddingModelId,
    endpoint: EmbeddingEndpoint,
    prefix: String,
}

impl EmbeddingEndpoint {
    /// Creates the endpoint of the settings; `key` is the value of the configured variable. Sends nothing.
    pub fn new(
        config: &EmbeddingConfig,
        key: Option<SecretString>,
        proxies: &Proxies,
    ) -> Result<Self> {
        if config.provider == EmbeddingProvider::Builtin {
            return Err(Error::invalid(
                "the built-in model needs no server",
                "set provider in [embedding]",
            ));
        }
        let base = match config.base_url.trim() {
            "" => EmbeddingAdapter::default_base_url(config.provider),
            given => given,
        };
        let http = HttpClient::new(base, proxies)?;
        let adapter = EmbeddingAdapter {
            provider: config.provider,
            model: config.model.trim().to_owned(),
            encoding: config.encoding,
            dimensions: config.dimensions,
        };
        Ok(Self {
            request_info: request_info(config, key, &http, &adapter),
            http: Arc::new(http),
            adapter,
            text_prefix: config.text_prefix.clone(),
            query_prefix: config.query_prefix.clone(),
            batch: config.batch,
            batch_chars: config.batch_chars,
            timeout: config.timeout,
            query_timeout: config.query_limit,
            least_similarity: config.least_similarity as f32,
            retry_policy: RetryPolicy {
                retries: config.retries,
                first_pause: FIRST_PAUSE,
                max_pause: MAX_PAUSE,
            },
        })
    }

    /// Returns the endpoint with another retry policy.
    #[must_use]
    pub fn with_retry_policy(self, retry_policy: RetryPolicy) -> Self {
        Self { retry_policy, ..self }
    }

    /// Returns the endpoint without retries: for a process that is about to end and leaves the rest to the next one.
    #[must_use]
    pub fn without_retries(self) -> Self {
        let retry_policy = RetryPolicy { retries: 0, ..self.retry_policy };
        self.with_retry_policy(retry_policy)
    }

    /// Returns the model's name without the number of dimensions that ends it.
    pub(crate) fn name_prefix(&self) -> String {
        let prefixed = match self.text_prefix.as_str() {
            "" => String::new(),
            prefix => format!("+{:02x?}", &Fingerprint::of(prefix).as_bytes()[..2])
                .replace(['[', ']', ',', ' '], ""),
        };
        format!("{}/{}{prefixed}/", self.adapter.provider.as_str(), self.adapter.model)
    }

    /// Returns the vector size if it is known without a request: from the settings, or from the model in use.
    pub fn known_dimensions(&self, in_use: Option<&EmbeddingModelId>) -> Option<usize> {
        let family = self.name_prefix();
        let same = in_use.filter(|model| model.name == format!("{family}{}", model.dimensions));
        match self.adapter.dimensions {
            0 => same.map(|model| model.dimensions),
            given => Some(given),
        }
    }

    /// Asks the server for its vector size, which also checks that it is up, knows the model and accepts the key.
    pub async fn probe_dimensions(&self) -> Result<usize> {
        let vectors =
            self.request_with_retries(&["dimensions".to_owned()], self.adapter.dimensions).await?;
        Ok(vectors[0].len())
    }

    /// Returns the embedder for documents.
    pub fn document_embedder(&self, dimensions: usize) -> RemoteEmbedder {
        let name = format!("{}{dimensions}", self.name_prefix());
        let model = EmbeddingModelId { name, dimensions };
        RemoteEmbedder { model, endpoint: self.clone(), prefix: self.text_prefix.clone() }
    }

    /// Returns the embedder for queries: no retries and a shorter timeout.
    pub fn query_embedder(&self, dimensions: usize) -> RemoteEmbedder {
        let RemoteEmbedder { model, endpoint, .. } =
            self.clone().without_retries().document_embedder(dimensions);
        let endpoint = Self { timeout: endpoint.query_timeout, ..endpoint };
        RemoteEmbedder { model, prefix: endpoint.query_prefix.clone(), endpoint }
    }

    /// Sends one request, with retries after transient failures.
    async fn request_with_retries(
        &self,
        texts: &[String],
        dimensions: usize,
    ) -> Result<Vec<Vec<f32>>, RemoteError> {
        let mut attempt = 0;
        loop {
            let error = match self.request_once(texts, dimensions).await {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            let RemoteError::Transient { after, message } = &error else { return Err(error) };
            let Some(pause) = self.retry_policy.pause_before(attempt, *after, jitter()) else {
                return Err(error);
            };
            tracing::debug!("{message}; retried in {pause:?}");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Sends one request within the timeout.
    async fn request_once(
        &self,
        texts: &[String],
        dimensions: usize,
    ) -> Result<Vec<Vec<f32>>, RemoteError> {
        let response = tokio::time::timeout(self.timeout, self.post_batch(texts)).await;
        let late = || {
            RemoteError::transient(format!(
                "{} did not answer within {:?}",
                self.request_info.host, self.timeout
            ))
        };
        let body = response.map_err(|_| late())??;
        let vectors = self.adapter.parse_response(&body);
        vectors.and_then(|vectors| batch::check_vectors(vectors, texts.len(), dimensions)).map_err(|problem| {
        RemoteError::permanent(
            format!("the answer of {} {problem}", self.request_info.host),
                "check model, base_url and dimensions in [embedding]; after a change run `everlore embed switch`",
            )
        })
    }

    async fn post_batch(&self, texts: &[String]) -> Result<hyper::body::Bytes, RemoteError> {
        let reply = self
            .http
            .post(self.adapter.path(), &self.request_info.key, self.adapter.request_body(texts))
            .await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = reply.bytes().await?;
        if status.is_success() {
            return Ok(body);
        }
        Err(RemoteError::from_response(&self.request_info, status, &headers, &body))
    }
}

impl RemoteEmbedder {
    /// Embeds texts, halving the batch as often as the server rejects its size.
    async fn embed_batch(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, RemoteError> {
        let mut left = vec![texts];
        let mut vectors = Vec::new();
        while let Some(texts) = left.pop() {
            match self.endpoint.request_with_retries(&texts, self.model.dimensions).await {
                Ok(embedded) => vectors.extend(embedded),
                Err(error @ RemoteError::TooLarge { .. }) => {
                    left.extend(split_in_half(texts).ok_or(error)?)
                }
                Err(error) => return Err(error),
            }
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for RemoteEmbedder {
    fn model(&self) -> &EmbeddingModelId {
        &self.model
    }

    fn understands(&self, _: &str) -> bool {
        true
    }

    fn least_similarity(&self) -> f32 {
        self.endpoint.least_similarity
    }

    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        // Servers refuse empty texts.
        let non_empty: Vec<usize> =
            (0..texts.len()).filter(|index| !texts[*index].trim().is_empty()).collect();
        let lengths: Vec<usize> =
            non_empty.iter().map(|index| texts[*index].chars().count()).collect();
        let mut vectors = vec![vec![0.0; self.model.dimensions]; texts.len()];
        for range in batch::split_batches(&lengths, self.endpoint.batch, self.endpoint.batch_chars)
        {
            let indexes = &non_empty[range];
            let inputs = indexes
                .iter()
                .map(|index| format!("{}{}", self.prefix, texts[*index].trim()))
                .collect();
            let embedded = self.embed_batch(inputs).await?;
            indexes.iter().zip(embedded).for_each(|(index, vector)| vectors[*index] = vector);
        }
        Ok(vectors)
    }
}

/// Collects what error messages need: the model, and where the key comes from.
fn request_info(
    config: &EmbeddingConfig,
    key: Option<SecretString>,
    http: &HttpClient,
    adapter: &EmbeddingAdapter,
) -> RequestInfo {
    let key_source = match &key {
        None if !config.api_key.reveal().is_empty() => "api_key of [embedding]".to_owned(),
        _ => config.api_key_env.clone(),
    };
    RequestInfo {
        host: http.host().to_owned(),
        model: adapter.model.clone(),
        key: key.unwrap_or_else(|| config.api_key.clone()),
        key_source,
        missing_model_hint: adapter.missing_model_hint(),
    }
}

/// Splits texts into two halves, the first on top of the stack; a single text keeps its first half. Returns `None` if
/// there is nothing to halve.
fn split_in_half(mut texts: Vec<String>) -> Option<Vec<Vec<String>>> {
    if let [text] = &texts[..] {
        let length = text.chars().count();
        let half: String = text.chars().take(length / 2).collect();
        return (length > MIN_TEXT_CHARS).then(|| vec![vec![half]]);
    }
    let rest = texts.split_off(texts.len() / 2);
    Some(vec![rest, texts])
}

/// Returns a number from 0 to 1 that differs between processes; no secret depends on it.
fn jitter() -> f64 {
    let random = uuid::Uuid::now_v7().as_u128() as u32;
    f64::from(random) / f64::from(u32::MAX)
}
