//! Anthropic's messages API.

use serde_json::{Value, json};

use super::{
    ApiCall, ApiError, MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{FinishReason, ResponsePart, WireEvent, argument_deltas, text_deltas},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct AnthropicApi;

impl ProviderApi for AnthropicApi {
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError> {
        let ApiCall { mock, request, body } = call;
        if request.header("anthropic-version").is_none_or(str::is_empty) {
            return Err((400, "anthropic-version: header is required".to_owned()));
        }
        let model = body["model"].as_str().unwrap_or_default();
        if model != mock.model {
            return Err((404, format!("model: {model}")));
        }
        parse_body(body).map_err(|message| (400, message))
    }

    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse {
        let ApiCall { mock, body, .. } = call;
        if body["stream"] != true {
            return HttpResponse::json(200, &full_body(mock, response));
        }
        let events = stream_events(mock, response);
        response.to_http("text/event-stream; charset=utf-8", events, |kind, message| {
            let error = json!({ "type": "error", "error": { "type": kind, "message": message } });
            sse_event("error", &error, false).bytes
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400..=499 => "invalid_request_error",
            _ => "api_error",
        };
        let error = json!({ "type": kind, "message": message });
        HttpResponse::json(
            status,
            &json!({ "type": "error", "error": error, "request_id": "req_1" }),
        )
    }

    fn model_list(&self, mock: &MockChat) -> HttpResponse {
        let models = mock.models();
        let data = models.iter().map(|id| json!({ "type": "model", "id": id, "display_name": id }));
        HttpResponse::json(200, &json!({ "data": data.collect::<Vec<_>>(), "has_more": false }))
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        // Since version 2026-10-21 its own client sends the key as a bearer token.
        request.header("x-api-key") == Some(key)
            || request.header("authorization") == Some(format!("Bearer {key}").as_str())
    }
}

/// Parses the body of a request; the error says what is wrong with it.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let max_tokens = body["max_tokens"].as_u64().filter(|most| *most > 0);
    max_tokens.ok_or("max_tokens: Field required")?;
    let mut request =
        ModelRequest { system: parse_system(&body["system"])?, ..ModelRequest::default() };
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().filter(|_| tool["input_schema"]["type"] == "object");
        request.tools.push(name.ok_or("tools: input_schema is required")?.to_owned());
    }
    let messages = body["messages"].as_array().filter(|all| !all.is_empty());
    let mut open_calls: Vec<&str> = Vec::new();
    let mut before = "assistant";
    for message in messages.ok_or("messages: at least one message is required")? {
        let role = message["role"].as_str().unwrap_or_default();
        if role == before || !matches!(role, "user" | "assistant") {
            return Err(format!(
                "messages: roles must alternate, found \"{role}\" after \"{before}\""
            ));
        }
        before = role;
        if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
            request.messages.push((
                if role == "user" { MessageRole::User } else { MessageRole::Model },
                text.to_owned(),
            ));
            continue;
        }
        let blocks = message["content"].as_array().filter(|all| !all.is_empty());
        let start = request.messages.len();
        for block in blocks.ok_or("messages: content must not be empty")? {
            read_block(&mut request, role, block, &mut open_calls)?;
        }
        join_texts(&mut request.messages, start);
        if role == "user" && !open_calls.is_empty() {
            return Err(format!("messages: `tool_use` ids without `tool_result`: {open_calls:?}"));
        }
    }
    Ok(request)
}

/// Joins the texts of one message into one.
fn join_texts(messages: &mut Vec<(MessageRole, String)>, start: usize) {
    for (role, text) in messages.split_off(start) {
        match messages[start..].last_mut() {
            Some((before, joined)) if *before == role && role != MessageRole::Tool => {
                joined.push('\n');
                joined.push_str(&text);
            }
            _ => messages.push((role, text)),
        }
    }
}

fn read_block<'a>(
    request: &mut ModelRequest,
    role: &str,
    block: &'a Value,
    open_calls: &mut Vec<&'a str>,
) -> Result<(), String> {
    match (block["type"].as_str(), role) {
        (Some("text"), _) => {
            let text = block["text"].as_str().filter(|text| !text.trim().is_empty());
            let text = text.ok_or("messages: text content blocks must be non-empty")?.to_owned();
            request
                .messages
                .push((if role == "user" { MessageRole::User } else { MessageRole::Model }, text));
        }
        (Some("tool_use"), "assistant") => {
            let id = block["id"].as_str().filter(|_| block["input"].is_object());
            open_calls.push(id.ok_or("messages: tool_use needs an id and an object as input")?);
        }
        (Some("tool_result"), "user") => {
            let id = block["tool_use_id"].as_str().unwrap_or_default();
            let position = open_calls.iter().position(|known| *known == id);
            open_calls.remove(position.ok_or(format!("messages: unexpected `tool_use_id`: {id}"))?);
            let text = super::openai::content_text(&block["content"]);
            request.messages.push((MessageRole::Tool, text));
        }
        (other, _) => return Err(format!("messages: unexpected block {other:?} of {role}")),
    }
    Ok(())
}

