//! Slots of sentences, in English and Chinese: subject, attribute and value by a table of patterns.
//!
//! Patterns do not decide what is kept where a classifier judges sentences. They tell which stored statement a new one
//! replaces, and what the profile shows.

mod grammar;
mod english;
mod chinese;
#[cfg(test)]
mod tests;

use jiff::Zoned;

use crate::{
    text::{
        dates::{TimeMention, find_times},
        language::{Language, detect_language},
    },
    types::{Attribute, Slot},
};
use grammar::{Grammar, RuleMatch};

/// Slot that a sentence gives a value to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundSlot {
    pub(super) slot: Slot,
    /// Value that the sentence says it replaces.
    pub(super) replaces: Option<String>,
    /// Offset of the clause that has the slot, if it can stand on its own.
    pub(super) clause_start: Option<usize>,
}

/// Patterns of the language of a text.
#[derive(Clone, Copy)]
pub(super) struct SlotPatterns(&'static Grammar);

impl SlotPatterns {
    /// Returns the patterns for a message; `None` if its language has none.
    pub(super) fn for_text(text: &str) -> Option<Self> {
        Grammar::for_text(text).map(Self)
    }

    pub(super) fn language(self) -> Language {
        self.0.language
    }

    /// Returns `true` for a message about a text, a role or a joke, which says nothing about its author.
    pub(super) fn is_not_about_the_user(self, message: &str) -> bool {
        self.0.is_not_about_the_user(message)
    }

    /// Returns `true` for an answer that confirms, such as "Yes, exactly."
    pub(super) fn is_confirmation(self, answer: &str) -> bool {
        self.0.is_confirmation(answer)
    }

    /// Returns the statement that confirming a question makes, to judge it by; `None` if it is no such question.
    pub(super) fn question_to_statement(self, question: &str) -> Option<String> {
        self.0.question_to_statement(question)
    }

    /// Returns the slots of a sentence, in order.
    pub(super) fn find(self, sentence: &str, now: &Zoned) -> Vec<FoundSlot> {
        let bare = self.0.strip_openers(&sentence.replace(['’', '‘'], "'"));
        match self.0.match_sentence(&bare) {
            Some(found) if found.attribute() == Attribute::Note => self.of_request(&found, now),
            Some(found) => found_slot(&found, None, now).into_iter().collect(),
            None => self.of_clauses(sentence, now),
        }
    }

    /// Returns the slots of what the user asks to remember: those that a pattern knows, or else a note.
    fn of_request(self, found: &RuleMatch<'_>, now: &Zoned) -> Vec<FoundSlot> {
        let requested = self.0.strip_openers(found.value());
        let known = self.of_clauses(&requested, now).into_iter();
        let mut slots: Vec<_> = known.map(|it| FoundSlot { clause_start: None, ..it }).collect();
        if slots.is_empty() {
            slots.extend(found_slot(found, None, now));
        }
        slots
    }

    fn of_clauses(self, sentence: &str, now: &Zoned) -> Vec<FoundSlot> {
        // Typographic apostrophes differ in length, and offsets are those of the sentence as said.
        let plain = sentence.replace(['’', '‘'], "'");
        let has_offsets = plain.len() == sentence.len();
        let bare = self.0.strip_openers(&plain);
        let opener = plain.trim_end().len().saturating_sub(bare.len());
        let clauses = self.0.clauses(&bare);
        let found = clauses.iter().filter_map(|clause| {
            let start = (has_offsets && clause.stands_alone).then_some(opener + clause.start);
            found_slot(&self.0.match_clause(&clause.text)?, start, now)
        });
        found.collect()
    }
}

fn found_slot(
    found: &RuleMatch<'_>,
    clause_start: Option<usize>,
    now: &Zoned,
) -> Option<FoundSlot> {
    let replaces = found.replaced().map(str::to_owned);
    Some(FoundSlot { slot: found.slot(now)?, replaces, clause_start })
}

/// Removes the dates from a value.
fn without_dates(text: &str, now: &Zoned) -> String {
    let times = find_times(text, now);
    let cut = |mut rest: String, mention: &TimeMention| {
        rest.replace_range(mention.span.clone(), "");
        rest
    };
    let rest = times.iter().rev().fold(text.to_owned(), cut);
    let rest = rest.trim();
    let before = [" in", " on", " at", " since", " by"];
    before.iter().find_map(|word| rest.strip_suffix(word)).unwrap_or(rest).to_owned()
}

/// Returns the language whose patterns apply to a text; `None` for languages without patterns. Product names and
/// addresses are Latin in every language: a sentence with the commonest Chinese characters is Chinese, however many
/// Latin names it has.
fn language_with_patterns(text: &str) -> Option<Language> {
    match detect_language(text) {
        Language::English if text.contains(['我', '你', '的', '了', '是', '在', '用']) => {
            Some(Language::Chinese)
        }
        language @ (Language::English | Language::Chinese) => Some(language),
        _ => None,
    }
}
