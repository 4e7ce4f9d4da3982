//! Feedback: a person's verdict on a memory moves its weight within bounds, and is counted where everybody can see it.

use serde::{Deserialize, Serialize};

use crate::types::{FEEDBACK_KEY, Memory, MemoryFeedback, Status, Timestamp};

/// Highest weight that feedback reaches; recall counts no more.
const MAX_WEIGHT: f64 = 2.0;

/// Lowest weight that feedback alone reaches: still above the archiving threshold.
const MIN_WEIGHT: f64 = 0.2;

/// Share of the way to the maximum per good verdict: a person's word counts as two uses.
const GAIN_PER_GOOD: f64 = 0.36;

/// Share of its weight that a memory keeps per bad verdict.
const KEPT_PER_BAD: f64 = 0.5;

/// Bad verdicts beyond the good ones after which a memory is archived: one may be about the answer, two are not.
const ARCHIVING_BALANCE: u32 = 2;

/// Shift of the confidence's bias per verdict, and its bound: ten verdicts of one kind move it as far as they ever will,
/// which is half of what a calibration may move it.
const BIAS_PER_VERDICT: f64 = 0.05;
const MAX_BIAS_SHIFT: f64 = 0.5;

/// Most characters of a reason.
const MAX_REASON_CHARS: usize = 300;

/// Verdict on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FeedbackVerdict {
    /// It helped.
    Good,
    /// It did not help, or is wrong.
    Bad,
}

crate::types::variant_names! { pub FeedbackVerdict: Good = "good", Bad = "bad" }

/// Feedback on memories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FeedbackRequest {
    /// Verdict.
    pub verdict: FeedbackVerdict,
    /// Reason in words.
    #[serde(default)]
    pub because: Option<String>,
    /// Set to archive it at once, with a bad verdict: it is not brought up again.
    #[serde(default)]
    pub never_again: bool,
}

/// Applies a verdict to a memory: count, weight and status. A weight set by hand stays.
pub(crate) fn apply_feedback(memory: &mut Memory, request: &FeedbackRequest, now: Timestamp) {
    let mut feedback = MemoryFeedback::of_memory(memory).unwrap_or_default();
    let weight = memory.weight_at(now);
    let moved = match request.verdict {
        FeedbackVerdict::Good => {
            feedback.good = feedback.good.saturating_add(1);
            weight + (MAX_WEIGHT - weight).max(0.0) * GAIN_PER_GOOD
        }
        FeedbackVerdict::Bad => {
            feedback.bad = feedback.bad.saturating_add(1);
            (weight * KEPT_PER_BAD).max(MIN_WEIGHT.min(weight))
        }
    };
    if !memory.is_pinned() {
        memory.weight = moved;
    }
    let is_bad = request.verdict == FeedbackVerdict::Bad;
    let is_refused = feedback.bad >= feedback.good.saturating_add(ARCHIVING_BALANCE);
    if is_bad && (request.never_again || is_refused) && memory.status == Status::Active {
        (memory.status, feedback.archived) = (Status::Archived, true);
    } else if !is_bad && feedback.archived && memory.status == Status::Archived {
        (memory.status, feedback.archived) = (Status::Active, false);
    }
    let because = request.because.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    feedback.because = because.map(|reason| reason.chars().take(MAX_REASON_CHARS).collect());
    feedback.at = Some(now);
    let value = serde_json::to_value(&feedback).unwrap_or_default();
    memory.metadata.insert(FEEDBACK_KEY.to_owned(), value);
}

/// Feedback of a scope, and how far it moves the confidence of recall.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct FeedbackTally {
    /// Good verdicts.
    pub good: u32,
    /// Bad verdicts.
    pub bad: u32,
    /// Shift of the confidence's bias: below zero recall speaks less.
    pub bias_shift: f64,
}

impl FeedbackTally {
    /// Sums up the feedback of memories.
    pub(crate) fn of_memories<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> Self {
        let mut tally = Self::default();
        for feedback in memories.into_iter().filter_map(MemoryFeedback::of_memory) {
            tally.good = tally.good.saturating_add(feedback.good);
            tally.bad = tally.bad.saturating_add(feedback.bad);
        }
        let balance = f64::from(tally.good) - f64::from(tally.bad);
        tally.bias_shift = (balance * BIAS_PER_VERDICT).clamp(-MAX_BIAS_SHIFT, MAX_BIAS_SHIFT);
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Kind, MemorySource, Origin, PINNED_KEY, Scope};

    fn memory() -> Memory {
        let scope = Scope::new("a", "b").unwrap();
        let source = MemorySource::new(Origin::Remember);
        let now = Timestamp::UNIX_EPOCH;
        Memory::with_content(&scope, Kind::User, "喜欢茶".into(), source, now, now)
    }

    fn give(memory: &mut Memory, verdict: FeedbackVerdict, never_again: bool) {
        let request = FeedbackRequest { verdict, because: Some(" x ".into()), never_again };
        apply_feedback(memory, &request, Timestamp::UNIX_EPOCH);
    }

    #[test]
    fn verdicts_move_the_weight_within_bounds() {
        let (mut liked, mut disliked) = (memory(), memory());
        for _ in 0..50 {
            give(&mut liked, FeedbackVerdict::Good, false);
            give(&mut disliked, FeedbackVerdict::Bad, false);
        }
        assert!(liked.weight > 1.9 && liked.weight <= MAX_WEIGHT);
        assert_eq!(disliked.weight, MIN_WEIGHT);
        assert_eq!(MemoryFeedback::of_memory(&disliked).unwrap().because.as_deref(), Some("x"));
    }

    #[test]
    fn two_bad_verdicts_archive_and_a_good_one_brings_it_back() {
        let mut memory = memory();
        give(&mut memory, FeedbackVerdict::Bad, false);
        assert_eq!(memory.status, Status::Active);
        give(&mut memory, FeedbackVerdict::Bad, false);
        assert_eq!(memory.status, Status::Archived);
        give(&mut memory, FeedbackVerdict::Good, false);
        assert_eq!(memory.status, Status::Active);
    }

    #[test]
    fn never_again_archives_at_once_and_a_pinned_weight_stays() {
        let mut memory = memory();
        memory.metadata.insert(PINNED_KEY.into(), true.into());
        memory.weight = 3.0;
        give(&mut memory, FeedbackVerdict::Bad, true);
        assert_eq!((memory.weight, memory.status), (3.0, Status::Archived));
    }

    #[test]
    fn the_confidence_moves_within_its_bound() {
        let mut memory = memory();
        give(&mut memory, FeedbackVerdict::Bad, false);
        assert_eq!(FeedbackTally::of_memories([&memory]).bias_shift, -BIAS_PER_VERDICT);
        for _ in 0..50 {
            give(&mut memory, FeedbackVerdict::Good, false);
        }
        let tally = FeedbackTally::of_memories([&memory]);
        assert_eq!((tally.good, tally.bad, tally.bias_shift), (50, 1, MAX_BIAS_SHIFT));
    }
}
