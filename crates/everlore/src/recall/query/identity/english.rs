//! English identity questions.

mod phrase_lists;

use self::phrase_lists::*;
use super::{IdentityQuestion, TopicBreadth, has_any, strip_leads, strip_tails};
use crate::recall::query::profile_aspect::ProfileAspect;

/// Words of a possession after "my": in "my weekly exercise routine" the noun comes third.
const MAX_POSSESSION_WORDS: usize = 4;

/// Classifies a normalized English text.
pub(super) fn classify(plain: &str) -> IdentityQuestion {
    let text = strip_tails(strip_leads(plain, LEAD_INS), TAILS);
    if asks_profile(plain, text) {
        IdentityQuestion::Strong
    } else if asks_topic(plain, text) {
        IdentityQuestion::Weak
    } else {
        IdentityQuestion::None
    }
}

/// Returns the breadth of the answer to a question for a topic.
pub(super) fn breadth(plain: &str) -> TopicBreadth {
    let text = strip_tails(strip_leads(plain, LEAD_INS), TAILS);
    let starts = |list: &[&str]| list.iter().any(|start| text.starts_with(start));
    if OWN_ATTRIBUTES.contains(&text) {
        TopicBreadth::OwnAttribute
    } else if asks_of_relative(text) {
        TopicBreadth::Value
    } else if !starts(VALUE_STARTS) && (has_any(plain, TOLD_BEFORE) || starts(OPEN_STARTS)) {
        TopicBreadth::Open
    } else {
        TopicBreadth::Value
    }
}

/// Returns `true` for "what kind of tea does my sister drink": the profile is about the user.
fn asks_of_relative(text: &str) -> bool {
    has_any(text, &["does my", "did my", "is my", "was my"]) && !has_any(text, &["i"])
}

/// Returns `true` if the text asks for the profile as a whole.
fn asks_profile(plain: &str, text: &str) -> bool {
    !is_generic(text)
        && (PROFILE_QUESTIONS.contains(&text)
            || PROFILE_QUESTIONS.contains(&strip_leads(plain, LEAD_INS))
            || asks_about_self(plain)
            || asks_acquaintance(plain)
            || asks_who_i_am(plain)
            || wants_description(plain)
            || names_profile(plain))
}

/// Returns `true` for "what do you know about me", "your impression of me": knowledge, and the user as its object.
fn asks_about_self(plain: &str) -> bool {
    has_any(plain, ABOUT_SELF) && has_any(plain, KNOWLEDGE)
        || has_any(plain, OF_SELF) && has_any(plain, KNOWLEDGE) && has_any(plain, ASSISTANT)
}

/// Returns `true` for "do you remember me": the assistant's acquaintance with the user.
fn asks_acquaintance(plain: &str) -> bool {
    has_any(plain, ASSISTANT)
        && ACQUAINTANCE.iter().any(|known| follows(plain, known, |next| AFTER_SELF.contains(&next)))
}

/// Returns `true` for "who am I": not for "who am I meeting".
fn asks_who_i_am(plain: &str) -> bool {
    let ends = |next: &str| next != "to" && AFTER_SELF.contains(&next);
    ["who am i", "who i am"].iter().any(|who| follows(plain, who, ends))
        || has_any(plain, &["who am i to you", "who i am to you"])
}

/// Returns `true` for "describe me": not for "describe me the house".
fn wants_description(plain: &str) -> bool {
    DESCRIPTIONS.iter().any(|wish| follows(plain, wish, |next| !ARTICLES.contains(&next)))
        || has_any(plain, INTRODUCTIONS)
}

/// Returns `true` for "show me my profile": a record about the user, at the end of a clause.
fn names_profile(plain: &str) -> bool {
    let ends = |next: &str| AFTER_SELF.contains(&next);
    let is_addressed = || has_any(plain, ASSISTANT) || has_any(plain, &["me"]);
    RECORDS.iter().any(|record| follows(plain, record, ends))
        || is_addressed() && FILES.iter().any(|file| follows(plain, file, ends))
}

