//! Fits the coefficients that tell from the form of a message whether it calls for memory, and scores them and the built-in
//! message model on messages outside the fit.

use anyhow::Result;
use everlore::{
    Config,
    internal::recall::{TrainingSample, analyze, fit_logistic},
    llm::{BuiltinEncoder, MessageModel},
};
use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::abstention::abstention_scores;

/// Cross-validation folds.
const FOLDS: usize = 10;

/// L2 penalty of the coefficients, chosen by cross-validation among powers of two.
const REGULARIZATION: f64 = 4.0;

/// Labelled message.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct LabelledMessage {
    pub(crate) text: String,
    /// `en`, `zh` or `mixed`.
    pub(crate) lang: String,
    pub(crate) needs_memory: bool,
}

/// Quality of the model on some messages.
#[derive(Debug, Serialize)]
pub(crate) struct NeedQuality {
    pub(crate) name: String,
    pub(crate) n: usize,
    /// Probability that a message that needs memory gets higher odds than one that does not.
    pub(crate) auc: f64,
    /// Share of the messages that need memory with even odds or better.
    pub(crate) kept: f64,
    /// Share of the other messages with less than even odds.
    pub(crate) silent: f64,
}

/// Report of the fit.
#[derive(Debug, Serialize)]
pub(crate) struct NeedReport {
    /// By language, each message judged by a fit on others.
    pub(crate) held_out: Vec<NeedQuality>,
    /// Coefficients for the form of a message.
    pub(crate) coefficients: Vec<f64>,
}

/// Fits coefficients for the form of a message and scores them by cross-validation.
pub(crate) fn fit(messages: &[LabelledMessage]) -> NeedReport {
    let samples = samples(messages);
    let judged = cross_validate(&samples);
    let held_out = ["en", "zh", "mixed"].map(|language| {
        let of: Vec<(f64, bool)> = messages
            .iter()
            .zip(&judged)
            .filter(|(message, _)| message.lang == language)
            .map(|(message, odds)| (*odds, message.needs_memory))
            .collect();
        quality(format!("form, {language}"), &of)
    });
    NeedReport { held_out: held_out.into(), coefficients: fit_samples(&samples) }
}

/// Scores the coefficients of the form and the built-in message model on messages that neither was fitted on.
pub(crate) async fn score(
    name: &str,
    messages: &[LabelledMessage],
    coefficients: &[f64],
) -> Result<[NeedQuality; 2]> {
    let judged: Vec<_> = samples(messages)
        .iter()
        .map(|sample| (log_odds(coefficients, sample), sample.answered))
        .collect();
    let (model, mut by_model) = (BuiltinEncoder::new(), Vec::new());
    for message in messages {
        let odds = model.read_message(&message.text).await?.need_log_odds;
        by_model.push((f64::from(odds), message.needs_memory));
    }
    Ok([quality(format!("form, {name}"), &judged), quality(format!("model, {name}"), &by_model)])
}

fn samples(messages: &[LabelledMessage]) -> Vec<TrainingSample> {
    let config = Config::default();
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let sample = |message: &LabelledMessage| TrainingSample {
        features: analyze(&message.text, &config.recall, &now).form.features.to_vec(),
        answered: message.needs_memory,
        weight: 1.0,
    };
    messages.iter().map(sample).collect()
}

fn fit_samples(samples: &[TrainingSample]) -> Vec<f64> {
    fit_logistic(samples, &vec![0.0; samples[0].features.len()], REGULARIZATION)
}

/// Returns the log odds of each sample by a fit on the other folds.
fn cross_validate(samples: &[TrainingSample]) -> Vec<f64> {
    let mut judged = vec![0.0; samples.len()];
    for fold in 0..FOLDS {
        let others = samples.iter().enumerate().filter(|(at, _)| at % FOLDS != fold);
        let fitted = fit_samples(&others.map(|(_, sample)| sample.clone()).collect::<Vec<_>>());
        for at in (fold..samples.len()).step_by(FOLDS) {
            judged[at] = log_odds(&fitted, &samples[at]);
        }
    }
    judged
}

fn log_odds(coefficients: &[f64], sample: &TrainingSample) -> f64 {
    coefficients.iter().zip(&sample.features).map(|(a, b)| a * b).sum()
}

fn quality(name: String, judged: &[(f64, bool)]) -> NeedQuality {
    let of = |needs: bool| -> Vec<f64> {
        judged.iter().filter(|(_, is)| *is == needs).map(|(odds, _)| *odds).collect()
    };
    let scores = abstention_scores(&of(true), &of(false), 0.0);
    NeedQuality {
        name,
        n: judged.len(),
        auc: scores.auc,
        kept: scores.own_answered,
        silent: scores.foreign_silenced,
    }
}
