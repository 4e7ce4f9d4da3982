//! A folder of markdown files as a store, and the sync of a folder with any other store.

mod state;
mod look;
mod known;
mod plan;
mod work;
mod sync;
mod backend;
mod queue;
mod tree;

pub use backend::DirectoryStore;
pub use sync::{Done, SyncReport, SyncRequest, What, sync};

use crate::error::{Error, Result};

/// Runs blocking work away from the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::store)?
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod storm_tests;
