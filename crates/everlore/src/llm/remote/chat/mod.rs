//! Chat models behind HTTP APIs: one adapter per provider protocol, and a streamed response.
//!
//! `adapter.rs` defines a protocol adapter, and each protocol is one file. `stream.rs` decodes a response on top of
//! `framing.rs`. Transient failures are retried until the first chunk has arrived; a stream that breaks off later is an
//! error, never a short answer.

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
    sync::{Arc, Mutex, MutexGuard},
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
        remote_error::{RemoteError, RequestInfo, refuses_tools},
    },
    sync,
};

/// Retries of a chat request, few because a user waits for the answer.
const RETRIES: u32 = 2;

/// Creates the chat model of the settings. Sends nothing.
pub fn chat_model(settings: &ModelSettings, proxies: &Proxies) -> Result<Arc<dyn ChatModel>> {
    Ok(Arc::new(RemoteChatModel::new(settings, proxies)?))
}

/// Lists the models of the settings' provider; the settings need not name one.
pub async fn list_models(settings: &ModelSettings, proxies: &Proxies) -> Result<Vec<String>> {
    RemoteChatModel::for_provider(settings, proxies)?.model_names().await
}

/// Chat model behind an HTTP API.
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
    /// Request fields that the server rejected, or nonstandard ones that it requires.
    field_quirks: Mutex<BTreeSet<&'static str>>,
}

