//! Anthropic messages: content blocks, and events that open, fill and close them.

use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{
    adapter::{
        ChatAdapter, ChunkDecoder, ProtocolTraits, RequestParams, StreamError, StreamProgress,
        as_object, collect_names, count_or_zero, join_roles, non_empty_str, parse_arguments,
    },
    framing::Framing,
};
use crate::{
    config::SecretString,
    llm::{
        chat::{ChatChunk, ChatMessage, StopReason},
        http_client::{HeaderPair, sensitive_value},
        remote_error::RemoteError,
    },
};

/// Protocol version, unchanged since the API was published.
const VERSION: &str = "2023-06-01";

/// Output limit when none is set, since the protocol requires one. All models in service can write so much.
const MAX_TOKENS: u32 = 8_192;

pub(super) struct AnthropicAdapter;

impl ChatAdapter for AnthropicAdapter {
    fn base_url(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        base.strip_suffix("/v1").unwrap_or(base).to_owned()
    }

    fn path(&self, _: &str) -> String {
        "/v1/messages".to_owned()
    }

    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError> {
        let version = HeaderName::from_static("anthropic-version");
        let mut headers = vec![(version, HeaderValue::from_static(VERSION))];
        if !key.reveal().is_empty() {
            headers.push((
                HeaderName::from_static("x-api-key"),
                sensitive_value(key.reveal().trim())?,
            ));
        }
        Ok(headers)
    }

    fn request_body(&self, params: &RequestParams<'_>) -> Value {
        let request = params.request;
        let mut body = json!({
            "model": params.model,
            "max_tokens": params.max_tokens.unwrap_or(MAX_TOKENS),
            "messages": messages(&params.messages_and_context(), params.question_index()),
            "stream": true,
        });
        params.set_field(&mut body, "temperature", params.temperature.map(|given| json!(given)));
        if !request.system.trim().is_empty() {
            body["system"] = json!([cached(json!({ "type": "text", "text": request.system }))]);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema })
            });
            body["tools"] = tools.collect();
        }
        body
    }

    fn traits(&self) -> ProtocolTraits {
        ProtocolTraits {
            optional_fields: &["temperature"],
            nonstandard_fields: &[],
            framing: Framing::Events,
            decoder: || Box::<AnthropicDecoder>::default(),
            models_path: "/v1/models?limit=1000",
        }
    }

    fn parse_model_names(&self, list: &Value) -> Vec<String> {
        collect_names(&list["data"], "id")
    }
}

/// Marks the end of a prefix for the provider's cache.
fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({ "type": "ephemeral" });
    block
}

/// Builds the messages. Consecutive ones of the same role are merged, as the protocol requires. The question at index
/// `cached_until` ends the prefix that the next request begins with.
fn messages(messages: &[ChatMessage], cached_until: Option<usize>) -> Vec<Value> {
    let blocks = messages.iter().enumerate().map(|(index, message)| {
        let (role, blocks) = content_blocks(message);
        let is_cached = Some(index) == cached_until;
        (role, if is_cached { blocks.into_iter().map(cached).collect() } else { blocks })
    });
    join_roles(blocks, "content")
}

fn content_blocks(message: &ChatMessage) -> (&'static str, Vec<Value>) {
    let text_block =
        |text: &str| (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
    match message {
        ChatMessage::User { text } => ("user", text_block(text).into_iter().collect()),
        ChatMessage::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| {
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": as_object(&call.arguments) })
            });
            // The API rejects trailing whitespace in assistant messages.
            ("assistant", text_block(text.trim_end()).into_iter().chain(calls).collect())
        }
        ChatMessage::Tool { call, text, failed, .. } => {
            let result = json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed });
            ("user", vec![result])
        }
    }
}

/// Decoder for message stream events.
#[derive(Default)]
struct AnthropicDecoder {
    progress: StreamProgress,
    /// Tool call whose block is open.
    open_call: Option<OpenToolCall>,
}

struct OpenToolCall {
    id: String,
    name: String,
    arguments: String,
}

impl ChunkDecoder for AnthropicDecoder {
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError> {
        let chunk = match non_empty_str(&value["type"]).unwrap_or_default() {
            "error" => return Err(StreamError::Provider(value.clone())),
            "message_start" => {
                self.record_usage(&value["message"]["usage"]);
                None
            }
            "content_block_start" => self.start_block(&value["content_block"]),
            "content_block_delta" => self.apply_delta(&value["delta"]),
            "content_block_stop" => self.stop_block(),
            "message_delta" => {
                self.record_usage(&value["usage"]);
                self.record_stop_reason(non_empty_str(&value["delta"]["stop_reason"]))?;
                None
            }
            "message_stop" => return self.finish(true),
            _ => None,
        };
        Ok(chunk.into_iter().collect())
    }

    fn finish(&mut self, _: bool) -> Result<Vec<ChatChunk>, StreamError> {
        let stop = self.progress.stop.ok_or(StreamError::Truncated)?;
        Ok(vec![self.progress.end_chunk(stop)])
    }
}

impl AnthropicDecoder {
    fn start_block(&mut self, block: &Value) -> Option<ChatChunk> {
        if block["type"] == "tool_use" {
            let field = |name: &str| non_empty_str(&block[name]).unwrap_or_default().to_owned();
            let whole = block["input"].as_object().filter(|input| !input.is_empty());
            let arguments = whole.map(|_| block["input"].to_string()).unwrap_or_default();
            self.open_call = Some(OpenToolCall { id: field("id"), name: field("name"), arguments });
        }
        non_empty_str(&block["text"]).map(|text| ChatChunk::Text(text.to_owned()))
    }

    fn apply_delta(&mut self, delta: &Value) -> Option<ChatChunk> {
        if let (Some(open), Some(more)) =
            (&mut self.open_call, non_empty_str(&delta["partial_json"]))
        {
            open.arguments += more;
        }
        non_empty_str(&delta["text"]).map(|text| ChatChunk::Text(text.to_owned()))
    }

    fn stop_block(&mut self) -> Option<ChatChunk> {
        let call = self.open_call.take()?;
        Some(self.progress.tool_call(&call.id, &call.name, parse_arguments(&call.arguments)))
    }

    /// Records token counts: input once at the start, output repeatedly. An omitted count keeps its value.
    fn record_usage(&mut self, usage: &Value) {
        let fresh = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
            .map(|name| count_or_zero(&usage[name]));
        let tokens = &mut self.progress.tokens;
        if usage["input_tokens"].is_u64() {
            (tokens.read, tokens.cached) = (fresh.iter().sum(), fresh[2]);
        }
        tokens.written = tokens.written.max(count_or_zero(&usage["output_tokens"]));
    }

    fn record_stop_reason(&mut self, reason: Option<&str>) -> Result<(), StreamError> {
        self.progress.stop = match reason {
            None => return Ok(()),
            Some("tool_use") => Some(StopReason::ToolCalls),
            Some("max_tokens" | "model_context_window_exceeded") => Some(StopReason::Length),
            Some("refusal") => Some(StopReason::Refused),
            Some(_) => Some(StopReason::Done),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
