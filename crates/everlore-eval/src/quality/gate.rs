//! Fitting the gate: what each part of the evidence is worth, judged on conversations that the fit never saw.

use std::collections::HashSet;

use anyhow::{Result, bail};
use everlore::recall::{
    ConfidenceCoefficients, ConfidenceTuning, FEATURE_COUNT, TrainingSample, fit_coefficients,
};
use serde::Serialize;

use super::abstention::{AbstentionScores, PlacedQuestion, abstention_scores, place_questions};
use crate::retrieval::data::DataSet;

/// The sets are cut into this many parts by scope; each is judged by a fit on the others.
const FOLDS: usize = 5;

/// Every part counts as much as a thousand questions, so that a large set does not outvote a small one.
const PART_WEIGHT: f64 = 1_000.0;

/// Hardly any pull: there are hundreds of questions for each weight.
const REGULARIZATION: f64 = 1.0;

/// Bins of a reliability diagram.
const BINS: usize = 5;

/// The thresholds of the trade-off.
pub(crate) const THRESHOLDS: [f64; 9] = [0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7];

/// The questions of a set with the names of speakers, or without.
struct QuestionSet {
    name: String,
    asked: Vec<PlacedQuestion>,
    /// The scopes, in the order in which they come: the folds are cut by them.
    scopes: Vec<String>,
}

/// How the gate does on a part.
#[derive(Debug, Serialize)]
pub(crate) struct QuestionSetReport {
    pub(crate) name: String,
    pub(crate) n: usize,
    /// By the constants that are shipped, which were fitted on these sets too.
    pub(crate) shipped: GateQuality,
    /// By fits on all parts at once: they saw what they judge.
    pub(crate) in_sample: GateQuality,
    /// By fits on other scopes.
    pub(crate) held_out: GateQuality,
    /// By the shipped constants, calibrated on the memories of each scope, if that was asked for.
    pub(crate) calibrated: Option<GateQuality>,
    /// By fits on other scopes, at each of [`THRESHOLDS`].
    pub(crate) trade_off: Vec<(f64, f64, f64)>,
    /// By fits on other scopes: how sure, how often right, and how many.
    pub(crate) bins: Vec<(f64, f64, usize)>,
}

#[derive(Debug, Serialize)]
pub(crate) struct GateQuality {
    pub(crate) auc: f64,
    /// The mean squared error of the confidence.
    pub(crate) brier: f64,
    pub(crate) own_answered: f64,
    pub(crate) foreign_silenced: f64,
}

/// What was found.
#[derive(Debug, Serialize)]
pub(crate) struct GateReport {
    pub(crate) parts: Vec<QuestionSetReport>,
    /// Fitted on all of it.
    pub(crate) weights: ConfidenceCoefficients,
    pub(crate) threshold: f64,
    /// What calibrations came out at on average, before what is usual for made-up questions was taken off.
    pub(crate) made_up: Option<ConfidenceTuning>,
}

/// Asks, fits, and judges each part by what was learned elsewhere.
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
            n: part.asked.len(),
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
    let asked = parts.iter().flat_map(|part| &part.asked);
    let found: Vec<_> = asked.filter_map(|asked| asked.calibration.as_ref()).collect();
    let mean = |of: fn(&ConfidenceTuning) -> f64| {
        found.iter().map(|found| of(&found.fitted)).sum::<f64>() / found.len() as f64
    };
    (!found.is_empty())
        .then(|| ConfidenceTuning { bias: mean(|t| t.bias), slope: mean(|t| t.slope) })
}

/// A set once with and once without names; once if it has none.
fn question_sets(name: &str, asked: Vec<PlacedQuestion>) -> Vec<QuestionSet> {
    let (kept, removed): (Vec<_>, Vec<_>) = asked.into_iter().partition(|asked| asked.names_kept);
    let same = kept.iter().zip(&removed).all(|(a, b)| a.judgement == b.judgement);
    let part = |suffix: &str, asked: Vec<PlacedQuestion>| {
        let mut seen = HashSet::new();
        let scopes = asked.iter().map(|asked| asked.scope.clone());
        let scopes = scopes.filter(|scope| seen.insert(scope.clone())).collect();
        QuestionSet { name: format!("{name}{suffix}"), asked, scopes }
    };
    match same {
        true => vec![part("", kept)],
        false => vec![part(", names kept", kept), part(", names removed", removed)],
    }
}

impl QuestionSet {
    fn scope_index(&self, asked: &PlacedQuestion) -> usize {
        self.scopes.iter().position(|scope| *scope == asked.scope).unwrap_or_default()
    }

    /// The same by what calibrations of the scopes found.
    fn calibrated(&self) -> Vec<(f64, bool)> {
        let tuning = |asked: &PlacedQuestion| asked.calibration.as_ref().map(|found| found.tuning);
        let weights = |asked: &PlacedQuestion| tuning(asked).unwrap_or_default().coefficients();
        let judge =
            |asked: &PlacedQuestion| (asked.judgement.confidence_with(&weights(asked)), asked.own);
        self.asked.iter().map(judge).collect()
    }

    /// How sure each question gets, and whether it was put to its own scope.
    fn judged(&self, weights: impl Fn(usize) -> ConfidenceCoefficients) -> Vec<(f64, bool)> {
        let judge = |asked: &PlacedQuestion| {
            (asked.judgement.confidence_with(&weights(self.scope_index(asked))), asked.own)
        };
        self.asked.iter().map(judge).collect()
    }
}

fn fit_weights(
    parts: &[QuestionSet],
    belongs: &dyn Fn(usize, &PlacedQuestion) -> bool,
) -> ConfidenceCoefficients {
    let mut samples = Vec::new();
    for part in parts {
        let weight = PART_WEIGHT / part.asked.len() as f64;
        let fitting = part.asked.iter().filter(|asked| belongs(part.scope_index(asked), asked));
        samples.extend(fitting.map(|asked| TrainingSample {
            features: asked.judgement.evidence.features(),
            answered: asked.own,
            weight,
        }));
    }
    fit_coefficients(&samples, &ConfidenceCoefficients([0.0; FEATURE_COUNT]), REGULARIZATION)
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

/// The share of own questions answered and of foreign ones silenced at a threshold.
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
