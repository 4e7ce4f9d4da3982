//! Decision about a sentence: kept or not, with its category and the confidence in it.

use super::super::{
    judge::{
        CLEARLY_UNASSERTED, COMPLETED_LOG_ODDS, CORRECTION_LOG_ODDS, DOUBTFULLY_UNASSERTED,
        FRAMED_RULE_LOG_ODDS, KEEP_LOG_ODDS, MAX_UNASSERTED, MIN_CORRECTION, PATTERN_LOG_ODDS,
        SURE_ALONE_LOG_ODDS, SURE_LOG_ODDS, correction_probability, probability,
        unasserted_log_odds,
    },
    slots::FoundSlot,
};
use crate::{
    llm::{SentenceKind, SentenceScores},
    types::Attribute,
};

/// Confidence of a statement that the user asked to remember: the highest that rules give.
const REQUESTED_CONFIDENCE: f64 = 0.95;

/// Confidence of a pattern match: patterns are narrow, but they do not understand.
const PATTERN_CONFIDENCE: f64 = 0.8;

/// Sentence with all that decides about it.
pub(super) struct JudgedSentence {
    /// Judgement of the classifier; `None` without one.
    pub(super) scores: Option<SentenceScores>,
    /// Judgement of a sentence in which a pattern finds a slot, without the text around it: a greeting before a plain
    /// statement says nothing about it.
    pub(super) alone: Option<SentenceScores>,
    /// Judgement of it with what its speaker left out, or without the words that only tell that it is a correction.
    pub(super) completed: Option<SentenceScores>,
    /// Set if it is an open correction that states something whole.
    pub(super) is_open_correction: bool,
    pub(super) slots: Vec<FoundSlot>,
    /// Set if it asks to be remembered.
    pub(super) is_requested: bool,
    /// Set within a role play, a translation, a story or pasted text.
    pub(super) is_framed: bool,
    /// Set if it leaves what was said before behind.
    pub(super) begins_anew: bool,
    /// Set if it only says that its speaker does not know something.
    pub(super) is_unknown: bool,
}

/// Reason to keep a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KeepReason {
    pub(super) category: SentenceKind,
    pub(super) confidence: f64,
    /// Set if it is to be kept only where it corrects an earlier statement.
    pub(super) is_tentative: bool,
}

impl KeepReason {
    fn new(category: SentenceKind, confidence: f64) -> Self {
        Self { category, confidence, is_tentative: false }
    }
}

impl JudgedSentence {
    /// Returns the reason to keep the sentence; `None` if there is none.
    pub(super) fn keep_reason(&self) -> Option<KeepReason> {
        match &self.scores {
            _ if self.is_unknown && !self.is_requested => None,
            Some(scores) => self.by_scores(scores),
            None => self.by_patterns(),
        }
    }

    /// Returns the reason to keep a fragment that corrects a statement: it is worth what that is worth.
    pub(super) fn fragment_reason(&self) -> KeepReason {
        let category = self.scores.map_or(SentenceKind::Request, |scores| scores.kind);
        KeepReason { is_tentative: true, ..KeepReason::new(category, PATTERN_CONFIDENCE) }
    }

    fn by_scores(&self, scores: &SentenceScores) -> Option<KeepReason> {
        let unasserted = unasserted_log_odds(scores);
        if self.is_exact() {
            let least = if self.is_framed { FRAMED_RULE_LOG_ODDS } else { f32::NEG_INFINITY };
            let is_kept = scores.keep >= least && unasserted <= CLEARLY_UNASSERTED;
            return is_kept.then_some(KeepReason::new(scores.kind, REQUESTED_CONFIDENCE));
        }
        let least = if self.is_framed { SURE_LOG_ODDS } else { KEEP_LOG_ODDS };
        let sure = self.by_new_beginning().or_else(|| self.by_open_correction(scores));
        if let Some(reason) = sure.or_else(|| self.by_sure_alone(scores)) {
            return Some(reason);
        }
        if unasserted > MAX_UNASSERTED {
            return None;
        }
        if scores.keep >= least {
            return Some(KeepReason::new(scores.kind, probability(scores.keep)));
        }
        self.by_pattern_alone()
            .or_else(|| self.by_completion(scores))
            .or_else(|| self.by_correction(scores))
    }

    /// Returns the reason to keep an open correction, whatever its context looks like: what it states is asserted.
    fn by_open_correction(&self, scores: &SentenceScores) -> Option<KeepReason> {
        let stated = self.completed.filter(|_| self.is_open_correction && !self.is_framed)?;
        let least = if self.slots.is_empty() { CORRECTION_LOG_ODDS } else { PATTERN_LOG_ODDS };
        let is_kept = stated.keep.max(scores.keep) >= least
            && unasserted_log_odds(&stated) <= MAX_UNASSERTED
            && unasserted_log_odds(scores) <= CLEARLY_UNASSERTED;
        let is_tentative = stated.keep.max(scores.keep) < KEEP_LOG_ODDS;
        let reason = KeepReason::new(stated.kind, PATTERN_CONFIDENCE);
        is_kept.then_some(KeepReason { is_tentative, ..reason })
    }

