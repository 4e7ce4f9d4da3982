//! Fits the coefficients of the confidence gate and scores them on conversations outside the fit.

use std::collections::HashSet;

use anyhow::{Result, bail};
use everlore::{
    engine::{ConfidenceCoefficients, ConfidenceTuning},
    internal::recall::{FEATURE_COUNT, TrainingSample, fit_logistic},
};
use serde::Serialize;

use super::abstention::{AbstentionScores, PlacedQuestion, abstention_scores, place_questions};
use crate::retrieval::data::DataSet;

/// Cross-validation folds, cut by scope; each is scored by a fit on the others.
const FOLDS: usize = 5;

/// Weight of each question set in the fit, in questions, so that a large set does not outvote a small one.
const PART_WEIGHT: f64 = 1_000.0;

/// L2 penalty, nearly none: there are hundreds of questions for each coefficient.
const REGULARIZATION: f64 = 1.0;

/// Bins of a reliability diagram.
const BINS: usize = 5;

/// Thresholds of the trade-off.
pub(crate) const THRESHOLDS: [f64; 9] = [0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7];

/// Questions of a data set, with the names of speakers or without.
struct QuestionSet {
    name: String,
    questions: Vec<PlacedQuestion>,
    /// Scopes in file order; folds are cut by them.
    scopes: Vec<String>,
}

/// Quality of the gate on a question set.
#[derive(Debug, Serialize)]
pub(crate) struct QuestionSetReport {
    pub(crate) name: String,
    pub(crate) n: usize,
    /// With the shipped coefficients, which were fitted on these sets too.
    pub(crate) shipped: GateQuality,
    /// With a fit on all sets, this one included.
    pub(crate) in_sample: GateQuality,
    /// With fits on other scopes.
    pub(crate) held_out: GateQuality,
    /// With the shipped coefficients calibrated on the memories of each scope, if requested.
    pub(crate) calibrated: Option<GateQuality>,
    /// With fits on other scopes, at each of [`THRESHOLDS`]: threshold, own answered, foreign silenced.
    pub(crate) trade_off: Vec<(f64, f64, f64)>,
    /// With fits on other scopes: mean confidence, share answerable, and count of each bin.
    pub(crate) bins: Vec<(f64, f64, usize)>,
}

#[derive(Debug, Serialize)]
pub(crate) struct GateQuality {
    pub(crate) auc: f64,
    /// Mean squared error of the confidence.
    pub(crate) brier: f64,
    pub(crate) own_answered: f64,
    pub(crate) foreign_silenced: f64,
}

/// Report of the fit.
#[derive(Debug, Serialize)]
pub(crate) struct GateReport {
    pub(crate) parts: Vec<QuestionSetReport>,
    /// Coefficients fitted on all sets.
    pub(crate) weights: ConfidenceCoefficients,
    pub(crate) threshold: f64,
    /// Mean calibration before the correction for synthetic questions.
    pub(crate) made_up: Option<ConfidenceTuning>,
}

/// Places the questions, fits, and scores each set in sample, held out and calibrated.
pub(crate) fn measure(
    sets: &[(String, DataSet)],
    calibrate: bool,
    threshold: f64,
) -> Result<GateReport> {
    let mut parts = Vec::new();
    for (name, set) in sets {
        parts.extend(question_sets(name, place_questions(set, calibrate)?));
    }
    if parts.is_empty() {
        bail!("there is no set to fit the gate on");
    }
    let all = |_: usize, _: &PlacedQuestion| true;
    let weights = fit_weights(&parts, &all);
    let folds: Vec<ConfidenceCoefficients> =
        (0..FOLDS).map(|fold| fit_weights(&parts, &|at, _| at % FOLDS != fold)).collect();
    let reports = parts.iter().map(|part| {
        let shipped = part.judged(|_| ConfidenceCoefficients::default());
        let held_out = part.judged(|at| folds[at % FOLDS]);
        QuestionSetReport {
            name: part.name.clone(),
            n: part.questions.len(),
            shipped: quality(&shipped, threshold),
            in_sample: quality(&part.judged(|_| weights), threshold),
            calibrated: calibrate.then(|| quality(&part.calibrated(), threshold)),
            trade_off: THRESHOLDS.map(|bar| trade_off(&held_out, bar)).to_vec(),
            bins: bins(&held_out),
            held_out: quality(&held_out, threshold),
        }
    });
    let made_up = mean_calibration(&parts);
    Ok(GateReport { parts: reports.collect(), weights, threshold, made_up })
}

fn mean_calibration(parts: &[QuestionSet]) -> Option<ConfidenceTuning> {
    let questions = parts.iter().flat_map(|part| &part.questions);
    let calibrations: Vec<_> =
        questions.filter_map(|question| question.calibration.as_ref()).collect();
    let mean = |value: fn(&ConfidenceTuning) -> f64| {
        let sum: f64 = calibrations.iter().map(|calibration| value(&calibration.fitted)).sum();
        sum / calibrations.len() as f64
    };
    (!calibrations.is_empty())
        .then(|| ConfidenceTuning { bias: mean(|t| t.bias), slope: mean(|t| t.slope) })
}

