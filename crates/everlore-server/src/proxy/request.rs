//! Parsing a chat request as far as memory needs it, with byte positions for insertion.
//!
//! The body is never serialized again: unknown fields, field order, numbers and blanks stay as they are, and with them
//! the provider's prompt cache.

use std::ops::Range;

use everlore::internal::text::{
    injected_blocks::strip_injected_blocks, quoted_text::SpokenText, side_requests::is_side_request,
};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    chat_api::ChatApi,
    conversation::chain_links,
    raw_content::{byte_range, content_parts, insertion_point, json_string, text_parts},
    tool_calls::{ProxiedCall, read_calls},
};

/// Messages before a question that distinguish it from the same words elsewhere in a conversation.
const CONTEXT_MESSAGES: usize = 2;

/// Messages of other people before a question that are stored with it; of more, the last.
const MAX_UNANSWERED: usize = 20;

/// Message of a named person that no answer followed: the question of somebody else came first.
#[derive(Debug)]
pub(super) struct UnansweredMessage {
    pub(super) text: String,
    pub(super) speaker: String,
    /// Digest of the messages up to it.
    pub(super) link: String,
    /// Messages just before it.
    pub(super) preceding: Vec<String>,
}

/// Chat request of a client.
#[derive(Debug, Default)]
pub(super) struct ProxiedRequest {
    /// Model name, and its byte range including the quotes.
    pub(super) model: Option<(String, Range<usize>)>,
    /// Own words of the last user message; empty if there is none.
    pub(super) question: String,
    /// Last user message with what it quotes; the store keeps own words and quotes apart.
    pub(super) question_with_quotes: String,
    /// Name that the client gives the author of the question.
    pub(super) speaker: Option<String>,
    /// Messages of named people between the last answer and the question, in their order.
    pub(super) unanswered: Vec<UnansweredMessage>,
    /// Digests of the messages of the user and the model up to the question, each with all before it.
    pub(super) chain: Vec<String>,
    /// All messages of the user and the model.
    pub(super) transcript: Vec<String>,
    /// Messages just before the question.
    pub(super) preceding: Vec<String>,
    /// Number of messages.
    pub(super) message_count: usize,
    /// Set in a tool loop: the model called tools since the question, and the request has their results.
    pub(super) in_tool_loop: bool,
    /// Tool calls since the question.
    pub(super) calls: Vec<ProxiedCall>,
    /// User that the body names.
    pub(super) user: Option<String>,
    /// Session that the body names.
    pub(super) session: Option<String>,
    /// Response that the request continues, where the provider stores the conversation.
    pub(super) previous_response: Option<String>,
    /// Set for a request that the host makes on its own account, such as one for a title.
    pub(super) is_side_request: bool,
    insertion: Option<InsertionPoint>,
}

/// Position where text can be added to the last user message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InsertionPoint {
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
    #[serde(borrow)]
    prompt_cache_key: Option<&'a RawValue>,
    #[serde(borrow)]
    client_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    #[serde(borrow)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    max_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_completion_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    max_output_tokens: Option<&'a RawValue>,
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
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

/// Message with what it says.
struct ProxiedMessage {
    author: MessageAuthor,
    /// Text as it was sent.
    raw_text: String,
    /// Own words of its author.
    text: String,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageAuthor {
    User,
    Model,
    Tool,
    Other,
}

impl MessageAuthor {
    fn is_spoken(self) -> bool {
        matches!(self, Self::User | Self::Model)
    }
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
                request.read_single_input(text, &body, messages, &question)
            }
            _ => request.read_messages(api, text, &body, messages)?,
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

    fn read_single_input(
        &mut self,
        text: &str,
        body: &RawRequest<'_>,
        input: &RawValue,
        question: &str,
    ) {
        self.question = SpokenText::parse(question).own.into_owned();
        self.question_with_quotes = strip_injected_blocks(question).into_owned();
        self.chain = chain_links([(MessageAuthor::User, self.question.as_str())]);
        self.message_count = 1;
        self.insertion = insertion_point(text, input);
        self.is_side_request = body.is_side_request(question, Vec::new());
    }

