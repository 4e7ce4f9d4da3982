//! Assembly of segments from a snapshot of a scope's index: cached records, the postings of a query, and vectors.
//!
//! A snapshot holds all that can change, as it was at one moment. Blocks never change, so a backend may load them
//! later, in parallel, or all at once, and keep them in the [`BlockCache`].

use std::{cmp::Reverse, sync::Arc};

use super::{
    IndexEntry, Posting, Segment, SegmentVectors,
    block_cache::{BlockCache, CachedBlock, CachedVectors, MAX_BYTES},
    entry::build_segment,
    segment::{Docs, PackedDocs, vector_bytes},
};
use crate::{error::Result, text::terms::TermHash, types::EmbeddingModelId};

/// Documents of a block whose vectors are not loaded for a single query: about a megabyte of them.
pub(crate) const LARGE_DOCS: usize = 4_096;

/// Bytes of a scope's vectors that stay in the cache: most of it, the rest is for records.
const MAX_CACHED_VECTOR_BYTES: usize = MAX_BYTES / 4 * 3;

/// Loads the immutable bytes of blocks.
pub(crate) trait BlockReader {
    /// Returns the packed records of a block.
    fn packed_docs(&self, block: i64) -> Result<Vec<u8>>;

    /// Returns the packed vectors of a block; empty if it has none.
    fn vectors(&self, block: i64) -> Result<Vec<u8>>;

    /// Returns the postings of each term in a block, deleted documents included.
    fn postings(&self, header: &BlockHeader, terms: &[TermHash]) -> Result<Vec<Vec<Posting>>>;
}

/// Terms and model of a query.
pub(crate) struct PostingsRequest {
    pub(crate) terms: Vec<TermHash>,
    pub(crate) model: Option<EmbeddingModelId>,
}

/// Description of a stored block.
#[derive(Debug, Clone)]
pub(crate) struct BlockHeader {
    pub(crate) id: i64,
    pub(crate) part_bits: u32,
    /// Number of the model of its vectors; 0 if it has none.
    pub(crate) model: u32,
    /// Live documents without a vector.
    pub(crate) missing: u32,
    pub(crate) docs: usize,
}

impl BlockHeader {
    /// Returns `true` if some vectors of the model with this number are missing.
    pub(crate) fn lacks_vectors(&self, model: u32) -> bool {
        self.model != model || self.missing > 0
    }
}

/// A block with its deleted documents, in order.
#[derive(Debug, Clone)]
pub(crate) struct BlockSnapshot {
    pub(crate) header: BlockHeader,
    pub(crate) deleted: Vec<u32>,
}

/// State of a scope's index at one moment.
pub(crate) struct IndexSnapshot {
    pub(crate) blocks: Vec<BlockSnapshot>,
    pub(crate) tail: Vec<IndexEntry>,
    /// The requested model, if it is the one in use.
    pub(crate) model: Option<VectorRequest>,
}

/// The model whose vectors a query needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorRequest {
    pub(crate) number: u32,
    pub(crate) dimensions: usize,
    /// Set when all vectors of the scope fit into the cache, so that one query does not evict what another loaded.
    pub(crate) is_cacheable: bool,
}

impl IndexSnapshot {
    /// Joins what a backend read at one moment; `in_use` is the number of the requested model if it is in use.
    pub(crate) fn new(
        blocks: Vec<BlockSnapshot>,
        tail: Vec<IndexEntry>,
        in_use: Option<(u32, EmbeddingModelId)>,
    ) -> Self {
        let docs: usize = blocks.iter().map(|block| block.header.docs).sum();
        let request = |(number, EmbeddingModelId { dimensions, .. })| VectorRequest {
            number,
            dimensions,
            is_cacheable: docs * vector_bytes(dimensions) <= MAX_CACHED_VECTOR_BYTES,
        };
        Self { blocks, tail, model: in_use.map(request) }
    }

    /// Counts the documents of blocks that are not in the cache yet.
    pub(crate) fn uncached_docs(&self, cache: &BlockCache) -> usize {
        let is_uncached = |block: &&BlockSnapshot| {
            let needs_vectors = self
                .model
                .is_some_and(|model| model.is_cacheable && model.number == block.header.model);
            cache.get(block.header.id).is_none_or(|known| needs_vectors && !known.has_vectors())
        };
        self.blocks.iter().filter(is_uncached).map(|block| block.header.docs).sum()
    }

