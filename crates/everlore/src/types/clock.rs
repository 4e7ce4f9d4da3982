//! The clock as a value: rules take `now` as an argument, and only the engine reads a clock.

use std::sync::Arc;

use jiff::Timestamp;

/// Source of the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;
