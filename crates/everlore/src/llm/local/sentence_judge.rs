//! Questions that adapters answer with the built-in encoder: is a sentence worth keeping, does a newer statement replace an
//! older one, and does a message call for memory, and for which.

use std::{ops::Range, sync::OnceLock};

use super::{
    adapter::EncoderAdapter,
    bert_encoder::{BertEncoder, CLS_PIECE, SEP_PIECE},
    normalize,
};
use crate::{
    error::Result,
    llm::{
        MessageReading,
        sentence::{SentenceInput, SentenceKind, SentenceMode, SentenceScores},
    },
};

static CAPTURE_FILE: &[u8] = include_bytes!("../../../assets/adapters/capture.safetensors");
static CHANGE_FILE: &[u8] = include_bytes!("../../../assets/adapters/change.safetensors");
static MESSAGE_FILE: &[u8] = include_bytes!("../../../assets/adapters/message.safetensors");

/// Ranks of the adapters, as trained.
const CAPTURE_RANK: usize = 16;
const CHANGE_RANK: usize = 16;
const MESSAGE_RANK: usize = 8;

/// Kinds of the training labels: those of [`SentenceKind`], and none.
const KIND_OUTPUTS: usize = SentenceKind::ALL.len() + 1;

/// Outputs of the capture adapter: log odds of keeping, kinds, modes.
const CAPTURE_OUTPUTS: usize = 1 + KIND_OUTPUTS + SentenceMode::ALL.len();

/// Numbers between the two layers of the change adapter's head, as trained.
const CHANGE_WIDTH: usize = 64;

/// Pieces of the text before a sentence, of the sentence and of the text after it, as in training; with the frame they
/// fill the 128 positions of the encoder.
const MAX_PIECES_BEFORE: usize = 48;
const MAX_PIECES: usize = 60;
const MAX_PIECES_AFTER: usize = 16;

/// Pieces of each of two statements that are compared, as in training.
const MAX_PAIR_PIECES: usize = 54;

/// Characters of an earlier text that are read: the end of a long reply says what is asked.
const MAX_CHARS_BEFORE: usize = 160;

static CAPTURE: OnceLock<EncoderAdapter> = OnceLock::new();
static CHANGE: OnceLock<EncoderAdapter> = OnceLock::new();
static MESSAGE: OnceLock<EncoderAdapter> = OnceLock::new();

/// Judges a sentence.
pub(super) fn judge_sentence(
    encoder: &BertEncoder,
    input: &SentenceInput<'_>,
) -> Result<SentenceScores> {
    let head = [encoder.config.hidden_size, CAPTURE_OUTPUTS];
    let adapter = load(&CAPTURE, encoder, CAPTURE_FILE, CAPTURE_RANK, &head)?;
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

/// Returns the log odds that an older statement no longer holds after a newer one. The head compares the means of both
/// statements, each read in the light of the other.
pub(super) fn replaces_log_odds(encoder: &BertEncoder, old: &str, new: &str) -> Result<f32> {
    let head = [4 * encoder.config.hidden_size, CHANGE_WIDTH, 1];
    let adapter = load(&CHANGE, encoder, CHANGE_FILE, CHANGE_RANK, &head)?;
    let mut framed = vec![CLS_PIECE];
    let mut ends = [0; 2];
    for (text, end) in [old, new].into_iter().zip(&mut ends) {
        framed.extend(encoder.tokenize(text).into_iter().take(MAX_PAIR_PIECES));
        framed.push(SEP_PIECE);
        *end = framed.len();
    }
    let [old_end, new_end] = ends;
    let [old, new] = encoder.adapted_means(adapter, &framed, [0..old_end, old_end..new_end]);
    let both = || old.iter().zip(&new);
    let differences = both().map(|(old, new)| (old - new).abs());
    let products = both().map(|(old, new)| old * new);
    let compared: Vec<f32> =
        old.iter().chain(&new).copied().chain(differences).chain(products).collect();
    Ok(adapter.outputs(&compared)[0])
}

/// Reads a message: does it call for memory, and for which.
pub(super) fn read_message(encoder: &BertEncoder, message: &str) -> Result<MessageReading> {
    let head = [encoder.config.hidden_size, 1];
    let adapter = load(&MESSAGE, encoder, MESSAGE_FILE, MESSAGE_RANK, &head)?;
    let pieces = encoder.tokenize(message);
    let framed: Vec<u16> = [&[CLS_PIECE], &pieces[..], &[SEP_PIECE]].concat();
    let mut sought = encoder.adapted_mean(adapter, &framed, 0..framed.len());
    let need_log_odds = adapter.outputs(&sought)[0];
    normalize(&mut sought);
    Ok(MessageReading { need_log_odds, sought })
}

fn load(
    slot: &'static OnceLock<EncoderAdapter>,
    encoder: &BertEncoder,
    file: &'static [u8],
    rank: usize,
    head: &[usize],
) -> Result<&'static EncoderAdapter> {
    if let Some(adapter) = slot.get() {
        return Ok(adapter);
    }
    let adapter = EncoderAdapter::parse(file, &encoder.config, rank, head)?;
    Ok(slot.get_or_init(|| adapter))
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
