//! Late interaction: compares all token vectors of a query with the packed ones of a text in one matrix product.

use crate::{SimdTask, WeightMatrix, run_widest};

/// Values in a byte of a packed vector.
const VALUES_PER_BYTE: usize = 2;

/// Added to packed values to make them unsigned.
const ZERO_POINT: i16 = 8;

/// Token vectors of a query, laid out for comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenMatrix {
    width: usize,
    weights: WeightMatrix,
    /// Factor of each token that makes its bytes a vector of length 1.
    scales: Vec<f32>,
}

impl TokenMatrix {
    /// Lays out token vectors of this even width, concatenated, with the factors that make them vectors of length 1.
    pub fn new(values: Vec<i8>, width: usize, scales: Vec<f32>) -> Self {
        Self { width, weights: WeightMatrix::new(values, width), scales }
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns `true` if there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns the cosine of each token and its best match among the packed tokens of a text; 0 if all are worse.
    pub fn best_matches(&self, packed: &[u8]) -> Vec<f32> {
        let mut best = vec![0.0; self.scales.len()];
        let bytes = (self.width / VALUES_PER_BYTE).max(1);
        let tokens = packed.len() / bytes;
        if best.is_empty() {
            return best;
        }
        let (mut values, mut scales) = (vec![0; tokens * self.width], vec![0.0; tokens]);
        for ((packed, values), scale) in
            packed.chunks_exact(bytes).zip(values.chunks_exact_mut(self.width)).zip(&mut scales)
        {
            run_widest(UnpackTask { packed, values, scale });
        }
        let mut sums = vec![0; tokens * best.len()];
        self.weights.multiply(&values, &mut sums);
        for (sums, theirs) in sums.chunks_exact(best.len()).zip(scales) {
            for ((best, sum), own) in best.iter_mut().zip(sums).zip(&self.scales) {
                *best = best.max(*sum as f32 * own * theirs);
            }
        }
        best
    }
}

impl Default for TokenMatrix {
    fn default() -> Self {
        Self::new(Vec::new(), 0, Vec::new())
    }
}

/// Returns the cosine of a vector, given as bytes and the factor that makes its length 1, and a packed vector.
pub fn packed_cosine(values: &[i8], scale: f32, packed: &[u8]) -> f32 {
    let (mut unpacked, mut theirs) = (vec![0; values.len()], 0.0);
    run_widest(UnpackTask { packed, values: &mut unpacked, scale: &mut theirs });
    let product = |(own, other): (&i8, &i16)| i32::from(*own) * i32::from(*other);
    let sum: i32 = values.iter().zip(&unpacked).map(product).sum();
    sum as f32 * scale * theirs
}

/// Unpacks a vector, and writes the factor that makes its length 1.
struct UnpackTask<'a> {
    packed: &'a [u8],
    values: &'a mut [i16],
    scale: &'a mut f32,
}

impl SimdTask for UnpackTask<'_> {
    #[inline(always)]
    fn run(self) {
        let pairs = self.values.as_chunks_mut::<VALUES_PER_BYTE>().0;
        for (pair, byte) in pairs.iter_mut().zip(self.packed) {
            *pair = [i16::from(byte & 15) - ZERO_POINT, i16::from(byte >> 4) - ZERO_POINT];
        }
        let squares: i32 = self.values.iter().map(|value| i32::from(*value * *value)).sum();
        *self.scale = if squares > 0 { (squares as f32).sqrt().recip() } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn cosines(query: &[i8], packed: &[u8]) -> f32 {
        let values: Vec<i32> = packed
            .iter()
            .flat_map(|byte| [i32::from(byte & 15) - 8, i32::from(byte >> 4) - 8])
            .collect();
        let sum: i32 = query.iter().zip(&values).map(|(own, other)| i32::from(*own) * other).sum();
        let squares: i32 = values.iter().map(|value| value * value).sum();
        if squares > 0 { sum as f32 * 0.01 * (squares as f32).sqrt().recip() } else { 0.0 }
    }

    proptest! {
        #[test]
        fn the_best_match_is_that_of_a_comparison_one_by_one(
            tokens in vec(vec(-127i8..=127, 32), 0..20),
            packed in vec(any::<u8>(), 0..200),
        ) {
            let matrix = TokenMatrix::new(tokens.concat(), 32, vec![0.01; tokens.len()]);
            let best = |token: &Vec<i8>| {
                packed.chunks_exact(16).map(|one| cosines(token, one)).fold(0.0, f32::max)
            };
            let expected: Vec<f32> = tokens.iter().map(best).collect();
            prop_assert_eq!(matrix.best_matches(&packed), expected);
            if let (Some(token), Some(one)) = (tokens.first(), packed.chunks_exact(16).next()) {
                prop_assert_eq!(packed_cosine(token, 0.01, one), cosines(token, one));
            }
        }
    }
}
