//! The index facet on SQLite: segments for a query, similarities, checks and rebuilding.
//!
//! Data that can change is read at one moment; blocks never change, so two threads may read those of a large scope.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    ScopeDb, SqliteStore,
    block_tables::{BlockHalf, all_exist, snapshots},
    index::tail,
    integrity, vectors,
};
use crate::{
    error::Result,
    store::{
        SearchIndex, Segment,
        index::{
            assemble::{
                BlockSnapshot, IndexSnapshot, PostingsRequest, block_segments, halves, with_tail,
            },
            block_cache::BlockCache,
        },
    },
    text::terms::TermHash,
    types::{EmbeddingModelId, Scope, Vector},
};

/// Documents that are worth a second thread: reading them takes several times as long as opening the file once more.
const PARALLEL_DOCS: usize = 40_000;

/// Outcome of the first reader.
enum FirstRead {
    Done(Vec<Segment>),
    /// There is enough to read for two threads.
    Large(Box<IndexSnapshot>),
}

impl Default for FirstRead {
    fn default() -> Self {
        Self::Done(Vec::new())
    }
}

#[async_trait]
impl SearchIndex for SqliteStore {
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        let request = PostingsRequest { terms: terms.to_vec(), model: model.cloned() };
        self.read_segments(scope, Arc::new(request)).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        blocks: &[i64],
        query: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let score = |half: BlockHalf| {
            let (scope, blocks, query) = (scope.clone(), blocks.to_vec(), query.clone());
            self.pool.read_large(move |db| match ScopeDb::find(db, &scope)? {
                Some(db) => vectors::similarities(db, &blocks, &query, half),
                None => Ok(None),
            })
        };
        // Two threads share every block: the caller waits for the answer.
        let (first, second) = tokio::try_join!(score(BlockHalf::First), score(BlockHalf::Second))?;
        let whole = |(first, second): (Vec<f32>, Vec<f32>)| [first, second].concat();
        let halves = first.zip(second);
        Ok(halves.map(|(first, second)| first.into_iter().zip(second).map(whole).collect()))
    }

    async fn inconsistencies(&self, scope: &Scope) -> Result<Vec<String>> {
        self.read(scope, integrity::inconsistencies).await
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        self.write(scope, integrity::reindex).await
    }

    async fn stale_scopes(&self) -> Result<Vec<Scope>> {
        self.pool.read(integrity::stale_scopes).await
    }
}

impl SqliteStore {
    async fn read_segments(
        &self,
        scope: &Scope,
        request: Arc<PostingsRequest>,
    ) -> Result<Vec<Segment>> {
        let first = {
            let (request, cache) = (Arc::clone(&request), Arc::clone(&self.block_cache));
            self.read(scope, move |db| read_first(db, &request, &cache))
        };
        let snapshot = match first.await? {
            FirstRead::Done(segments) => return Ok(segments),
            FirstRead::Large(snapshot) => snapshot,
        };
        if let Some(segments) = self.read_in_parallel(&request, *snapshot).await? {
            return Ok(segments);
        }
        // Blocks were merged in between: one reader reads them all at one moment.
        let cache = Arc::clone(&self.block_cache);
        let read = move |db: ScopeDb<'_>| {
            index_snapshot(db, &request, &cache)?.segments(&*db, &request, &cache)
        };
        self.read(scope, read).await
    }

    /// Reads the blocks with two threads; `None` if one of them is no longer there.
    async fn read_in_parallel(
        &self,
        request: &Arc<PostingsRequest>,
        IndexSnapshot { blocks, tail, model }: IndexSnapshot,
    ) -> Result<Option<Vec<Segment>>> {
        let read = |part: Vec<(usize, BlockSnapshot)>| {
            let (request, cache) = (Arc::clone(request), Arc::clone(&self.block_cache));
            self.pool.read_large(move |db| {
                let (positions, blocks): (Vec<usize>, Vec<_>) = part.into_iter().unzip();
                if !all_exist(db, &blocks)? {
                    return Ok(None);
                }
                let segments = block_segments(db, &blocks, &request, model, &cache)?;
                Ok(Some(positions.into_iter().zip(segments).collect::<Vec<_>>()))
            })
        };
        let [one, other] = halves(blocks);
        let (one, other) = tokio::try_join!(read(one), read(other))?;
        let (Some(one), Some(other)) = (one, other) else { return Ok(None) };
        let mut all = [one, other].concat();
        all.sort_by_key(|(position, _)| *position);
        let blocks = all.into_iter().map(|(_, segment)| segment).collect();
        Ok(Some(with_tail(blocks, &tail, request, model)))
    }
}

