//! Log odds that a message calls for memory, whatever is stored: by the message model (`assets/adapters/README.md`), or
//! without one by logistic regression from the form of the message.
//!
//! `everlore-eval need` fits the coefficients on labelled messages in both languages
//! (`crates/everlore-eval/data/messages.jsonl`).

use crate::recall::query::{FORM_COUNT, MessageForm};

/// Greatest log odds in either direction: beyond it, the model is as sure as the labels are right.
const MAX_LOG_ODDS: f64 = 5.0;

/// Bytes of a coefficient.
const COEFFICIENT_BYTES: usize = size_of::<f32>();

/// Coefficients of the form, in single precision, little endian.
static COEFFICIENTS: &[[u8; COEFFICIENT_BYTES]] =
    include_bytes!("../../../assets/need/need.f32").as_chunks().0;

const _: () = assert!(COEFFICIENTS.len() == FORM_COUNT);

/// Returns the log odds that a message calls for memory: by the model, or else by its form.
pub(super) fn need_log_odds(form: &MessageForm, by_model: Option<f32>) -> f64 {
    let odds = by_model.map_or_else(|| form_log_odds(form), f64::from);
    odds.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
}

fn form_log_odds(form: &MessageForm) -> f64 {
    let coefficients = COEFFICIENTS.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
    coefficients.zip(form.features).map(|(coefficient, input)| coefficient * input).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::{IdentityQuestion, MemoryNeed};

    fn form(message: &str) -> MessageForm {
        MessageForm::of(message, MemoryNeed::Open, IdentityQuestion::None)
    }

    #[test]
    fn a_message_about_ones_own_things_calls_for_memory_and_a_greeting_does_not() {
        for (personal, general) in [
            ("what size are my hiking boots again", "hello there, thanks a lot"),
            ("我那双登山鞋是多大码来着", "你好，谢谢啦"),
        ] {
            let odds = |message| need_log_odds(&form(message), None);
            assert!(odds(personal) > odds(general), "{personal}");
        }
    }

    #[test]
    fn a_model_decides_where_there_is_one_within_bounds() {
        let form = form("hello");
        assert_eq!(need_log_odds(&form, Some(2.5)), 2.5);
        assert_eq!(need_log_odds(&form, Some(40.0)), MAX_LOG_ODDS);
    }

    #[cfg(feature = "local-model")]
    #[tokio::test]
    async fn the_model_tells_what_the_form_cannot() {
        use crate::llm::{BuiltinEncoder, MessageModel};
        let model = BuiltinEncoder::new();
        for (personal, general) in [
            (
                "plan the menu for saturday, the whole family is coming",
                "explain how a jet engine works",
            ),
            ("周六全家都来，菜单帮我排一下", "喷气发动机是什么原理"),
        ] {
            let (with, without) = (
                model.read_message(personal).await.unwrap().need_log_odds,
                model.read_message(general).await.unwrap().need_log_odds,
            );
            assert!(with > without + 1.0, "{personal}: {with} against {without}");
        }
    }
}
