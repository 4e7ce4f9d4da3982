//! Lease of the server that changes shared files: one at a time for a database.

use std::time::{Duration, Instant};

use crate::{error::Result, store::Store};

/// Name of the document.
const LEASE: &str = "lease";

/// Text of a lease that nobody holds.
const FREE: &str = "";

/// Time without a change after which the holder counts as gone. A write takes some milliseconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(10);

/// Wait between two looks at a lease that another server holds.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Right to change shared files.
///
/// A holder that was presumed gone and comes back does no harm: documents are put by compare-and-swap, and its puts of
/// documents that others changed fail.
pub(super) struct FileLease {
    version: u64,
}

impl FileLease {
    /// Waits until the lease is free or its holder is gone, and takes it.
    pub(super) async fn acquire(store: &dyn Store) -> Result<Self> {
        // Time is measured here, because clocks of servers differ.
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            let found = store.documents().get(LEASE).await?;
            let version = found.as_ref().map_or(0, |lease| lease.version);
            if version != seen {
                (seen, since) = (version, Instant::now());
            }
            let is_free = found.is_none_or(|lease| lease.text == FREE);
            let is_takeable = is_free || since.elapsed() > ABANDONED_AFTER;
            if is_takeable
                && let Some(version) = store.documents().put(LEASE, version, "held").await?
            {
                return Ok(Self { version });
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Gives the lease back. If that fails, others wait until it counts as abandoned.
    pub(super) async fn release(self, store: &dyn Store) {
        if let Err(error) = store.documents().put(LEASE, self.version, FREE).await {
            tracing::warn!("{error}: other servers wait for the lease of shared files");
        }
    }
}
