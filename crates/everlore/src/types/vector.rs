//! Embeddings, each with the model that produced it: vectors of two models never mix.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Name and exact version of an embedding model. Two vectors may be compared only if these are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EmbeddingModelId {
    /// Name.
    pub name: String,
    /// Dimensions of its vectors.
    pub dimensions: usize,
}

impl fmt::Display for EmbeddingModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Unit vector in eight bits a dimension: a number is its byte times the scale. The scale is 0 for a text that has no
/// meaning to its model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vector {
    /// Factor of each byte.
    pub scale: f32,
    /// Bytes.
    pub values: Vec<i8>,
}

impl Vector {
    /// Quantizes a vector to eight bits a dimension.
    pub fn quantize(numbers: &[f32]) -> Self {
        let largest = numbers.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self { scale: 0.0, values: vec![0; numbers.len()] };
        }
        let scale = largest / f32::from(i8::MAX);
        let values = numbers.iter().map(|number| (number / scale).round() as i8).collect();
        Self { scale, values }
    }

    /// Returns the numbers, as far as eight bits keep them.
    pub(crate) fn dequantize(&self) -> Vec<f32> {
        self.values.iter().map(|value| f32::from(*value) * self.scale).collect()
    }

    /// Encodes the vector for a store: the scale, then the bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.values.iter().map(|value| value.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(bytes).collect()
    }

    /// Decodes the bytes of [`Vector::to_bytes`].
    pub fn from_bytes(slot: &[u8]) -> Option<Self> {
        let (scale, values) = slot.split_first_chunk()?;
        let values = values.iter().map(|byte| byte.cast_signed()).collect();
        Some(Self { scale: f32::from_le_bytes(*scale), values })
    }
}

/// Returns the dot product of two vectors: their cosine, if both have length one or are all zeros.
pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Vectors of the memories that a write stores, all from one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeVectors {
    /// Model that produced them.
    pub model: EmbeddingModelId,
    /// One for each change; `None` for a change that stores no text.
    pub vectors: Vec<Option<Vector>>,
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn rounding_errs_by_at_most_half_a_step(numbers in vec(-1.0f32..1.0, 1..300)) {
            let vector = Vector::quantize(&numbers);
            for (number, value) in numbers.iter().zip(&vector.values) {
                prop_assert!((number - f32::from(*value) * vector.scale).abs() <= vector.scale * 0.501);
            }
            prop_assert_eq!(Vector::from_bytes(&vector.to_bytes()), Some(vector.clone()));
            let again = Vector::quantize(&vector.dequantize());
            prop_assert_eq!(again.values, vector.values, "rounding again changes nothing");
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        assert_eq!(Vector::quantize(&[0.0; 3]), Vector { scale: 0.0, values: vec![0; 3] });
    }
}