/// Reads everything, unless there is enough for two threads.
fn read_first(db: ScopeDb<'_>, request: &PostingsRequest, cache: &BlockCache) -> Result<FirstRead> {
    let snapshot = index_snapshot(db, request, cache)?;
    if snapshot.uncached_docs(cache) >= PARALLEL_DOCS {
        return Ok(FirstRead::Large(Box::new(snapshot)));
    }
    snapshot.segments(&*db, request, cache).map(FirstRead::Done)
}

fn index_snapshot(
    db: ScopeDb<'_>,
    request: &PostingsRequest,
    cache: &BlockCache,
) -> Result<IndexSnapshot> {
    let in_use = vectors::current_model(&db)?;
    let in_use = in_use.filter(|(_, model)| Some(model) == request.model.as_ref());
    Ok(IndexSnapshot::new(snapshots(db)?, tail(db)?, in_use, cache))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    use crate::{
        Engine, Turn,
        llm::BuiltinEmbedder,
        store::index::{
            SegmentVectors,
            assemble::{LARGE_DOCS, VectorRequest},
        },
    };

    /// Fills a store with blocks of several sizes, deleted documents, vectors and a tail.
    async fn filled() -> (Arc<SqliteStore>, Scope, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        let store = Arc::new(SqliteStore::open(path).await.unwrap());
        let engine =
            Engine::builder(store.clone()).embedder(Arc::new(BuiltinEmbedder::new())).build();
        let scope = Scope::default();
        for count in [300, 70, 200, 5] {
            let turn = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
            let stored = engine.observe(&scope, (0..count).map(turn).collect()).await.unwrap();
            engine.delete(&scope, stored[3].id).await.unwrap();
        }
        (store, scope, folder)
    }

    fn postings_request() -> PostingsRequest {
        let terms = ["tea", "7", "茶"].map(TermHash::of).to_vec();
        PostingsRequest {
            terms,
            model: Some(crate::llm::Embedder::model(&BuiltinEmbedder::new()).clone()),
        }
    }

    async fn snapshot(store: &SqliteStore, scope: &Scope) -> IndexSnapshot {
        let read = |db: ScopeDb<'_>| {
            index_snapshot(db, &postings_request(), &BlockCache::default()).map(Some)
        };
        store.read(scope, read).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn two_threads_read_what_one_reads() {
        let (store, scope, _folder) = filled().await;
        let whole = store.read_segments(&scope, Arc::new(postings_request())).await.unwrap();
        assert!(whole.len() > 2 && whole.iter().any(|segment| !segment.docs.deleted().is_empty()));
        let taken = snapshot(&store, &scope).await;
        let fresh = SqliteStore::open(store.path()).await.unwrap();
        let shared = fresh.read_in_parallel(&Arc::new(postings_request()), taken).await.unwrap();
        assert_eq!(shared, Some(whole));
    }

    #[tokio::test]
    async fn blocks_that_were_merged_meanwhile_are_not_answered_from() {
        let (store, scope, _folder) = filled().await;
        let taken = snapshot(&store, &scope).await;
        store.reindex(&scope).await.unwrap();
        let shared = store.read_in_parallel(&Arc::new(postings_request()), taken).await.unwrap();
        assert_eq!(shared, None);
    }

    #[tokio::test]
    async fn vectors_of_a_scope_that_does_not_fit_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("everlore.db");
        let store = Arc::new(SqliteStore::open(path).await.unwrap());
        let engine =
            Engine::builder(store.clone()).embedder(Arc::new(BuiltinEmbedder::new())).build();
        let scope = Scope::default();
        let turn = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
        engine.observe(&scope, (0..LARGE_DOCS).map(turn).collect()).await.unwrap();
        let IndexSnapshot { blocks, model, .. } = snapshot(&store, &scope).await;
        let read = move |db: &rusqlite::Connection| {
            let mut loaded = Vec::new();
            for is_cacheable in [false, true] {
                let cache = BlockCache::default();
                let wanted = model.map(|model| VectorRequest { is_cacheable, ..model });
                for _ in 0..3 {
                    let request = postings_request();
                    let found = block_segments(db, &blocks[..1], &request, wanted, &cache)?;
                    loaded.push(matches!(found[0].vectors, Some(SegmentVectors::Loaded { .. })));
                }
            }
            Ok(loaded)
        };
        let loaded = store.pool.read(read).await.unwrap();
        assert_eq!(loaded, [false, false, false, false, true, true]);
    }
}
