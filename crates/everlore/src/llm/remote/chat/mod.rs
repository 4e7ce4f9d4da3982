//! Language models on other servers: asked in the protocol of their provider, read as their answer comes.
//!
//! `wire.rs` says what a protocol is, and each protocol is one file of bodies and values. `stream.rs` reads an answer on
//! `lines.rs`. What is busy or away is asked again as long as nothing of the answer was given out; what breaks off later
//! is an error, never a short answer.

mod framing;
mod stream;
mod thinking;
mod adapter;
mod openai;
mod anthropic;
mod gemini;
mod ollama;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use hyper::{Method, StatusCode};
use serde_json::Value;

pub use self::framing::{FrameDecoder, FrameTooLong, Framing};
use self::{
    adapter::{ChatAdapter, RequestParams, adapter_for},
    stream::{RemoteChatStream, with_timeout},
};
use super::{FIRST_PAUSE, MAX_PAUSE, RetryPolicy, jitter};
use crate::{
    config::{ChatProvider, ModelSettings, SecretString, chat_provider},
    error::{Error, Result},
    llm::{
        chat::{ChatModel, ChatRequest, ChatStream},
        http_client::{HttpClient, HttpResponse, Proxies},
        remote_error::{RemoteError, RequestInfo},
    },
};

/// How often a question is repeated: somebody waits for the answer.
const RETRIES: u32 = 2;

/// The language model of the settings. Nothing is sent yet.
pub fn chat_model(settings: &ModelSettings, proxies: &Proxies) -> Result<Arc<dyn ChatModel>> {
    Ok(Arc::new(RemoteChatModel::new(settings, proxies)?))
}

/// The names of the models that the provider of the settings has; the settings need not name one.
pub async fn list_models(settings: &ModelSettings, proxies: &Proxies) -> Result<Vec<String>> {
    RemoteChatModel::for_provider(settings, proxies)?.model_names().await
}

/// A language model on another server.
pub struct RemoteChatModel {
    name: String,
    provider: &'static ChatProvider,
    adapter: &'static dyn ChatAdapter,
    http: HttpClient,
    request_info: Arc<RequestInfo>,
    timeout: Duration,
    temperature: Option<f32>,
    max_tokens: Option<u32>,
    section: &'static str,
    retry_policy: RetryPolicy,
    /// Fields that the server turned out not to know, or to miss.
    field_quirks: Mutex<BTreeSet<&'static str>>,
}

impl RemoteChatModel {
    /// The language model of the settings. Nothing is sent yet.
    pub fn new(settings: &ModelSettings, proxies: &Proxies) -> Result<Self> {
        if settings.model.is_empty() {
            let hint = format!("set model in [{}], or run `everlore onboard`", settings.section);
            return Err(Error::invalid("no language model is named", hint));
        }
        Self::for_provider(settings, proxies)
    }

    fn for_provider(settings: &ModelSettings, proxies: &Proxies) -> Result<Self> {
        let section = settings.section;
        let provider = chat_provider(&settings.provider).ok_or_else(|| {
            let message = format!("no provider is called `{}`", settings.provider);
            let hint =
                format!("set provider in [{section}] to openai, and base_url to its address");
            Error::invalid(message, hint)
        })?;
        let wire = adapter_for(provider.protocol);
        let base = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let http = HttpClient::new(&wire.base_url(base), proxies)?;
        let asked = RequestInfo {
            host: http.host().to_owned(),
            model: settings.model.clone(),
            key: SecretString::new(settings.api_key.reveal().trim()),
            key_source: settings.key_location.clone(),
            missing_model_hint: missing_model_hint(provider, settings),
        };
        Ok(Self {
            name: format!("{}/{}", provider.name, settings.model),
            provider,
            adapter: wire,
            http,
            request_info: Arc::new(asked),
            timeout: settings.timeout,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            section,
            retry_policy: RetryPolicy {
                retries: RETRIES,
                first_pause: FIRST_PAUSE,
                max_pause: MAX_PAUSE,
            },
            field_quirks: Mutex::default(),
        })
    }

    /// The same with other pauses between tries.
    #[must_use]
    pub fn with_retry_policy(self, patience: RetryPolicy) -> Self {
        Self { retry_policy: patience, ..self }
    }

    /// The names of the models that the provider has.
    pub async fn model_names(&self) -> Result<Vec<String>> {
        let listed = self.fetch_models().await.map_err(|trouble| self.to_user_error(trouble))?;
        let mut names = self.adapter.parse_model_names(&listed);
        names.sort();
        Ok(names)
    }

    async fn fetch_models(&self) -> Result<Value, RemoteError> {
        let reply = self.send(Method::GET, self.adapter.models_path(), Vec::new()).await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = with_timeout(self.timeout, &self.request_info.host, reply.bytes()).await?;
        if !status.is_success() {
            return Err(RemoteError::from_response(&self.request_info, status, &headers, &body));
        }
        serde_json::from_slice(&body).map_err(|_| {
            let message = format!("the list of models of {} is no JSON", self.request_info.host);
            RemoteError::permanent(message, format!("check base_url in [{}]", self.section))
        })
    }

