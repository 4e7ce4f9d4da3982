//! Arbiter: a model's decision about a draft that the rules cannot reconcile with its neighbours.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::{
    TextSketch,
    extract::{Draft, first_json_object},
    reconcile::{DraftSkipReason, Resolution, is_same_speaker},
};
use crate::{
    llm::{ChatMessage, ChatRequest},
    text::{language::Language, sanitize::escape_json_line},
    types::{Memory, Slot, Status, Trust},
};

/// Most memories shown to the model beside a draft.
const MAX_SHOWN_NEIGHBOURS: usize = 5;

/// Overlap coefficient above which two statements may be about the same thing.
const MIN_OVERLAP: f64 = 0.5;

/// Output limit; the answer is a short object.
const MAX_RESPONSE_TOKENS: u32 = 200;

/// Decides about drafts where the rules are unsure.
#[async_trait]
pub(crate) trait Arbiter: Send + Sync {
    /// Returns the decision about a draft beside these memories, or `None` to keep that of the rules.
    async fn decide(&self, draft: &Draft, neighbours: &[Memory]) -> Option<Resolution>;
}

/// Returns the memories that may be about the same thing as a draft that the rules would add: not told apart by slots,
/// and sharing many words. A draft that must not change them has none.
pub(super) fn ambiguous_neighbours(draft: &Draft, neighbours: &[Memory]) -> Vec<Memory> {
    if draft.trust < Trust::Inferred {
        return Vec::new();
    }
    let new = TextSketch::of(&draft.content);
    let is_ambiguous = |memory: &&Memory| {
        let by_words = draft.slot.is_none() || Slot::from_metadata(&memory.metadata).is_none();
        let is_candidate = memory.status == Status::Active && memory.kind.is_statement();
        is_candidate
            && by_words
            && is_same_speaker(draft, memory)
            && draft.at >= memory.at
            && new.overlap(&TextSketch::of(&memory.content)) >= MIN_OVERLAP
    };
    neighbours.iter().filter(is_ambiguous).take(MAX_SHOWN_NEIGHBOURS).cloned().collect()
}

/// Builds the request to the model.
pub(crate) fn arbiter_request(prompt: &str, draft: &Draft, neighbours: &[Memory]) -> ChatRequest {
    let known = neighbours.iter().enumerate().map(|(index, memory)| {
        let since = memory.at.strftime("%Y-%m-%d").to_string();
        json!({ "known": index + 1, "said": since, "text": memory.content })
    });
    let said_at = draft.at.strftime("%Y-%m-%d").to_string();
    let new = json!({ "new": draft.content, "said": said_at });
    let lines: Vec<_> =
        known.chain(std::iter::once(new)).map(|line| escape_json_line(&line.to_string())).collect();
    ChatRequest {
        system: prompt.to_owned(),
        messages: vec![ChatMessage::User { text: lines.join("\n") }],
        max_tokens: Some(MAX_RESPONSE_TOKENS),
        temperature: Some(0.0),
        json: true,
        ..ChatRequest::default()
    }
}

/// Returns the built-in prompt.
pub(crate) fn reconcile_prompt(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../prompts/reconcile_zh.md"),
        _ => include_str!("../../prompts/reconcile_en.md"),
    }
}

#[derive(Deserialize)]
struct ArbiterDecision {
    action: String,
    #[serde(default)]
    known: usize,
}

/// Parses the model's decision; `None` if it cannot be used.
pub(crate) fn parse_decision(answer: &str, neighbours: &[Memory]) -> Option<Resolution> {
    let decision: ArbiterDecision = serde_json::from_str(&first_json_object(answer)?).ok()?;
    let known = || decision.known.checked_sub(1).and_then(|index| neighbours.get(index));
    match decision.action.as_str() {
        "add" => Some(Resolution::Add),
        "supersede" => Some(Resolution::Supersede(vec![known()?.id])),
        "update" => Some(Resolution::Update(known()?.id)),
        "skip" => Some(Resolution::Skip(known()?.id, DraftSkipReason::Same)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ingest::{
            extract::ExtractionInput, extract::TurnText, extract::parse_extraction, reconcile,
        },
        types::{MemoryId, Role, Scope, Timestamp},
    };

    fn draft(text: &str, second: i64) -> Draft {
        let at = Timestamp::from_second(1_790_000_000 + second).unwrap();
        let id = MemoryId::new(at);
        let turns = [TurnText { id, role: Role::User, speaker: None, text: text.into(), at }];
        let conversation =
            ExtractionInput { context_turns: &[], turns: &turns, known_statements: &[] };
        let answer = json!({ "memories": [{
            "statement": text, "kind": "project", "confidence": 0.9, "turns": [1],
        }] });
        parse_extraction(&answer.to_string(), &conversation).unwrap().remove(0)
    }

    fn known_memory(text: &str, second: i64) -> Memory {
        let draft = draft(text, second);
        reconcile::draft_to_memory(&draft, &Scope::default(), draft.at)
    }

    #[test]
    fn only_what_shares_many_words_is_doubtful() {
        let near = [
            known_memory("The staging server runs on port 8443.", 1),
            known_memory("The user likes tea.", 1),
            known_memory("预发布服务器使用端口 8443。", 1),
        ];
        let texts = |draft: &Draft| -> Vec<String> {
            ambiguous_neighbours(draft, &near).into_iter().map(|memory| memory.content).collect()
        };
        let english = draft("The staging server runs on port 9000.", 5);
        assert_eq!(texts(&english), ["The staging server runs on port 8443."]);
        assert_eq!(
            texts(&draft("预发布服务器使用端口 9000。", 5)),
            ["预发布服务器使用端口 8443。"]
        );
        assert_eq!(texts(&draft("The cat sleeps all day long.", 5)), Vec::<String>::new());
        let older = draft("The staging server runs on port 9000.", 0);
        assert_eq!(texts(&older), Vec::<String>::new(), "an older statement decides nothing");
        let outside = Draft { trust: Trust::Tool, ..english };
        assert_eq!(texts(&outside), Vec::<String>::new(), "nor does one from a tool");
    }

    #[test]
    fn a_decision_names_what_was_shown_or_is_none() {
        let near = [known_memory("The port is 8443.", 1), known_memory("The port is 9000.", 2)];
        let read = |answer: &str| parse_decision(answer, &near);
        assert_eq!(read(r#"{"action":"add"}"#), Some(Resolution::Add));
        let second = Resolution::Supersede(vec![near[1].id]);
        assert_eq!(read("```json\n{\"action\":\"supersede\",\"known\":2,}\n```"), Some(second));
        for bad in ["", "supersede", r#"{"action":"erase","known":1}"#, r#"{"action":"skip"}"#] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(r#"{"action":"update","known":3}"#), None);
    }
}
