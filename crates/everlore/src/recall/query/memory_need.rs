//! Memory need: classifies by its form alone whether a message needs memory.
//!
//! A message needs none if it is small talk, a remark about the conversation itself ("make it shorter"), a question to
//! the assistant about itself, or a task that brings its own material ("translate this: …") or wants something new
//! ("write a haiku"). A question is general if it names nothing in particular: no person, no possession, nothing
//! definite, nothing past. A mention of the user ("my landlord", 我们的) always argues for memory.

mod phrase_lists;

use std::borrow::Cow;

use serde::Serialize;

use self::phrase_lists::*;
use super::phrases::{PhraseMatcher, has, is_han, normalize};

/// Longest instruction, in bytes, that is classified: a longer one is about something particular, whatever its form.
/// The limit also bounds the work on a pasted document.
const MAX_BYTES: usize = 2_000;

/// Characters searched for the instruction; the text after them is material.
const MAX_SCANNED: usize = 4 * MAX_BYTES;

/// Longest remark about the conversation itself, in bytes; a longer message has content.
const MAX_CONVERSATION_BYTES: usize = 120;

/// Words of a possession: in "my new landlord" the noun comes last.
const MAX_POSSESSION_WORDS: usize = 2;

/// Characters of a Chinese possession: words have two, seldom four.
const MAX_POSSESSION_CHARS: usize = 4;

/// Need of a message for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryNeed {
    /// No memory can help: small talk, a remark about the conversation, a task that brings all it needs.
    Nothing,
    /// General knowledge answers; memory helps only if the query names a person it knows.
    General,
    /// Memory may help.
    Open,
}

/// Classifies the need of a message that is not small talk.
pub(crate) fn classify_need(message: &str) -> MemoryNeed {
    let (instruction, material) = split_instruction(message);
    if instruction.len() > MAX_BYTES {
        return MemoryNeed::Open;
    }
    let plain = mark_possessives(&normalize(&instruction));
    let text = strip_lead_ins(&plain);
    let bare = without_generic_self(text);
    if is_about_conversation(&bare) || is_thanks(&instruction, &plain) || asks_assistant(text) {
        return MemoryNeed::Nothing;
    }
    if contains_any(&bare, PERSONAL_PRONOUNS)
        || contains_any(&bare, RECALL_CUES)
        || contains_any(text, OWN_HABITS)
    {
        return MemoryNeed::Open;
    }
    if is_task_on_material(material, &bare) || wants_something_new(&bare) {
        return MemoryNeed::Nothing;
    }
    let general = !has_names(&instruction) && !mentions_definite(&bare) && is_general(text, &bare);
    if general { MemoryNeed::General } else { MemoryNeed::Open }
}

/// Returns `true` if the text contains one of the phrases.
fn contains_any(text: &str, phrases: &[&str]) -> bool {
    let text = PhraseMatcher::new(text);
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Material that a task brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskMaterial {
    Nothing,
    /// A word or a sentence in quotation marks.
    Quoted,
    /// Fenced code, or a text after a colon or on the next line.
    Given,
}

/// Splits a message into its instruction and the sort of material it brings.
fn split_instruction(message: &str) -> (String, TaskMaterial) {
    let end = message.char_indices().nth(MAX_SCANNED).map_or(message.len(), |(at, _)| at);
    let head = &message[..end];
    let fenced: Vec<&str> = head.split("```").collect();
    let prose = fenced.iter().copied().step_by(2).collect::<Vec<_>>().join(" ");
    if fenced.len() > 1 {
        return (prose, TaskMaterial::Given);
    }
    if let Some((before, after)) = prose.split_once([':', '：', '\n'])
        && !after.trim().is_empty()
        && takes_material(before)
    {
        return (before.to_owned(), TaskMaterial::Given);
    }
    let unquoted = without_quotes(&prose);
    let material =
        if unquoted.len() < prose.len() { TaskMaterial::Quoted } else { TaskMaterial::Nothing };
    (unquoted, material)
}

/// Returns `true` if the text before a colon is a task on the text after it: "Translate: …" is, "Question: …" is not.
fn takes_material(before: &str) -> bool {
    let plain = normalize(before);
    let text = strip_lead_ins(&plain);
    let begins = MATERIAL_TASKS.iter().any(|verb| starts_with_phrase(text, verb));
    begins || contains_any(text, TEXT_POINTERS) && contains_any(text, MATERIAL_TASKS)
}

fn without_quotes(text: &str) -> String {
    let mut rest = text.to_owned();
    for (open, close) in QUOTES {
        while let Some(start) = rest.find(*open) {
            let inside = start + open.len_utf8();
            let Some(len) = rest[inside..].find(*close) else { break };
            rest.replace_range(start..inside + len + close.len_utf8(), " ");
        }
    }
    rest
}

/// Replaces 我 by 咱, which no phrase list removes, before a possession: 给我妈妈 is for the user's mother, 给我讲 for
/// the user.
fn mark_possessives(plain: &str) -> String {
    let next = plain.chars().skip(1).map(Some).chain([None]);
    let marked = |(c, next): (char, Option<char>)| match next {
        Some(next) if c == '我' && POSSESSED_CHARS.contains(next) => '咱',
        _ => c,
    };
    plain.chars().zip(next).map(marked).collect()
}

/// Removes lead-ins: greetings, "please", "can you".
fn strip_lead_ins(plain: &str) -> &str {
    let mut rest = plain;
    while let Some(shorter) = LEAD_INS.iter().find_map(|lead| strip_phrase(rest, lead)) {
        rest = shorter;
    }
    rest
}

/// Returns the text after the phrase `lead`, if the text begins with it and goes on.
fn strip_phrase<'a>(text: &'a str, lead: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(lead)?;
    let ends = lead.ends_with(is_han) || rest.starts_with(' ') || rest.starts_with(is_han);
    Some(rest.trim_start()).filter(|rest| ends && !rest.is_empty())
}

