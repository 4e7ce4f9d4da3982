//! The index facet: segments for a query, similarities, checks and rebuilding.
//!
//! A query takes one round trip, which is one snapshot: what can change (block headers, deleted documents, the tail), and
//! the postings of its terms in the blocks that the scope had when it was last read. If the scope has others, or the block
//! cache lacks something, a second one reads all of it. The cache is keyed by ids that are never used again, so nothing
//! that a query returns is older than the beginning of its last round trip.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;

use super::{
    ServerStore,
    block_tables::{
        ScopeBlock, read_blocks, read_joined, read_postings, read_rows, read_tail, select_blocks,
        select_model, select_parts, select_rows, select_tail,
    },
    driver::{SqlError, SqlErrorKind},
    integrity, models,
    scope_row::ScopeKey,
    sql::{SqlRow, Statement, list, sql},
    tables::{BLOCK_DOCS, BLOCK_VECTORS},
    transaction::{RetryRule, retried},
};
use crate::{
    error::{Error, Result},
    store::{
        Posting, SearchIndex, Segment,
        index::{
            assemble::{
                BlockFetch, BlockHeader, FetchedBlocks, IndexSnapshot, PostingsRequest, with_tail,
            },
            block_cache::{BlockCache, CachedBlock},
            segment::similarities as score_vectors,
        },
    },
    text::terms::TermHash,
    types::{EmbeddingModelId, Scope, Vector},
};

#[async_trait]
impl SearchIndex for ServerStore {
    async fn postings(
        &self,
        scope: &Scope,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Result<Vec<Segment>> {
        let request = PostingsRequest { terms: terms.to_vec(), model: model.cloned() };
        self.segments(scope, &request).await
    }

    async fn similarities(
        &self,
        scope: &Scope,
        blocks: &[i64],
        query: &Vector,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let key = ScopeKey::of(scope);
        let text = "SELECT count(*) FROM blocks WHERE scope = ? AND block IN ?";
        let there = sql!(text, key, list(blocks.iter().copied()));
        let vectors = select_rows(&BLOCK_VECTORS, key, blocks);
        let [there, vectors] = self.db.read([there, vectors]).await?;
        if super::database::number(there)? as usize != blocks.len() {
            return Ok(None);
        }
        let vectors = read_rows(vectors)?;
        let score = |block: &i64| {
            let rows = vectors.get(block).into_iter().flatten();
            rows.flat_map(|row| score_vectors(row, query)).collect()
        };
        Ok(Some(blocks.iter().map(score).collect()))
    }

    async fn inconsistencies(&self, scope: &Scope) -> Result<Vec<String>> {
        retried(RetryRule::Idempotent, || integrity::inconsistencies(&self.db, scope)).await
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        retried(RetryRule::Idempotent, || integrity::reindex(&self.db, scope)).await
    }

    async fn stale_scopes(&self) -> Result<Vec<Scope>> {
        integrity::stale_scopes(&self.db).await
    }
}

/// Reads of an index after which one fails because each found other blocks than the one before.
const MAX_READS: usize = 5;

impl ServerStore {
    /// Returns the segments of a scope for a query.
    pub(super) async fn segments(
        &self,
        scope: &Scope,
        request: &PostingsRequest,
    ) -> Result<Vec<Segment>> {
        let key = ScopeKey::of(scope);
        let cache = self.block_cache.of_scope(key.to_bits());
        self.db
            .retried(RetryRule::Idempotent, || async {
                let mut wanted = WantedBlocks::known(self.known_blocks.of_scope(key));
                for _ in 0..MAX_READS {
                    let read = self.read_index(key, request, &wanted, &cache).await?;
                    match read {
                        IndexRead::Complete(segments) => return Ok(segments),
                        IndexRead::Lacking(lacking) => wanted = lacking,
                    }
                }
                let message = "the index was merged during each of several reads";
                Err(SqlError::new(SqlErrorKind::TryAgain, message).into())
            })
            .await
    }

