//! Need model: logistic regression from the form of a message and its vector by the built-in encoder to the log odds
//! that the message calls for memory, whatever is stored.
//!
//! `everlore-eval need` fits it on labelled messages in both languages (`crates/everlore-eval/data/messages.jsonl`).

use crate::recall::query::{FORM_COUNT, MessageForm};

/// Components of the encoder's vector.
pub const VECTOR_COUNT: usize = 384;

/// Greatest log odds in either direction: beyond it, the model is as sure as the labels are right.
const MAX_LOG_ODDS: f64 = 5.0;

/// Bytes of a coefficient.
const COEFFICIENT_BYTES: usize = size_of::<f32>();

/// Coefficients in single precision, little endian: for the form alone, then for form and vector.
static COEFFICIENTS: &[[u8; COEFFICIENT_BYTES]] =
    include_bytes!("../../../assets/need/need.f32").as_chunks().0;

const _: () = assert!(COEFFICIENTS.len() == 2 * FORM_COUNT + VECTOR_COUNT);

/// Returns the log odds that a message calls for memory; without a vector, by its form alone.
pub(super) fn need_log_odds(form: &MessageForm, vector: Option<&[f32]>) -> f64 {
    let (alone, both) = COEFFICIENTS.split_at(FORM_COUNT);
    let sum = match vector {
        Some(vector) if vector.len() == VECTOR_COUNT => {
            let numbers = vector.iter().copied().map(f64::from);
            weighted_sum(both, form.features.into_iter().chain(numbers))
        }
        _ => weighted_sum(alone, form.features.into_iter()),
    };
    sum.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
}

fn weighted_sum(
    coefficients: &[[u8; COEFFICIENT_BYTES]],
    inputs: impl Iterator<Item = f64>,
) -> f64 {
    let coefficients = coefficients.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    coefficients.zip(inputs).map(|(coefficient, input)| coefficient * input).sum()
}
