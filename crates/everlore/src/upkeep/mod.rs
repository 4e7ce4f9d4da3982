//! The work between turns: which memories were of use, what they are worth by now, and what can be put away or put
//! together. Rules over values; the engine reads and writes.

mod usage;
mod weight;
mod holdout;
mod merge;
mod touch;

pub use holdout::{Comparison, Finding, Rate, compare, is_held_out};
pub use merge::{Merge, merge_key, merges};
pub use touch::{archived, expired, is_expired, touches_too_many};
pub use usage::{Seen, asked_of, used};
pub use weight::weigh;
