//! Models on other servers. Those that talk are in `chat/`; here are those that make vectors: everything that speaks
//! OpenAI's protocol, and Ollama.
//!
//! Texts go in batches, in order. A server that is busy or away is asked again after a pause, one that complains about
//! the amount gets less at a time, and nothing of an answer is believed that was not checked.

mod batch;
mod wire;
mod chat;
mod relay;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;

use self::wire::Wire;
pub use self::{
    batch::Patience,
    chat::{Endless, Framing, RemoteChat, Splitter, chat_model, list_models},
    relay::{Relay, Relayed, Tongue},
};
use super::{
    Embedder,
    http::{Http, Proxies},
    trouble::{Asked, Trouble},
};
use crate::{
    config::{EmbeddingConfig, Provider, Secret},
    error::{Error, Result},
    types::{Fingerprint, ModelId},
};

/// The first pause before a request is repeated: enough for a server that restarts a worker.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause: rate limits are counted by the minute.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A text is not shortened below this many characters to fit: no model's context is so small.
const SHORTEST: usize = 256;

/// A model on a server, before it is known how many numbers its vectors have.
#[derive(Debug, Clone)]
pub struct Endpoint {
    http: Arc<Http>,
    wire: Wire,
    asked: Asked,
    text_prefix: String,
    query_prefix: String,
    batch: usize,
    batch_chars: usize,
    timeout: Duration,
    query_limit: Duration,
    patience: Patience,
    least_similarity: f32,
}

/// A model on a server that makes the vectors of memories or of questions.
#[derive(Debug, Clone)]
pub struct Remote {
    model: ModelId,
    endpoint: Endpoint,
    prefix: String,
}

impl Endpoint {
    /// The model of the settings. `key` is what the variable of the settings holds. Nothing is sent yet.
    pub fn new(config: &EmbeddingConfig, key: Option<Secret>, proxies: &Proxies) -> Result<Self> {
        if config.provider == Provider::Builtin {
            return Err(Error::invalid(
                "the built-in model needs no server",
                "set provider in [embedding]",
            ));
        }
        let base = match config.base_url.trim() {
            "" => Wire::default_base(config.provider),
            given => given,
        };
        let http = Http::new(base, proxies)?;
        let wire = Wire {
            provider: config.provider,
            model: config.model.trim().to_owned(),
            encoding: config.encoding,
            dimensions: config.dimensions,
        };
        Ok(Self {
            asked: asked(config, key, &http, &wire),
            http: Arc::new(http),
            wire,
            text_prefix: config.text_prefix.clone(),
            query_prefix: config.query_prefix.clone(),
            batch: config.batch,
            batch_chars: config.batch_chars,
            timeout: config.timeout,
            query_limit: config.query_limit,
            least_similarity: config.least_similarity as f32,
            patience: Patience {
                retries: config.retries,
                first: FIRST_PAUSE,
                longest: LONGEST_PAUSE,
            },
        })
    }

    /// The same with other pauses between tries.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The same, asking only once: for a process that is about to end and leaves the rest to the next.
    #[must_use]
    pub fn without_retries(self) -> Self {
        let patience = Patience { retries: 0, ..self.patience };
        self.with_patience(patience)
    }

    /// The beginning of the name of the model, which ends with the number of dimensions.
    pub fn family(&self) -> String {
        let prefixed = match self.text_prefix.as_str() {
            "" => String::new(),
            prefix => format!("+{:02x?}", &Fingerprint::of(prefix).as_bytes()[..2])
                .replace(['[', ']', ',', ' '], ""),
        };
        format!("{}/{}{prefixed}/", self.wire.provider.as_str(), self.wire.model)
    }

    /// How many numbers a vector has, as far as it is known without asking: by the settings, or by the model in use.
    pub fn known_dimensions(&self, in_use: Option<&ModelId>) -> Option<usize> {
        let family = self.family();
        let same = in_use.filter(|model| model.name == format!("{family}{}", model.dimensions));
        match self.wire.dimensions {
            0 => same.map(|model| model.dimensions),
            given => Some(given),
        }
    }

    /// Asks the server how many numbers a vector has, and so whether it is there, knows the model and takes the key.
    pub async fn ask_dimensions(&self) -> Result<usize> {
        let vectors = self.ask_patiently(&["dimensions".to_owned()], self.wire.dimensions).await?;
        Ok(vectors[0].len())
    }

    /// The model that makes the vectors of memories.
    pub fn for_memories(&self, dimensions: usize) -> Remote {
        let name = format!("{}{dimensions}", self.family());
        let model = ModelId { name, dimensions };
        Remote { model, endpoint: self.clone(), prefix: self.text_prefix.clone() }
    }

