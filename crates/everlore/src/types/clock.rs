//! The clock as a value: rules take `now` as an argument, and only the engine reads a clock.

use std::sync::Arc;

use jiff::Timestamp;

/// Source of the current time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Truncates a time to the millisecond that backends keep.
pub fn to_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