    fn read_messages(
        &mut self,
        api: ChatApi,
        text: &str,
        body: &RawRequest<'_>,
        messages: &RawValue,
    ) -> Option<()> {
        let raw: Vec<&RawValue> = serde_json::from_str(messages.get()).ok()?;
        let items: Vec<RawMessage<'_>> =
            raw.iter().map(|raw| serde_json::from_str(raw.get()).ok()).collect::<Option<_>>()?;
        let messages: Vec<ProxiedMessage> = items.iter().map(|item| item.read(api)).collect();
        self.message_count = items.len();
        self.is_side_request = body.is_side_in(&messages);
        let Some(last) = messages.iter().rposition(|it| it.author == MessageAuthor::User) else {
            let author = messages.last().map(|message| message.author);
            self.in_tool_loop = author == Some(MessageAuthor::Tool);
            return Some(());
        };
        self.transcript = spoken(&messages);
        self.question.clone_from(&messages[last].text);
        self.question_with_quotes = strip_injected_blocks(&messages[last].raw_text).into_owned();
        self.speaker = items[last].name.and_then(json_string);
        self.preceding = spoken(&messages[last.saturating_sub(CONTEXT_MESSAGES)..last]);
        let up_to = messages[..=last].iter().filter(|message| message.author.is_spoken());
        self.chain = chain_links(up_to.map(|message| (message.author, message.text.as_str())));
        self.unanswered = unanswered_before(last, &messages, &items, &self.chain);
        let after = &messages[last..];
        self.in_tool_loop = after.iter().any(|message| message.author == MessageAuthor::Tool);
        let since = if self.in_tool_loop { &raw[last..] } else { &[] };
        self.calls = read_calls(api, since);
        self.insertion = items[last].content.and_then(|content| insertion_point(text, content));
        Some(())
    }

    /// Reads user and session from the usual fields.
    fn read_ids(&mut self, body: &RawRequest<'_>) {
        let value =
            |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let metadata: Value = value(body.metadata).unwrap_or_default();
        let conversation: Value = value(body.conversation).unwrap_or_default();
        let client: Value = value(body.client_metadata).unwrap_or_default();
        let named = [
            &metadata["session_id"],
            &metadata["sessionId"],
            &metadata["conversation_id"],
            &conversation["id"],
            &conversation,
            &client["session_id"],
            &client["thread_id"],
        ];
        let cache_key = body
            .prompt_cache_key
            .and_then(json_string)
            .filter(|key| super::session::is_session_id(key));
        self.session = named.into_iter().find_map(Value::as_str).map(str::to_owned);
        self.session =
            self.session.take().or_else(|| body.session_id.and_then(json_string)).or(cache_key);
        let Some(id) = metadata["user_id"].as_str() else { return };
        match session_from_user_id(id) {
            // It names a machine and a session, and no user.
            Some(session) => self.session = self.session.take().or(Some(session)),
            None => self.user = self.user.take().or_else(|| Some(id.to_owned())),
        }
    }
}

impl RawRequest<'_> {
    /// Returns `true` if the host makes a request of these messages on its own account.
    fn is_side_in(&self, messages: &[ProxiedMessage]) -> bool {
        let others = messages.iter().filter(|message| message.author == MessageAuthor::Other);
        let system = others.map(|message| message.raw_text.clone()).collect();
        // What a host writes in the user's name is no user's message to us.
        let last = messages.iter().rfind(|message| message.author != MessageAuthor::Model);
        self.is_side_request(last.map_or("", |last| &last.raw_text), system)
    }

    fn is_side_request(&self, last_message: &str, mut system: Vec<String>) -> bool {
        for raw in [self.system, self.instructions].into_iter().flatten() {
            system.extend(text_parts(raw));
        }
        let limits = [self.max_tokens, self.max_completion_tokens, self.max_output_tokens];
        let number = |raw: &RawValue| serde_json::from_str::<u64>(raw.get()).ok();
        let max_tokens = limits.into_iter().flatten().find_map(number);
        is_side_request(&system, last_message, max_tokens)
    }
}

/// Returns what the user and the model say in some messages.
fn spoken(messages: &[ProxiedMessage]) -> Vec<String> {
    let spoken = messages.iter().filter(|message| message.author.is_spoken());
    spoken.map(|message| message.text.clone()).collect()
}