    /// The same model for questions: asked once, and not for long.
    pub fn for_questions(&self, dimensions: usize) -> Remote {
        let Remote { model, endpoint, .. } =
            self.clone().without_retries().for_memories(dimensions);
        let endpoint = Self { timeout: endpoint.query_limit, ..endpoint };
        Remote { model, prefix: endpoint.query_prefix.clone(), endpoint }
    }

    /// One request, repeated while that may help.
    async fn ask_patiently(
        &self,
        texts: &[String],
        dimensions: usize,
    ) -> Result<Vec<Vec<f32>>, Trouble> {
        let mut repetition = 0;
        loop {
            let trouble = match self.ask(texts, dimensions).await {
                Ok(vectors) => return Ok(vectors),
                Err(trouble) => trouble,
            };
            let Trouble::Passing { after, message } = &trouble else { return Err(trouble) };
            let Some(pause) = self.patience.pause(repetition, *after, chance()) else {
                return Err(trouble);
            };
            tracing::debug!("{message}; asked again in {pause:?}");
            tokio::time::sleep(pause).await;
            repetition += 1;
        }
    }

    /// One request within its time.
    async fn ask(&self, texts: &[String], dimensions: usize) -> Result<Vec<Vec<f32>>, Trouble> {
        let asked = tokio::time::timeout(self.timeout, self.exchange(texts)).await;
        let late = || {
            Trouble::passing(format!(
                "{} did not answer within {:?}",
                self.asked.host, self.timeout
            ))
        };
        let body = asked.map_err(|_| late())??;
        let vectors = self.wire.answer(&body);
        vectors.and_then(|vectors| batch::checked(vectors, texts.len(), dimensions)).map_err(|what| {
            Trouble::lasting(
                format!("the answer of {} {what}", self.asked.host),
                "check model, base_url and dimensions in [embedding]; after a change run `everlore embed switch`",
            )
        })
    }

    async fn exchange(&self, texts: &[String]) -> Result<hyper::body::Bytes, Trouble> {
        let reply =
            self.http.post(self.wire.path(), &self.asked.key, self.wire.request(texts)).await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = reply.bytes().await?;
        if status.is_success() {
            return Ok(body);
        }
        Err(Trouble::of(&self.asked, status, &headers, &body))
    }
}

impl Remote {
    /// The vectors of texts that fit one request, or that are cut in two until they do.
    async fn embed_run(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, Trouble> {
        let mut left = vec![texts];
        let mut vectors = Vec::new();
        while let Some(texts) = left.pop() {
            match self.endpoint.ask_patiently(&texts, self.model.dimensions).await {
                Ok(made) => vectors.extend(made),
                Err(trouble @ Trouble::TooMuch { .. }) => {
                    left.extend(halved(texts).ok_or(trouble)?)
                }
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(vectors)
    }
}

#[async_trait]
impl Embedder for Remote {
    fn model(&self) -> &ModelId {
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
        for run in batch::runs(&lengths, self.endpoint.batch, self.endpoint.batch_chars) {
            let places = &said[run];
            let sent = places
                .iter()
                .map(|index| format!("{}{}", self.prefix, texts[*index].trim()))
                .collect();
            let made = self.embed_run(sent).await?;
            places.iter().zip(made).for_each(|(index, vector)| vectors[*index] = vector);
        }
        Ok(vectors)
    }
}

/// What the server is asked with, and where the key is from: a message about it says where to look.
fn asked(config: &EmbeddingConfig, key: Option<Secret>, http: &Http, wire: &Wire) -> Asked {
    let key_place = match &key {
        None if !config.api_key.reveal().is_empty() => "api_key of [embedding]".to_owned(),
        _ => config.api_key_env.clone(),
    };
    Asked {
        host: http.host().to_owned(),
        model: wire.model.clone(),
        key: key.unwrap_or_else(|| config.api_key.clone()),
        key_place,
        get_model: wire.get_model(),
    }
}

/// Half of the texts each, the first half on top; of a single text its first half. None if there is nothing to halve.
fn halved(mut texts: Vec<String>) -> Option<Vec<Vec<String>>> {
    if let [text] = &texts[..] {
        let length = text.chars().count();
        let half: String = text.chars().take(length / 2).collect();
        return (length > SHORTEST).then(|| vec![vec![half]]);
    }
    let rest = texts.split_off(texts.len() / 2);
    Some(vec![rest, texts])
}

/// A number from 0 to 1 that differs from process to process: nobody's secret depends on it.
fn chance() -> f64 {
    let random = uuid::Uuid::now_v7().as_u128() as u32;
    f64::from(random) / f64::from(u32::MAX)
}
