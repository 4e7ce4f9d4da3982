//! Scripted language model on five APIs: OpenAI's two, Anthropic's, Ollama's and Gemini's.
//!
//! It is as strict as the real providers: a wrong path, a missing key, an unknown model, messages out of order or an
//! unknown field get the status and the message that they use.

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

/// Provider with one language model, listed among others.
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

/// Role of the last message that a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchTarget {
    User,
    Tool,
}

/// Request to an API of the mock, with its body.
#[derive(Clone, Copy)]
struct ApiCall<'a> {
    mock: &'a MockChat,
    request: &'a HttpRequest,
    body: &'a Value,
}

/// Status and message of a refused request.
type ApiError = (u16, String);

/// Server side of a provider's API.
trait ProviderApi {
    /// Parses a request, or returns what is wrong with it.
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError>;

    /// Renders a model response for the API.
    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse;

    /// Renders an error in the format of the API.
    fn error_response(&self, status: u16, message: &str) -> HttpResponse;

    /// Renders the list of models.
    fn model_list(&self, mock: &MockChat) -> HttpResponse;

    /// Returns `true` if the request has the right key.
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
    /// Creates a model without a script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires this API key.
    #[must_use]
    pub fn with_key(self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self }
    }

    /// Sets the name of the model.
    #[must_use]
    pub fn with_model(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    /// Limits the context to this many characters.
    #[must_use]
    pub fn with_max_chars(self, chars: usize) -> Self {
        Self { max_chars: chars, ..self }
    }

    /// Rejects this field of a request, as older servers do.
    #[must_use]
    pub fn rejecting_field(mut self, field: &str) -> Self {
        self.rejected_fields.push(field.to_owned());
        self
    }

    /// Requires the reasoning of each assistant message back, as DeepSeek does on OpenAI's API.
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

    /// Answers the next request with this response.
    #[must_use]
    pub fn then(mut self, response: ModelResponse) -> Self {
        self.queue.push_back(response);
        self
    }

    /// Answers with this response whenever the last message is the user's and contains these words.
    #[must_use]
    pub fn when(mut self, words: &str, response: ModelResponse) -> Self {
        self.rules.push((MatchTarget::User, words.to_owned(), response));
        self
    }

    /// Answers with this response whenever the last message is a tool result and contains these words.
    #[must_use]
    pub fn when_tool_result(mut self, words: &str, response: ModelResponse) -> Self {
        self.rules.push((MatchTarget::Tool, words.to_owned(), response));
        self
    }

    /// Computes the response whenever nothing else is scripted.
    #[must_use]
    pub fn otherwise(
        self,
        answer: impl FnMut(&ModelRequest) -> ModelResponse + Send + 'static,
    ) -> Self {
        Self { fallback: Some(Box::new(answer)), ..self }
    }

    /// Returns the names of the models that the provider lists.
    pub fn models(&self) -> [String; 2] {
        [self.model.clone(), "scripted-other".to_owned()]
    }

    fn choose_response(&mut self, request: &ModelRequest) -> ModelResponse {
        let by_words = self.rules.iter().find(|(target, words, _)| {
            let last = match target {
                MatchTarget::User => request.last_user_message(),
                MatchTarget::Tool => request.last_tool_result(),
            };
            last.is_some_and(|last| last.contains(words.as_str()))
        });
        if let Some((_, _, response)) = by_words {
            return response.clone();
        }
        match (self.queue.pop_front(), &mut self.fallback) {
            (Some(response), _) => response,
            (None, Some(fallback)) => fallback(request),
            (None, None) => ModelResponse::fail_with(400, "the script has no more to say"),
        }
    }

    /// Checks the API key, as every server does before it reads the body.
    fn check_key(&self, api: &dyn ProviderApi, request: &HttpRequest) -> Result<(), HttpResponse> {
        let admitted = self.key.as_ref().is_none_or(|key| api.has_valid_key(request, key));
        if admitted { Ok(()) } else { Err(api.error_response(401, "invalid key")) }
    }

    fn respond_via(
        &mut self,
        api: &dyn ProviderApi,
        request: &HttpRequest,
    ) -> Result<HttpResponse, HttpResponse> {
        self.check_key(api, request)?;
        let body = request.json();
        let refused = |(status, message): ApiError| api.error_response(status, &message);
        let model_request = self.parse_via(api, request, &body).map_err(refused)?;
        let response = self.choose_response(&model_request);
        if let Some(failure) = &response.failure {
            let reply = api.error_response(failure.status, &failure.message);
            let headers = failure.headers.iter();
            return Err(headers.fold(reply, |reply, (name, value)| reply.with_header(name, value)));
        }
        Ok(api.render_response(ApiCall { mock: self, request, body: &body }, &response))
    }

    fn parse_via(
        &self,
        api: &dyn ProviderApi,
        request: &HttpRequest,
        body: &Value,
    ) -> Result<ModelRequest, ApiError> {
        let mut rejected = self.rejected_fields.iter();
        if let Some(field) = rejected.find(|field| body.get(field.as_str()).is_some()) {
            return Err((400, format!("Unrecognized request argument: {field}")));
        }
        let model_request = api.parse_request(ApiCall { mock: self, request, body })?;
        if model_request.chars() > self.max_chars {
            let limit = self.max_chars;
            let message =
                format!("This model's maximum context length is {limit}: prompt is too long");
            return Err((400, message));
        }
        Ok(model_request)
    }
}

