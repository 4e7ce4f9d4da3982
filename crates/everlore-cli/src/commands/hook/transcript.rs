//! Last exchange of a host's transcript, for events that only name the file.

use everlore::internal::files::regular_file;
use std::{
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use everlore::internal::text::{injected_blocks::strip_injected_blocks, quoted_text::SpokenText};
use serde_json::Value;

/// Bytes read from the end of a transcript: more than the longest exchange.
const MAX_TAIL_BYTES: u64 = 2 * 1024 * 1024;

/// Last user message and the answer to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LastExchange {
    pub(super) prompt: Option<String>,
    pub(super) answer: Option<String>,
}

/// Reads the last exchange; both parts are `None` if the file cannot be read.
pub(super) fn last_exchange(path: &Path) -> LastExchange {
    read_tail(path).map(|text| parse_last_exchange(&text)).unwrap_or_default()
}

fn read_tail(path: &Path) -> Option<String> {
    let mut file = regular_file::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_TAIL_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn parse_last_exchange(text: &str) -> LastExchange {
    let mut last = LastExchange::default();
    // A line that is cut off at either end is no JSON and is skipped.
    let lines = text.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    for (role, text) in lines.filter_map(|line| parse_message(&line)) {
        match role {
            TranscriptRole::User if last.prompt.is_none() => last.prompt = Some(text),
            TranscriptRole::Agent if last.answer.is_none() && last.prompt.is_none() => {
                last.answer = Some(text)
            }
            _ => {}
        }
        if last.prompt.is_some() {
            break;
        }
    }
    last
}

enum TranscriptRole {
    User,
    Agent,
}

/// Parses role and text of a line. Hosts wrap messages differently: all have a role and texts.
fn parse_message(line: &Value) -> Option<(TranscriptRole, String)> {
    let is_true = |name: &str| line.get(name).and_then(Value::as_bool) == Some(true);
    if is_true("isSidechain") || is_true("isMeta") || is_true("isCompactSummary") {
        return None;
    }
    let inner =
        line.get("message").filter(|inner| inner.is_object()).or_else(|| line.get("payload"));
    let inner = inner.unwrap_or(line);
    let role = inner.get("role").or_else(|| line.get("role")).or_else(|| line.get("type"))?;
    let role = match role.as_str()? {
        "user" => TranscriptRole::User,
        "assistant" | "gemini" => TranscriptRole::Agent,
        _ => return None,
    };
    let text = text_content(inner.get("content")?);
    let text = match role {
        TranscriptRole::User => SpokenText::parse(&text).own.into_owned(),
        TranscriptRole::Agent => strip_injected_blocks(&text).into_owned(),
    };
    (!text.is_empty()).then_some((role, text))
}

/// Joins the texts of a message, without tool calls and their results.
fn text_content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let text = |item: &Value| match item.get("type").and_then(Value::as_str) {
                Some("text" | "input_text" | "output_text") | None => {
                    Some(item.get("text")?.as_str()?.to_owned())
                }
                _ => None,
            };
            items.iter().filter_map(text).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(prompt: &str, answer: &str) -> LastExchange {
        LastExchange { prompt: Some(prompt.into()), answer: Some(answer.into()) }
    }

    #[test]
    fn the_last_exchange_is_read_past_tools_and_subagents() {
        let text = r#"{"half
{"type":"user","message":{"role":"user","content":"old"}}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"我们用什么数据库？"}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","name":"Bash"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}
{"type":"assistant","isSidechain":true,"message":{"role":"assistant","content":"from below"}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Postgres."}]}}
"#;
        assert_eq!(parse_last_exchange(text), exchange("我们用什么数据库？", "Postgres."));
    }

    #[test]
    fn rollouts_are_read_too() {
        let text = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"which port?"}]}}
{"type":"event_msg","payload":{"type":"token_count"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"5433"}]}}"#;
        assert_eq!(parse_last_exchange(text), exchange("which port?", "5433"));
    }

    #[test]
    fn a_prompt_without_an_answer_has_none() {
        let text = r#"{"type":"assistant","message":{"content":"before"}}
{"type":"user","message":{"content":"and now?"}}"#;
        assert_eq!(
            parse_last_exchange(text),
            LastExchange { prompt: Some("and now?".into()), answer: None }
        );
        assert_eq!(last_exchange(Path::new("/nowhere")), LastExchange::default());
    }
}
