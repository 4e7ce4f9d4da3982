//! Messages as Anthropic has them: blocks of content, and events that open, fill and close them.

use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{
    lines::Framing,
    wire::{Fault, Progress, Question, Reader, Wire, arguments, names, number, object, text},
};
use crate::{
    config::Secret,
    llm::{
        chat::{Message, Piece, Stop},
        http::{Header, hidden},
        trouble::Trouble,
    },
};

/// The protocol's version, which its provider has not changed since it began.
const VERSION: &str = "2023-06-01";

/// The protocol asks for a limit. All models in service can write so much.
const MAX_TOKENS: u32 = 8_192;

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn base(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        base.strip_suffix("/v1").unwrap_or(base).to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: &Secret) -> Result<Vec<Header>, Trouble> {
        let version = HeaderName::from_static("anthropic-version");
        let mut headers = vec![(version, HeaderValue::from_static(VERSION))];
        if !key.reveal().is_empty() {
            headers.push((HeaderName::from_static("x-api-key"), hidden(key.reveal().trim())?));
        }
        Ok(headers)
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let request = question.request;
        let mut body = json!({
            "model": question.model,
            "max_tokens": question.max_tokens.unwrap_or(MAX_TOKENS),
            "messages": messages(&request.messages),
            "stream": true,
        });
        question.set(&mut body, "temperature", question.temperature.map(|given| json!(given)));
        let system = system(question);
        if !system.is_empty() {
            body["system"] = Value::Array(system);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
            });
            body["tools"] = tools.collect();
        }
        body
    }

    fn optional(&self) -> &'static [&'static str] {
        &["temperature"]
    }

    fn wanted(&self) -> &'static [&'static str] {
        &[]
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Events>::default()
    }

    fn models_path(&self) -> &'static str {
        "/v1/models?limit=1000"
    }

    fn models(&self, list: &Value) -> Vec<String> {
        names(&list["data"], "id")
    }
}

/// What stays the same comes first and is kept in the provider's cache, with the tools, which stand before it.
fn system(question: &Question<'_>) -> Vec<Value> {
    let (system, context) = (&question.request.system, &question.request.context);
    let kept = json!({ "type": "text", "text": system, "cache_control": { "type": "ephemeral" } });
    let kept = (!system.trim().is_empty()).then_some(kept);
    let added = (!context.trim().is_empty()).then(|| json!({ "type": "text", "text": context }));
    kept.into_iter().chain(added).collect()
}

/// The messages, of which two of one side in a row are one, as the protocol wants it.
fn messages(messages: &[Message]) -> Vec<Value> {
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = blocks(message);
        match all.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, there)) if *last == role => there.extend(blocks),
            _ => all.push((role, blocks)),
        }
    }
    all.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    let said =
        |text: &str| (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
    match message {
        Message::User { text } => ("user", said(text).into_iter().collect()),
        Message::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| {
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": object(&call.arguments) })
            });
            // Space at the end of what the model said is refused.
            ("assistant", said(text.trim_end()).into_iter().chain(calls).collect())
        }
        Message::Tool { call, text, failed, .. } => {
            let result = json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed });
            ("user", vec![result])
        }
    }
}

/// An answer in events.
#[derive(Default)]
struct Events {
    progress: Progress,
    /// The call whose block is open.
    open: Option<Open>,
}

struct Open {
    id: String,
    name: String,
    arguments: String,
}

impl Reader for Events {
    fn read(&mut self, value: &Value) -> Result<Vec<Piece>, Fault> {
        let piece = match text(&value["type"]).unwrap_or_default() {
            "error" => return Err(Fault::Told(value.clone())),
            "message_start" => {
                self.note_usage(&value["message"]["usage"]);
                None
            }
            "content_block_start" => self.start(&value["content_block"]),
            "content_block_delta" => self.fill(&value["delta"]),
            "content_block_stop" => self.stop_block(),
            "message_delta" => {
                self.note_usage(&value["usage"]);
                self.note_stop(text(&value["delta"]["stop_reason"]))?;
                None
            }
            "message_stop" => return self.end(true),
            _ => None,
        };
        Ok(piece.into_iter().collect())
    }

    fn end(&mut self, _: bool) -> Result<Vec<Piece>, Fault> {
        let stop = self.progress.stop.ok_or(Fault::Cut)?;
        Ok(vec![self.progress.end(stop)])
    }
}

impl Events {
    fn start(&mut self, block: &Value) -> Option<Piece> {
        if block["type"] == "tool_use" {
            let field = |name: &str| text(&block[name]).unwrap_or_default().to_owned();
            let whole = block["input"].as_object().filter(|input| !input.is_empty());
            let arguments = whole.map(|_| block["input"].to_string()).unwrap_or_default();
            self.open = Some(Open { id: field("id"), name: field("name"), arguments });
        }
        text(&block["text"]).map(|text| Piece::Text(text.to_owned()))
    }

    fn fill(&mut self, delta: &Value) -> Option<Piece> {
        if let (Some(open), Some(more)) = (&mut self.open, text(&delta["partial_json"])) {
            open.arguments += more;
        }
        text(&delta["text"]).map(|text| Piece::Text(text.to_owned()))
    }

    fn stop_block(&mut self) -> Option<Piece> {
        let call = self.open.take()?;
        Some(self.progress.call(&call.id, &call.name, arguments(&call.arguments)))
    }

    /// What was read is told at the beginning, what was written again and again; a count that is left out stays.
    fn note_usage(&mut self, usage: &Value) {
        let fresh = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
            .map(|name| number(&usage[name]));
        let tokens = &mut self.progress.tokens;
        if usage["input_tokens"].is_u64() {
            (tokens.read, tokens.cached) = (fresh.iter().sum(), fresh[2]);
        }
        tokens.written = tokens.written.max(number(&usage["output_tokens"]));
    }

    fn note_stop(&mut self, reason: Option<&str>) -> Result<(), Fault> {
        self.progress.stop = match reason {
            None => return Ok(()),
            Some("tool_use") => Some(Stop::Calls),
            Some("max_tokens" | "model_context_window_exceeded") => Some(Stop::Length),
            Some("refusal") => Some(Stop::Refused),
            Some(_) => Some(Stop::Done),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
