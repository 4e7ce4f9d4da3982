//! Earlier questions that ask what the query asks: they have all its words and none of the answer.

use std::collections::HashSet;

use super::{Intent, fuse::Candidate};
use crate::{
    store::Place,
    text::terms::{Term, terms},
    types::{Kind, Memory, Role},
};

/// Who looks for a question says so by one of these terms.
const ASKING: [&str; 5] = ["ask", "question", "问", "問", "提问"];

/// Leaves out the turns that only ask what the query asks, unless it asks for questions or for a period.
pub(super) fn leave_out(
    candidates: &mut Vec<Candidate>,
    loaded: &[(Place, Memory)],
    intent: &Intent,
) {
    let Some(asked) = asked_terms(intent) else { return };
    let repeated: HashSet<Place> = loaded
        .iter()
        .filter(|(_, memory)| only_asks(memory, &asked))
        .map(|(place, _)| *place)
        .collect();
    candidates.retain(|candidate| !repeated.contains(&candidate.place));
}

/// Whether a memory is such a turn.
pub(super) fn is_left_out(memory: &Memory, intent: &Intent) -> bool {
    asked_terms(intent).is_some_and(|asked| only_asks(memory, &asked))
}

/// What the query asks by; none if it looks for questions or for a period.
fn asked_terms(intent: &Intent) -> Option<HashSet<Term>> {
    let looks_for_questions = intent.terms.iter().any(|term| ASKING.contains(&term.text.as_str()));
    let terms = intent.terms.iter().flat_map(|term| term.variants().map(|(term, _)| term));
    (!intent.asks_period && !looks_for_questions).then(|| terms.collect())
}

/// Whether a turn is a question that has no term but those that are asked for.
fn only_asks(memory: &Memory, asked: &HashSet<Term>) -> bool {
    memory.kind == Kind::Turn
        && memory.source.role != Some(Role::Assistant)
        && is_question(&memory.content)
        && terms(&memory.content).iter().all(|term| asked.contains(&Term::of(term)))
}

/// By how it ends: with a question mark, or with a word that makes a question of a Chinese sentence.
fn is_question(text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '!' | '！'));
    text.ends_with(['?', '？', '吗', '嗎', '呢'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_by_their_end_in_both_languages() {
        let questions =
            ["What is my cat called?", "really?!", "我的猫叫什么？", "我有猫吗", "猫呢 "];
        assert!(questions.into_iter().all(is_question));
        let others = ["My cat is called Momo.", "我的猫叫墨墨。", "", "? no"];
        assert!(!others.into_iter().any(is_question));
    }
}
