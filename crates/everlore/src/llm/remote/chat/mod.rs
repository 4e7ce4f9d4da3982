//! Language models on other servers: asked in the protocol of their provider, read as their answer comes.
//!
//! `wire.rs` says what a protocol is, and each protocol is one file of bodies and values. `stream.rs` reads an answer on
//! `lines.rs`. What is busy or away is asked again as long as nothing of the answer was given out; what breaks off later
//! is an error, never a short answer.

mod lines;
mod stream;
mod thinking;
mod wire;
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

pub use self::lines::{Endless, Framing, Splitter};
use self::{
    stream::{Streamed, in_time},
    wire::{Question, Wire, wire},
};
use super::{FIRST_PAUSE, LONGEST_PAUSE, Patience, chance};
use crate::{
    config::{ChatProvider, ModelSettings, Secret, chat_provider},
    error::{Error, Result},
    llm::{
        chat::{Answer, ChatModel, ChatRequest},
        http::{Http, Proxies, Reply},
        trouble::{Asked, Trouble},
    },
};

/// How often a question is repeated: somebody waits for the answer.
const RETRIES: u32 = 2;

/// The language model of the settings. Nothing is sent yet.
pub fn chat_model(settings: &ModelSettings, proxies: &Proxies) -> Result<Arc<dyn ChatModel>> {
    Ok(Arc::new(RemoteChat::new(settings, proxies)?))
}

/// The names of the models that the provider of the settings has; the settings need not name one.
pub async fn list_models(settings: &ModelSettings, proxies: &Proxies) -> Result<Vec<String>> {
    RemoteChat::of_provider(settings, proxies)?.models().await
}

/// A language model on another server.
pub struct RemoteChat {
    name: String,
    provider: &'static ChatProvider,
    wire: &'static dyn Wire,
    http: Http,
    asked: Arc<Asked>,
    timeout: Duration,
    temperature: Option<f32>,
    max_tokens: Option<u32>,
    section: &'static str,
    patience: Patience,
    /// Fields that the server turned out not to know, or to miss.
    learned: Mutex<BTreeSet<&'static str>>,
}

impl RemoteChat {
    /// The language model of the settings. Nothing is sent yet.
    pub fn new(settings: &ModelSettings, proxies: &Proxies) -> Result<Self> {
        if settings.model.is_empty() {
            let hint = format!("set model in [{}], or run `everlore onboard`", settings.section);
            return Err(Error::invalid("no language model is named", hint));
        }
        Self::of_provider(settings, proxies)
    }

    fn of_provider(settings: &ModelSettings, proxies: &Proxies) -> Result<Self> {
        let section = settings.section;
        let provider = chat_provider(&settings.provider).ok_or_else(|| {
            let message = format!("no provider is called `{}`", settings.provider);
            let hint =
                format!("set provider in [{section}] to openai, and base_url to its address");
            Error::invalid(message, hint)
        })?;
        let wire = wire(provider.protocol);
        let base = match settings.base_url.as_str() {
            "" => provider.base_url,
            given => given,
        };
        let http = Http::new(&wire.base(base), proxies)?;
        let asked = Asked {
            host: http.host().to_owned(),
            model: settings.model.clone(),
            key: Secret::new(settings.api_key.reveal().trim()),
            key_place: settings.key_place.clone(),
            get_model: get_model(provider, settings),
        };
        Ok(Self {
            name: format!("{}/{}", provider.name, settings.model),
            provider,
            wire,
            http,
            asked: Arc::new(asked),
            timeout: settings.timeout,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            section,
            patience: Patience { retries: RETRIES, first: FIRST_PAUSE, longest: LONGEST_PAUSE },
            learned: Mutex::default(),
        })
    }

    /// The same with other pauses between tries.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The names of the models that the provider has.
    pub async fn models(&self) -> Result<Vec<String>> {
        let listed = self.list().await.map_err(|trouble| self.told(trouble))?;
        let mut names = self.wire.models(&listed);
        names.sort();
        Ok(names)
    }

    async fn list(&self) -> Result<Value, Trouble> {
        let reply = self.send(Method::GET, self.wire.models_path(), Vec::new()).await?;
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = in_time(self.timeout, &self.asked.host, reply.bytes()).await?;
        if !status.is_success() {
            return Err(Trouble::of(&self.asked, status, &headers, &body));
        }
        serde_json::from_slice(&body).map_err(|_| {
            let message = format!("the list of models of {} is no JSON", self.asked.host);
            Trouble::lasting(message, format!("check base_url in [{}]", self.section))
        })
    }

