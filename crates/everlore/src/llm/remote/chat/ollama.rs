//! Ollama chat: one JSON value per line, tool calls whole.

use serde_json::{Value, json};

use super::{
    adapter::{
        ChatAdapter, ChunkDecoder, ProtocolTraits, RequestParams, StreamError, StreamProgress,
        as_object, bearer_headers, collect_names, count_or_zero, non_empty_str, parse_arguments,
    },
    framing::Framing,
    thinking::ThinkingFilter,
};
use crate::{
    config::SecretString,
    llm::{
        chat::{ChatChunk, ChatMessage, StopReason},
        http_client::HeaderPair,
        remote_error::RemoteError,
    },
};

pub(super) struct OllamaAdapter;

impl ChatAdapter for OllamaAdapter {
    fn base_url(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        let base = base.strip_suffix("/v1").or_else(|| base.strip_suffix("/api")).unwrap_or(base);
        base.to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/api/chat".to_owned()
    }

    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError> {
        bearer_headers(key)
    }

    fn request_body(&self, params: &RequestParams<'_>) -> Value {
        let request = params.request;
        let mut body =
            json!({ "model": params.model, "messages": messages_json(params), "stream": true });
        let mut options = json!({});
        if let Some(temperature) = params.temperature {
            options["temperature"] = json!(temperature);
        }
        if let Some(most) = params.max_tokens {
            options["num_predict"] = json!(most);
        }
        if options != json!({}) {
            body["options"] = options;
        }
        params.set_field(&mut body, "format", request.json.then(|| json!("json")));
        params.set_functions(&mut body);
        body
    }

    fn traits(&self) -> ProtocolTraits {
        ProtocolTraits {
            optional_fields: &["format"],
            nonstandard_fields: &[],
            framing: Framing::Lines,
            decoder: || Box::<OllamaDecoder>::default(),
            models_path: "/api/tags",
        }
    }

    fn parse_model_names(&self, list: &Value) -> Vec<String> {
        collect_names(&list["models"], "name")
    }
}

fn messages_json(params: &RequestParams<'_>) -> Vec<Value> {
    let messages = params.messages_with_context();
    params.system_message().into_iter().chain(messages.iter().map(message_json)).collect()
}

fn message_json(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::User { text } => json!({ "role": "user", "content": text }),
        ChatMessage::Assistant { text, calls } => {
            let mut json = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    json!({ "function": { "name": call.name, "arguments": as_object(&call.arguments) } })
                });
                json["tool_calls"] = calls.collect();
            }
            json
        }
        ChatMessage::Tool { name, text, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": text })
        }
    }
}

/// Decoder for response lines.
#[derive(Default)]
struct OllamaDecoder {
    progress: StreamProgress,
    thinking: ThinkingFilter,
}

impl ChunkDecoder for OllamaDecoder {
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError> {
        if !value["error"].is_null() {
            return Err(StreamError::Provider(value.clone()));
        }
        let message = &value["message"];
        let text = non_empty_str(&message["content"]).map(|text| self.thinking.filter(text));
        let mut chunks: Vec<ChatChunk> =
            text.filter(|text| !text.is_empty()).map(ChatChunk::Text).into_iter().collect();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            chunks.push(self.decode_call(call));
        }
        if value["done"] == true {
            chunks.extend(self.thinking.flush().map(ChatChunk::Text));
            self.progress.tokens.read = count_or_zero(&value["prompt_eval_count"]);
            self.progress.tokens.written = count_or_zero(&value["eval_count"]);
            let length = value["done_reason"] == "length";
            chunks.push(self.progress.end_chunk(if length {
                StopReason::Length
            } else {
                StopReason::Done
            }));
        }
        Ok(chunks)
    }

    fn finish(&mut self, _: bool) -> Result<Vec<ChatChunk>, StreamError> {
        Err(StreamError::Truncated)
    }
}

impl OllamaDecoder {
    fn decode_call(&mut self, call: &Value) -> ChatChunk {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::String(written) => parse_arguments(written),
            Value::Null => json!({}),
            whole => whole.clone(),
        };
        let id = non_empty_str(&call["id"]).unwrap_or_default();
        self.progress.tool_call(id, non_empty_str(&function["name"]).unwrap_or_default(), arguments)
    }
}

#[cfg(test)]
#[path = "ollama_tests.rs"]
mod tests;
