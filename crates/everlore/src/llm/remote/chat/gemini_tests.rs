//! Tests of the Gemini adapter.

use super::*;
use crate::llm::chat::TokenUsage;

fn read(values: &[Value]) -> Result<Vec<ChatChunk>, StreamError> {
    let mut decoder = (GeminiAdapter.traits().decoder)();
    let mut chunks = Vec::new();
    for value in values {
        chunks.extend(decoder.decode(value)?);
    }
    chunks.extend(decoder.finish(false)?);
    Ok(chunks)
}

fn parts_of(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }], "modelVersion": "m" })
}

fn finish(reason: &str) -> Value {
    json!({ "candidates": [{ "finishReason": reason }], "usageMetadata": {
        "promptTokenCount": 50, "cachedContentTokenCount": 30, "candidatesTokenCount": 4, "thoughtsTokenCount": 6,
    } })
}

#[test]
fn texts_calls_and_costs_are_read_and_thoughts_left_out() {
    let values = [
        parts_of(&json!([{ "text": "想", "thought": true }, { "text": "好" }])),
        parts_of(
            &json!([{ "functionCall": { "name": "save", "args": { "t": "茶" } }, "thoughtSignature": "c2ln" }]),
        ),
        parts_of(&json!([{ "functionCall": { "name": "list" } }, { "executableCode": {} }])),
        finish("STOP"),
    ];
    let call = |id: &str, name: &str, arguments| {
        ChatChunk::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
    };
    let tokens = TokenUsage { read: 50, cached: 30, written: 10 };
    let expected = [
        ChatChunk::Text("好".into()),
        call("call_1#c2ln", "save", json!({"t": "茶"})),
        call("call_2", "list", json!({})),
        ChatChunk::End { stop: StopReason::ToolCalls, tokens },
    ];
    assert_eq!(read(&values).unwrap(), expected);
}

#[test]
fn a_signature_goes_back_with_its_call() {
    let calls = vec![
        ToolCall { id: "call_1#c2ln".into(), name: "save".into(), arguments: json!({"t": 1}) },
        ToolCall { id: "call_2".into(), name: "list".into(), arguments: json!({}) },
    ];
    let result = |name: &str, failed| ChatMessage::Tool {
        call: "x".into(),
        name: name.into(),
        text: "r".into(),
        failed,
    };
    let messages = [
        ChatMessage::User { text: "q".into() },
        ChatMessage::Assistant { text: String::new(), calls },
        result("save", false),
        result("list", true),
    ];
    let sent = join_roles(messages.iter().map(message_parts), "parts");
    let expected = json!([
        { "role": "user", "parts": [{ "text": "q" }] },
        { "role": "model", "parts": [
            { "functionCall": { "name": "save", "args": { "t": 1 } }, "thoughtSignature": "c2ln" },
            { "functionCall": { "name": "list", "args": {} } },
        ] },
        { "role": "user", "parts": [
            { "functionResponse": { "name": "save", "response": { "output": "r" } } },
            { "functionResponse": { "name": "list", "response": { "error": "r" } } },
        ] },
    ]);
    assert_eq!(json!(sent), expected);
}

#[test]
fn stops_for_safety_are_refusals_and_others_are_told() {
    let stop = |value: Value| match read(&[value]).map(|mut chunks| chunks.pop()) {
        Ok(Some(ChatChunk::End { stop, .. })) => Ok(stop),
        Ok(other) => panic!("{other:?}"),
        Err(fault) => Err(fault),
    };
    for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
        assert_eq!(stop(finish(reason)), Ok(StopReason::Refused), "{reason}");
    }
    let blocked = json!({ "promptFeedback": { "blockReason": "PROHIBITED_CONTENT" } });
    assert_eq!(stop(blocked), Ok(StopReason::Refused));
    assert_eq!(stop(finish("MAX_TOKENS")), Ok(StopReason::Length));
    assert!(matches!(stop(finish("MALFORMED_FUNCTION_CALL")), Err(StreamError::Malformed(_))));
    assert_eq!(stop(finish("OTHER")), Err(StreamError::Truncated));
    assert_eq!(stop(parts_of(&json!([{ "text": "half" }]))), Err(StreamError::Truncated));
    let error =
        json!({ "error": { "code": 503, "message": "overloaded", "status": "UNAVAILABLE" } });
    assert_eq!(stop(error.clone()), Err(StreamError::Provider(error)));
}

#[test]
fn the_address_gets_its_version_where_none_is_given() {
    assert_eq!(GeminiAdapter.base_url("https://host"), "https://host/v1beta");
    assert_eq!(GeminiAdapter.base_url("https://host/v1beta/"), "https://host/v1beta");
    assert_eq!(
        GeminiAdapter.path("models/gemini-x"),
        "/models/gemini-x:streamGenerateContent?alt=sse"
    );
}