impl RemoteChatModel {
    /// Creates the chat model of the settings. Sends nothing.
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
        let adapter = adapter_for(provider.protocol);
        let base = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let http = HttpClient::new(&adapter.base_url(base), proxies)?;
        let request_info = RequestInfo {
            host: http.host().to_owned(),
            model: settings.model.clone(),
            key: SecretString::new(settings.api_key.reveal().trim()),
            key_source: settings.key_location.clone(),
            missing_model_hint: missing_model_hint(provider, settings),
        };
        Ok(Self {
            name: format!("{}/{}", provider.name, settings.model),
            provider,
            adapter,
            http,
            request_info: Arc::new(request_info),
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

    /// Returns the model with another retry policy.
    #[must_use]
    pub fn with_retry_policy(self, retry_policy: RetryPolicy) -> Self {
        Self { retry_policy, ..self }
    }

    /// Returns the names of the provider's models, sorted.
    pub(crate) async fn model_names(&self) -> Result<Vec<String>> {
        let list = self.fetch_models().await.map_err(|error| self.to_user_error(error))?;
        let mut names = self.adapter.parse_model_names(&list);
        names.sort();
        Ok(names)
    }

    async fn fetch_models(&self) -> Result<Value, RemoteError> {
        let response =
            self.send(Method::GET, self.adapter.traits().models_path, Vec::new()).await?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = with_timeout(self.timeout, &self.request_info.host, response.bytes()).await?;
        if !status.is_success() {
            return Err(RemoteError::from_response(&self.request_info, status, &headers, &body));
        }
        serde_json::from_slice(&body).map_err(|_| {
            let message = format!("the list of models of {} is not JSON", self.request_info.host);
            RemoteError::permanent(message, format!("check base_url in [{}]", self.section))
        })
    }

    /// Sends the request until a stream begins, each time without the fields that the server rejected.
    async fn open_stream(&self, request: &ChatRequest) -> Result<RemoteChatStream, RemoteError> {
        loop {
            let quirks = self.field_quirks().clone();
            let body = self.request_body(request, &quirks);
            let bytes = body.to_string().into_bytes();
            let path = self.adapter.path(&self.request_info.model);
            let response = self.send(Method::POST, &path, bytes).await?;
            if response.status.is_success() {
                let traits = self.adapter.traits();
                let (info, decoder) = (Arc::clone(&self.request_info), (traits.decoder)());
                let framing = traits.framing;
                let mut stream =
                    RemoteChatStream::new(response, framing, decoder, info, self.timeout)?;
                stream.wait_for_first_chunk().await?;
                return Ok(stream);
            }
            let (status, headers) = (response.status, response.headers.clone());
            let refusal =
                with_timeout(self.timeout, &self.request_info.host, response.bytes()).await?;
            match self.detect_quirk(status, &refusal, &body, &quirks) {
                Some(name) => self.field_quirks().insert(name),
                None => {
                    let info = &self.request_info;
                    let error = RemoteError::from_response(info, status, &headers, &refusal);
                    let is_about_tools =
                        !request.tools.is_empty() && refuses_tools(status, &refusal);
                    return Err(if is_about_tools { self.without_tools() } else { error });
                }
            };
        }
    }

    fn field_quirks(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        sync::lock(&self.field_quirks)
    }

    fn request_body(&self, request: &ChatRequest, field_quirks: &BTreeSet<&'static str>) -> Value {
        self.adapter.request_body(&RequestParams {
            model: &self.request_info.model,
            request,
            temperature: request.temperature.or(self.temperature),
            max_tokens: request.max_tokens.or(self.max_tokens),
            field_quirks,
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

    /// Returns the field that the server complains about, if the request can be sent without it, or with it.
    fn detect_quirk(
        &self,
        status: StatusCode,
        refusal: &[u8],
        body: &Value,
        known_quirks: &BTreeSet<&'static str>,
    ) -> Option<&'static str> {
        if !matches!(status.as_u16(), 400 | 422) {
            return None;
        }
        let refusal = String::from_utf8_lossy(refusal).to_lowercase();
        let rejected = self.adapter.traits().optional_fields.iter().find(|name| {
            let sent = body.get(**name).is_some();
            sent && refusal.contains(**name)
                && (!is_output_limit(name) || is_unknown_field_error(&refusal))
        });
        let required =
            self.adapter.traits().nonstandard_fields.iter().find(|name| refusal.contains(**name));
        let quirk = rejected.or(required).filter(|name| !known_quirks.contains(**name))?;
        tracing::debug!("{} rejects or requires `{quirk}`; sent again", self.request_info.host);
        Some(quirk)
    }

    /// Returns the error for a server that refuses the tools of a request.
    fn without_tools(&self) -> RemoteError {
        RemoteError::NoTools { message: format!("{} cannot call tools", self.name) }
    }

    /// Converts a failure into the error shown to the user.
    fn to_user_error(&self, error: RemoteError) -> Error {
        let section = self.section;
        match error {
            RemoteError::TooLarge { message } if is_output_limit_error(&message) => Error::Remote {
                message,
                hint: "the model cannot write so much: lower max_tokens in [chat]".to_owned(),
            },
            RemoteError::TooLarge { message } => prompt_too_long(message),
            error @ (RemoteError::Permanent { .. }
            | RemoteError::Silent { .. }
            | RemoteError::NoTools { .. }) => error.into(),
            RemoteError::Transient { message, .. } => {
                let hint = if message.contains("cannot be reached") {
                    self.connection_hint()
                } else {
                    format!("try again later, or choose another model in [{section}]")
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
        let mut attempt = 0;
        loop {
            let error = match self.open_stream(request).await {
                Ok(stream) => return Ok(Box::new(stream)),
                Err(error) => error,
            };
            let RemoteError::Transient { after, message } = &error else {
                return Err(self.to_user_error(error));
            };
            let Some(pause) = self.retry_policy.pause_before(attempt, *after, jitter()) else {
                return Err(self.to_user_error(error));
            };
            tracing::debug!("{message}; retried in {pause:?}");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }
}

impl std::fmt::Debug for RemoteChatModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteChatModel")
            .field("name", &self.name)
            .field("http", &self.http)
            .finish()
    }
}

/// Returns advice for a model that the server does not have.
fn missing_model_hint(provider: &ChatProvider, settings: &ModelSettings) -> String {
    let (section, model) = (settings.section, &settings.model);
    match provider.name {
        "ollama" => format!("get it with `ollama pull {model}`, or name another in [{section}]"),
        _ => {
            format!("check model and base_url in [{section}]; `everlore onboard` lists the models")
        }
    }
}

/// Returns `true` if the server rejects the output limit and not the length of the prompt.
fn is_output_limit_error(message: &str) -> bool {
    let message = message.to_lowercase();
    let prompt_words = ["context", "prompt", "input", "messages"];
    message.contains("max_") && !prompt_words.iter().any(|word| message.contains(word))
}

/// Returns the error for a prompt that exceeds the model's context.
fn prompt_too_long(message: String) -> Error {
    let hint = "shorten the conversation, or choose a model with a larger context".to_owned();
    Error::ContextTooLong { message, hint }
}

/// Returns `true` if a field limits the output: complaints about its value are not about the field.
fn is_output_limit(name: &str) -> bool {
    name.starts_with("max_")
}

/// Returns `true` if a complaint says that a field is not allowed at all.
fn is_unknown_field_error(refusal: &str) -> bool {
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
    .any(|phrase| refusal.contains(phrase))
}