/// Removes the generic first person: "how do I" asks how anybody does it, "tell me" only names the listener. Any "I"
/// that remains is the user.
fn without_generic_self(text: &str) -> Cow<'_, str> {
    if !contains_any(text, FIRST_PERSON) {
        return Cow::Borrowed(text);
    }
    let mut bare = text.to_owned();
    for phrase in GENERIC_SELF.iter().filter(|phrase| has(text, phrase)) {
        bare = bare.replace(phrase, generic_part(phrase));
    }
    Cow::Owned(bare.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns the phrase without its first-person word.
fn generic_part(phrase: &str) -> &str {
    let part = phrase.strip_suffix(" i").or_else(|| phrase.strip_suffix(" me"));
    part.or_else(|| phrase.strip_suffix('我')).unwrap_or_default()
}

/// Returns `true` if every word is about the conversation itself, so that the message names nothing to look up.
fn is_about_conversation(plain: &str) -> bool {
    if plain.is_empty() || plain.len() > MAX_CONVERSATION_BYTES {
        return false;
    }
    plain.split(' ').all(|word| {
        if word.starts_with(is_han) {
            is_chinese_conversation_talk(word)
        } else {
            CONVERSATION_WORDS.contains(&word)
        }
    })
}

/// Returns `true` for "Thanks for the tea!": one sentence of thanks that asks nothing.
fn is_thanks(instruction: &str, plain: &str) -> bool {
    let body = instruction.trim_end_matches(['!', '.', '！', '。', '~', '～', ' ']);
    let is_one_sentence = !body.contains(['?', '？', '.', '!', '。', '！', ',', '，', '\n']);
    is_one_sentence
        && plain.len() <= MAX_CONVERSATION_BYTES
        && THANKS.iter().any(|thanks| starts_with_phrase(plain, thanks))
}

fn is_chinese_conversation_talk(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let fitting =
            CHINESE_CONVERSATION_PHRASES.iter().filter(|phrase| rest.starts_with(**phrase));
        let Some(phrase) = fitting.max_by_key(|phrase| phrase.len()) else { return false };
        rest = &rest[phrase.len()..];
    }
    true
}

/// Returns `true` for "who made you", 你有感情吗: questions about the assistant itself, not about memories.
fn asks_assistant(text: &str) -> bool {
    ASSISTANT_QUESTIONS.iter().any(|start| text == *start || text.starts_with(start))
        || ASSISTANT_QUESTION_ENDS.iter().any(|end| text.ends_with(end))
}

/// Returns `true` if the message is a task on its own material. In "fix the “login” bug" the quotation names something
/// known, so it is none.
fn is_task_on_material(material: TaskMaterial, text: &str) -> bool {
    match material {
        TaskMaterial::Nothing => false,
        TaskMaterial::Quoted => contains_any(text, MATERIAL_TASKS) && !mentions_definite(text),
        TaskMaterial::Given => contains_any(text, MATERIAL_TASKS),
    }
}

fn starts_with_phrase(text: &str, phrase: &str) -> bool {
    text == phrase || strip_phrase(text, phrase).is_some()
}

