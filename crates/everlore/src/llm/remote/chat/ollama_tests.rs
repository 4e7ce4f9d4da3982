//! Tests of the Ollama adapter on lines as the server sends them.

use super::*;
use crate::llm::chat::{TokenUsage, ToolCall};

fn read(values: &[Value]) -> Result<Vec<ChatChunk>, StreamError> {
    let mut decoder = (OllamaAdapter.traits().decoder)();
    let mut chunks = Vec::new();
    for value in values {
        chunks.extend(decoder.decode(value)?);
    }
    if !chunks.iter().any(|chunk| matches!(chunk, ChatChunk::End { .. })) {
        chunks.extend(decoder.finish(false)?);
    }
    Ok(chunks)
}

fn part(message: &Value) -> Value {
    json!({ "model": "m", "message": message, "done": false })
}

#[test]
fn texts_calls_and_costs_are_read() {
    let calls = json!([
        { "function": { "name": "save", "arguments": { "t": "茶" } } },
        { "id": "given", "function": { "name": "find", "arguments": "{\"q\":1}" } },
    ]);
    let values = [
        part(&json!({ "role": "assistant", "content": "", "thinking": "想" })),
        part(&json!({ "role": "assistant", "content": "<think>hm</think>" })),
        part(&json!({ "role": "assistant", "content": "好的" })),
        part(&json!({ "role": "assistant", "content": "", "tool_calls": calls })),
        json!({ "message": { "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 9, "load_duration": 1 }),
    ];
    let call = |id: &str, name: &str, arguments| {
        ChatChunk::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
    };
    let tokens = TokenUsage { read: 26, cached: 0, written: 9 };
    let expected = [
        ChatChunk::Text("好的".into()),
        call("call_1", "save", json!({"t": "茶"})),
        call("given", "find", json!({"q": 1})),
        ChatChunk::End { stop: StopReason::ToolCalls, tokens },
    ];
    assert_eq!(read(&values).unwrap(), expected);
}

#[test]
fn an_error_and_a_missing_end_are_faults() {
    let error = json!({ "error": "model runner has unexpectedly stopped" });
    assert_eq!(read(std::slice::from_ref(&error)), Err(StreamError::Provider(error)));
    assert_eq!(read(&[part(&json!({ "content": "half" }))]), Err(StreamError::Truncated));
}

#[test]
fn messages_name_the_tool_and_give_objects() {
    let calls = vec![ToolCall { id: "x".into(), name: "f".into(), arguments: Value::Null }];
    assert_eq!(
        message_json(&ChatMessage::Assistant { text: String::new(), calls }),
        json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "f", "arguments": {} } }] })
    );
    let result =
        ChatMessage::Tool { call: "x".into(), name: "f".into(), text: "r".into(), failed: false };
    assert_eq!(message_json(&result), json!({ "role": "tool", "tool_name": "f", "content": "r" }));
}

#[test]
fn the_address_may_be_that_of_its_paths() {
    for given in ["http://h:11434", "http://h:11434/", "http://h:11434/v1", "http://h:11434/api/"] {
        assert_eq!(OllamaAdapter.base_url(given), "http://h:11434");
    }
}
