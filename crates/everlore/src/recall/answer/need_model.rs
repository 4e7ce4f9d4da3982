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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::{IdentityQuestion, MemoryNeed};

    fn odds(message: &str, vector: Option<&[f32]>) -> f64 {
        let form = MessageForm::of(message, MemoryNeed::Open, IdentityQuestion::None);
        need_log_odds(&form, vector)
    }

    #[test]
    fn a_message_about_ones_own_things_calls_for_memory_and_a_greeting_does_not() {
        for (personal, general) in [
            ("what size are my hiking boots again", "hello there, thanks a lot"),
            ("我那双登山鞋是多大码来着", "你好，谢谢啦"),
        ] {
            assert!(odds(personal, None) > odds(general, None), "{personal}");
        }
    }

    #[test]
    fn a_vector_of_another_width_is_left_out() {
        let message = "where did I park my car";
        assert_eq!(odds(message, Some(&[1.0; 3])), odds(message, None));
    }

    #[cfg(feature = "local-model")]
    #[test]
    fn the_vector_tells_what_the_form_cannot() {
        let encoder = crate::llm::BuiltinEncoder::new();
        for (personal, general) in [
            (
                "plan the menu for saturday, the whole family is coming",
                "explain how a jet engine works",
            ),
            ("周六全家都来，菜单帮我排一下", "喷气发动机是什么原理"),
        ] {
            let vector = |message| encoder.message_vector(message).unwrap();
            let (with, without) =
                (odds(personal, Some(&vector(personal))), odds(general, Some(&vector(general))));
            assert!(with > without, "{personal}: {with} against {without}");
            assert!(with.abs() <= MAX_LOG_ODDS && without.abs() <= MAX_LOG_ODDS);
        }
    }
}
