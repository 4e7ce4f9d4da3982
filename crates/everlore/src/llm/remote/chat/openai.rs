//! OpenAI chat completions, and the many servers that follow them more or less closely.

use serde_json::{Value, json};

use super::{
    adapter::{
        ChatAdapter, ChunkDecoder, ProtocolTraits, RequestParams, StreamError, StreamProgress,
        bearer_headers, collect_names, count_or_zero, non_empty_str, parse_arguments,
    },
    framing::Framing,
    thinking::ThinkingFilter,
};
use crate::{
    config::SecretString,
    llm::{
        chat::{ChatChunk, ChatMessage, StopReason, ToolCall},
        http_client::HeaderPair,
        remote_error::RemoteError,
    },
};

/// Field with a model's reasoning; a few servers require it in every assistant message.
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
        bearer_headers(key)
    }

    fn request_body(&self, params: &RequestParams<'_>) -> Value {
        let request = params.request;
        let mut body =
            json!({ "model": params.model, "messages": messages_json(params), "stream": true });
        params.set_field(&mut body, "stream_options", Some(json!({ "include_usage": true })));
        params.set_field(&mut body, "temperature", params.temperature.map(|given| json!(given)));
        // All servers knew the older name first; OpenAI's newer models only accept the other one.
        let limit = if params.field_quirks.contains("max_tokens") {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        params.set_field(&mut body, limit, params.max_tokens.map(|most| json!(most)));
        let format = request.json.then(|| json!({ "type": "json_object" }));
        params.set_field(&mut body, "response_format", format);
        params.set_functions(&mut body);
        body
    }

    fn traits(&self) -> ProtocolTraits {
        ProtocolTraits {
            optional_fields: &[
                "stream_options",
                "max_completion_tokens",
                "max_tokens",
                "temperature",
                "response_format",
            ],
            nonstandard_fields: &[REASONING_FIELD],
            framing: Framing::Events,
            decoder: || Box::<OpenaiDecoder>::default(),
            models_path: "/models",
        }
    }

    fn parse_model_names(&self, list: &Value) -> Vec<String> {
        collect_names(&list["data"], "id")
    }
}

fn messages_json(params: &RequestParams<'_>) -> Vec<Value> {
    let messages = params.messages_with_context();
    let messages = messages.iter().map(|message| {
        let mut json = message_json(message);
        if json["role"] == "assistant" && params.field_quirks.contains(REASONING_FIELD) {
            add_reasoning_placeholder(&mut json);
        }
        json
    });
    params.system_message().into_iter().chain(messages).collect()
}

/// Adds a placeholder for reasoning, which is not stored. A server that requires it requires a content string as well.
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

/// Decoder for chat completion chunks.
#[derive(Default)]
struct OpenaiDecoder {
    progress: StreamProgress,
    thinking: ThinkingFilter,
    calls: Vec<PartialToolCall>,
}

/// Tool call assembled from deltas.
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
        // A server that does not stream sends one message instead of deltas.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        let mut chunks: Vec<ChatChunk> =
            self.text_parts(delta).into_iter().map(ChatChunk::Text).collect();
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            self.merge_call_delta(part);
        }
        self.record_stop_reason(non_empty_str(&choice["finish_reason"]))?;
        if non_empty_str(&delta["refusal"]).is_some() {
            self.progress.stop = Some(StopReason::Refused);
        }
        chunks.retain(|chunk| *chunk != ChatChunk::Text(String::new()));
        Ok(chunks)
    }

    fn finish(&mut self, announced: bool) -> Result<Vec<ChatChunk>, StreamError> {
        let stop = match self.progress.stop {
            Some(stop) => stop,
            None if announced => StopReason::Done,
            None => return Err(StreamError::Truncated),
        };
        let mut chunks: Vec<ChatChunk> =
            self.thinking.flush().map(ChatChunk::Text).into_iter().collect();
        for call in std::mem::take(&mut self.calls) {
            chunks.push(self.progress.tool_call(
                &call.id,
                &call.name,
                parse_arguments(&call.arguments),
            ));
        }
        chunks.push(self.progress.end_chunk(stop));
        Ok(chunks)
    }
}

impl OpenaiDecoder {
    /// Returns the text of a delta, a string or typed parts, without reasoning.
    fn text_parts(&mut self, delta: &Value) -> Vec<String> {
        let parts = match &delta["content"] {
            Value::Array(parts) => {
                parts.iter().filter_map(|part| non_empty_str(&part["text"])).collect()
            }
            content => non_empty_str(content).into_iter().collect::<Vec<_>>(),
        };
        parts
            .into_iter()
            .chain(non_empty_str(&delta["refusal"]))
            .map(|part| self.thinking.filter(part))
            .collect()
    }

    /// Merges a tool call delta into its call: by index, by id, or into the last call.
    fn merge_call_delta(&mut self, part: &Value) {
        let (index, id) = (part["index"].as_u64(), non_empty_str(&part["id"]).unwrap_or_default());
        let function = &part["function"];
        let name = non_empty_str(&function["name"]).unwrap_or_default();
        let existing = match index {
            // Some servers give every call the index 0.
            Some(_) => self.calls.iter_mut().rev().find(|call| {
                call.index == index && (id.is_empty() || call.id.is_empty() || call.id == id)
            }),
            None if !id.is_empty() => self.calls.iter_mut().find(|call| call.id == id),
            None if !name.is_empty() => None,
            None => self.calls.last_mut(),
        };
        let call = match existing {
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
        // The name arrives whole, and some servers repeat it with every delta.
        if call.name.is_empty() {
            call.name = name.to_owned();
        }
        match &function["arguments"] {
            Value::String(delta) => call.arguments += delta,
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
            // A refusal in words ends like any other answer.
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