impl Responder for MockChat {
    fn respond(&mut self, request: &HttpRequest) -> HttpResponse {
        let path = request.path.split('?').next().unwrap_or_default();
        let api: &dyn ProviderApi = match (request.method.as_str(), path) {
            ("POST", "/v1/chat/completions") => &openai::OpenaiChatApi,
            ("POST", "/v1/responses") => &responses::OpenaiResponsesApi,
            ("POST", "/v1/messages") => &anthropic::AnthropicApi,
            ("POST", "/v1/messages/count_tokens") => return self.count_tokens(request),
            ("POST", "/api/chat") => &ollama::OllamaApi,
            ("POST", path) if path.ends_with(":streamGenerateContent") => &gemini::GeminiApi,
            ("GET", _) => return self.list_models(request, path),
            _ => return HttpResponse::error(404, "Not Found"),
        };
        self.respond_via(api, request).unwrap_or_else(|error| error)
    }
}

impl MockChat {
    /// Counts a token for every character of the messages in the body.
    fn count_tokens(&self, request: &HttpRequest) -> HttpResponse {
        let api = &anthropic::AnthropicApi;
        let body = request.json();
        let messages = &body["messages"];
        let tokens = messages.to_string().chars().count();
        match self.check_key(api, request) {
            Err(response) => response,
            Ok(()) if body["model"] != self.model.as_str() => {
                api.error_response(404, &format!("model: {}", body["model"]))
            }
            Ok(()) if messages.as_array().is_none_or(Vec::is_empty) => {
                api.error_response(400, "messages: at least one message is required")
            }
            Ok(()) => HttpResponse::json(200, &serde_json::json!({ "input_tokens": tokens })),
        }
    }

    fn list_models(&self, request: &HttpRequest, path: &str) -> HttpResponse {
        // Two providers list models at one path; only Anthropic's clients send its version.
        let is_anthropic = request.header("anthropic-version").is_some();
        let api: &dyn ProviderApi = match path {
            path if path.starts_with("/v1/models") && is_anthropic => &anthropic::AnthropicApi,
            path if path.starts_with("/v1/models") => &openai::OpenaiChatApi,
            "/api/tags" => &ollama::OllamaApi,
            "/v1beta/models" => &gemini::GeminiApi,
            _ => return HttpResponse::error(404, "Not Found"),
        };
        match (self.check_key(api, request), path.strip_prefix("/v1/models/")) {
            (Err(response), _) => response,
            (Ok(()), None) => api.model_list(self),
            (Ok(()), Some(model)) => api.error_response(404, &format!("model: {model}")),
        }
    }
}
