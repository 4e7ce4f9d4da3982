//! Where memories are kept: one interface, several backends, one suite that all of them pass.
//!
//! A store keeps rows, index and journal together and returns candidates; it never ranks.

mod doc_address;
mod index_entry;
mod segment;
mod index_block;
mod vector_cache;
pub mod usage;
pub mod ledger;
mod capture_queue;
mod uri_index;
mod ram;
pub mod sqlite;
pub mod directory;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod usage_ledger_conformance;
#[cfg(test)]
mod capture_queue_conformance;
#[cfg(test)]
mod uri_index_conformance;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use capture_queue::{
    CaptureFailure, CaptureQueue, ClaimRequest, DuePolicy, PendingSession, SessionLease,
    UnreadTurns,
};
pub use directory::DirectoryStore;
pub use doc_address::DocAddress;
pub use index_entry::{slot_term, source_turn_term};
pub use ledger::{Ledger, LedgerEntry, ModelSpend};
pub use ram::RamStore;
#[cfg(test)]
pub(crate) use segment::DocRecord;
pub use segment::{Docs, FIELD_COUNT, IndexField, Posting, Segment, SegmentVectors};
pub use sqlite::SqliteStore;
pub use uri_index::{AddressQuery, SessionSummary, UriChild, UriIndex};
pub use usage::{InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLog, UsageRecord};
pub use vector_cache::{VectorCache, VectorCacheStatus, VectorInsert, VectorLookup};

use crate::{
    error::{Error, Result},
    text::terms::TermHash,
    types::{
        AppliedChange, EmbeddingModelId, Fingerprint, JournalEntry, Kind, Memory, MemoryId,
        SLOT_KEY, Scope, Status, Timestamp, Vector, WriteBatch,
    },
};

/// Keeps the memories of many scopes.
///
/// Every method is confined to the [`Scope`] it is given: nothing outside it is read, returned, counted or changed,
/// whatever ids it is asked for.
#[async_trait]
pub trait Store: CaptureQueue + UriIndex + Send + Sync {
    /// Applies all changes or none. When it returns, they survive a power cut and are found by every reader.
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>>;

    /// The memories with these ids, in this order; `None` where the scope has none.
    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>>;

    /// The memories a key fits, oldest first, at most `limit`.
    async fn find(&self, scope: &Scope, key: &MemoryKey, limit: usize) -> Result<Vec<Memory>>;

    /// The memories a filter lets through, in the order asked for.
    async fn list(&self, scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>>;

    /// What the index knows of all memories of the scope, with the postings of `terms`, which stand in each segment in
    /// the order of `terms`, and with the vectors of `model` where a segment has them.
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>>;

    /// How similar the vectors of segments that are [`SegmentVectors::Stored`] under these numbers are to a question, in the order
    /// of each segment's documents; none if a segment was merged into another since it was read. A store that hands out
    /// all vectors is never asked.
    async fn similarities(
        &self,
        _scope: &Scope,
        _segments: &[i64],
        _question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        Ok(None)
    }

    /// The model whose vectors are kept, if any were ever stored.
    async fn embedding_model(&self) -> Result<Option<EmbeddingModelId>>;

    /// From now on keeps the vectors of this model; those of others are no longer returned and wait to be made anew.
    async fn set_embedding_model(&self, model: &EmbeddingModelId) -> Result<()>;

    /// How many memories of all scopes have a vector of the model in use, and how many have none.
    async fn embedding_counts(&self) -> Result<(usize, usize)>;

    /// Some memories of one scope, of this one if it is given, whose vectors of the model in use are still to be made;
    /// empty when all are made.
    async fn missing_embeddings(&self, scope: Option<&Scope>) -> Result<Vec<Memory>>;

    /// Adds vectors made for memories that [`Store::unembedded`] returned. Those that changed meanwhile are left for the
    /// next time.
    async fn put_embeddings(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewEmbedding>,
    ) -> Result<()>;

    /// What a reranking model made of the words of the texts at these places, in this order; `None` where it has not read
    /// the text as it is now.
    async fn token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        places: &[DocAddress],
    ) -> Result<Vec<Option<Vec<u8>>>>;