    /// Asks until an answer begins, without the fields that the server turns out not to know.
    async fn begin(&self, request: &ChatRequest) -> Result<Streamed, Trouble> {
        loop {
            let learned = self.learned().clone();
            let body = self.body(request, &learned);
            let bytes = body.to_string().into_bytes();
            let path = self.wire.path(&self.asked.model);
            let reply = self.send(Method::POST, &path, bytes).await?;
            if reply.status.is_success() {
                let (asked, reader) = (Arc::clone(&self.asked), self.wire.reader());
                let framing = self.wire.framing();
                let mut answer = Streamed::new(reply, framing, reader, asked, self.timeout)?;
                answer.begin().await?;
                return Ok(answer);
            }
            let (status, headers) = (reply.status, reply.headers.clone());
            let said = in_time(self.timeout, &self.asked.host, reply.bytes()).await?;
            match self.lesson(status, &said, &body, &learned) {
                Some(name) => self.learned().insert(name),
                None => return Err(Trouble::of(&self.asked, status, &headers, &said)),
            };
        }
    }

    fn learned(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, request: &ChatRequest, learned: &BTreeSet<&'static str>) -> Value {
        self.wire.body(&Question {
            model: &self.asked.model,
            request,
            temperature: request.temperature.or(self.temperature),
            max_tokens: request.max_tokens.or(self.max_tokens),
            learned,
        })
    }

    async fn send(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Reply, Trouble> {
        let headers = self.wire.headers(&self.asked.key)?;
        let sent = self.http.send(method, path, headers, body);
        in_time(self.timeout, &self.asked.host, sent).await
    }

    /// The field that the server complains about, if it can be asked without it, or with it.
    fn lesson(
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
        let refused = self.wire.optional().iter().find(|name| {
            let sent = body.get(**name).is_some();
            sent && said.contains(**name) && (!is_limit(name) || is_unknown(&said))
        });
        let missed = self.wire.wanted().iter().find(|name| said.contains(**name));
        let lesson = refused.or(missed).filter(|name| !learned.contains(**name))?;
        tracing::debug!("{} does not know or misses `{lesson}`; asked again", self.asked.host);
        Some(lesson)
    }

    /// A failure as the user is told.
    fn told(&self, trouble: Trouble) -> Error {
        let section = self.section;
        match trouble {
            Trouble::TooMuch { message } if is_about_the_answer(&message) => Error::Remote {
                message,
                hint: "the model cannot write so much: set max_tokens in [chat] to less".to_owned(),
            },
            Trouble::TooMuch { message } => too_long(message),
            Trouble::Lasting { message, hint } => Error::Remote { message, hint },
            Trouble::Passing { message, .. } => {
                let hint = match message.contains("cannot be reached") {
                    true => self.way_there(),
                    false => format!(
                        "ask again in a little while, or choose another model in [{section}]"
                    ),
                };
                Error::Remote { message, hint }
            }
        }
    }

    fn way_there(&self) -> String {
        let base = format!("check base_url in [{}]", self.section);
        match self.provider.start {
            "" => format!("check the network and the proxy; {base}"),
            start => format!("start it with {start}; if it is elsewhere, {base}"),
        }
    }
}

#[async_trait]
impl ChatModel for RemoteChat {
    fn name(&self) -> &str {
        &self.name
    }

    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn Answer>> {
        let mut repetition = 0;
        loop {
            let trouble = match self.begin(request).await {
                Ok(answer) => return Ok(Box::new(answer)),
                Err(trouble) => trouble,
            };
            let Trouble::Passing { after, message } = &trouble else {
                return Err(self.told(trouble));
            };
            let Some(pause) = self.patience.pause(repetition, *after, chance()) else {
                return Err(self.told(trouble));
            };
            tracing::debug!("{message}; asked again in {pause:?}");
            tokio::time::sleep(pause).await;
            repetition += 1;
        }
    }
}

impl std::fmt::Debug for RemoteChat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteChat").field("name", &self.name).field("http", &self.http).finish()
    }
}

/// How the user gets a model that the server does not have.
fn get_model(provider: &ChatProvider, settings: &ModelSettings) -> String {
    let (section, model) = (settings.section, &settings.model);
    match provider.name {
        "ollama" => format!("get it with `ollama pull {model}`, or name another in [{section}]"),
        _ => {
            format!("check model and base_url in [{section}]; `everlore onboard` lists the models")
        }
    }
}

/// Whether a server complains about the limit of the answer and not about the length of the question.
fn is_about_the_answer(message: &str) -> bool {
    let message = message.to_lowercase();
    let question = ["context", "prompt", "input", "messages"];
    message.contains("max_") && !question.iter().any(|sign| message.contains(sign))
}

/// A question that the model cannot read as a whole.
fn too_long(message: String) -> Error {
    let hint = "shorten the conversation, or choose a model that reads more".to_owned();
    Error::TooLong { message, hint }
}

/// Whether a field limits the answer: complaints about its value are not about the field.
fn is_limit(name: &str) -> bool {
    name.starts_with("max_")
}

/// Whether a complaint is that a field exists at all.
fn is_unknown(said: &str) -> bool {
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
