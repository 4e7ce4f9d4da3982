//! Parsing a chat request as far as memory needs it, with byte positions for insertion.
//!
//! The body is never serialized again: unknown fields, field order, numbers and blanks stay as they are, and with them
//! the provider's prompt cache.

use std::ops::Range;

use everlore::internal::text::injected_blocks::strip_injected_blocks;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::chat_api::ChatApi;

/// Messages before a question that distinguish it from the same words elsewhere in a conversation.
const CONTEXT_MESSAGES: usize = 2;

/// Chat request of a client.
#[derive(Debug, Default)]
pub(super) struct ProxiedRequest {
    /// Model name, and its byte range including the quotes.
    pub(super) model: Option<(String, Range<usize>)>,
    /// Last user message, without injected blocks; empty if there is none.
    pub(super) question: String,
    /// First user message.
    pub(super) first_message: String,
    /// All messages of the user and the model.
    pub(super) transcript: Vec<String>,
    /// Messages just before the question.
    pub(super) preceding: Vec<String>,
    /// Number of messages.
    pub(super) message_count: usize,
    /// Set in a tool loop: the model called tools since the question, and the request has their results.
    pub(super) in_tool_loop: bool,
    /// User that the body names.
    pub(super) user: Option<String>,
    /// Session that the body names.
    pub(super) session: Option<String>,
    /// Response that the request continues, where the provider stores the conversation.
    pub(super) previous_response: Option<String>,
    insertion: Option<InsertionPoint>,
}

/// Position where text can be added to the last user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InsertionPoint {
    /// Inside a string, before its closing quote.
    Text(usize),
    /// In an array of parts, before its end.
    Part { at: usize, is_first: bool },
}

#[derive(Deserialize)]
struct RawRequest<'a> {
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    user: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
    #[serde(borrow)]
    previous_response_id: Option<&'a RawValue>,
}

/// Message, or another item of the array.
#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageAuthor {
    User,
    Model,
    Tool,
    Other,
}

impl ProxiedRequest {
    /// Parses a body; `None` if it does not fit the protocol, which the provider reports in its own words.
    pub(super) fn parse(api: ChatApi, text: &str) -> Option<Self> {
        let body: RawRequest<'_> = serde_json::from_str(text).ok()?;
        let mut request = Self {
            model: body.model.and_then(|raw| Some((json_string(raw)?, byte_range(text, raw)))),
            user: body.user.and_then(json_string),
            previous_response: body.previous_response_id.and_then(json_string),
            ..Self::default()
        };
        request.read_ids(&body);
        let messages = if api == ChatApi::Responses { body.input } else { body.messages }?;
        match json_string(messages) {
            Some(question) if api == ChatApi::Responses => {
                request.read_single_input(text, messages, &question)
            }
            _ => request.read_messages(api, text, messages)?,
        }
        Some(request)
    }

