//! What a program asks a model, as far as memory must know it, and the places in the bytes where something may be put in.
//!
//! The body is never written anew: fields that nobody here knows, the order of all of them, numbers and blanks stay as they
//! came, and with them what the provider keeps in its cache.

use std::ops::Range;

use everlore::text::injected_blocks::strip_injected_blocks;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::chat_api::ChatApi;

/// So many messages before a question tell it from the same words elsewhere in a conversation.
const CONTEXT_MESSAGES: usize = 2;

/// A request to a model.
#[derive(Debug, Default)]
pub(super) struct ProxiedRequest {
    /// The model, and where its name stands with its quotes.
    pub(super) model: Option<(String, Range<usize>)>,
    /// What the user said last, without blocks; empty if nothing.
    pub(super) question: String,
    /// What the user said first.
    pub(super) first_message: String,
    /// Everything that the user and the model said.
    pub(super) transcript: Vec<String>,
    /// What was said just before the question.
    pub(super) preceding: Vec<String>,
    /// How many messages there are.
    pub(super) message_count: usize,
    /// Whether the model is at work: it called tools since the question and is told what they answered.
    pub(super) in_tool_loop: bool,
    /// Whom the body names as the user.
    pub(super) user: Option<String>,
    /// The conversation, if the body names it.
    pub(super) session: Option<String>,
    /// The answer that this one follows, where the provider keeps the conversation.
    pub(super) previous_response: Option<String>,
    insertion: Option<InsertionPoint>,
}

/// Where a text can be added to what the user said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InsertionPoint {
    /// Inside a text, before its closing quote.
    Text(usize),
    /// In a list of parts, before its end.
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

/// A message, or what stands among messages.
#[derive(Deserialize)]
struct RawMessage<'a> {
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// Who is heard in an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageAuthor {
    User,
    Model,
    Tool,
    Other,
}

impl ProxiedRequest {
    /// Reads a body; none if it is not what the protocol says, which the provider may say in its own words.
    pub(super) fn parse(wire: ChatApi, text: &str) -> Option<Self> {
        let body: RawRequest<'_> = serde_json::from_str(text).ok()?;
        let mut asked = Self {
            model: body.model.and_then(|raw| Some((json_string(raw)?, byte_range(text, raw)))),
            user: body.user.and_then(json_string),
            previous_response: body.previous_response_id.and_then(json_string),
            ..Self::default()
        };
        asked.read_ids(&body);
        let said = if wire == ChatApi::Responses { body.input } else { body.messages }?;
        match json_string(said) {
            Some(question) if wire == ChatApi::Responses => {
                asked.read_single_input(text, said, &question)
            }
            _ => asked.read_messages(wire, text, said)?,
        }
        Some(asked)
    }

    /// The body with a text added to what the user said last.
    pub(super) fn insert_text(&self, wire: ChatApi, body: &str, added: &str) -> Option<String> {
        let quoted = |text: &str| Value::from(text).to_string();
        let (at, put) = match self.insertion? {
            InsertionPoint::Text(at) => {
                let quoted = quoted(&format!("\n\n{added}"));
                (at, quoted[1..quoted.len() - 1].to_owned())
            }
            InsertionPoint::Part { at, is_first } => {
                let comma = if is_first { "" } else { "," };
                let kind = wire.text_part();
                (at, format!(r#"{comma}{{"type":"{kind}","text":{}}}"#, quoted(added)))
            }
        };
        Some([&body[..at], &put, &body[at..]].concat())
    }

    /// The bytes of the body before that place.
    pub(super) fn prefix_bytes(&self) -> Option<usize> {
        self.insertion.map(|place| {
            let (InsertionPoint::Text(at) | InsertionPoint::Part { at, .. }) = place;
            at
        })
    }

    /// Whether a part of the body stands after the place where a text is added.
    pub(super) fn is_after_insertion(&self, range: &Range<usize>) -> bool {
        self.prefix_bytes().is_some_and(|at| range.start >= at)
    }

    fn read_single_input(&mut self, text: &str, said: &RawValue, question: &str) {
        self.question = strip_injected_blocks(question).into_owned();
        self.first_message.clone_from(&self.question);
        self.message_count = 1;
        self.insertion = insertion_point(text, said);
    }

    fn read_messages(&mut self, wire: ChatApi, text: &str, said: &RawValue) -> Option<()> {
        let raw: Vec<&RawValue> = serde_json::from_str(said.get()).ok()?;
        let items: Vec<RawMessage<'_>> =
            raw.iter().map(|raw| serde_json::from_str(raw.get()).ok()).collect::<Option<_>>()?;
        let voices: Vec<MessageAuthor> = items.iter().map(|item| item.author(wire)).collect();
        self.message_count = items.len();
        let own = |voice: &MessageAuthor| *voice == MessageAuthor::User;
        let (Some(first), Some(last)) = (voices.iter().position(own), voices.iter().rposition(own))
        else {
            self.in_tool_loop = voices.last() == Some(&MessageAuthor::Tool);
            return Some(());
        };
        let talk = items.iter().zip(&voices);
        let talk =
            talk.filter(|(_, voice)| matches!(voice, MessageAuthor::User | MessageAuthor::Model));
        self.transcript = talk.map(|(item, _)| item.text()).collect();
        self.first_message = items[first].text();
        self.question = items[last].text();
        self.preceding = items[last.saturating_sub(CONTEXT_MESSAGES)..last]
            .iter()
            .zip(&voices[last.saturating_sub(CONTEXT_MESSAGES)..last])
            .filter(|(_, voice)| matches!(voice, MessageAuthor::User | MessageAuthor::Model))
            .map(|(item, _)| item.text())
            .collect();
        self.in_tool_loop = voices[last..].contains(&MessageAuthor::Tool);
        self.insertion = items[last].content.and_then(|content| insertion_point(text, content));
        Some(())
    }

    /// The user and the conversation, where the body names them in one of the usual ways.
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
            // It names a machine and a conversation and no user.
            Some(session) => self.session = self.session.take().or(Some(session)),
            None => self.user = self.user.take().or_else(|| Some(id.to_owned())),
        }
    }
}

