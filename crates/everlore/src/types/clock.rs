//! The clock as a value: rules take `now` as an argument, and only the engine reads a clock.

use std::{sync::Arc, time::SystemTime};

use jiff::Timestamp;

/// Source of the current time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Earliest and latest time that counts as now, in seconds: the years -9000 and 9000. A calendar ends in the year 9999,
/// and rules add years to now.
const NOW_RANGE: [i64; 2] = [-346_179_744_000, 221_845_392_000];

/// Returns the time of this machine; a clock that is set beyond the calendar counts as its end.
pub fn system_now() -> Timestamp {
    let now = SystemTime::now();
    let [earliest, latest] = now_range();
    let beyond = if now < SystemTime::UNIX_EPOCH { earliest } else { latest };
    within_calendar(Timestamp::try_from(now).unwrap_or(beyond))
}

/// Returns a time of any clock with room for the rules before and after it.
pub(crate) fn within_calendar(now: Timestamp) -> Timestamp {
    let [earliest, latest] = now_range();
    now.clamp(earliest, latest)
}

fn now_range() -> [Timestamp; 2] {
    NOW_RANGE.map(|second| Timestamp::from_second(second).unwrap_or_default())
}

/// Truncates a time to the millisecond that backends keep.
pub fn to_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_at_the_end_of_the_calendar_leaves_room_for_the_rules() {
        let [earliest, latest] = now_range();
        assert_eq!(latest.to_string(), "9000-01-01T00:00:00Z");
        assert_eq!(earliest.to_string(), "-009000-01-01T00:00:00Z");
        assert_eq!(within_calendar(Timestamp::MAX), latest);
        assert_eq!(within_calendar(Timestamp::MIN), earliest);
        assert_eq!(within_calendar(Timestamp::UNIX_EPOCH), Timestamp::UNIX_EPOCH);
    }
}
