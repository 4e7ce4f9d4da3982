//! Settings of `[trajectories]`: what is recorded of the steps of an agent besides its messages.

use super::validate::settings;

settings! {
    /// Recording of the steps of an agent: tool calls with their results, models and tokens (docs/growth.md). Messages are
    /// stored anyway.
    pub struct TrajectoriesConfig in "trajectories" {
        /// `true` records tool calls of chat, hooks and the proxy.
        pub enabled: bool = true;
        /// Most characters of a tool's result, and of each argument of its call; of a longer one beginning and end are kept.
        /// From 0 to 100000.
        pub max_chars: usize = 2_000, in 0..=100_000;
    }
}