    /// Assembles all segments, one after the other.
    pub(crate) fn segments(
        self,
        reader: &dyn BlockReader,
        request: &PostingsRequest,
        cache: &BlockCache,
    ) -> Result<Vec<Segment>> {
        let Self { blocks, tail, model } = self;
        let blocks = blocks.iter().map(|block| block_segment(reader, block, request, model, cache));
        Ok(with_tail(blocks.collect::<Result<_>>()?, &tail, request, model))
    }
}

/// Splits blocks, with their positions, into two halves of about as many documents.
pub(crate) fn halves(blocks: Vec<BlockSnapshot>) -> [Vec<(usize, BlockSnapshot)>; 2] {
    let mut all: Vec<_> = blocks.into_iter().enumerate().collect();
    all.sort_by_key(|(_, block)| Reverse(block.header.docs));
    let (mut halves, mut docs) = ([Vec::new(), Vec::new()], [0, 0]);
    for (position, block) in all {
        let lesser = usize::from(docs[1] < docs[0]);
        docs[lesser] += block.header.docs;
        halves[lesser].push((position, block));
    }
    halves
}

/// Appends the segment of the tail, if there is one.
pub(crate) fn with_tail(
    mut segments: Vec<Segment>,
    tail: &[IndexEntry],
    request: &PostingsRequest,
    model: Option<VectorRequest>,
) -> Vec<Segment> {
    if !tail.is_empty() {
        let model = model.map(|model| (model.number, model.dimensions));
        segments.push(build_segment(tail, &request.terms, model));
    }
    segments
}

/// Assembles the segment of one block.
pub(crate) fn block_segment(
    reader: &dyn BlockReader,
    BlockSnapshot { header, deleted }: &BlockSnapshot,
    request: &PostingsRequest,
    model: Option<VectorRequest>,
    cache: &BlockCache,
) -> Result<Segment> {
    let model = model.filter(|model| header.model == model.number);
    let cached = cached_block(reader, header, model, cache)?;
    let docs = Docs::shared(cached.docs, deleted.clone());
    let mut postings = reader.postings(header, &request.terms)?;
    for list in &mut postings {
        list.retain(|posting| {
            (posting.doc as usize) < docs.len() && !docs.is_deleted(posting.doc as usize)
        });
    }
    let vectors = model.map(|model| match cached.vectors {
        CachedVectors::Loaded(vectors) => SegmentVectors::new(vectors, model.dimensions),
        CachedVectors::NotRequested | CachedVectors::RequestedOnce => {
            SegmentVectors::Unloaded(header.id)
        }
    });
    Ok(Segment { docs, postings, vectors })
}

/// Returns the immutable part of a block. Vectors of a large block are loaded at the second query: a process that asks
/// once is done sooner, with less memory, when the store scores them in place.
fn cached_block(
    reader: &dyn BlockReader,
    header: &BlockHeader,
    model: Option<VectorRequest>,
    cache: &BlockCache,
) -> Result<CachedBlock> {
    let known = cache.get(header.id);
    let is_complete = |known: &&CachedBlock| model.is_none() || known.has_vectors();
    if let Some(known) = known.as_ref().filter(is_complete) {
        return Ok(known.clone());
    }
    let again = matches!(&known, Some(CachedBlock { vectors: CachedVectors::RequestedOnce, .. }));
    let vectors = match model {
        None => CachedVectors::NotRequested,
        Some(model) if header.docs >= LARGE_DOCS && !(again && model.is_cacheable) => {
            CachedVectors::RequestedOnce
        }
        Some(_) => CachedVectors::Loaded(Arc::new(reader.vectors(header.id)?)),
    };
    let docs = match known {
        Some(known) => known.docs,
        None => Arc::new(PackedDocs::new(reader.packed_docs(header.id)?)),
    };
    let cached = CachedBlock { docs, vectors };
    cache.put(header.id, cached.clone());
    Ok(cached)
}
