//! What a question reads of a scope: the postings of its terms, the records, and the vectors or how similar they are.
//!
//! What can change is read at one moment; blocks never change, so that two threads may read those of a large scope.

use std::sync::Arc;

use rusqlite::Connection;

use super::{
    SqliteStore,
    block_cache::{BlockCache, CachedBlock, CachedVectors, MAX_BYTES},
    block_tables::{
        BlockHalf, BlockHeader, exists, headers, load_deleted, load_packed, load_vectors,
        term_postings,
    },
    index::tail,
    scope_number, vectors,
};
use crate::{
    error::Result,
    store::{
        Segment, SegmentVectors,
        index_entry::{IndexEntry, build_segment},
        segment::{Docs, PackedDocs, vector_bytes},
    },
    text::terms::TermHash,
    types::{EmbeddingModelId, Scope, Vector},
};

/// Documents of a block whose vectors are not read for one question: about a megabyte of them.
const LARGE_DOCS: usize = 4_096;

/// Bytes of a scope's vectors that are kept between questions: most of the cache, the rest of which is for records.
const MAX_CACHED_VECTOR_BYTES: usize = MAX_BYTES / 4 * 3;

/// Documents that are worth a second thread: reading them takes several times as long as opening the file once more.
const PARALLEL_DOCS: usize = 40_000;

/// What is asked.
pub(super) struct PostingsRequest {
    pub(super) terms: Vec<TermHash>,
    pub(super) model: Option<EmbeddingModelId>,
}

/// What can change of a scope's index, as it was at one moment.
struct IndexSnapshot {
    blocks: Vec<BlockSnapshot>,
    tail: Vec<IndexEntry>,
    /// The asked model, if it is in use.
    model: Option<VectorRequest>,
}

/// The model whose vectors are asked for.
#[derive(Clone, Copy)]
struct VectorRequest {
    number: u32,
    /// How many numbers a vector has.
    dimensions: usize,
    /// Whether those of the scope may be kept: all of them fit, so that one question does not push out what another read.
    is_cacheable: bool,
}

/// A block with the documents of it that are gone.
#[derive(Clone)]
struct BlockSnapshot {
    header: BlockHeader,
    deleted: Vec<u32>,
}

/// How far one reader came.
enum FirstRead {
    /// It is done.
    Done(Vec<Segment>),
    /// There is enough to read for two.
    Large(Box<IndexSnapshot>),
}

impl Default for FirstRead {
    fn default() -> Self {
        Self::Done(Vec::new())
    }
}

impl SqliteStore {
    /// Everything a query needs of the scope.
    pub(super) async fn read_postings(
        &self,
        scope: &Scope,
        asked: PostingsRequest,
    ) -> Result<Vec<Segment>> {
        let (asked, cache) = (Arc::new(asked), Arc::clone(&self.block_cache));
        let first = {
            let (asked, cache) = (Arc::clone(&asked), Arc::clone(&cache));
            self.read(scope, move |db, number| read_first(db, number, &asked, &cache))
        };
        let frame = match first.await? {
            FirstRead::Done(segments) => return Ok(segments),
            FirstRead::Large(frame) => frame,
        };
        if let Some(segments) = self.read_parallel(&asked, *frame).await? {
            return Ok(segments);
        }
        // Blocks were merged meanwhile.
        self.read(scope, move |db, number| {
            IndexSnapshot::read(db, number, &asked)?.segments(db, &asked, &cache)
        })
        .await
    }

    /// Reads the blocks with two threads; none if one of them is no longer there.
    async fn read_parallel(
        &self,
        asked: &Arc<PostingsRequest>,
        IndexSnapshot { blocks, tail, model }: IndexSnapshot,
    ) -> Result<Option<Vec<Segment>>> {
        let read = |part: Vec<(usize, BlockSnapshot)>| {
            let (asked, cache) = (Arc::clone(asked), Arc::clone(&self.block_cache));
            self.pool.read_large(move |db| {
                let segment =
                    |(place, seen): &(usize, BlockSnapshot)| match exists(db, seen.header.id)? {
                        true => read_segment(db, seen, &asked, model, &cache)
                            .map(|one| Some((*place, one))),
                        false => Ok(None),
                    };
                part.iter().map(segment).collect::<Result<Option<Vec<_>>>>()
            })
        };
        let [one, other] = split_in_two(blocks);
        let (one, other) = tokio::try_join!(read(one), read(other))?;
        let (Some(one), Some(other)) = (one, other) else { return Ok(None) };
        let mut all = [one, other].concat();
        all.sort_by_key(|(place, _)| *place);
        let blocks = all.into_iter().map(|(_, segment)| segment).collect();
        Ok(Some(append_tail(blocks, &tail, asked, model)))
    }

