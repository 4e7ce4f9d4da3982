//! OpenAI's chat completions API.

use serde_json::{Value, json};

use super::{
    ApiCall, ApiError, MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{FinishReason, ResponsePart, WireEvent, argument_deltas, text_deltas},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct OpenaiChatApi;

impl ProviderApi for OpenaiChatApi {
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError> {
        let ApiCall { mock, body, .. } = call;
        let model = body["model"].as_str().unwrap_or_default();
        if model != mock.model {
            return Err((404, format!("The model `{model}` does not exist")));
        }
        let messages = body["messages"].as_array().into_iter().flatten();
        let lacks_reasoning =
            messages.filter(|message| message["role"] == "assistant").any(|message| {
                message["reasoning_content"].as_str().is_none_or(str::is_empty)
                    || !message["content"].is_string()
            });
        if mock.requires_reasoning && lacks_reasoning {
            return Err((
                400,
                "Missing `reasoning_content` field in the assistant message".to_owned(),
            ));
        }
        let request = parse_body(body).map_err(|message| (400, message))?;
        let says_json =
            request.messages.iter().any(|(_, text)| text.to_lowercase().contains("json"))
                || request.system.to_lowercase().contains("json");
        if request.json && !says_json {
            return Err((400, "'messages' must contain the word 'json' in some form".to_owned()));
        }
        Ok(request)
    }

    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse {
        let ApiCall { mock, body, .. } = call;
        if body["stream"] != true {
            return HttpResponse::json(200, &full_body(mock, response));
        }
        let mut events =
            vec![sse_event(&chunk(mock, &json!({ "role": "assistant", "content": "" })), false)];
        events.extend(
            content_deltas(response).iter().map(|delta| sse_event(&chunk(mock, delta), true)),
        );
        let mut last = chunk(mock, &json!({}));
        last["choices"][0]["finish_reason"] = json!(finish_reason(response));
        events.push(sse_event(&last, false));
        if body["stream_options"]["include_usage"] == true {
            let mut usage = chunk(mock, &json!({}));
            usage["choices"] = json!([]);
            usage["usage"] = usage_json(response);
            events.push(sse_event(&usage, false));
        }
        // The last two are one event, so that a fault before the end drops both.
        let end = events.pop().map(|event| [event.bytes, b"data: [DONE]\n\n".to_vec()].concat());
        events.push(WireEvent { bytes: end.unwrap_or_default(), is_content: false });
        response.to_http("text/event-stream; charset=utf-8", events, |kind, message| {
            sse_event(&json!({ "error": { "message": message, "type": kind } }), false).bytes
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        let kind = if status < 500 { "invalid_request_error" } else { "server_error" };
        let error = json!({ "message": message, "type": kind, "param": null, "code": null });
        HttpResponse::json(status, &json!({ "error": error }))
    }

    fn model_list(&self, mock: &MockChat) -> HttpResponse {
        let models = mock.models();
        let data = models.iter().map(|id| json!({ "id": id, "object": "model", "owned_by": "us" }));
        HttpResponse::json(200, &json!({ "object": "list", "data": data.collect::<Vec<_>>() }))
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        request.header("authorization") == Some(format!("Bearer {key}").as_str())
    }
}

/// Parses the body of a request; the error says what is wrong with it.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let messages = body["messages"].as_array().filter(|all| !all.is_empty());
    let messages = messages.ok_or("'messages' must be a list that is not empty")?;
    let mut request = ModelRequest {
        json: body["response_format"]["type"] == "json_object",
        tools: parse_tools(body)?,
        ..ModelRequest::default()
    };
    let mut open_calls: Vec<String> = Vec::new();
    for message in messages {
        let text = content_text(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") if request.messages.is_empty() => request.system += &text,
            Some("user") if open_calls.is_empty() => {
                request.messages.push((MessageRole::User, text))
            }
            Some("assistant") if open_calls.is_empty() => {
                open_calls = call_ids(message)?;
                request.messages.push((MessageRole::Model, text));
            }
            Some("tool") => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let position = open_calls.iter().position(|known| known == id);
                let position =
                    position.ok_or("a message of role 'tool' must answer a call before it")?;
                open_calls.remove(position);
                request.messages.push((MessageRole::Tool, text));
            }
            other => return Err(format!("a message of role {other:?} cannot stand here")),
        }
    }
    if open_calls.is_empty() {
        Ok(request)
    } else {
        Err(format!("calls without answer: {open_calls:?}"))
    }
}

/// Returns a text, or the joined texts of its parts.
pub(super) fn content_text(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    content.as_str().map_or_else(|| texts.join("\n"), str::to_owned)
}

fn call_ids(message: &Value) -> Result<Vec<String>, String> {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let id = |call: &Value| {
        let good = call["type"] == "function"
            && call["function"]["name"].is_string()
            && call["function"]["arguments"].is_string();
        let id = call["id"].as_str().filter(|id| good && !id.is_empty());
        id.map(str::to_owned).ok_or_else(|| format!("not a call: {call}"))
    };
    calls.iter().map(id).collect()
}

fn parse_tools(body: &Value) -> Result<Vec<String>, String> {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |tool: &Value| {
        let good = tool["type"] == "function" && tool["function"]["parameters"]["type"] == "object";
        let name = tool["function"]["name"].as_str().filter(|_| good);
        name.map(str::to_owned).ok_or_else(|| format!("not a tool: {tool}"))
    };
    tools.iter().map(name).collect()
}

fn chunk(mock: &MockChat, delta: &Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": mock.model,
        "system_fingerprint": "fp_1", "service_tier": "default", "obfuscation": "x",
        "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }],
    })
}

