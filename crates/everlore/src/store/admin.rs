//! The admin facet: for the owner of the store, across scopes.

use async_trait::async_trait;

use crate::{error::Result, types::Scope};

/// Cares for the whole store. Nothing here is for an agent.
#[async_trait]
pub trait StoreAdmin: Send + Sync {
    /// Describes the store: address, schema and access.
    fn info(&self) -> StoreInfo;

    /// Returns every scope that ever stored something.
    async fn scopes(&self) -> Result<Vec<Scope>>;

    /// Asks the database itself if it is sound and returns a line for each fault.
    async fn integrity(&self) -> Result<Vec<String>>;

    /// Returns unused space to the system if there is enough of it, and how many bytes that were.
    async fn compact(&self) -> Result<u64>;

    /// Returns the size of the database in bytes; `None` if it has none or does not tell.
    async fn size(&self) -> Result<Option<u64>>;

    /// Seals an agent, or ends its seal. Writes of any process to the memories of a sealed agent, also of users that appear
    /// later, fail with [`Error::Sealed`](crate::Error::Sealed). When a sealing returns, no write is under way. Reads go on.
    async fn change_seal(&self, agent: &str, change: SealChange<'_>) -> Result<()>;

    /// Erases everything of all users of an agent, journal and tombstones included, but for costs and its seal.
    async fn erase_agent(&self, agent: &str) -> Result<()>;

    /// Waits for work in progress and releases files and connections. Later calls fail.
    async fn close(&self);
}

/// Change of an agent's seal. A seal has a holder, so that a process that was late ends no seal but the one it knows of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SealChange<'a> {
    /// Seals the agent for a holder, who takes over an earlier seal. One without a name has it for good.
    Seal(&'a str),
    /// Ends the seal, whoever holds it.
    End,
    /// Ends the seal if this holder has it.
    EndOf(&'a str),
}

impl SealChange<'static> {
    /// Seal without a holder: nothing ends it but [`SealChange::End`].
    pub const SEAL_FOR_GOOD: Self = Self::Seal("");
}

/// Description of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// The address that opens it, such as `sqlite:PATH`.
    pub url: String,
    /// The version of its schema; 0 for a store without one.
    pub schema: u32,
    /// Set when writes are refused.
    pub is_read_only: bool,
}
