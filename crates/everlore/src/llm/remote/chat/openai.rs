//! Chat completions as OpenAI has them, and as the many servers have them that follow it more or less.

use serde_json::{Value, json};

use super::{
    adapter::{
        ChatAdapter, ChunkDecoder, RequestParams, StreamError, StreamProgress, collect_names,
        count_or_zero, non_empty_str, parse_arguments,
    },
    framing::Framing,
    thinking::ThinkingFilter,
};
use crate::{
    config::SecretString,
    llm::{
        chat::{ChatChunk, ChatMessage, StopReason, ToolCall},
        http_client::{HeaderPair, bearer_header},
        remote_error::RemoteError,
    },
};

/// Where some servers tell what a model thought; a few want it back with every message.
const REASONING_FIELD: &str = "reasoning_content";

pub(super) struct OpenaiAdapter;

impl ChatAdapter for OpenaiAdapter {
    fn base_url(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        base.strip_suffix("/chat/completions").unwrap_or(base).to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError> {
        let key = (!key.reveal().is_empty()).then(|| bearer_header(key)).transpose()?;
        Ok(key.into_iter().collect())
    }

    fn request_body(&self, question: &RequestParams<'_>) -> Value {
        let request = question.request;
        let mut body =
            json!({ "model": question.model, "messages": messages_json(question), "stream": true });
        question.set_field(&mut body, "stream_options", Some(json!({ "include_usage": true })));
        question.set_field(
            &mut body,
            "temperature",
            question.temperature.map(|given| json!(given)),
        );
        // The older name is the one that all servers knew first; OpenAI's newer models know the other one only.
        let limit = if question.field_quirks.contains("max_tokens") {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        question.set_field(&mut body, limit, question.max_tokens.map(|most| json!(most)));
        let format = request.json.then(|| json!({ "type": "json_object" }));
        question.set_field(&mut body, "response_format", format);
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

    fn optional_fields(&self) -> &'static [&'static str] {
        &["stream_options", "max_completion_tokens", "max_tokens", "temperature", "response_format"]
    }

    fn nonstandard_fields(&self) -> &'static [&'static str] {
        &[REASONING_FIELD]
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn decoder(&self) -> Box<dyn ChunkDecoder> {
        Box::<OpenaiDecoder>::default()
    }

    fn models_path(&self) -> &'static str {
        "/models"
    }

    fn parse_model_names(&self, list: &Value) -> Vec<String> {
        collect_names(&list["data"], "id")
    }
}

fn messages_json(question: &RequestParams<'_>) -> Vec<Value> {
    let system = question.system_prompt();
    let system = (!system.is_empty()).then(|| json!({ "role": "system", "content": system }));
    let said = question.request.messages.iter().map(|said| {
        let mut sent = message_json(said);
        if sent["role"] == "assistant" && question.field_quirks.contains(REASONING_FIELD) {
            add_reasoning_placeholder(&mut sent);
        }
        sent
    });
    system.into_iter().chain(said).collect()
}

/// Thoughts are not kept, so it is said that there were some. A server that wants them wants a text too.
fn add_reasoning_placeholder(message: &mut Value) {
    message[REASONING_FIELD] = json!("(left out)");
    if message["content"].is_null() {
        message["content"] = json!("");
    }
}

fn message_json(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User { text } => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        ChatMessage::Assistant { text, calls } => {
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            json!({ "role": "assistant", "content": content, "tool_calls": calls.iter().map(tool_call_json).collect::<Vec<_>>() })
        }
        ChatMessage::Tool { call, text, .. } => {
            json!({ "role": "tool", "tool_call_id": call, "content": text })
        }
    }
}

fn tool_call_json(call: &ToolCall) -> Value {
    let arguments = match &call.arguments {
        Value::String(written) => written.clone(),
        object => object.to_string(),
    };
    json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
}

