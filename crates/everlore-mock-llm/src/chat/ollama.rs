//! Ollama's chat API.

use serde_json::{Value, json};

use super::{
    ApiCall, ApiError, MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{FinishReason, ResponsePart, WireEvent, text_deltas},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct OllamaApi;

impl ProviderApi for OllamaApi {
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError> {
        let ApiCall { mock, body, .. } = call;
        let model = body["model"].as_str().unwrap_or_default();
        if model != mock.model {
            return Err((404, format!("model '{model}' not found")));
        }
        parse_body(body).map_err(|message| (400, message))
    }

    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse {
        let mock = call.mock;
        let mut events: Vec<WireEvent> = response
            .parts
            .iter()
            .flat_map(message_deltas)
            .map(|message| ndjson_event(mock, &message))
            .collect();
        let mut last = chunk_json(mock, &json!({ "role": "assistant", "content": "" }));
        last["done"] = json!(true);
        last["done_reason"] =
            json!(if response.stop == FinishReason::Length { "length" } else { "stop" });
        last["total_duration"] = json!(1_000_000);
        last["prompt_eval_count"] = json!(response.tokens.read);
        last["eval_count"] = json!(response.tokens.written);
        events.push(WireEvent { bytes: format!("{last}\n").into_bytes(), is_content: false });
        response.to_http("application/x-ndjson", events, |_, message| {
            format!("{}\n", json!({ "error": message })).into_bytes()
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        HttpResponse::json(status, &json!({ "error": message }))
    }

    fn model_list(&self, mock: &MockChat) -> HttpResponse {
        let models = mock.models();
        let models = models.iter().map(|name| json!({ "name": name, "model": name, "size": 1 }));
        HttpResponse::json(200, &json!({ "models": models.collect::<Vec<_>>() }))
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        request.header("authorization") == Some(format!("Bearer {key}").as_str())
    }
}

/// Parses the body of a request; the error says what is wrong with it.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let mut request = ModelRequest { json: body["format"] == "json", ..ModelRequest::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["function"]["name"].as_str().filter(|_| tool["type"] == "function");
        request.tools.push(name.ok_or("invalid tool")?.to_owned());
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        let text =
            message["content"].as_str().ok_or("messages: content must be a string")?.to_owned();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        if calls.iter().any(|call| !call["function"]["arguments"].is_object()) {
            return Err("json: cannot unmarshal tool_calls.function.arguments".to_owned());
        }
        match message["role"].as_str() {
            Some("system") => request.system += &text,
            Some("user") => request.messages.push((MessageRole::User, text)),
            Some("assistant") => request.messages.push((MessageRole::Model, text)),
            Some("tool") if message["tool_name"].is_string() => {
                request.messages.push((MessageRole::Tool, text));
            }
            other => return Err(format!("invalid role: {other:?}")),
        }
    }
    Ok(request)
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

fn chunk_json(mock: &MockChat, message: &Value) -> Value {
    json!({ "model": mock.model, "created_at": "2026-03-02T12:00:00Z", "message": message, "done": false })
}

fn ndjson_event(mock: &MockChat, message: &Value) -> WireEvent {
    WireEvent { bytes: format!("{}\n", chunk_json(mock, message)).into_bytes(), is_content: true }
}
