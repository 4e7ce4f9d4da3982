//! Storage: one interface in facets, several backends, one conformance suite that all of them pass.
//!
//! A store keeps rows, index, vectors and journal together and returns candidates; it never ranks. A backend loads the
//! rows of a write, lets `plan` decide, and executes the effects; the search index (`index/`) and the codec of rows
//! (`row.rs`) are shared. To add a backend:
//!
//! 1. Implement [`Store`] and its facets in a folder of its own. [`Store::apply`] runs in one transaction that holds
//!    the scope's write lock: load what `WriteNeeds` names, call `plan`, execute all `Effects` in the order of
//!    their fields. `sqlite/apply.rs` is the example.
//! 2. Store index entries and blocks as bytes; a `BlockLayout` says how large rows should be.
//! 3. Add its address to `open.rs` and its schema to `crates/everlore/migrations/`.
//! 4. End its tests with `suite!(fresh)` (`conformance/`), which runs every case, races of two handles included.

mod doc_address;
mod memories;
mod search_index;
mod journal;
mod embeddings;
mod capture_queue;
mod uri_index;
mod usage;
mod ledger;
mod vector_cache;
mod shared_documents;
mod admin;
mod seal;
mod index;
mod row;
mod plan;
mod open;
mod ram;
mod agent_stores;
pub(crate) mod sqlite;
pub(crate) mod directory;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
#[cfg(test)]
mod conformance;

use async_trait::async_trait;

pub use crate::text::terms::TermHash;
pub use admin::{SealChange, StoreAdmin, StoreInfo};
pub(crate) use agent_stores::SealHeartbeat;
pub use agent_stores::{AgentDatabase, AgentMove, AgentStores, MovePhase, SealLease};
pub use capture_queue::{
    CaptureFailure, CaptureQueue, ClaimRequest, DuePolicy, PendingSession, SessionLease,
    UnreadTurns,
};
pub use directory::DirectoryStore;
pub use doc_address::DocAddress;
pub use embeddings::{Embeddings, NewEmbedding, NewTokenVectors, TokenVectors};
#[cfg(test)]
pub(crate) use index::segment::DocRecord;
pub use index::{Docs, FIELD_COUNT, IndexField, Posting, Segment, SegmentVectors};
pub(crate) use index::{error_term, slot_term, source_turn_term};
pub use journal::{Journal, JournalQuery};
pub use ledger::{Ledger, LedgerEntry, ModelSpend};
pub use memories::{ListOrder, ListQuery, Memories, MemoryFilter, MemoryKey, ScopeCounts};
pub(crate) use memories::{MemoryPages, confirm_readable};
pub use open::open;
pub use ram::RamStore;
pub use search_index::SearchIndex;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub use server::ServerStore;
pub use shared_documents::{SharedDocument, SharedDocuments};
pub use sqlite::SqliteStore;
pub use uri_index::{AddressQuery, SessionSummary, UriChild, UriIndex};
pub use usage::{
    InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLines, UsageLog, UsageRecord,
    UsageSelection,
};
pub use vector_cache::{VectorCache, VectorCacheStatus, VectorInsert, VectorLookup};

use crate::{
    error::{Error, Result},
    types::{AppliedChange, Kind, Memory, SLOT_KEY, WriteBatch, error_keys},
};

/// Memories of many scopes with everything derived from them.
///
/// [`Store::apply`] is the only way in which memories change; facets read them and keep what belongs to them. Every
/// method that takes a [`Scope`](crate::types::Scope) is confined to it: it reads, returns, counts and changes nothing
/// outside, whatever ids it is given. Methods take many ids, keys or texts at once: a call may be a round trip to
/// another machine.
///
/// A store of your own wraps a built-in one and replaces facets, or implements all of them. [`Segment::of_memories`]
/// answers for the index and [`ClaimRequest::pick_due`] for the queue; `store/conformance` in the sources of this crate
/// lists what every backend must do. A method may join a facet in any release until 1.0.
#[async_trait]
pub trait Store: Send + Sync {
    /// Applies all changes or none. When it returns, they survive a power cut and every reader finds them.
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>>;

    /// Rows by id, key, list and address.
    fn memories(&self) -> &dyn Memories;

    /// Postings and similarities for recall.
    fn index(&self) -> &dyn SearchIndex;

    /// Every change, and the past.
    fn journal(&self) -> &dyn Journal;

    /// Embeddings of memories.
    fn vectors(&self) -> &dyn Embeddings;

    /// Token vectors of a reranker.
    fn token_vectors(&self) -> &dyn TokenVectors;

