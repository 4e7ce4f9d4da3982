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
mod date_resolver;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use jiff::{Zoned, tz::TimeZone};

use super::{Draft, TurnText};
use crate::{
    text::language::{Language, detect_language},
    types::{Attribute, MemoryId, Role, Slot, Trust, USER_SUBJECT},
};
use clean::{sentences, strip_quoted_text};
use grammar::{Grammar, RuleMatch};

/// A statement asked for in so many words is as sure as rules get.
const REQUESTED_CONFIDENCE: f64 = 0.95;

/// A statement that a pattern caught: patterns are narrow, but they do not understand.
const PATTERN_CONFIDENCE: f64 = 0.8;

/// The statements that the user made in these turns, or confirmed, in order. `zone` tells which day it was.
pub fn extract_by_rules(turns: &[TurnText], zone: &TimeZone) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut asked: Option<&TurnText> = None;
    for turn in turns {
        match turn.role {
            Role::Assistant => asked = Some(turn),
            Role::User => drafts.extend(drafts_from_user(turn, asked.take(), zone)),
            Role::System | Role::Tool => {}
        }
    }
    let mut seen = HashSet::new();
    drafts.retain(|draft: &Draft| seen.insert(draft.content.clone()));
    drafts
}

fn drafts_from_user(turn: &TurnText, asked: Option<&TurnText>, zone: &TimeZone) -> Vec<Draft> {
    let Some(grammar) = Grammar::for_text(&turn.text) else { return Vec::new() };
    let heard =
        RuleExtractor { grammar, now: turn.at.to_zoned(zone.clone()), evidence: vec![turn.id] };
    let mut drafts = heard.extract_statements(&turn.text);
    if let Some(question) = asked
        && grammar.is_confirmation(&turn.text)
    {
        let evidence = vec![question.id, turn.id];
        drafts.extend(RuleExtractor { evidence, ..heard }.extract_confirmed(&question.text));
    }
    drafts
}

/// What is needed to turn words into drafts.
struct RuleExtractor {
    grammar: &'static Grammar,
    now: Zoned,
    evidence: Vec<MemoryId>,
}

impl RuleExtractor {
    fn extract_statements(&self, text: &str) -> Vec<Draft> {
        let text = strip_quoted_text(text);
        if self.grammar.is_not_about_the_user(&text) {
            return Vec::new();
        }
        sentences(&text).into_iter().flat_map(|sentence| self.extract_sentence(&sentence)).collect()
    }

    /// The question of an assistant, as the statement of the user that it asks for.
    fn extract_confirmed(&self, question: &str) -> Vec<Draft> {
        let text = strip_quoted_text(question);
        let asked =
            sentences(&text).into_iter().filter_map(|it| self.grammar.question_to_statement(&it));
        asked.flat_map(|statement| self.extract_clauses(&statement)).collect()
    }

    fn extract_sentence(&self, sentence: &str) -> Vec<Draft> {
        let sentence = self.grammar.strip_openers(sentence);
        match self.grammar.match_sentence(&sentence) {
            Some(caught) if caught.attribute() == Attribute::Note => {
                self.extract_requested(&caught)
            }
            Some(caught) => self.to_draft(&caught).into_iter().collect(),
            None => self.extract_clauses(&sentence),
        }
    }

    /// What the user asked to remember: a statement that a rule knows, or a note in other words.
    fn extract_requested(&self, caught: &RuleMatch<'_>) -> Vec<Draft> {
        let mut drafts = self.extract_clauses(&self.grammar.strip_openers(caught.value()));
        if drafts.is_empty() {
            drafts.extend(self.to_draft(caught));
        }
        drafts.iter_mut().for_each(|draft| draft.confidence = REQUESTED_CONFIDENCE);
        drafts
    }

    fn extract_clauses(&self, sentence: &str) -> Vec<Draft> {
        let clauses = self.grammar.clauses(sentence);
        let caught = clauses.iter().filter_map(|clause| self.grammar.match_clause(clause));
        caught.filter_map(|caught| self.to_draft(&caught)).collect()
    }

    fn to_draft(&self, caught: &RuleMatch<'_>) -> Option<Draft> {
        let attribute = caught.attribute();
        let told = caught.render(&self.now)?;
        let slot = Slot {
            subject: told.subject.unwrap_or_else(|| USER_SUBJECT.to_owned()),
            attribute,
            value: told.value,
            ended: caught.has_ended(),
        };
        let language = self.grammar.language;
        Some(Draft {
            confidence: PATTERN_CONFIDENCE,
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
    match detect_language(text) {
        Language::English if text.contains(['我', '你', '的', '了', '是', '在', '用']) => {
            Some(Language::Chinese)
        }
        language @ (Language::English | Language::Chinese) => Some(language),
        _ => None,
    }
}
