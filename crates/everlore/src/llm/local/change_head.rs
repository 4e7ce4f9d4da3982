//! Change adapter of the built-in encoder: does an older statement still hold after a newer one?

use std::sync::OnceLock;

use super::{
    adapter::EncoderAdapter,
    bert_encoder::{BertEncoder, CLS_PIECE, SEP_PIECE},
};
use crate::error::Result;

static CHANGE_FILE: &[u8] = include_bytes!("../../../assets/adapters/change.safetensors");

/// Rank of the adapter, as trained.
const CHANGE_RANK: usize = 16;

/// Numbers between the two layers of the adapter's head, as trained.
const CHANGE_WIDTH: usize = 64;

/// Pieces of each of two statements that are compared, as in training.
const MAX_PAIR_PIECES: usize = 54;

static CHANGE: OnceLock<EncoderAdapter> = OnceLock::new();

/// Returns the log odds that an older statement no longer holds after a newer one. The head compares the means of both
/// statements, each read in the light of the other.
pub(super) fn replaces_log_odds(encoder: &BertEncoder, old: &str, new: &str) -> Result<f32> {
    let head = [4 * encoder.config.hidden_size, CHANGE_WIDTH, 1];
    let adapter = EncoderAdapter::load(&CHANGE, &encoder.config, CHANGE_FILE, CHANGE_RANK, &head)?;
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
