//! What every protocol for conversations says of itself, and what they share.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::lines::Framing;
use crate::{
    config::{Protocol, Secret},
    llm::{
        chat::{ChatRequest, Piece, Stop, Tokens, ToolCall},
        http::Header,
        trouble::Trouble,
    },
};

/// A protocol.
pub(super) trait Wire: Send + Sync {
    /// The address as it is used, of one that people write in several ways.
    fn base(&self, given: &str) -> String;

    /// Where a model is asked, below the address.
    fn path(&self, model: &str) -> String;

    /// The headers, with the key where there is one.
    fn headers(&self, key: &Secret) -> Result<Vec<Header>, Trouble>;

    /// The body of a question.
    fn body(&self, question: &Question<'_>) -> Value;

    /// Fields of the body that a server may not know: it is asked again without those it complains about.
    fn optional(&self) -> &'static [&'static str];

    /// Fields of a message that a server may ask for, though the protocol does not have them.
    fn wanted(&self) -> &'static [&'static str];

    /// How an answer is put together.
    fn framing(&self) -> Framing;

    /// A reader for one answer.
    fn reader(&self) -> Box<dyn Reader>;

    /// Where the models are listed.
    fn models_path(&self) -> &'static str;

    /// The names of the models of a list that can talk.
    fn models(&self, list: &Value) -> Vec<String>;
}

/// Reads the values of one answer, in their order.
pub(super) trait Reader: Send {
    /// The pieces that are whole with this value.
    fn read(&mut self, value: &Value) -> Result<Vec<Piece>, Fault>;

    /// The pieces that are left when the stream has ended; `said` if the server said that it has.
    fn end(&mut self, said: bool) -> Result<Vec<Piece>, Fault>;
}

/// A question with what the settings and earlier answers add to it.
pub(super) struct Question<'a> {
    pub(super) model: &'a str,
    pub(super) request: &'a ChatRequest,
    pub(super) temperature: Option<f32>,
    pub(super) max_tokens: Option<u32>,
    /// The fields that the server turned out not to know, or to miss.
    pub(super) learned: &'a BTreeSet<&'static str>,
}

/// Why an answer cannot be read on.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The server says what went wrong, as it would in an answer of its own.
    Told(Value),
    /// It is not what the protocol says.
    Odd(String),
    /// It ended before it was whole.
    Cut,
}

/// The protocol's wire.
pub(super) fn wire(protocol: Protocol) -> &'static dyn Wire {
    match protocol {
        Protocol::Openai => &super::openai::Openai,
        Protocol::Anthropic => &super::anthropic::Anthropic,
        Protocol::Gemini => &super::gemini::Gemini,
        Protocol::Ollama => &super::ollama::Ollama,
    }
}

impl Question<'_> {
    /// Sets a field unless there is nothing to set or the server does not know it.
    pub(super) fn set(&self, body: &mut Value, name: &'static str, value: Option<Value>) {
        if let Some(value) = value.filter(|_| !self.learned.contains(name)) {
            body[name] = value;
        }
    }

    /// The system prompt with what is added for this question.
    pub(super) fn system(&self) -> String {
        let parts = [self.request.system.trim(), self.request.context.trim()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

/// What a call is given, as an object: what is none would be refused.
pub(super) fn object(arguments: &Value) -> Value {
    match arguments {
        Value::Object(_) => arguments.clone(),
        Value::Null => json!({}),
        other => json!({ "arguments": other }),
    }
}

/// What a model wrote as the arguments of a call: an object where it is one, otherwise its own words.
pub(super) fn arguments(written: &str) -> Value {
    let trimmed = written.trim();
    if trimmed.is_empty() {
        return Value::Object(Map::new());
    }
    match serde_json::from_str(trimmed) {
        Ok(object @ Value::Object(_)) => object,
        // Some servers write the text of a text.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => arguments(&inner),
        _ => Value::String(written.to_owned()),
    }
}

/// A text field that says something.
pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// A count; 0 where there is none.
pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// The names in a list of models, whichever field has them.
pub(super) fn names(list: &Value, field: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| text(&item[field])).map(str::to_owned).collect()
}

/// What is known of an answer that is still coming.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// How many tools were called.
    pub(super) called: usize,
    /// Why the model stopped, once it did.
    pub(super) stop: Option<Stop>,
    /// What it cost so far.
    pub(super) tokens: Tokens,
}

impl Progress {
    /// A call, with an id where the server gave none.
    pub(super) fn call(&mut self, id: &str, name: &str, arguments: Value) -> Piece {
        self.called += 1;
        let id = if id.is_empty() { format!("call_{}", self.called) } else { id.to_owned() };
        Piece::Call(ToolCall { id, name: name.to_owned(), arguments })
    }

    /// The end; a model that called tools waits for them, whatever its server calls that.
    pub(super) fn end(&self, stop: Stop) -> Piece {
        let stop = if self.called > 0 && stop == Stop::Done { Stop::Calls } else { stop };
        Piece::End { stop, tokens: self.tokens }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROTOCOLS: [Protocol; 4] =
        [Protocol::Openai, Protocol::Anthropic, Protocol::Gemini, Protocol::Ollama];

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
                let mut reader = wire(protocol).reader();
                let read = values.iter().try_for_each(|value| reader.read(value).map(drop));
                let ended = read.and_then(|()| reader.end(said));
                let good = matches!(ended.as_deref(), Err(_) | Ok([.., Piece::End { .. }]));
                prop_assert!(good);
            }
        }
    }

    #[test]
    fn no_model_is_listed_by_what_is_no_list() {
        for protocol in PROTOCOLS {
            assert!(wire(protocol).models(&json!({"data": 3, "models": [{}]})).is_empty());
        }
    }
}
