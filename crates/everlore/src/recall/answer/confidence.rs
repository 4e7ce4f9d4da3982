//! Confidence model: logistic regression from the features of a query and its best hit to the probability of an answer.

use serde::{Deserialize, Serialize};

use super::{confidence_features::ConfidenceFeatures, logistic::sigmoid};
use crate::{
    recall::{Hit, IdentityQuestion, Intent, MemoryNeed},
    text::terms::terms,
    types::{Kind, Origin},
};

/// Number of inputs of the model, the constant one included.
pub const FEATURE_COUNT: usize = 17;

/// Log odds of a question of general knowledge (how long to boil an egg): a memory about eggs is returned only if
/// everything else speaks for it. A stronger penalty would cost real questions that merely look general.
const GENERAL_QUESTION_PENALTY: f64 = -4.0;

/// Log odds if the query touches on the user's habits, or on something they constrain, and the best hit is about the
/// user: as much as for a named speaker.
const ABOUT_USER_BONUS: f64 = 2.0;

/// Names of the inputs, in the order of the coefficients.
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
    "need",
    "fact",
    "need of a fact",
    "cosine",
    "max sim",
    "cosine of a fact",
];

/// Coefficients of the logistic model, in log odds per unit of each input.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCoefficients(pub [f64; FEATURE_COUNT]);

impl Default for ConfidenceCoefficients {
    /// Returns the coefficients fitted by `everlore-eval gate` on 3,000 questions in English and Chinese, each put to
    /// the scope that answers it and to one that does not, with the names of speakers and without.
    fn default() -> Self {
        Self([
            // Intercept: without any features, hardly anything is answered.
            -6.00, //
            // Coverage of the words says less than the next three together, which say the same in different ways.
            0.81, //
            // Several rare words agree by chance less often than one common word.
            1.30, //
            // A strong match in one memory beats the same words spread over its neighbours.
            1.71, //
            // A scope that lacks a word of the question cannot answer it.
            2.97, //
            // From the scope's average to the same text is 0.9: meaning alone can carry an answer if words do not
            // contradict.
            5.86, //
            // A question that names a speaker of this scope is meant for this scope.
            1.94, //
            // A name that this scope lacks is the clearest sign of a question for elsewhere.
            -2.02, //
            // The hit is of the very time that the query names.
            1.43, //
            // In a scope of few memories, a common word is hardly an accident, and most words of any question are
            // unknown. Fitted by `everlore-eval homes`, the tuning half, beside MemDaily; a wrong answer counted as one
            // and a half missing ones.
            3.80, //
            // Unknown words say little in a small scope, so covered ones say more.
            3.30, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ])
    }
}

impl ConfidenceCoefficients {
    /// Returns the log odds that the best hit answers the query.
    pub(super) fn log_odds(&self, features: &[f64; FEATURE_COUNT]) -> f64 {
        self.0.iter().zip(features).map(|(coefficient, value)| coefficient * value).sum()
    }
}

/// Calibration of the default model to a scope by Platt scaling: log odds × slope + bias.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceTuning {
    /// Summand of the log odds.
    pub bias: f64,
    /// Factor on the log odds.
    pub slope: f64,
}

impl Default for ConfidenceTuning {
    /// Leaves the default model unchanged.
    fn default() -> Self {
        Self { bias: 0.0, slope: 1.0 }
    }
}

impl ConfidenceTuning {
    /// Returns the default coefficients with slope and bias applied.
    pub fn coefficients(&self) -> ConfidenceCoefficients {
        let scaled = ConfidenceCoefficients::default().0.map(|default| default * self.slope);
        let mut coefficients = ConfidenceCoefficients(scaled);
        coefficients.0[0] += self.bias;
        coefficients
    }
}

impl ConfidenceFeatures {
    /// Returns the inputs of the model, the constant one first.
    pub fn features(&self) -> [f64; FEATURE_COUNT] {
        let flag = |set: bool| f64::from(u8::from(set));
        [
            1.0,
            self.coverage,
            // In a small scope all words are equally rare, so the sum of rarities only counts them.
            self.matched * (1.0 - self.small),
            self.strength,
            self.known,
            self.meaning,
            flag(self.speaker),
            self.strangers as f64,
            flag(self.date),
            self.small,
            self.small * self.coverage,
            self.need,
            flag(self.asks_fact),
            flag(self.asks_fact) * self.need,
            self.cosine,
            self.max_sim,
            flag(self.asks_fact) * self.cosine,
        ]
    }
}

