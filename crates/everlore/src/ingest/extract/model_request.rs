//! One question to a model for memories, experiences and profile signals together (C3).

use serde_json::json;

use super::{TurnText, model_response::PROFILE_ASPECTS};
use crate::{
    llm::{ChatMessage, ChatRequest},
    text::language::{Language, detect_language},
    types::{Attribute, Role},
};

/// The most tokens of an answer: some dozens of statements.
const MAX_RESPONSE_TOKENS: u32 = 4_096;

/// What a model reads.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionInput<'a> {
    /// Turns that were read before and only explain the others.
    pub context_turns: &'a [TurnText],
    /// The turns to read.
    pub turns: &'a [TurnText],
    /// Statements that are known and near to what is said.
    pub known_statements: &'a [String],
}

impl<'a> ExtractionInput<'a> {
    /// Its turns in order, those before first; a model calls them by their number, from 1.
    pub fn all_turns(&self) -> Vec<&'a TurnText> {
        self.context_turns.iter().chain(self.turns).collect()
    }

    /// The language that most of it is in.
    pub fn language(&self) -> Language {
        let text: String = self.turns.iter().map(|turn| turn.text.as_str()).collect();
        detect_language(&text)
    }
}

/// The prompt that comes with the engine.
pub fn extract_prompt(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../../prompts/extract_zh.md"),
        _ => include_str!("../../../prompts/extract_en.md"),
    }
}

/// The question, by a prompt whose placeholders are filled in. The conversation stands in strings of JSON that have no
/// line breaks and no angle brackets, so nothing in it can look like the end of the data.
pub fn extraction_request(
    prompt: &str,
    conversation: &ExtractionInput<'_>,
    max_facts: usize,
) -> ChatRequest {
    let names = |names: Vec<&str>| names.join(", ");
    let system = prompt
        .replace("{attributes}", &names(Attribute::all().map(Attribute::as_str).collect()))
        .replace("{aspects}", &names(PROFILE_ASPECTS.iter().map(|(name, _)| *name).collect()))
        .replace("{max}", &max_facts.to_string());
    ChatRequest {
        system,
        messages: vec![ChatMessage::User { text: format_conversation(conversation) }],
        max_tokens: Some(MAX_RESPONSE_TOKENS),
        // The same conversation should give the same memories.
        temperature: Some(0.0),
        json: true,
        ..ChatRequest::default()
    }
}

fn format_conversation(conversation: &ExtractionInput<'_>) -> String {
    let known = conversation.known_statements.iter().map(|text| json!({ "known": text }));
    let new = conversation.context_turns.len();
    let turns = conversation.all_turns().into_iter().enumerate().map(|(index, turn)| {
        let time = turn.at.strftime("%Y-%m-%d %H:%M").to_string();
        let mut line = json!({
            "turn": index + 1, "role": role_name(turn.role), "time": time, "text": turn.text,
        });
        if index < new {
            line["context"] = json!(true);
        }
        line
    });
    let lines: Vec<String> =
        known.chain(turns).map(|line| escape_angle_brackets(&line.to_string())).collect();
    format!("<conversation>\n{}\n</conversation>", lines.join("\n"))
}

/// The same JSON without angle brackets.
pub(in crate::ingest) fn escape_angle_brackets(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e")
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}
