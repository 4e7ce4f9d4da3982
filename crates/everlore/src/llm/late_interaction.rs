//! Late interaction (MaxSim): each token of a query finds its best match among the tokens of a text, beside the cosine
//! of the two pooled vectors.
//!
//! Text vectors are stored in four bits per value, which ranks as well as floats do; the query keeps eight bits.

use crate::types::Vector;
use everlore_kernel::dot;

/// Values in one byte.
const VALUES_PER_BYTE: usize = 2;

/// Largest four-bit value, and the offset that makes all values non-negative.
const MAX_QUANTIZED: i8 = 7;
const ZERO_POINT: i8 = 8;

/// The two values of each byte.
static UNPACK_TABLE: [[u8; VALUES_PER_BYTE]; 256] = unpack_table();

/// Pooled vector of a text followed by its token vectors, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PackedTokenVectors(pub Vec<u8>);

impl PackedTokenVectors {
    /// Quantizes vectors to four bits per value; all token vectors must have the same size.
    pub fn new(pooled: &[f32], tokens: &[Vec<f32>]) -> Self {
        let tokens = tokens.iter().flat_map(|token| pack(token));
        Self(pack(pooled).into_iter().chain(tokens).collect())
    }
}

/// Packs a vector without its length: only directions are compared.
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

/// Query ready for comparison: its pooled vector, its token vectors, and the weight of each token.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryVectors {
    pooled: Vector,
    tokens: Vec<Vector>,
    token_weights: Vec<f32>,
}

/// Similarity of a query and a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaxSimScores {
    /// Cosine of the pooled vectors.
    pub pooled: f32,
    /// Cosine of each query token and its best match in the text; 0 if the text has no tokens.
    pub tokens: Vec<f32>,
}

impl QueryVectors {
    /// Creates a query from its tokens and their weights. Tokens cut off by the model have no vector and do not count.
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

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns `true` if the query has no tokens.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Compares the query with the packed vectors of a text.
    pub fn compare(&self, packed: &[u8]) -> MaxSimScores {
        let mut scores = MaxSimScores { pooled: 0.0, tokens: vec![0.0; self.tokens.len()] };
        let size = |vector: &Vector| vector.values.len().div_ceil(VALUES_PER_BYTE);
        let Some((pooled, tokens)) = packed.split_at_checked(size(&self.pooled)) else {
            return scores;
        };
        let mut unpacked = Vec::new();
        scores.pooled = cosine(&self.pooled, unpack(pooled, &mut unpacked));
        let each = self.tokens.first().map_or(1, size).max(1);
        for token in tokens.chunks_exact(each) {
            let theirs = unpack(token, &mut unpacked);
            for (best, own) in scores.tokens.iter_mut().zip(&self.tokens) {
                *best = best.max(cosine(own, theirs));
            }
        }
        scores
    }

    /// Returns the weighted sum of token matches.
    pub fn weighted_sum(&self, matches: &[f32]) -> f32 {
        matches.iter().zip(&self.token_weights).map(|(one, share)| one * share).sum()
    }
}

/// Unpacks a vector and returns it with the factor that normalizes it to length 1.
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

/// Splits a query into words and punctuation marks, as the tokenizers of models do.
pub(super) fn split_words(query: &str) -> impl Iterator<Item = &str> {
    query.split_whitespace().flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let end = if first.is_alphanumeric() {
                rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (word, after) = rest.split_at(end);
            rest = after;
            Some(word)
        })
    })
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
            unit((0..16).map(|index| if index / 4 == at { 1.0 } else { -0.1 }).collect())
        };
        let text = PackedTokenVectors::new(&axis(2), &[axis(0), axis(1)]);
        let query = QueryVectors::new(&axis(2), &[axis(1), axis(3)], &[3.0, 1.0]);
        let MaxSimScores { pooled, tokens } = query.compare(&text.0);
        assert!(pooled > 0.9 && tokens[0] > 0.9 && tokens[1] < 0.3, "{pooled} {tokens:?}");
        let expected = 0.75 * tokens[0] + 0.25 * tokens[1];
        assert!((query.weighted_sum(&tokens) - expected).abs() < 1e-6);
    }

    #[test]
    fn nothing_matches_nothing() {
        let vector = vec![1.0; 8];
        let query = QueryVectors::new(&vector, std::slice::from_ref(&vector), &[1.0]);
        let nothing = MaxSimScores { pooled: 0.0, tokens: vec![0.0] };
        assert_eq!(query.compare(&[]), nothing);
        assert_eq!(query.compare(&[7]), nothing, "half a vector is none");
        assert_eq!(QueryVectors::default().compare(&[1, 2, 3]), MaxSimScores::default());
        assert_eq!(QueryVectors::default().weighted_sum(&[]), 0.0);
        assert_eq!(
            QueryVectors::new(&vector, std::slice::from_ref(&vector), &[0.0]).weighted_sum(&[1.0]),
            0.0
        );
    }

    #[test]
    fn signs_stand_by_themselves() {
        let cut = |query| split_words(query).collect::<Vec<_>>();
        assert_eq!(
            cut("When did she see the dog's vet?"),
            ["When", "did", "she", "see", "the", "dog", "'", "s", "vet", "?"]
        );
        assert_eq!(cut("用 Rust 写的，对吗？"), ["用", "Rust", "写的", "，", "对吗", "？"]);
        assert_eq!(cut(" \n"), Vec::<&str>::new());
    }
}
