//! Index blocks: sealed runs of index entries with documents in pages and postings in parts split by term, both small
//! enough for a database page. Pure bytes in, bytes out; any database can store them.

use std::collections::HashMap;

use crate::text::terms::TermHash;

use super::{
    entry::{FieldCounts, IndexEntry, push_counts, take_counts},
    segment::{Docs, Posting, RECORD_BYTES},
};
use crate::store::DocAddress;

/// Row sizes that suit a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockLayout {
    /// Records in a page row.
    pub(crate) page_docs: usize,
    /// Size aimed at for a part of postings, in bytes.
    pub(crate) part_bytes: usize,
    /// Vectors in a row: reading one vector a row costs more than comparing it.
    pub(crate) vectors_per_row: usize,
}

/// Most bits of a term's hash that choose its part: 2^16 parts are 200 MB of postings in one block.
pub(crate) const MAX_PART_BITS: u32 = 16;

/// Least bytes of a posting: one for the step from the document before it, one for its counts.
const MIN_POSTING_BYTES: usize = 2;

/// Scale that marks a missing vector.
const MISSING_SCALE: f32 = f32::NAN;

/// Run of memories, sorted by address, that is only ever read, merged or dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct IndexBlock {
    /// Records of all documents.
    pub(crate) docs: Docs,
    /// Bits of a term's hash that choose its part.
    pub(crate) part_bits: u32,
    /// Postings, in the order of their terms' hashes.
    pub(crate) parts: Vec<Vec<u8>>,
    /// Number of the model that made the vectors; 0 if there are none.
    pub(crate) model: u32,
    /// Packed vectors of all documents, missing ones included; empty without a model.
    pub(crate) vectors: Vec<u8>,
}

/// Term of a document, in the sort order of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PostingRow {
    term: TermHash,
    doc: u32,
    counts: FieldCounts,
}

impl IndexBlock {
    /// Seals entries, with their vectors of the model with this number.
    pub(crate) fn seal(entries: &[IndexEntry], model: u32, layout: &BlockLayout) -> Self {
        let mut order: Vec<&IndexEntry> = entries.iter().collect();
        order.sort_by_key(|entry| entry.record.address);
        let mut packed = Vec::with_capacity(order.len() * RECORD_BYTES);
        let mut rows = Vec::new();
        for (doc, entry) in order.iter().enumerate() {
            entry.record.pack(&mut packed);
            rows.extend(entry.terms.iter().map(|&(term, counts)| PostingRow {
                term,
                doc: doc as u32,
                counts,
            }));
        }
        let vector = |entry: &&IndexEntry| match &entry.vector {
            Some((number, slot)) if *number == model => Some(slot.clone()),
            _ => None,
        };
        let block = Self::from_rows(Docs::from_packed(packed), rows, layout);
        block.with_vectors(model, order.iter().map(vector).collect())
    }

    /// Merges blocks into one, with the vectors of the model with this number, and leaves out deleted documents.
    pub(crate) fn merge(blocks: &[Self], model: u32, layout: &BlockLayout) -> Self {
        let mut order: Vec<(DocAddress, usize, usize)> = Vec::new();
        for (source, block) in blocks.iter().enumerate() {
            let live = (0..block.docs.len()).filter(|&doc| !block.docs.is_deleted(doc));
            order.extend(live.map(|doc| (block.docs.address(doc), source, doc)));
        }
        order.sort_unstable();
        let mut packed = Vec::with_capacity(order.len() * RECORD_BYTES);
        let mut renumbered: Vec<Vec<Option<u32>>> =
            blocks.iter().map(|block| vec![None; block.docs.len()]).collect();
        for (new, &(_, source, doc)) in order.iter().enumerate() {
            packed.extend(
                &blocks[source].docs.packed()[doc * RECORD_BYTES..(doc + 1) * RECORD_BYTES],
            );
            renumbered[source][doc] = Some(new as u32);
        }
        let mut rows = Vec::new();
        for (block, numbers) in blocks.iter().zip(&renumbered) {
            block.for_each_row(|row| {
                if let Some(Some(doc)) = numbers.get(row.doc as usize) {
                    rows.push(PostingRow { doc: *doc, ..row });
                }
            });
        }
        let vector = |&(_, source, doc): &(DocAddress, usize, usize)| {
            let block: &Self = &blocks[source];
            (block.model == model).then(|| block.vector(doc)).flatten().map(<[u8]>::to_vec)
        };
        let merged = Self::from_rows(Docs::from_packed(packed), rows, layout);
        merged.with_vectors(model, order.iter().map(vector).collect())
    }