/// Returns the messages of named people since the last answer before the message at `last`. What has no name may be the
/// host's, in the user's name.
fn unanswered_before(
    last: usize,
    messages: &[ProxiedMessage],
    items: &[RawMessage<'_>],
    chain: &[String],
) -> Vec<UnansweredMessage> {
    let is_answer = |message: &ProxiedMessage| message.author == MessageAuthor::Model;
    let start = messages[..last].iter().rposition(is_answer).map_or(0, |at| at + 1);
    let start = start.max(last.saturating_sub(MAX_UNANSWERED));
    let unanswered = |at: usize| {
        let message = &messages[at];
        let spoken_before = messages[..at].iter().filter(|it| it.author.is_spoken()).count();
        let speaker = items[at].name.and_then(json_string)?;
        (message.author == MessageAuthor::User && !message.text.is_empty()).then(|| {
            UnansweredMessage {
                text: message.text.clone(),
                speaker,
                link: chain[spoken_before].clone(),
                preceding: spoken(&messages[at.saturating_sub(CONTEXT_MESSAGES)..at]),
            }
        })
    };
    (start..last).filter_map(unanswered).collect()
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
    /// Reads who wrote the message and what it says. A user message that says nothing of its own is a tool's result or
    /// the host's.
    fn read(&self, api: ChatApi) -> ProxiedMessage {
        let raw_text = self.content.map(text_parts).unwrap_or_default().join("\n");
        let author = self.author(api);
        if author != MessageAuthor::User {
            let text = strip_injected_blocks(&raw_text).into_owned();
            return ProxiedMessage { author, raw_text, text };
        }
        let SpokenText { own, quoted } = SpokenText::parse(&raw_text);
        let author = match (own.is_empty(), quoted.is_empty()) {
            (false, _) => MessageAuthor::User,
            (true, false) => MessageAuthor::Tool,
            // Without any text it is a picture or a file.
            (true, true) if raw_text.trim().is_empty() => MessageAuthor::User,
            (true, true) => MessageAuthor::Other,
        };
        let text = own.into_owned();
        ProxiedMessage { author, raw_text, text }
    }

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
        let parts = self.content.map(content_parts).unwrap_or_default();
        parts
            .iter()
            .any(|part| part["type"].as_str().is_some_and(|kind| kind.ends_with("tool_result")))
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
        assert_eq!((request.question.as_str(), request.chain.len()), ("My \"dog\"?", 3));
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
        let codex = r#"{"input":"hi","prompt_cache_key":"019a9544-7ab1-73c1-837e-1fa681f4462b"}"#;
        let id = some("019a9544-7ab1-73c1-837e-1fa681f4462b");
        assert_eq!(names(ChatApi::Responses, codex), (None, id));
        let constant = r#"{"input":"hi","prompt_cache_key":"our-app-2026"}"#;
        assert_eq!(names(ChatApi::Responses, constant), (None, None));
        let codex = r#"{"input":"hi","client_metadata":{"session_id":"s-7"}}"#;
        assert_eq!(names(ChatApi::Responses, codex), (None, some("s-7")));
        let qwen = r#"{"messages":[],"metadata":{"sessionId":"q-1","promptId":"q-1########2"}}"#;
        assert_eq!(names(ChatApi::Chat, qwen), (None, some("q-1")));
        let code = r#"{"messages":[],"metadata":{"user_id":"user_ab12_account__session_9f-1"}}"#;
        assert_eq!(names(ChatApi::Messages, code), (None, some("9f-1")));
        let code = r#"{"messages":[],"metadata":{"user_id":"{\"device_id\":\"d\",\"session_id\":\"9f-2\"}"}}"#;
        assert_eq!(names(ChatApi::Messages, code), (None, some("9f-2")));
    }

    #[test]
    fn what_hosts_and_tools_write_in_the_users_name_is_not_the_question() {
        let codex = r##"{"input":[{"role":"user","content":"# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>Use tabs.</INSTRUCTIONS>"},
            {"role":"user","content":"<environment_context>x</environment_context>"},{"role":"user","content":"我住在上海"}]}"##;
        let request = read(ChatApi::Responses, codex);
        assert_eq!(
            (request.question.as_str(), &request.transcript[..]),
            ("我住在上海", &["我住在上海".to_owned()][..])
        );
        let cline = r#"{"messages":[{"role":"user","content":"<task>Fix it</task>"},{"role":"assistant","content":"<read_file/>"},
            {"role":"user","content":[{"type":"text","text":"[read_file for 'a'] Result:"},{"type":"text","text":"<file_content>I am Rex</file_content>"}]}]}"#;
        let request = read(ChatApi::Chat, cline);
        assert!(
            request.in_tool_loop && !request.transcript.iter().any(|text| text.contains("Rex"))
        );
        let named = r#"{"messages":[{"role":"user","name":"Ben","content":"hi"}]}"#;
        assert_eq!(read(ChatApi::Chat, named).speaker.as_deref(), Some("Ben"));
    }

    #[test]
    fn people_who_speak_one_after_the_other_are_all_heard() {
        let body = r#"{"messages":[{"role":"user","name":"Ana","content":"hi"},{"role":"assistant","content":"hello"},
            {"role":"user","content":"host's own words"},{"role":"user","name":"Ana","content":"I live in Lisbon."},
            {"role":"user","name":"小李","content":"我住在杭州。"},{"role":"user","name":"Ben","content":"I live in Oslo."}]}"#;
        let request = read(ChatApi::Chat, body);
        let said: Vec<_> =
            request.unanswered.iter().map(|it| (it.speaker.as_str(), it.text.as_str())).collect();
        assert_eq!(said, [("Ana", "I live in Lisbon."), ("小李", "我住在杭州。")]);
        assert_eq!(request.unanswered[1].link, request.chain[4]);
        assert_eq!(
            (request.question.as_str(), request.speaker.as_deref()),
            ("I live in Oslo.", Some("Ben"))
        );
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
