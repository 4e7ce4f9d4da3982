//! Identity questions: queries about the user that the profile answers even if no word matches.
//!
//! A strong question asks for the profile as a whole ("what do you know about me?"), a weak one for one topic of it
//! ("did I mention my pets?"). The words of both languages differ too much for one list of phrases, so each has rules of
//! its own: who is asked about, what is asked, and what follows.

mod chinese;
mod english;

use serde::Serialize;

use super::{
    phrases::{has, is_han, normalize},
    profile_aspect::ProfileAspect,
};

/// Longest message, in bytes, that is classified: a longer one has a topic of its own. The limit also bounds the work
/// on a pasted document.
const MAX_BYTES: usize = 1_000;

/// Most words, and most characters of a Chinese text, of a question for the profile as a whole. A longer message that
/// speaks of what the assistant knows has a topic of its own, which the profile would push out.
const MAX_PROFILE_WORDS: usize = 20;
const MAX_PROFILE_CHARS: usize = 30;

/// Opening and closing quotation marks; a quotation is a title or an example, not the user's own question.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('「', '」'), ('《', '》'), ('『', '』'), ('`', '`')];

/// Clarity with which a query asks about the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentityQuestion {
    /// The query does not ask about the user.
    None,
    /// The query asks for a topic of the user's life, such as family or food.
    Weak,
    /// The query asks for the profile.
    Strong,
}

/// Topic that a weak identity question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProfileTopic {
    /// Aspect of the profile; `None` if no word names one.
    pub(crate) aspect: Option<ProfileAspect>,
    /// Breadth of the answer.
    pub(crate) breadth: TopicBreadth,
}

/// Breadth of the answer to a weak identity question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TopicBreadth {
    /// One memory answers, and other facts about the user do not help: "what is my sister's name?".
    Value,
    /// A fact about the user's own person answers, whatever its words: "where do I live?".
    OwnAttribute,
    /// Many memories answer: "what did I tell you about my family?".
    Open,
}

/// Classifies how clearly the query asks about the user.
pub(crate) fn classify_identity(query: &str) -> IdentityQuestion {
    if query.len() > MAX_BYTES {
        return IdentityQuestion::None;
    }
    let unquoted = without_quotations(query);
    // A question that stands in quotation marks as a whole is asked all the same.
    let text = if unquoted.trim().is_empty() { query } else { &unquoted };
    let plain = normalize(text);
    let identity = if plain.contains(is_han) {
        chinese::classify(&plain).max(english::classify(&plain))
    } else {
        english::classify(&plain)
    };
    if is_long(&plain) { identity.min(IdentityQuestion::Weak) } else { identity }
}

/// Returns `true` if a normalized text is too long for a question that asks for the profile and nothing else.
fn is_long(plain: &str) -> bool {
    if plain.contains(is_han) {
        plain.chars().count() > MAX_PROFILE_CHARS
    } else {
        plain.split(' ').count() > MAX_PROFILE_WORDS
    }
}

/// Returns the topic of a weak identity question.
pub(crate) fn profile_topic(query: &str) -> ProfileTopic {
    let plain = normalize(query);
    let breadth =
        if plain.contains(is_han) { chinese::breadth(&plain) } else { english::breadth(&plain) };
    ProfileTopic { aspect: ProfileAspect::of_text(&plain), breadth }
}

/// Replaces quotations by blanks.
fn without_quotations(text: &str) -> String {
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

/// Removes the phrases of a list from the beginning of the text, as often as they occur.
fn strip_leads<'a>(text: &'a str, leads: &[&str]) -> &'a str {
    let mut rest = text;
    while let Some(shorter) = leads.iter().find_map(|lead| rest.strip_prefix(lead)) {
        rest = shorter.trim_start();
    }
    rest
}

/// Removes the phrases of a list from the end of the text, as often as they occur.
fn strip_tails<'a>(text: &'a str, tails: &[&str]) -> &'a str {
    let mut rest = text;
    while let Some(shorter) = tails.iter().find_map(|tail| rest.strip_suffix(tail)) {
        rest = shorter.trim_end();
    }
    rest
}

/// Returns `true` if the text contains one of the phrases.
fn has_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| has(text, phrase))
}

#[cfg(test)]
mod tests;
