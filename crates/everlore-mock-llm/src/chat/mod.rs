//! A language model by a script, on five wires: OpenAI's two, Anthropic's, Ollama's and Gemini's.
//!
//! It is as strict as the real ones: a wrong path, a missing key, an unknown model, messages out of order or a field
//! that does not exist are answered with the status and the words that they use.

mod model_request;
mod model_response;
mod openai;
mod responses;
mod anthropic;
mod ollama;
mod gemini;
mod persona;

use std::collections::VecDeque;

use serde_json::Value;

pub use model_request::ModelRequest;
pub use model_response::ModelResponse;
pub use persona::persona;

use crate::{HttpRequest, HttpResponse, Responder};

/// A provider that has one language model, and lists it among others.
pub struct MockChat {
    model: String,
    key: Option<String>,
    max_chars: usize,
    rejected_fields: Vec<String>,
    requires_reasoning: bool,
    rules: Vec<(MatchTarget, String, ModelResponse)>,
    queue: VecDeque<ModelResponse>,
    fallback: Option<FallbackFn>,
}

type FallbackFn = Box<dyn FnMut(&ModelRequest) -> ModelResponse + Send>;

/// In whose last words something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchTarget {
    User,
    Tool,
}

/// A protocol, from the server's side.
trait ProviderApi {
    /// What is asked, or a reply that says what is wrong with it.
    fn parse_request(
        &self,
        chats: &MockChat,
        request: &HttpRequest,
        body: &Value,
    ) -> Result<ModelRequest, HttpResponse>;

    /// The answer as it goes over the wire.
    fn render_response(&self, chats: &MockChat, body: &Value, said: &ModelResponse)
    -> HttpResponse;

    /// An error in the words of the protocol.
    fn error_response(&self, status: u16, message: &str) -> HttpResponse;

    /// The list of models.
    fn model_list(&self, chats: &MockChat) -> HttpResponse;

    /// Whether the request has the right key.
    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool;
}

impl Default for MockChat {
    fn default() -> Self {
        Self {
            model: "scripted-chat".to_owned(),
            key: None,
            max_chars: usize::MAX,
            rejected_fields: Vec::new(),
            requires_reasoning: false,
            rules: Vec::new(),
            queue: VecDeque::new(),
            fallback: None,
        }
    }
}

impl MockChat {
    /// A model with nothing to say yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Wants this key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// Is called so.
    #[must_use]
    pub fn with_model(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    /// Reads no more characters than this at once.
    #[must_use]
    pub fn with_max_chars(self, chars: usize) -> Self {
        Self { max_chars: chars, ..self }
    }

    /// Does not know this field of a request, as older servers do not.
    #[must_use]
    pub fn rejecting_field(mut self, field: &str) -> Self {
        self.rejected_fields.push(field.to_owned());
        self
    }

    /// Wants its thoughts back with each of its messages, as DeepSeek does on OpenAI's wire.
    #[must_use]
    pub fn requiring_reasoning(self) -> Self {
        Self { requires_reasoning: true, ..self }
    }

    /// Answers the next request with a text.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.then(ModelResponse::text(text))
    }

    /// Answers the next request by calling a tool.
    #[must_use]
    pub fn calls(self, tool: &str, arguments: Value) -> Self {
        self.then(ModelResponse::call(tool, arguments))
    }

    /// Answers the next request with a status.
    #[must_use]
    pub fn fails(self, status: u16) -> Self {
        self.then(ModelResponse::fail(status))
    }

    /// Answers the next request so.
    #[must_use]
    pub fn then(mut self, said: ModelResponse) -> Self {
        self.queue.push_back(said);
        self
    }

    /// Answers so whenever the user's message comes last and holds these words.
    #[must_use]
    pub fn when(mut self, words: &str, said: ModelResponse) -> Self {
        self.rules.push((MatchTarget::User, words.to_owned(), said));
        self
    }

    /// Answers so whenever the result of a tool comes last and holds these words.
    #[must_use]
    pub fn when_tool_result(mut self, words: &str, said: ModelResponse) -> Self {
        self.rules.push((MatchTarget::Tool, words.to_owned(), said));
        self
    }

    /// Answers so whenever nothing else was scripted.
    #[must_use]
    pub fn otherwise(
        self,
        answer: impl FnMut(&ModelRequest) -> ModelResponse + Send + 'static,
    ) -> Self {
        Self { fallback: Some(Box::new(answer)), ..self }
    }

    /// The names of its models, as a provider lists them.
    pub fn models(&self) -> [String; 2] {
        [self.model.clone(), "scripted-other".to_owned()]
    }

