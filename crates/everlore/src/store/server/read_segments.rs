//! The index facet: segments for a query, similarities, checks and rebuilding.
//!
//! A query takes two round trips in one snapshot: what can change (block headers, deleted documents, the tail), then the
//! postings of its terms with whatever the block cache lacks. The cache is keyed by ids that are never used again, so
//! nothing that a query returns is older than its first round trip.

use async_trait::async_trait;

use super::{
    ServerStore,
    block_tables::{
        ScopeBlock, read_blocks, read_joined, read_postings, read_rows, read_tail, select_blocks,
        select_model, select_parts, select_rows, select_tail,
    },
    database::rows,
    integrity, models,
    scope_row::ScopeKey,
    sql::{Statement, list, sql},
    tables::{BLOCK_DOCS, BLOCK_VECTORS},
    transaction::{RetryRule, Transaction, retried},
};
use crate::{
    error::{Error, Result},
    store::{
        SearchIndex, Segment,
        index::{
            assemble::{
                BlockFetch, BlockSnapshot, FetchedBlocks, IndexSnapshot, PostingsRequest, with_tail,
            },
            block_cache::BlockCache,
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
                let mut tx = self.db.snapshot().await?;
                let snapshot = index_snapshot(&mut tx, key, request.model.as_ref(), &cache).await?;
                read_snapshot(tx, key, snapshot, request, &cache).await
            })
            .await
    }
}

/// Reads what can change of an index.
async fn index_snapshot(
    tx: &mut Transaction,
    key: ScopeKey,
    model: Option<&EmbeddingModelId>,
    cache: &BlockCache,
) -> Result<IndexSnapshot> {
    let [blocks, deletions] = select_blocks(key);
    let read = vec![blocks, deletions, select_tail(key), select_model()];
    let [blocks, deletions, tail, in_use] = rows(tx.run(read).await?)?;
    let blocks = read_blocks(blocks, deletions)?;
    let blocks = blocks.into_iter().map(|ScopeBlock { snapshot, .. }| snapshot).collect();
    let in_use = models::read_current(in_use)?.filter(|(_, in_use)| Some(in_use) == model);
    Ok(IndexSnapshot::new(blocks, read_tail(tail)?, in_use, cache))
}

/// Reads the rest of an index and assembles its segments.
async fn read_snapshot(
    tx: Transaction,
    key: ScopeKey,
    IndexSnapshot { blocks, tail, model }: IndexSnapshot,
    request: &PostingsRequest,
    cache: &BlockCache,
) -> Result<Vec<Segment>> {
    let fetch = BlockFetch::new(&blocks, model, cache);
    let fetched = fetch_blocks(tx, key, &blocks, &fetch, &request.terms).await?;
    let segments = fetch.segments(fetched, cache)?;
    Ok(with_tail(segments, &tail, request, model))
}

/// Loads records, vectors and postings of blocks in one round trip; in none if nothing is lacking.
async fn fetch_blocks(
    tx: Transaction,
    key: ScopeKey,
    blocks: &[BlockSnapshot],
    fetch: &BlockFetch<'_>,
    terms: &[TermHash],
) -> Result<FetchedBlocks> {
    let (docs, vectors) = (fetch.docs(), fetch.vectors());
    let mut statements: Vec<Statement> = Vec::new();
    statements.extend((!docs.is_empty()).then(|| select_rows(&BLOCK_DOCS, key, &docs)));
    statements.extend((!vectors.is_empty()).then(|| select_rows(&BLOCK_VECTORS, key, &vectors)));
    if !terms.is_empty() {
        statements.extend(blocks.iter().map(|block| select_parts(key, &block.header, terms)));
    }
    if statements.is_empty() {
        tx.finish();
        let postings = vec![vec![Vec::new(); terms.len()]; blocks.len()];
        return Ok(FetchedBlocks { postings, ..FetchedBlocks::default() });
    }
    let results = tx.commit(statements).await?;
    let mut results = results.into_iter().map(|result| result.rows);
    let mut next = |is_there: bool| {
        if is_there {
            return results.next().ok_or_else(|| Error::store("a result is missing"));
        }
        Ok(Vec::new())
    };
    let docs = read_joined(next(!docs.is_empty())?)?;
    let vectors = read_joined(next(!vectors.is_empty())?)?;
    let mut postings = Vec::with_capacity(blocks.len());
    for block in blocks {
        postings.push(read_postings(next(!terms.is_empty())?, &block.header, terms)?);
    }
    Ok(FetchedBlocks { docs, vectors, postings })
}
