//! Settings of `[heartbeat]`: jobs that run by themselves, and when they keep still.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, settings};

settings! {
    /// Jobs that run by themselves in `everlore serve` and `everlore heartbeat`: reminders, upkeep, overviews,
    /// reflection and the archive of the daily log. `everlore heartbeat off JOB` switches one off for all processes of a home.
    pub struct HeartbeatConfig in "heartbeat" {
        /// `true` runs the jobs by themselves.
        pub enabled: bool = true;
        /// Hours of the day in which nothing runs or reports by itself, such as "22-7", in the user's time zone; empty for
        /// none. A chat and a new session of a coding agent tell reminders at any hour.
        pub quiet_hours: String = String::new();
        /// Runs that were missed while nothing ran: "once" makes up for them with one run, "skip" waits for the next time.
        pub missed: MissedRuns = MissedRuns::Once;
    }
}

/// Policy for runs that were missed while nothing ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissedRuns {
    /// One run makes up for all of them.
    #[default]
    Once,
    /// The next run is at the next time.
    Skip,
}

impl HeartbeatConfig {
    /// Returns `true` in a quiet hour, from 0 to 23.
    pub(crate) fn is_quiet_at(&self, hour: i8) -> bool {
        HourRange::parse(&self.quiet_hours).flatten().is_some_and(|range| range.contains(hour))
    }

    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let hours = HourRange::parse(&self.quiet_hours).is_none().then(|| {
            InvalidSetting::new(
                "heartbeat.quiet_hours",
                "must be two hours of the day, such as \"22-7\", or empty",
            )
        });
        hours.into_iter().chain(self.out_of_range()).collect()
    }
}

/// Hours of the day from one to another, over midnight if the first is later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HourRange {
    from: i8,
    to: i8,
}

impl HourRange {
    /// Parses two hours with a hyphen: `Some(None)` for an empty text, `None` if they cannot be parsed.
    pub(super) fn parse(text: &str) -> Option<Option<Self>> {
        if text.trim().is_empty() {
            return Some(None);
        }
        let (from, to) = text.split_once('-')?;
        let hour = |text: &str, most| text.trim().parse().ok().filter(|h| (0..=most).contains(h));
        Some(Some(Self { from: hour(from, 23)?, to: hour(to, 24)? }))
    }

    /// Returns `true` if an hour is in the range.
    pub(super) fn contains(self, hour: i8) -> bool {
        let Self { from, to } = self;
        if from <= to { (from..to).contains(&hour) } else { hour >= from || hour < to }
    }
}
