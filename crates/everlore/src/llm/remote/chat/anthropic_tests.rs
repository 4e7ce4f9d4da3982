//! Tests of the Anthropic adapter: messages and stream events.

use std::collections::BTreeSet;

use super::*;
use crate::llm::chat::{ChatRequest, TokenUsage, ToolCall};

fn read(values: &[Value]) -> Result<Vec<ChatChunk>, StreamError> {
    let mut decoder = (AnthropicAdapter.traits().decoder)();
    let mut chunks = Vec::new();
    for value in values {
        chunks.extend(decoder.decode(value)?);
    }
    if !chunks.iter().any(|chunk| matches!(chunk, ChatChunk::End { .. })) {
        chunks.extend(decoder.finish(false)?);
    }
    Ok(chunks)
}

fn start(block: &Value) -> Value {
    json!({ "type": "content_block_start", "index": 0, "content_block": block })
}

fn delta(delta: &Value) -> Value {
    json!({ "type": "content_block_delta", "index": 0, "delta": delta })
}

fn stop(reason: &str) -> [Value; 2] {
    let delta = json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 8 } });
    [delta, json!({ "type": "message_stop" })]
}

#[test]
fn blocks_of_text_thoughts_and_calls_become_pieces_in_their_order() {
    let usage = json!({ "input_tokens": 5, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 85, "output_tokens": 1 });
    let [last, end] = stop("tool_use");
    let values = [
        json!({ "type": "message_start", "message": { "usage": usage } }),
        json!({ "type": "ping" }),
        start(&json!({ "type": "thinking", "thinking": "" })),
        delta(&json!({ "type": "thinking_delta", "thinking": "想" })),
        delta(&json!({ "type": "signature_delta", "signature": "x" })),
        json!({ "type": "content_block_stop", "index": 0 }),
        start(&json!({ "type": "text", "text": "" })),
        delta(&json!({ "type": "text_delta", "text": "好" })),
        json!({ "type": "content_block_stop", "index": 1 }),
        start(&json!({ "type": "tool_use", "id": "t1", "name": "save", "input": {} })),
        delta(&json!({ "type": "input_json_delta", "partial_json": "" })),
        delta(&json!({ "type": "input_json_delta", "partial_json": "{\"t\":" })),
        delta(&json!({ "type": "input_json_delta", "partial_json": "\"茶\"}" })),
        json!({ "type": "content_block_stop", "index": 2 }),
        start(&json!({ "type": "tool_use", "id": "t2", "name": "list", "input": {} })),
        json!({ "type": "content_block_stop", "index": 3 }),
        json!({ "type": "something_new", "of": "tomorrow" }),
        last,
        end,
    ];
    let call = |id: &str, name: &str, arguments| {
        ChatChunk::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
    };
    let tokens = TokenUsage { read: 100, cached: 85, written: 8 };
    let expected = [
        ChatChunk::Text("好".into()),
        call("t1", "save", json!({"t": "茶"})),
        call("t2", "list", json!({})),
        ChatChunk::End { stop: StopReason::ToolCalls, tokens },
    ];
    assert_eq!(read(&values).unwrap(), expected);
}

#[test]
fn each_reason_to_stop_is_understood() {
    let reasons = [
        ("end_turn", StopReason::Done),
        ("stop_sequence", StopReason::Done),
        ("max_tokens", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("model_context_window_exceeded", StopReason::Length),
    ];
    for (reason, expected) in reasons {
        let chunks = read(&stop(reason)).unwrap();
        assert!(matches!(chunks[0], ChatChunk::End { stop, .. } if stop == expected), "{reason}");
    }
}

#[test]
fn an_error_in_the_middle_and_a_missing_end_are_faults() {
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } });
    assert_eq!(read(std::slice::from_ref(&error)), Err(StreamError::Provider(error)));
    let half = delta(&json!({ "type": "text_delta", "text": "half" }));
    assert_eq!(read(&[half]), Err(StreamError::Truncated));
}

#[test]
fn messages_of_one_side_are_joined_and_empty_ones_left_out() {
    let call =
        |id: &str| ToolCall { id: id.into(), name: "f".into(), arguments: json!("no object") };
    let result = |id: &str, failed| ChatMessage::Tool {
        call: id.into(),
        name: "f".into(),
        text: "结果".into(),
        failed,
    };
    let sent = messages(
        &[
            ChatMessage::User { text: "q".into() },
            ChatMessage::Assistant { text: "  ".into(), calls: vec![call("a"), call("b")] },
            result("a", false),
            result("b", true),
            ChatMessage::User { text: "and?".into() },
            ChatMessage::Assistant { text: String::new(), calls: Vec::new() },
            ChatMessage::User { text: "well?".into() },
        ],
        None,
    );
    let tool_use = |id: &str| json!({ "type": "tool_use", "id": id, "name": "f", "input": { "arguments": "no object" } });
    let result = |id: &str, failed: bool| json!({ "type": "tool_result", "tool_use_id": id, "content": "结果", "is_error": failed });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let expected = [
        json!({ "role": "user", "content": [text("q")] }),
        json!({ "role": "assistant", "content": [tool_use("a"), tool_use("b")] }),
        json!({ "role": "user", "content": [result("a", false), result("b", true), text("and?"), text("well?")] }),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn only_what_stays_the_same_is_marked_for_the_cache() {
    let messages = vec![ChatMessage::User { text: "问".into() }];
    let request = ChatRequest { context: "only now".into(), messages, ..ChatRequest::default() };
    let learned = BTreeSet::new();
    let question = RequestParams {
        model: "m",
        request: &request,
        temperature: None,
        max_tokens: None,
        field_quirks: &learned,
    };
    let body = AnthropicAdapter.request_body(&question);
    let question =
        json!({ "type": "text", "text": "问", "cache_control": { "type": "ephemeral" } });
    let context = json!({ "type": "text", "text": "only now" });
    assert_eq!(body["messages"][0]["content"], json!([question, context]));
    assert_eq!(body.get("system"), None);
    assert_eq!(body["max_tokens"], MAX_TOKENS, "the protocol asks for a limit");
    assert_eq!(
        AnthropicAdapter.base_url("https://api.anthropic.com/v1/"),
        "https://api.anthropic.com"
    );
}
