//! Merge policy of index blocks: when a tail is sealed, and which blocks are merged next.

/// Entries in a tail before it is sealed: reading one costs about as much as looking a term up in a block.
pub(crate) const SEAL_AT: usize = 64;

/// Blocks of one level that are merged into one.
const MERGE_FACTOR: usize = 4;

/// The highest level: merging larger blocks would hold the write lock for long and save little.
const MAX_LEVEL: u32 = 4;

/// The most documents that a short process merges before it ends.
const SMALL_MERGE_DOCS: usize = 4_096;

/// Size of the merges that are acceptable now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeLimit {
    /// Only merges that take milliseconds.
    Small,
    /// Any merge.
    Any,
}

impl MergeLimit {
    fn allows(self, docs: usize) -> bool {
        self == Self::Any || docs <= SMALL_MERGE_DOCS
    }
}

/// Size of a stored block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockSize {
    pub(crate) id: i64,
    pub(crate) level: u32,
    pub(crate) docs: usize,
    pub(crate) deleted: usize,
}

/// Chooses the blocks to merge next: one with more deleted than live documents, else four of one level. `blocks` are
/// sorted by level and id.
pub(crate) fn next_merge(blocks: &[BlockSize], limit: MergeLimit) -> Option<Vec<i64>> {
    let is_sparse = |block: &&BlockSize| block.deleted * 2 > block.docs && limit.allows(block.docs);
    if let Some(block) = blocks.iter().find(is_sparse) {
        return Some(vec![block.id]);
    }
    let docs = |level: &[BlockSize]| level.iter().map(|block| block.docs).sum();
    blocks
        .chunk_by(|a, b| a.level == b.level)
        .filter(|level| level.len() >= MERGE_FACTOR && level[0].level < MAX_LEVEL)
        .map(|level| &level[..MERGE_FACTOR])
        .find(|level| limit.allows(docs(level)))
        .map(|level| level.iter().map(|block| block.id).collect())
}

/// Returns the level of a block by its size: up to 255 documents, then four times as many each.
pub(crate) fn level_of(docs: usize) -> u32 {
    (docs / SEAL_AT).max(1).ilog(MERGE_FACTOR).min(MAX_LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(sizes: &[(u32, usize, usize)]) -> Vec<BlockSize> {
        let block = |(id, &(level, docs, deleted)): (usize, &(u32, usize, usize))| BlockSize {
            id: id as i64,
            level,
            docs,
            deleted,
        };
        sizes.iter().enumerate().map(block).collect()
    }

    #[test]
    fn four_blocks_of_a_level_are_merged_and_three_are_not() {
        let small = (0, 64, 0);
        assert_eq!(next_merge(&blocks(&[small; 3]), MergeLimit::Any), None);
        assert_eq!(next_merge(&blocks(&[small; 5]), MergeLimit::Small), Some(vec![0, 1, 2, 3]));
        assert_eq!(next_merge(&blocks(&[(4, 20_000, 0); 4]), MergeLimit::Any), None);
    }

    #[test]
    fn a_block_that_is_mostly_deleted_comes_first() {
        let all = blocks(&[(0, 64, 0), (0, 64, 33), (0, 64, 0), (0, 64, 0)]);
        assert_eq!(next_merge(&all, MergeLimit::Small), Some(vec![1]));
    }

    #[test]
    fn a_short_process_leaves_large_merges_alone() {
        let all = blocks(&[(2, 2_000, 0), (2, 2_000, 0), (2, 2_000, 0), (2, 2_000, 0)]);
        assert_eq!(next_merge(&all, MergeLimit::Small), None);
        assert!(next_merge(&all, MergeLimit::Any).is_some());
    }

    #[test]
    fn levels_grow_by_fours() {
        assert_eq!(
            [64, 255, 256, 1_023, 1_024, 4_096, 1 << 20].map(level_of),
            [0, 0, 1, 1, 2, 3, 4]
        );
    }
}