    /// Keeps what a model made of texts; those that changed meanwhile are left out. There is room for one model: what
    /// another one made is removed. What is made of a text goes with it.
    async fn put_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        made: Vec<NewTokenVectors>,
    ) -> Result<()>;

    /// The first memories of the scope after one, in the order in which they were stored, that this model has not read.
    async fn missing_token_vectors(
        &self,
        scope: &Scope,
        model: &EmbeddingModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>>;

    /// How many memories of all scopes this model has read, and how many it has not.
    async fn token_vector_counts(&self, model: &EmbeddingModelId) -> Result<(usize, usize)>;

    /// The memories at these places of the index, in this order; places that are gone are left out.
    async fn by_address(
        &self,
        scope: &Scope,
        places: &[DocAddress],
    ) -> Result<Vec<(DocAddress, Memory)>>;

    /// Whether each of these memories can be read back and be found through the index.
    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>>;

    /// The journal of the scope, newest first.
    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>>;

    /// Every memory as it was at the end of that moment, oldest first.
    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>>;

    /// Whether each of these texts was erased from the scope.
    async fn are_erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>>;

    /// Every erased text of the scope.
    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>>;

    /// How many memories the scope has, by kind and status.
    async fn count(&self, scope: &Scope) -> Result<ScopeCounts>;

    /// Every scope that ever stored something. For the owner of the store, not for an agent.
    async fn scopes(&self) -> Result<Vec<Scope>>;

    /// Compares the rows of the scope with its index and journal, and says what does not agree.
    async fn check(&self, scope: &Scope) -> Result<Vec<String>>;

    /// Builds the index of the scope again from its rows and returns how many memories it holds.
    async fn reindex(&self, scope: &Scope) -> Result<usize>;

    /// What was put into prompts, and whether it was used.
    fn usage(&self) -> &dyn UsageLog;

    /// What background work costs, and when it was last done.
    fn ledger(&self) -> &dyn Ledger;

    /// Gives space that is no longer needed back, if it is worth the while, and returns how many bytes.
    async fn compact(&self) -> Result<u64>;

    /// Waits for work under way and lets go of files and connections. Later calls fail.
    async fn close(&self);
}

/// A vector made for a memory at one of its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEmbedding {
    /// The memory.
    pub id: MemoryId,
    /// The version whose text was given to the model.
    pub version: u32,
    /// What the model made of it.
    pub vector: Vector,
}

/// What a reranking model made of the words of a memory at one of its versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTokenVectors {
    /// The memory.
    pub id: MemoryId,
    /// The version whose text was given to the model.
    pub version: u32,
    /// The vectors of its words, in a form that only the model knows.
    pub token_vectors: Vec<u8>,
}

/// How many memories [`Store::unembedded`] returns at least, if there are so many: enough to be worth a call of a model.
const EMBED_BATCH: usize = 512;

/// An exact key of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryKey {
    /// The first hexadecimal digits of an id, hyphens left out.
    IdPrefix(String),
    /// A uri. Turns are not found by it: theirs ends with their id.
    Uri(String),
    /// A text, among memories that are not turns.
    Text(Fingerprint),
}

/// Which memories are meant. An empty list means any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct MemoryFilter {
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// With one of these statuses.
    pub statuses: Vec<Status>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// Said at or after this moment.
    pub since: Option<Timestamp>,
    /// Said before this moment.
    pub until: Option<Timestamp>,
    /// Of this conversation.
    pub session: Option<String>,
    /// Turns only if they were said before this moment: a conversation need not be told what it still sees.
    pub turns_until: Option<Timestamp>,
}

impl MemoryFilter {
    /// Whether a memory is meant.
    pub fn matches(&self, memory: &Memory) -> bool {
        self.matches_doc(memory.kind, memory.status, || memory.at)
            && self.tags.iter().all(|tag| memory.tags.contains(tag))
            && self
                .session
                .as_ref()
                .is_none_or(|session| memory.source.session.as_ref() == Some(session))
    }

    /// The terms that every memory meant has: with them and [`MemoryFilter::lets_through`] the index alone can answer.
    pub fn required_terms(&self) -> Vec<TermHash> {
        let tags = self.tags.iter().map(|tag| index_entry::keyword_term("tag", tag));
        tags.chain(self.session.iter().map(|session| index_entry::keyword_term("session", session)))
            .collect()
    }