    /// How similar the vectors of these blocks are to a question; none if one of them is no longer there.
    pub(super) async fn score_blocks(
        &self,
        scope: &Scope,
        blocks: &[i64],
        question: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let compare = |half: BlockHalf| {
            let (scope, blocks, question) = (scope.clone(), blocks.to_vec(), question.clone());
            self.pool.read_large(move |db| match scope_number(db, &scope)? {
                Some(number) => vectors::similarities(db, number, &blocks, &question, half),
                None => Ok(None),
            })
        };
        // Two threads share every block: a question that asks the store itself has somebody waiting.
        let (first, second) =
            tokio::try_join!(compare(BlockHalf::First), compare(BlockHalf::Second))?;
        let whole = |(first, second): (Vec<f32>, Vec<f32>)| [first, second].concat();
        Ok(first
            .zip(second)
            .map(|(first, second)| first.into_iter().zip(second).map(whole).collect()))
    }
}

/// Reads everything, unless there is enough for two.
fn read_first(
    db: &Connection,
    scope: i64,
    asked: &PostingsRequest,
    cache: &BlockCache,
) -> Result<FirstRead> {
    let frame = IndexSnapshot::read(db, scope, asked)?;
    match frame.uncached_docs(cache) {
        PARALLEL_DOCS.. => Ok(FirstRead::Large(Box::new(frame))),
        _ => frame.segments(db, asked, cache).map(FirstRead::Done),
    }
}

impl IndexSnapshot {
    fn read(db: &Connection, scope: i64, asked: &PostingsRequest) -> Result<Self> {
        let in_use =
            vectors::current_model(db)?.filter(|(_, model)| Some(model) == asked.model.as_ref());
        let seen = |header: BlockHeader| {
            Ok(BlockSnapshot { deleted: load_deleted(db, header.id)?, header })
        };
        let blocks = headers(db, scope)?.into_iter().map(seen).collect::<Result<Vec<_>>>()?;
        let docs: usize = blocks.iter().map(|seen| seen.header.docs).sum();
        let wanted = |(number, EmbeddingModelId { dimensions, .. })| VectorRequest {
            number,
            dimensions,
            is_cacheable: docs * vector_bytes(dimensions) <= MAX_CACHED_VECTOR_BYTES,
        };
        Ok(Self { blocks, tail: tail(db, scope)?, model: in_use.map(wanted) })
    }

    /// Documents of blocks that are to be read.
    fn uncached_docs(&self, cache: &BlockCache) -> usize {
        let unread = |seen: &&BlockSnapshot| {
            let with_slots = self
                .model
                .is_some_and(|model| model.is_cacheable && model.number == seen.header.model);
            cache.get(seen.header.id).is_none_or(|known| with_slots && !known.has_vectors())
        };
        self.blocks.iter().filter(unread).map(|seen| seen.header.docs).sum()
    }

    /// All segments, read one after the other.
    fn segments(
        self,
        db: &Connection,
        asked: &PostingsRequest,
        cache: &BlockCache,
    ) -> Result<Vec<Segment>> {
        let Self { blocks, tail, model } = self;
        let blocks = blocks.iter().map(|seen| read_segment(db, seen, asked, model, cache));
        Ok(append_tail(blocks.collect::<Result<_>>()?, &tail, asked, model))
    }
}

/// Blocks with their places, shared out so that both halves have about as many documents.
fn split_in_two(blocks: Vec<BlockSnapshot>) -> [Vec<(usize, BlockSnapshot)>; 2] {
    let mut all: Vec<_> = blocks.into_iter().enumerate().collect();
    all.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.header.docs));
    let (mut halves, mut docs) = ([Vec::new(), Vec::new()], [0, 0]);
    for (place, seen) in all {
        let lesser = usize::from(docs[1] < docs[0]);
        docs[lesser] += seen.header.docs;
        halves[lesser].push((place, seen));
    }
    halves
}

fn append_tail(
    mut segments: Vec<Segment>,
    tail: &[IndexEntry],
    asked: &PostingsRequest,
    model: Option<VectorRequest>,
) -> Vec<Segment> {
    if !tail.is_empty() {
        let model = model.map(|model| (model.number, model.dimensions));
        segments.push(build_segment(tail, &asked.terms, model));
    }
    segments
}

fn read_segment(
    db: &Connection,
    BlockSnapshot { header, deleted: gone }: &BlockSnapshot,
    asked: &PostingsRequest,
    model: Option<VectorRequest>,
    cache: &BlockCache,
) -> Result<Segment> {
    let model = model.filter(|model| header.model == model.number);
    let cached = load_cached(db, header, model, cache)?;
    let docs = Docs::shared(cached.docs, gone.clone());
    let mut postings = term_postings(db, header, &asked.terms)?;
    for list in &mut postings {
        list.retain(|posting| {
            (posting.doc as usize) < docs.len() && !docs.is_deleted(posting.doc as usize)
        });
    }
    let slots = model.map(|model| match cached.vectors {
        CachedVectors::Loaded(slots) => SegmentVectors::new(slots, model.dimensions),
        CachedVectors::NotRequested | CachedVectors::RequestedOnce => {
            SegmentVectors::Remote(header.id)
        }
    });
    Ok(Segment { docs, postings, vectors: slots })
}

