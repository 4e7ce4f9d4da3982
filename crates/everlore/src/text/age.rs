//! Age of a memory, in words.

use jiff::{Timestamp, Zoned, civil::Date};
use serde::Serialize;

use super::language::Language;

/// Age by the reader's calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Age {
    /// Day on which it was said.
    pub day: Date,
    /// Days since; 0 for today and for the future.
    pub days: i64,
}

impl Age {
    /// Returns the age at `now` of what was said at `at`.
    pub fn new(at: Timestamp, now: &Zoned) -> Self {
        let day = at.to_zoned(now.time_zone().clone()).date();
        let days = now.date().since(day).map_or(0, |span| i64::from(span.get_days())).max(0);
        Self { day, days }
    }

    /// Returns `true` if it should be verified before it is relied on: anything older than a day.
    pub fn is_stale(self) -> bool {
        self.days > 1
    }

    /// Returns today, yesterday, or the day and its distance. The opening of a block says to verify old memories, once
    /// for all of them.
    pub fn describe(self, language: Language) -> String {
        let chinese = language == Language::Chinese;
        match (self.days, chinese) {
            (0, false) => "today".to_owned(),
            (0, true) => "今天".to_owned(),
            (1, false) => "yesterday".to_owned(),
            (1, true) => "昨天".to_owned(),
            (days, false) => format!("{}, {days} days ago", self.day),
            (days, true) => format!("{}，{days} 天前", self.day),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_both_languages() {
        let now: Zoned = "2026-03-02T12:00:00[UTC]".parse().unwrap();
        let described = |at: &str, language| Age::new(at.parse().unwrap(), &now).describe(language);
        assert_eq!(described("2026-03-02T00:00:00Z", Language::English), "today");
        assert_eq!(described("2026-03-01T23:59:00Z", Language::Chinese), "昨天");
        assert_eq!(described("2027-01-01T00:00:00Z", Language::English), "today");
        assert_eq!(described("2026-02-27T00:00:00Z", Language::English), "2026-02-27, 3 days ago");
        assert_eq!(described("2026-02-27T00:00:00Z", Language::Chinese), "2026-02-27，3 天前");
    }
}
