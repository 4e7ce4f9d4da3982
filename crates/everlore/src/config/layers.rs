//! Settings of `[layers]`: the files SOUL, USER, MEMORY and DAILY.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// The layered files of an agent: SOUL.md, USER.md, MEMORY.md and the daily log. A budget is in characters; a change that
/// would exceed it is refused, and a file that someone made longer by hand is cut at its end in the prompt only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayersConfig {
    /// The most characters of SOUL.md, who the agent is. From 100 to 100000.
    pub soul_chars: usize,
    /// The most characters of USER.md, who the user is. From 100 to 100000.
    pub user_chars: usize,
    /// The most characters of MEMORY.md, the agent's notes. From 100 to 100000.
    pub memory_chars: usize,
    /// The most characters of one day of the daily log. From 100 to 100000.
    pub daily_chars: usize,
    /// How many days of the daily log reach the prompt, today included; older ones are put away and stay searchable.
    /// From 1 to 31.
    pub daily_days: usize,
    /// Whether agents may not change SOUL.md. People still can.
    pub soul_read_only: bool,
}

impl LayersConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        let checks = [
            check_range("layers.soul_chars", self.soul_chars, 100..=100_000),
            check_range("layers.user_chars", self.user_chars, 100..=100_000),
            check_range("layers.memory_chars", self.memory_chars, 100..=100_000),
            check_range("layers.daily_chars", self.daily_chars, 100..=100_000),
            check_range("layers.daily_days", self.daily_days, 1..=31),
        ];
        checks.into_iter().flatten().collect()
    }
}

impl Default for LayersConfig {
    fn default() -> Self {
        Self {
            soul_chars: 2_000,
            user_chars: 1_400,
            memory_chars: 2_200,
            daily_chars: 1_000,
            daily_days: 2,
            soul_read_only: false,
        }
    }
}