    /// Returns the block with these vectors, one for each document; `None` where one is missing.
    pub(crate) fn with_vectors(self, model: u32, vectors: Vec<Option<Vec<u8>>>) -> Self {
        let size = vectors.iter().flatten().map(Vec::len).max().unwrap_or(0);
        if model == 0 || size == 0 {
            return Self { model: 0, vectors: Vec::new(), ..self };
        }
        let mut slots = Vec::with_capacity(vectors.len() * size);
        for slot in vectors {
            match slot.filter(|slot| slot.len() == size) {
                Some(slot) => slots.extend(slot),
                None => {
                    slots.extend(MISSING_SCALE.to_le_bytes());
                    slots.resize(slots.len() + size - MISSING_SCALE.to_le_bytes().len(), 0);
                }
            }
        }
        Self { model, vectors: slots, ..self }
    }

    /// Counts the live documents without a vector.
    pub(crate) fn missing_vectors(&self) -> usize {
        (0..self.docs.len())
            .filter(|&doc| !self.docs.is_deleted(doc) && self.vector(doc).is_none())
            .count()
    }

    /// Returns the packed vector of a document, if it has one.
    pub(crate) fn vector(&self, doc: usize) -> Option<&[u8]> {
        let size = self.vectors.len() / self.docs.len().max(1);
        let slot = self.vectors.get(doc * size..(doc + 1) * size)?;
        slot.first_chunk().filter(|scale| !f32::from_le_bytes(**scale).is_nan()).map(|_| slot)
    }

    /// Returns the vector of a document if the model with this number made it.
    fn vector_of(&self, doc: usize, model: u32) -> Option<&[u8]> {
        if self.model == model { self.vector(doc) } else { None }
    }

    /// Returns the addresses of live documents without a vector of a model.
    pub(crate) fn addresses_without_vector(&self, model: u32) -> Vec<DocAddress> {
        let lacks =
            |&doc: &usize| !self.docs.is_deleted(doc) && self.vector_of(doc, model).is_none();
        (0..self.docs.len()).filter(lacks).map(|doc| self.docs.address(doc)).collect()
    }

    /// Returns the block with new vectors of a model and without deleted documents; `None` if it gains none of them.
    pub(crate) fn with_new_vectors(
        self,
        model: u32,
        vectors: &HashMap<DocAddress, Vec<u8>>,
        layout: &BlockLayout,
    ) -> Option<Self> {
        let gains = self.addresses_without_vector(model);
        if !gains.iter().any(|address| vectors.contains_key(address)) {
            return None;
        }
        let vector = |doc: usize| match self.vector_of(doc, model) {
            Some(vector) => Some(vector.to_vec()),
            None => vectors.get(&self.docs.address(doc)).cloned(),
        };
        let vectors = (0..self.docs.len()).map(vector).collect();
        Some(Self::merge(&[self.with_vectors(model, vectors)], model, layout))
    }

    /// Splits the packed vectors into rows of the database.
    pub(crate) fn vector_rows(&self, layout: &BlockLayout) -> impl Iterator<Item = &[u8]> {
        let size = self.vectors.len() / self.docs.len().max(1);
        self.vectors.chunks((size * layout.vectors_per_row).max(1))
    }

    /// Splits the records into pages.
    pub(crate) fn pages(&self, layout: &BlockLayout) -> impl Iterator<Item = &[u8]> {
        self.docs.packed().chunks(layout.page_docs * RECORD_BYTES)
    }

    /// Returns the entries of the live documents, in the order of their addresses.
    pub(crate) fn entries(&self) -> Vec<IndexEntry> {
        let mut terms = vec![Vec::new(); self.docs.len()];
        self.for_each_row(|row| {
            if let Some(list) = terms.get_mut(row.doc as usize) {
                list.push((row.term, row.counts));
            }
        });
        let live = terms.into_iter().enumerate().filter(|(doc, _)| !self.docs.is_deleted(*doc));
        live.map(|(doc, terms)| IndexEntry { record: self.docs.record(doc), terms, vector: None })
            .collect()
    }

    fn from_rows(docs: Docs, mut rows: Vec<PostingRow>, layout: &BlockLayout) -> Self {
        rows.sort_unstable();
        let part_bits = part_bits(&rows, layout.part_bytes);
        let mut parts = vec![Vec::new(); 1 << part_bits];
        for of_term in rows.chunk_by(|a, b| a.term == b.term) {
            push_term(of_term, &mut parts[part_of(of_term[0].term, part_bits)]);
        }
        Self { docs, part_bits, parts, ..Self::default() }
    }

