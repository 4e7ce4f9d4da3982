//! Upkeep between turns: usage detection, weights, holdout measurement, archiving and duplicate merging. Pure rules
//! over values; the engine reads and writes.

mod usage;
mod weight;
mod holdout;
mod merge;
mod archive;

pub(crate) use archive::{archived, is_expired, needs_confirmation};
pub(crate) use holdout::compare_holdout;
pub use holdout::{HoldoutComparison, HoldoutFinding, UsageRate, is_held_out};
pub(crate) use merge::{DuplicateMerge, find_merges, merge_key};
pub(crate) use usage::{ShownMemory, detect_usage, question_digests, shared_with_question};
pub(crate) use weight::apply_usage;