/// Returns `true` for "write a haiku", "tell a joke": a verb of creation and an object that does not exist yet. A
/// relative "that" only describes the object.
fn wants_something_new(text: &str) -> bool {
    let object = CREATION_VERBS.iter().find_map(|verb| strip_phrase(text, verb));
    object.is_some_and(|object| {
        let first = object.split(' ').next().unwrap_or_default();
        let counted = first.chars().all(|c| c.is_ascii_digit());
        (counted || NEW_OBJECT_DETERMINERS.iter().any(|word| starts_with_phrase(object, word)))
            && !mentions_definite(&object.replace(" that ", " "))
    }) || contains_any(text, CHINESE_CREATION_PHRASES)
}

/// Returns `true` if the text mentions something particular: "the gateway", "this branch", "he", "did".
fn mentions_definite(text: &str) -> bool {
    if !contains_any(text, DEFINITE_MARKERS) {
        return false;
    }
    let known = COMMON_KNOWLEDGE_PHRASES.iter().filter(|known| has(text, known));
    let rest = known.fold(text.to_owned(), |rest, known| rest.replace(known, " "));
    contains_any(&rest, DEFINITE_MARKERS)
}

/// Returns `true` for a question about the world at large: general instructions, kinds of things, common knowledge.
fn is_general(text: &str, bare: &str) -> bool {
    let any = |phrases: &[&str]| contains_any(text, phrases);
    let begins = |phrases: &[&str]| phrases.iter().any(|phrase| starts_with_phrase(bare, phrase));
    // "Does" asks about a particular person or thing, not about people in general.
    let indefinite = begins(QUESTION_STARTS) && any(INDEFINITE_WORDS) && !has(bare, "does");
    begins(GENERAL_QUESTION_STARTS)
        || any(GENERIC_PERSON_PHRASES)
        || begins(QUESTION_STARTS) && any(COMMON_KNOWLEDGE_PHRASES)
        || any(CHINESE_GENERAL_FRAMES)
        || indefinite
        || asks_about_kind(bare)
        || asks_definition(bare)
}

/// Returns `true` for "can dogs eat grapes", "how do vaccines work": a plural without an article.
fn asks_about_kind(bare: &str) -> bool {
    let kind = KIND_QUESTION_STARTS.iter().find_map(|start| strip_phrase(bare, start));
    let first = kind.and_then(|kind| kind.split_once(' ')).map(|(first, _)| first);
    first.is_some_and(|first| first.len() > 3 && first.ends_with('s') && !first.contains('\''))
}

/// Returns `true` for "what is inflation", "what is 17*23", "what does rebase do".
fn asks_definition(bare: &str) -> bool {
    let is = strip_phrase(bare, "what is");
    let does = strip_phrase(bare, "what does").is_some_and(|rest| {
        DEFINITION_ENDS.iter().any(|end| rest.ends_with(end) && !rest.starts_with(end.trim_start()))
    });
    does || is.is_some_and(|thing| {
        !thing.contains([' ', '\'']) || thing.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns `true` if a word looks like a name, by a capital, or like an identifier.
fn has_names(text: &str) -> bool {
    capitalized_names(text).next().is_some()
        || text.split_whitespace().any(|word| word.contains(['_', '/', '`']))
}

/// Returns the words that look like names of people, places and things: a capital, then small letters, not at the
/// beginning of a sentence.
pub(crate) fn capitalized_names(text: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    text.split_whitespace().filter_map(move |word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let first = std::mem::replace(&mut begins, word.ends_with(['.', '?', '!', ':']));
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        (!first && capital && letters.next().is_some_and(char::is_lowercase)).then_some(bare)
    })
}

/// Returns the possessions that a task mentions: the words after "my" and "our", the characters after 我的 and 我们的.
/// Empty if the message is no task.
pub(crate) fn task_possessions(message: &str) -> Vec<String> {
    if !["my", "our", "我", "咱"].iter().any(|own| message.contains(own)) {
        return Vec::new();
    }
    let plain = normalize(message);
    let text = strip_lead_ins(&plain);
    let makes = CREATION_VERBS.iter().any(|verb| starts_with_phrase(text, verb));
    if !makes && !contains_any(text, CHINESE_CREATION_PHRASES) {
        return Vec::new();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let english = (0..words.len()).filter(|at| matches!(words[*at], "my" | "our"));
    let english = english.map(|at| {
        words[at + 1..].iter().take(MAX_POSSESSION_WORDS).copied().collect::<Vec<_>>().join(" ")
    });
    let owned =
        |rest: &str| rest.chars().take_while(|c| is_han(*c)).take(MAX_POSSESSION_CHARS).collect();
    let chinese = CHINESE_POSSESSIVES.iter().flat_map(|own| text.split(own).skip(1)).map(owned);
    english.chain(chinese).collect()
}

#[cfg(test)]
mod tests;