    /// Returns the reason to keep what somebody says of their health, family or home and is certain without a context
    /// that makes it look quoted.
    fn by_sure_alone(&self, scores: &SentenceScores) -> Option<KeepReason> {
        let alone = self.alone.filter(|_| !self.is_framed)?;
        let is_doubtful = unasserted_log_odds(scores) <= DOUBTFULLY_UNASSERTED
            && scores.keep >= COMPLETED_LOG_ODDS;
        let is_kept = is_doubtful
            && self.slots.iter().any(|found| is_vital(found.slot.attribute))
            && alone.keep >= SURE_ALONE_LOG_ODDS
            && unasserted_log_odds(&alone) <= MAX_UNASSERTED;
        is_kept.then(|| KeepReason::new(alone.kind, PATTERN_CONFIDENCE))
    }

    /// Returns the reason to keep a sentence that is worth keeping with the subject or question that it leaves out.
    fn by_completion(&self, scores: &SentenceScores) -> Option<KeepReason> {
        let completed = self.completed.filter(|_| !self.is_framed && !self.is_open_correction)?;
        let is_kept = scores.keep >= COMPLETED_LOG_ODDS
            && completed.keep >= KEEP_LOG_ODDS
            && unasserted_log_odds(&completed) <= MAX_UNASSERTED;
        is_kept.then(|| KeepReason::new(completed.kind, PATTERN_CONFIDENCE))
    }

    fn by_correction(&self, scores: &SentenceScores) -> Option<KeepReason> {
        let is_kept = !self.is_framed
            && scores.keep >= CORRECTION_LOG_ODDS
            && correction_probability(scores) >= MIN_CORRECTION;
        let reason = KeepReason::new(scores.kind, PATTERN_CONFIDENCE);
        is_kept.then_some(KeepReason { is_tentative: true, ..reason })
    }

    /// Returns the reason to keep a sentence that leaves a joke behind and is worth keeping without it.
    fn by_new_beginning(&self) -> Option<KeepReason> {
        let alone = self.alone.filter(|_| self.begins_anew && !self.is_framed)?;
        let is_kept = alone.keep >= KEEP_LOG_ODDS && unasserted_log_odds(&alone) <= MAX_UNASSERTED;
        is_kept.then(|| KeepReason::new(alone.kind, probability(alone.keep)))
    }

    /// Returns the reason to keep a plain statement that a pattern knows, if the classifier has little against it.
    fn by_pattern_alone(&self) -> Option<KeepReason> {
        let alone = self.alone.filter(|_| !self.is_framed)?;
        let is_kept =
            alone.keep >= PATTERN_LOG_ODDS && unasserted_log_odds(&alone) <= MAX_UNASSERTED;
        is_kept.then_some(KeepReason::new(alone.kind, PATTERN_CONFIDENCE))
    }

    fn by_patterns(&self) -> Option<KeepReason> {
        let category = match self.slots.first() {
            Some(found) => category_of(found.slot.attribute),
            None if self.is_requested => SentenceKind::Request,
            None => return None,
        };
        let confidence = if self.is_requested { REQUESTED_CONFIDENCE } else { PATTERN_CONFIDENCE };
        (!self.is_framed).then_some(KeepReason::new(category, confidence))
    }

    /// Returns `true` if a rule tells that the sentence is to be kept.
    fn is_exact(&self) -> bool {
        self.is_requested || self.slots.iter().any(|found| found.slot.attribute == Attribute::Name)
    }
}

/// Returns `true` for what is never to be lost beside quotes: identity, health, family and home.
fn is_vital(attribute: Attribute) -> bool {
    use Attribute::{Age, Birthday, Diet, Family, Health, Home, Occupation, Origin, Pet};
    matches!(attribute, Age | Birthday | Diet | Family | Health | Home | Occupation | Origin | Pet)
}

/// Returns the category of statements about an attribute.
pub(super) fn category_of(attribute: Attribute) -> SentenceKind {
    match attribute {
        Attribute::Name
        | Attribute::Age
        | Attribute::Birthday
        | Attribute::Home
        | Attribute::Origin
        | Attribute::Pet
        | Attribute::Language
        | Attribute::Owns => SentenceKind::Identity,
        Attribute::Family => SentenceKind::Family,
        Attribute::Occupation | Attribute::Employer | Attribute::Education => SentenceKind::Work,
        Attribute::Health | Attribute::Diet => SentenceKind::Health,
        Attribute::Likes
        | Attribute::Dislikes
        | Attribute::Prefers
        | Attribute::Habit
        | Attribute::Hobby
        | Attribute::Learning
        | Attribute::Uses => SentenceKind::Preference,
        Attribute::Rule => SentenceKind::Feedback,
        Attribute::Decision => SentenceKind::Decision,
        Attribute::Deadline | Attribute::Fact | Attribute::Link => SentenceKind::Project,
        Attribute::Note => SentenceKind::Request,
    }
}
