//! A language model by a script, on five wires: OpenAI's two, Anthropic's, Ollama's and Gemini's.
//!
//! It is as strict as the real ones: a wrong path, a missing key, an unknown model, messages out of order or a field
//! that does not exist are answered with the status and the words that they use.

mod asked;
mod said;
mod openai;
mod responses;
mod anthropic;
mod ollama;
mod gemini;
mod persona;

use std::collections::VecDeque;

use serde_json::Value;

pub use asked::Asked;
pub use persona::persona;
pub use said::Said;

use crate::{Reply, Request, Script};

/// A provider that has one language model, and lists it among others.
pub struct Chats {
    model: String,
    key: Option<String>,
    max_chars: usize,
    unknown: Vec<String>,
    wants_thoughts: bool,
    by_words: Vec<(Whose, String, Said)>,
    queue: VecDeque<Said>,
    otherwise: Option<Otherwise>,
}

type Otherwise = Box<dyn FnMut(&Asked) -> Said + Send>;

/// In whose last words something is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    User,
    Tool,
}

/// A protocol, from the server's side.
trait Wire {
    /// What is asked, or a reply that says what is wrong with it.
    fn read(&self, chats: &Chats, request: &Request, body: &Value) -> Result<Asked, Reply>;

    /// The answer as it goes over the wire.
    fn write(&self, chats: &Chats, body: &Value, said: &Said) -> Reply;

    /// An error in the words of the protocol.
    fn error(&self, status: u16, message: &str) -> Reply;

    /// The list of models.
    fn list(&self, chats: &Chats) -> Reply;

    /// Whether the request has the right key.
    fn admits(&self, request: &Request, key: &str) -> bool;
}

impl Default for Chats {
    fn default() -> Self {
        Self {
            model: "scripted-chat".to_owned(),
            key: None,
            max_chars: usize::MAX,
            unknown: Vec::new(),
            wants_thoughts: false,
            by_words: Vec::new(),
            queue: VecDeque::new(),
            otherwise: None,
        }
    }
}

impl Chats {
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
    pub fn called(self, model: &str) -> Self {
        Self { model: model.to_owned(), ..self }
    }

    /// Reads no more characters than this at once.
    #[must_use]
    pub fn reading_at_most(self, chars: usize) -> Self {
        Self { max_chars: chars, ..self }
    }

    /// Does not know this field of a request, as older servers do not.
    #[must_use]
    pub fn not_knowing(mut self, field: &str) -> Self {
        self.unknown.push(field.to_owned());
        self
    }

    /// Wants its thoughts back with each of its messages, as DeepSeek does on OpenAI's wire.
    #[must_use]
    pub fn wanting_thoughts(self) -> Self {
        Self { wants_thoughts: true, ..self }
    }

