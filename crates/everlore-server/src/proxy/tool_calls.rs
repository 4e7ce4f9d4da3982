//! Tool calls since the last question, with their results, as the clients of each API send them back.

use everlore::types::RecordedCall;
use serde_json::{Value, value::RawValue};

use super::chat_api::ChatApi;

/// Most calls of an exchange that are recorded; of more, the last.
const MAX_CALLS: usize = 200;

/// Tool call of a model and what it returned.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProxiedCall {
    pub(super) call: RecordedCall,
    /// Text of the result; `None` while it is missing.
    pub(super) result: Option<String>,
    /// Number of the model's message that made it.
    pub(super) round: i64,
}

/// Reads the calls of some messages, in their order.
pub(super) fn read_calls(api: ChatApi, messages: &[&RawValue]) -> Vec<ProxiedCall> {
    let mut calls: Vec<ProxiedCall> = Vec::new();
    for (round, message) in (0..).zip(messages) {
        let Ok(message) = serde_json::from_str::<Value>(message.get()) else { continue };
        let made = match api {
            ChatApi::Chat => chat_calls(&message),
            ChatApi::Messages => message_calls(&message),
            ChatApi::Responses => response_call(&message).into_iter().collect(),
        };
        calls.extend(made.into_iter().map(|call| ProxiedCall { call, result: None, round }));
        for (id, text, failed) in results(api, &message) {
            let open = calls.iter_mut().find(|it| it.result.is_none() && it.call.id == id);
            if let Some(open) = open {
                (open.result, open.call.failed) = (Some(text), failed);
            }
        }
    }
    calls.drain(..calls.len().saturating_sub(MAX_CALLS));
    calls
}

fn chat_calls(message: &Value) -> Vec<RecordedCall> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    let call = |it: &Value| {
        let function = &it["function"];
        new_call(&it["id"], &function["name"], parsed(&function["arguments"]))
    };
    calls.filter_map(call).collect()
}

fn message_calls(message: &Value) -> Vec<RecordedCall> {
    let blocks = message["content"].as_array().into_iter().flatten();
    let uses = blocks.filter(|block| block["type"] == "tool_use");
    uses.filter_map(|it| new_call(&it["id"], &it["name"], it["input"].clone())).collect()
}

fn response_call(item: &Value) -> Option<RecordedCall> {
    let arguments = match item["type"].as_str()? {
        "function_call" => parsed(&item["arguments"]),
        "custom_tool_call" => item["input"].clone(),
        _ => return None,
    };
    new_call(&item["call_id"], &item["name"], arguments)
}

/// Result of a call: its id, its text, and `true` if it failed.
type CallResult = (Option<String>, String, bool);

fn results(api: ChatApi, message: &Value) -> Vec<CallResult> {
    match api {
        ChatApi::Chat if message["role"] == "tool" => {
            vec![(id(&message["tool_call_id"]), text(&message["content"]), false)]
        }
        ChatApi::Responses if message["call_id"].is_string() && !message["output"].is_null() => {
            vec![(id(&message["call_id"]), text(&message["output"]), false)]
        }
        ChatApi::Messages => {
            let blocks = message["content"].as_array().into_iter().flatten();
            let result =
                |it: &Value| (id(&it["tool_use_id"]), text(&it["content"]), it["is_error"] == true);
            blocks.filter(|block| block["type"] == "tool_result").map(result).collect()
        }
        _ => Vec::new(),
    }
}

fn new_call(id_value: &Value, name: &Value, arguments: Value) -> Option<RecordedCall> {
    let name = name.as_str().filter(|name| !name.is_empty())?.to_owned();
    Some(RecordedCall { id: id(id_value), name, arguments, ..RecordedCall::default() })
}

fn id(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Returns arguments that a model wrote as a text; what is no JSON stays a text.
fn parsed(arguments: &Value) -> Value {
    let text = arguments.as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| arguments.clone())
}

/// Joins the texts of a content: a string, or a list of parts.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(api: ChatApi, messages: &Value) -> Vec<ProxiedCall> {
        let raw = messages.to_string();
        let raw: Vec<&RawValue> = serde_json::from_str(&raw).unwrap();
        read_calls(api, &raw)
    }

    fn call(id: &str, name: &str, arguments: Value, failed: bool) -> RecordedCall {
        let (id, name) = (Some(id.into()), name.into());
        RecordedCall { id, name, arguments, failed, ..RecordedCall::default() }
    }

    #[test]
    fn calls_of_chat_completions_get_their_results() {
        let messages = json!([
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "查天气", "arguments": "{\"城市\":\"上海\"}" } },
                { "id": "b", "type": "function", "function": { "name": "run", "arguments": "not json" } }] },
            { "role": "tool", "tool_call_id": "b", "content": [{ "type": "text", "text": "two" }] },
            { "role": "tool", "tool_call_id": "a", "content": "晴" },
        ]);
        let found = read(ChatApi::Chat, &messages);
        assert_eq!(found[0].call, call("a", "查天气", json!({ "城市": "上海" }), false));
        assert_eq!(found[1].call, call("b", "run", json!("not json"), false));
        let results: Vec<_> = found.iter().map(|it| (it.result.as_deref(), it.round)).collect();
        assert_eq!(results, [(Some("晴"), 0), (Some("two"), 0)]);
    }

    #[test]
    fn calls_of_messages_and_responses_get_their_results() {
        let messages = json!([
            { "role": "assistant", "content": [{ "type": "text", "text": "so" },
                { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "ls" } }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t1", "is_error": true,
                "content": [{ "type": "text", "text": "no such file" }] }] },
        ]);
        let found = read(ChatApi::Messages, &messages);
        assert_eq!(found[0].call, call("t1", "Bash", json!({ "command": "ls" }), true));
        assert_eq!(found[0].result.as_deref(), Some("no such file"));
        let items = json!([
            { "type": "function_call", "call_id": "c1", "name": "add", "arguments": "{\"a\":1}" },
            { "type": "function_call_output", "call_id": "c1", "output": "2" },
            { "type": "reasoning" },
        ]);
        let found = read(ChatApi::Responses, &items);
        assert_eq!(found[0].call, call("c1", "add", json!({ "a": 1 }), false));
        assert_eq!(found[0].result.as_deref(), Some("2"));
    }

    #[test]
    fn what_is_no_call_is_left_alone() {
        let odd = json!([{}, 3, "x", { "tool_calls": 5 }, { "role": "tool" }, { "content": [{ "type": "tool_use" }] }]);
        for api in [ChatApi::Chat, ChatApi::Messages, ChatApi::Responses] {
            assert!(read(api, &odd).is_empty());
        }
    }
}
