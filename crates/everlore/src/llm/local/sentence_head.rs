//! Capture adapter of the built-in encoder: is a sentence worth keeping, and what does it say?

use std::{ops::Range, sync::OnceLock};

use super::{
    adapter::EncoderAdapter,
    bert_encoder::{BertEncoder, CLS_PIECE, SEP_PIECE},
};
use crate::{
    error::Result,
    llm::sentence::{SentenceInput, SentenceKind, SentenceMode, SentenceScores},
};

static CAPTURE_FILE: &[u8] = include_bytes!("../../../assets/adapters/capture.safetensors");

/// Rank of the adapter, as trained.
const CAPTURE_RANK: usize = 16;

/// Kinds of the training labels: those of [`SentenceKind`], and none.
const KIND_OUTPUTS: usize = SentenceKind::ALL.len() + 1;

/// Outputs of the capture adapter: log odds of keeping, kinds, modes.
const CAPTURE_OUTPUTS: usize = 1 + KIND_OUTPUTS + SentenceMode::ALL.len();

/// Pieces of the text before a sentence, of the sentence and of the text after it, as in training; with the frame they
/// fill the 128 positions of the encoder.
const MAX_PIECES_BEFORE: usize = 48;
const MAX_PIECES: usize = 60;
const MAX_PIECES_AFTER: usize = 16;

/// Characters of an earlier text that are read: the end of a long reply says what is asked.
const MAX_CHARS_BEFORE: usize = 160;

static CAPTURE: OnceLock<EncoderAdapter> = OnceLock::new();

/// Judges a sentence.
pub(super) fn judge_sentence(
    encoder: &BertEncoder,
    input: &SentenceInput<'_>,
) -> Result<SentenceScores> {
    let head = [encoder.config.hidden_size, CAPTURE_OUTPUTS];
    let adapter =
        EncoderAdapter::load(&CAPTURE, &encoder.config, CAPTURE_FILE, CAPTURE_RANK, &head)?;
    let (framed, read) = frame(encoder, input);
    let outputs = adapter.outputs(&encoder.adapted_mean(adapter, &framed, read));
    let (kinds, modes) = outputs[1..].split_at(KIND_OUTPUTS);
    let mut kind_scores = [0.0; SentenceKind::ALL.len()];
    kind_scores.copy_from_slice(&kinds[..SentenceKind::ALL.len()]);
    let mut mode_scores = [0.0; SentenceMode::ALL.len()];
    mode_scores.copy_from_slice(modes);
    Ok(SentenceScores {
        keep: outputs[0],
        kind: SentenceKind::ALL[highest(&kind_scores)],
        kind_scores,
        mode: SentenceMode::ALL[highest(modes)],
        mode_scores,
    })
}

/// Frames a sentence with the text around it, and returns the range of the sentence.
fn frame(encoder: &BertEncoder, input: &SentenceInput<'_>) -> (Vec<u16>, Range<usize>) {
    let mut framed = vec![CLS_PIECE];
    let before = pieces_before(encoder, input.before);
    if !before.is_empty() {
        framed.extend(before);
        framed.push(SEP_PIECE);
    }
    let start = framed.len();
    framed.extend(encoder.tokenize(input.text).into_iter().take(MAX_PIECES));
    framed.push(SEP_PIECE);
    let end = framed.len();
    if !input.after.is_empty() {
        framed.extend(encoder.tokenize(input.after).into_iter().take(MAX_PIECES_AFTER));
        framed.push(SEP_PIECE);
    }
    (framed, start..end)
}

/// Returns the pieces of the nearest texts before a sentence: whole texts, or the end of the last one.
fn pieces_before(encoder: &BertEncoder, before: &[&str]) -> Vec<u16> {
    let mut pieces: Vec<u16> = Vec::new();
    for text in before.iter().rev() {
        let skipped = text.chars().count().saturating_sub(MAX_CHARS_BEFORE);
        let end: String = text.chars().skip(skipped).collect();
        let earlier = encoder.tokenize(&end);
        let earlier = &earlier[earlier.len().saturating_sub(MAX_PIECES_BEFORE)..];
        if !pieces.is_empty() && pieces.len() + earlier.len() > MAX_PIECES_BEFORE {
            break;
        }
        pieces = [earlier, &pieces].concat();
    }
    pieces
}

/// Returns the index of the highest score.
fn highest(scores: &[f32]) -> usize {
    let best = scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::BuiltinEncoder;

    fn keep(before: &[&str], text: &str) -> SentenceScores {
        let input = SentenceInput { before, text, after: "" };
        BuiltinEncoder::new().judge_sentence(&input).unwrap()
    }

    #[test]
    fn facts_are_kept_and_questions_tasks_and_moods_are_not() {
        for (fact, other) in [
            ("my sister Ana is allergic to walnuts", "are walnuts a kind of fruit?"),
            ("we deploy from main every Thursday night", "fix the typo in line 12 please"),
            ("我妹妹对核桃过敏，沾一点都不行", "核桃算水果吗"),
            ("我们每周四晚上从main分支发版", "今天好困啊"),
        ] {
            let (fact, other) = (keep(&[], fact), keep(&[], other));
            assert!(fact.keep > 0.0 && other.keep < 0.0, "{fact:?} {other:?}");
        }
    }

    #[test]
    fn the_text_before_tells_a_fact_from_a_line_of_a_story() {
        for (line, story) in [
            (
                "My name is Barnaby and I repair clocks on Vine Street.",
                "Let's role-play a trial. I am the witness, you are the judge.",
            ),
            ("我叫林晚，在殡仪馆做化妆师", "帮我写个悬疑小说的开头，女主第一人称"),
        ] {
            assert!(keep(&[], line).keep > keep(&[story], line).keep + 1.0, "{line}");
        }
    }

    #[test]
    fn kinds_and_modes_are_told_apart() {
        assert_eq!(keep(&[], "I'm lactose intolerant").kind, SentenceKind::Health);
        assert_eq!(keep(&[], "以后回答都用要点，别写长段").kind, SentenceKind::Feedback);
        assert_eq!(keep(&[], "what is the capital of Peru?").mode, SentenceMode::Question);
    }

    #[test]
    fn long_texts_and_empty_ones_fit_the_encoder() {
        let long = "word ".repeat(500);
        let input = SentenceInput { before: &[&long, &long], text: &long, after: &long };
        assert!(BuiltinEncoder::new().judge_sentence(&input).unwrap().keep.is_finite());
        assert!(keep(&[], "").keep.is_finite());
    }
}
