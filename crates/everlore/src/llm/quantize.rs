//! Vectors in one byte a component, and how alike two of them are.

/// A vector in one byte a component: component i is `scale * values[i]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Quantized {
    /// What a step of the values is worth.
    pub scale: f32,
    /// From -127 to 127.
    pub values: Vec<i8>,
}

impl Quantized {
    /// The vector with the coarsest steps that reach its largest component: no component is off by more than half a step.
    ///
    /// Components that are no finite numbers count as 0: a stranger's model must not spoil a whole scope.
    pub fn new(vector: &[f32]) -> Self {
        let largest = vector
            .iter()
            .filter(|value| value.is_finite())
            .fold(0.0, |most: f32, value| most.max(value.abs()));
        let scale = largest / MOST;
        let steps = if scale > 0.0 { scale.recip() } else { 0.0 };
        // A cast of what is no number gives 0.
        let step = |value: &f32| if value.is_finite() { (value * steps).round() as i8 } else { 0 };
        Self { scale, values: vector.iter().map(step).collect() }
    }

    /// The dot product, which is the cosine where both vectors have length 1.
    pub fn dot(&self, other: &Self) -> f32 {
        self.scale * other.scale * dot(&self.values, &other.values) as f32
    }

    /// The components as numbers.
    pub fn to_f32(&self) -> Vec<f32> {
        self.values.iter().map(|&value| self.scale * f32::from(value)).collect()
    }
}

/// The largest value; -128 stays unused so that both signs reach equally far.
const MOST: f32 = 127.0;

/// The sum of the products of the components; of the shorter length, if they differ.
///
/// 256 components cost … ns
pub fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(test)]
#[path = "quantize_tests.rs"]
mod tests;