    fn choose_response(&mut self, asked: &ModelRequest) -> ModelResponse {
        let by_words = self.rules.iter().find(|(whose, words, _)| {
            let last = match whose {
                MatchTarget::User => asked.last_user_message(),
                MatchTarget::Tool => asked.last_tool_result(),
            };
            last.is_some_and(|last| last.contains(words.as_str()))
        });
        if let Some((_, _, said)) = by_words {
            return said.clone();
        }
        match (self.queue.pop_front(), &mut self.fallback) {
            (Some(said), _) => said,
            (None, Some(otherwise)) => otherwise(asked),
            (None, None) => ModelResponse::fail_with(400, "the script has no more to say"),
        }
    }

    /// What every server looks at before it reads the body.
    fn check_key(&self, wire: &dyn ProviderApi, request: &HttpRequest) -> Result<(), HttpResponse> {
        let admitted = self.key.as_ref().is_none_or(|key| wire.has_valid_key(request, key));
        if admitted { Ok(()) } else { Err(wire.error_response(401, "invalid key")) }
    }

    fn respond_via(
        &mut self,
        wire: &dyn ProviderApi,
        request: &HttpRequest,
    ) -> Result<HttpResponse, HttpResponse> {
        self.check_key(wire, request)?;
        let body = request.json();
        if let Some(field) =
            self.rejected_fields.iter().find(|field| body.get(field.as_str()).is_some())
        {
            return Err(
                wire.error_response(400, &format!("Unrecognized request argument: {field}"))
            );
        }
        let asked = wire.parse_request(self, request, &body)?;
        if asked.chars() > self.max_chars {
            let most = self.max_chars;
            let message =
                format!("This model's maximum context length is {most}: prompt is too long");
            return Err(wire.error_response(400, &message));
        }
        let said = self.choose_response(&asked);
        if let Some(failure) = &said.failure {
            let reply = wire.error_response(failure.status, &failure.message);
            let headers = failure.headers.iter();
            return Err(headers.fold(reply, |reply, (name, value)| reply.with_header(name, value)));
        }
        Ok(wire.render_response(self, &body, &said))
    }
}

impl Responder for MockChat {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        let path = request.path.split('?').next().unwrap_or_default();
        let wire: &dyn ProviderApi = match (request.method.as_str(), path) {
            ("POST", "/v1/chat/completions") => &openai::OpenaiChatApi,
            ("POST", "/v1/responses") => &responses::OpenaiResponsesApi,
            ("POST", "/v1/messages") => &anthropic::AnthropicApi,
            ("POST", "/v1/messages/count_tokens") => return self.count_tokens(request),
            ("POST", "/api/chat") => &ollama::OllamaApi,
            ("POST", path) if path.ends_with(":streamGenerateContent") => &gemini::GeminiApi,
            ("GET", _) => return self.list_models(request, path),
            _ => return HttpResponse::error(404, "Not Found"),
        };
        self.respond_via(wire, request).unwrap_or_else(|failed| failed)
    }
}

impl MockChat {
    /// A token for every character of the messages, as they stand in the body.
    fn count_tokens(&self, request: &HttpRequest) -> HttpResponse {
        let wire = &anthropic::AnthropicApi;
        let body = request.json();
        let messages = &body["messages"];
        let tokens = messages.to_string().chars().count();
        match self.check_key(wire, request) {
            Err(refused) => refused,
            Ok(()) if body["model"] != self.model.as_str() => {
                wire.error_response(404, &format!("model: {}", body["model"]))
            }
            Ok(()) if messages.as_array().is_none_or(Vec::is_empty) => {
                wire.error_response(400, "messages: at least one message is required")
            }
            Ok(()) => HttpResponse::json(200, &serde_json::json!({ "input_tokens": tokens })),
        }
    }

    fn list_models(&self, request: &HttpRequest, path: &str) -> HttpResponse {
        // Two providers list at one address; one of them wants its version named.
        let is_anthropic = request.header("anthropic-version").is_some();
        let wire: &dyn ProviderApi = match path {
            path if path.starts_with("/v1/models") && is_anthropic => &anthropic::AnthropicApi,
            path if path.starts_with("/v1/models") => &openai::OpenaiChatApi,
            "/api/tags" => &ollama::OllamaApi,
            "/v1beta/models" => &gemini::GeminiApi,
            _ => return HttpResponse::error(404, "Not Found"),
        };
        match (self.check_key(wire, request), path.strip_prefix("/v1/models/")) {
            (Err(refused), _) => refused,
            (Ok(()), None) => wire.model_list(self),
            (Ok(()), Some(model)) => wire.error_response(404, &format!("model: {model}")),
        }
    }
}
