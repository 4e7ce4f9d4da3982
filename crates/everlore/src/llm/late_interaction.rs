//! Late interaction: each word of a question looks for its best match among the words of a text, and the question as a
//! whole is compared with the whole text.
//!
//! Of a text the vectors are kept in four bits a number, which ranks as well as real numbers do; the question stays in
//! eight.

use super::dot;
use crate::types::Vector;

/// Numbers in a byte.
const VALUES_PER_BYTE: usize = 2;

/// The largest number in four bits, and what makes none of them negative.
const MAX_QUANTIZED: i8 = 7;
const ZERO_POINT: i8 = 8;

/// What each byte stands for.
static UNPACK_TABLE: [[u8; VALUES_PER_BYTE]; 256] = unpack_table();

/// The vector of a text and those of its pieces, one after the other, as they are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackedTokenVectors(pub Vec<u8>);

impl PackedTokenVectors {
    /// Rounds vectors to four bits a number; those of the pieces are all of one size.
    pub fn new(whole: &[f32], pieces: &[Vec<f32>]) -> Self {
        let pieces = pieces.iter().flat_map(|piece| pack(piece));
        Self(pack(whole).into_iter().chain(pieces).collect())
    }
}

/// A vector without its length: only directions are compared.
fn pack(vector: &[f32]) -> Vec<u8> {
    let largest = vector.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
    let each = if largest > 0.0 { f32::from(MAX_QUANTIZED) / largest } else { 0.0 };
    let step = |number: &f32| ((number * each).round() as i8 + ZERO_POINT).cast_unsigned();
    let byte = |two: &[f32]| two.iter().rev().fold(0, |byte, number| byte << 4 | step(number));
    vector.chunks(VALUES_PER_BYTE).map(byte).collect()
}

const fn unpack_table() -> [[u8; VALUES_PER_BYTE]; 256] {
    let mut all = [[0; VALUES_PER_BYTE]; 256];
    let mut byte = 0;
    while byte < all.len() {
        let (low, high) = ((byte & 15) as i8, (byte >> 4) as i8);
        all[byte] = [(low - ZERO_POINT).cast_unsigned(), (high - ZERO_POINT).cast_unsigned()];
        byte += 1;
    }
    all
}

/// A question, ready to be compared: its own vector, that of each piece, and the share of each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryVectors {
    pooled: Vector,
    tokens: Vec<Vector>,
    token_weights: Vec<f32>,
}

/// How a question and a text compare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaxSimScores {
    /// The cosine of the two as a whole.
    pub pooled: f32,
    /// For each piece of the question the cosine of its best match in the text; 0 if the text has no pieces.
    pub tokens: Vec<f32>,
}

impl QueryVectors {
    /// A question of these pieces, each with how much it tells. Pieces that were cut off have no vector and do not count.
    pub fn new(whole: &[f32], vectors: &[Vec<f32>], weights: &[f32]) -> Self {
        let weights = &weights[..weights.len().min(vectors.len())];
        let total: f32 = weights.iter().sum();
        let share = |weight: &f32| if total > 0.0 { weight / total } else { 0.0 };
        let tokens = vectors.iter().map(|vector| Vector::quantize(vector)).collect();
        Self {
            pooled: Vector::quantize(whole),
            tokens,
            token_weights: weights.iter().map(share).collect(),
        }
    }

    /// How many pieces it has.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Compares the question with a text that was packed.
    pub fn compare(&self, packed: &[u8]) -> MaxSimScores {
        let mut compared = MaxSimScores { pooled: 0.0, tokens: vec![0.0; self.tokens.len()] };
        let size = |vector: &Vector| vector.values.len().div_ceil(VALUES_PER_BYTE);
        let Some((whole, pieces)) = packed.split_at_checked(size(&self.pooled)) else {
            return compared;
        };
        let mut unpacked = Vec::new();
        compared.pooled = cosine(&self.pooled, unpack(whole, &mut unpacked));
        let each = self.tokens.first().map_or(1, size).max(1);
        for piece in pieces.chunks_exact(each) {
            let theirs = unpack(piece, &mut unpacked);
            for (best, own) in compared.tokens.iter_mut().zip(&self.tokens) {
                *best = best.max(cosine(own, theirs));
            }
        }
        compared
    }

    /// The matches of all pieces, each by its share.
    pub fn weighted_sum(&self, matches: &[f32]) -> f32 {
        matches.iter().zip(&self.token_weights).map(|(one, share)| one * share).sum()
    }
}

/// The numbers of a vector, with what makes its length 1.
fn unpack<'a>(packed: &[u8], unpacked: &'a mut Vec<u8>) -> (&'a [u8], f32) {
    unpacked.clear();
    unpacked.extend(packed.iter().flat_map(|byte| UNPACK_TABLE[usize::from(*byte)]));
    let square = |value: &u8| i32::from(value.cast_signed()).pow(2);
    let squares: i32 = unpacked.iter().map(square).sum();
    (unpacked, if squares > 0 { (squares as f32).sqrt().recip() } else { 0.0 })
}

fn cosine(own: &Vector, (theirs, scale): (&[u8], f32)) -> f32 {
    dot(&own.values, theirs) as f32 * own.scale * scale
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn unit(mut numbers: Vec<f32>) -> Vec<f32> {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt().max(1e-6);
        numbers.iter_mut().for_each(|number| *number /= length);
        numbers
    }

    proptest! {
        #[test]
        fn a_packed_vector_is_near_itself(numbers in vec(-1.0f32..1.0, 384)) {
            let vector = unit(numbers);
            let packed = PackedTokenVectors::new(&vector, std::slice::from_ref(&vector));
            prop_assert_eq!(packed.0.len(), 2 * 192);
            let found = QueryVectors::new(&vector, std::slice::from_ref(&vector), &[1.0]).compare(&packed.0);
            prop_assert!(found.pooled > 0.98 && found.pooled < 1.01, "{}", found.pooled);
            prop_assert_eq!(found.tokens, [found.pooled]);
        }
    }

    #[test]
    fn each_piece_finds_its_best_match() {
        let axis = |at: usize| {
            unit((0..16).map(|place| if place / 4 == at { 1.0 } else { -0.1 }).collect())
        };
        let text = PackedTokenVectors::new(&axis(2), &[axis(0), axis(1)]);
        let asked = QueryVectors::new(&axis(2), &[axis(1), axis(3)], &[3.0, 1.0]);
        let MaxSimScores { pooled: whole, tokens: pieces } = asked.compare(&text.0);
        assert!(whole > 0.9 && pieces[0] > 0.9 && pieces[1] < 0.3, "{whole} {pieces:?}");
        let expected = 0.75 * pieces[0] + 0.25 * pieces[1];
        assert!((asked.weighted_sum(&pieces) - expected).abs() < 1e-6);
    }

    #[test]
    fn nothing_matches_nothing() {
        let vector = vec![1.0; 8];
        let asked = QueryVectors::new(&vector, std::slice::from_ref(&vector), &[1.0]);
        let nothing = MaxSimScores { pooled: 0.0, tokens: vec![0.0] };
        assert_eq!(asked.compare(&[]), nothing);
        assert_eq!(asked.compare(&[7]), nothing, "half a vector is none");
        assert_eq!(QueryVectors::default().compare(&[1, 2, 3]), MaxSimScores::default());
        assert_eq!(QueryVectors::default().weighted_sum(&[]), 0.0);
        assert_eq!(
            QueryVectors::new(&vector, std::slice::from_ref(&vector), &[0.0]).weighted_sum(&[1.0]),
            0.0
        );
    }
}
