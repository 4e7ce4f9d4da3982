//! Chat protocol adapters: the trait, its request and decoder types, and JSON helpers that the protocols share.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::framing::Framing;
use crate::{
    config::{ChatProtocol, SecretString},
    llm::{
        chat::{ChatChunk, ChatMessage, ChatRequest, ChatTool, StopReason, TokenUsage, ToolCall},
        http_client::{HeaderPair, bearer_header},
        remote_error::RemoteError,
    },
};

/// Adapter for one provider protocol.
pub(super) trait ChatAdapter: Send + Sync {
    /// Normalizes a base URL, which users write in several ways.
    fn base_url(&self, given: &str) -> String;

    /// Returns the path of the chat endpoint for a model.
    fn path(&self, model: &str) -> String;

    /// Returns the request headers, with the key if there is one.
    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError>;

    /// Builds the request body.
    fn request_body(&self, params: &RequestParams<'_>) -> Value;

    /// Returns the fixed traits of the protocol.
    fn traits(&self) -> ProtocolTraits;

    /// Returns the names of the chat models in a model list.
    fn parse_model_names(&self, list: &Value) -> Vec<String>;
}

/// Fixed traits of a protocol.
pub(super) struct ProtocolTraits {
    /// Body fields that a server may not know; the request is sent again without a rejected one.
    pub(super) optional_fields: &'static [&'static str],
    /// Message fields outside the protocol that some servers require.
    pub(super) nonstandard_fields: &'static [&'static str],
    /// Framing of the response stream.
    pub(super) framing: Framing,
    /// Creates a decoder for one response.
    pub(super) decoder: fn() -> Box<dyn ChunkDecoder>,
    /// Path of the model list.
    pub(super) models_path: &'static str,
}

/// Decoder for the frames of one response, in order.
pub(super) trait ChunkDecoder: Send {
    /// Decodes one frame and returns the chunks that it completes.
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError>;

    /// Returns the remaining chunks at the end of the stream; `announced` is set if the server marked the end.
    fn finish(&mut self, announced: bool) -> Result<Vec<ChatChunk>, StreamError>;
}

/// Chat request with settings and field quirks.
pub(super) struct RequestParams<'a> {
    pub(super) model: &'a str,
    pub(super) request: &'a ChatRequest,
    pub(super) temperature: Option<f32>,
    pub(super) max_tokens: Option<u32>,
    /// Fields that the server rejected, or nonstandard ones that it requires.
    pub(super) field_quirks: &'a BTreeSet<&'static str>,
}

/// Reason why a stream cannot be decoded further.
#[derive(Debug, PartialEq)]
pub(super) enum StreamError {
    /// Error event of the provider.
    Provider(Value),
    /// Frame that violates the protocol.
    Malformed(String),
    /// End of the stream before the end of the answer.
    Truncated,
}

/// Returns the adapter of a protocol.
pub(super) fn adapter_for(protocol: ChatProtocol) -> &'static dyn ChatAdapter {
    match protocol {
        ChatProtocol::Openai => &super::openai::OpenaiAdapter,
        ChatProtocol::Anthropic => &super::anthropic::AnthropicAdapter,
        ChatProtocol::Gemini => &super::gemini::GeminiAdapter,
        ChatProtocol::Ollama => &super::ollama::OllamaAdapter,
    }
}

impl RequestParams<'_> {
    /// Sets a body field if there is a value and the server accepts the field.
    pub(super) fn set_field(&self, body: &mut Value, name: &'static str, value: Option<Value>) {
        if let Some(value) = value.filter(|_| !self.field_quirks.contains(name)) {
            body[name] = value;
        }
    }

    /// Returns the system prompt as a message, if there is one.
    pub(super) fn system_message(&self) -> Option<Value> {
        let system = self.request.system.trim();
        (!system.is_empty()).then(|| json!({ "role": "system", "content": system }))
    }

    /// Sets the tools as functions, in the form that OpenAI introduced.
    pub(super) fn set_functions(&self, body: &mut Value) {
        let function = |tool: &ChatTool| {
            let (name, about) = (&tool.name, &tool.description);
            json!({ "type": "function", "function": { "name": name, "description": about, "parameters": tool.schema } })
        };
        if !self.request.tools.is_empty() {
            body["tools"] = self.request.tools.iter().map(function).collect();
        }
    }

    /// Returns the messages with the context of this request in the user's last message.
    pub(super) fn messages_with_context(&self) -> Vec<ChatMessage> {
        let mut messages = self.messages_and_context();
        if let Some(index) = self.context_index() {
            let context = messages.remove(index);
            if let (ChatMessage::User { text }, Some(ChatMessage::User { text: question })) =
                (context, messages.get_mut(index.wrapping_sub(1)))
            {
                *question += &format!("\n\n{text}");
            }
        }
        messages
    }

    /// Returns the messages with the context of this request as one more message after the user's last one, for
    /// protocols that join messages of one side.
    pub(super) fn messages_and_context(&self) -> Vec<ChatMessage> {
        let mut messages = self.request.messages.clone();
        if let Some(index) = self.context_index() {
            messages.insert(index, ChatMessage::User { text: self.request.context.clone() });
        }
        messages
    }

    /// Returns the index of the user's last message.
    pub(super) fn question_index(&self) -> Option<usize> {
        let is_user = |message: &ChatMessage| matches!(message, ChatMessage::User { .. });
        self.request.messages.iter().rposition(is_user)
    }

    /// Returns the index after the user's last message; `None` without a context.
    fn context_index(&self) -> Option<usize> {
        let has_context = !self.request.context.trim().is_empty();
        self.question_index().filter(|_| has_context).map(|last| last + 1)
    }
}

