//! Uninformative turns: earlier questions that repeat the query, answers that knew nothing, and echoes. They contain the
//! words of the query but not its answer, or tell it a second time.

use std::{collections::HashSet, sync::LazyLock};

use regex::Regex;

use super::{
    fuse::RecallCandidate,
    turn_content::{self, CONTRAST, MAX_CHARS, UninformativeTurn, classify_text, strip_filler},
};
use crate::{
    recall::{Intent, query::is_question},
    store::DocAddress,
    text::{
        sentences::sentences,
        terms::{TermHash, terms},
        tool_event::ToolEvent,
    },
    types::{Kind, Memory, Role},
};

/// Longest text, in bytes, that is compared as an echo or its source: a few sentences.
const MAX_ECHO_BYTES: usize = 1_200;

/// Fewest terms of an echo, and the share of them that its source has: "you" for "I" and an ending may differ, a value
/// may not.
const MIN_ECHO_TERMS: usize = 2;
const MIN_ECHO_SHARE: f64 = 0.95;

/// Distances at which a turn gets words of a later one, in turns.
const LENDING_DISTANCES: [i32; 2] = [1, 2];

/// Terms of a query that looks for earlier questions.
const QUESTION_TERMS: [&str; 5] = ["ask", "question", "问", "問", "提问"];

/// Drops the turns that only repeat the query or say that nothing is known, unless the query asks for questions or for
/// a period. For a prompt it also drops filler, questions without information and echoes of the user's words.
pub(super) fn drop_uninformative(
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
    intent: &Intent,
    for_prompt: bool,
) {
    let Some(query_terms) = query_terms(intent) else { return };
    take_back_lent_words(candidates, rows, &query_terms);
    let dropped: HashSet<DocAddress> = rows
        .iter()
        .filter(|(_, memory)| classify_turn(memory, &query_terms, for_prompt).is_some())
        .map(|(address, _)| *address)
        .collect();
    candidates.retain(|candidate| !dropped.contains(&candidate.address));
    if for_prompt {
        let told: Vec<_> = rows.iter().filter(|(address, _)| !dropped.contains(address)).collect();
        let echoes: HashSet<DocAddress> = echoes(&told);
        candidates.retain(|candidate| !echoes.contains(&candidate.address));
    }
}

/// Takes the words of an earlier asking of the question from the turns before it: they answer something else. The turn
/// after it keeps them, which may be the answer.
fn take_back_lent_words(
    candidates: &mut Vec<RecallCandidate>,
    rows: &[(DocAddress, Memory)],
    query_terms: &HashSet<TermHash>,
) {
    let repeats = |(_, memory): &&(DocAddress, Memory)| only_repeats_question(memory, query_terms);
    let asked: HashSet<DocAddress> =
        rows.iter().filter(repeats).map(|(address, _)| *address).collect();
    if asked.is_empty() {
        return;
    }
    let has_own_word = |address: DocAddress| {
        let memory = rows.iter().find(|(other, _)| *other == address).map(|(_, memory)| memory);
        memory.is_none_or(|memory| {
            terms(&memory.content).iter().any(|term| query_terms.contains(&TermHash::of(term)))
        })
    };
    let is_before = |address: DocAddress| {
        LENDING_DISTANCES
            .iter()
            .any(|distance| address.neighbour(*distance).is_some_and(|next| asked.contains(&next)))
    };
    candidates.retain_mut(|candidate| {
        if !is_before(candidate.address) || has_own_word(candidate.address) {
            return true;
        }
        let signals = &mut candidate.signals;
        signals.fused -= signals.lexical.max(0.0);
        (signals.lexical, signals.bm25) = (0.0, 0.0);
        // Words alone related it to the query.
        signals.cosine.is_some() || signals.rerank_cosine.is_some()
    });
}

/// Returns the sort of uninformative turn that a memory is; `None` if it is informative.
pub(crate) fn why_uninformative(
    memory: &Memory,
    intent: &Intent,
    for_prompt: bool,
) -> Option<UninformativeTurn> {
    query_terms(intent).and_then(|query_terms| classify_turn(memory, &query_terms, for_prompt))
}

