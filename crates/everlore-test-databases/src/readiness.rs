//! Waiting for a state of a server.

use std::time::{Duration, Instant};

/// Longest wait for a server or a cluster; on a free machine none takes a quarter of that.
const DEADLINE: Duration = Duration::from_secs(60);

/// Interval of looks: short beside the second that a server takes to start.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Limit of one look, so that a connection that hangs does not use up the whole wait.
pub(crate) const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// Wait in progress: `while !is_ready() { wait.pause("the server").await }`.
#[derive(Debug)]
pub(crate) struct Wait {
    deadline: Instant,
}

impl Wait {
    pub(crate) fn new() -> Self {
        Self { deadline: Instant::now() + DEADLINE }
    }

    /// Sleeps until the next look.
    ///
    /// # Panics
    /// After [`DEADLINE`], naming the state that did not come.
    pub(crate) async fn pause(&self, awaited: &str) {
        assert!(Instant::now() < self.deadline, "{awaited} is not there after {DEADLINE:?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