/// Confidence in the best hit, with its derivation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidenceEstimate {
    /// Probability from 0 to 1 that the best hit answers the query.
    pub confidence: f64,
    /// Rule that decided.
    pub basis: ConfidenceBasis,
    /// Features of the query and its best hit.
    pub evidence: ConfidenceFeatures,
    /// Contribution of each feature.
    pub parts: [FeatureContribution; FEATURE_COUNT],
    /// Log odds added for the intent of the query.
    pub intent: f64,
}

/// Rule that decided the confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfidenceBasis {
    /// There are no hits.
    Nothing,
    /// The message needs no memory.
    NoNeed,
    /// The query asks who the user is, and the best hit is about the user.
    Profile,
    /// The query asks for a period that has memories.
    Period,
    /// The query is the name of a memory.
    Named,
    /// The logistic model decided.
    Evidence,
}

/// Contribution of one feature to the log odds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FeatureContribution {
    /// Name of the feature.
    pub name: &'static str,
    /// Value of the feature.
    pub value: f64,
    /// Summand of the log odds.
    pub adds: f64,
}

impl ConfidenceEstimate {
    /// Returns the confidence under other coefficients.
    pub fn confidence_with(&self, coefficients: &ConfidenceCoefficients) -> f64 {
        match self.basis {
            ConfidenceBasis::Nothing | ConfidenceBasis::NoNeed => 0.0,
            ConfidenceBasis::Profile | ConfidenceBasis::Period | ConfidenceBasis::Named => 1.0,
            ConfidenceBasis::Evidence => {
                sigmoid(coefficients.log_odds(&self.evidence.features()) + self.intent)
            }
        }
    }
}

/// Estimates the probability that the best hit answers the query.
pub(super) fn estimate_confidence(
    intent: &Intent,
    hits: &[Hit],
    features: ConfidenceFeatures,
    coefficients: &ConfidenceCoefficients,
) -> ConfidenceEstimate {
    let inputs = features.features();
    let contribution = |i: usize| FeatureContribution {
        name: FEATURE_NAMES[i],
        value: inputs[i],
        adds: coefficients.0[i] * inputs[i],
    };
    let estimate = ConfidenceEstimate {
        confidence: 0.0,
        basis: basis(intent, hits),
        evidence: features,
        parts: std::array::from_fn(contribution),
        intent: hits.first().map_or(0.0, |best| intent_log_odds(intent, best, &features)),
    };
    ConfidenceEstimate { confidence: estimate.confidence_with(coefficients), ..estimate }
}

/// Returns the estimate for a query that is the name of a memory.
pub(super) fn full_confidence() -> ConfidenceEstimate {
    let contribution =
        |i: usize| FeatureContribution { name: FEATURE_NAMES[i], value: 0.0, adds: 0.0 };
    ConfidenceEstimate {
        confidence: 1.0,
        basis: ConfidenceBasis::Named,
        evidence: ConfidenceFeatures::default(),
        parts: std::array::from_fn(contribution),
        intent: 0.0,
    }
}

fn basis(intent: &Intent, hits: &[Hit]) -> ConfidenceBasis {
    match hits.first() {
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

/// Returns the log odds for the intent of the query, beside its words.
fn intent_log_odds(intent: &Intent, best: &Hit, features: &ConfidenceFeatures) -> f64 {
    let about_user = intent.identity != IdentityQuestion::None && best.signals.identity > 0.0;
    let is_document =
        best.memory.kind == Kind::Knowledge && best.memory.source.via == Origin::Import;
    let names_known_person = features.speaker || features.acquaintances > 0;
    let states_constraint = best.memory.kind == Kind::User
        && !intent.constraint_terms.is_empty()
        && terms(&best.memory.content).iter().any(|term| intent.constraint_terms.contains(term));
    match intent.need {
        _ if about_user || states_constraint => ABOUT_USER_BONUS,
        MemoryNeed::General if !is_document && !names_known_person => GENERAL_QUESTION_PENALTY,
        _ => 0.0,
    }
}
