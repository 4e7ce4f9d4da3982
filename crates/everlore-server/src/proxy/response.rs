//! Parsing the answer of a model from the relayed bytes, as far as they arrived.

use everlore::{
    internal::llm::{FrameDecoder, Framing},
    types::StepTokens,
};
use serde_json::Value;

use super::chat_api::ChatApi;

/// Answer of a model.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ProxiedReply {
    /// Text of the answer.
    pub(super) text: String,
    /// Id that the provider gave it.
    pub(super) id: Option<String>,
    /// Set when the model finished: it was not cut off and waits for no tool.
    pub(super) is_done: bool,
    /// Model that wrote it, as the provider names it.
    pub(super) model: Option<String>,
    /// Tokens that it took, as the provider counts them.
    pub(super) tokens: Option<StepTokens>,
}

/// Parses an answer: a stream of events, or one JSON value.
pub(super) fn parse_reply(api: ChatApi, is_stream: bool, bytes: &[u8]) -> ProxiedReply {
    let mut reply = ProxiedReply::default();
    for value in json_values(is_stream, bytes) {
        match api {
            ChatApi::Chat => reply.read_chat(&value),
            ChatApi::Messages => reply.read_messages(&value),
            ChatApi::Responses => reply.read_responses(&value),
        }
    }
    reply
}

fn json_values(is_stream: bool, bytes: &[u8]) -> Vec<Value> {
    if !is_stream {
        return serde_json::from_slice(bytes).into_iter().collect();
    }
    let mut decoder = FrameDecoder::new(Framing::Events);
    // A frame that is too long is no answer.
    let mut events = decoder.feed(bytes).unwrap_or_default();
    events.extend(decoder.finish());
    events.iter().filter_map(|event| serde_json::from_str(event).ok()).collect()
}

impl ProxiedReply {
    fn push_text(&mut self, text: &Value) {
        self.text += text.as_str().unwrap_or_default();
    }

    fn set_id(&mut self, id: &Value) {
        self.id = self.id.take().or_else(|| id.as_str().map(str::to_owned));
    }

    /// Reads model and token counts; a later count of a stream replaces an earlier one.
    fn read_metrics(&mut self, message: &Value) {
        if let Some(model) = message["model"].as_str() {
            self.model = Some(model.to_owned());
        }
        let usage = &message["usage"];
        if !usage.is_object() {
            return;
        }
        let count = |names: &[&str]| names.iter().find_map(|name| usage.pointer(name)?.as_u64());
        let before = self.tokens.unwrap_or_default();
        // Anthropic counts what it reads from its cache beside the rest of the prompt.
        let beside = count(&["/cache_read_input_tokens"]);
        let read = count(&["/prompt_tokens", "/input_tokens"]);
        let read = read.map(|read| read + beside.unwrap_or(0));
        let cached = beside.or_else(|| {
            count(&["/prompt_tokens_details/cached_tokens", "/input_tokens_details/cached_tokens"])
        });
        let written = count(&["/completion_tokens", "/output_tokens"]);
        self.tokens = Some(StepTokens {
            read: read.unwrap_or(before.read),
            cached: cached.unwrap_or(before.cached),
            written: written.unwrap_or(before.written),
        });
    }

    fn read_chat(&mut self, value: &Value) {
        self.set_id(&value["id"]);
        self.read_metrics(value);
        let choices = value["choices"].as_array().into_iter().flatten();
        // A client that asks for several answers shows the first one.
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.push_text(&choice["delta"]["content"]);
            self.push_text(&choice["message"]["content"]);
            if let Some(reason) = choice["finish_reason"].as_str() {
                self.is_done = reason == "stop";
            }
        }
    }

    fn read_messages(&mut self, value: &Value) {
        match value["type"].as_str() {
            Some("message_start") => {
                self.set_id(&value["message"]["id"]);
                self.read_metrics(&value["message"]);
            }
            Some("content_block_start") => self.push_text(&value["content_block"]["text"]),
            Some("content_block_delta") => self.push_text(&value["delta"]["text"]),
            Some("message_delta") => {
                self.set_stop_reason(&value["delta"]["stop_reason"]);
                self.read_metrics(value);
            }
            Some("message") => {
                self.set_id(&value["id"]);
                self.read_metrics(value);
                for block in value["content"].as_array().into_iter().flatten() {
                    self.push_text(&block["text"]);
                }
                self.set_stop_reason(&value["stop_reason"]);
            }
            _ => {}
        }
    }

    fn set_stop_reason(&mut self, reason: &Value) {
        self.is_done = matches!(reason.as_str(), Some("end_turn" | "stop_sequence"));
    }

    fn read_responses(&mut self, value: &Value) {
        match value["type"].as_str() {
            Some("response.created") => self.set_id(&value["response"]["id"]),
            Some("response.output_text.delta") => self.push_text(&value["delta"]),
            Some("response.completed") => {
                self.is_done = !has_tool_calls(&value["response"]["output"]);
                self.read_metrics(&value["response"]);
            }
            _ if value["object"] == "response" => {
                self.set_id(&value["id"]);
                self.read_metrics(value);
                let output = value["output"].as_array().into_iter().flatten();
                for part in output.filter_map(|item| item["content"].as_array()).flatten() {
                    self.push_text(&part["text"]);
                }
                self.is_done = value["status"] == "completed" && !has_tool_calls(&value["output"]);
            }
            _ => {}
        }
    }
}

