//! The documents facet: small named texts that many servers share, such as layers, agent settings, keys and
//! calibration.
//!
//! A local home keeps these as files that people edit; a server database keeps them here.

use async_trait::async_trait;

use crate::error::Result;

/// Stores small documents by name, each with a version for optimistic locking.
#[async_trait]
pub trait SharedDocuments: Send + Sync {
    /// Returns a document; `None` if there is none with this name.
    async fn get(&self, name: &str) -> Result<Option<SharedDocument>>;

    /// Replaces a document if its version is still `expected` (0: there is none yet) and returns the new version;
    /// `None` if another writer came first.
    async fn put(&self, name: &str, expected: u64, text: &str) -> Result<Option<u64>>;

    /// Removes a document and returns `true` if there was one.
    async fn remove(&self, name: &str) -> Result<bool>;

    /// Returns the names that begin with a prefix, in byte order.
    async fn names(&self, prefix: &str) -> Result<Vec<String>>;
}

/// A document at one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedDocument {
    /// The text.
    pub text: String,
    /// Its version; the first is 1.
    pub version: u64,
}
