//! Fits the need model, which tells messages that call for memory from those that do not, and scores it on messages
//! outside the fit.

use anyhow::Result;
use everlore::{
    Config,
    internal::recall::{FORM_COUNT, TrainingSample, analyze, fit_logistic},
    llm::BuiltinEncoder,
};
use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::abstention::abstention_scores;

/// Cross-validation folds.
const FOLDS: usize = 10;

/// L2 penalty of the coefficients, chosen by cross-validation among powers of two: there are hundreds of inputs for a
/// few thousand messages.
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
    /// By inputs and language, each message judged by a fit on others.
    pub(crate) held_out: Vec<NeedQuality>,
    /// Coefficients for the form alone, then for form and vector.
    pub(crate) coefficients: Vec<f64>,
}

/// Fits the model and scores it by cross-validation.
pub(crate) fn fit(messages: &[LabelledMessage]) -> Result<NeedReport> {
    let samples = samples(messages)?;
    let alone: Vec<TrainingSample> = samples.iter().map(form_alone).collect();
    let mut held_out = Vec::new();
    for (name, samples) in [("form alone", &alone), ("form and vector", &samples)] {
        let judged = cross_validate(samples);
        held_out.extend(["en", "zh", "mixed"].map(|language| {
            let of: Vec<(f64, bool)> = messages
                .iter()
                .zip(&judged)
                .filter(|(message, _)| message.lang == language)
                .map(|(message, odds)| (*odds, message.needs_memory))
                .collect();
            quality(format!("{name}, {language}"), &of)
        }));
    }
    let coefficients = [fit_samples(&alone), fit_samples(&samples)].concat();
    Ok(NeedReport { held_out, coefficients })
}

/// Scores coefficients of form and vector on messages outside the fit.
pub(crate) fn score(
    name: &str,
    messages: &[LabelledMessage],
    coefficients: &[f64],
) -> Result<NeedQuality> {
    let samples = samples(messages)?;
    let judged = samples.iter().map(|sample| (log_odds(coefficients, sample), sample.answered));
    Ok(quality(name.to_owned(), &judged.collect::<Vec<_>>()))
}

fn samples(messages: &[LabelledMessage]) -> Result<Vec<TrainingSample>> {
    let (config, encoder) = (Config::default(), BuiltinEncoder::new());
    let now = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let sample = |message: &LabelledMessage| {
        let form = analyze(&message.text, &config.recall, &now).form;
        let vector = encoder.message_vector(&message.text)?;
        let numbers = vector.into_iter().map(f64::from);
        Ok(TrainingSample {
            features: form.features.into_iter().chain(numbers).collect(),
            answered: message.needs_memory,
            weight: 1.0,
        })
    };
    messages.iter().map(sample).collect()
}

fn form_alone(sample: &TrainingSample) -> TrainingSample {
    TrainingSample { features: sample.features[..FORM_COUNT].to_vec(), ..sample.clone() }
}

fn fit_samples(samples: &[TrainingSample]) -> Vec<f64> {
    // Components of a unit vector are small, so that the penalty weighs more on them than on the form.
    let scaled: Vec<TrainingSample> = samples.iter().map(scale_vector).collect();
    let mut fitted = fit_logistic(&scaled, &vec![0.0; scaled[0].features.len()], REGULARIZATION);
    fitted[FORM_COUNT..].iter_mut().for_each(|coefficient| *coefficient *= VECTOR_SCALE);
    fitted
}

/// Factor on the components of a vector: with 384 of them it makes the largest ones about as large as a feature of the
/// form.
const VECTOR_SCALE: f64 = 8.0;

fn scale_vector(sample: &TrainingSample) -> TrainingSample {
    let mut scaled = sample.clone();
    scaled.features[FORM_COUNT..].iter_mut().for_each(|number| *number *= VECTOR_SCALE);
    scaled
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