    fn for_each_row(&self, mut each: impl FnMut(PostingRow)) {
        for part in &self.parts {
            for (term, list) in term_lists(part) {
                for Posting { doc, counts } in decode_postings(list) {
                    each(PostingRow { term, doc, counts });
                }
            }
        }
    }
}

/// Returns the part of a block that holds a term.
pub(crate) fn part_of(term: TermHash, part_bits: u32) -> usize {
    term.0.checked_shr(64 - part_bits).unwrap_or(0) as usize
}

/// Returns the postings of a term in its part.
pub(crate) fn find_postings(part: &[u8], term: TermHash) -> Vec<Posting> {
    let found = term_lists(part).find(|(found, _)| *found >= term);
    let list = found.filter(|(found, _)| *found == term).map_or(&[][..], |(_, list)| list);
    let mut postings = Vec::with_capacity(list.len() / MIN_POSTING_BYTES);
    postings.extend(decode_postings(list));
    // Blocks of older programs have no checksums, and readers rely on the order.
    postings.dedup_by_key(|posting| posting.doc);
    postings
}

/// Returns the part without the postings of one document, and how many postings that removed.
pub(crate) fn without_doc(part: &[u8], doc: u32) -> (Vec<u8>, usize) {
    let (mut remaining, mut removed) = (Vec::with_capacity(part.len()), 0);
    for (term, list) in term_lists(part) {
        let all: Vec<_> = decode_postings(list).collect();
        let rows: Vec<_> = all
            .iter()
            .filter(|posting| posting.doc != doc)
            .map(|posting| PostingRow { term, doc: posting.doc, counts: posting.counts })
            .collect();
        removed += all.len() - rows.len();
        if !rows.is_empty() {
            push_term(&rows, &mut remaining);
        }
    }
    (remaining, removed)
}

/// Appends a term: its hash, the length of its list, the list.
fn push_term(rows: &[PostingRow], to: &mut Vec<u8>) {
    let mut list = Vec::with_capacity(rows.len() * 3);
    let mut last = 0;
    for row in rows {
        push_varint(row.doc.saturating_sub(last), &mut list);
        push_counts(&row.counts, &mut list);
        last = row.doc;
    }
    to.extend(rows[0].term.0.to_le_bytes());
    push_varint(list.len() as u32, to);
    to.extend(list);
}

/// Iterates over the terms of a part with their lists, in the order of their hashes. Ends where the part is damaged.
fn term_lists(part: &[u8]) -> impl Iterator<Item = (TermHash, &[u8])> {
    let mut rest = part;
    std::iter::from_fn(move || {
        let (hash, tail) = rest.split_first_chunk()?;
        let (length, tail) = take_varint(tail)?;
        let (list, tail) = tail.split_at_checked(length as usize)?;
        rest = tail;
        Some((TermHash(u64::from_le_bytes(*hash)), list))
    })
}

/// Decodes the postings of a list. Ends where the list is damaged.
fn decode_postings(list: &[u8]) -> impl Iterator<Item = Posting> {
    let (mut rest, mut last) = (list, 0u32);
    std::iter::from_fn(move || {
        let (step, tail) = take_varint(rest)?;
        let (counts, tail) = take_counts(tail)?;
        last = last.checked_add(step)?;
        rest = tail;
        Some(Posting { doc: last, counts })
    })
}

/// Returns as many bits as make parts of about `part_bytes`.
fn part_bits(rows: &[PostingRow], part_bytes: usize) -> u32 {
    // A posting takes about 2.5 bytes, a term 9 more.
    let terms = rows.chunk_by(|a, b| a.term == b.term).count();
    let bytes = rows.len() * 5 / 2 + terms * 9;
    bytes.div_ceil(part_bytes).next_power_of_two().trailing_zeros().min(MAX_PART_BITS)
}