/// An answer in chunks.
#[derive(Default)]
struct OpenaiDecoder {
    progress: StreamProgress,
    thinking: ThinkingFilter,
    calls: Vec<PartialToolCall>,
}

/// A call that comes in pieces.
struct PartialToolCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl ChunkDecoder for OpenaiDecoder {
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError> {
        if !value["error"].is_null() || value["object"] == "error" {
            return Err(StreamError::Provider(value.clone()));
        }
        self.record_usage(&value["usage"]);
        let choice = &value["choices"][0];
        // A server that does not stream says everything at once, in a message.
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let mut pieces: Vec<ChatChunk> =
            self.text_parts(said).into_iter().map(ChatChunk::Text).collect();
        for part in said["tool_calls"].as_array().into_iter().flatten() {
            self.merge_call_delta(part);
        }
        self.record_stop_reason(non_empty_str(&choice["finish_reason"]))?;
        if non_empty_str(&said["refusal"]).is_some() {
            self.progress.stop = Some(StopReason::Refused);
        }
        pieces.retain(|piece| *piece != ChatChunk::Text(String::new()));
        Ok(pieces)
    }

    fn finish(&mut self, said: bool) -> Result<Vec<ChatChunk>, StreamError> {
        let stop = match self.progress.stop {
            Some(stop) => stop,
            None if said => StopReason::Done,
            None => return Err(StreamError::Truncated),
        };
        let mut pieces: Vec<ChatChunk> =
            self.thinking.flush().map(ChatChunk::Text).into_iter().collect();
        for call in std::mem::take(&mut self.calls) {
            pieces.push(self.progress.tool_call(
                &call.id,
                &call.name,
                parse_arguments(&call.arguments),
            ));
        }
        pieces.push(self.progress.end_chunk(stop));
        Ok(pieces)
    }
}

impl OpenaiDecoder {
    /// What is said in words: as a text, or in parts that say of what kind they are. Thoughts are left out.
    fn text_parts(&mut self, said: &Value) -> Vec<String> {
        let parts = match &said["content"] {
            Value::Array(parts) => {
                parts.iter().filter_map(|part| non_empty_str(&part["text"])).collect()
            }
            content => non_empty_str(content).into_iter().collect::<Vec<_>>(),
        };
        parts
            .into_iter()
            .chain(non_empty_str(&said["refusal"]))
            .map(|part| self.thinking.filter(part))
            .collect()
    }

    /// Adds a piece of a call to the call it belongs to: by number, by id, or to the last one.
    fn merge_call_delta(&mut self, part: &Value) {
        let (index, id) = (part["index"].as_u64(), non_empty_str(&part["id"]).unwrap_or_default());
        let function = &part["function"];
        let name = non_empty_str(&function["name"]).unwrap_or_default();
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
                self.calls.push(PartialToolCall { index, id, name, arguments: String::new() });
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

    fn record_usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let tokens = &mut self.progress.tokens;
        tokens.read = count_or_zero(&usage["prompt_tokens"]);
        tokens.written = count_or_zero(&usage["completion_tokens"]);
        tokens.cached = count_or_zero(&usage["prompt_tokens_details"]["cached_tokens"])
            .max(count_or_zero(&usage["prompt_cache_hit_tokens"]));
    }

    fn record_stop_reason(&mut self, reason: Option<&str>) -> Result<(), StreamError> {
        self.progress.stop = match reason {
            None => return Ok(()),
            // A refusal in words ends like any answer.
            Some(_) if self.progress.stop == Some(StopReason::Refused) => return Ok(()),
            Some("length" | "max_tokens") => Some(StopReason::Length),
            Some("tool_calls" | "function_call") => Some(StopReason::ToolCalls),
            Some("content_filter") => Some(StopReason::Refused),
            Some("insufficient_system_resource" | "error" | "abort") => {
                return Err(StreamError::Truncated);
            }
            Some(_) => Some(StopReason::Done),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
