//! What a model is asked where rules cannot tell what a draft means beside what is known.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;

use super::{
    extract::{Draft, inert, object_in},
    likeness::Likeness,
    reconcile::{Resolution, Skipped},
};
use crate::{
    llm::{ChatRequest, Message},
    text::language::Language,
    types::{Kind, Memory, Slot, Status, Trust},
};

/// The most statements that a model is shown beside a draft.
const MAX_SHOWN: usize = 5;

/// The share of the shorter one's terms that two statements share when they may be about the same thing.
const MAY_BE_THE_SAME: f64 = 0.5;

/// An answer is a short object.
const MAX_ANSWER_TOKENS: u32 = 200;

/// Decides where the rules cannot.
#[async_trait]
pub trait Arbiter: Send + Sync {
    /// What a draft means beside these memories; none if it cannot say, and then the rules' answer stands.
    async fn decide(&self, draft: &Draft, near: &[Memory]) -> Option<Resolution>;
}

/// The memories that may be about the same thing as a draft that the rules would add: those that no slot tells apart and
/// that share much of its words. A draft that must not touch them has none.
pub(super) fn unsure(draft: &Draft, neighbours: &[Memory]) -> Vec<Memory> {
    if draft.trust < Trust::Inferred {
        return Vec::new();
    }
    let new = Likeness::of(&draft.content);
    let may_be = |memory: &&Memory| {
        let by_words = draft.slot.is_none() || Slot::of(&memory.metadata).is_none();
        let is_candidate = memory.status == Status::Active && memory.kind != Kind::Turn;
        is_candidate
            && by_words
            && draft.at >= memory.at
            && new.shared_with(&Likeness::of(&memory.content)) >= MAY_BE_THE_SAME
    };
    neighbours.iter().filter(may_be).take(MAX_SHOWN).cloned().collect()
}

/// The question.
pub fn ask_what_it_means(prompt: &str, draft: &Draft, near: &[Memory]) -> ChatRequest {
    let known = near.iter().enumerate().map(|(index, memory)| {
        let since = memory.at.strftime("%Y-%m-%d").to_string();
        json!({ "known": index + 1, "said": since, "text": memory.content })
    });
    let said = draft.at.strftime("%Y-%m-%d").to_string();
    let new = json!({ "new": draft.content, "said": said });
    let lines: Vec<_> =
        known.chain(std::iter::once(new)).map(|line| inert(&line.to_string())).collect();
    ChatRequest {
        system: prompt.to_owned(),
        messages: vec![Message::User { text: lines.join("\n") }],
        max_tokens: Some(MAX_ANSWER_TOKENS),
        temperature: Some(0.0),
        json: true,
        ..ChatRequest::default()
    }
}

/// The prompt that comes with the engine.
pub fn reconcile_prompt(language: Language) -> &'static str {
    match language {
        Language::Chinese => include_str!("../../prompts/reconcile_zh.md"),
        _ => include_str!("../../prompts/reconcile_en.md"),
    }
}

#[derive(Deserialize)]
struct Decision {
    action: String,
    #[serde(default)]
    known: usize,
}

/// What a model decided; none if it cannot be used.
pub fn read_decision(answer: &str, near: &[Memory]) -> Option<Resolution> {
    let decision: Decision = serde_json::from_str(&object_in(answer)?).ok()?;
    let known = || decision.known.checked_sub(1).and_then(|index| near.get(index));
    match decision.action.as_str() {
        "add" => Some(Resolution::Add),
        "supersede" => Some(Resolution::Supersede(vec![known()?.id])),
        "update" => Some(Resolution::Update(known()?.id)),
        "skip" => Some(Resolution::Skip(known()?.id, Skipped::Same)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ingest::{extract::Conversation, extract::Said, extract::read_answer, reconcile},
        types::{MemoryId, Role, Scope, Timestamp},
    };

    fn draft(text: &str, second: i64) -> Draft {
        let at = Timestamp::from_second(1_790_000_000 + second).unwrap();
        let turns = [Said { id: MemoryId::new(at), role: Role::User, text: text.into(), at }];
        let conversation = Conversation { before: &[], turns: &turns, known: &[] };
        let answer = json!({ "memories": [{
            "statement": text, "kind": "project", "confidence": 0.9, "turns": [1],
        }] });
        read_answer(&answer.to_string(), &conversation).unwrap().remove(0)
    }

    fn known(text: &str, second: i64) -> Memory {
        let draft = draft(text, second);
        reconcile::into_memory(&draft, &Scope::default(), draft.at)
    }

    #[test]
    fn only_what_shares_many_words_is_doubtful() {
        let near = [
            known("The staging server runs on port 8443.", 1),
            known("The user likes tea.", 1),
            known("预发布服务器使用端口 8443。", 1),
        ];
        let texts = |draft: &Draft| -> Vec<String> {
            unsure(draft, &near).into_iter().map(|memory| memory.content).collect()
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
        let near = [known("The port is 8443.", 1), known("The port is 9000.", 2)];
        let read = |answer: &str| read_decision(answer, &near);
        assert_eq!(read(r#"{"action":"add"}"#), Some(Resolution::Add));
        let second = Resolution::Supersede(vec![near[1].id]);
        assert_eq!(read("```json\n{\"action\":\"supersede\",\"known\":2,}\n```"), Some(second));
        for bad in ["", "supersede", r#"{"action":"erase","known":1}"#, r#"{"action":"skip"}"#] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(read(r#"{"action":"update","known":3}"#), None);
    }
}
