//! Extraction request: one model call for memories, experiences and profile signals together.

use serde_json::json;

use super::{TurnText, model_response::PROFILE_ASPECTS};
use crate::{
    llm::{ChatMessage, ChatRequest},
    text::{
        language::{Language, detect_language},
        sanitize::escape_json_line,
    },
    types::{Attribute, Role},
};

/// Output limit: some dozens of statements.
const MAX_RESPONSE_TOKENS: u32 = 4_096;

/// Input of an extraction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExtractionInput<'a> {
    /// Turns extracted before, as context for the others.
    pub context_turns: &'a [TurnText],
    /// Turns to extract from.
    pub turns: &'a [TurnText],
    /// Stored statements near the turns.
    pub known_statements: &'a [String],
}

impl<'a> ExtractionInput<'a> {
    /// Returns all turns in order, context first; a model refers to them by number, from 1.
    pub(crate) fn all_turns(&self) -> Vec<&'a TurnText> {
        self.context_turns.iter().chain(self.turns).collect()
    }

    /// Returns the predominant language of the turns.
    pub(crate) fn language(&self) -> Language {
        let text: String = self.turns.iter().map(|turn| turn.text.as_str()).collect();
        detect_language(&text)
    }
}

/// Returns the built-in prompt.
pub(crate) fn extract_prompt(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../../prompts/extract_zh.md"),
        _ => include_str!("../../../prompts/extract_en.md"),
    }
}

/// Builds the request from a prompt with placeholders. The conversation stands in JSON strings without line breaks or
/// angle brackets, so that nothing in it can look like the end of the data.
pub(crate) fn extraction_request(
    prompt: &str,
    input: &ExtractionInput<'_>,
    max_facts: usize,
) -> ChatRequest {
    let names = |names: Vec<&str>| names.join(", ");
    let system = prompt
        .replace("{attributes}", &names(Attribute::all().map(Attribute::as_str).collect()))
        .replace("{aspects}", &names(PROFILE_ASPECTS.iter().map(|(name, _)| *name).collect()))
        .replace("{max}", &max_facts.to_string());
    ChatRequest {
        system,
        messages: vec![ChatMessage::User { text: format_conversation(input) }],
        max_tokens: Some(MAX_RESPONSE_TOKENS),
        // The same input should give the same memories.
        temperature: Some(0.0),
        json: true,
        ..ChatRequest::default()
    }
}

fn format_conversation(input: &ExtractionInput<'_>) -> String {
    let known = input.known_statements.iter().map(|text| json!({ "known": text }));
    let context_count = input.context_turns.len();
    let turns = input.all_turns().into_iter().enumerate().map(|(index, turn)| {
        let time = turn.at.strftime("%Y-%m-%d %H:%M").to_string();
        let mut line = json!({
            "turn": index + 1, "role": role_name(turn.role), "time": time, "text": turn.text,
        });
        if let Some(speaker) = &turn.speaker {
            line["speaker"] = json!(speaker);
        }
        if index < context_count {
            line["context"] = json!(true);
        }
        line
    });
    let lines: Vec<String> =
        known.chain(turns).map(|line| escape_json_line(&line.to_string())).collect();
    format!("<conversation>\n{}\n</conversation>", lines.join("\n"))
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}
