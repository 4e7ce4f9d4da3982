//! Holdout measurement: a few memories are left out of prompts at random, and usage with and without them is compared.

use serde::Serialize;

use crate::types::MemoryId;

/// Fewest answers on either side: with fewer, a single answer would move the rate by more than three in a hundred.
const MIN_SAMPLES: u64 = 30;

/// Standard errors below which a difference may be chance (one in twenty).
const MIN_STANDARD_ERRORS: f64 = 2.0;

/// Returns `true` if a memory is held out of a session's prompts, given the share to hold out. The choice is stable
/// within a session: a memory that came and went between turns would prove nothing.
pub fn is_held_out(share: f64, session: &str, id: MemoryId) -> bool {
    let mut key = session.as_bytes().to_vec();
    key.push(0);
    key.extend(id.as_bytes());
    let per_mille = (share * 1_000.0).round() as u64;
    xxhash_rust::xxh3::xxh3_64(&key) % 1_000 < per_mille
}

/// Rate of use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UsageRate {
    /// Number of answers.
    pub of: u64,
    /// Answers that used the memory.
    pub used: u64,
    /// Share of used answers, from 0 to 1; 0 if there are none.
    pub rate: f64,
}

impl UsageRate {
    /// Computes the rate of `used` among `of`.
    pub(crate) fn new(used: u64, of: u64) -> Self {
        Self { of, used, rate: if of == 0 { 0.0 } else { used as f64 / of as f64 } }
    }

    /// Returns the squared standard error. One added success and failure keep it above 0 where all answers agree.
    fn variance(self) -> f64 {
        let (used, of) = (self.used as f64 + 1.0, self.of as f64 + 2.0);
        let rate = used / of;
        rate * (1.0 - rate) / of
    }
}

/// Usage with memories in the prompt and without them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HoldoutComparison {
    /// Answers to prompts with the memory.
    #[serde(rename = "told")]
    pub injected: UsageRate,
    /// Answers to prompts without it, whose content comes from elsewhere.
    pub held_out: UsageRate,
    /// Difference of the two rates.
    pub difference: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Conclusion.
    pub finding: HoldoutFinding,
}

/// Conclusion of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldoutFinding {
    /// Too few answers on one side.
    TooLittle,
    /// The difference may be chance.
    NoDifference,
    /// Injected memories are used more.
    Useful,
    /// Held-out memories appear more in the answers.
    Harmful,
}

/// Compares usage with and without memories in the prompt.
pub(crate) fn compare_holdout(injected: UsageRate, held_out: UsageRate) -> HoldoutComparison {
    let difference = injected.rate - held_out.rate;
    let standard_error = (injected.variance() + held_out.variance()).sqrt();
    let finding = if injected.of.min(held_out.of) < MIN_SAMPLES {
        HoldoutFinding::TooLittle
    } else if difference.abs() < MIN_STANDARD_ERRORS * standard_error {
        HoldoutFinding::NoDifference
    } else if difference > 0.0 {
        HoldoutFinding::Useful
    } else {
        HoldoutFinding::Harmful
    };
    HoldoutComparison { injected, held_out, difference, standard_error, finding }
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
        let held_out =
            |share: f64| (0..10_000).filter(|n| is_held_out(share, "s1", id(*n))).count();
        assert_eq!((held_out(0.0), held_out(1.0)), (0, 10_000));
        assert!((400..600).contains(&held_out(0.05)), "{}", held_out(0.05));
        let others = (0..10_000).filter(|n| is_held_out(0.05, "对话", id(*n))).collect::<Vec<_>>();
        assert_ne!(
            others,
            (0..10_000).filter(|n| is_held_out(0.05, "s1", id(*n))).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_comparison_says_when_it_cannot_tell() {
        let finding = |injected: (u64, u64), held_out: (u64, u64)| {
            compare_holdout(
                UsageRate::new(injected.0, injected.1),
                UsageRate::new(held_out.0, held_out.1),
            )
            .finding
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
