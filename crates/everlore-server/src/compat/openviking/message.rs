//! Messages of a session: what was said becomes a turn, results of tools stand quoted at its end, and context that the
//! client recalled is nobody's words.

use everlore::{
    Turn,
    types::{Role, Timestamp},
};
use serde::Deserialize;

use crate::Problem;

/// Message; newer clients send more fields.
#[derive(Deserialize)]
pub(super) struct VikingMessage {
    role: Role,
    content: Option<String>,
    #[serde(default)]
    parts: Vec<MessagePart>,
    created_at: Option<String>,
    peer_id: Option<String>,
    role_id: Option<String>,
    name: Option<String>,
}

/// Part of a message; one without text is left out.
#[derive(Deserialize)]
struct MessagePart {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_output: String,
}

impl MessagePart {
    fn is_said(&self) -> bool {
        matches!(self.kind.as_str(), "" | "text") && self.tool_name.is_empty()
    }

    /// Returns the part as the result of a tool, in a form that is told from own words; `None` for recalled context.
    fn quoted(&self) -> Option<String> {
        let output = if self.tool_output.is_empty() { &self.text } else { &self.tool_output };
        if self.is_said()
            || self.kind == "context"
            || output.is_empty() && self.tool_name.is_empty()
        {
            return None;
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let name = self.tool_name.replace(|c: char| c == ']' || c.is_control(), " ");
        let heading = match name.trim() {
            "" => "tool".to_owned(),
            name if name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(is_plain) =>
            {
                name.to_owned()
            }
            name => format!("tool {name}"),
        };
        Some(format!("[{heading}] Result: {output}").trim().to_owned())
    }
}

impl VikingMessage {
    /// Returns the turn of the message, `None` if nobody says anything in it. `user` is the user of the session, who needs
    /// no name.
    pub(super) fn into_turn(self, session: &str, user: &str) -> Result<Option<Turn>, Problem> {
        let text = self.text();
        if text.is_empty() && !self.parts.is_empty() {
            return Ok(None);
        }
        let time: Option<Timestamp> =
            self.created_at.map(|at| at.parse()).transpose().map_err(|_| {
                Problem::invalid(
                    "`created_at` is not a time",
                    "use RFC 3339, such as 2026-03-02T12:00:00Z",
                )
            })?;
        let is_other = |name: &String| !name.trim().is_empty() && name != user;
        Ok(Some(Turn {
            text,
            session: Some(session.to_owned()),
            speaker: self.peer_id.or_else(|| self.role_id.or(self.name).filter(is_other)),
            role: Some(self.role),
            time,
            ..Turn::default()
        }))
    }

    /// Returns own words first, then results of tools: they are quoted to the end of the message.
    fn text(&self) -> String {
        let content = self.content.as_deref().unwrap_or_default();
        let said = self.parts.iter().filter(|part| part.is_said()).map(|part| part.text.as_str());
        // Clients that send both repeat the text in `content`.
        let said = said.filter(|text| !text.is_empty() && !content.contains(text));
        let own = [content].into_iter().filter(|text| !text.is_empty()).chain(said);
        let quoted = self.parts.iter().filter_map(MessagePart::quoted);
        own.map(str::to_owned).chain(quoted).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use everlore::internal::text::quoted_text::SpokenText;
    use serde_json::{Value, json};

    use super::*;

    fn turn(message: Value) -> Option<Turn> {
        let message: VikingMessage = serde_json::from_value(message).unwrap();
        message.into_turn("s", "ana").ok().unwrap()
    }

    fn own_words(parts: &Value) -> String {
        let turn = turn(json!({ "role": "user", "parts": parts })).unwrap();
        SpokenText::parse(&turn.text).own.into_owned()
    }

    #[test]
    fn recalled_context_is_nobodys_words() {
        for said in ["Hello.", "你好。"] {
            let context =
                json!({ "type": "context", "abstract": "My name is Zed and I live in Quito." });
            let parts = json!([{ "type": "text", "text": said }, context]);
            let turn = turn(json!({ "role": "user", "parts": parts })).unwrap();
            assert_eq!(turn.text, said);
        }
        let context = json!([{ "type": "context", "abstract": "我叫张三", "text": "我住在北京" }]);
        assert!(turn(json!({ "role": "user", "parts": context })).is_none());
    }

    #[test]
    fn results_of_tools_are_quoted_whatever_their_name() {
        for name in ["", "read_file", "读文件", "a] b\nc", "7zip"] {
            let part = json!({ "type": "tool", "tool_name": name, "tool_output": "I live in Quito. 我住在基多" });
            assert_eq!(
                own_words(&json!([part, { "type": "text", "text": "看看这个" }])),
                "看看这个",
                "{name}"
            );
        }
        assert_eq!(
            own_words(&json!([{ "text": "Hi." }, { "type": "file", "text": "I am Zed." }])),
            "Hi."
        );
        let only = turn(
            json!({ "role": "assistant", "parts": [{ "type": "tool", "tool_output": "ok" }] }),
        );
        assert_eq!(only.unwrap().text, "[tool] Result: ok");
    }

    #[test]
    fn content_and_parts_are_both_kept_and_repeated_once() {
        let parts = json!([{ "text": "我住在上海" }, { "text": "I like tea." }]);
        let both =
            turn(json!({ "role": "user", "content": "我住在上海", "parts": parts })).unwrap();
        assert_eq!(both.text, "我住在上海\nI like tea.");
    }

    #[test]
    fn speakers_have_names_and_the_user_needs_none() {
        let speaker = |field: &str, name: &str| {
            turn(json!({ "role": "user", "content": "hi", field: name })).unwrap().speaker
        };
        for field in ["peer_id", "role_id", "name"] {
            assert_eq!(speaker(field, "小明").as_deref(), Some("小明"), "{field}");
        }
        assert_eq!((speaker("role_id", "ana"), speaker("name", " ")), (None, None));
    }
}
