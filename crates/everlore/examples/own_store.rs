//! A store of your own: wrap one that exists and change what you need. This one counts what an engine writes.
//!
//! `cargo run -p everlore --example own_store`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use everlore::{
    Engine, RememberRequest, Result, Scope,
    store::{
        CaptureQueue, Embeddings, Journal, Ledger, Memories, RamStore, SearchIndex,
        SharedDocuments, Store, StoreAdmin, TokenVectors, UriIndex, UsageLog, VectorCache,
    },
    types::{AppliedChange, WriteBatch},
};

/// Passes everything on and counts the changes.
#[derive(Default)]
struct CountingStore {
    inner: RamStore,
    changes: AtomicUsize,
}

#[async_trait]
impl Store for CountingStore {
    async fn apply(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let applied = self.inner.apply(write).await?;
        self.changes.fetch_add(applied.len(), Ordering::Relaxed);
        Ok(applied)
    }

    // To change a facet, implement its trait and return it here.
    fn memories(&self) -> &dyn Memories {
        self.inner.memories()
    }

    fn index(&self) -> &dyn SearchIndex {
        self.inner.index()
    }

    fn journal(&self) -> &dyn Journal {
        self.inner.journal()
    }

    fn vectors(&self) -> &dyn Embeddings {
        self.inner.vectors()
    }

    fn token_vectors(&self) -> &dyn TokenVectors {
        self.inner.token_vectors()
    }

    fn queue(&self) -> &dyn CaptureQueue {
        self.inner.queue()
    }

    fn uris(&self) -> &dyn UriIndex {
        self.inner.uris()
    }

    fn usage(&self) -> &dyn UsageLog {
        self.inner.usage()
    }

    fn ledger(&self) -> &dyn Ledger {
        self.inner.ledger()
    }

    fn vector_cache(&self) -> &dyn VectorCache {
        self.inner.vector_cache()
    }

    fn documents(&self) -> &dyn SharedDocuments {
        self.inner.documents()
    }

    fn admin(&self) -> &dyn StoreAdmin {
        self.inner.admin()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let store = Arc::new(CountingStore::default());
    let engine = Engine::builder(Arc::clone(&store) as Arc<dyn Store>).build();
    let scope = Scope::default();
    engine.remember(&scope, RememberRequest::new("every morning a cup of coffee")).await?;
    engine.remember(&scope, RememberRequest::new("我喜欢喝龙井茶")).await?;
    let found = engine.recall(&engine.recall_request(&scope, "喝什么茶？")).await?;
    println!("{}", found.hits[0].memory.content);
    println!("{} changes", store.changes.load(Ordering::Relaxed));
    Ok(())
}
