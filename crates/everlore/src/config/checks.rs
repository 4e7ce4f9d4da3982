//! Settings of `[checks]`: verification of memories during recall.

use super::validate::settings;

settings! {
    /// Verification of memories that carry a check, during recall (docs/checks.md).
    pub struct ChecksConfig in "checks" {
        /// `true` lets checks run commands. Only commands that a person set are ever run.
        pub commands: bool = false;
        /// Most milliseconds that a recall waits for checks of files; a slower check counts as unverifiable. From 1 to
        /// 60000.
        // A check on a local disk takes far less, and people do not notice a turn that waits this much longer.
        pub time_limit_ms: u64 = 20, in 1..=60_000;
    }
}
