//! The bytes of layout 3: tail rows, pages of records, parts of postings.

use std::collections::HashMap;

use super::Doc;
use crate::terms::{BaselineTerm, TERM_BITS};

/// Records of one page: 160 of 24 bytes fit a database page without overflow.
pub(super) const PAGE_DOCS: u32 = 160;
const RECORD_BYTES: usize = 24;
/// The bytes a part should have: two fit a database page of 4 KB, which came out a little smaller and faster than one.
const PART_BYTES: usize = 1_900;
const TERM_BYTES: usize = 6;
const TAIL_HEAD_BYTES: usize = 12;
/// Set in the count of terms when the ends of the lists need four bytes instead of two.
const WIDE: usize = 0x8000;

/// What a block keeps of each memory. The engine needs the other 12 bytes for session, place, speaker and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: i64,
    pub(super) length: u32,
}

/// One memory of one term; `doc` is its number in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) term: BaselineTerm,
    pub(super) doc: u32,
    pub(super) frequency: u32,
}

/// A block in memory, before it is written or while it is merged.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) records: Vec<Record>,
    pub(super) entries: Vec<Entry>,
}

impl Block {
    pub(super) fn add(&mut self, record: Record, terms: impl Iterator<Item = (BaselineTerm, u32)>) {
        let doc = self.records.len() as u32;
        self.entries.extend(terms.map(|(term, frequency)| Entry { term, doc, frequency }));
        self.records.push(record);
    }

    /// Adds the memories of a newer block behind those of this one.
    pub(super) fn extend(&mut self, newer: Self) {
        let first = self.records.len() as u32;
        self.entries.extend(newer.entries.into_iter().map(|e| Entry { doc: e.doc + first, ..e }));
        self.records.extend(newer.records);
    }

    /// Takes out the dead and returns the ids of those that were here.
    pub(super) fn drop_dead(&mut self, dead: &HashMap<i64, i64>) -> Vec<i64> {
        if dead.is_empty() {
            return vec![];
        }
        let mut place = 0;
        let places: Vec<Option<u32>> = self
            .records
            .iter()
            .map(|record| {
                let alive = !dead.contains_key(&record.id);
                place += u32::from(alive);
                alive.then(|| place - 1)
            })
            .collect();
        let moved = |e: &Entry| places[e.doc as usize].map(|doc| Entry { doc, ..*e });
        self.entries = self.entries.iter().filter_map(moved).collect();
        let (gone, kept) = self.records.iter().partition(|record| dead.contains_key(&record.id));
        self.records = kept;
        let gone: Vec<Record> = gone;
        gone.iter().map(|record| record.id).collect()
    }

    pub(super) fn total_length(&self) -> i64 {
        self.records.iter().map(|record| i64::from(record.length)).sum()
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = Vec<u8>> {
        self.records.chunks(PAGE_DOCS as usize).map(|records| {
            let mut page = vec![0; records.len() * RECORD_BYTES];
            for (slot, record) in page.chunks_exact_mut(RECORD_BYTES).zip(records) {
                slot[..8].copy_from_slice(&record.id.to_le_bytes());
                slot[8..12].copy_from_slice(&record.length.to_le_bytes());
            }
            page
        })
    }

    /// The number of parts, and the bytes of those that hold anything.
    pub(super) fn into_parts(mut self) -> (i64, Vec<(i64, Vec<u8>)>) {
        // A stable sort: within a term, memories stay in order; a merge of sorted blocks is quick.
        self.entries.sort_by_key(|entry| entry.term);
        let lists: Vec<_> = self
            .entries
            .chunk_by(|a, b| a.term == b.term)
            .map(|l| (l[0].term, encode(l)))
            .collect();
        let bytes: usize = lists.iter().map(|(_, list)| list.len() + TERM_BYTES + 2).sum();
        let parts = bytes.div_ceil(PART_BYTES).max(1) as i64;
        let same_part = |a: &(BaselineTerm, _), b: &(BaselineTerm, _)| {
            part_of(a.0, parts) == part_of(b.0, parts)
        };
        let written = lists.chunk_by(same_part).map(|l| (part_of(l[0].0, parts), join(l)));
        (parts, written.collect())
    }
}

/// The part that holds a term: parts are equal ranges of the hashes.
pub(super) fn part_of(term: BaselineTerm, parts: i64) -> i64 {
    ((i128::from(term) * i128::from(parts)) >> TERM_BITS) as i64
}

/// A stored part, read without a copy: a sorted directory of terms, where each list ends, then the lists.
///
/// Terms have a fixed size so that one is found by bisection; going through a hundred packed ones took longer than reading
/// the part did.
pub(super) struct Part<'a> {
    terms: &'a [u8],
    ends: &'a [u8],
    end_bytes: usize,
    lists: &'a [u8],
}

impl<'a> Part<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (head, rest) = bytes.split_at(2);
        let head = number(head) as usize;
        let end_bytes = if head & WIDE == 0 { 2 } else { 4 };
        let (terms, rest) = rest.split_at((head & !WIDE) * TERM_BYTES);
        let (ends, lists) = rest.split_at((head & !WIDE) * end_bytes);
        Self { terms, ends, end_bytes, lists }
    }

    /// Appends the memories of one term to `hits`, if the part has it.
    pub(super) fn find(&self, wanted: BaselineTerm, hits: &mut Vec<Entry>) {
        if let Some(index) = bisect(self.terms, wanted) {
            decode(self.list(index), wanted, |entry| hits.push(entry));
        }
    }

    /// Visits all entries.
    pub(super) fn each_entry(&self, mut visit: impl FnMut(Entry)) {
        for index in 0..self.terms.len() / TERM_BYTES {
            decode(self.list(index), self.term(index), &mut visit);
        }
    }

    fn term(&self, index: usize) -> BaselineTerm {
        number(&self.terms[index * TERM_BYTES..][..TERM_BYTES])
    }

    fn list(&self, index: usize) -> &'a [u8] {
        let end =
            |index: usize| number(&self.ends[index * self.end_bytes..][..self.end_bytes]) as usize;
        let start = if index == 0 { 0 } else { end(index - 1) };
        &self.lists[start..end(index)]
    }
}

