//! Whether anything found is good enough to be told.

use serde::{Deserialize, Serialize};

use super::{
    ConfidenceFeatures, Hit, Intent, MemoryNeed, RecallRequest, identity::IdentityQuestion,
};
use crate::{
    text::terms::terms,
    types::{Kind, Origin},
};

/// How many numbers are weighed, the constant one included.
pub const FEATURE_COUNT: usize = 11;

/// Taken from the judgement of a question that the world answers (how long to boil an egg): what is stored about eggs is
/// told only if everything else speaks for it. More would cost true questions that merely look general.
const GENERAL_QUESTION_PENALTY: f64 = -4.0;

/// Added where the query touches on the user's ways, or asks for what they bear on, and the best hit is what is known of
/// the user: as much as naming the speaker.
const ABOUT_USER_BONUS: f64 = 2.0;

/// What each number of the evidence is called, in the order of the weights.
const FEATURE_NAMES: [&str; FEATURE_COUNT] = [
    "usual",
    "coverage",
    "matched",
    "strength",
    "known",
    "meaning",
    "speaker",
    "strangers",
    "date",
    "small",
    "coverage if small",
];

/// What each number of the evidence is worth, as logarithms of odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCoefficients(pub [f64; FEATURE_COUNT]);

impl Default for ConfidenceCoefficients {
    /// Fitted by `everlore-eval gate` on 3,000 questions in English and Chinese, each put to the scope that answers it and
    /// to one that does not, with the names of speakers and without.
    fn default() -> Self {
        Self([
            // Without any evidence, hardly anything is answered.
            -6.00, //
            // Covering the words says less than the next three together, which say the same in different ways.
            0.81, //
            // Several rare words agree by chance less often than one common word.
            1.30, //
            // A strong match in one memory beats the same words spread over its neighbours.
            1.71, //
            // A scope that never heard a word cannot answer what is asked of it.
            2.97, //
            // From the scope's average to the same text is 0.9: meaning alone can carry an answer, words must not contradict.
            5.86, //
            // A question about somebody who speaks here is meant for here.
            1.94, //
            // A name that was never said here is the clearest sign of a question for elsewhere.
            -2.02, //
            // Something was said in the very time that is asked for.
            1.43, //
            // A word in common with one of a few memories is hardly an accident, and most words of any question are unknown
            // there: fitted by `everlore-eval homes`, the tuning half, beside MemDaily, a wrong answer counted as one and a
            // half missing ones.
            3.80, //
            // What is unknown there says little, so what is covered says more.
            3.30,
        ])
    }
}

impl ConfidenceCoefficients {
    /// How probable an answer is.
    pub fn probability(&self, features: &[f64; FEATURE_COUNT]) -> f64 {
        logistic(self.log_odds(features))
    }

    /// The same as a logarithm of odds.
    pub(super) fn log_odds(&self, features: &[f64; FEATURE_COUNT]) -> f64 {
        self.0.iter().zip(features).map(|(weight, value)| weight * value).sum()
    }
}

/// How sure recall should be in a scope, beside what is shipped.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceTuning {
    /// Added to the logarithm of the odds.
    pub bias: f64,
    /// What it is multiplied with.
    pub slope: f64,
}

impl Default for ConfidenceTuning {
    /// As shipped.
    fn default() -> Self {
        Self { bias: 0.0, slope: 1.0 }
    }
}

impl ConfidenceTuning {
    /// The shipped weights, tuned.
    pub fn coefficients(&self) -> ConfidenceCoefficients {
        let mut weights = ConfidenceCoefficients(
            ConfidenceCoefficients::default().0.map(|weight| weight * self.slope),
        );
        weights.0[0] += self.bias;
        weights
    }
}

impl ConfidenceFeatures {
    /// The numbers that are weighed, the constant one first.
    pub fn features(&self) -> [f64; FEATURE_COUNT] {
        let flag = |set: bool| f64::from(u8::from(set));
        [
            1.0,
            self.coverage,
            // In a small scope every word is as rare as any other, and the sum only counts them.
            self.matched * (1.0 - self.small),
            self.strength,
            self.known,
            self.meaning,
            flag(self.speaker),
            self.strangers as f64,
            flag(self.date),
            self.small,
            self.small * self.coverage,
        ]
    }
}

/// How sure recall is, and why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidenceEstimate {
    /// How probable it is that the best hit answers the query, from 0 to 1.
    pub confidence: f64,
    /// What decided.
    pub basis: ConfidenceBasis,
    /// What spoke for and against it.
    pub evidence: ConfidenceFeatures,
    /// What each part of the evidence added, as logarithms of odds.
    pub parts: [FeatureContribution; FEATURE_COUNT],
    /// Added because of what the query is after.
    pub intent: f64,
}