    /// Returns the body with a text added to the last user message.
    pub(super) fn insert_text(&self, api: ChatApi, body: &str, added: &str) -> Option<String> {
        let quoted = |text: &str| Value::from(text).to_string();
        let (at, put) = match self.insertion? {
            InsertionPoint::Text(at) => {
                let quoted = quoted(&format!("\n\n{added}"));
                (at, quoted[1..quoted.len() - 1].to_owned())
            }
            InsertionPoint::Part { at, is_first } => {
                let comma = if is_first { "" } else { "," };
                let kind = api.text_part();
                (at, format!(r#"{comma}{{"type":"{kind}","text":{}}}"#, quoted(added)))
            }
        };
        Some([&body[..at], &put, &body[at..]].concat())
    }

    /// Returns the bytes of the body before the insertion point.
    pub(super) fn prefix_bytes(&self) -> Option<usize> {
        self.insertion.map(|point| {
            let (InsertionPoint::Text(at) | InsertionPoint::Part { at, .. }) = point;
            at
        })
    }

    /// Returns `true` if a range of the body lies after the insertion point.
    pub(super) fn is_after_insertion(&self, range: &Range<usize>) -> bool {
        self.prefix_bytes().is_some_and(|at| range.start >= at)
    }

    fn read_single_input(&mut self, text: &str, input: &RawValue, question: &str) {
        self.question = strip_injected_blocks(question).into_owned();
        self.first_message.clone_from(&self.question);
        self.message_count = 1;
        self.insertion = insertion_point(text, input);
    }

    fn read_messages(&mut self, api: ChatApi, text: &str, messages: &RawValue) -> Option<()> {
        let raw: Vec<&RawValue> = serde_json::from_str(messages.get()).ok()?;
        let items: Vec<RawMessage<'_>> =
            raw.iter().map(|raw| serde_json::from_str(raw.get()).ok()).collect::<Option<_>>()?;
        let authors: Vec<MessageAuthor> = items.iter().map(|item| item.author(api)).collect();
        self.message_count = items.len();
        let is_user = |author: &MessageAuthor| *author == MessageAuthor::User;
        let first = authors.iter().position(is_user);
        let (Some(first), Some(last)) = (first, authors.iter().rposition(is_user)) else {
            self.in_tool_loop = authors.last() == Some(&MessageAuthor::Tool);
            return Some(());
        };
        let is_spoken =
            |author: &MessageAuthor| matches!(author, MessageAuthor::User | MessageAuthor::Model);
        let spoken = items.iter().zip(&authors).filter(|(_, author)| is_spoken(author));
        self.transcript = spoken.map(|(item, _)| item.text()).collect();
        self.first_message = items[first].text();
        self.question = items[last].text();
        self.preceding = items[last.saturating_sub(CONTEXT_MESSAGES)..last]
            .iter()
            .zip(&authors[last.saturating_sub(CONTEXT_MESSAGES)..last])
            .filter(|(_, author)| is_spoken(author))
            .map(|(item, _)| item.text())
            .collect();
        self.in_tool_loop = authors[last..].contains(&MessageAuthor::Tool);
        self.insertion = items[last].content.and_then(|content| insertion_point(text, content));
        Some(())
    }

    /// Reads user and session from the usual fields.
    fn read_ids(&mut self, body: &RawRequest<'_>) {
        let value =
            |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let metadata: Value = value(body.metadata).unwrap_or_default();
        let conversation: Value = value(body.conversation).unwrap_or_default();
        let named = [
            &metadata["session_id"],
            &metadata["conversation_id"],
            &conversation["id"],
            &conversation,
        ];
        self.session = named.into_iter().find_map(Value::as_str).map(str::to_owned);
        let Some(id) = metadata["user_id"].as_str() else { return };
        match session_from_user_id(id) {
            // It names a machine and a session, and no user.
            Some(session) => self.session = self.session.take().or(Some(session)),
            None => self.user = self.user.take().or_else(|| Some(id.to_owned())),
        }
    }
}

/// Returns the session in the `user_id` of Claude Code.
fn session_from_user_id(id: &str) -> Option<String> {
    if id.starts_with('{') {
        let value: Value = serde_json::from_str(id).ok()?;
        return value["session_id"].as_str().map(str::to_owned);
    }
    let (user, session) = id.split_once("_session_")?;
    user.starts_with("user_").then(|| session.to_owned())
}

impl RawMessage<'_> {
    fn author(&self, api: ChatApi) -> MessageAuthor {
        let (role, kind) = (self.role.and_then(json_string), self.kind.and_then(json_string));
        match (role.as_deref(), kind.as_deref()) {
            (Some("tool" | "function"), _) => MessageAuthor::Tool,
            (None, Some(kind)) if kind.ends_with("_output") => MessageAuthor::Tool,
            (Some("user"), _) if api == ChatApi::Messages && self.has_tool_result() => {
                MessageAuthor::Tool
            }
            (Some("user"), _) => MessageAuthor::User,
            (Some("assistant"), _) => MessageAuthor::Model,
            _ => MessageAuthor::Other,
        }
    }

    fn has_tool_result(&self) -> bool {
        self.parts()
            .iter()
            .any(|part| part["type"].as_str().is_some_and(|kind| kind.ends_with("tool_result")))
    }

    fn parts(&self) -> Vec<Value> {
        let content = self.content.filter(|raw| raw.get().starts_with('['));
        content.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// Returns the text, without images and injected blocks.
    fn text(&self) -> String {
        let text = match self.content.and_then(json_string) {
            Some(text) => text,
            None => {
                let parts = self.parts();
                let texts: Vec<&str> =
                    parts.iter().filter_map(|part| part["text"].as_str()).collect();
                texts.join("\n")
            }
        };
        strip_injected_blocks(&text).into_owned()
    }
}

fn json_string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Returns the byte range of a part in the text that it borrows from.
fn byte_range(whole: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - whole.as_ptr() as usize;
    start..start + part.get().len()
}

fn insertion_point(whole: &str, content: &RawValue) -> Option<InsertionPoint> {
    let (text, end) = (content.get(), byte_range(whole, content).end);
    match text.as_bytes().first()? {
        b'"' => Some(InsertionPoint::Text(end - 1)),
        b'[' => {
            let is_first = text[1..text.len() - 1].trim().is_empty();
            Some(InsertionPoint::Part { at: end - 1, is_first })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(api: ChatApi, body: &str) -> ProxiedRequest {
        ProxiedRequest::parse(api, body).unwrap()
    }

    #[test]
    fn a_text_is_put_after_the_last_words_of_the_user_and_nothing_else_changes() {
        let body = r#"{ "z":1.50, "messages" : [ {"role":"system","content":"S"}, {"role":"user","content":"早上好"},
            {"role":"assistant","content":"a"}, {"content":"My \"dog\"?\n","role":"user","x":[]} ], "tools":[{"b":1,"a":2}], "big":123456789012345678901234567890 }"#;
        let request = read(ChatApi::Chat, body);
        assert_eq!(
            (request.question.as_str(), request.first_message.as_str()),
            ("My \"dog\"?", "早上好")
        );
        assert_eq!(request.preceding, ["早上好", "a"]);
        let with_text = request.insert_text(ChatApi::Chat, body, "<m>\n茶 \"x\"</m>").unwrap();
        let expected = body.replace("dog\\\"?\\n\"", "dog\\\"?\\n\\n\\n<m>\\n茶 \\\"x\\\"</m>\"");
        assert_eq!(with_text, expected);
    }

    #[test]
    fn a_list_of_parts_gets_one_more() {
        for (api, kind) in [
            (ChatApi::Chat, "text"),
            (ChatApi::Messages, "text"),
            (ChatApi::Responses, "input_text"),
        ] {
            let field = if api == ChatApi::Responses { "input" } else { "messages" };
            let body = format!(
                r#"{{"{field}":[{{"role":"user","content":[{{"type":"{kind}","text":"茶？","cache_control":{{}}}} ]}}]}}"#
            );
            let request = read(api, &body);
            assert_eq!(request.question, "茶？");
            let with_text = request.insert_text(api, &body, "B").unwrap();
            assert_eq!(
                with_text,
                body.replace(" ]}", &format!(r#" ,{{"type":"{kind}","text":"B"}}]}}"#))
            );
        }
        let empty = r#"{"messages":[{"role":"user","content":[]}]}"#;
        let with_text = read(ChatApi::Chat, empty).insert_text(ChatApi::Chat, empty, "B").unwrap();
        assert_eq!(
            with_text,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"B"}]}]}"#
        );
    }

    #[test]
    fn a_tool_loop_is_recognized_in_every_api() {
        let chat = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"r"}]}"#;
        let messages = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[]},
            {"role":"user","content":[{"type":"tool_result","content":"r"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]}]}"#;
        let responses = r#"{"input":[{"role":"user","content":"q"},{"type":"function_call"},{"type":"function_call_output","output":"r"}]}"#;
        for (api, body) in
            [(ChatApi::Chat, chat), (ChatApi::Messages, messages), (ChatApi::Responses, responses)]
        {
            let request = read(api, body);
            assert!(request.in_tool_loop, "{body}");
            assert_eq!(request.question, "q");
        }
        let only =
            read(ChatApi::Responses, r#"{"input":[{"type":"function_call_output","output":"r"}]}"#);
        assert!(only.in_tool_loop && only.question.is_empty());
        let over = chat.replace("]}]}", "]},{}]}").replace("{\"role\":\"tool\",\"content\":\"r\"}]", "{\"role\":\"tool\",\"content\":\"r\"},{\"role\":\"assistant\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"next\"}]");
        assert!(!read(ChatApi::Chat, &over).in_tool_loop);
    }

    #[test]
    fn users_and_sessions_are_found_where_clients_put_them() {
        let names = |api, body| {
            let request = read(api, body);
            (request.user, request.session)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            names(ChatApi::Chat, r#"{"messages":[],"user":"ann","metadata":{"session_id":"s"}}"#),
            (some("ann"), some("s"))
        );
        assert_eq!(
            names(ChatApi::Responses, r#"{"input":"hi","conversation":{"id":"conv_1"}}"#),
            (None, some("conv_1"))
        );
        assert_eq!(
            names(ChatApi::Messages, r#"{"messages":[],"metadata":{"user_id":"王"}}"#),
            (some("王"), None)
        );
        let code = r#"{"messages":[],"metadata":{"user_id":"user_ab12_account__session_9f-1"}}"#;
        assert_eq!(names(ChatApi::Messages, code), (None, some("9f-1")));
        let code = r#"{"messages":[],"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"9f-2\"}"}}"#;
        assert_eq!(names(ChatApi::Messages, code), (None, some("9f-2")));
    }

    #[test]
    fn other_bodies_are_left_to_the_provider() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"messages":3}"#,
            r#"{"messages":[3]}"#,
            r#"{"messages":[],"messages":[]}"#,
        ] {
            assert!(ProxiedRequest::parse(ChatApi::Chat, body).is_none(), "{body}");
        }
        let none = read(ChatApi::Chat, r#"{"messages":[{"role":"system","content":"s"}]}"#);
        assert_eq!(none.insert_text(ChatApi::Chat, "", "B"), None);
    }
}