/// Splits a data set into the questions with names and those without; one set if the names make no difference.
fn question_sets(name: &str, questions: Vec<PlacedQuestion>) -> Vec<QuestionSet> {
    let (kept, removed): (Vec<_>, Vec<_>) =
        questions.into_iter().partition(|question| question.names_kept);
    let same = kept.iter().zip(&removed).all(|(a, b)| a.judgement == b.judgement);
    let set = |suffix: &str, questions: Vec<PlacedQuestion>| {
        let mut seen = HashSet::new();
        let scopes = questions.iter().map(|question| question.scope.clone());
        let scopes = scopes.filter(|scope| seen.insert(scope.clone())).collect();
        QuestionSet { name: format!("{name}{suffix}"), questions, scopes }
    };
    if same {
        vec![set("", kept)]
    } else {
        vec![set(", names kept", kept), set(", names removed", removed)]
    }
}

impl QuestionSet {
    fn scope_index(&self, question: &PlacedQuestion) -> usize {
        self.scopes.iter().position(|scope| *scope == question.scope).unwrap_or_default()
    }

    /// Returns the same with the calibration of each scope.
    fn calibrated(&self) -> Vec<(f64, bool)> {
        let tuning = |question: &PlacedQuestion| {
            question.calibration.as_ref().map(|calibration| calibration.tuning)
        };
        let weights =
            |question: &PlacedQuestion| tuning(question).unwrap_or_default().coefficients();
        let judge = |question: &PlacedQuestion| {
            (question.judgement.confidence_with(&weights(question)), question.own)
        };
        self.questions.iter().map(judge).collect()
    }

    /// Returns the confidence of each question and `true` if it was put to its own scope.
    fn judged(&self, weights: impl Fn(usize) -> ConfidenceCoefficients) -> Vec<(f64, bool)> {
        let judge = |question: &PlacedQuestion| {
            (question.judgement.confidence_with(&weights(self.scope_index(question))), question.own)
        };
        self.questions.iter().map(judge).collect()
    }
}

fn fit_weights(
    parts: &[QuestionSet],
    belongs: &dyn Fn(usize, &PlacedQuestion) -> bool,
) -> ConfidenceCoefficients {
    let mut samples = Vec::new();
    for part in parts {
        let weight = PART_WEIGHT / part.questions.len() as f64;
        let fitting =
            part.questions.iter().filter(|question| belongs(part.scope_index(question), question));
        samples.extend(fitting.map(|question| TrainingSample {
            features: question.judgement.evidence.features().to_vec(),
            answered: question.own,
            weight,
        }));
    }
    let fitted = fit_logistic(&samples, &[0.0; FEATURE_COUNT], REGULARIZATION);
    let encoder = fitted.try_into().expect("as many coefficients as inputs");
    ConfidenceCoefficients { encoder, ..ConfidenceCoefficients::default() }
}

fn quality(judged: &[(f64, bool)], threshold: f64) -> GateQuality {
    let of = |own: bool| -> Vec<f64> {
        judged.iter().filter(|(_, is)| *is == own).map(|(sure, _)| *sure).collect()
    };
    let AbstentionScores { auc, own_answered, foreign_silenced, .. } =
        abstention_scores(&of(true), &of(false), threshold);
    let error = |(sure, own): &(f64, bool)| (sure - f64::from(u8::from(*own))).powi(2);
    let brier = judged.iter().map(error).sum::<f64>() / judged.len().max(1) as f64;
    GateQuality { auc, brier, own_answered, foreign_silenced }
}

/// Returns the threshold, the share of own questions answered and the share of foreign ones silenced.
fn trade_off(judged: &[(f64, bool)], threshold: f64) -> (f64, f64, f64) {
    let quality = quality(judged, threshold);
    (threshold, quality.own_answered, quality.foreign_silenced)
}

fn bins(judged: &[(f64, bool)]) -> Vec<(f64, f64, usize)> {
    let bin_of = |sure: f64| ((sure * BINS as f64) as usize).min(BINS - 1);
    let bin = |bin: usize| {
        let inside: Vec<_> = judged.iter().filter(|(sure, _)| bin_of(*sure) == bin).collect();
        let count = inside.len().max(1) as f64;
        let sure = inside.iter().map(|(sure, _)| sure).sum::<f64>() / count;
        let right = inside.iter().filter(|(_, own)| *own).count() as f64 / count;
        (sure, right, inside.len())
    };
    (0..BINS).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_that_is_right_as_often_as_it_is_sure_falls_on_the_diagonal() {
        let judged: Vec<_> = (0..100).map(|i| (0.7, i < 70)).collect();
        let bins = bins(&judged);
        let (sure, right, count) = bins[3];
        assert!((sure - 0.7).abs() < 1e-9 && (right - 0.7).abs() < 1e-9 && count == 100);
        assert_eq!(bins.iter().map(|(_, _, count)| count).sum::<usize>(), 100);
        assert!((quality(&judged, 0.5).brier - 0.21).abs() < 1e-9);
    }

    #[test]
    fn the_trade_off_counts_both_sides() {
        let judged = [(0.9, true), (0.3, true), (0.4, false), (0.1, false)];
        assert_eq!(trade_off(&judged, 0.35), (0.35, 0.5, 0.5));
        assert_eq!(trade_off(&judged, 0.2), (0.2, 1.0, 0.5));
    }
}