/// What decided how sure recall is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceBasis {
    /// Nothing was found.
    Nothing,
    /// The message needs no memory.
    NoNeed,
    /// The query asks who the user is, and that is known.
    Profile,
    /// The query asks for a period, and something was said then.
    Period,
    /// The query is the name of a memory.
    Named,
    /// The evidence was weighed.
    Evidence,
}

/// What a part of the evidence added.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FeatureContribution {
    /// Its name.
    pub name: &'static str,
    /// Its number.
    pub value: f64,
    /// What it added to the odds, as a logarithm.
    pub adds: f64,
}

impl ConfidenceEstimate {
    /// How sure recall would be if evidence were worth this.
    pub fn confidence_with(&self, weights: &ConfidenceCoefficients) -> f64 {
        match self.basis {
            ConfidenceBasis::Nothing | ConfidenceBasis::NoNeed => 0.0,
            ConfidenceBasis::Profile | ConfidenceBasis::Period | ConfidenceBasis::Named => 1.0,
            ConfidenceBasis::Evidence => {
                logistic(weights.log_odds(&self.evidence.features()) + self.intent)
            }
        }
    }
}

/// Judges how probable it is that the best hit answers the query.
pub(super) fn estimate_confidence(
    intent: &Intent,
    ranked: &[Hit],
    evidence: ConfidenceFeatures,
    weights: &ConfidenceCoefficients,
) -> ConfidenceEstimate {
    let features = evidence.features();
    let part = |i: usize| FeatureContribution {
        name: FEATURE_NAMES[i],
        value: features[i],
        adds: weights.0[i] * features[i],
    };
    let judgement = ConfidenceEstimate {
        confidence: 0.0,
        basis: basis(intent, ranked),
        evidence,
        parts: std::array::from_fn(part),
        intent: ranked.first().map_or(0.0, |best| intent_log_odds(intent, best, &evidence)),
    };
    ConfidenceEstimate { confidence: judgement.confidence_with(weights), ..judgement }
}

/// The judgement of a query that names a memory.
pub(super) fn full_confidence() -> ConfidenceEstimate {
    let part = |i: usize| FeatureContribution { name: FEATURE_NAMES[i], value: 0.0, adds: 0.0 };
    ConfidenceEstimate {
        confidence: 1.0,
        basis: ConfidenceBasis::Named,
        evidence: ConfidenceFeatures::default(),
        parts: std::array::from_fn(part),
        intent: 0.0,
    }
}

fn basis(intent: &Intent, ranked: &[Hit]) -> ConfidenceBasis {
    match ranked.first() {
        None => ConfidenceBasis::Nothing,
        Some(_) if intent.need == MemoryNeed::Nothing => ConfidenceBasis::NoNeed,
        Some(_) if intent.asks_period => ConfidenceBasis::Period,
        Some(best)
            if intent.identity == IdentityQuestion::Strong && best.signals.identity > 0.0 =>
        {
            ConfidenceBasis::Profile
        }
        Some(_) => ConfidenceBasis::Evidence,
    }
}

/// What the query is after beside its words.
fn intent_log_odds(intent: &Intent, best: &Hit, evidence: &ConfidenceFeatures) -> f64 {
    let about_user = intent.identity != IdentityQuestion::None && best.signals.identity > 0.0;
    let is_document =
        best.memory.kind == Kind::Knowledge && best.memory.source.via == Origin::Import;
    let knows_somebody = evidence.speaker || evidence.acquaintances > 0;
    let concerned = best.memory.kind == Kind::User
        && !intent.constraint_terms.is_empty()
        && terms(&best.memory.content).iter().any(|term| intent.constraint_terms.contains(term));
    match intent.need {
        _ if about_user || concerned => ABOUT_USER_BONUS,
        MemoryNeed::General if !is_document && !knows_somebody => GENERAL_QUESTION_PENALTY,
        _ => 0.0,
    }
}

fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// Leaves out what falls short of the request's bars: everything, if even the best is not sure enough.
pub(super) fn abstain(ranked: Vec<Hit>, confidence: f64, request: &RecallRequest) -> Vec<Hit> {
    if confidence < request.min_confidence {
        return Vec::new();
    }
    let floor = relevance_floor(&ranked, request);
    ranked
        .into_iter()
        .filter(|hit| hit.score >= request.min_score && hit.factors.relevance >= floor)
        .collect()
}

/// The least relevance that is told.
pub(super) fn relevance_floor(ranked: &[Hit], request: &RecallRequest) -> f64 {
    request.floor * ranked.iter().map(|hit| hit.factors.relevance).fold(0.0, f64::max)
}
