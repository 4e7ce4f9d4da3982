//! Measuring whether memories are of use: a few are left out of prompts at random, and the answers with and without are
//! compared (A14).

use serde::Serialize;

use crate::types::MemoryId;

/// Fewer than this on either side cannot tell anything: a single answer would move the rate by more than three in a hundred.
const MIN_SAMPLES: u64 = 30;

/// A difference below so many standard errors may be chance: one in twenty.
const MIN_STANDARD_ERRORS: f64 = 2.0;

/// Whether a memory is left out of the prompts of a conversation, given the share that should be. The same conversation
/// always leaves the same out: a memory that came and went with the turns would tell nothing.
pub fn is_held_out(share: f64, session: &str, id: MemoryId) -> bool {
    let mut key = session.as_bytes().to_vec();
    key.push(0);
    key.extend(id.as_bytes());
    let per_mille = (share * 1_000.0).round() as u64;
    xxhash_rust::xxh3::xxh3_64(&key) % 1_000 < per_mille
}

/// How often something was used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsageRate {
    /// Of so many.
    pub of: u64,
    /// So many were used.
    pub used: u64,
    /// The share, from 0 to 1; 0 of none.
    pub rate: f64,
}

impl UsageRate {
    /// The share of `used` in `of`.
    pub fn new(used: u64, of: u64) -> Self {
        Self { of, used, rate: if of == 0 { 0.0 } else { used as f64 / of as f64 } }
    }

    /// The squared standard error. One success and one failure more keep it from 0 where all answers agree.
    fn variance(self) -> f64 {
        let (used, of) = (self.used as f64 + 1.0, self.of as f64 + 2.0);
        let rate = used / of;
        rate * (1.0 - rate) / of
    }
}

/// What answers say with a memory in the prompt and without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HoldoutComparison {
    /// Answers to prompts with the memory.
    pub told: UsageRate,
    /// Answers to prompts from which it was held out; what they say they know from elsewhere.
    pub held_out: UsageRate,
    /// By how much the first is higher.
    pub difference: f64,
    /// The standard error of the difference.
    pub standard_error: f64,
    /// What that means.
    pub finding: HoldoutFinding,
}

/// What a comparison tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldoutFinding {
    /// There are too few answers on one side.
    TooLittle,
    /// The difference may be chance.
    NoDifference,
    /// What is told makes a difference.
    Useful,
    /// Answers say more of what was held out.
    Harmful,
}

/// Compares answers with and without.
pub fn compare_holdout(told: UsageRate, held_out: UsageRate) -> HoldoutComparison {
    let difference = told.rate - held_out.rate;
    let standard_error = (told.variance() + held_out.variance()).sqrt();
    let finding = if told.of.min(held_out.of) < MIN_SAMPLES {
        HoldoutFinding::TooLittle
    } else if difference.abs() < MIN_STANDARD_ERRORS * standard_error {
        HoldoutFinding::NoDifference
    } else if difference > 0.0 {
        HoldoutFinding::Useful
    } else {
        HoldoutFinding::Harmful
    };
    HoldoutComparison { told, held_out, difference, standard_error, finding }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u16) -> MemoryId {
        let mut bytes = [3; 16];
        bytes[..2].copy_from_slice(&number.to_le_bytes());
        MemoryId::from_bytes(bytes)
    }

    #[test]
    fn about_the_share_asked_for_is_held_out_and_always_the_same() {
        let held = |share: f64| (0..10_000).filter(|n| is_held_out(share, "s1", id(*n))).count();
        assert_eq!((held(0.0), held(1.0)), (0, 10_000));
        assert!((400..600).contains(&held(0.05)), "{}", held(0.05));
        let others = (0..10_000).filter(|n| is_held_out(0.05, "对话", id(*n))).collect::<Vec<_>>();
        assert_ne!(
            others,
            (0..10_000).filter(|n| is_held_out(0.05, "s1", id(*n))).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_comparison_says_when_it_cannot_tell() {
        let finding = |told: (u64, u64), held: (u64, u64)| {
            compare_holdout(UsageRate::new(told.0, told.1), UsageRate::new(held.0, held.1)).finding
        };
        assert_eq!(finding((0, 0), (0, 0)), HoldoutFinding::TooLittle);
        assert_eq!(finding((900, 1_000), (0, 29)), HoldoutFinding::TooLittle);
        assert_eq!(finding((300, 1_000), (10, 40)), HoldoutFinding::NoDifference);
        assert_eq!(finding((300, 1_000), (2, 40)), HoldoutFinding::Useful);
        assert_eq!(finding((100, 1_000), (20, 40)), HoldoutFinding::Harmful);
    }

    #[test]
    fn the_standard_error_is_that_of_two_shares() {
        let compared = compare_holdout(UsageRate::new(499, 998), UsageRate::new(49, 98));
        assert!(
            (compared.standard_error - (0.25_f64 / 1_000.0 + 0.25 / 100.0).sqrt()).abs() < 1e-9
        );
    }
}