/// Returns `true` if the output has tool calls.
fn has_tool_calls(output: &Value) -> bool {
    let items = output.as_array().into_iter().flatten();
    items
        .into_iter()
        .any(|item| matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(api: ChatApi, events: &[&str]) -> ProxiedReply {
        let bytes: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        parse_reply(api, true, bytes.as_bytes())
    }

    fn reply(text: &str, id: &str, is_done: bool) -> ProxiedReply {
        ProxiedReply {
            text: text.to_owned(),
            id: Some(id.to_owned()),
            is_done,
            ..ProxiedReply::default()
        }
    }

    #[test]
    fn model_and_tokens_are_read_from_every_api() {
        let chat = r#"{"id":"c","model":"gpt-5","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}"#;
        let reply = parse_reply(ChatApi::Chat, false, chat.as_bytes());
        let tokens = |read, cached, written| Some(StepTokens { read, cached, written });
        assert_eq!((reply.model.as_deref(), reply.tokens), (Some("gpt-5"), tokens(10, 4, 3)));
        let events = [
            r#"{"type":"message_start","message":{"id":"m","model":"claude","usage":{"input_tokens":7,"cache_read_input_tokens":90,"output_tokens":1}}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}"#,
        ];
        let reply = stream(ChatApi::Messages, &events);
        assert_eq!((reply.model.as_deref(), reply.tokens), (Some("claude"), tokens(97, 90, 12)));
        let events = [
            r#"{"type":"response.completed","response":{"model":"gpt-5","output":[],"usage":{"input_tokens":5,"output_tokens":2,"input_tokens_details":{"cached_tokens":1}}}}"#,
        ];
        assert_eq!(stream(ChatApi::Responses, &events).tokens, tokens(5, 1, 2));
    }

    #[test]
    fn chunks_of_chat_completions_are_put_together() {
        let events = [
            r#"{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"id":"c1","choices":[{"index":1,"delta":{"content":"other"}},{"index":0,"delta":{"content":"龙井"}}]}"#,
            r#"{"id":"c1","choices":[{"index":0,"delta":{"content":"茶"},"finish_reason":null}]}"#,
            r#"{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"id":"c1","choices":[],"usage":null}"#,
            "[DONE]",
        ];
        assert_eq!(stream(ChatApi::Chat, &events), reply("龙井茶", "c1", true));
        assert_eq!(stream(ChatApi::Chat, &events[..3]), reply("龙井茶", "c1", false), "cut off");
        let whole = r#"{"id":"c2","choices":[{"message":{"content":null,"tool_calls":[{}]},"finish_reason":"tool_calls"}]}"#;
        assert_eq!(parse_reply(ChatApi::Chat, false, whole.as_bytes()), reply("", "c2", false));
    }

    #[test]
    fn events_of_messages_are_put_together() {
        let events = [
            r#"{"type":"message_start","message":{"id":"m1","content":[]}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"hm"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so"}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
        ];
        assert_eq!(stream(ChatApi::Messages, &events), reply("Hi", "m1", true));
        let whole = r#"{"type":"message","id":"m2","content":[{"type":"text","text":"a"},{"type":"tool_use"}],"stop_reason":"tool_use"}"#;
        assert_eq!(
            parse_reply(ChatApi::Messages, false, whole.as_bytes()),
            reply("a", "m2", false)
        );
    }

    #[test]
    fn events_of_responses_are_put_together() {
        let events = [
            r#"{"type":"response.created","response":{"id":"r1"}}"#,
            r#"{"type":"response.output_text.delta","delta":"你"}"#,
            r#"{"type":"response.output_text.delta","delta":"好"}"#,
            r#"{"type":"response.output_text.done","text":"你好"}"#,
            r#"{"type":"response.completed","response":{"output":[{"type":"message"}]}}"#,
        ];
        assert_eq!(stream(ChatApi::Responses, &events), reply("你好", "r1", true));
        let whole = r#"{"object":"response","id":"r2","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]},{"type":"function_call"}]}"#;
        assert_eq!(
            parse_reply(ChatApi::Responses, false, whole.as_bytes()),
            reply("x", "r2", false)
        );
    }

    #[test]
    fn anything_else_gives_an_empty_reply() {
        for bytes in [&b""[..], b"\xff\xfe", b"data: {\n\n", b"{\"error\":{}}"] {
            for api in [ChatApi::Chat, ChatApi::Messages, ChatApi::Responses] {
                assert_eq!(parse_reply(api, true, bytes).text, "");
                assert_eq!(parse_reply(api, false, bytes), ProxiedReply::default());
            }
        }
    }
}