    /// Reads an index with the wanted parts of its blocks, in one round trip.
    async fn read_index(
        &self,
        key: ScopeKey,
        request: &PostingsRequest,
        wanted: &WantedBlocks,
        cache: &BlockCache,
    ) -> Result<IndexRead> {
        let statements = wanted.statements(key, &request.terms);
        let results = self.db.snapshot().await?.commit(statements).await?;
        let mut results = results.into_iter().map(|result| result.rows);
        let snapshot = read_snapshot(&mut results, request.model.as_ref(), cache)?;
        let fetch = BlockFetch::with_held(&snapshot.blocks, snapshot.model, cache, &wanted.held);
        let headers: Vec<BlockHeader> =
            snapshot.blocks.iter().map(|block| block.header.clone()).collect();
        if !wanted.has_blocks(&headers) {
            self.known_blocks.put(key, headers.as_slice().into());
        }
        let (docs, vectors) = (fetch.docs(), fetch.vectors());
        if !wanted.covers(&headers, &docs, &vectors) {
            let (headers, held) = (headers.into(), fetch.into_held());
            return Ok(IndexRead::Lacking(WantedBlocks { headers, docs, vectors, held }));
        }
        let fetched = wanted.read(&mut results, &headers, &request.terms)?;
        let segments = fetch.segments(fetched, cache)?;
        Ok(IndexRead::Complete(with_tail(segments, &snapshot.tail, request, snapshot.model)))
    }
}

/// Outcome of one round trip.
enum IndexRead {
    Complete(Vec<Segment>),
    /// The scope has other blocks than those that were asked for, or the cache lacks some: what to ask for.
    Lacking(WantedBlocks),
}

/// Parts of blocks that a query asks for together with the headers.
struct WantedBlocks {
    /// Blocks whose postings are read.
    headers: Arc<[BlockHeader]>,
    /// Blocks whose records are read.
    docs: Vec<i64>,
    /// Blocks whose vectors are read.
    vectors: Vec<i64>,
    /// Blocks that the cache had at the read before.
    held: HashMap<i64, CachedBlock>,
}

impl WantedBlocks {
    /// Wants the postings of blocks that are likely to be there; the cache is likely to have the rest.
    fn known(headers: Arc<[BlockHeader]>) -> Self {
        Self { headers, docs: Vec::new(), vectors: Vec::new(), held: HashMap::new() }
    }

    /// Creates the queries: four for what can change, then those for the blocks.
    fn statements(&self, key: ScopeKey, terms: &[TermHash]) -> Vec<Statement> {
        let [blocks, deletions] = select_blocks(key);
        let mut statements = vec![blocks, deletions, select_tail(key), select_model()];
        for (table, blocks) in [(&BLOCK_DOCS, &self.docs), (&BLOCK_VECTORS, &self.vectors)] {
            statements.extend((!blocks.is_empty()).then(|| select_rows(table, key, blocks)));
        }
        if !terms.is_empty() {
            statements.extend(self.headers.iter().map(|block| select_parts(key, block, terms)));
        }
        statements
    }

    fn has_blocks(&self, headers: &[BlockHeader]) -> bool {
        let ids = |headers: &[BlockHeader]| headers.iter().map(|it| it.id).collect::<Vec<_>>();
        ids(&self.headers) == ids(headers)
    }

    /// Returns `true` if these blocks, records and vectors are among those that were asked for.
    fn covers(&self, headers: &[BlockHeader], docs: &[i64], vectors: &[i64]) -> bool {
        let is_known = |header: &BlockHeader| self.headers.iter().any(|it| it.id == header.id);
        headers.iter().all(is_known)
            && docs.iter().all(|block| self.docs.contains(block))
            && vectors.iter().all(|block| self.vectors.contains(block))
    }

    /// Decodes the results behind those of what can change, for these of the blocks that were asked for.
    fn read(
        &self,
        results: &mut impl Iterator<Item = Vec<SqlRow>>,
        headers: &[BlockHeader],
        terms: &[TermHash],
    ) -> Result<FetchedBlocks> {
        let mut next = |is_there: bool| {
            if is_there { results.next().ok_or_else(missing_result) } else { Ok(Vec::new()) }
        };
        let docs = read_joined(next(!self.docs.is_empty())?)?;
        let vectors = read_joined(next(!self.vectors.is_empty())?)?;
        let mut postings: HashMap<i64, Vec<Vec<Posting>>> = HashMap::new();
        for block in self.headers.iter() {
            let found = read_postings(next(!terms.is_empty())?, block, terms)?;
            postings.insert(block.id, found);
        }
        let of_block = |block: &BlockHeader| postings.remove(&block.id).unwrap_or_default();
        Ok(FetchedBlocks { docs, vectors, postings: headers.iter().map(of_block).collect() })
    }
}

/// Decodes what can change of an index.
fn read_snapshot(
    results: &mut impl Iterator<Item = Vec<SqlRow>>,
    model: Option<&EmbeddingModelId>,
    cache: &BlockCache,
) -> Result<IndexSnapshot> {
    let mut next = || results.next().ok_or_else(missing_result);
    let (blocks, deletions, tail, in_use) = (next()?, next()?, next()?, next()?);
    let blocks = read_blocks(blocks, deletions)?;
    let blocks = blocks.into_iter().map(|ScopeBlock { snapshot, .. }| snapshot).collect();
    let in_use = models::read_current(in_use)?.filter(|(_, in_use)| Some(in_use) == model);
    Ok(IndexSnapshot::new(blocks, read_tail(tail)?, in_use, cache))
}

fn missing_result() -> Error {
    Error::store("a result is missing")
}
