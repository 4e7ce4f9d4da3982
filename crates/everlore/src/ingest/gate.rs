//! Gate: judges whether a draft deserves to be remembered, with a reason if not.
//!
//! A verdict depends on the draft and its context alone, never on other drafts or their order.

use std::{fmt, sync::LazyLock};

use regex::Regex;
use serde::Serialize;

use super::extract::Draft;
use crate::{
    text::{
        language::is_cjk,
        secrets::{SecretKind, find_mask, find_secrets},
        substance::{is_vague, retells_conversation},
        suspect::{is_agent_command, is_suspect},
        text_sketch::TextSketch,
    },
    types::{MAX_NAME_CHARS, Trust},
};

/// Fewest words of a statement. A Chinese character counts as a short word.
const MIN_WORDS: usize = 3;

/// Longest statement. A longer one is a text that belongs among documents.
const MAX_CHARS: usize = 2_000;

/// Share of a draft copied from the system prompt at which it counts as a leak.
const LEAK_SHARE: f64 = 0.5;

/// Share of the required confidence down to which a draft is quarantined instead of rejected.
const QUARANTINE_SHARE: f64 = 0.5;

/// Context that a draft is judged against.
#[derive(Debug, Clone, Default)]
pub(crate) struct GateContext {
    /// Least confidence of an accepted draft, from 0 to 1.
    pub min_confidence: f64,
    /// Memories injected into the session's prompts: what comes back from there is no news.
    pub injected: Vec<TextSketch>,
    /// System prompt of the host.
    pub system_prompt: TextSketch,
    /// Stored memories near the draft.
    pub known: Vec<TextSketch>,
}

/// Verdict on a draft.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GateVerdict {
    /// Goes on to reconciliation.
    Accept,
    /// Is not remembered.
    Reject(GateReason),
    /// Is not remembered until a person approves it.
    Quarantine(GateReason),
}

/// Reason why a draft is not remembered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GateReason {
    TooShort,
    TooLong { chars: usize },
    NoTitle,
    LongTitle,
    LowConfidence { confidence: f64, wanted: f64 },
    Vague,
    AboutTheConversation,
    Echo,
    SystemPrompt,
    Known,
    Secret(SecretKind),
    Order,
    NoEvidence,
    TooMany { most: usize },
}

impl fmt::Display for GateReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => f.write_str("it is too short to be understood on its own"),
            Self::TooLong { chars } => {
                write!(f, "it has {chars} characters; a statement has {MAX_CHARS} at most")
            }
            Self::NoTitle => f.write_str("it has no title"),
            Self::LongTitle => {
                write!(f, "its title is longer than {MAX_NAME_CHARS} characters")
            }
            Self::LowConfidence { confidence, wanted } => {
                // Cut, not rounded: 0.996 is not the 1.00 that is wanted; the summand is the error of the product.
                let confidence = (confidence * 100.0 + 1e-6).floor() / 100.0;
                write!(f, "its confidence is {confidence:.2}, at least {wanted:.2} is wanted")
            }
            Self::Vague => f.write_str("it is vague: it names nothing in particular"),
            Self::AboutTheConversation => {
                f.write_str("it retells the conversation instead of stating something that lasts")
            }
            Self::Echo => f.write_str("it repeats a memory that was put into the prompt"),
            Self::SystemPrompt => f.write_str("it repeats the system prompt"),
            Self::Known => f.write_str("it is already known"),
            Self::Secret(kind) => write!(f, "it is about a secret ({kind})"),
            Self::Order => f.write_str("it reads like an instruction to the model"),
            Self::NoEvidence => f.write_str("nobody said it in the turns that the model cites"),
            Self::TooMany { most } => {
                write!(
                    f,
                    "more than {most} statements were extracted from one part of the conversation"
                )
            }
        }
    }
}

/// Judges one draft.
pub(super) fn judge(draft: &Draft, context: &GateContext) -> GateVerdict {
    let reasons = [check_form(draft), check_substance(draft), check_novelty(draft, context)];
    if let Some(reason) = reasons.into_iter().flatten().next() {
        return GateVerdict::Reject(reason);
    }
    if trust_of(draft) == Trust::Suspect {
        return GateVerdict::Quarantine(GateReason::Order);
    }
    if !draft.is_supported {
        return GateVerdict::Reject(GateReason::NoEvidence);
    }
    check_confidence(draft, context.min_confidence)
}

/// Returns the trust in a draft: lower than its source's if it reads like an instruction to the model. A request of the
/// user to the agent does not count as one.
pub(super) fn trust_of(draft: &Draft) -> Trust {
    trust_in_text(&draft.content, draft.trust)
}

/// Returns the trust in a text, given the trust in its source.
pub(super) fn trust_in_text(content: &str, source: Trust) -> Trust {
    let is_order = is_suspect(content) || source < Trust::Said && is_agent_command(content);
    if is_order { Trust::Suspect } else { source }
}

fn check_form(draft: &Draft) -> Option<GateReason> {
    let chars = draft.content.chars().count();
    let title = draft.name.trim();
    if count_words(&draft.content) < MIN_WORDS {
        Some(GateReason::TooShort)
    } else if chars > MAX_CHARS {
        Some(GateReason::TooLong { chars })
    } else if title.is_empty() {
        Some(GateReason::NoTitle)
    } else {
        (title.chars().count() > MAX_NAME_CHARS).then_some(GateReason::LongTitle)
    }
}

/// Counts words, and characters of languages without spaces.
fn count_words(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphanumeric() || is_cjk(c));
    words.filter(|word| !word.is_empty()).count() + text.chars().filter(|c| is_cjk(*c)).count()
}

fn check_substance(draft: &Draft) -> Option<GateReason> {
    let texts = [&draft.content, &draft.name, &draft.description];
    let secret = texts.into_iter().flat_map(|text| find_secrets(text)).next();
    // The secret behind a mask is gone; a statement about it says nothing.
    let masked = || texts.into_iter().find_map(|text| find_mask(text));
    if let Some(kind) = secret.map(|secret| secret.kind).or_else(masked) {
        return Some(GateReason::Secret(kind));
    }
    if retells_conversation(&draft.content) {
        return Some(GateReason::AboutTheConversation);
    }
    is_vague(&draft.content).then_some(GateReason::Vague)
}

fn check_novelty(draft: &Draft, context: &GateContext) -> Option<GateReason> {
    let sketch = TextSketch::of(&FILLER_WORDS.replace_all(&draft.content, " "));
    if context.injected.iter().any(|injected| sketch.is_covered_by(injected)) {
        Some(GateReason::Echo)
    } else if sketch.shingle_containment(&context.system_prompt) >= LEAK_SHARE {
        Some(GateReason::SystemPrompt)
    } else {
        context.known.iter().any(|known| sketch.is_covered_by(known)).then_some(GateReason::Known)
    }
}

fn check_confidence(draft: &Draft, wanted: f64) -> GateVerdict {
    let confidence = draft.confidence;
    let reason = GateReason::LowConfidence { confidence, wanted };
    if confidence >= wanted {
        GateVerdict::Accept
    } else if confidence >= wanted * QUARANTINE_SHARE {
        GateVerdict::Quarantine(reason)
    } else {
        GateVerdict::Reject(reason)
    }
}

/// Words that a model adds when it repeats what it was given.
static FILLER_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"\b(?:still|also|currently|apparently|indeed|as (?:they|he|she|the user|you) (?:said|mentioned|told me|noted)|(?:previously|earlier|already) (?:said|mentioned|stated|noted))\b|一直|仍然|依然|目前|之前提到|曾经说过|说过|提到过",
    )
});

fn compile(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("valid")
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
