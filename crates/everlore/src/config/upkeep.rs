//! Settings of `[upkeep]`: the work between turns.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// The work between turns: weights follow use, what is over or hardly worth anything is put away, what says the same is put
/// together, old figures go. Every change can be undone by its run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UpkeepConfig {
    /// Whether it is done on its own, at the end of a conversation and by programs that stay. `everlore upkeep` does it
    /// at any time.
    pub enabled: bool,
    /// How long to wait from one time to the next, such as "1d" or "12h". From 1 minute to 366 days.
    #[serde(with = "jiff::fmt::serde::unsigned_duration::friendly::compact::required")]
    pub every: Duration,
    /// The hours of the day in which it may be done on its own, such as "2-5" or "22-6", by the clock of the user; empty for
    /// any.
    pub hours: String,
    /// Whether memories that say the same are put together.
    pub merge: bool,
    /// For how many days it is kept what was put into prompts. From 1 to 3660.
    pub usage_days: u32,
    /// The most lines that are kept of what was put into prompts, for each agent and user. From 100 to 10000000.
    pub usage_lines: usize,
    /// For how many days it is kept what background work cost. From 1 to 3660.
    pub ledger_days: u32,
}

impl UpkeepConfig {
    /// Whether it may be done in this hour, from 0 to 23.
    pub fn may_run_at(&self, hour: i8) -> bool {
        match self.parse_hours() {
            None | Some(None) => true,
            Some(Some((from, to))) if from <= to => (from..to).contains(&hour),
            Some(Some((from, to))) => hour >= from || hour < to,
        }
    }

    /// The hours, none for any; nothing at all if they cannot be read.
    fn parse_hours(&self) -> Option<Option<(i8, i8)>> {
        if self.hours.trim().is_empty() {
            return Some(None);
        }
        let (from, to) = self.hours.split_once('-')?;
        let hour = |text: &str, most| text.trim().parse().ok().filter(|h| (0..=most).contains(h));
        Some(Some((hour(from, 23)?, hour(to, 24)?)))
    }

    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let days = 60..=366 * 86_400;
        let every = (!days.contains(&self.every.as_secs()))
            .then(|| InvalidSetting::new("upkeep.every", "must be from 1 minute to 366 days"));
        let hours = self.parse_hours().is_none().then(|| {
            InvalidSetting::new(
                "upkeep.hours",
                "must be two hours of the day, such as \"2-5\", or empty",
            )
        });
        let checks = [
            every,
            hours,
            check_range("upkeep.usage_days", self.usage_days, 1..=3_660),
            check_range("upkeep.usage_lines", self.usage_lines, 100..=10_000_000),
            check_range("upkeep.ledger_days", self.ledger_days, 1..=3_660),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for UpkeepConfig {
    /// Half a year of use is enough to tell what is of use; fifty thousand lines are ten memories a prompt, a hundred
    /// prompts a day, for fifty days, and take about 10 MB.
    fn default() -> Self {
        Self {
            enabled: true,
            every: Duration::from_secs(86_400),
            hours: String::new(),
            merge: true,
            usage_days: 180,
            usage_lines: 50_000,
            ledger_days: 400,
        }
    }
}