fn classify_turn(
    memory: &Memory,
    query_terms: &HashSet<TermHash>,
    for_prompt: bool,
) -> Option<UninformativeTurn> {
    if only_repeats_question(memory, query_terms) {
        return Some(UninformativeTurn::Question);
    }
    if is_no_answer_turn(memory) {
        return Some(UninformativeTurn::NoAnswer);
    }
    if for_prompt && memory.kind == Kind::Turn && ToolEvent::parse(&memory.content).is_some() {
        return Some(UninformativeTurn::ToolCall);
    }
    let is_spoken = !matches!(memory.source.role, Some(Role::Tool | Role::System));
    let is_known =
        |word: &str| terms(word).iter().all(|term| query_terms.contains(&TermHash::of(term)));
    let checked = for_prompt && memory.kind == Kind::Turn && is_spoken;
    checked.then(|| classify_text(&memory.content, is_known)).flatten()
}

/// Returns the addresses of the assistant's turns that only repeat what the user said in another row.
fn echoes(rows: &[&(DocAddress, Memory)]) -> HashSet<DocAddress> {
    let is_reply =
        |memory: &Memory| memory.kind == Kind::Turn && memory.source.role == Some(Role::Assistant);
    let (replies, others): (Vec<&(DocAddress, Memory)>, Vec<_>) =
        rows.iter().copied().partition(|(_, memory)| is_reply(memory));
    if replies.is_empty() {
        return HashSet::new();
    }
    let sources: Vec<HashSet<TermHash>> =
        others.iter().filter_map(|(_, memory)| source_terms(memory)).collect();
    let repeats = |memory: &Memory| {
        let own = reply_terms(memory);
        sources.iter().any(|source| is_covered(&own, source))
    };
    replies.into_iter().filter(|(_, memory)| repeats(memory)).map(|(address, _)| *address).collect()
}

/// Returns `true` if `reply`, a turn of the assistant, only repeats `source`.
pub(crate) fn is_echo(reply: &Memory, source: &Memory) -> bool {
    let is_reply = reply.kind == Kind::Turn && reply.source.role == Some(Role::Assistant);
    let is_source = source.source.role != Some(Role::Assistant);
    is_reply
        && is_source
        && source_terms(source).is_some_and(|source| is_covered(&reply_terms(reply), &source))
}

/// Returns the terms of a text that an echo may repeat; `None` for a question, which the reply answers, and for a
/// document.
fn source_terms(memory: &Memory) -> Option<HashSet<TermHash>> {
    let is_plain = memory.content.len() <= MAX_ECHO_BYTES && !is_question(&memory.content);
    is_plain.then(|| terms(&memory.content).iter().map(|term| TermHash::of(term)).collect())
}

/// Returns the terms of a reply without its filler; empty for one that is too long for an echo.
fn reply_terms(memory: &Memory) -> HashSet<TermHash> {
    if memory.content.len() > MAX_ECHO_BYTES {
        return HashSet::new();
    }
    let sentences = sentences(&memory.content).map(strip_filler).filter(|text| !is_question(text));
    let texts: Vec<String> = sentences.collect();
    terms(&texts.join("\n")).iter().map(|term| TermHash::of(term)).collect()
}

fn is_covered(reply: &HashSet<TermHash>, source: &HashSet<TermHash>) -> bool {
    let shared = reply.iter().filter(|term| source.contains(term)).count();
    reply.len() >= MIN_ECHO_TERMS && shared as f64 >= reply.len() as f64 * MIN_ECHO_SHARE
}

/// Returns `true` for an answer in which every sentence says that nothing is known or asks for the information. An
/// answer that goes on with a fact is informative.
fn is_no_answer_turn(memory: &Memory) -> bool {
    let is_answer = memory.kind == Kind::Turn && memory.source.role == Some(Role::Assistant);
    let text = memory.content.as_str();
    is_answer && text.chars().count() <= MAX_CHARS && says_nothing_known(text)
}

