//! What every protocol for conversations says of itself, and what they share.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::framing::Framing;
use crate::{
    config::{ChatProtocol, SecretString},
    llm::{
        chat::{ChatChunk, ChatRequest, StopReason, TokenUsage, ToolCall},
        http_client::HeaderPair,
        remote_error::RemoteError,
    },
};

/// A protocol.
pub(super) trait ChatAdapter: Send + Sync {
    /// The address as it is used, of one that people write in several ways.
    fn base_url(&self, given: &str) -> String;

    /// Where a model is asked, below the address.
    fn path(&self, model: &str) -> String;

    /// The headers, with the key where there is one.
    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError>;

    /// The body of a question.
    fn request_body(&self, question: &RequestParams<'_>) -> Value;

    /// Fields of the body that a server may not know: it is asked again without those it complains about.
    fn optional_fields(&self) -> &'static [&'static str];

    /// Fields of a message that a server may ask for, though the protocol does not have them.
    fn nonstandard_fields(&self) -> &'static [&'static str];

    /// How an answer is put together.
    fn framing(&self) -> Framing;

    /// A reader for one answer.
    fn decoder(&self) -> Box<dyn ChunkDecoder>;

    /// Where the models are listed.
    fn models_path(&self) -> &'static str;

    /// The names of the models of a list that can talk.
    fn parse_model_names(&self, list: &Value) -> Vec<String>;
}

/// Reads the values of one answer, in their order.
pub(super) trait ChunkDecoder: Send {
    /// The pieces that are whole with this value.
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError>;

    /// The pieces that are left when the stream has ended; `said` if the server said that it has.
    fn finish(&mut self, said: bool) -> Result<Vec<ChatChunk>, StreamError>;
}

/// A question with what the settings and earlier answers add to it.
pub(super) struct RequestParams<'a> {
    pub(super) model: &'a str,
    pub(super) request: &'a ChatRequest,
    pub(super) temperature: Option<f32>,
    pub(super) max_tokens: Option<u32>,
    /// The fields that the server turned out not to know, or to miss.
    pub(super) field_quirks: &'a BTreeSet<&'static str>,
}

/// Why an answer cannot be read on.
#[derive(Debug, PartialEq)]
pub(super) enum StreamError {
    /// The server says what went wrong, as it would in an answer of its own.
    Provider(Value),
    /// It is not what the protocol says.
    Malformed(String),
    /// It ended before it was whole.
    Truncated,
}

/// The protocol's wire.
pub(super) fn adapter_for(protocol: ChatProtocol) -> &'static dyn ChatAdapter {
    match protocol {
        ChatProtocol::Openai => &super::openai::OpenaiAdapter,
        ChatProtocol::Anthropic => &super::anthropic::AnthropicAdapter,
        ChatProtocol::Gemini => &super::gemini::GeminiAdapter,
        ChatProtocol::Ollama => &super::ollama::OllamaAdapter,
    }
}

impl RequestParams<'_> {
    /// Sets a field unless there is nothing to set or the server does not know it.
    pub(super) fn set_field(&self, body: &mut Value, name: &'static str, value: Option<Value>) {
        if let Some(value) = value.filter(|_| !self.field_quirks.contains(name)) {
            body[name] = value;
        }
    }

    /// The system prompt with what is added for this question.
    pub(super) fn system_prompt(&self) -> String {
        let parts = [self.request.system.trim(), self.request.context.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// What a call is given, as an object: what is none would be refused.
pub(super) fn as_object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        other => json!({ "arguments": other }),
    }
}

/// What a model wrote as the arguments of a call: an object where it is one, otherwise its own words.
pub(super) fn parse_arguments(written: &str) -> Value {
    let trimmed = written.trim();
    if trimmed.is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(trimmed) {
        Ok(object @ Value::Object(_)) => object,
        // Some servers write the text of a text.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => parse_arguments(&inner),
        _ => Value::String(written.to_owned()),
    }
}

/// A text field that says something.
pub(super) fn non_empty_str(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// A count; 0 where there is none.
pub(super) fn count_or_zero(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The names in a list of models, whichever field has them.
pub(super) fn collect_names(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| non_empty_str(&item[field])).map(str::to_owned).collect()
}

/// What is known of an answer that is still coming.
#[derive(Debug, Default)]
pub(super) struct StreamProgress {
    /// How many tools were called.
    pub(super) call_count: usize,
    /// Why the model stopped, once it did.
    pub(super) stop: Option<StopReason>,
    /// What it cost so far.
    pub(super) tokens: TokenUsage,
}

impl StreamProgress {
    /// A call, with an id where the server gave none.
    pub(super) fn tool_call(&mut self, id: &str, name: &str, arguments: Value) -> ChatChunk {
        self.call_count += 1;
        let id = if id.is_empty() { format!("call_{}", self.call_count) } else { id.to_owned() };
        ChatChunk::ToolCall(ToolCall { id, name: name.to_owned(), arguments })
    }

    /// The end; a model that called tools waits for them, whatever its server calls that.
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

    /// Names that mean something on some wire, and words that do.
    const NAMES: &str = "choices delta message content tool_calls function arguments name index id finish_reason usage type \
        content_block partial_json text stop_reason done candidates parts functionCall args finishReason error";
    const WORDS: &str =
        "tool_use text message_stop STOP stop content_block_start content_block_stop {\"a\": 茶";

    /// Values of any shape under those names.
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
            values in prop::collection::vec(value(), 0..5), said: bool,
        ) {
            for protocol in PROTOCOLS {
                let mut reader = adapter_for(protocol).decoder();
                let read = values.iter().try_for_each(|value| reader.decode(value).map(drop));
                let ended = read.and_then(|()| reader.finish(said));
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
