//! OpenAI's responses API.

use serde_json::{Value, json};

use super::{
    ApiCall, ApiError, MockChat, ModelRequest, ModelResponse, ProviderApi,
    model_request::MessageRole,
    model_response::{ResponsePart, WireEvent, argument_deltas, text_deltas},
    openai::{OpenaiChatApi, content_text},
};
use crate::{HttpRequest, HttpResponse};

pub(super) struct OpenaiResponsesApi;

impl ProviderApi for OpenaiResponsesApi {
    fn parse_request(&self, call: ApiCall<'_>) -> Result<ModelRequest, ApiError> {
        let ApiCall { mock, body, .. } = call;
        let model = body["model"].as_str().unwrap_or_default();
        if model != mock.model {
            return Err((404, format!("The requested model '{model}' does not exist.")));
        }
        parse_body(body).map_err(|message| (400, message))
    }

    fn render_response(&self, call: ApiCall<'_>, response: &ModelResponse) -> HttpResponse {
        let ApiCall { mock, body, .. } = call;
        let whole = full_body(mock, response);
        if body["stream"] != true {
            return HttpResponse::json(200, &whole);
        }
        let mut begun = whole.clone();
        (begun["status"], begun["output"]) = (json!("in_progress"), json!([]));
        let mut events = vec![(json!({ "type": "response.created", "response": begun }), false)];
        for (index, (part, item)) in response.parts.iter().zip(output_items(response)).enumerate() {
            events.push((json!({ "type": "response.output_item.added", "output_index": index, "item": item }), false));
            events.extend(content_deltas(index, part).into_iter().map(|delta| (delta, true)));
            events.push((
                json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
                false,
            ));
        }
        events.push((json!({ "type": "response.completed", "response": whole }), false));
        let numbered = events.into_iter().enumerate().map(|(number, (mut value, is_content))| {
            value["sequence_number"] = json!(number);
            sse_event(&value, is_content)
        });
        response.to_http("text/event-stream; charset=utf-8", numbered.collect(), |kind, message| {
            sse_event(&json!({ "type": "error", "code": kind, "message": message }), false).bytes
        })
    }

    fn error_response(&self, status: u16, message: &str) -> HttpResponse {
        OpenaiChatApi.error_response(status, message)
    }

    fn model_list(&self, mock: &MockChat) -> HttpResponse {
        OpenaiChatApi.model_list(mock)
    }

    fn has_valid_key(&self, request: &HttpRequest, key: &str) -> bool {
        OpenaiChatApi.has_valid_key(request, key)
    }
}

/// Parses the body of a request; the error says what is wrong with it.
fn parse_body(body: &Value) -> Result<ModelRequest, String> {
    let mut request = ModelRequest {
        system: body["instructions"].as_str().unwrap_or_default().to_owned(),
        ..ModelRequest::default()
    };
    if let Some(text) = body["input"].as_str() {
        request.messages.push((MessageRole::User, text.to_owned()));
        return Ok(request);
    }
    for item in body["input"].as_array().ok_or("'input' must be a text or a list")? {
        let text = content_text(&item["content"]);
        match (item["role"].as_str(), item["type"].as_str()) {
            (Some("system" | "developer"), _) => request.system += &text,
            (Some("user"), _) => request.messages.push((MessageRole::User, text)),
            (Some("assistant"), _) => request.messages.push((MessageRole::Model, text)),
            (None, Some("function_call")) => {}
            (None, Some("function_call_output")) => {
                request.messages.push((MessageRole::Tool, content_text(&item["output"])));
            }
            other => return Err(format!("an item {other:?} cannot stand here")),
        }
    }
    Ok(request)
}

fn output_items(response: &ModelResponse) -> Vec<Value> {
    let item = |(index, part): (usize, &ResponsePart)| match part {
        ResponsePart::Text(text) => json!({
            "id": format!("msg_{index}"), "type": "message", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [], "logprobs": [] }],
        }),
        ResponsePart::Thought(text) => json!({
            "id": format!("rs_{index}"), "type": "reasoning", "summary": [{ "type": "summary_text", "text": text }],
        }),
        ResponsePart::Call { name, arguments } => json!({
            "id": format!("fc_{index}"), "type": "function_call", "call_id": format!("call_s{index}"),
            "name": name, "arguments": arguments.to_string(), "status": "completed",
        }),
    };
    response.parts.iter().enumerate().map(item).collect()
}

fn content_deltas(index: usize, part: &ResponsePart) -> Vec<Value> {
    let (kind, pieces) = match part {
        ResponsePart::Text(text) => ("response.output_text.delta", text_deltas(text)),
        ResponsePart::Thought(text) => ("response.reasoning_summary_text.delta", text_deltas(text)),
        ResponsePart::Call { arguments, .. } => {
            ("response.function_call_arguments.delta", argument_deltas(arguments))
        }
    };
    let delta = |piece: &String| {
        json!({
            "type": kind, "item_id": format!("msg_{index}"), "output_index": index, "content_index": 0,
            "summary_index": 0, "delta": piece, "logprobs": [],
        })
    };
    pieces.iter().map(delta).collect()
}

fn full_body(mock: &MockChat, response: &ModelResponse) -> Value {
    let tokens = response.tokens;
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": mock.model,
        "output": output_items(response), "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": tokens.read, "input_tokens_details": { "cached_tokens": tokens.cached },
            "output_tokens": tokens.written, "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": tokens.read + tokens.written,
        },
    })
}

fn sse_event(value: &Value, is_content: bool) -> WireEvent {
    let name = value["type"].as_str().unwrap_or_default();
    WireEvent { bytes: format!("event: {name}\ndata: {value}\n\n").into_bytes(), is_content }
}