fn sse_event(value: &Value, is_content: bool) -> WireEvent {
    WireEvent { bytes: format!("data: {value}\n\n").into_bytes(), is_content }
}

/// Returns the deltas of a response.
fn content_deltas(response: &ModelResponse) -> Vec<Value> {
    let mut deltas = Vec::new();
    let mut calls = 0;
    for part in &response.parts {
        match part {
            ResponsePart::Text(text) => {
                deltas.extend(text_deltas(text).iter().map(|text| json!({ "content": text })));
            }
            ResponsePart::Thought(text) => deltas.extend(
                text_deltas(text)
                    .iter()
                    .map(|text| json!({ "content": null, "reasoning_content": text })),
            ),
            ResponsePart::Call { name, arguments } => {
                let id = format!("call_s{calls}");
                let start = json!({ "name": name, "arguments": "" });
                deltas.push(json!({ "tool_calls": [{ "index": calls, "id": id, "type": "function", "function": start }] }));
                deltas.extend(argument_deltas(arguments).iter().map(|delta| {
                    json!({ "tool_calls": [{ "index": calls, "function": { "arguments": delta } }] })
                }));
                calls += 1;
            }
        }
    }
    deltas
}

/// Renders a response without streaming.
fn full_body(mock: &MockChat, response: &ModelResponse) -> Value {
    let mut message = json!({ "role": "assistant", "content": "", "refusal": null });
    let mut calls = Vec::new();
    let mut content = String::new();
    for part in &response.parts {
        match part {
            ResponsePart::Text(text) => content += text,
            ResponsePart::Thought(text) => message["reasoning_content"] = json!(text),
            ResponsePart::Call { name, arguments } => calls.push(json!({
                "id": format!("call_s{}", calls.len()), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() },
            })),
        }
    }
    message["content"] = json!(content);
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice =
        json!({ "index": 0, "message": message, "finish_reason": finish_reason(response) });
    json!({ "id": "chatcmpl-1", "object": "chat.completion", "model": mock.model, "choices": [choice], "usage": usage_json(response) })
}

fn finish_reason(response: &ModelResponse) -> &'static str {
    let calls = response.parts.iter().any(|part| matches!(part, ResponsePart::Call { .. }));
    match response.stop {
        FinishReason::Done if calls => "tool_calls",
        FinishReason::Done => "stop",
        FinishReason::Length => "length",
        FinishReason::Refused => "content_filter",
    }
}

fn usage_json(response: &ModelResponse) -> Value {
    let tokens = response.tokens;
    json!({
        "prompt_tokens": tokens.read, "completion_tokens": tokens.written,
        "total_tokens": tokens.read + tokens.written,
        "prompt_tokens_details": { "cached_tokens": tokens.cached, "audio_tokens": 0 },
    })
}
