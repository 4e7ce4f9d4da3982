//! Message adapter of the built-in encoder: does a message call for memory, and for which?

use std::sync::OnceLock;

use super::{
    adapter::EncoderAdapter,
    bert_encoder::{BertEncoder, CLS_PIECE, SEP_PIECE},
    normalize,
};
use crate::{error::Result, llm::MessageReading};

static MESSAGE_FILE: &[u8] = include_bytes!("../../../assets/adapters/message.safetensors");

/// Rank of the adapter, as trained.
const MESSAGE_RANK: usize = 8;

static MESSAGE: OnceLock<EncoderAdapter> = OnceLock::new();

/// Reads a message: does it call for memory, and for which.
pub(super) fn read_message(encoder: &BertEncoder, message: &str) -> Result<MessageReading> {
    let head = [encoder.config.hidden_size, 1];
    let adapter =
        EncoderAdapter::load(&MESSAGE, &encoder.config, MESSAGE_FILE, MESSAGE_RANK, &head)?;
    let pieces = encoder.tokenize(message);
    let framed: Vec<u16> = [&[CLS_PIECE], &pieces[..], &[SEP_PIECE]].concat();
    let mut sought = encoder.adapted_mean(adapter, &framed, 0..framed.len());
    let need_log_odds = adapter.outputs(&sought)[0];
    normalize(&mut sought);
    Ok(MessageReading { need_log_odds, sought })
}
