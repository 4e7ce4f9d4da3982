//! Models on other servers. Those that talk are in `chat/`; here are those that make vectors: everything that speaks
//! OpenAI's protocol, and Ollama.
//!
//! Texts go in batches, in order. A server that is busy or away is asked again after a pause, one that complains about
//! the amount gets less at a time, and nothing of an answer is believed that was not checked.

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

/// The first pause before a request is repeated: enough for a server that restarts a worker.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause: rate limits are counted by the minute.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A text is not shortened below this many characters to fit: no model's context is so small.
const MIN_TEXT_CHARS: usize = 256;

/// A model on a server, before it is known how many numbers its vectors have.
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

/// A model on a server that makes the vectors of memories or of questions.
#[derive(Debug, Clone)]
pub struct RemoteEmbedder {
    model: EmbeddingModelId,
    endpoint: EmbeddingEndpoint,
    prefix: String,
}

impl EmbeddingEndpoint {
    /// The model of the settings. `key` is what the variable of the settings holds. Nothing is sent yet.
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
        let wire = EmbeddingAdapter {
            provider: config.provider,
            model: config.model.trim().to_owned(),
            encoding: config.encoding,
            dimensions: config.dimensions,
        };
        Ok(Self {
            request_info: request_info(config, key, &http, &wire),
            http: Arc::new(http),
            adapter: wire,
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

    /// The same with other pauses between tries.
    #[must_use]
    pub fn with_retry_policy(self, patience: RetryPolicy) -> Self {
        Self { retry_policy: patience, ..self }
    }

    /// The same, asking only once: for a process that is about to end and leaves the rest to the next.
    #[must_use]
    pub fn without_retries(self) -> Self {
        let patience = RetryPolicy { retries: 0, ..self.retry_policy };
        self.with_retry_policy(patience)
    }

    /// The beginning of the name of the model, which ends with the number of dimensions.
    pub fn name_prefix(&self) -> String {
        let prefixed = match self.text_prefix.as_str() {
            "" => String::new(),
            prefix => format!("+{:02x?}", &Fingerprint::of(prefix).as_bytes()[..2])
                .replace(['[', ']', ',', ' '], ""),
        };
        format!("{}/{}{prefixed}/", self.adapter.provider.as_str(), self.adapter.model)
    }

    /// How many numbers a vector has, as far as it is known without asking: by the settings, or by the model in use.
    pub fn known_dimensions(&self, in_use: Option<&EmbeddingModelId>) -> Option<usize> {
        let family = self.name_prefix();
        let same = in_use.filter(|model| model.name == format!("{family}{}", model.dimensions));
        match self.adapter.dimensions {
            0 => same.map(|model| model.dimensions),
            given => Some(given),
        }
    }

    /// Asks the server how many numbers a vector has, and so whether it is there, knows the model and takes the key.
    pub async fn probe_dimensions(&self) -> Result<usize> {
        let vectors =
            self.request_with_retries(&["dimensions".to_owned()], self.adapter.dimensions).await?;
        Ok(vectors[0].len())
    }

    /// The model that makes the vectors of memories.
    pub fn document_embedder(&self, dimensions: usize) -> RemoteEmbedder {
        let name = format!("{}{dimensions}", self.name_prefix());
        let model = EmbeddingModelId { name, dimensions };
        RemoteEmbedder { model, endpoint: self.clone(), prefix: self.text_prefix.clone() }
    }

    /// The same model for questions: asked once, and not for long.
    pub fn query_embedder(&self, dimensions: usize) -> RemoteEmbedder {
        let RemoteEmbedder { model, endpoint, .. } =
            self.clone().without_retries().document_embedder(dimensions);
        let endpoint = Self { timeout: endpoint.query_timeout, ..endpoint };
        RemoteEmbedder { model, prefix: endpoint.query_prefix.clone(), endpoint }
    }

    /// One request, repeated while that may help.
    async fn request_with_retries(
        &self,
        texts: &[String],
        dimensions: usize,
    ) -> Result<Vec<Vec<f32>>, RemoteError> {
        let mut repetition = 0;
        loop {
            let trouble = match self.request_once(texts, dimensions).await {
                Ok(vectors) => return Ok(vectors),
                Err(trouble) => trouble,
            };
            let RemoteError::Transient { after, message } = &trouble else { return Err(trouble) };
            let Some(pause) = self.retry_policy.pause_before(repetition, *after, jitter()) else {
                return Err(trouble);
            };
            tracing::debug!("{message}; asked again in {pause:?}");
            tokio::time::sleep(pause).await;
            repetition += 1;
        }
    }

    /// One request within its time.
    async fn request_once(
        &self,
        texts: &[String],
        dimensions: usize,
    ) -> Result<Vec<Vec<f32>>, RemoteError> {
        let asked = tokio::time::timeout(self.timeout, self.post_batch(texts)).await;
        let late = || {
            RemoteError::transient(format!(
                "{} did not answer within {:?}",
                self.request_info.host, self.timeout
            ))
        };
        let body = asked.map_err(|_| late())??;
        let vectors = self.adapter.parse_response(&body);
        vectors.and_then(|vectors| batch::check_vectors(vectors, texts.len(), dimensions)).map_err(|what| {
            RemoteError::permanent(
                format!("the answer of {} {what}", self.request_info.host),
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
    /// The vectors of texts that fit one request, or that are cut in two until they do.
    async fn embed_batch(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, RemoteError> {
        let mut left = vec![texts];
        let mut vectors = Vec::new();
        while let Some(texts) = left.pop() {
            match self.endpoint.request_with_retries(&texts, self.model.dimensions).await {
                Ok(made) => vectors.extend(made),
                Err(trouble @ RemoteError::TooLarge { .. }) => {
                    left.extend(split_in_half(texts).ok_or(trouble)?)
                }
                Err(trouble) => return Err(trouble),
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
        let said: Vec<usize> =
            (0..texts.len()).filter(|index| !texts[*index].trim().is_empty()).collect();
        let lengths: Vec<usize> = said.iter().map(|index| texts[*index].chars().count()).collect();
        let mut vectors = vec![vec![0.0; self.model.dimensions]; texts.len()];
        for run in batch::split_batches(&lengths, self.endpoint.batch, self.endpoint.batch_chars) {
            let places = &said[run];
            let sent = places
                .iter()
                .map(|index| format!("{}{}", self.prefix, texts[*index].trim()))
                .collect();
            let made = self.embed_batch(sent).await?;
            places.iter().zip(made).for_each(|(index, vector)| vectors[*index] = vector);
        }
        Ok(vectors)
    }
}

/// What the server is asked with, and where the key is from: a message about it says where to look.
fn request_info(
    config: &EmbeddingConfig,
    key: Option<SecretString>,
    http: &HttpClient,
    wire: &EmbeddingAdapter,
) -> RequestInfo {
    let key_place = match &key {
        None if !config.api_key.reveal().is_empty() => "api_key of [embedding]".to_owned(),
        _ => config.api_key_env.clone(),
    };
    RequestInfo {
        host: http.host().to_owned(),
        model: wire.model.clone(),
        key: key.unwrap_or_else(|| config.api_key.clone()),
        key_source: key_place,
        missing_model_hint: wire.missing_model_hint(),
    }
}

/// Half of the texts each, the first half on top; of a single text its first half. None if there is nothing to halve.
fn split_in_half(mut texts: Vec<String>) -> Option<Vec<Vec<String>>> {
    if let [text] = &texts[..] {
        let length = text.chars().count();
        let half: String = text.chars().take(length / 2).collect();
        return (length > MIN_TEXT_CHARS).then(|| vec![vec![half]]);
    }
    let rest = texts.split_off(texts.len() / 2);
    Some(vec![rest, texts])
}

/// A number from 0 to 1 that differs from process to process: nobody's secret depends on it.
fn jitter() -> f64 {
    let random = uuid::Uuid::now_v7().as_u128() as u32;
    f64::from(random) / f64::from(u32::MAX)
}
