//! Gemini's generate content API.

use serde_json::{Value, json};

use super::{
    ApiCall, ApiError, MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{FinishReason, ResponsePart, WireEvent, text_deltas},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct GeminiApi;

/// Signature of the first tool call of a response; the next request must return it.
const SIGNATURE: &str = "c2ln";

/// Known fields of a request; others are refused, as by the real server.
const FIELDS: [&str; 4] = ["contents", "system_instruction", "generationConfig", "tools"];

impl ProviderApi for GeminiApi {
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError> {
        let ApiCall { mock, request, body } = call;
        let expected = format!("/v1beta/models/{}:streamGenerateContent?alt=sse", mock.model);
        if request.path != expected {
            return Err((404, format!("{} is not found", request.path)));
        }
        parse_body(body).map_err(|message| (400, message))
    }

    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse {
        let mock = call.mock;
        let mut parts: Vec<Value> = response.parts.iter().flat_map(part_deltas).collect();
        // Of parallel calls only the first is signed.
        if let Some(first) = parts.iter_mut().find(|part| part["functionCall"].is_object()) {
            first["thoughtSignature"] = json!(SIGNATURE);
        }
        let mut events: Vec<WireEvent> = parts
            .iter()
            .map(|part| sse_event(&chunk_json(mock, response, std::slice::from_ref(part)), true))
            .collect();
        let mut last = chunk_json(mock, response, &[json!({ "text": "" })]);
        last["candidates"][0]["finishReason"] = json!(match response.stop {
            FinishReason::Done => "STOP",
            FinishReason::Length => "MAX_TOKENS",
            FinishReason::Refused => "SAFETY",
        });
        events.push(sse_event(&last, false));
        response.to_http("text/event-stream", events, |kind, message| {
            sse_event(&json!({ "error": { "message": message, "status": kind } }), false).bytes
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        let (status, message, name) = match status {
            401 => (400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
            403 => (403, message, "PERMISSION_DENIED"),
            404 => (404, message, "NOT_FOUND"),
            429 => (429, message, "RESOURCE_EXHAUSTED"),
            400..=499 => (status, message, "INVALID_ARGUMENT"),
            503 => (503, message, "UNAVAILABLE"),
            _ => (status, message, "INTERNAL"),
        };
        let error = json!({ "code": status, "message": message, "status": name });
        HttpResponse::json(status, &json!({ "error": error }))
    }

    fn model_list(&self, mock: &MockChat) -> HttpResponse {
        let chat_models = mock.models().map(|name| (name, "generateContent"));
        let embedder = ("text-embedding".to_owned(), "embedContent");
        let models = chat_models.into_iter().chain([embedder]).map(|(name, method)| {
            json!({ "name": format!("models/{name}"), "supportedGenerationMethods": [method] })
        });
        HttpResponse::json(200, &json!({ "models": models.collect::<Vec<_>>() }))
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        request.header("x-goog-api-key") == Some(key)
    }
}

/// Parses the body of a request; the error says what is wrong with it.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let fields = body.as_object().ok_or("Invalid JSON payload received")?;
    if let Some(odd) = fields.keys().find(|field| !FIELDS.contains(&field.as_str())) {
        return Err(format!("Unknown name \"{odd}\": Cannot find field."));
    }
    let system = body["system_instruction"]["parts"].as_array().into_iter().flatten();
    let system: Vec<&str> = system.filter_map(|part| part["text"].as_str()).collect();
    let json = body["generationConfig"]["responseMimeType"] == "application/json";
    let mut request = ModelRequest { system: system.join("\n\n"), json, ..ModelRequest::default() };
    for tool in body["tools"][0]["functionDeclarations"].as_array().into_iter().flatten() {
        let name =
            tool["name"].as_str().filter(|_| tool["parametersJsonSchema"]["type"] == "object");
        request.tools.push(name.ok_or("functionDeclarations: parameters are required")?.to_owned());
    }
    let mut called = 0_usize;
    for content in body["contents"].as_array().ok_or("contents is not specified")? {
        let role = content["role"].as_str().unwrap_or_default();
        let parts = content["parts"].as_array().filter(|parts| !parts.is_empty());
        let parts = parts.ok_or("contents.parts must not be empty")?;
        let answers = parts.iter().filter(|part| part["functionResponse"]["response"].is_object());
        if answers.count() != called {
            return Err(
                "the number of function response parts is not that of the function call parts"
                    .into(),
            );
        }
        let first = parts.iter().find(|part| part["functionCall"].is_object());
        if first.is_some_and(|call| call["thoughtSignature"] != SIGNATURE) {
            return Err("Function call is missing a thought_signature".into());
        }
        called = parts.iter().filter(|part| part["functionCall"]["args"].is_object()).count();
        for part in parts {
            request.messages.push(read_part(role, part)?);
        }
    }
    Ok(request)
}

fn read_part(role: &str, part: &Value) -> Result<(MessageRole, String), String> {
    let text = part["text"].as_str().unwrap_or_default().to_owned();
    match role {
        "user" if part["functionResponse"].is_object() => {
            Ok((MessageRole::Tool, part["functionResponse"]["response"].to_string()))
        }
        "user" => Ok((MessageRole::User, text)),
        "model" => Ok((MessageRole::Model, text)),
        _ => Err(format!("Please use a valid role: user, model; found \"{role}\"")),
    }
}

fn part_deltas(part: &ResponsePart) -> Vec<Value> {
    match part {
        ResponsePart::Text(text) => {
            text_deltas(text).iter().map(|text| json!({ "text": text })).collect()
        }
        ResponsePart::Thought(text) => {
            text_deltas(text).iter().map(|text| json!({ "text": text, "thought": true })).collect()
        }
        ResponsePart::Call { name, arguments } => {
            let call = json!({ "name": name, "args": arguments });
            vec![json!({ "functionCall": call })]
        }
    }
}

fn chunk_json(mock: &MockChat, response: &ModelResponse, parts: &[Value]) -> Value {
    let tokens = response.tokens;
    json!({
        "candidates": [{ "content": { "parts": parts, "role": "model" }, "index": 0, "safetyRatings": [] }],
        "usageMetadata": {
            "promptTokenCount": tokens.read, "cachedContentTokenCount": tokens.cached,
            "candidatesTokenCount": tokens.written, "totalTokenCount": tokens.read + tokens.written,
        },
        "modelVersion": mock.model, "responseId": "r1",
    })
}

fn sse_event(value: &Value, is_content: bool) -> WireEvent {
    WireEvent { bytes: format!("data: {value}\r\n\r\n").into_bytes(), is_content }
}
