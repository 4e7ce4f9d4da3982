//! Confidence in the hits of a request: log odds that the message calls for memory and that what was found bears on it.

use super::{
    confidence::{FeatureContribution, INTERCEPT, UNKNOWN_NAMES},
    confidence_features::ConfidenceFeatures,
};

/// Inputs of the log odds that a message calls for memory and that what was found bears on it, with their coefficients,
/// where the message model tells what it seeks.
///
/// Fitted on 2,850 messages put to 60 homes by authors outside the fit of the message model, in both languages, and on 480
/// questions put to homes of others; the intercept is set so that nine in ten of the messages without need stay silent at
/// the default of `recall.min_confidence`.
const SOUGHT_COEFFICIENTS: [(&str, f64); 6] = [
    (INTERCEPT, 0.39),
    ("need", 0.55),
    ("sought", 8.67),
    ("max sim", 2.56),
    ("coverage", 0.34),
    ("meaning", 2.44),
];

/// The same where another model compares the hits.
///
/// Fitted on messages for 1,193 topics of everyday life and work in both languages, put to homes of 5 to 300 memories,
/// and on messages that need no memory; the intercept is set so that nine in ten of the latter stay silent at the
/// default of `recall.min_confidence`.
const REQUEST_COEFFICIENTS: [(&str, f64); 7] = [
    (INTERCEPT, -0.5),
    ("need", 0.91),
    ("cosine", 2.79),
    ("max sim", 2.51),
    ("coverage", 0.56),
    ("meaning", 1.66),
    (UNKNOWN_NAMES, -2.74),
];

impl ConfidenceFeatures {
    /// Returns what each input adds to the log odds that the message calls for memory.
    pub(super) fn request_parts(&self) -> Vec<FeatureContribution> {
        let part = |((name, coefficient), value): (&(&'static str, f64), f64)| {
            FeatureContribution { name, value, adds: coefficient * value }
        };
        let Self { need, max_sim, coverage, meaning, .. } = *self;
        if let Some(sought) = self.sought {
            let values = [1.0, need, sought, max_sim, coverage, meaning];
            return SOUGHT_COEFFICIENTS.iter().zip(values).map(part).collect();
        }
        let values =
            [1.0, need, self.cosine, max_sim, coverage, meaning, self.unknown_names as f64];
        REQUEST_COEFFICIENTS.iter().zip(values).map(part).collect()
    }
}
