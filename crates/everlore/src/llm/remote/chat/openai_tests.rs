//! Tests of the OpenAI adapter on streams as servers really send them: cut anywhere, with gaps and in all dialects.

use std::collections::BTreeSet;

use super::*;
use crate::llm::chat::{ChatRequest, ChatTool, TokenUsage};

/// Decodes values up to the end of the stream.
fn read(values: &[Value], announced: bool) -> Result<Vec<ChatChunk>, StreamError> {
    let mut decoder = (OpenaiAdapter.traits().decoder)();
    let mut chunks = Vec::new();
    for value in values {
        chunks.extend(decoder.decode(value)?);
    }
    chunks.extend(decoder.finish(announced)?);
    Ok(chunks)
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn finish(reason: &str) -> Value {
    json!({ "choices": [{ "delta": {}, "finish_reason": reason }] })
}

fn calls(chunks: &[ChatChunk]) -> Vec<(String, String, Value)> {
    let call = |chunk: &ChatChunk| match chunk {
        ChatChunk::ToolCall(call) => {
            Some((call.id.clone(), call.name.clone(), call.arguments.clone()))
        }
        _ => None,
    };
    chunks.iter().filter_map(call).collect()
}

fn part(index: &Value, id: &Value, name: &Value, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    delta(&json!({ "tool_calls": [{ "index": index, "id": id, "function": function }] }))
}

const NO: Value = Value::Null;

#[test]
fn pieces_of_two_calls_are_put_together_by_their_number() {
    let values = [
        part(&json!(0), &json!("a"), &json!("save"), &json!("")),
        part(&json!(1), &json!("b"), &json!("find"), &json!("{\"q\"")),
        part(&json!(0), &NO, &NO, &json!("{\"t\":\"茶")),
        part(&json!(1), &NO, &NO, &json!(":1}")),
        part(&json!(0), &NO, &NO, &json!("\"}")),
        finish("tool_calls"),
    ];
    let chunks = read(&values, true).unwrap();
    let expected = [
        ("a".into(), "save".into(), json!({"t": "茶"})),
        ("b".into(), "find".into(), json!({"q": 1})),
    ];
    assert_eq!(calls(&chunks), expected);
    assert!(matches!(chunks[2], ChatChunk::End { stop: StopReason::ToolCalls, .. }));
}

#[test]
fn calls_without_numbers_or_ids_are_told_apart_all_the_same() {
    // Whole calls without an index, the name repeated, an empty id, arguments as an object.
    let values = [
        part(&NO, &json!(""), &json!("save"), &json!({"t": 1})),
        part(&NO, &NO, &json!("find"), &json!("{}")),
        finish("stop"),
    ];
    let chunks = read(&values, true).unwrap();
    let expected = [
        ("call_1".into(), "save".into(), json!({"t": 1})),
        ("call_2".into(), "find".into(), json!({})),
    ];
    assert_eq!(calls(&chunks), expected);
    assert!(
        matches!(chunks[2], ChatChunk::End { stop: StopReason::ToolCalls, .. }),
        "whatever its reason says"
    );

    // Every call with index 0, and each with an id of its own.
    let values = [
        part(&json!(0), &json!("a"), &json!("save"), &json!("{}")),
        part(&json!(0), &json!("b"), &json!("save"), &json!("{\"x\":2}")),
        finish("tool_calls"),
    ];
    assert_eq!(calls(&read(&values, true).unwrap()).len(), 2);

    // The name with every delta.
    let values = [
        part(&json!(0), &json!("a"), &json!("save"), &json!("{\"x\"")),
        part(&json!(0), &json!("a"), &json!("save"), &json!(":2}")),
        finish("tool_calls"),
    ];
    let expected = [("a".into(), "save".into(), json!({"x": 2}))];
    assert_eq!(calls(&read(&values, true).unwrap()), expected);
}

#[test]
fn arguments_that_are_no_object_are_passed_on_as_written() {
    let values = [part(&json!(0), &json!("a"), &json!("f"), &json!("{broken")), finish("stop")];
    assert_eq!(calls(&read(&values, true).unwrap())[0].2, json!("{broken"));
    let twice = json!("{\"a\":1}").to_string();
    let values = [part(&json!(0), &json!("a"), &json!("f"), &json!(twice)), finish("stop")];
    assert_eq!(calls(&read(&values, true).unwrap())[0].2, json!({"a": 1}));
}

#[test]
fn thoughts_gaps_and_unknown_fields_are_passed_over() {
    let values = [
        json!({ "id": "x", "choices": [], "prompt_filter_results": [{}] }),
        json!({ "choices": [{ "delta": { "role": "assistant", "content": null, "reasoning_content": "想" } }] }),
        delta(&json!({ "reasoning": "hm", "content": "" })),
        json!({ "choices": [{ "delta": { "content": "好" }, "finish_reason": "" }] }),
        delta(&json!({ "content": [{ "type": "thinking" }, { "type": "text", "text": "的" }] })),
        finish("stop"),
        json!({ "choices": [], "usage": null }),
    ];
    let chunks = read(&values, false).unwrap();
    let announced = [ChatChunk::Text("好".into()), ChatChunk::Text("的".into())];
    assert_eq!(chunks[..2], announced);
    assert_eq!(chunks[2], ChatChunk::End { stop: StopReason::Done, tokens: TokenUsage::default() });
}

#[test]
fn costs_are_read_in_both_dialects_and_the_last_ones_hold() {
    let cost = |usage: Value| {
        let values = [
            finish("stop"),
            json!({ "usage": { "prompt_tokens": 1 } }),
            json!({ "choices": [], "usage": usage }),
        ];
        match read(&values, true).unwrap().pop() {
            Some(ChatChunk::End { tokens, .. }) => tokens,
            other => panic!("{other:?}"),
        }
    };
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 3 } });
    assert_eq!(cost(usage), TokenUsage { read: 9, cached: 3, written: 4 });
    let usage = json!({ "prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5 });
    assert_eq!(cost(usage), TokenUsage { read: 9, cached: 5, written: 4 });
}

#[test]
fn each_reason_to_stop_is_understood() {
    let stop = |reason: &str| match read(&[finish(reason)], false).map(|mut chunks| chunks.pop()) {
        Ok(Some(ChatChunk::End { stop, .. })) => Ok(stop),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault),
    };
    assert_eq!(stop("stop"), Ok(StopReason::Done));
    assert_eq!(stop("eos"), Ok(StopReason::Done));
    assert_eq!(stop("length"), Ok(StopReason::Length));
    assert_eq!(stop("content_filter"), Ok(StopReason::Refused));
    assert_eq!(stop("insufficient_system_resource"), Err(StreamError::Truncated));
    let refusal = [delta(&json!({ "refusal": "no" })), finish("stop")];
    let chunks = read(&refusal, true).unwrap();
    assert_eq!(chunks[0], ChatChunk::Text("no".into()));
    assert!(matches!(chunks[1], ChatChunk::End { stop: StopReason::Refused, .. }));
}

