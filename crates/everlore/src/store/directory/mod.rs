//! Folder of markdown files as a store, and the sync of a folder with any other store.

/// Implements a facet of [`DirectoryStore`] by its database; marked methods take in edits by hand first.
macro_rules! forward_facet {
    ($facet:ident: $trait:ident $(
        $(#[$sync:ident])? fn $name:ident($scope:ident $(, $arg:ident: $type:ty)*) -> $result:ty;
    )*) => {
        #[async_trait::async_trait]
        impl $trait for DirectoryStore {
            $(async fn $name(&self, $scope: &Scope $(, $arg: $type)*) -> Result<$result> {
                $(self.$sync($scope).await?;)?
                self.inner.$facet().$name($scope $(, $arg)*).await
            })*
        }
    };
}

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
