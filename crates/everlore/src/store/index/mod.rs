//! The search index, independent of any database: entries, segments, sealed blocks, the merge policy and the block
//! cache.
//!
//! New entries stand in a scope's tail; full tails are sealed into immutable blocks, and blocks are merged as they
//! grow. A backend only stores and loads the bytes; it says how large rows should be by its [`BlockLayout`].

pub(crate) mod entry;
pub(crate) mod segment;
pub(crate) mod block;
pub(crate) mod checksum;
pub(crate) mod block_cache;
pub(crate) mod merge_policy;
pub(crate) mod assemble;

pub(crate) use block::{BlockLayout, IndexBlock};
pub(crate) use entry::IndexEntry;
pub(crate) use entry::{error_term, slot_term, source_turn_term};
pub use segment::{Docs, FIELD_COUNT, IndexField, Posting, Segment, SegmentVectors};

/// Terms looked up to read back a sealed memory: its postings were written together, so a few are enough.
pub(crate) const READ_BACK_TERMS: usize = 4;

/// Memories indexed at a time when an index is rebuilt: enough for a large block, little enough for RAM.
pub(crate) const REINDEX_BATCH: usize = 4_096;
