//! Judge of sentences: the seam between extraction and the classifier, and the thresholds of what is kept.

use crate::{
    error::Result,
    llm::{SentenceInput, SentenceKind, SentenceMode, SentenceScores},
    types::EmbeddingModelId,
};

/// Least log odds of a sentence that is kept. Of the sentences of authors outside the fit, 95% of those above it are worth
/// keeping, and 64% of those worth keeping are above it; at 3, these are 94% and 72%. On unread dialogues it is the lowest
/// whole number at which no more than 3% of what only sounds like a fact is kept (`everlore-eval dialogues --stricter`).
pub(super) const KEEP_LOG_ODDS: f32 = 4.0;

/// Least log odds of a sentence that is kept where it corrects an earlier statement: a change of something worth keeping
/// is worth keeping itself.
pub(super) const CORRECTION_LOG_ODDS: f32 = 1.0;

/// Least log odds of a sentence that a pattern knows, judged without the text around it: the shortest statements ("I like
/// tea.") look like small talk.
pub(super) const PATTERN_LOG_ODDS: f32 = -2.0;

/// Least log odds, without the text around it, of a statement about health, family or home that its context makes look
/// quoted.
pub(super) const SURE_ALONE_LOG_ODDS: f32 = 6.0;

/// Least log odds of a sentence that is kept because it is worth keeping with the subject that it leaves out.
pub(super) const COMPLETED_LOG_ODDS: f32 = -4.0;

/// Least log odds within a role play, a translation, a story or pasted text, where most that sounds like a fact is none.
pub(super) const SURE_LOG_ODDS: f32 = 7.0;

/// Least log odds of a sentence in which a pattern finds a name, or that asks to be remembered, in such a frame.
pub(super) const FRAMED_RULE_LOG_ODDS: f32 = 3.0;

/// Log odds of the modes that assert nothing above which no sentence is kept, not even one that asks to be remembered.
pub(super) const CLEARLY_UNASSERTED: f32 = 2.0;

/// Log odds of these modes up to which a context leaves it open.
pub(super) const DOUBTFULLY_UNASSERTED: f32 = 1.0;

/// Log odds of these modes above which a sentence is dropped though it sounds worth keeping.
pub(super) const MAX_UNASSERTED: f32 = 0.0;

/// Least probability of a sentence that may correct an earlier one: nine in ten corrections of the training dialogues
/// reach it and one in ten other statements, most of which resemble nothing that was said before.
pub(super) const MIN_CORRECTION: f32 = 0.05;

/// Modes in which a sentence asserts nothing about its speaker.
const UNASSERTED_MODES: [SentenceMode; 7] = [
    SentenceMode::Question,
    SentenceMode::Hypothetical,
    SentenceMode::Quoted,
    SentenceMode::Acted,
    SentenceMode::Joke,
    SentenceMode::Translation,
    SentenceMode::Pasted,
];

/// Classifier of sentences. Its methods block for some milliseconds.
pub trait SentenceJudge: Send + Sync {
    /// Judges a sentence of a conversation.
    fn judge_sentence(&self, input: &SentenceInput<'_>) -> Result<SentenceScores>;

    /// Returns the vector of a text: of length 1, or zero for a text without words.
    fn text_vector(&self, text: &str) -> Result<Vec<f32>>;

    /// Returns a vector of a text that takes microseconds and tells less: of length 1, or zero for a text without words.
    fn quick_vector(&self, text: &str) -> Vec<f32>;

    /// Returns the model of these vectors.
    fn quick_model(&self) -> EmbeddingModelId;

    /// Returns `true` if a statement asserts something: it is no question, supposition, joke or quote.
    fn asserts(&self, statement: &str) -> Result<bool> {
        let input = SentenceInput { before: &[], text: statement, after: "" };
        Ok(unasserted_log_odds(&self.judge_sentence(&input)?) < MAX_UNASSERTED)
    }

    /// Returns the log odds that an older statement no longer holds after a newer one of the same person about the same
    /// matter.
    fn replaces_log_odds(&self, old: &str, new: &str) -> Result<f32>;
}

#[cfg(feature = "local-model")]
impl SentenceJudge for crate::llm::BuiltinEncoder {
    fn judge_sentence(&self, input: &SentenceInput<'_>) -> Result<SentenceScores> {
        Self::judge_sentence(self, input)
    }

    fn text_vector(&self, text: &str) -> Result<Vec<f32>> {
        self.message_vector(text)
    }

    fn quick_vector(&self, text: &str) -> Vec<f32> {
        crate::llm::BuiltinEmbedder::new().vector(text)
    }

    fn quick_model(&self) -> EmbeddingModelId {
        crate::llm::Embedder::model(&crate::llm::BuiltinEmbedder::new()).clone()
    }

    fn replaces_log_odds(&self, old: &str, new: &str) -> Result<f32> {
        Self::replaces_log_odds(self, old, new)
    }
}

/// Returns the log odds that a sentence asserts nothing.
pub(super) fn unasserted_log_odds(scores: &SentenceScores) -> f32 {
    let sum = |wanted: bool| -> f32 {
        let modes = SentenceMode::ALL.iter().zip(scores.mode_scores);
        let chosen = modes.filter(|(mode, _)| UNASSERTED_MODES.contains(mode) == wanted);
        chosen.map(|(_, score)| score.exp()).sum()
    };
    (sum(true) / sum(false).max(f32::MIN_POSITIVE)).ln()
}

/// Returns the probability that a sentence corrects an earlier one.
pub(super) fn correction_probability(scores: &SentenceScores) -> f32 {
    let sum: f32 = scores.mode_scores.iter().map(|score| score.exp()).sum();
    scores.mode_scores[SentenceMode::Correction as usize].exp() / sum.max(f32::MIN_POSITIVE)
}

/// Returns the probability of each kind, if the sentence is worth keeping.
pub(super) fn kind_probabilities(scores: &SentenceScores) -> [f32; SentenceKind::ALL.len()] {
    let weights = scores.kind_scores.map(f32::exp);
    let sum: f32 = weights.iter().sum();
    weights.map(|weight| weight / sum.max(f32::MIN_POSITIVE))
}

/// Returns the probability of log odds.
pub(super) fn probability(log_odds: f32) -> f64 {
    1.0 / (1.0 + f64::from(-log_odds).exp())
}
