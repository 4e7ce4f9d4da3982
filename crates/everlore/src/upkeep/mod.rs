//! Upkeep between turns: usage detection, weights, holdout measurement, archiving and duplicate merging. Pure rules
//! over values; the engine reads and writes.

mod usage;
mod weight;
mod holdout;
mod merge;
mod archive;

pub use archive::{archived, is_expired, needs_confirmation};
pub use holdout::{HoldoutComparison, HoldoutFinding, UsageRate, compare_holdout, is_held_out};
pub use merge::{DuplicateMerge, find_merges, merge_key};
pub use usage::{ShownMemory, detect_usage, question_digests};
pub use weight::apply_usage;
