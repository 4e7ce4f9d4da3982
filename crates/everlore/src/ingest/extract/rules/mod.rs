//! Rule-based extraction of plain statements, in English and Chinese, without a model.
//!
//! A turn is stripped of what the user did not say (code, quotations, pasted text), split into sentences and clauses,
//! and each is matched against a table of patterns. Text that asserts nothing is dropped first: questions, wishes,
//! reported speech, jokes, stories. The pattern's template rewrites a match into a self-contained statement about the
//! user, with dates in place of "last month".

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

/// Confidence of a statement that the user asked to remember: the highest that rules give.
const REQUESTED_CONFIDENCE: f64 = 0.95;

/// Confidence of a pattern match: patterns are narrow, but they do not understand.
const PATTERN_CONFIDENCE: f64 = 0.8;

/// Extracts the statements that the user made or confirmed in these turns, in order. `zone` determines the day.
pub fn extract_by_rules(turns: &[TurnText], zone: &TimeZone) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut question: Option<&TurnText> = None;
    for turn in turns {
        match turn.role {
            Role::Assistant => question = Some(turn),
            Role::User => drafts.extend(drafts_from_user(turn, question.take(), zone)),
            Role::System | Role::Tool => {}
        }
    }
    let mut seen = HashSet::new();
    drafts.retain(|draft: &Draft| seen.insert((draft.speaker.clone(), draft.content.clone())));
    drafts
}

fn drafts_from_user(turn: &TurnText, question: Option<&TurnText>, zone: &TimeZone) -> Vec<Draft> {
    let Some(grammar) = Grammar::for_text(&turn.text) else { return Vec::new() };
    let extractor =
        RuleExtractor { grammar, now: turn.at.to_zoned(zone.clone()), evidence: vec![turn.id] };
    let mut drafts = extractor.extract_statements(&turn.text);
    if let Some(question) = question
        && grammar.is_confirmation(&turn.text)
    {
        let evidence = vec![question.id, turn.id];
        drafts.extend(RuleExtractor { evidence, ..extractor }.extract_confirmed(&question.text));
    }
    drafts.iter_mut().for_each(|draft| draft.speaker.clone_from(&turn.speaker));
    drafts
}

/// Extractor for one turn: its grammar, time and evidence.
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

    /// Extracts the statements that the user makes by confirming an assistant's question.
    fn extract_confirmed(&self, question: &str) -> Vec<Draft> {
        let text = strip_quoted_text(question);
        let statements =
            sentences(&text).into_iter().filter_map(|it| self.grammar.question_to_statement(&it));
        statements.flat_map(|statement| self.extract_clauses(&statement)).collect()
    }

    fn extract_sentence(&self, sentence: &str) -> Vec<Draft> {
        let sentence = self.grammar.strip_openers(sentence);
        match self.grammar.match_sentence(&sentence) {
            Some(found) if found.attribute() == Attribute::Note => self.extract_requested(&found),
            Some(found) => self.to_draft(&found).into_iter().collect(),
            None => self.extract_clauses(&sentence),
        }
    }

    /// Extracts what the user asked to remember: a statement that a rule knows, or else a note.
    fn extract_requested(&self, found: &RuleMatch<'_>) -> Vec<Draft> {
        let mut drafts = self.extract_clauses(&self.grammar.strip_openers(found.value()));
        if drafts.is_empty() {
            drafts.extend(self.to_draft(found));
        }
        drafts.iter_mut().for_each(|draft| draft.confidence = REQUESTED_CONFIDENCE);
        drafts
    }

    fn extract_clauses(&self, sentence: &str) -> Vec<Draft> {
        let clauses = self.grammar.clauses(sentence);
        let matches = clauses.iter().filter_map(|clause| self.grammar.match_clause(clause));
        matches.filter_map(|matches| self.to_draft(&matches)).collect()
    }

    fn to_draft(&self, found: &RuleMatch<'_>) -> Option<Draft> {
        let attribute = found.attribute();
        let rendered = found.render(&self.now)?;
        let slot = Slot {
            subject: rendered.subject.unwrap_or_else(|| USER_SUBJECT.to_owned()),
            attribute,
            value: rendered.value,
            ended: found.has_ended(),
        };
        let language = self.grammar.language;
        Some(Draft {
            confidence: PATTERN_CONFIDENCE,
            evidence: self.evidence.clone(),
            trust: Trust::Said,
            replaces: rendered.replaces,
            ..Draft::new(slot, rendered.content, language, self.now.timestamp())
        })
    }
}

/// Returns the language whose rules apply to a text; `None` for languages without rules. Product names and addresses
/// are Latin in every language: a sentence with the commonest Chinese characters is Chinese, however many Latin names
/// it has.
fn language_with_rules(text: &str) -> Option<Language> {
    match detect_language(text) {
        Language::English if text.contains(['我', '你', '的', '了', '是', '在', '用']) => {
            Some(Language::Chinese)
        }
        language @ (Language::English | Language::Chinese) => Some(language),
        _ => None,
    }
}