/// Returns the key as a bearer token, if there is one.
pub(super) fn bearer_headers(key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError> {
    let key = (!key.reveal().is_empty()).then(|| bearer_header(key)).transpose()?;
    Ok(key.into_iter().collect())
}

/// Joins consecutive messages of the same role, as protocols with parts require; `field` holds the parts.
pub(super) fn join_roles(
    messages: impl Iterator<Item = (&'static str, Vec<Value>)>,
    field: &str,
) -> Vec<Value> {
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    for (role, parts) in messages {
        match all.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, joined)) if *last == role => joined.extend(parts),
            _ => all.push((role, parts)),
        }
    }
    all.into_iter().map(|(role, parts)| json!({ "role": role, field: parts })).collect()
}

/// Wraps tool arguments that are no object into one, since providers reject anything else.
pub(super) fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        other => json!({ "arguments": other }),
    }
}

/// Parses the arguments of a tool call: an object if it is one, otherwise the model's own text.
pub(super) fn parse_arguments(written: &str) -> Value {
    let trimmed = written.trim();
    if trimmed.is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(trimmed) {
        Ok(object @ Value::Object(_)) => object,
        // Some servers encode the JSON text as a string once more.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => parse_arguments(&inner),
        _ => Value::String(written.to_owned()),
    }
}

/// Returns a string value that is not empty.
pub(super) fn non_empty_str(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Returns a count, or 0 if there is none.
pub(super) fn count_or_zero(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Collects the names in a model list from `field`.
pub(super) fn collect_names(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| non_empty_str(&item[field])).map(str::to_owned).collect()
}

/// State of a response that is still being decoded.
#[derive(Debug, Default)]
pub(super) struct StreamProgress {
    /// Tool calls so far.
    pub(super) call_count: usize,
    /// Stop reason, once known.
    pub(super) stop: Option<StopReason>,
    /// Token usage so far.
    pub(super) tokens: TokenUsage,
}

impl StreamProgress {
    /// Creates a tool call chunk, with a generated id if the server gave none.
    pub(super) fn tool_call(&mut self, id: &str, name: &str, arguments: Value) -> ChatChunk {
        self.call_count += 1;
        let id = if id.is_empty() { format!("call_{}", self.call_count) } else { id.to_owned() };
        ChatChunk::ToolCall(ToolCall { id, name: name.to_owned(), arguments })
    }

    /// Creates the end chunk. A model that called tools waits for them, whatever stop reason its server names.
    pub(super) fn end_chunk(&self, stop: StopReason) -> ChatChunk {
        let stop = if self.call_count > 0 && stop == StopReason::Done {
            StopReason::ToolCalls
        } else {
            stop
        };
        ChatChunk::End { stop, tokens: self.tokens }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROTOCOLS: [ChatProtocol; 4] =
        [ChatProtocol::Openai, ChatProtocol::Anthropic, ChatProtocol::Gemini, ChatProtocol::Ollama];

    /// Field names and values that mean something to some protocol.
    const NAMES: &str = "choices delta message content tool_calls function arguments name index id finish_reason usage type \
        content_block partial_json text stop_reason done candidates parts functionCall args finishReason error";
    const WORDS: &str =
        "tool_use text message_stop STOP stop content_block_start content_block_stop {\"a\": 茶";

    /// Generates values of any shape under those names.
    fn value() -> impl Strategy<Value = Value> {
        let pick = |words: &'static str| {
            prop::sample::select(words.split_whitespace().collect::<Vec<_>>())
        };
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            pick(WORDS).prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, move |inner| {
            let field = (pick(NAMES).prop_map(str::to_owned), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(Value::from),
                prop::collection::vec(field, 0..5).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_value_makes_a_reader_fall_over(
            values in prop::collection::vec(value(), 0..5), announced: bool,
        ) {
            for protocol in PROTOCOLS {
                let mut decoder = (adapter_for(protocol).traits().decoder)();
                let decoded = values.iter().try_for_each(|value| decoder.decode(value).map(drop));
                let ended = decoded.and_then(|()| decoder.finish(announced));
                let good = matches!(ended.as_deref(), Err(_) | Ok([.., ChatChunk::End { .. }]));
                prop_assert!(good);
            }
        }
    }

    #[test]
    fn no_model_is_listed_by_what_is_no_list() {
        for protocol in PROTOCOLS {
            assert!(
                adapter_for(protocol)
                    .parse_model_names(&json!({"data": 3, "models": [{}]}))
                    .is_empty()
            );
        }
    }
}