fn push_varint(mut value: u32, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn take_varint(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0u32;
    // A u32 takes at most five groups of seven bits.
    for (index, &byte) in bytes.iter().take(5).enumerate() {
        value |= u32::from(byte & 0x7f).checked_shl(7 * index as u32)?;
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        store::index::segment::DocRecord,
        types::{Kind, Status, Timestamp},
    };

    const LAYOUT: BlockLayout =
        BlockLayout { page_docs: 138, part_bytes: 1_900, vectors_per_row: 64 };

    fn entry(position: u32, terms: Vec<(u8, FieldCounts)>) -> IndexEntry {
        let mut terms: Vec<_> = terms
            .into_iter()
            // Few different hashes, spread over the whole range, so that blocks share terms and use many parts.
            .map(|(term, counts)| (TermHash(u64::from(term) << 56 | u64::from(term)), counts))
            .filter(|(_, counts)| counts.iter().any(|&count| count > 0))
            .collect();
        terms.sort_unstable();
        terms.dedup_by_key(|(term, _)| *term);
        let record = DocRecord {
            address: DocAddress::new(1, position),
            at: Timestamp::UNIX_EPOCH,
            lengths: [1, 2, 3, 4, 5],
            kind: Kind::User,
            status: Status::Active,
            mentions_time: false,
        };
        IndexEntry { record, terms, vector: None }
    }

    fn entries() -> impl Strategy<Value = Vec<IndexEntry>> {
        vec(vec((any::<u8>(), any::<FieldCounts>()), 0..40), 0..60).prop_map(|all| {
            all.into_iter()
                .enumerate()
                .map(|(position, terms)| entry(position as u32, terms))
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_block_gives_back_what_was_sealed(entries in entries()) {
            let block = IndexBlock::seal(&entries, 0, &LAYOUT);
            prop_assert_eq!(block.entries(), entries.clone());
            let term = TermHash(7 << 56 | 7);
            let found = find_postings(&block.parts[part_of(term, block.part_bits)], term);
            let expected: Vec<_> = entries.iter().enumerate().filter_map(|(doc, entry)| {
                let counts = entry.terms.iter().find(|(found, _)| *found == term)?.1;
                Some(Posting { doc: doc as u32, counts })
            }).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn merging_equals_sealing_what_is_left(entries in entries(), cut in 0..60usize, deleted in vec(any::<bool>(), 60)) {
            let cut = cut.min(entries.len());
            let mut blocks = [IndexBlock::seal(&entries[cut..], 0, &LAYOUT), IndexBlock::seal(&entries[..cut], 0, &LAYOUT)];
            let mut left = entries.clone();
            left.retain(|entry| !deleted[entry.record.address.to_bits() as u32 as usize]);
            for block in &mut blocks {
                for doc in 0..block.docs.len() {
                    if deleted[block.docs.address(doc).to_bits() as u32 as usize] {
                        block.docs.mark_deleted(doc);
                    }
                }
            }
            prop_assert_eq!(IndexBlock::merge(&blocks, 0, &LAYOUT), IndexBlock::seal(&left, 0, &LAYOUT));
        }

        #[test]
        fn taking_a_document_out_leaves_the_others(entries in entries(), doc in 0..60u32) {
            let block = IndexBlock::seal(&entries, 0, &LAYOUT);
            let (mut left, mut removed) = (block.clone(), 0);
            for part in &mut left.parts {
                let (remaining, count) = without_doc(part, doc);
                *part = remaining;
                removed += count;
            }
            let mut expected = block.entries();
            if let Some(entry) = expected.get_mut(doc as usize) {
                prop_assert_eq!(removed, entry.terms.len());
                entry.terms.clear();
            }
            prop_assert_eq!(left.entries(), expected);
        }

        #[test]
        fn damaged_bytes_never_panic(bytes in vec(any::<u8>(), 0..200)) {
            let found: usize = term_lists(&bytes).map(|(_, list)| decode_postings(list).count()).sum();
            prop_assert!(found <= bytes.len());
            IndexEntry::decode(&bytes);
        }

        #[test]
        fn an_entry_comes_back_from_its_bytes(entries in entries()) {
            for entry in entries {
                prop_assert_eq!(IndexEntry::decode(&entry.encode()), Some(entry));
            }
        }
    }

    #[test]
    fn a_large_block_is_cut_into_parts_of_about_a_page() {
        let entries: Vec<_> = (0..2_000u32)
            .map(|doc| {
                let mut entry = entry(doc, vec![]);
                entry.terms = (0..20u64)
                    .map(|n| {
                        (
                            TermHash::of(&format!("{}", (u64::from(doc) * 31 + n * 977) % 4_000)),
                            [1, 0, 0, 0, 0],
                        )
                    })
                    .collect();
                entry.terms.sort_unstable();
                entry.terms.dedup();
                entry
            })
            .collect();
        let block = IndexBlock::seal(&entries, 0, &LAYOUT);
        let largest = block.parts.iter().map(Vec::len).max().unwrap();
        assert!(
            block.parts.len() > 16 && largest < 4_096,
            "{} parts, largest {largest}",
            block.parts.len()
        );
    }
}
