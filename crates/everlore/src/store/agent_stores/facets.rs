//! Facets whose calls go to the database of their agent.

use async_trait::async_trait;

use super::{AgentStores, routed};
use crate::{
    error::Result,
    store::{
        AddressQuery, DocAddress, Injection, Journal, JournalQuery, ListQuery, Memories, MemoryKey,
        ScopeCounts, SearchIndex, Segment, SessionSummary, UriChild, UriIndex, UsageCounts,
        UsageLines, UsageLog, UsageRecord, UsageSelection, VectorCache, VectorCacheStatus,
        VectorInsert, VectorLookup,
    },
    text::terms::TermHash,
    types::{
        EmbeddingModelId, Fingerprint, JournalEntry, Memory, MemoryId, Scope, Timestamp, Vector,
    },
};

/// Implements a facet: methods with a scope go to the store of its agent, those behind `joined` are given.
macro_rules! routed_facet {
    ($facet:ident: $trait:ident $(
        fn $name:ident($scope:ident $(, $arg:ident: $type:ty)*) -> $result:ty;
    )* $(joined { $($joined:tt)* })?) => {
        #[async_trait]
        impl $trait for AgentStores {
            $(async fn $name(&self, $scope: &Scope $(, $arg: $type)*) -> Result<$result> {
                routed!(self, $scope.agent(), store => {
                    store.$facet().$name($scope $(, Clone::clone(&$arg))*)
                })
            })*
            $($($joined)*)?
        }
    };
}
pub(super) use routed_facet;

routed_facet! { memories: Memories
    fn get(scope, ids: &[MemoryId]) -> Vec<Option<Memory>>;
    fn find(scope, keys: &[MemoryKey], limit: usize) -> Vec<Vec<Memory>>;
    fn list(scope, page: &ListQuery) -> Vec<Memory>;
    fn by_address(scope, addresses: &[DocAddress]) -> Vec<(DocAddress, Memory)>;
    fn read_back(scope, ids: &[MemoryId]) -> Vec<bool>;
    fn count(scope) -> ScopeCounts;
    fn are_erased(scope, texts: &[Fingerprint]) -> Vec<bool>;
    fn tombstones(scope) -> Vec<Fingerprint>;
}

routed_facet! { index: SearchIndex
    fn postings(scope, terms: &[TermHash], model: Option<&EmbeddingModelId>) -> Vec<Segment>;
    fn similarities(scope, blocks: &[i64], query: &Vector) -> Option<Vec<Vec<f32>>>;
    fn inconsistencies(scope) -> Vec<String>;
    fn reindex(scope) -> usize;
    joined {
        async fn stale_scopes(&self) -> Result<Vec<Scope>> {
            self.join_scopes(|store| Box::pin(store.index().stale_scopes())).await
        }
    }
}

routed_facet! { journal: Journal
    fn entries(scope, query: &JournalQuery) -> Vec<JournalEntry>;
    fn newest_seq(scope) -> u64;
    fn as_of(scope, at: Timestamp) -> Vec<Memory>;
}

routed_facet! { uris: UriIndex
    fn children(scope, folder: &str, after: Option<&str>, limit: usize) -> Vec<UriChild>;
    fn by_prefix(scope, beginning: &str, after: Option<&str>, limit: usize) -> Vec<Memory>;
    fn addresses(scope, within: &AddressQuery) -> Vec<DocAddress>;
    fn sessions(scope, after: Option<&str>, limit: usize) -> Vec<SessionSummary>;
    fn turns(scope, session: &str, after: Option<MemoryId>, limit: usize) -> Vec<Memory>;
}

routed_facet! { usage: UsageLog
    fn record(scope, prompt: Injection) -> ();
    fn injected(scope, session: &str) -> Vec<(MemoryId, Vec<u8>)>;
    fn of_session(scope, session: &str, lines: UsageLines) -> Vec<UsageRecord>;
    fn of_scope(scope, lines: UsageSelection) -> Vec<UsageRecord>;
    fn set_used(scope, verdicts: Vec<(u64, bool)>) -> ();
    fn mark_weights_updated(scope, lines: Vec<u64>) -> ();
    fn counts(scope) -> UsageCounts;
    fn prune(scope, before: Timestamp) -> usize;
}

routed_facet! { vector_cache: VectorCache
    fn lookup(scope, request: &VectorLookup) -> Vec<Option<Vector>>;
    fn insert(scope, batch: VectorInsert) -> ();
    joined {
        async fn status(&self) -> Result<VectorCacheStatus> {
            let mut sum = self.home.vector_cache().status().await?;
            for store in self.own_stores().await {
                let VectorCacheStatus { entries, hits, misses } =
                    store.vector_cache().status().await?;
                sum.entries += entries;
                sum.hits += hits;
                sum.misses += misses;
            }
            Ok(sum)
        }
    }
}