/// What never changes of a block. The vectors of a large one are read when they are asked for again: a process that asks
/// one question is done sooner, and takes less memory, when it compares them where they are.
fn load_cached(
    db: &Connection,
    header: &BlockHeader,
    model: Option<VectorRequest>,
    cache: &BlockCache,
) -> Result<CachedBlock> {
    let known = cache.get(header.id);
    let held = |known: &&CachedBlock| model.is_none() || known.has_vectors();
    if let Some(known) = known.as_ref().filter(held) {
        return Ok(known.clone());
    }
    let again = matches!(&known, Some(CachedBlock { vectors: CachedVectors::RequestedOnce, .. }));
    let slots = match model {
        None => CachedVectors::NotRequested,
        Some(model) if header.docs >= LARGE_DOCS && !(again && model.is_cacheable) => {
            CachedVectors::RequestedOnce
        }
        Some(_) => CachedVectors::Loaded(Arc::new(load_vectors(db, header.id)?)),
    };
    let docs = match known {
        Some(known) => known.docs,
        None => Arc::new(PackedDocs::new(load_packed(db, header.id)?)),
    };
    let cached = CachedBlock { docs, vectors: slots };
    cache.put(header.id, cached.clone());
    Ok(cached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Turn, llm::BuiltinEmbedder, store::Store};

    /// A store with blocks of several sizes, documents that are gone, vectors and a tail.
    async fn filled() -> (Arc<SqliteStore>, Scope) {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap());
        let engine = Engine::new(store.clone()).with_embedder(Arc::new(BuiltinEmbedder::new()));
        let scope = Scope::default();
        for count in [300, 70, 200, 5] {
            let said = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
            let stored = engine.observe(&scope, (0..count).map(said).collect()).await.unwrap();
            engine.delete(&scope, stored[3].id).await.unwrap();
        }
        (store, scope)
    }

    fn postings_request() -> PostingsRequest {
        let terms = ["tea", "7", "茶"].map(TermHash::of).to_vec();
        PostingsRequest {
            terms,
            model: Some(crate::llm::Embedder::model(&BuiltinEmbedder::new()).clone()),
        }
    }

    async fn index_snapshot(store: &SqliteStore, scope: &Scope) -> IndexSnapshot {
        let read = |db: &Connection, number| {
            IndexSnapshot::read(db, number, &postings_request()).map(Some)
        };
        store.read(scope, read).await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn two_threads_read_what_one_reads() {
        let (store, scope) = filled().await;
        let whole = store.read_postings(&scope, postings_request()).await.unwrap();
        assert!(whole.len() > 2 && whole.iter().any(|segment| !segment.docs.deleted().is_empty()));
        let frame = index_snapshot(&store, &scope).await;
        let fresh = SqliteStore::open(store.path()).await.unwrap();
        let shared = fresh.read_parallel(&Arc::new(postings_request()), frame).await.unwrap();
        assert_eq!(shared, Some(whole));
    }

    #[tokio::test]
    async fn blocks_that_were_merged_meanwhile_are_not_answered_from() {
        let (store, scope) = filled().await;
        let frame = index_snapshot(&store, &scope).await;
        store.reindex(&scope).await.unwrap();
        let shared = store.read_parallel(&Arc::new(postings_request()), frame).await.unwrap();
        assert_eq!(shared, None);
    }

    #[tokio::test]
    async fn vectors_of_a_scope_that_does_not_fit_stay_where_they_are() {
        let folder = tempfile::tempdir().unwrap().keep();
        let store = Arc::new(SqliteStore::open(folder.join("everlore.db")).await.unwrap());
        let engine = Engine::new(store.clone()).with_embedder(Arc::new(BuiltinEmbedder::new()));
        let scope = Scope::default();
        let said = |n| Turn { text: format!("tea {n} 茶"), ..Turn::default() };
        engine.observe(&scope, (0..LARGE_DOCS).map(said).collect()).await.unwrap();
        let IndexSnapshot { blocks, model, .. } = index_snapshot(&store, &scope).await;
        let read = move |db: &Connection| {
            let mut held = Vec::new();
            for is_cacheable in [false, true] {
                let cache = BlockCache::default();
                let wanted = model.map(|model| VectorRequest { is_cacheable, ..model });
                for _ in 0..3 {
                    let one = read_segment(db, &blocks[0], &postings_request(), wanted, &cache)?;
                    held.push(matches!(one.vectors, Some(SegmentVectors::Loaded { .. })));
                }
            }
            Ok(held)
        };
        let held = store.pool.read(read).await.unwrap();
        assert_eq!(held, [false, false, false, false, true, true]);
    }
}
