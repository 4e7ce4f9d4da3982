//! Settings of `[checks]`: how memories are verified when they are recalled.

use serde::{Deserialize, Serialize};

use super::{InvalidSetting, validate::check_range};

/// How memories that carry a check are verified when they are recalled (docs/checks.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChecksConfig {
    /// Whether checks may run commands. Only those that a person set are ever run.
    pub commands: bool,
    /// The most milliseconds that a recall waits for files to be looked at; what takes longer counts as unverifiable.
    pub time_limit_ms: u64,
}

impl ChecksConfig {
    pub(super) fn validate(&self) -> Vec<InvalidSetting> {
        check_range("checks.time_limit_ms", self.time_limit_ms, 1..=60_000).into_iter().collect()
    }
}

impl Default for ChecksConfig {
    fn default() -> Self {
        // A look at a local disk takes far less, and a turn that waits so much longer is not noticed.
        Self { commands: false, time_limit_ms: 20 }
    }
}