    /// The part of [`MemoryFilter::matches`] that a record of the index can answer. The time is only asked for where it matters.
    pub fn matches_doc(&self, kind: Kind, status: Status, at: impl Fn() -> Timestamp) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.statuses.is_empty() || self.statuses.contains(&status))
            && self.since.is_none_or(|since| at() >= since)
            && self.until.is_none_or(|until| at() < until)
            && (kind != Kind::Turn || self.turns_until.is_none_or(|until| at() < until))
    }

    /// The same filter for memories that were all said from the first of these moments to the second: it asks for no time
    /// where all of them are in it.
    pub fn within_span(&self, first: Timestamp, last: Timestamp) -> Self {
        Self {
            since: self.since.filter(|since| first < *since),
            until: self.until.filter(|until| last >= *until),
            turns_until: self.turns_until.filter(|until| last >= *until),
            ..self.clone()
        }
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    /// Which memories.
    pub filter: MemoryFilter,
    /// Where the last page ended: only memories after this one in the order.
    pub after: Option<MemoryId>,
    /// In which order.
    pub order: ListOrder,
    /// The most to return.
    pub limit: usize,
}

/// The order of a list, by when memories were stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListOrder {
    /// The newest first.
    #[default]
    NewestFirst,
    /// The oldest first.
    OldestFirst,
}

/// Which lines of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalQuery {
    /// Of this memory.
    pub id: Option<MemoryId>,
    /// Of this run.
    pub run: Option<String>,
    /// Only this line.
    pub seq: Option<u64>,
    /// Only lines before this one.
    pub before: Option<u64>,
    /// The most to return; none for all.
    pub limit: Option<usize>,
}

/// How many memories a scope has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ScopeCounts {
    /// By kind and status; only those that occur.
    pub memories: Vec<(Kind, Status, usize)>,
    /// Lines of the journal.
    pub changes: usize,
    /// Texts that were erased.
    pub tombstones: usize,
}

/// A memory is written only under the scope it says it belongs to.
fn check_scope(write: &WriteBatch, memory: &Memory) -> Result<()> {
    if memory.scope == write.scope {
        return Ok(());
    }
    Err(Error::invalid(
        format!("memory `{}` belongs to another agent or user", memory.id),
        "write each memory under its own scope",
    ))
}

/// A change must be made against the stored version and keep what never changes.
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

/// Whether the index would keep something else of the new memory than of the old.
fn index_differs(old: &Memory, new: &Memory) -> bool {
    (old.kind, old.status, old.at) != (new.kind, new.status, new.at)
        || old.content != new.content
        || old.name != new.name
        || old.description != new.description
        || old.tags != new.tags
        || old.source.speaker != new.source.speaker
        || old.source.turns != new.source.turns
        || old.metadata.get(SLOT_KEY) != new.metadata.get(SLOT_KEY)
}

/// The answer to adding a memory whose id or uri is in use.
fn uri_conflict(memory: &Memory) -> Error {
    Error::Conflict { what: format!("`{}`", memory.uri) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moment() -> impl Strategy<Value = Timestamp> {
        (0..9i64).prop_map(|second| Timestamp::from_second(second).unwrap())
    }

    fn filter() -> impl Strategy<Value = MemoryFilter> {
        let moment = || proptest::option::of(moment());
        (moment(), moment(), moment()).prop_map(|(since, until, turns_until)| MemoryFilter {
            since,
            until,
            turns_until,
            ..MemoryFilter::default()
        })
    }

    proptest! {
        #[test]
        fn a_filter_for_a_stretch_of_time_is_the_same_within_it(filter in filter(), mut times in proptest::collection::vec(moment(), 3)) {
            times.sort();
            let between = filter.within_span(times[0], times[2]);
            for (at, kind) in times.iter().flat_map(|at| [(*at, Kind::Turn), (*at, Kind::User)]) {
                let passes = |filter: &MemoryFilter| filter.matches_doc(kind, Status::Active, || at);
                prop_assert_eq!(passes(&between), passes(&filter));
            }
        }
    }
}