    /// Asks until an answer begins, without the fields that the server turns out not to know.
    async fn open_stream(&self, request: &ChatRequest) -> Result<RemoteChatStream, RemoteError> {
        loop {
            let learned = self.field_quirks().clone();
            let body = self.request_body(request, &learned);
            let bytes = body.to_string().into_bytes();
            let path = self.adapter.path(&self.request_info.model);
            let reply = self.send(Method::POST, &path, bytes).await?;
            if reply.status.is_success() {
                let (asked, reader) = (Arc::clone(&self.request_info), self.adapter.decoder());
                let framing = self.adapter.framing();
                let mut answer =
                    RemoteChatStream::new(reply, framing, reader, asked, self.timeout)?;
                answer.wait_for_first_chunk().await?;
                return Ok(answer);
            }
            let (status, headers) = (reply.status, reply.headers.clone());
            let said = with_timeout(self.timeout, &self.request_info.host, reply.bytes()).await?;
            match self.detect_quirk(status, &said, &body, &learned) {
                Some(name) => self.field_quirks().insert(name),
                None => {
                    return Err(RemoteError::from_response(
                        &self.request_info,
                        status,
                        &headers,
                        &said,
                    ));
                }
            };
        }
    }

    fn field_quirks(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.field_quirks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request_body(&self, request: &ChatRequest, learned: &BTreeSet<&'static str>) -> Value {
        self.adapter.request_body(&RequestParams {
            model: &self.request_info.model,
            request,
            temperature: request.temperature.or(self.temperature),
            max_tokens: request.max_tokens.or(self.max_tokens),
            field_quirks: learned,
        })
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<HttpResponse, RemoteError> {
        let headers = self.adapter.headers(&self.request_info.key)?;
        let sent = self.http.send(method, path, headers, body);
        with_timeout(self.timeout, &self.request_info.host, sent).await
    }

    /// The field that the server complains about, if it can be asked without it, or with it.
    fn detect_quirk(
        &self,
        status: StatusCode,
        said: &[u8],
        body: &Value,
        learned: &BTreeSet<&'static str>,
    ) -> Option<&'static str> {
        if !matches!(status.as_u16(), 400 | 422) {
            return None;
        }
        let said = String::from_utf8_lossy(said).to_lowercase();
        let refused = self.adapter.optional_fields().iter().find(|name| {
            let sent = body.get(**name).is_some();
            sent && said.contains(**name)
                && (!is_output_limit(name) || is_unknown_field_error(&said))
        });
        let missed = self.adapter.nonstandard_fields().iter().find(|name| said.contains(**name));
        let lesson = refused.or(missed).filter(|name| !learned.contains(**name))?;
        tracing::debug!(
            "{} does not know or misses `{lesson}`; asked again",
            self.request_info.host
        );
        Some(lesson)
    }

    /// A failure as the user is told.
    fn to_user_error(&self, trouble: RemoteError) -> Error {
        let section = self.section;
        match trouble {
            RemoteError::TooLarge { message } if is_output_limit_error(&message) => Error::Remote {
                message,
                hint: "the model cannot write so much: set max_tokens in [chat] to less".to_owned(),
            },
            RemoteError::TooLarge { message } => prompt_too_long(message),
            RemoteError::Permanent { message, hint } => Error::Remote { message, hint },
            RemoteError::Transient { message, .. } => {
                let hint = match message.contains("cannot be reached") {
                    true => self.connection_hint(),
                    false => format!(
                        "ask again in a little while, or choose another model in [{section}]"
                    ),
                };
                Error::Remote { message, hint }
            }
        }
    }

    fn connection_hint(&self) -> String {
        let base = format!("check base_url in [{}]", self.section);
        match self.provider.start_command {
            "" => format!("check the network and the proxy; {base}"),
            start => format!("start it with {start}; if it is elsewhere, {base}"),
        }
    }
}

#[async_trait]
impl ChatModel for RemoteChatModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn ChatStream>> {
        let mut repetition = 0;
        loop {
            let trouble = match self.open_stream(request).await {
                Ok(answer) => return Ok(Box::new(answer)),
                Err(trouble) => trouble,
            };
            let RemoteError::Transient { after, message } = &trouble else {
                return Err(self.to_user_error(trouble));
            };
            let Some(pause) = self.retry_policy.pause_before(repetition, *after, jitter()) else {
                return Err(self.to_user_error(trouble));
            };
            tracing::debug!("{message}; asked again in {pause:?}");
            tokio::time::sleep(pause).await;
            repetition += 1;
        }
    }
}

impl std::fmt::Debug for RemoteChatModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteChat").field("name", &self.name).field("http", &self.http).finish()
    }
}

/// How the user gets a model that the server does not have.
fn missing_model_hint(provider: &ChatProvider, settings: &ModelSettings) -> String {
    let (section, model) = (settings.section, &settings.model);
    match provider.name {
        "ollama" => format!("get it with `ollama pull {model}`, or name another in [{section}]"),
        _ => {
            format!("check model and base_url in [{section}]; `everlore onboard` lists the models")
        }
    }
}

/// Whether a server complains about the limit of the answer and not about the length of the question.
fn is_output_limit_error(message: &str) -> bool {
    let message = message.to_lowercase();
    let question = ["context", "prompt", "input", "messages"];
    message.contains("max_") && !question.iter().any(|sign| message.contains(sign))
}

/// A question that the model cannot read as a whole.
fn prompt_too_long(message: String) -> Error {
    let hint = "shorten the conversation, or choose a model that reads more".to_owned();
    Error::ContextTooLong { message, hint }
}

/// Whether a field limits the answer: complaints about its value are not about the field.
fn is_output_limit(name: &str) -> bool {
    name.starts_with("max_")
}

/// Whether a complaint is that a field exists at all.
fn is_unknown_field_error(said: &str) -> bool {
    [
        "unsupported",
        "not support",
        "unknown",
        "unrecognized",
        "unexpected",
        "not permitted",
        "extra",
    ]
    .iter()
    .any(|sign| said.contains(sign))
}
