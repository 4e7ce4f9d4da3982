//! Folder of markdown files as a store, and the sync of a folder with any other store.

mod sync_state;
mod vault_scan;
mod database_view;
mod plan;
mod execute;
mod sync_report;
mod sync;
mod directory_store;
mod uri_index;

pub use directory_store::DirectoryStore;
pub(crate) use sync::sync;
pub use sync_report::{SyncAction, SyncReport, SyncRequest, SyncStep};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod random_sync_tests;
