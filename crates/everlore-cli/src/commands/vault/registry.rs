//! Registry of the vaults of a home, so that forgetting a memory also erases its files.

use everlore::{engine::SyncRequest, internal::files::vault};

use crate::{CliContext, Result};

/// Adds a vault to the registry.
pub(super) fn register_vault(cx: &CliContext, request: &SyncRequest) -> Result<()> {
    Ok(vault::register_vault(&cx.home, &request.folder, &request.scope)?)
}
