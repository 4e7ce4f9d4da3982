//! Late interaction (MaxSim): each token of a query finds its best match among the tokens of a text, beside the cosine
//! of the two pooled vectors.
//!
//! Text vectors are stored in four bits per value, which ranks as well as floats do; the query keeps eight bits.

use crate::types::Vector;
use everlore_kernel::{TokenMatrix, packed_cosine};

/// Values in one byte.
const VALUES_PER_BYTE: usize = 2;

/// Largest four-bit value, and the offset that makes all values non-negative.
const MAX_QUANTIZED: i8 = 7;
const ZERO_POINT: i8 = 8;

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

/// Query encoded by a model, before its words are weighed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EncodedQuery {
    /// Words of the query, in order.
    pub words: Vec<String>,
    /// Pooled vector of the whole query.
    pub pooled: Vec<f32>,
    /// Vectors of its tokens; those cut off by the model are missing.
    pub tokens: Vec<Vec<f32>>,
    /// Number of tokens of each word.
    pub word_tokens: Vec<usize>,
}

impl EncodedQuery {
    /// Gives each word a weight, in the order of the words.
    pub fn weigh(&self, weights: impl IntoIterator<Item = f32>) -> QueryVectors {
        let tokens = weights.into_iter().zip(&self.word_tokens);
        let weights: Vec<f32> =
            tokens.flat_map(|(weight, tokens)| std::iter::repeat_n(weight, *tokens)).collect();
        QueryVectors::new(&self.pooled, &self.tokens, &weights)
    }
}

/// Query ready for comparison: its pooled vector, its token vectors, and the weight of each token.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryVectors {
    pooled: Vector,
    /// Vector of the texts that the query calls for, beside its own.
    sought: Option<Vector>,
    tokens: TokenMatrix,
    token_weights: Vec<f32>,
}

/// Similarity of a query and a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaxSimScores {
    /// Cosine of the pooled vectors.
    pub pooled: f32,
    /// Cosine of the vector that the query seeks and the pooled one of the text; `None` if the query has none.
    pub sought: Option<f32>,
    /// Cosine of each query token and its best match in the text; 0 if the text has no tokens.
    pub tokens: Vec<f32>,
}

impl QueryVectors {
    /// Creates a query from its tokens and their weights. Tokens cut off by the model have no vector and do not count.
    pub fn new(whole: &[f32], vectors: &[Vec<f32>], weights: &[f32]) -> Self {
        let weights = &weights[..weights.len().min(vectors.len())];
        let total: f32 = weights.iter().sum();
        let share = |weight: &f32| if total > 0.0 { weight / total } else { 0.0 };
        let tokens: Vec<_> = vectors.iter().map(|vector| Vector::quantize(vector)).collect();
        let values: Vec<i8> =
            tokens.iter().flat_map(|token| token.values.iter().copied()).collect();
        let scales = tokens.iter().map(|token| token.scale).collect();
        let width = vectors.first().map_or(0, Vec::len);
        Self {
            pooled: Vector::quantize(whole),
            sought: None,
            tokens: TokenMatrix::new(values, width, scales),
            token_weights: weights.iter().map(share).collect(),
        }
    }

    /// Adds the vector of the texts that the query calls for.
    pub fn with_sought(self, sought: Option<&[f32]>) -> Self {
        Self { sought: sought.map(Vector::quantize), ..self }
    }

    /// Returns `true` if it has a vector of the texts that it calls for.
    pub fn has_sought(&self) -> bool {
        self.sought.is_some()
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
        let size = self.pooled.values.len().div_ceil(VALUES_PER_BYTE);
        let (pooled, tokens) = packed.split_at_checked(size).unwrap_or_default();
        let cosine = |own: &Vector| packed_cosine(&own.values, own.scale, pooled);
        MaxSimScores {
            pooled: cosine(&self.pooled),
            sought: self.sought.as_ref().map(cosine),
            tokens: self.tokens.best_matches(tokens),
        }
    }

    /// Returns the weighted sum of token matches.
    pub fn weighted_sum(&self, matches: &[f32]) -> f32 {
        matches.iter().zip(&self.token_weights).map(|(one, share)| one * share).sum()
    }
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
        let MaxSimScores { pooled, tokens, .. } = query.compare(&text.0);
        assert!(pooled > 0.9 && tokens[0] > 0.9 && tokens[1] < 0.3, "{pooled} {tokens:?}");
        let expected = 0.75 * tokens[0] + 0.25 * tokens[1];
        assert!((query.weighted_sum(&tokens) - expected).abs() < 1e-6);
    }

    #[test]
    fn what_a_query_seeks_is_compared_beside_the_query_itself() {
        let axis = |at: usize| (0..8).map(|i| f32::from(u8::from(i == at))).collect::<Vec<f32>>();
        let text = PackedTokenVectors::new(&axis(2), &[]);
        let query = QueryVectors::new(&axis(1), &[], &[]);
        assert_eq!(query.compare(&text.0).sought, None);
        let seeking = query.with_sought(Some(&axis(2)));
        let MaxSimScores { pooled, sought, .. } = seeking.compare(&text.0);
        assert!(seeking.has_sought() && pooled < 0.1 && sought > Some(0.9), "{pooled} {sought:?}");
    }

    #[test]
    fn nothing_matches_nothing() {
        let vector = vec![1.0; 8];
        let query = QueryVectors::new(&vector, std::slice::from_ref(&vector), &[1.0]);
        let nothing = MaxSimScores { tokens: vec![0.0], ..MaxSimScores::default() };
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
