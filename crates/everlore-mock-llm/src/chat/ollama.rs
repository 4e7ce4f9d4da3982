//! Ollama's side of a conversation.

use serde_json::{Value, json};

use super::{
    MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{FinishReason, ResponsePart, WireEvent, text_deltas},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct OllamaApi;

impl ProviderApi for OllamaApi {
    fn parse_request(
        &self,
        chats: &MockChat,
        _: &HttpRequest,
        body: &Value,
    ) -> Result<ModelRequest, HttpResponse> {
        let model = body["model"].as_str().unwrap_or_default();
        if model != chats.model {
            return Err(self.error_response(404, &format!("model '{model}' not found")));
        }
        parse_body(body).map_err(|what| self.error_response(400, &what))
    }

    fn render_response(&self, chats: &MockChat, _: &Value, said: &ModelResponse) -> HttpResponse {
        let mut events: Vec<WireEvent> = said
            .parts
            .iter()
            .flat_map(message_deltas)
            .map(|message| ndjson_event(chats, &message))
            .collect();
        let mut last = chunk_json(chats, &json!({ "role": "assistant", "content": "" }));
        last["done"] = json!(true);
        last["done_reason"] =
            json!(if said.stop == FinishReason::Length { "length" } else { "stop" });
        last["total_duration"] = json!(1_000_000);
        last["prompt_eval_count"] = json!(said.tokens.read);
        last["eval_count"] = json!(said.tokens.written);
        events.push(WireEvent { bytes: format!("{last}\n").into_bytes(), is_content: false });
        said.to_http("application/x-ndjson", events, |_, message| {
            format!("{}\n", json!({ "error": message })).into_bytes()
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        HttpResponse::json(status, &json!({ "error": message }))
    }

    fn model_list(&self, chats: &MockChat) -> HttpResponse {
        let models = chats.models();
        let models = models.iter().map(|name| json!({ "name": name, "model": name, "size": 1 }));
        HttpResponse::json(200, &json!({ "models": models.collect::<Vec<_>>() }))
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        request.header("authorization") == Some(format!("Bearer {key}").as_str())
    }
}

/// What is asked; what is wrong with it in words.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let mut asked = ModelRequest { json: body["format"] == "json", ..ModelRequest::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["function"]["name"].as_str().filter(|_| tool["type"] == "function");
        asked.tools.push(name.ok_or("invalid tool")?.to_owned());
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let text =
            message["content"].as_str().ok_or("messages: content must be a string")?.to_owned();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        if calls.iter().any(|call| !call["function"]["arguments"].is_object()) {
            return Err("json: cannot unmarshal tool_calls.function.arguments".to_owned());
        }
        match message["role"].as_str() {
            Some("system") => asked.system += &text,
            Some("user") => asked.messages.push((MessageRole::User, text)),
            Some("assistant") => asked.messages.push((MessageRole::Model, text)),
            Some("tool") if message["tool_name"].is_string() => {
                asked.messages.push((MessageRole::Tool, text));
            }
            other => return Err(format!("invalid role: {other:?}")),
        }
    }
    Ok(asked)
}

fn message_deltas(part: &ResponsePart) -> Vec<Value> {
    match part {
        ResponsePart::Text(text) => text_deltas(text)
            .iter()
            .map(|text| json!({ "role": "assistant", "content": text }))
            .collect(),
        ResponsePart::Thought(text) => text_deltas(text)
            .iter()
            .map(|text| json!({ "role": "assistant", "content": "", "thinking": text }))
            .collect(),
        ResponsePart::Call { name, arguments } => {
            let call = json!({ "function": { "index": 0, "name": name, "arguments": arguments } });
            vec![json!({ "role": "assistant", "content": "", "tool_calls": [call] })]
        }
    }
}

fn chunk_json(chats: &MockChat, message: &Value) -> Value {
    json!({ "model": chats.model, "created_at": "2026-03-02T12:00:00Z", "message": message, "done": false })
}

fn ndjson_event(chats: &MockChat, message: &Value) -> WireEvent {
    WireEvent { bytes: format!("{}\n", chunk_json(chats, message)).into_bytes(), is_content: true }
}
