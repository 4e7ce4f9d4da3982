//! Times as people write and read them.

use std::sync::LazyLock;

use everlore::types::Timestamp;
use jiff::{
    SignedDuration, Zoned,
    civil::{Date, DateTime},
    tz::TimeZone,
};

use crate::messages::translate;

/// Time argument: an instant, or a whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeSpec {
    start: Timestamp,
    end: Timestamp,
}

impl TimeSpec {
    /// Returns the instant, or the beginning of the day.
    pub(crate) fn start(self) -> Timestamp {
        self.start
    }

    /// Returns the instant, or the end of the day, exclusive.
    pub(crate) fn end(self) -> Timestamp {
        self.end
    }

    /// Returns the instant, or the last millisecond of the day, so that the calendar day stays the same.
    pub(crate) fn last_instant(self) -> Timestamp {
        if self.start == self.end {
            return self.end;
        }
        self.end.checked_sub(SignedDuration::from_millis(1)).unwrap_or(self.start)
    }
}

/// Returns the zone of this machine. If `/etc/localtime` is a link, its target is read directly: a lookup by name reads
/// all zone folders, which takes as long as a small recall.
pub(crate) fn local_zone() -> TimeZone {
    static ZONE: LazyLock<TimeZone> =
        LazyLock::new(|| zone_from_localtime().unwrap_or_else(TimeZone::system));
    ZONE.clone()
}

fn zone_from_localtime() -> Option<TimeZone> {
    if std::env::var_os("TZ").is_some() {
        return None;
    }
    let file = std::fs::canonicalize("/etc/localtime").ok()?;
    let name = file.to_str()?.split_once("/zoneinfo/")?.1;
    let is_variant = name.starts_with("posix/") || name.starts_with("right/");
    if is_variant {
        return None;
    }
    TimeZone::tzif(name, &std::fs::read(&file).ok()?).ok()
}

/// Parses `2023-05-08T13:56:00+02:00`, `2023-05-08T13:56` in this machine's zone, or the day `2023-05-08`.
pub(crate) fn parse_time_spec(text: &str) -> Result<TimeSpec, String> {
    parse_in(text.trim(), &local_zone()).ok_or_else(|| {
        format!("`{text}` is not a time; write 2023-05-08, 2023-05-08T13:56 or 2023-05-08T13:56:00+02:00")
    })
}

fn parse_in(text: &str, zone: &TimeZone) -> Option<TimeSpec> {
    let exact = |at: Timestamp| TimeSpec { start: at, end: at };
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(exact(at));
    }
    if let Ok(at) = text.parse::<Zoned>() {
        return Some(exact(at.timestamp()));
    }
    let local = |at: DateTime| at.to_zoned(zone.clone()).ok().map(|at| at.timestamp());
    if text.contains(':') {
        return local(text.parse().ok()?).map(exact);
    }
    let day: Date = text.parse().ok()?;
    Some(TimeSpec { start: local(day.into())?, end: local(day.tomorrow().ok()?.into())? })
}

/// Formats an age in the chosen language: "3 days ago".
pub(crate) fn format_age(at: Timestamp, now: &Zoned) -> String {
    translate(&age_in_words(at, now)).into_owned()
}

fn age_in_words(at: Timestamp, now: &Zoned) -> String {
    let seconds = now.timestamp().as_second() - at.as_second();
    let then = at.to_zoned(now.time_zone().clone());
    let days = now.date().since(then.date()).map_or(0, |span| i64::from(span.get_days()));
    match (seconds, days) {
        (..0, _) => format_day(at, now),
        (0..60, _) => "just now".to_owned(),
        (60..3_600, _) => ago(seconds / 60, "minute"),
        (_, 0) => ago(seconds / 3_600, "hour"),
        (_, 1) => "yesterday".to_owned(),
        (_, 2..60) => ago(days, "day"),
        (_, 60..730) => ago(days / 30, "month"),
        _ => ago(days / 365, "year"),
    }
}

/// Formats the day of a time.
pub(crate) fn format_day(at: Timestamp, now: &Zoned) -> String {
    at.to_zoned(now.time_zone().clone()).date().to_string()
}

/// Formats day and time, to the minute.
pub(crate) fn format_minute(at: Timestamp, now: &Zoned) -> String {
    at.to_zoned(now.time_zone().clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn ago(count: i64, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn times_are_read_with_and_without_a_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(8));
        let start = |text: &str| parse_in(text, &zone).map(TimeSpec::start);
        assert_eq!(start("2023-05-08T13:56:00Z"), Some(at("2023-05-08T13:56:00Z")));
        assert_eq!(start("2023-05-08T13:56:00+02:00"), Some(at("2023-05-08T11:56:00Z")));
        assert_eq!(start("2023-05-08T13:56:00"), Some(at("2023-05-08T05:56:00Z")));
        assert_eq!(start("2023-05-08 13:56"), Some(at("2023-05-08T05:56:00Z")));
        assert_eq!(start("tomorrow-ish"), None);
        assert_eq!(start(""), None);
    }

    #[test]
    fn a_day_has_a_beginning_and_an_end() {
        let day = parse_in("2023-05-08", &TimeZone::UTC).unwrap();
        assert_eq!(day.start(), at("2023-05-08T00:00:00Z"));
        assert_eq!(day.end(), at("2023-05-09T00:00:00Z"));
        assert_eq!(day.last_instant(), at("2023-05-08T23:59:59.999Z"));
    }

    #[test]
    fn ages_are_told_in_the_largest_unit_that_says_enough() {
        let now = at("2026-03-02T12:00:00Z").to_zoned(TimeZone::UTC);
        let age = |text: &str| format_age(at(text), &now);
        assert_eq!(age("2026-03-02T11:59:30Z"), "just now");
        assert_eq!(age("2026-03-02T11:59:00Z"), "1 minute ago");
        assert_eq!(age("2026-03-02T09:00:00Z"), "3 hours ago");
        assert_eq!(age("2026-03-01T09:00:00Z"), "yesterday");
        assert_eq!(age("2026-02-27T09:00:00Z"), "3 days ago");
        assert_eq!(age("2025-12-02T09:00:00Z"), "3 months ago");
        assert_eq!(age("2023-01-02T09:00:00Z"), "3 years ago");
        assert_eq!(age("2027-01-02T09:00:00Z"), "2027-01-02");
    }

    #[test]
    fn the_zone_that_a_link_names_is_that_of_the_machine() {
        for second in [0, 1_700_000_000, 1_790_000_000] {
            let at = Timestamp::from_second(second).unwrap();
            assert_eq!(local_zone().to_offset(at), TimeZone::system().to_offset(at));
        }
    }
}