/// The records of a page.
pub(super) fn records(page: &[u8]) -> impl Iterator<Item = Record> {
    page.chunks_exact(RECORD_BYTES).map(record)
}

/// The record of this number in a page.
pub(super) fn record_at(page: &[u8], index: usize) -> Record {
    record(&page[index * RECORD_BYTES..])
}

fn record(bytes: &[u8]) -> Record {
    Record { id: number(&bytes[..8]), length: number(&bytes[8..12]) as u32 }
}

/// A memory as a row of the tail: the record, the sorted terms in a fixed size each, then how often each occurs (a count
/// above 255 says nothing more).
pub(super) fn pack(doc: &Doc) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(TAIL_HEAD_BYTES + doc.terms.len() * (TERM_BYTES + 1));
    bytes.extend(doc.id.to_le_bytes());
    bytes.extend(doc.length.to_le_bytes());
    doc.terms.iter().for_each(|(term, _)| bytes.extend(&term.to_le_bytes()[..TERM_BYTES]));
    bytes.extend(doc.terms.iter().map(|(_, frequency)| (*frequency).min(255) as u8));
    bytes
}

/// A row of the tail, read without a copy.
pub(super) struct TailRow<'a> {
    pub(super) record: Record,
    terms: &'a [u8],
    frequencies: &'a [u8],
}

impl<'a> TailRow<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let (head, rest) = bytes.split_at(TAIL_HEAD_BYTES);
        let (terms, frequencies) = rest.split_at(rest.len() / (TERM_BYTES + 1) * TERM_BYTES);
        Self { record: record(head), terms, frequencies }
    }

    pub(super) fn frequency(&self, wanted: BaselineTerm) -> Option<u32> {
        bisect(self.terms, wanted).map(|index| self.frequencies[index].into())
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (BaselineTerm, u32)> {
        let terms = self.terms.chunks_exact(TERM_BYTES).map(number);
        terms.zip(self.frequencies.iter().map(|frequency| (*frequency).into()))
    }
}

/// Where a term stands in a sorted run of terms.
fn bisect(terms: &[u8], wanted: BaselineTerm) -> Option<usize> {
    let at = |index: usize| number(&terms[index * TERM_BYTES..][..TERM_BYTES]);
    let (mut low, mut high) = (0, terms.len() / TERM_BYTES);
    while low < high {
        let middle = low.midpoint(high);
        if at(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    (low * TERM_BYTES < terms.len() && at(low) == wanted).then_some(low)
}

/// The list of one term: steps from memory to memory, with a bit that says whether a frequency above one follows.
fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0;
    for entry in entries {
        let repeated = entry.frequency > 1;
        put(&mut bytes, i64::from(entry.doc - before) << 1 | i64::from(repeated));
        if repeated {
            put(&mut bytes, entry.frequency.into());
        }
        before = entry.doc;
    }
    bytes
}

fn decode(mut list: &[u8], term: BaselineTerm, mut visit: impl FnMut(Entry)) {
    let mut doc = 0;
    while !list.is_empty() {
        let step = take(&mut list);
        doc += (step >> 1) as u32;
        let frequency = if step & 1 == 1 { take(&mut list) as u32 } else { 1 };
        visit(Entry { term, doc, frequency });
    }
}

fn join(lists: &[(BaselineTerm, Vec<u8>)]) -> Vec<u8> {
    let total: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let (wide, end_bytes) = if total <= usize::from(u16::MAX) { (0, 2) } else { (WIDE, 4) };
    let mut part = ((lists.len() | wide) as u16).to_le_bytes().to_vec();
    lists.iter().for_each(|(term, _)| part.extend(&term.to_le_bytes()[..TERM_BYTES]));
    let mut end = 0;
    for (_, list) in lists {
        end += list.len();
        part.extend(&end.to_le_bytes()[..end_bytes]);
    }
    lists.iter().for_each(|(_, list)| part.extend(list));
    part
}

/// A number of up to eight bytes, the lowest first.
fn number(bytes: &[u8]) -> i64 {
    let mut whole = [0; 8];
    whole[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(whole)
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: i64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> i64 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= i64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_longer_than_a_page_comes_back_whole() {
        let mut block = Block::default();
        let frequency = |doc: u32| 1 + doc % 3;
        for doc in 0..70_000 {
            let terms = [(1_i64 << 46, frequency(doc)), (i64::from(doc), 1)];
            block.add(Record { id: i64::from(doc) + 5, length: 3 }, terms.into_iter());
        }
        let (parts, written) = block.into_parts();
        let (_, bytes) = written.iter().find(|(part, _)| *part == part_of(1 << 46, parts)).unwrap();
        let mut hits = Vec::new();
        Part::new(bytes).find(1 << 46, &mut hits);
        assert_eq!(hits.len(), 70_000);
        let right = |(doc, hit): (u32, &Entry)| hit.doc == doc && hit.frequency == frequency(doc);
        assert!((0..).zip(&hits).all(right));
    }

    #[test]
    fn numbers_of_any_size_are_packed_and_read_back() {
        for number in [0, 1, 127, 128, 300, 1 << 46, i64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&mut bytes.as_slice()), number);
        }
    }
}
