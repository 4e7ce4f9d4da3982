//! What people keep in files: documents, taken apart into pieces worth recalling, and vaults, a file a memory.

pub mod documents;
pub mod front_matter;
pub mod vault;