    /// Answers the next request with a text.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.then(Said::text(text))
    }

    /// Answers the next request by calling a tool.
    #[must_use]
    pub fn calls(self, tool: &str, arguments: Value) -> Self {
        self.then(Said::call(tool, arguments))
    }

    /// Answers the next request with a status.
    #[must_use]
    pub fn fails(self, status: u16) -> Self {
        self.then(Said::fail(status))
    }

    /// Answers the next request so.
    #[must_use]
    pub fn then(mut self, said: Said) -> Self {
        self.queue.push_back(said);
        self
    }

    /// Answers so whenever the user's message comes last and holds these words.
    #[must_use]
    pub fn when(mut self, words: &str, said: Said) -> Self {
        self.by_words.push((Whose::User, words.to_owned(), said));
        self
    }

    /// Answers so whenever the result of a tool comes last and holds these words.
    #[must_use]
    pub fn when_told(mut self, words: &str, said: Said) -> Self {
        self.by_words.push((Whose::Tool, words.to_owned(), said));
        self
    }

    /// Answers so whenever nothing else was scripted.
    #[must_use]
    pub fn otherwise(self, answer: impl FnMut(&Asked) -> Said + Send + 'static) -> Self {
        Self { otherwise: Some(Box::new(answer)), ..self }
    }

    /// The names of its models, as a provider lists them.
    pub fn models(&self) -> [String; 2] {
        [self.model.clone(), "scripted-other".to_owned()]
    }

    fn choose(&mut self, asked: &Asked) -> Said {
        let by_words = self.by_words.iter().find(|(whose, words, _)| {
            let last = match whose {
                Whose::User => asked.question(),
                Whose::Tool => asked.result(),
            };
            last.is_some_and(|last| last.contains(words.as_str()))
        });
        if let Some((_, _, said)) = by_words {
            return said.clone();
        }
        match (self.queue.pop_front(), &mut self.otherwise) {
            (Some(said), _) => said,
            (None, Some(otherwise)) => otherwise(asked),
            (None, None) => Said::fail_with(400, "the script has no more to say"),
        }
    }

    /// What every server looks at before it reads the body.
    fn admit(&self, wire: &dyn Wire, request: &Request) -> Result<(), Reply> {
        let admitted = self.key.as_ref().is_none_or(|key| wire.admits(request, key));
        if admitted { Ok(()) } else { Err(wire.error(401, "invalid key")) }
    }

    fn answer_on(&mut self, wire: &dyn Wire, request: &Request) -> Result<Reply, Reply> {
        self.admit(wire, request)?;
        let body = request.json();
        if let Some(field) = self.unknown.iter().find(|field| body.get(field.as_str()).is_some()) {
            return Err(wire.error(400, &format!("Unrecognized request argument: {field}")));
        }
        let asked = wire.read(self, request, &body)?;
        if asked.chars() > self.max_chars {
            let most = self.max_chars;
            let message =
                format!("This model's maximum context length is {most}: prompt is too long");
            return Err(wire.error(400, &message));
        }
        let said = self.choose(&asked);
        if let Some(failure) = &said.failure {
            let reply = wire.error(failure.status, &failure.message);
            let headers = failure.headers.iter();
            return Err(headers.fold(reply, |reply, (name, value)| reply.with_header(name, value)));
        }
        Ok(wire.write(self, &body, &said))
    }
}

impl Script for Chats {
    fn answer(&mut self, request: &Request) -> Reply {
        let path = request.path.split('?').next().unwrap_or_default();
        let wire: &dyn Wire = match (request.method.as_str(), path) {
            ("POST", "/v1/chat/completions") => &openai::Openai,
            ("POST", "/v1/responses") => &responses::Responses,
            ("POST", "/v1/messages") => &anthropic::Anthropic,
            ("POST", "/v1/messages/count_tokens") => return self.count(request),
            ("POST", "/api/chat") => &ollama::Ollama,
            ("POST", path) if path.ends_with(":streamGenerateContent") => &gemini::Gemini,
            ("GET", _) => return self.list(request, path),
            _ => return Reply::error(404, "Not Found"),
        };
        self.answer_on(wire, request).unwrap_or_else(|failed| failed)
    }
}

impl Chats {
    /// A token for every character of the messages, as they stand in the body.
    fn count(&self, request: &Request) -> Reply {
        let wire = &anthropic::Anthropic;
        let body = request.json();
        let messages = &body["messages"];
        let tokens = messages.to_string().chars().count();
        match self.admit(wire, request) {
            Err(refused) => refused,
            Ok(()) if body["model"] != self.model.as_str() => {
                wire.error(404, &format!("model: {}", body["model"]))
            }
            Ok(()) if messages.as_array().is_none_or(Vec::is_empty) => {
                wire.error(400, "messages: at least one message is required")
            }
            Ok(()) => Reply::json(200, &serde_json::json!({ "input_tokens": tokens })),
        }
    }

    fn list(&self, request: &Request, path: &str) -> Reply {
        // Two providers list at one address; one of them wants its version named.
        let is_anthropic = request.header("anthropic-version").is_some();
        let wire: &dyn Wire = match path {
            path if path.starts_with("/v1/models") && is_anthropic => &anthropic::Anthropic,
            path if path.starts_with("/v1/models") => &openai::Openai,
            "/api/tags" => &ollama::Ollama,
            "/v1beta/models" => &gemini::Gemini,
            _ => return Reply::error(404, "Not Found"),
        };
        match (self.admit(wire, request), path.strip_prefix("/v1/models/")) {
            (Err(refused), _) => refused,
            (Ok(()), None) => wire.list(self),
            (Ok(()), Some(model)) => wire.error(404, &format!("model: {model}")),
        }
    }
}
