//! Confidence model: logistic regression from the features of a query and its best hit to the probability of an answer.

use serde::{Deserialize, Serialize};

use super::{confidence_features::ConfidenceFeatures, logistic::sigmoid};
use crate::{
    recall::{Hit, IdentityQuestion, Intent, MemoryNeed},
    text::terms::terms,
    types::{Kind, MemoryFeedback, Origin},
};

/// Number of inputs of the model, the constant one included.
pub const FEATURE_COUNT: usize = 13;

/// Log odds of a question of general knowledge (how long to boil an egg), judged by words alone: a memory about eggs is
/// returned only if everything else speaks for it. A stronger penalty would cost real questions that merely look
/// general.
const GENERAL_QUESTION_PENALTY: f64 = -4.0;

/// Log odds if the query touches on the user's habits and the best hit is about the user: as much as for a named speaker.
const ABOUT_USER_BONUS: f64 = 2.0;

/// Log odds if the best hit is a limit that the user stated for what they ask for: an allergy that is not told before a
/// dinner costs more than several memories too many.
const CONSTRAINT_BONUS: f64 = 3.5;

/// Log odds per verdict of the balance on a memory, and the most that verdicts add or take: three of one kind move the
/// confidence as far as they ever will, less than a named speaker does.
const LOG_ODDS_PER_VERDICT: f64 = 0.5;
const MAX_VERDICTS: f64 = 3.0;

/// Name in JSON of the constant input, whose coefficient is the intercept.
pub(super) const INTERCEPT: &str = "usual";

/// Name in JSON of the number of names that the scope lacks.
pub(super) const UNKNOWN_NAMES: &str = "strangers";

/// Names of the inputs, in the order of the coefficients.
const FEATURE_NAMES: [&str; FEATURE_COUNT] = [
    INTERCEPT,
    "coverage",
    "matched",
    "strength",
    "known",
    "meaning",
    "speaker",
    UNKNOWN_NAMES,
    "date",
    "small",
    "coverage if small",
    "cosine",
    "max sim",
];

/// Coefficients of the logistic models, in log odds per unit of each input.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceCoefficients {
    /// Coefficients where the encoder compared the hits with the query.
    pub encoder: [f64; FEATURE_COUNT],
    /// Coefficients where words, and at most the static table, decide.
    pub words: [f64; FEATURE_COUNT],
}

impl Default for ConfidenceCoefficients {
    /// Returns the coefficients fitted by `everlore-eval gate` on 3,000 questions in English and Chinese, each put to
    /// the scope that answers it and to one that does not, with the names of speakers and without.
    fn default() -> Self {
        Self { encoder: ENCODER_COEFFICIENTS, words: WORD_COEFFICIENTS }
    }
}

/// Fitted on LoCoMo and on questions in the other language than the memories.
const ENCODER_COEFFICIENTS: [f64; FEATURE_COUNT] = [
    // Intercept: nine in ten of the unanswerable questions of crosslingual homes stay silent.
    -1.50, //
    // Words say little beside the encoder, which has read them; those that the scope knows say nothing for an answer.
    2.67, -0.36, 1.74, -3.51, //
    // The static table agrees with the encoder.
    1.32, //
    // A question that names a speaker of this scope is meant for this scope.
    2.76, //
    // A name that this scope lacks is the clearest sign of a question for elsewhere.
    -1.83, //
    // The hit is of the very time that the query names.
    2.31, //
    // The encoder compares as well in a small scope as in a large one.
    0.0, 0.0, //
    // From the usual cosine of 0.45 to that of the same statement is 0.3.
    12.1, 7.18,
];

const WORD_COEFFICIENTS: [f64; FEATURE_COUNT] = [
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
    3.30, //
    // Nothing was compared.
    0.0, 0.0,
];

/// Log odds of the message model above which the form of a message ("write a notice: …") does not silence memory: five in
/// six such messages call for it.
const SURE_NEED: f64 = 1.5;

/// Log odds per unit of negative need that a question for a fact loses: general knowledge has answers elsewhere.
const FACT_NEED: f64 = 0.5;

/// Log odds by words alone that a message loses: where it calls for nothing by its form, only a memory with nearly all of
/// its rare words is told. An error message loses nothing: its form says nothing.
const WORDS_MARGIN: f64 = 1.5;

/// The same for a question for a fact, whose words are those of its answer more often.
const FACT_WORDS_MARGIN: f64 = 1.0;

impl ConfidenceCoefficients {
    /// Returns the log odds that the best hit answers, by words alone.
    fn words_log_odds(&self, features: &ConfidenceFeatures) -> f64 {
        let sum: f64 = self.words.iter().zip(features.features()).map(|(a, b)| a * b).sum();
        let general = if features.general { GENERAL_QUESTION_PENALTY } else { 0.0 };
        let margin = if features.code { 0.0 } else { WORDS_MARGIN };
        sum + general - margin
    }

    /// Returns the log odds that the best hit answers a question for a fact.
    pub(super) fn log_odds(&self, features: &ConfidenceFeatures) -> f64 {
        let sum = |coefficients: &[f64; FEATURE_COUNT]| -> f64 {
            coefficients.iter().zip(features.features()).map(|(a, b)| a * b).sum()
        };
        let words = sum(&self.words);
        if features.compared { sum(&self.encoder).max(words - FACT_WORDS_MARGIN) } else { words }
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
        let tuned = |default: [f64; FEATURE_COUNT]| {
            let mut scaled = default.map(|coefficient| coefficient * self.slope);
            scaled[0] += self.bias;
            scaled
        };
        let ConfidenceCoefficients { encoder, words } = ConfidenceCoefficients::default();
        ConfidenceCoefficients { encoder: tuned(encoder), words: tuned(words) }
    }
}