fn says_nothing_known(text: &str) -> bool {
    let knows_nothing = |sentence: &str| NOTHING_KNOWN.is_match(sentence);
    let is_empty = |sentence: &str| {
        knows_nothing(sentence) || is_question(sentence) || ASKS_TO_BE_TOLD.is_match(sentence)
    };
    sentences(text).any(knows_nothing)
        && sentences(text).all(|sentence| !CONTRAST.is_match(sentence) && is_empty(sentence))
}

/// Returns all terms of the query; `None` if it looks for questions or for a period.
fn query_terms(intent: &Intent) -> Option<HashSet<TermHash>> {
    let looks_for_questions =
        intent.terms.iter().any(|term| QUESTION_TERMS.contains(&term.text.as_str()));
    let terms = intent.terms.iter().flat_map(|term| term.variants().map(|(term, _)| term));
    (!intent.asks_period && !looks_for_questions).then(|| terms.collect())
}

/// Returns `true` for a question of the user whose terms all occur in the query.
fn only_repeats_question(memory: &Memory, query_terms: &HashSet<TermHash>) -> bool {
    memory.kind == Kind::Turn
        && memory.source.role != Some(Role::Assistant)
        && is_question(&memory.content)
        && terms(&memory.content).iter().all(|term| query_terms.contains(&TermHash::of(term)))
}

/// Statements that the speaker knows, remembers or finds nothing.
static NOTHING_KNOWN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\bI (?:do not|don't|did not|didn't|cannot|can't|could not|couldn't) (?:actually |really |currently |yet )?(?:know|recall|remember|find|see)\b|\bI (?:do not|don't) (?:currently |yet )?have (?:any |that |this |the |your )?(?:\w+ )?(?:information|memory|memories|record|records|details|data|notes?)\b|\bI have (?:no|nothing)\b|\b(?:no|nothing)(?: \w+){0,3} (?:in|from) (?:my |our )?(?:memory|memories|notes|earlier conversations)\b|\b(?:you have|you've)(?: not|n't| never) (?:yet )?(?:told|mentioned|shared|said)|我(?:还|也|并)?(?:不知道|不清楚|不记得|不了解|没有?找到|找不到|无法确定|没有?印象)|(?:记忆|记录|资料)(?:里|中|里面)?(?:还|暂时|目前)?(?:没有|找不到|查不到)|没有?(?:任何|找到|查到)?(?:关于|有关|与).{1,30}(?:记忆|记录|信息|资料|内容)|您?你?(?:还|从)?没有?(?:告诉过?我|提到过?|说过)",
    )
});

/// Requests for the missing information, and apologies.
static ASKS_TO_BE_TOLD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"^(?:please )?(?:tell|let) me\b|^(?:if|once) you (?:tell|told|share|let)\b|^(?:i'm |i am )?sorry\b|^(?:hmm|well)\b|^(?:请|如果|要是)?(?:您|你)?(?:可以|愿意)?(?:告诉我|跟我说|和我说)|^(?:抱歉|对不起|不好意思)",
    )
});

/// Compiles the patterns, so that the first answer does not wait for them.
pub(super) fn compile_patterns() {
    LazyLock::force(&NOTHING_KNOWN);
    LazyLock::force(&ASKS_TO_BE_TOLD);
    turn_content::compile_patterns();
}

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_know_nothing_are_told_from_those_that_know_something_in_both_languages() {
        let empty = [
            "I don't know your cat's name. Could you tell me?",
            "I have nothing in memory about the staging server.",
            "Sorry, I don't have any information about your cat.",
            "You haven't told me where you live yet. Let me know and I will remember it.",
            "我不知道你的猫叫什么。你可以告诉我吗？",
            "抱歉，记忆里没有关于支付模块的内容。",
            "你还没有告诉我你住在哪里。",
        ];
        for text in empty {
            assert!(says_nothing_known(text), "{text}");
        }
        let informative = [
            "I don't know your cat's name, but your dog is called Rex.",
            "I don't know. The staging server uses port 9443.",
            "Your cat is called Momo.",
            "我不知道你的猫叫什么，不过你的狗叫雷克斯。",
            "我不记得了。支付模块周三上线。",
            "你的猫叫墨墨。",
            "Could you tell me more?",
            "",
        ];
        for text in informative {
            assert!(!says_nothing_known(text), "{text}");
        }
    }
}