    /// Sessions that wait for capture, their leases, and quarantined drafts.
    fn queue(&self) -> &dyn CaptureQueue;

    /// Uris and sessions in order.
    fn uris(&self) -> &dyn UriIndex;

    /// Injections and their use.
    fn usage(&self) -> &dyn UsageLog;

    /// Cost of background work, and when each job last began.
    fn ledger(&self) -> &dyn Ledger;

    /// Cached vectors that remote models made of texts; index blocks have a cache of their own.
    fn vector_cache(&self) -> &dyn VectorCache;

    /// Small documents that servers share.
    fn documents(&self) -> &dyn SharedDocuments;

    /// Care of the whole store.
    fn admin(&self) -> &dyn StoreAdmin;
}

/// Writes the facet methods of an `impl Store`: `own` facets are implemented by the type itself, the others are those of
/// an inner store, such as `by [.inner]`.
#[macro_export]
macro_rules! store_facets {
    (own: $($own:ident),+ $(; by $inner:tt: $($other:ident),+)?) => {
        $($crate::store_facets!(@ own $own);)+
        $($($crate::store_facets!(@ $inner $other);)+)?
    };
    (by $inner:tt: $($other:ident),+) => { $($crate::store_facets!(@ $inner $other);)+ };
    (@ $how:tt memories) => { $crate::store_facets!(@fn $how memories Memories); };
    (@ $how:tt index) => { $crate::store_facets!(@fn $how index SearchIndex); };
    (@ $how:tt journal) => { $crate::store_facets!(@fn $how journal Journal); };
    (@ $how:tt vectors) => { $crate::store_facets!(@fn $how vectors Embeddings); };
    (@ $how:tt token_vectors) => { $crate::store_facets!(@fn $how token_vectors TokenVectors); };
    (@ $how:tt queue) => { $crate::store_facets!(@fn $how queue CaptureQueue); };
    (@ $how:tt uris) => { $crate::store_facets!(@fn $how uris UriIndex); };
    (@ $how:tt usage) => { $crate::store_facets!(@fn $how usage UsageLog); };
    (@ $how:tt ledger) => { $crate::store_facets!(@fn $how ledger Ledger); };
    (@ $how:tt vector_cache) => { $crate::store_facets!(@fn $how vector_cache VectorCache); };
    (@ $how:tt documents) => { $crate::store_facets!(@fn $how documents SharedDocuments); };
    (@ $how:tt admin) => { $crate::store_facets!(@fn $how admin StoreAdmin); };
    (@fn own $facet:ident $trait:ident) => {
        fn $facet(&self) -> &dyn $crate::store::$trait {
            self
        }
    };
    (@fn [$($inner:tt)+] $facet:ident $trait:ident) => {
        fn $facet(&self) -> &dyn $crate::store::$trait {
            self$($inner)+.$facet()
        }
    };
}

/// Checks that a memory belongs to the scope of its write.
fn check_scope(write: &WriteBatch, memory: &Memory) -> Result<()> {
    if memory.scope == write.scope {
        return Ok(());
    }
    Err(Error::invalid(
        format!("memory `{}` belongs to another agent or user", memory.id),
        "write each memory under its own scope",
    ))
}

/// Checks that a change was made against the stored version and keeps the immutable fields.
fn check_next_version(stored: &Memory, memory: &Memory) -> Result<()> {
    if memory.version != stored.version + 1 {
        return Err(Error::Conflict { what: format!("memory `{}`", memory.id) });
    }
    let same = stored.uri == memory.uri
        && stored.source.session == memory.source.session
        && (stored.kind == Kind::Turn) == (memory.kind == Kind::Turn);
    if same {
        return Ok(());
    }
    Err(Error::invalid(
        format!(
            "memory `{}` cannot change its uri, its session or whether it is a turn",
            memory.id
        ),
        "store a new memory instead",
    ))
}

/// Returns `true` if the index entries of both versions differ.
fn index_differs(old: &Memory, new: &Memory) -> bool {
    (old.kind, old.status, old.at) != (new.kind, new.status, new.at)
        || old.content != new.content
        || old.name != new.name
        || old.description != new.description
        || old.tags != new.tags
        || old.source.speaker != new.source.speaker
        || old.source.turns != new.source.turns
        || old.metadata.get(SLOT_KEY) != new.metadata.get(SLOT_KEY)
        || !error_keys(&old.metadata).eq(error_keys(&new.metadata))
}

/// Builds the error for adding a memory whose id or uri is in use.
fn uri_conflict(memory: &Memory) -> Error {
    Error::Conflict { what: format!("`{}`", memory.uri) }
}
