//! Plain statements found by patterns, in English and Chinese, without a model.
//!
//! A turn is cleaned of what the user did not say as such (code, quotations, pasted text), cut into sentences and
//! clauses, and each is held against a table of patterns. What states nothing is put aside first: questions, wishes,
//! reported speech, jokes, stories. A pattern's template rewrites what it caught into a statement about the user that
//! stands alone, with dates in place of "last month".

mod grammar;
mod english;
mod chinese;
mod clean;
mod moments;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use jiff::{Zoned, tz::TimeZone};

use super::{Draft, Said};
use crate::{
    text::language::{Language, language_of},
    types::{Attribute, MemoryId, Role, Slot, Trust, USER},
};
use clean::{own_words, sentences};
use grammar::{Caught, Grammar};

/// A statement asked for in so many words is as sure as rules get.
const ASKED_CONFIDENCE: f64 = 0.95;

/// A statement that a pattern caught: patterns are narrow, but they do not understand.
const CAUGHT_CONFIDENCE: f64 = 0.8;

/// The statements that the user made in these turns, or confirmed, in order. `zone` tells which day it was.
pub fn extract_by_rules(turns: &[Said], zone: &TimeZone) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut asked: Option<&Said> = None;
    for turn in turns {
        match turn.role {
            Role::Assistant => asked = Some(turn),
            Role::User => drafts.extend(from_user(turn, asked.take(), zone)),
            Role::System | Role::Tool => {}
        }
    }
    let mut seen = HashSet::new();
    drafts.retain(|draft: &Draft| seen.insert(draft.content.clone()));
    drafts
}

fn from_user(turn: &Said, asked: Option<&Said>, zone: &TimeZone) -> Vec<Draft> {
    let Some(grammar) = Grammar::of(&turn.text) else { return Vec::new() };
    let heard = Heard { grammar, now: turn.at.to_zoned(zone.clone()), evidence: vec![turn.id] };
    let mut drafts = heard.statements(&turn.text);
    if let Some(question) = asked
        && grammar.confirms(&turn.text)
    {
        let evidence = vec![question.id, turn.id];
        drafts.extend(Heard { evidence, ..heard }.confirmed(&question.text));
    }
    drafts
}

/// What is needed to turn words into drafts.
struct Heard {
    grammar: &'static Grammar,
    now: Zoned,
    evidence: Vec<MemoryId>,
}

impl Heard {
    fn statements(&self, text: &str) -> Vec<Draft> {
        let text = own_words(text);
        if self.grammar.is_not_about_the_user(&text) {
            return Vec::new();
        }
        sentences(&text).into_iter().flat_map(|sentence| self.sentence(&sentence)).collect()
    }

    /// The question of an assistant, as the statement of the user that it asks for.
    fn confirmed(&self, question: &str) -> Vec<Draft> {
        let text = own_words(question);
        let asked = sentences(&text).into_iter().filter_map(|it| self.grammar.as_statement(&it));
        asked.flat_map(|statement| self.clauses(&statement)).collect()
    }

    fn sentence(&self, sentence: &str) -> Vec<Draft> {
        let sentence = self.grammar.without_openers(sentence);
        match self.grammar.catch_sentence(&sentence) {
            Some(caught) if caught.attribute() == Attribute::Note => self.asked(&caught),
            Some(caught) => self.draft(&caught).into_iter().collect(),
            None => self.clauses(&sentence),
        }
    }

    /// What the user asked to remember: a statement that a rule knows, or a note in other words.
    fn asked(&self, caught: &Caught<'_>) -> Vec<Draft> {
        let mut drafts = self.clauses(&self.grammar.without_openers(caught.value()));
        if drafts.is_empty() {
            drafts.extend(self.draft(caught));
        }
        drafts.iter_mut().for_each(|draft| draft.confidence = ASKED_CONFIDENCE);
        drafts
    }

    fn clauses(&self, sentence: &str) -> Vec<Draft> {
        let clauses = self.grammar.clauses(sentence);
        let caught = clauses.iter().filter_map(|clause| self.grammar.catch_clause(clause));
        caught.filter_map(|caught| self.draft(&caught)).collect()
    }

    fn draft(&self, caught: &Caught<'_>) -> Option<Draft> {
        let attribute = caught.attribute();
        let told = caught.tell(&self.now)?;
        let slot = Slot {
            subject: told.subject.unwrap_or_else(|| USER.to_owned()),
            attribute,
            value: told.value,
            ended: caught.has_ended(),
        };
        let language = self.grammar.language;
        Some(Draft {
            confidence: CAUGHT_CONFIDENCE,
            evidence: self.evidence.clone(),
            trust: Trust::Said,
            replaces: told.replaces,
            ..Draft::new(slot, told.content, language, self.now.timestamp())
        })
    }
}

/// The language whose rules a text is held against; none for those without rules. Names of products and addresses are
/// Latin in every language: a sentence with the commonest Chinese characters is Chinese, however many of them it names.
fn language_with_rules(text: &str) -> Option<Language> {
    match language_of(text) {
        Language::English if text.contains(['我', '你', '的', '了', '是', '在', '用']) => {
            Some(Language::Chinese)
        }
        language @ (Language::English | Language::Chinese) => Some(language),
        _ => None,
    }
}
