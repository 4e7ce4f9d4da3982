//! Assembly of segments from a snapshot of a scope's index: cached records, the postings of a query, and vectors.
//!
//! A snapshot holds all that can change, as it was at one moment. Blocks never change, so a backend may load them
//! later, in parallel, or all at once, and keep them in the [`BlockCache`].

use std::{cmp::Reverse, collections::HashMap, sync::Arc};

use super::{
    IndexEntry, Posting, Segment, SegmentVectors,
    block_cache::{BlockCache, CachedBlock, CachedVectors},
    entry::build_segment,
    segment::{Docs, PackedDocs, vector_bytes},
};
use crate::{
    error::{Error, Result},
    text::terms::TermHash,
    types::EmbeddingModelId,
};

/// Documents of a block whose vectors are not loaded for a single query: about a megabyte of them.
pub(crate) const LARGE_DOCS: usize = 4_096;

/// Loads the immutable bytes of blocks, of all blocks of a query in one call: a backend over a network answers each call
/// with one query.
pub(crate) trait BlockReader {
    /// Returns the packed records of these blocks, in this order.
    fn packed_docs(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>>;

    /// Returns the packed vectors of these blocks, in this order; empty where a block has none.
    fn vectors(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>>;

    /// Returns for each block the postings of each term, deleted documents included.
    fn postings(
        &self,
        blocks: &[&BlockHeader],
        terms: &[TermHash],
    ) -> Result<Vec<Vec<Vec<Posting>>>>;
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
    /// Joins what a backend read at one moment; `in_use` is the number of the requested model if it is in use. The cache
    /// says if the vectors of the scope fit into it.
    pub(crate) fn new(
        blocks: Vec<BlockSnapshot>,
        tail: Vec<IndexEntry>,
        in_use: Option<(u32, EmbeddingModelId)>,
        cache: &BlockCache,
    ) -> Self {
        let docs: usize = blocks.iter().map(|block| block.header.docs).sum();
        let request = |(number, EmbeddingModelId { dimensions, .. })| VectorRequest {
            number,
            dimensions,
            is_cacheable: docs * vector_bytes(dimensions) <= cache.max_vector_bytes(),
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

    /// Assembles all segments.
    pub(crate) fn segments(
        self,
        reader: &dyn BlockReader,
        request: &PostingsRequest,
        cache: &BlockCache,
    ) -> Result<Vec<Segment>> {
        let Self { blocks, tail, model } = self;
        let segments = block_segments(reader, &blocks, request, model, cache)?;
        Ok(with_tail(segments, &tail, request, model))
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

/// Assembles the segments of blocks. The reader is asked for everything at once, whatever the number of blocks and terms.
pub(crate) fn block_segments(
    reader: &dyn BlockReader,
    blocks: &[BlockSnapshot],
    request: &PostingsRequest,
    model: Option<VectorRequest>,
    cache: &BlockCache,
) -> Result<Vec<Segment>> {
    let fetch = BlockFetch::new(blocks, model, cache);
    let docs = load(fetch.docs(), |ids| reader.packed_docs(ids))?;
    let vectors = load(fetch.vectors(), |ids| reader.vectors(ids))?;
    let headers: Vec<&BlockHeader> = blocks.iter().map(|block| &block.header).collect();
    let postings = reader.postings(&headers, &request.terms)?;
    fetch.segments(FetchedBlocks { docs, vectors, postings }, cache)
}

/// Blocks of a query with what the cache has of them, so that a backend can load the rest in one round trip.
pub(crate) struct BlockFetch<'a> {
    blocks: &'a [BlockSnapshot],
    plans: Vec<BlockPlan>,
    model: Option<VectorRequest>,
}

/// Bytes that a backend loaded for a [`BlockFetch`].
#[derive(Default)]
pub(crate) struct FetchedBlocks {
    /// Packed records by block.
    pub(crate) docs: HashMap<i64, Vec<u8>>,
    /// Packed vectors by block.
    pub(crate) vectors: HashMap<i64, Vec<u8>>,
    /// Postings of each term, for each block in the order of the request.
    pub(crate) postings: Vec<Vec<Vec<Posting>>>,
}

impl<'a> BlockFetch<'a> {
    /// Looks the blocks up in the cache.
    pub(crate) fn new(
        blocks: &'a [BlockSnapshot],
        model: Option<VectorRequest>,
        cache: &BlockCache,
    ) -> Self {
        Self::with_held(blocks, model, cache, &HashMap::new())
    }

    /// Looks the blocks up among those that the query holds since an earlier read, and in the cache, which may have
    /// evicted them since.
    pub(crate) fn with_held(
        blocks: &'a [BlockSnapshot],
        model: Option<VectorRequest>,
        cache: &BlockCache,
        held: &HashMap<i64, CachedBlock>,
    ) -> Self {
        let plan = |BlockSnapshot { header, .. }: &BlockSnapshot| {
            let known = held.get(&header.id).cloned().or_else(|| cache.get(header.id));
            BlockPlan::new(header, model, known)
        };
        Self { blocks, plans: blocks.iter().map(plan).collect(), model }
    }

    /// Returns the blocks that were found, to hold them until the rest is loaded.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn into_held(self) -> HashMap<i64, CachedBlock> {
        let ids = self.blocks.iter().map(|block| block.header.id);
        ids.zip(self.plans).filter_map(|(id, plan)| Some((id, plan.known?))).collect()
    }

    /// Returns the blocks whose records are to be loaded.
    pub(crate) fn docs(&self) -> Vec<i64> {
        self.lacking(|plan| plan.known.is_none())
    }

    /// Returns the blocks whose vectors are to be loaded.
    pub(crate) fn vectors(&self) -> Vec<i64> {
        self.lacking(|plan| plan.vectors == VectorPlan::Load)
    }

    /// Joins what was cached with what was loaded, and caches that.
    pub(crate) fn segments(
        self,
        mut fetched: FetchedBlocks,
        cache: &BlockCache,
    ) -> Result<Vec<Segment>> {
        let Self { blocks, plans, model } = self;
        let mut segments = Vec::with_capacity(blocks.len());
        for ((block, plan), postings) in blocks.iter().zip(plans).zip(fetched.postings) {
            let id = block.header.id;
            let (docs, vectors) = (fetched.docs.remove(&id), fetched.vectors.remove(&id));
            let cached = plan.complete(&block.header, docs, vectors, cache)?;
            segments.push(block_segment(block, cached, postings, model));
        }
        Ok(segments)
    }

    fn lacking(&self, lacks: fn(&BlockPlan) -> bool) -> Vec<i64> {
        let lacking = self.blocks.iter().zip(&self.plans).filter(|(_, plan)| lacks(plan));
        lacking.map(|(block, _)| block.header.id).collect()
    }
}

fn block_segment(
    BlockSnapshot { header, deleted }: &BlockSnapshot,
    cached: CachedBlock,
    mut postings: Vec<Vec<Posting>>,
    model: Option<VectorRequest>,
) -> Segment {
    let docs = Docs::shared(cached.docs, deleted.clone());
    for list in postings.iter_mut().filter(|list| !is_live(list, &docs)) {
        list.retain(|posting| {
            (posting.doc as usize) < docs.len() && !docs.is_deleted(posting.doc as usize)
        });
    }
    let model = model.filter(|model| header.model == model.number);
    let vectors = model.map(|model| match cached.vectors {
        CachedVectors::Loaded(vectors) => SegmentVectors::new(vectors, model.dimensions),
        CachedVectors::NotRequested | CachedVectors::RequestedOnce => {
            SegmentVectors::Unloaded(header.id)
        }
    });
    Segment { docs, postings, vectors }
}

/// Returns `true` if no posting of a list, which is in the order of documents, can be of a deleted document.
fn is_live(list: &[Posting], docs: &Docs) -> bool {
    docs.deleted().is_empty() && list.last().is_none_or(|last| (last.doc as usize) < docs.len())
}

/// Loads bytes by block id; none are asked for where none are lacking.
fn load(
    blocks: Vec<i64>,
    read: impl FnOnce(&[i64]) -> Result<Vec<Vec<u8>>>,
) -> Result<HashMap<i64, Vec<u8>>> {
    let loaded = if blocks.is_empty() { Vec::new() } else { read(&blocks)? };
    Ok(blocks.into_iter().zip(loaded).collect())
}

/// Cached part of a block, and the treatment of its vectors.
struct BlockPlan {
    known: Option<CachedBlock>,
    vectors: VectorPlan,
}

#[derive(PartialEq, Eq)]
enum VectorPlan {
    /// Nothing to do: they are cached, or no query needs them.
    Keep,
    /// The store scores them in place.
    LeaveInStore,
    Load,
}

impl BlockPlan {
    /// Vectors of a large block are loaded at the second query: a process that asks once is done sooner, with less
    /// memory, when the store scores them in place.
    fn new(header: &BlockHeader, model: Option<VectorRequest>, known: Option<CachedBlock>) -> Self {
        let again =
            matches!(&known, Some(CachedBlock { vectors: CachedVectors::RequestedOnce, .. }));
        let vectors = match model.filter(|model| header.model == model.number) {
            None => VectorPlan::Keep,
            Some(_) if known.as_ref().is_some_and(CachedBlock::has_vectors) => VectorPlan::Keep,
            Some(model) if header.docs >= LARGE_DOCS && !(again && model.is_cacheable) => {
                VectorPlan::LeaveInStore
            }
            Some(_) => VectorPlan::Load,
        };
        Self { known, vectors }
    }

    /// Returns the block with what was loaded, and caches it if that is new.
    fn complete(
        self,
        header: &BlockHeader,
        docs: Option<Vec<u8>>,
        vectors: Option<Vec<u8>>,
        cache: &BlockCache,
    ) -> Result<CachedBlock> {
        let vectors = match (self.vectors, &self.known) {
            (VectorPlan::Keep, Some(known)) => return Ok(known.clone()),
            (VectorPlan::Keep, None) => CachedVectors::NotRequested,
            (VectorPlan::LeaveInStore, _) => CachedVectors::RequestedOnce,
            (VectorPlan::Load, _) => CachedVectors::Loaded(Arc::new(vectors.unwrap_or_default())),
        };
        let docs = match self.known {
            Some(known) => known.docs,
            None => Arc::new(valid_docs(header, docs.unwrap_or_default())?),
        };
        let cached = CachedBlock { docs, vectors };
        cache.put(header.id, cached.clone());
        Ok(cached)
    }
}

/// Returns the records of a block, or an error if they are not those that its header describes.
pub(crate) fn valid_docs(header: &BlockHeader, packed: Vec<u8>) -> Result<PackedDocs> {
    let docs = PackedDocs::new(packed);
    if docs.is_valid(header.docs) { Ok(docs) } else { Err(damaged_block(header.id)) }
}

/// Returns the error for a block whose bytes are not what was written.
pub(crate) fn damaged_block(block: i64) -> Error {
    Error::damaged(format!(
        "block {block} of the search index; `everlore doctor --repair` rebuilds the index"
    ))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::{
        store::{
            DocAddress,
            index::segment::{DocRecord, RECORD_BYTES},
        },
        types::{Kind, Status, Timestamp},
    };

    const MODEL: VectorRequest = VectorRequest { number: 1, dimensions: 2, is_cacheable: true };

    /// Block with [`LARGE_DOCS`] documents; the others have one each.
    const LARGE_BLOCK: i64 = 99;

    /// Reader of blocks that records its calls with the number of blocks.
    #[derive(Default)]
    struct CountingReader(RefCell<Vec<(&'static str, usize)>>);

    impl CountingReader {
        fn record(&self, name: &'static str, blocks: usize) {
            self.0.borrow_mut().push((name, blocks));
        }
    }

    impl BlockReader for CountingReader {
        fn packed_docs(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>> {
            self.record("docs", blocks.len());
            let record = |id: &i64| {
                let mut packed = Vec::new();
                for doc in 0..if *id == LARGE_BLOCK { LARGE_DOCS } else { 1 } {
                    let record = DocRecord {
                        address: DocAddress::new(1, *id as u32 + doc as u32),
                        at: Timestamp::UNIX_EPOCH,
                        lengths: [1; 5],
                        kind: Kind::User,
                        status: Status::Active,
                        mentions_time: false,
                    };
                    record.pack(&mut packed);
                }
                packed
            };
            Ok(blocks.iter().map(record).collect())
        }

        fn vectors(&self, blocks: &[i64]) -> Result<Vec<Vec<u8>>> {
            self.record("vectors", blocks.len());
            Ok(blocks.iter().map(|id| vec![*id as u8; vector_bytes(2)]).collect())
        }

        fn postings(
            &self,
            blocks: &[&BlockHeader],
            terms: &[TermHash],
        ) -> Result<Vec<Vec<Vec<Posting>>>> {
            self.record("postings", blocks.len());
            Ok(vec![vec![vec![Posting { doc: 0, counts: [1; 5] }]; terms.len()]; blocks.len()])
        }
    }

    fn block(id: i64, docs: usize) -> BlockSnapshot {
        let header = BlockHeader { id, part_bits: 0, model: 1, missing: 0, docs };
        BlockSnapshot { header, deleted: Vec::new() }
    }

    fn segments(
        reader: &CountingReader,
        blocks: &[BlockSnapshot],
        cache: &BlockCache,
    ) -> Vec<Segment> {
        let terms = (0..30).map(TermHash).collect();
        let request = PostingsRequest { terms, model: None };
        block_segments(reader, blocks, &request, Some(MODEL), cache).unwrap()
    }

    #[test]
    fn many_blocks_take_three_reads_and_cached_ones_take_one() {
        let (reader, cache) = (CountingReader::default(), BlockCache::default());
        let blocks: Vec<_> = (1..=40).map(|id| block(id, 1)).collect();
        let first = segments(&reader, &blocks, &cache);
        assert_eq!(reader.0.take(), [("docs", 40), ("vectors", 40), ("postings", 40)]);
        for (segment, id) in first.iter().zip(1_u8..) {
            assert_eq!(segment.docs.address(0), DocAddress::new(1, id.into()));
            assert_eq!(segment.postings.len(), 30);
            let Some(SegmentVectors::Loaded { bytes, .. }) = &segment.vectors else { panic!() };
            assert_eq!(bytes[0], id);
        }
        assert_eq!(segments(&reader, &blocks, &cache), first);
        assert_eq!(reader.0.take(), [("postings", 40)]);
    }

    #[test]
    fn records_that_are_not_those_of_their_header_are_told() {
        let (reader, cache) = (CountingReader::default(), BlockCache::default());
        let request = PostingsRequest { terms: Vec::new(), model: None };
        let found = block_segments(&reader, &[block(7, 2)], &request, None, &cache);
        assert!(found.unwrap_err().to_string().contains("block 7 of the search index"));
        let mut packed = reader.packed_docs(&[LARGE_BLOCK]).unwrap().remove(0);
        let header = block(LARGE_BLOCK, LARGE_DOCS).header;
        assert!(valid_docs(&header, packed.clone()).is_ok());
        packed[RECORD_BYTES..RECORD_BYTES + 8].fill(0);
        assert!(valid_docs(&header, packed).is_err(), "an address out of order");
    }

    #[test]
    fn only_what_the_cache_lacks_is_read() {
        let (reader, cache) = (CountingReader::default(), BlockCache::default());
        segments(&reader, &[block(1, 1)], &cache);
        reader.0.take();
        let blocks = [block(1, 1), block(LARGE_BLOCK, LARGE_DOCS), block(3, 1)];
        let found = segments(&reader, &blocks, &cache);
        assert_eq!(reader.0.take(), [("docs", 2), ("vectors", 1), ("postings", 3)]);
        assert_eq!(found[1].vectors, Some(SegmentVectors::Unloaded(LARGE_BLOCK)));
        segments(&reader, &blocks, &cache);
        assert_eq!(
            reader.0.take(),
            [("vectors", 1), ("postings", 3)],
            "a large block, asked again"
        );
    }
}
