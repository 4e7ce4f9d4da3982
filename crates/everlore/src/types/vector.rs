//! Vectors of texts, each from a model that is named: vectors of two models never mix.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a model and of this very version of it. Two vectors may be compared only if these are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EmbeddingModelId {
    /// What it is called.
    pub name: String,
    /// How many numbers its vectors have.
    pub dimensions: usize,
}

impl fmt::Display for EmbeddingModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A vector of length one in eight bits a number: a number is its byte times the scale. A text without meaning to its
/// model has a scale of 0.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vector {
    /// What each byte is multiplied with.
    pub scale: f32,
    /// The bytes.
    pub values: Vec<i8>,
}

impl Vector {
    /// Rounds a vector to eight bits a number.
    pub fn quantize(numbers: &[f32]) -> Self {
        let largest = numbers.iter().fold(0.0f32, |largest, number| largest.max(number.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self { scale: 0.0, values: vec![0; numbers.len()] };
        }
        let scale = largest / f32::from(i8::MAX);
        let values = numbers.iter().map(|number| (number / scale).round() as i8).collect();
        Self { scale, values }
    }

    /// The numbers, as far as eight bits have kept them.
    pub fn dequantize(&self) -> Vec<f32> {
        self.values.iter().map(|value| f32::from(*value) * self.scale).collect()
    }

    /// The vector as a store keeps it: the scale, then the bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.values.iter().map(|value| value.cast_unsigned());
        self.scale.to_le_bytes().into_iter().chain(bytes).collect()
    }

    /// Reads what [`Vector::to_slot`] wrote.
    pub fn from_bytes(slot: &[u8]) -> Option<Self> {
        let (scale, values) = slot.split_first_chunk()?;
        let values = values.iter().map(|byte| byte.cast_signed()).collect();
        Some(Self { scale: f32::from_le_bytes(*scale), values })
    }
}

/// The vectors of the memories that a write stores, all from one model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeVectors {
    /// The model that made them.
    pub model: EmbeddingModelId,
    /// One for each change; none for a change that stores no text.
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
