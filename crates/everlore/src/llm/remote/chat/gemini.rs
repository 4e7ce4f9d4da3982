//! Gemini contents: parts of text and function calls, in unnamed events without an end marker.

use hyper::header::HeaderName;
use serde_json::{Map, Value, json};

use super::{
    adapter::{
        ChatAdapter, ChunkDecoder, ProtocolTraits, RequestParams, StreamError, StreamProgress,
        as_object, count_or_zero, join_roles, non_empty_str,
    },
    framing::Framing,
};
use crate::{
    config::SecretString,
    llm::{
        chat::{ChatChunk, ChatMessage, StopReason, ToolCall},
        http_client::{HeaderPair, sensitive_value},
        remote_error::RemoteError,
    },
};

/// Separator between a call's id and the thought signature that the model wants back with it; no id contains it.
const SIGNATURE_SEPARATOR: char = '#';

pub(super) struct GeminiAdapter;

impl ChatAdapter for GeminiAdapter {
    fn base_url(&self, given: &str) -> String {
        let base = given.trim_end_matches('/');
        let bare = base.splitn(4, '/').count() < 4;
        if bare { format!("{base}/v1beta") } else { base.to_owned() }
    }

    fn path(&self, model: &str) -> String {
        let model = model.strip_prefix("models/").unwrap_or(model);
        format!("/models/{model}:streamGenerateContent?alt=sse")
    }

    /// Sends the key as a header: a key in the URL would end up in logs.
    fn headers(&self, key: &SecretString) -> Result<Vec<HeaderPair>, RemoteError> {
        if key.reveal().is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![(HeaderName::from_static("x-goog-api-key"), sensitive_value(key.reveal().trim())?)])
    }

    fn request_body(&self, params: &RequestParams<'_>) -> Value {
        let request = params.request;
        let messages = params.messages_and_context();
        let mut body =
            json!({ "contents": join_roles(messages.iter().map(message_parts), "parts") });
        if !request.system.trim().is_empty() {
            body["system_instruction"] = json!({ "parts": [{ "text": request.system }] });
        }
        let mut generation = Map::new();
        generation.extend(params.temperature.map(|given| ("temperature".into(), json!(given))));
        generation.extend(params.max_tokens.map(|most| ("maxOutputTokens".into(), json!(most))));
        // JSON mode cannot be combined with tools.
        if request.json && request.tools.is_empty() {
            generation.insert("responseMimeType".into(), json!("application/json"));
        }
        if !generation.is_empty() {
            body["generationConfig"] = Value::Object(generation);
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema })
            });
            body["tools"] = json!([{ "functionDeclarations": tools.collect::<Vec<_>>() }]);
        }
        body
    }

    fn traits(&self) -> ProtocolTraits {
        ProtocolTraits {
            optional_fields: &[],
            nonstandard_fields: &[],
            framing: Framing::Events,
            decoder: || Box::<GeminiDecoder>::default(),
            models_path: "/models?pageSize=1000",
        }
    }

    fn parse_model_names(&self, list: &Value) -> Vec<String> {
        let is_chat_model = |model: &&Value| {
            let methods = &model["supportedGenerationMethods"];
            methods.as_array().is_none_or(|all| all.contains(&json!("generateContent")))
        };
        let models = list["models"].as_array().into_iter().flatten();
        let names = models.filter(is_chat_model).filter_map(|model| non_empty_str(&model["name"]));
        names.map(|name| name.strip_prefix("models/").unwrap_or(name).to_owned()).collect()
    }
}

fn message_parts(message: &ChatMessage) -> (&'static str, Vec<Value>) {
    let text_part = |text: &str| (!text.is_empty()).then(|| json!({ "text": text }));
    match message {
        ChatMessage::User { text } => ("user", text_part(text).into_iter().collect()),
        ChatMessage::Assistant { text, calls } => (
            "model",
            text_part(text).into_iter().chain(calls.iter().map(function_call_part)).collect(),
        ),
        ChatMessage::Tool { name, text, failed, .. } => {
            let field = if *failed { "error" } else { "output" };
            let response = json!({ "name": name, "response": { field: text } });
            ("user", vec![json!({ "functionResponse": response })])
        }
    }
}

fn function_call_part(call: &ToolCall) -> Value {
    let args = as_object(&call.arguments);
    let mut part = json!({ "functionCall": { "name": call.name, "args": args } });
    if let Some((_, signature)) = call.id.split_once(SIGNATURE_SEPARATOR) {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// Decoder for responses with one candidate.
#[derive(Default)]
struct GeminiDecoder {
    progress: StreamProgress,
}

impl ChunkDecoder for GeminiDecoder {
    fn decode(&mut self, value: &Value) -> Result<Vec<ChatChunk>, StreamError> {
        if !value["error"].is_null() {
            return Err(StreamError::Provider(value.clone()));
        }
        self.record_usage(&value["usageMetadata"]);
        if non_empty_str(&value["promptFeedback"]["blockReason"]).is_some() {
            self.progress.stop = Some(StopReason::Refused);
        }
        let candidate = &value["candidates"][0];
        let parts = candidate["content"]["parts"].as_array().into_iter().flatten();
        let chunks = parts.filter_map(|part| self.decode_part(part)).collect();
        self.record_stop_reason(non_empty_str(&candidate["finishReason"]))?;
        Ok(chunks)
    }

    fn finish(&mut self, _: bool) -> Result<Vec<ChatChunk>, StreamError> {
        let stop = self.progress.stop.ok_or(StreamError::Truncated)?;
        Ok(vec![self.progress.end_chunk(stop)])
    }
}

impl GeminiDecoder {
    /// Decodes a part; reasoning is left out.
    fn decode_part(&mut self, part: &Value) -> Option<ChatChunk> {
        let call = &part["functionCall"];
        if call.is_object() {
            let name = non_empty_str(&call["name"]).unwrap_or_default();
            let args = as_object(&call["args"]);
            let mut id = non_empty_str(&call["id"]).unwrap_or_default().to_owned();
            if let Some(signature) = non_empty_str(&part["thoughtSignature"]) {
                let number = self.progress.call_count + 1;
                let own = if id.is_empty() { format!("call_{number}") } else { id };
                id = format!("{own}{SIGNATURE_SEPARATOR}{signature}");
            }
            return Some(self.progress.tool_call(&id, name, args));
        }
        let text = non_empty_str(&part["text"]).filter(|_| part["thought"] != true);
        text.map(|text| ChatChunk::Text(text.to_owned()))
    }

    fn record_usage(&mut self, usage: &Value) {
        if !usage.is_object() {
            return;
        }
        let tokens = &mut self.progress.tokens;
        tokens.read = count_or_zero(&usage["promptTokenCount"]);
        tokens.cached = count_or_zero(&usage["cachedContentTokenCount"]);
        tokens.written = count_or_zero(&usage["candidatesTokenCount"])
            + count_or_zero(&usage["thoughtsTokenCount"]);
    }

    fn record_stop_reason(&mut self, reason: Option<&str>) -> Result<(), StreamError> {
        self.progress.stop = match reason {
            None => return Ok(()),
            Some("MAX_TOKENS") => Some(StopReason::Length),
            Some("STOP") => Some(StopReason::Done),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL") => {
                return Err(StreamError::Malformed(
                    "has a tool call that cannot be parsed".to_owned(),
                ));
            }
            Some("OTHER" | "FINISH_REASON_UNSPECIFIED") => return Err(StreamError::Truncated),
            Some(_) => Some(StopReason::Refused),
        };
        Ok(())
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
