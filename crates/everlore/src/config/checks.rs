//! Settings of `[checks]`: verification of memories during recall.

use serde::{Deserialize, Serialize};

use super::{InvalidSetting, validate::check_range};

/// Verification of memories that carry a check, during recall (docs/checks.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChecksConfig {
    /// `true` lets checks run commands. Only commands that a person set are ever run.
    pub commands: bool,
    /// Most milliseconds that a recall waits for checks of files; a slower check counts as unverifiable. From 1 to
    /// 60000.
    pub time_limit_ms: u64,
}

impl ChecksConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        check_range("checks.time_limit_ms", self.time_limit_ms, 1..=60_000).into_iter().collect()
    }
}

impl Default for ChecksConfig {
    fn default() -> Self {
        // A check on a local disk takes far less, and people do not notice a turn that waits this much longer.
        Self { commands: false, time_limit_ms: 20 }
    }
}
