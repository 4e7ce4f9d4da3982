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
    store::{RamStore, Store},
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

    // To change a facet, implement its trait and list it as `own: memories;` before these.
    everlore::store_facets! {
        by [.inner]: memories, index, journal, vectors, token_vectors, queue, uris, usage, ledger,
            vector_cache, documents, admin
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