/// Returns `true` if the text contains the phrase and `accepts` the word after it; the end of the text is always
/// accepted.
fn follows(text: &str, phrase: &str, accepts: impl Fn(&str) -> bool) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let begins = at == 0 || text[..at].ends_with(' ');
        let rest = &text[at + phrase.len()..];
        let next = rest.split_whitespace().next();
        begins && (rest.is_empty() || rest.starts_with(' ') && next.is_none_or(&accepts))
    })
}

/// Returns `true` if the text asks for a topic of the user's life.
fn asks_topic(plain: &str, text: &str) -> bool {
    has_any(plain, TOPIC_PARTS)
        || has_any(plain, KNOWLEDGE) && has_any(plain, ABOUT_OWN) && has_any(plain, ASSISTANT)
        || !is_generic(text) && (asks_habit(text) || asks_state(text) || asks_possession(text))
}

/// Returns `true` for "how do I …": it asks how anybody does it.
fn is_generic(text: &str) -> bool {
    GENERIC_STARTS.iter().any(|start| text.starts_with(start))
}

/// Returns `true` for "what foods do I avoid", "where did I grow up": a question for something the user does.
fn asks_habit(text: &str) -> bool {
    let verb = |phrase: &str| {
        follows(text, phrase, |next| HABITS.contains(&next))
            && !text.ends_with(phrase)
            && !has_any(text, GENERIC_HABITS)
    };
    text.split(' ').next().is_some_and(|first| QUESTION_WORDS.contains(&first))
        && SUBJECTS.iter().any(|subject| verb(subject))
        || ["do i", "have i ever"].iter().any(|start| {
            text.strip_prefix(start).is_some_and(|rest| {
                rest.split_whitespace().next().is_some_and(|next| HABITS.contains(&next))
                    && !has_any(text, GENERIC_HABITS)
            })
        })
}

/// Returns `true` for "what am I good at", "am I married", "how old am I".
fn asks_state(text: &str) -> bool {
    let is_state = |next: &str| STATES.contains(&next);
    let starts = text.split(' ').next().is_some_and(|first| QUESTION_WORDS.contains(&first));
    let asked = starts && text.contains(" am i ") && follows(text, "am i", is_state);
    asked
        || text.starts_with("am i ") && follows(text, "am i", is_state)
        || text.starts_with("how ") && text.ends_with(" am i")
}

/// Returns `true` for "what are my hobbies", "remind me of my sister's name": a question or request for a possession
/// that belongs to a person's life.
fn asks_possession(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let asks = QUESTION_WORDS.contains(&first) || REQUESTS.contains(&first) || first == "my";
    asks && possessions(text).any(|possession| is_personal(&possession))
}

/// Returns the words after each "my", up to the next verb or preposition.
fn possessions(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let words: Vec<&str> = text.split(' ').collect();
    let owned = |at: usize| -> Vec<&str> {
        let after = words[at + 1..].iter().copied();
        after.take_while(|word| !BOUNDARIES.contains(word)).take(MAX_POSSESSION_WORDS).collect()
    };
    let all: Vec<_> = (0..words.len()).filter(|at| words[*at] == "my").map(owned).collect();
    all.into_iter()
}

/// Returns `true` if a possession belongs to a person's life: its noun is of an aspect or a topic, and nothing about it
/// is technical.
fn is_personal(possession: &[&str]) -> bool {
    let Some((noun, modifiers)) = possession.split_last() else { return false };
    let of_relative = modifiers.iter().any(|word| word.ends_with("'s"));
    !modifiers.iter().any(|word| TECHNICAL.contains(word))
        && if of_relative {
            VALUES_OF_RELATIVES.contains(noun)
        } else {
            LIFE_TOPICS.contains(noun) || ProfileAspect::of_text(noun).is_some()
        }
}
