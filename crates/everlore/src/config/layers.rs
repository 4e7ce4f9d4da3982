//! Settings of `[layers]`: the files SOUL, USER, MEMORY and DAILY.

use serde::{Deserialize, Serialize};

use super::validate::{InvalidSetting, check_range};

/// Layered files of an agent: SOUL.md, USER.md, MEMORY.md and the daily log. A budget is in characters; a change that
/// would exceed it is refused. A file that a person made longer by hand is cut at its end, in the prompt only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayersConfig {
    /// Most characters of SOUL.md, which says who the agent is. From 100 to 100000.
    pub soul_chars: usize,
    /// Most characters of USER.md, which says who the user is. From 100 to 100000.
    pub user_chars: usize,
    /// Most characters of MEMORY.md, the agent's notes. From 100 to 100000.
    pub memory_chars: usize,
    /// Most characters of one day of the daily log. From 100 to 100000.
    pub daily_chars: usize,
    /// Days of the daily log in the prompt, today included; older days are archived and stay searchable. From 1 to 31.
    pub daily_days: usize,
    /// `true` keeps agents from changing SOUL.md. People still can. Keys of users never can, nor agents with several users.
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