impl ConfidenceFeatures {
    /// Returns `true` if the message model is sure that the message calls for memory, whatever its form.
    fn is_called_for(&self) -> bool {
        self.compared && self.need > SURE_NEED
    }

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
            self.unknown_names as f64,
            flag(self.date),
            self.small,
            self.small * self.coverage,
            self.cosine,
            self.max_sim,
        ]
    }
}

/// Confidence in the best hit, with its derivation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfidenceEstimate {
    /// Probability from 0 to 1 that the best hit answers the query.
    pub confidence: f64,
    /// Rule that decided.
    pub basis: ConfidenceBasis,
    /// Features of the query and its best hit.
    pub evidence: ConfidenceFeatures,
    /// Contribution of each feature.
    pub parts: Vec<FeatureContribution>,
    /// Log odds added for the intent of the query.
    pub intent: f64,
    /// Log odds added for the verdicts that the best hit got; one of the parts.
    #[serde(skip)]
    pub feedback: f64,
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
    /// The message calls for memory, by its form and meaning, and what was found bears on it.
    Call,
    /// The message asks for a fact, and the evidence says whether the best hit states it.
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
            ConfidenceBasis::Call => {
                let call: f64 = self.evidence.request_parts().iter().map(|part| part.adds).sum();
                let words = coefficients.words_log_odds(&self.evidence);
                sigmoid(call.max(words) + self.intent + self.feedback)
            }
            ConfidenceBasis::Evidence => {
                sigmoid(coefficients.log_odds(&self.evidence) + self.intent + self.feedback)
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
    let used = if features.compared { &coefficients.encoder } else { &coefficients.words };
    let contribution = |i: usize| FeatureContribution {
        name: FEATURE_NAMES[i],
        value: inputs[i],
        adds: used[i] * inputs[i],
    };
    let basis = basis(intent, hits, &features);
    let feedback = hits.first().and_then(feedback_part);
    let parts: Vec<FeatureContribution> = match basis {
        ConfidenceBasis::Call => features.request_parts(),
        _ => (0..FEATURE_COUNT).map(contribution).collect(),
    };
    let estimate = ConfidenceEstimate {
        confidence: 0.0,
        basis,
        evidence: features,
        parts: parts.into_iter().chain(feedback).collect(),
        intent: hits.first().map_or(0.0, |best| intent_log_odds(intent, best, &features)),
        feedback: feedback.map_or(0.0, |part| part.adds),
    };
    ConfidenceEstimate { confidence: estimate.confidence_with(coefficients), ..estimate }
}

/// Returns the estimate for a query that is the name of a memory.
pub(super) fn full_confidence() -> ConfidenceEstimate {
    ConfidenceEstimate {
        confidence: 1.0,
        basis: ConfidenceBasis::Named,
        evidence: ConfidenceFeatures::default(),
        parts: Vec::new(),
        intent: 0.0,
        feedback: 0.0,
    }
}

/// Returns what people's verdicts on a hit add to the log odds that it bears on a message; `None` without any.
pub(super) fn feedback_part(hit: &Hit) -> Option<FeatureContribution> {
    let value = MemoryFeedback::of_memory(&hit.memory)?.balance();
    let adds = LOG_ODDS_PER_VERDICT * value.clamp(-MAX_VERDICTS, MAX_VERDICTS);
    Some(FeatureContribution { name: "feedback", value, adds })
}

fn basis(intent: &Intent, hits: &[Hit], features: &ConfidenceFeatures) -> ConfidenceBasis {
    match hits.first() {
        None => ConfidenceBasis::Nothing,
        Some(_) if intent.need == MemoryNeed::Nothing && !features.is_called_for() => {
            ConfidenceBasis::NoNeed
        }
        Some(_) if intent.asks_period => ConfidenceBasis::Period,
        Some(best)
            if intent.identity == IdentityQuestion::Strong && best.signals.identity > 0.0 =>
        {
            ConfidenceBasis::Profile
        }
        Some(_) if features.compared && !features.asks_fact => ConfidenceBasis::Call,
        Some(_) => ConfidenceBasis::Evidence,
    }
}

/// Returns the log odds for the intent of the query, beside its words.
fn intent_log_odds(intent: &Intent, best: &Hit, features: &ConfidenceFeatures) -> f64 {
    let about_user = intent.identity != IdentityQuestion::None && best.signals.identity > 0.0;
    let is_document =
        best.memory.kind == Kind::Knowledge && best.memory.source.via == Origin::Import;
    let names_known_person = features.speaker || features.known_names > 0;
    let states_constraint = best.memory.kind == Kind::User
        && !intent.constraint_terms.is_empty()
        && terms(&best.memory.content).iter().any(|term| intent.constraint_terms.contains(term));
    let asks_fact = features.compared && features.asks_fact;
    match intent.need {
        _ if states_constraint => CONSTRAINT_BONUS,
        _ if about_user && !asks_fact => ABOUT_USER_BONUS,
        _ if asks_fact => FACT_NEED * features.need.min(0.0),
        _ if features.compared => 0.0,
        MemoryNeed::General if !is_document && !names_known_person => GENERAL_QUESTION_PENALTY,
        _ => 0.0,
    }
}
