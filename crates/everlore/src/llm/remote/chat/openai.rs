//! Chat completions as OpenAI has them, and as the many servers have them that follow it more or less.

use serde_json::{Value, json};

use super::{
    lines::Framing,
    thinking::Thinking,
    wire::{Fault, Progress, Question, Reader, Wire, arguments, names, number, text},
};
use crate::{
    config::Secret,
    llm::{
        chat::{Message, Piece, Stop, ToolCall},
        http::{Header, bearer},
        trouble::Trouble,
    },
};

/// Where some servers tell what a model thought; a few want it back with every message.
const THOUGHTS: &str = "reasoning_content";

pub(super) struct Openai;

impl Wire for Openai {
    fn base(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        base.strip_suffix("/chat/completions").unwrap_or(base).to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: &Secret) -> Result<Vec<Header>, Trouble> {
        let key = (!key.reveal().is_empty()).then(|| bearer(key)).transpose()?;
        Ok(key.into_iter().collect())
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let request = question.request;
        let mut body =
            json!({ "model": question.model, "messages": messages(question), "stream": true });
        question.set(&mut body, "stream_options", Some(json!({ "include_usage": true })));
        question.set(&mut body, "temperature", question.temperature.map(|given| json!(given)));
        // The older name is the one that all servers knew first; OpenAI's newer models know the other one only.
        let limit = if question.learned.contains("max_tokens") {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        question.set(&mut body, limit, question.max_tokens.map(|most| json!(most)));
        let format = request.json.then(|| json!({ "type": "json_object" }));
        question.set(&mut body, "response_format", format);
        if !request.tools.is_empty() {
            body["tools"] = request
                .tools
                .iter()
                .map(|tool| {
                    let (name, about) = (&tool.name, &tool.description);
                    json!({ "type": "function", "function": { "name": name, "description": about, "parameters": tool.schema } })
                })
                .collect();
        }
        body
    }

    fn optional(&self) -> &'static [&'static str] {
        &["stream_options", "max_completion_tokens", "max_tokens", "temperature", "response_format"]
    }

    fn wanted(&self) -> &'static [&'static str] {
        &[THOUGHTS]
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Chunks>::default()
    }

    fn models_path(&self) -> &'static str {
        "/models"
    }

    fn models(&self, list: &Value) -> Vec<String> {
        names(&list["data"], "id")
    }
}

fn messages(question: &Question<'_>) -> Vec<Value> {
    let system = question.system();
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    let said = question.request.messages.iter().map(|said| {
        let mut sent = message(said);
        if sent["role"] == "assistant" && question.learned.contains(THOUGHTS) {
            with_thoughts(&mut sent);
        }
        sent
    });
    system.into_iter().chain(said).collect()
}

/// Thoughts are not kept, so it is said that there were some. A server that wants them wants a text too.
fn with_thoughts(message: &mut Value) {
    message[THOUGHTS] = json!("(left out)");
    if message["content"].is_null() {
        message["content"] = json!("");
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            json!({ "role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>() })
        }
        Message::Tool { call, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call, "content": text })
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        Value::String(written) => written.clone(),
        object => object.to_string(),
    };
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

/// An answer in chunks.
#[derive(Default)]
struct Chunks {
    progress: Progress,
    thinking: Thinking,
    calls: Vec<Growing>,
}

/// A call that comes in pieces.
struct Growing {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Reader for Chunks {
    fn read(&mut self, value: &Value) -> Result<Vec<Piece>, Fault> {
        if !value["error"].is_null() || value["object"] == "error" {
            return Err(Fault::Told(value.clone()));
        }
        self.note_usage(&value["usage"]);
        let choice = &value["choices"][0];
        // A server that does not stream says everything at once, in a message.
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let mut pieces: Vec<Piece> = self.texts(said).into_iter().map(Piece::Text).collect();
        for part in said["tool_calls"].as_array().into_iter().flatten() {
            self.grow(part);
        }
        self.note_stop(text(&choice["finish_reason"]))?;
        if text(&said["refusal"]).is_some() {
            self.progress.stop = Some(Stop::Refused);
        }
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(pieces)
    }

    fn end(&mut self, said: bool) -> Result<Vec<Piece>, Fault> {
        let stop = match self.progress.stop {
            Some(stop) => stop,
            None if said => Stop::Done,
            None => return Err(Fault::Cut),
        };
        let mut pieces: Vec<Piece> = self.thinking.rest().map(Piece::Text).into_iter().collect();
        for call in std::mem::take(&mut self.calls) {
            pieces.push(self.progress.call(&call.id, &call.name, arguments(&call.arguments)));
        }
        pieces.push(self.progress.end(stop));
        Ok(pieces)
    }
}

impl Chunks {
    /// What is said in words: as a text, or in parts that say of what kind they are. Thoughts are left out.
    fn texts(&mut self, said: &Value) -> Vec<String> {
        let parts = match &said["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| text(&part["text"])).collect(),
            content => text(content).into_iter().collect::<Vec<_>>(),
        };
        parts
            .into_iter()
            .chain(text(&said["refusal"]))
            .map(|part| self.thinking.without(part))
            .collect()
    }

    /// Adds a piece of a call to the call it belongs to: by number, by id, or to the last one.
    fn grow(&mut self, part: &Value) {
        let (index, id) = (part["index"].as_u64(), text(&part["id"]).unwrap_or_default());
        let function = &part["function"];
        let name = text(&function["name"]).unwrap_or_default();
        let known = match index {
            // Some servers count every call as the first.
            Some(_) => self.calls.iter_mut().rev().find(|call| {
                call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id)
            }),
            None if !id.is_empty() => self.calls.iter_mut().find(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.calls.last_mut(),
        };
        let call = match known {
            Some(call) => call,
            None => {
                let (id, name) = (String::new(), String::new());
                self.calls.push(Growing { index, id, name, arguments: String::new() });
                let last = self.calls.len() - 1;
                &mut self.calls[last]
            }
        };
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        // The name comes whole, and some servers repeat it with every piece.
        if call.name.is_empty() {
            call.name = name.to_owned();
        }
        match &function["arguments"] {
            Value::String(piece) => call.arguments += piece,
            Value::Null => {}
            whole => call.arguments = whole.to_string(),
        }
    }

    fn note_usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let tokens = &mut self.progress.tokens;
        tokens.read = number(&usage["prompt_tokens"]);
        tokens.written = number(&usage["completion_tokens"]);
        tokens.cached = number(&usage["prompt_tokens_details"]["cached_tokens"])
            .max(number(&usage["prompt_cache_hit_tokens"]));
    }

    fn note_stop(&mut self, reason: Option<&str>) -> Result<(), Fault> {
        self.progress.stop = match reason {
            None => return Ok(()),
            // A refusal in words ends like any answer.
            Some(_) if self.progress.stop == Some(Stop::Refused) => return Ok(()),
            Some("length" | "max_tokens") => Some(Stop::Length),
            Some("tool_calls" | "function_call") => Some(Stop::Calls),
            Some("content_filter") => Some(Stop::Refused),
            Some("insufficient_system_resource" | "error" | "abort") => return Err(Fault::Cut),
            Some(_) => Some(Stop::Done),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
