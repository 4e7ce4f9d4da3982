//! New statement against a stored one: does it end it, may it end it, or do both hold?

use super::{
    changes::changes,
    endings,
    event_year::{event_year, is_event},
    frames, number_kinds,
    part_denials::{denies_part, says_same},
    parts,
    single_value::SingleValue,
    words::{clause_ends_habit, denies, normalized_words, says_also},
};
use crate::text::sentences::sentences;

/// Longest statement, in bytes, that is compared: a longer one says more than one thing.
pub(super) const MAX_BYTES: usize = 240;

/// Relation of two statements that do not stand side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatementClash {
    /// The older one no longer holds.
    Certain,
    /// The older one, or a part of it, may no longer hold.
    Possible,
}

/// New statement, read once to be compared with many stored ones.
pub(super) struct NewStatement {
    pub(super) text: String,
    pub(super) words: Vec<String>,
    pub(super) values: Vec<SingleValue>,
    year: Option<i16>,
}

impl NewStatement {
    /// Reads a statement; `None` for one that contradicts nothing, because it asks, says several things or adds to others.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let asks = text.trim_end().ends_with(['?', '？', '吗']);
        let words = (is_plain(text) && !asks).then(|| normalized_words(text))?;
        (!says_also(&words)).then(|| Self {
            text: text.to_owned(),
            words,
            values: SingleValue::all_in(text),
            year: event_year(text),
        })
    }

    /// Compares it with a stored statement that was told in the year `told`; `None` if both hold.
    pub(super) fn clash_with(&self, old: &str, told: i16) -> Option<StatementClash> {
        let old_words = is_plain(old).then(|| normalized_words(old))?;
        if says_same(&self.words, &old_words) {
            return None;
        }
        let by_value = self.clash_of_values(old, told);
        let clash = by_value.or_else(|| self.clash_of_words(old, &old_words, told))?;
        let is_partial = parts::other_clause_stands(&self.text, old)
            || by_value.is_none() && parts::other_thing_stands(&self.text, old);
        Some(if is_partial { StatementClash::Possible } else { clash })
    }

    fn clash_of_values(&self, old: &str, told: i16) -> Option<StatementClash> {
        let old_value = SingleValue::only_in(old)?;
        let is_earlier = self.is_earlier_than(old, told) && is_event(&old_value.attribute);
        let differs = self.values.iter().any(|new| new.differs_from(&old_value));
        (differs && !is_earlier).then_some(StatementClash::Certain)
    }

    fn clash_of_words(&self, old: &str, old_words: &[String], told: i16) -> Option<StatementClash> {
        if self.is_earlier_than(old, told) {
            return None;
        }
        let is_ended = denies(&self.words, old_words)
            || clause_ends_habit(&self.text, old_words)
            || changes(&self.text, old);
        let certain = is_ended.then_some(StatementClash::Certain);
        certain
            .or_else(|| denies_part(&self.words, old_words))
            .or_else(|| endings::clash_of_ending(&self.text, old))
            .or_else(|| number_kinds::clash_of_numbers(&self.text, old))
            .or_else(|| frames::clash_of_frames(&self.text, old))
    }

    /// Returns `true` if it tells of a year before the one from which the stored statement holds.
    fn is_earlier_than(&self, old: &str, told: i16) -> bool {
        self.year.is_some_and(|year| year < event_year(old).unwrap_or(told))
    }
}

/// Returns `true` if a text is one sentence, short enough to say one thing.
pub(super) fn is_plain(text: &str) -> bool {
    text.len() <= MAX_BYTES && sentences(text.trim()).count() == 1
}