#[test]
fn a_stream_that_never_said_why_it_stopped_was_cut_unless_it_said_that_it_ended() {
    let values = [delta(&json!({ "content": "half" }))];
    assert_eq!(read(&values, false), Err(StreamError::Truncated));
    assert_eq!(read(&values, true).unwrap().len(), 2);
    let bare = json!({ "object": "error", "message": "too long", "code": 400 });
    assert_eq!(read(std::slice::from_ref(&bare), true), Err(StreamError::Provider(bare)));
    let error = json!({ "error": { "message": "upstream", "code": 502 }, "choices": [] });
    assert_eq!(read(std::slice::from_ref(&error), true), Err(StreamError::Provider(error)));
}

#[test]
fn a_question_is_written_as_the_protocol_wants_it() {
    let (text, calls) = (
        String::new(),
        vec![ToolCall { id: "a".into(), name: "f".into(), arguments: json!({"x": "茶"}) }],
    );
    let request = ChatRequest {
        system: "S".into(),
        messages: vec![
            ChatMessage::User { text: "q".into() },
            ChatMessage::Assistant { text, calls },
            ChatMessage::Tool {
                call: "a".into(),
                name: "f".into(),
                text: "r".into(),
                failed: false,
            },
        ],
        tools: vec![ChatTool {
            name: "f".into(),
            description: "d".into(),
            schema: json!({"type": "object"}),
        }],
        ..ChatRequest::default()
    };
    let learned = BTreeSet::new();
    let question = RequestParams {
        model: "m",
        request: &request,
        temperature: None,
        max_tokens: None,
        field_quirks: &learned,
    };
    let expected = json!({
        "model": "m",
        "stream": true,
        "stream_options": { "include_usage": true },
        "messages": [
            { "role": "system", "content": "S" },
            { "role": "user", "content": "q" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "{\"x\":\"茶\"}" } },
            ] },
            { "role": "tool", "tool_call_id": "a", "content": "r" },
        ],
        "tools": [{ "type": "function", "function": { "name": "f", "description": "d", "parameters": { "type": "object" } } }],
    });
    assert_eq!(OpenaiAdapter.request_body(&question), expected);
}

#[test]
fn the_address_may_be_that_of_the_path() {
    assert_eq!(OpenaiAdapter.base_url("http://h/v1/chat/completions/"), "http://h/v1");
    assert_eq!(OpenaiAdapter.base_url("http://h/v1"), "http://h/v1");
}
