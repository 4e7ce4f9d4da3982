//! Round trips to the store: a backend over a network answers each call of a facet with a few queries, so the number of
//! calls must not grow with the memories, the blocks of the index, the words of a query or the drafts of a capture.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use everlore::{
    Engine, MemoryId, RecallRequest, Result, Scope, Turn,
    engine::ExtractRequest,
    llm::BuiltinEmbedder,
    store::{
        self, AddressQuery, CaptureFailure, CaptureQueue, ClaimRequest, DocAddress, Embeddings,
        Injection, Journal, JournalQuery, Ledger, ListOrder, ListQuery, Memories, MemoryFilter,
        MemoryKey, NewEmbedding, NewTokenVectors, PendingSession, ScopeCounts, SearchIndex,
        Segment, SessionLease, SessionSummary, SharedDocuments, Store, StoreAdmin, TermHash,
        TokenVectors, UnreadTurns, UriChild, UriIndex, UsageCounts, UsageLines, UsageLog,
        UsageRecord, UsageSelection, VectorCache,
    },
    types::{
        AppliedChange, EmbeddingModelId, Fingerprint, JournalEntry, Memory, QuarantinedDraft, Role,
        Timestamp, Vector, WriteBatch,
    },
};

use crate::support::{add, fresh_path, id, memory, noon, scope, write};

/// Sizes of writes that make blocks which are never merged: four of one level would be.
const BLOCK_SIZES: [u32; 12] =
    [4_096, 4_096, 4_096, 1_024, 1_024, 1_024, 256, 256, 256, 64, 64, 64];

/// Query of more than ten terms, half of which every memory has.
const LONG_QUERY: &str = "jasmine oolong 龙井茶 fact number 关于茶 harvest mountain water temperature \
    minutes teapot clay gaiwan roast aroma";

/// Calls of a recall: the index, the vectors that stay in the store, the rows.
const RECALL_CALLS: usize = 3;

/// Store that records the facet calls.
struct RoundTripStore {
    inner: Arc<dyn Store>,
    calls: Mutex<Vec<&'static str>>,
}

impl RoundTripStore {
    fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, calls: Mutex::default() })
    }

    fn record(&self, call: &'static str) {
        self.calls.lock().unwrap().push(call);
    }

    /// Returns the calls since the last time.
    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }
}

