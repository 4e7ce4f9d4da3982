//! Stub.
use crate::types::Kind;
use serde::Serialize;
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Aim {
    /// x
    General,
}
/// x
pub struct Strategy {
    /// x
    pub kinds: &'static [Kind],
    /// x
    pub kind_boost: f64,
    /// x
    pub recency_days: f64,
    /// x
    pub exact_terms: bool,
}
impl Aim {
    /// x
    pub fn strategy(self) -> Strategy {
        Strategy { kinds: &[], kind_boost: 1.0, recency_days: 90.0, exact_terms: false }
    }
}
/// x
pub fn aim_of(_q: &str) -> Aim {
    Aim::General
}