/// The conversation in what Claude Code sends as the user.
fn session_from_user_id(id: &str) -> Option<String> {
    if id.starts_with('{') {
        let value: Value = serde_json::from_str(id).ok()?;
        return value["session_id"].as_str().map(str::to_owned);
    }
    let (user, session) = id.split_once("_session_")?;
    user.starts_with("user_").then(|| session.to_owned())
}

impl RawMessage<'_> {
    fn author(&self, wire: ChatApi) -> MessageAuthor {
        let (role, kind) = (self.role.and_then(json_string), self.kind.and_then(json_string));
        match (role.as_deref(), kind.as_deref()) {
            (Some("tool" | "function"), _) => MessageAuthor::Tool,
            (None, Some(kind)) if kind.ends_with("_output") => MessageAuthor::Tool,
            (Some("user"), _) if wire == ChatApi::Messages && self.has_tool_result() => {
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

    /// What was said, without pictures and blocks.
    fn text(&self) -> String {
        let said = match self.content.and_then(json_string) {
            Some(text) => text,
            None => {
                let parts = self.parts();
                let texts: Vec<&str> =
                    parts.iter().filter_map(|part| part["text"].as_str()).collect();
                texts.join("\n")
            }
        };
        strip_injected_blocks(&said).into_owned()
    }
}

fn json_string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// Where a part stands in the text that it is borrowed from.
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

    fn read(wire: ChatApi, body: &str) -> ProxiedRequest {
        ProxiedRequest::parse(wire, body).unwrap()
    }

    #[test]
    fn a_text_is_put_after_the_last_words_of_the_user_and_nothing_else_changes() {
        let body = r#"{ "z":1.50, "messages" : [ {"role":"system","content":"S"}, {"role":"user","content":"早上好"},
            {"role":"assistant","content":"a"}, {"content":"My \"dog\"?\n","role":"user","x":[]} ], "tools":[{"b":1,"a":2}], "big":123456789012345678901234567890 }"#;
        let asked = read(ChatApi::Chat, body);
        assert_eq!(
            (asked.question.as_str(), asked.first_message.as_str()),
            ("My \"dog\"?", "早上好")
        );
        assert_eq!(asked.preceding, ["早上好", "a"]);
        let added = asked.insert_text(ChatApi::Chat, body, "<m>\n茶 \"x\"</m>").unwrap();
        let expected = body.replace("dog\\\"?\\n\"", "dog\\\"?\\n\\n\\n<m>\\n茶 \\\"x\\\"</m>\"");
        assert_eq!(added, expected);
    }

    #[test]
    fn a_list_of_parts_gets_one_more() {
        for (wire, kind) in [
            (ChatApi::Chat, "text"),
            (ChatApi::Messages, "text"),
            (ChatApi::Responses, "input_text"),
        ] {
            let field = if wire == ChatApi::Responses { "input" } else { "messages" };
            let body = format!(
                r#"{{"{field}":[{{"role":"user","content":[{{"type":"{kind}","text":"茶？","cache_control":{{}}}} ]}}]}}"#
            );
            let asked = read(wire, &body);
            assert_eq!(asked.question, "茶？");
            let added = asked.insert_text(wire, &body, "B").unwrap();
            assert_eq!(
                added,
                body.replace(" ]}", &format!(r#" ,{{"type":"{kind}","text":"B"}}]}}"#))
            );
        }
        let empty = r#"{"messages":[{"role":"user","content":[]}]}"#;
        let added = read(ChatApi::Chat, empty).insert_text(ChatApi::Chat, empty, "B").unwrap();
        assert_eq!(
            added,
            r#"{"messages":[{"role":"user","content":[{"type":"text","text":"B"}]}]}"#
        );
    }

    #[test]
    fn a_tool_loop_is_known_on_every_wire() {
        let chat = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[]},{"role":"tool","content":"r"}]}"#;
        let messages = r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[]},
            {"role":"user","content":[{"type":"tool_result","content":"r"},{"type":"text","text":"<system-reminder>x</system-reminder>"}]}]}"#;
        let responses = r#"{"input":[{"role":"user","content":"q"},{"type":"function_call"},{"type":"function_call_output","output":"r"}]}"#;
        for (wire, body) in
            [(ChatApi::Chat, chat), (ChatApi::Messages, messages), (ChatApi::Responses, responses)]
        {
            let asked = read(wire, body);
            assert!(asked.in_tool_loop, "{body}");
            assert_eq!(asked.question, "q");
        }
        let only =
            read(ChatApi::Responses, r#"{"input":[{"type":"function_call_output","output":"r"}]}"#);
        assert!(only.in_tool_loop && only.question.is_empty());
        let over = chat.replace("]}]}", "]},{}]}").replace("{\"role\":\"tool\",\"content\":\"r\"}]", "{\"role\":\"tool\",\"content\":\"r\"},{\"role\":\"assistant\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"next\"}]");
        assert!(!read(ChatApi::Chat, &over).in_tool_loop);
    }

    #[test]
    fn users_and_conversations_are_found_where_programs_put_them() {
        let names = |wire, body| {
            let asked = read(wire, body);
            (asked.user, asked.session)
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
    fn what_is_no_conversation_is_left_to_the_provider() {
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