/// Implements a facet by recording each call and passing it on.
macro_rules! counted {
    ($facet:ident: $trait:ident {
        $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        #[async_trait]
        impl $trait for RoundTripStore {
            $(async fn $name(&self, $($arg: $type),*) -> $result {
                self.record(concat!(stringify!($facet), ".", stringify!($name)));
                self.inner.$facet().$name($($arg),*).await
            })*
        }
    };
}

counted!(memories: Memories {
    fn get(scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>>;
    fn find(scope: &Scope, keys: &[MemoryKey], limit: usize) -> Result<Vec<Vec<Memory>>>;
    fn list(scope: &Scope, page: &ListQuery) -> Result<Vec<Memory>>;
    fn by_address(scope: &Scope, addresses: &[DocAddress]) -> Result<Vec<(DocAddress, Memory)>>;
    fn read_back(scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>>;
    fn count(scope: &Scope) -> Result<ScopeCounts>;
    fn are_erased(scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>>;
    fn tombstones(scope: &Scope) -> Result<Vec<Fingerprint>>;
});

counted!(index: SearchIndex {
    fn postings(
        scope: &Scope, terms: &[TermHash], model: Option<&EmbeddingModelId>
    ) -> Result<Vec<Segment>>;
    fn similarities(
        scope: &Scope, blocks: &[i64], query: &Vector
    ) -> Result<Option<Vec<Vec<f32>>>>;
    fn inconsistencies(scope: &Scope) -> Result<Vec<String>>;
    fn reindex(scope: &Scope) -> Result<usize>;
    fn stale_scopes() -> Result<Vec<Scope>>;
});

counted!(journal: Journal {
    fn entries(scope: &Scope, query: &JournalQuery) -> Result<Vec<JournalEntry>>;
    fn newest_seq(scope: &Scope) -> Result<u64>;
    fn as_of(scope: &Scope, at: Timestamp) -> Result<Vec<Memory>>;
});

counted!(vectors: Embeddings {
    fn model() -> Result<Option<EmbeddingModelId>>;
    fn set_model(model: &EmbeddingModelId) -> Result<()>;
    fn counts() -> Result<(usize, usize)>;
    fn missing(scope: Option<&Scope>) -> Result<Vec<Memory>>;
    fn put(scope: &Scope, model: &EmbeddingModelId, new: Vec<NewEmbedding>) -> Result<()>;
});

counted!(token_vectors: TokenVectors {
    fn get(
        scope: &Scope, model: &EmbeddingModelId, addresses: &[DocAddress]
    ) -> Result<Vec<Option<Vec<u8>>>>;
    fn put(scope: &Scope, model: &EmbeddingModelId, new: Vec<NewTokenVectors>) -> Result<()>;
    fn missing(
        scope: &Scope, model: &EmbeddingModelId, after: Option<MemoryId>, limit: usize
    ) -> Result<Vec<Memory>>;
    fn counts(model: &EmbeddingModelId) -> Result<(usize, usize)>;
});

counted!(queue: CaptureQueue {
    fn claim(claim: &ClaimRequest) -> Result<Option<SessionLease>>;
    fn release(lease: &SessionLease, failure: Option<&CaptureFailure>) -> Result<()>;
    fn unread_turns(scope: &Scope, session: Option<&str>, limit: usize) -> Result<UnreadTurns>;
    fn mark_ended(scope: &Scope, session: &str, now: Timestamp) -> Result<bool>;
    fn pending(scope: Option<&Scope>) -> Result<Vec<PendingSession>>;
    fn quarantined(scope: &Scope) -> Result<Vec<QuarantinedDraft>>;
    fn drop_quarantined(scope: &Scope, ids: &[MemoryId]) -> Result<usize>;
    fn put_back(scope: &Scope, draft: &QuarantinedDraft) -> Result<()>;
});

counted!(uris: UriIndex {
    fn children(
        scope: &Scope, folder: &str, after: Option<&str>, limit: usize
    ) -> Result<Vec<UriChild>>;
    fn by_prefix(
        scope: &Scope, beginning: &str, after: Option<&str>, limit: usize
    ) -> Result<Vec<Memory>>;
    fn addresses(scope: &Scope, within: &AddressQuery) -> Result<Vec<DocAddress>>;
    fn sessions(scope: &Scope, after: Option<&str>, limit: usize) -> Result<Vec<SessionSummary>>;
    fn turns(
        scope: &Scope, session: &str, after: Option<MemoryId>, limit: usize
    ) -> Result<Vec<Memory>>;
});

counted!(usage: UsageLog {
    fn record(scope: &Scope, prompt: Injection) -> Result<()>;
    fn injected(scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>>;
    fn of_session(scope: &Scope, session: &str, lines: UsageLines) -> Result<Vec<UsageRecord>>;
    fn of_scope(scope: &Scope, lines: UsageSelection) -> Result<Vec<UsageRecord>>;
    fn set_used(scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()>;
    fn mark_weights_updated(scope: &Scope, lines: Vec<u64>) -> Result<()>;
    fn counts(scope: &Scope) -> Result<UsageCounts>;
    fn prune(scope: &Scope, before: Timestamp) -> Result<usize>;
});

#[async_trait]
impl Store for RoundTripStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        self.record("apply");
        self.inner.apply(write).await
    }

    everlore::store_facets! { own: memories, index, journal, vectors, token_vectors, queue, uris, usage }

    fn ledger(&self) -> &dyn Ledger {
        self.record("ledger");
        self.inner.ledger()
    }

    fn vector_cache(&self) -> &dyn VectorCache {
        self.record("vector_cache");
        self.inner.vector_cache()
    }

    fn documents(&self) -> &dyn SharedDocuments {
        self.record("documents");
        self.inner.documents()
    }

    fn admin(&self) -> &dyn StoreAdmin {
        self.record("admin");
        self.inner.admin()
    }
}

/// Opens a file anew, as another process would, on a store that records its calls.
async fn fresh_process(path: &std::path::Path) -> (Arc<RoundTripStore>, Engine) {
    let store = RoundTripStore::new(store::open(path).await.unwrap());
    let embedder = Arc::new(BuiltinEmbedder::new());
    (Arc::clone(&store), Engine::builder(store).embedder(embedder).clock(noon).build())
}

#[tokio::test]
async fn a_first_recall_takes_as_many_calls_on_many_blocks_as_on_one() {
    let (path, large, small) = (fresh_path(), scope("large"), scope("small"));
    let (_, engine) = fresh_process(&path).await;
    let mut number = 0;
    for size in BLOCK_SIZES {
        let mut fact = || {
            number += 1;
            add(&memory(&large, number, &format!("fact number {number} 关于茶 jasmine")))
        };
        let changes = (0..size).map(|_| fact()).collect();
        everlore::internal::store_of(&engine).apply(write(&large, changes)).await.unwrap();
    }
    engine.remember(&small, crate::support::say("jasmine tea")).await.unwrap();
    engine.admin().close().await;

    let (store, _) = fresh_process(&path).await;
    let blocks = store.inner.index().postings(&large, &[], None).await.unwrap().len();
    assert!(blocks >= BLOCK_SIZES.len(), "{blocks} blocks");
    let mut counted = Vec::new();
    for (owner, query) in [(&large, LONG_QUERY), (&large, "jasmine"), (&small, LONG_QUERY)] {
        let (store, engine) = fresh_process(&path).await;
        let found = engine.recall(&engine.recall_request(owner, query)).await.unwrap();
        assert!(!found.hits.is_empty(), "{query}");
        counted.push(store.take());
    }
    let [long, short, few] = &counted[..] else { panic!() };
    assert!(long.len() <= RECALL_CALLS, "{} calls over {blocks} blocks: {long:?}", long.len());
    assert_eq!(long, short, "more words, the same calls");
    assert!(few.len() <= long.len(), "{few:?} on one block, {long:?} on {blocks}");

    let (store, engine) = fresh_process(&path).await;
    let request = engine.context_request(&large, LONG_QUERY);
    let request = RecallRequest { min_confidence: 0.0, ..request };
    let block = engine.context(&request, 2_000).await.unwrap();
    let calls = store.take();
    assert!(calls.len() <= RECALL_CALLS, "{} calls of a context block: {calls:?}", calls.len());
    assert!(!block.text.is_empty());
}

#[tokio::test]
async fn a_list_is_one_call_and_so_are_its_short_ids() {
    let (path, owner) = (fresh_path(), scope("ann"));
    let (store, engine) = fresh_process(&path).await;
    let facts = (1..=200).map(|number| add(&memory(&owner, number, &format!("fact {number}"))));
    store.apply(write(&owner, facts.collect())).await.unwrap();
    store.take();
    let page = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::NewestFirst,
        limit: 100,
    };
    let listed = engine.list(&owner, &page).await.unwrap();
    assert_eq!(store.take(), ["memories.list"]);
    let ids: Vec<_> = listed.iter().map(|memory| memory.id).collect();
    let short = engine.shorten_ids(&owner, &ids).await.unwrap();
    assert_eq!(store.take(), ["memories.find"], "{} ids", ids.len());
    assert_eq!(short[0], "000000c8", "the eight digits that tell 200 from the rest");
    assert_eq!(engine.resolve(&owner, &short[0]).await.unwrap(), id(200));
}

/// Captures sentences, one a turn, by rules and returns the calls of the capture.
async fn capture(sentences: &[&str]) -> Vec<&'static str> {
    let owner = scope("ann");
    let (store, engine) = fresh_process(&fresh_path()).await;
    let turn = |text: &&str| Turn {
        text: (*text).to_owned(),
        session: Some("s".into()),
        role: Some(Role::User),
        ..Turn::default()
    };
    engine.observe(&owner, sentences.iter().map(turn).collect()).await.unwrap();
    store.take();
    let reports = engine.extract(&owner, &ExtractRequest::default()).await.unwrap();
    assert_eq!(reports[0].drafts.len(), sentences.len(), "{reports:?}");
    store.take()
}

#[tokio::test]
async fn a_capture_reads_the_index_once_for_all_drafts() {
    let one = capture(&["我住在上海。"]).await;
    let many = capture(&[
        "我住在上海。",
        "我对花生过敏。",
        "我的狗叫小黑。",
        "My name is Anna.",
        "I work as a nurse.",
    ])
    .await;
    let count = |calls: &[&str], name: &str| calls.iter().filter(|call| **call == name).count();
    for name in ["index.postings", "memories.by_address", "memories.are_erased", "apply"] {
        assert_eq!(count(&many, name), count(&one, name), "{name}: {many:?} and {one:?}");
    }
    // Each new memory looks for a free uri; the next one has to know of it.
    assert!(many.len() <= one.len() + 4, "{} calls: {many:?}; {one:?}", many.len());
}
