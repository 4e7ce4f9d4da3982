//! A folder of markdown files kept equal to the memories of a scope.

use super::Engine;
use crate::{
    error::Result,
    store::directory::{SyncReport, SyncRequest, sync},
};

impl Engine {
    /// Brings a vault and the memories of its scope together: changes of either side travel to the other (D8). Secrets are
    /// masked in memory and left in files that people wrote; the report names them.
    pub async fn sync_vault(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.check_enabled()?;
        let request = &SyncRequest { mask_secrets: self.masks(), ..request.clone() };
        sync(&*self.store, request, self.now().timestamp()).await
    }
}