fn parse_system(system: &Value) -> Result<String, String> {
    match system {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            let empty = texts.len() != blocks.len() || texts.iter().any(|text| text.is_empty());
            if empty {
                Err("system: text content blocks must be non-empty".into())
            } else {
                Ok(texts.join("\n\n"))
            }
        }
        _ => Err("system: must be a text or a list".into()),
    }
}

fn stream_events(mock: &MockChat, response: &ModelResponse) -> Vec<WireEvent> {
    let tokens = response.tokens;
    let start = json!({ "type": "message_start", "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": mock.model, "content": [],
        "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": tokens.read - tokens.cached, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.cached, "output_tokens": 1, "service_tier": "standard",
        },
    } });
    let mut events = vec![sse_event("message_start", &start, false)];
    events.push(sse_event("ping", &json!({ "type": "ping" }), false));
    for (index, part) in response.parts.iter().enumerate() {
        events.extend(block_events(index, part));
    }
    let delta = json!({ "stop_reason": stop_reason(response), "stop_sequence": null });
    let last = json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": tokens.written } });
    // The last two are one event, so that a fault before the end drops both.
    let mut end = sse_event("message_delta", &last, false);
    end.bytes.extend(sse_event("message_stop", &json!({ "type": "message_stop" }), false).bytes);
    events.push(end);
    events
}

fn block_events(index: usize, part: &ResponsePart) -> Vec<WireEvent> {
    let (start, deltas): (Value, Vec<Value>) = match part {
        ResponsePart::Text(text) => (
            json!({ "type": "text", "text": "" }),
            text_deltas(text)
                .iter()
                .map(|text| json!({ "type": "text_delta", "text": text }))
                .collect(),
        ),
        ResponsePart::Thought(text) => (
            json!({ "type": "thinking", "thinking": "", "signature": "" }),
            text_deltas(text)
                .iter()
                .map(|text| json!({ "type": "thinking_delta", "thinking": text }))
                .collect(),
        ),
        ResponsePart::Call { name, arguments } => (
            json!({ "type": "tool_use", "id": format!("toolu_s{index}"), "name": name, "input": {} }),
            argument_deltas(arguments)
                .iter()
                .map(|delta| json!({ "type": "input_json_delta", "partial_json": delta }))
                .collect(),
        ),
    };
    let start = json!({ "type": "content_block_start", "index": index, "content_block": start });
    let mut events = vec![sse_event("content_block_start", &start, false)];
    events.extend(deltas.iter().map(|delta| {
        let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
        sse_event("content_block_delta", &delta, true)
    }));
    let stop = json!({ "type": "content_block_stop", "index": index });
    events.push(sse_event("content_block_stop", &stop, false));
    events
}

/// Renders a response without streaming.
fn full_body(mock: &MockChat, response: &ModelResponse) -> Value {
    let block = |(index, part): (usize, &ResponsePart)| match part {
        ResponsePart::Text(text) => json!({ "type": "text", "text": text }),
        ResponsePart::Thought(text) => {
            json!({ "type": "thinking", "thinking": text, "signature": "s" })
        }
        ResponsePart::Call { name, arguments } => {
            json!({ "type": "tool_use", "id": format!("toolu_s{index}"), "name": name, "input": arguments })
        }
    };
    let content: Vec<Value> = response.parts.iter().enumerate().map(block).collect();
    let tokens = response.tokens;
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": mock.model, "content": content,
        "stop_reason": stop_reason(response), "stop_sequence": null,
        "usage": { "input_tokens": tokens.read, "output_tokens": tokens.written },
    })
}

fn sse_event(name: &str, value: &Value, is_content: bool) -> WireEvent {
    WireEvent { bytes: format!("event: {name}\ndata: {value}\n\n").into_bytes(), is_content }
}

fn stop_reason(response: &ModelResponse) -> &'static str {
    let calls = response.parts.iter().any(|part| matches!(part, ResponsePart::Call { .. }));
    match response.stop {
        FinishReason::Done if calls => "tool_use",
        FinishReason::Done => "end_turn",
        FinishReason::Length => "max_tokens",
        FinishReason::Refused => "refusal",
    }
}
