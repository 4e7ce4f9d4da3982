//! Settings of `[upkeep]`: the work between turns.

use std::time::Duration;

use super::{
    heartbeat::HourRange,
    validate::{InvalidSetting, settings},
};

settings! {
    /// Work between turns: weights follow use, memories that expired or lost their worth are archived, duplicates are
    /// merged, old figures are deleted. Every change can be undone by its run.
    pub struct UpkeepConfig in "upkeep" {
        /// `true` runs upkeep by itself, at the end of a conversation and in long-running programs. `everlore upkeep` runs
        /// it at any time.
        pub enabled: bool = true;
        /// Interval between two runs, such as "1d" or "12h". From 1 minute to 366 days.
        #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
        pub every: Duration = Duration::from_secs(86_400);
        /// Hours of the day in which upkeep may run by itself, such as "2-5" or "22-6", in the user's time zone; empty for
        /// any.
        pub hours: String = String::new();
        /// `true` merges memories with the same meaning.
        pub merge: bool = true;
        /// Days for which the usage log is kept: which memories went into prompts. From 1 to 3660.
        // Half a year of use shows which memories are useful.
        pub usage_days: u32 = 180, in 1..=3_660;
        /// Most lines of the usage log for each agent and user. From 100 to 10000000.
        // Ten memories a prompt, a hundred prompts a day, for fifty days: about 10 MB.
        pub usage_lines: usize = 50_000, in 100..=10_000_000;
        /// Days for which the ledger is kept: what background work cost. From 1 to 3660.
        pub ledger_days: u32 = 400, in 1..=3_660;
    }
}

impl UpkeepConfig {
    /// Returns `true` if upkeep may run by itself in this hour, from 0 to 23.
    pub(crate) fn may_run_at(&self, hour: i8) -> bool {
        HourRange::parse(&self.hours).flatten().is_none_or(|range| range.contains(hour))
    }

    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let days = 60..=366 * 86_400;
        let every = (!days.contains(&self.every.as_secs()))
            .then(|| InvalidSetting::new("upkeep.every", "must be from 1 minute to 366 days"));
        let hours = HourRange::parse(&self.hours).is_none().then(|| {
            InvalidSetting::new(
                "upkeep.hours",
                "must be two hours of the day, such as \"2-5\", or empty",
            )
        });
        every.into_iter().chain(hours).chain(self.out_of_range()).collect()
    }
}
