//! Fitting the judgement to a scope: what evidence is worth among these memories.

use serde::Serialize;

use super::Engine;
use crate::{recall::Weights, types::Scope};

/// x
#[derive(Debug, Serialize)]
pub struct Calibration {}
/// x
#[derive(Debug, Serialize)]
pub struct Told {}

impl Engine {
    /// The same with what evidence is worth in a scope, as [`Engine::calibrate`] found.
    #[must_use]
    pub fn with_weights(mut self, scope: Scope, weights: Weights) -> Self {
        self.weights.insert(scope, weights);
        self
    }

    /// What evidence is worth in a scope.
    pub(super) fn weights(&self, scope: &Scope) -> Weights {
        self.weights.get(scope).copied().unwrap_or_default()
    }
}
