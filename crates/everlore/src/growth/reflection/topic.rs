//! Topic of a statement: hashes of the words that tell what it is about, whatever the words around them.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::text::{substance::without_generic_words, terms::terms, traditional::simplify};

/// Share of the smaller topic's words that two statements about the same have in common: one of two may be another word.
const MIN_SHARE: f64 = 0.6;

/// Words of a topic of which one may be missing where it is said again: in a short one each word matters.
const WORDS_PER_MISSING: usize = 4;

/// Words with which people ask, insist and correct: they tell nothing about what.
static INSISTING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:please|told|tell|said|say|again|always|never|don'?t|don’t|stop|should|must|remember|keep|keeps|want|prefer(?:red)?|really|already|actually|from now on|instead|rather|too|just|wrong|no|not|once|more|still|use|using|it['’]?s|asked|instead of|rather than|first|then|you|your|me|my|i|we)\b|请|以后|别再?|不要|又|总是|记住|说过|跟你|告诉过|再|还是|应该|一定|务必|更|最|了|吧|太长|太短|先|没|用|一点|一些|我|你|您|要|不",
    )
    .expect("valid")
});

/// Topic of a statement. The text cannot be read from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Topic(BTreeSet<u32>);

impl Topic {
    /// Returns the topic of a statement; empty if it names nothing in particular.
    pub(crate) fn of(statement: &str) -> Self {
        let simplified = simplify(statement);
        let plain = INSISTING.replace_all(&simplified, " ");
        let words = terms(&without_generic_words(&plain));
        Self(words.iter().map(|word| xxhash_rust::xxh3::xxh3_64(word.as_bytes()) as u32).collect())
    }

    /// Returns the hashes.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().copied()
    }

    /// Returns `true` if it has no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the other one has all of its words, or all but one in [`WORDS_PER_MISSING`].
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let missing = self.0.difference(&other.0).count();
        !self.0.is_empty() && missing <= self.max_missing()
    }

    /// Returns the most words that may be missing where it is said again.
    pub(crate) fn max_missing(&self) -> usize {
        self.0.len() / WORDS_PER_MISSING
    }

    /// Returns `true` if both are about the same: most words of the smaller one are in the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.share(other) >= MIN_SHARE
    }

    /// Returns `true` if both may be about the same and say different things of it: half of the words are the same.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        self.share(other) >= 0.5
    }

    /// Returns the share of the smaller one's words that the other has.
    fn share(&self, other: &Self) -> f64 {
        let fewer = self.0.len().min(other.0.len());
        let shared = self.0.intersection(&other.0).count();
        if fewer == 0 { 0.0 } else { shared as f64 / fewer as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_the_same_however_it_is_insisted_on() {
        let is_same = |one: &str, other: &str| Topic::of(one).is_same(&Topic::of(other));
        for (one, other) in [
            ("Please use metric units.", "I told you to use metric units, not imperial!"),
            ("Answer in short sentences.", "Again: please answer in short sentences"),
            ("请用公制单位。", "我说过要用公制单位，不要英制"),
            ("以后回答要简短。", "又太长了，回答请简短"),
        ] {
            assert!(is_same(one, other), "{one} / {other}");
            assert!(Topic::of(one).is_within(&Topic::of(other)), "{one} / {other}");
        }
        let long = Topic::of("Answer in long sentences");
        assert!(!long.is_within(&Topic::of("No, answer in short sentences")));
        for (one, other) in [
            ("Please use metric units.", "Please use British spelling."),
            ("Answer in short sentences.", "Never use emojis."),
            ("请用公制单位。", "请用英式拼写。"),
            ("以后回答要简短。", "不要用表情符号。"),
        ] {
            assert!(!is_same(one, other), "{one} / {other}");
        }
    }
}
