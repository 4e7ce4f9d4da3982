//! Index segment that a store returns to recall: a sorted run of indexed memories with the postings of the query's
//! terms.

use std::{
    any::Any,
    sync::{Arc, Mutex},
};

pub use everlore_kernel::Posting;
use everlore_kernel::dot;

use crate::sync::lock;
use crate::types::{Kind, Status, Timestamp, Vector};

use crate::store::DocAddress;

/// Number of fields in which a memory's terms are counted.
pub const FIELD_COUNT: usize = 5;

/// Parts of a memory whose terms are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum IndexField {
    /// Text.
    Content = 0,
    /// Title.
    Name = 1,
    /// Description: one line that tells if the memory matters.
    Description = 2,
    /// Keywords.
    Tags = 3,
    /// Speaker of the statement.
    Speaker = 4,
}

/// Run of memories in the order of their addresses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Segment {
    /// Records of the memories.
    pub docs: Docs,
    /// Postings of each requested term, in the order of `docs`.
    pub postings: Vec<Vec<Posting>>,
    /// Vectors of the requested model, if the segment has them.
    pub vectors: Option<SegmentVectors>,
}

/// Vectors of a segment, in the order of its [`Docs`].
#[derive(Debug, Clone, PartialEq)]
pub enum SegmentVectors {
    /// In RAM: each a scale and bytes.
    Loaded {
        /// All vectors, one after the other.
        bytes: Arc<Vec<u8>>,
        /// Bytes of one vector.
        vector_bytes: usize,
    },
    /// Still in the store, under this block id: too large to be read for one query. [`SearchIndex::similarities`]
    /// scores them there.
    ///
    /// [`SearchIndex::similarities`]: crate::store::SearchIndex::similarities
    Unloaded(i64),
    /// Similarities to a query; NaN where there is no vector.
    Scored(Vec<f32>),
}

impl SegmentVectors {
    /// Takes packed vectors with this many dimensions.
    pub(crate) fn new(bytes: Arc<Vec<u8>>, dimensions: usize) -> Self {
        Self::Loaded { bytes, vector_bytes: vector_bytes(dimensions) }
    }

    /// Returns the scale and the bytes of a document's vector; `None` if it is not in RAM or is empty.
    #[inline]
    pub(crate) fn get(&self, doc: usize) -> Option<(f32, &[u8])> {
        let Self::Loaded { bytes, vector_bytes } = self else { return None };
        unpack_vector(bytes.get(doc * vector_bytes..(doc + 1) * vector_bytes)?)
    }

    /// Returns the similarity of a document to a query, if it has a vector that is in RAM or was scored.
    #[inline]
    pub(crate) fn similarity(&self, doc: usize, question: &Vector) -> Option<f32> {
        match self {
            Self::Scored(compared) => compared.get(doc).copied().filter(|known| !known.is_nan()),
            _ => self.get(doc).map(|vector| similarity(vector, question)),
        }
    }
}

/// Splits a packed vector into scale and bytes; `None` if it is empty.
#[inline]
fn unpack_vector(bytes: &[u8]) -> Option<(f32, &[u8])> {
    let (scale, values) = bytes.split_first_chunk()?;
    let scale = f32::from_le_bytes(*scale);
    (scale > 0.0).then_some((scale, values))
}

#[inline]
fn similarity((scale, values): (f32, &[u8]), question: &Vector) -> f32 {
    dot(&question.values, values) as f32 * scale * question.scale
}

/// Computes the similarities of packed vectors to a query, one after the other; NaN where there is no vector.
pub(crate) fn similarities<'a>(
    bytes: &'a [u8],
    question: &'a Vector,
) -> impl Iterator<Item = f32> + 'a {
    let of = |bytes| unpack_vector(bytes).map_or(f32::NAN, |vector| similarity(vector, question));
    bytes.chunks_exact(vector_bytes(question.values.len())).map(of)
}

/// Returns the size of a packed vector with this many dimensions: a scale of four bytes, then one for each.
pub(crate) fn vector_bytes(dimensions: usize) -> usize {
    4 + dimensions
}

/// Records of a run of memories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Docs {
    records: Arc<PackedDocs>,
    /// Deleted documents that the run still lists, in order.
    deleted: Vec<u32>,
}

/// Packed records of [`RECORD_BYTES`], which never change, with the memo slot of their reader.
#[derive(Default)]
pub(crate) struct PackedDocs {
    packed: Vec<u8>,
    /// Memo slot; see [`Docs::memo`].
    memo: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

/// Size of a record: address 8, time 8, lengths 4 + 2 + 2 + 1 + 1, kind 1, status 1, flags 1.
pub(crate) const RECORD_BYTES: usize = 29;

/// Flag of memories whose text names a time.
const MENTIONS_TIME: u8 = 1;

/// Unpacked record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocRecord {
    pub(crate) address: DocAddress,
    pub(crate) at: Timestamp,
    pub(crate) lengths: [u32; FIELD_COUNT],
    pub(crate) kind: Kind,
    pub(crate) status: Status,
    pub(crate) mentions_time: bool,
}

impl DocRecord {
    /// Appends the record in its packed form; lengths that do not fit end at the largest that does.
    pub(crate) fn pack(&self, to: &mut Vec<u8>) {
        let [content, name, description, tags, speaker] = self.lengths;
        to.extend(self.address.to_bits().to_le_bytes());
        to.extend(self.at.as_millisecond().to_le_bytes());
        to.extend(content.to_le_bytes());
        to.extend(u16::try_from(name).unwrap_or(u16::MAX).to_le_bytes());
        to.extend(u16::try_from(description).unwrap_or(u16::MAX).to_le_bytes());
        to.push(u8::try_from(tags).unwrap_or(u8::MAX));
        to.push(u8::try_from(speaker).unwrap_or(u8::MAX));
        to.push(self.kind as u8);
        to.push(self.status as u8);
        to.push(if self.mentions_time { MENTIONS_TIME } else { 0 });
    }
}

impl PackedDocs {
    /// Takes packed records; a damaged end is left out.
    pub(crate) fn new(mut packed: Vec<u8>) -> Self {
        packed.truncate(packed.len() / RECORD_BYTES * RECORD_BYTES);
        Self { packed, memo: Mutex::default() }
    }

    /// Returns `true` if these are so many records, in the order of their addresses, as readers rely on.
    pub(crate) fn is_valid(&self, docs: usize) -> bool {
        let address = |record: &[u8]| record.first_chunk().map(|bits| u64::from_le_bytes(*bits));
        let addresses = self.packed.chunks_exact(RECORD_BYTES).map(address);
        self.packed.len() == docs * RECORD_BYTES && addresses.is_sorted_by(|one, next| one < next)
    }

    /// Returns the size of the records in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.packed.len()
    }
}

impl std::fmt::Debug for PackedDocs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PackedDocs").field(&self.packed).finish()
    }
}

impl PartialEq for PackedDocs {
    fn eq(&self, other: &Self) -> bool {
        self.packed == other.packed
    }
}

impl Eq for PackedDocs {}

impl Docs {
    /// Takes packed records; a damaged end is left out.
    pub(crate) fn from_packed(packed: Vec<u8>) -> Self {
        Self { records: Arc::new(PackedDocs::new(packed)), deleted: Vec::new() }
    }

    /// Takes shared records with their deleted documents, in order.
    pub(crate) fn shared(records: Arc<PackedDocs>, deleted: Vec<u32>) -> Self {
        Self { records, deleted }
    }

    /// Returns the records in their packed form.
    pub(crate) fn packed(&self) -> &[u8] {
        &self.records.packed
    }

    /// Counts the documents, deleted ones included.
    pub fn len(&self) -> usize {
        self.packed().len() / RECORD_BYTES
    }

    /// Returns `true` if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.packed().is_empty()
    }

    /// Returns the deleted documents, in order.
    pub(crate) fn deleted(&self) -> &[u32] {
        &self.deleted
    }

    /// Returns the same records with more deleted documents.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) fn with_deleted(&self, more: impl IntoIterator<Item = u32>) -> Self {
        let deleted: std::collections::BTreeSet<u32> =
            self.deleted.iter().copied().chain(more).collect();
        Self { records: Arc::clone(&self.records), deleted: deleted.into_iter().collect() }
    }

    /// Returns the value in the memo slot, or fills the slot with `make` if it is empty or its value no longer `holds`.
    ///
    /// The slot belongs to the reader of the records: a value computed from them lives as long as they do, so that the next
    /// query on the same segment reuses it. Recall caches its document statistics here. The store never looks inside, and
    /// the slot has room for one value: one of another type is replaced.
    pub(crate) fn memo<T: Send + Sync + 'static>(
        &self,
        holds: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let mut memo = lock(&self.records.memo);
        let before = memo.clone().and_then(|memo| memo.downcast::<T>().ok());
        if let Some(before) = before.filter(|before| holds(before)) {
            return before;
        }
        let value = Arc::new(make());
        *memo = Some(value.clone());
        value
    }

    /// Returns `true` if the memo slot has a value of this type that still `holds`.
    pub(crate) fn has_memo<T: 'static>(&self, holds: impl FnOnce(&T) -> bool) -> bool {
        let memo = lock(&self.records.memo);
        memo.as_ref().and_then(|memo| memo.downcast_ref::<T>()).is_some_and(holds)
    }

    /// Returns the address of the memory.
    #[inline]
    pub fn address(&self, doc: usize) -> DocAddress {
        DocAddress::from_bits(u64::from_le_bytes(self.bytes(doc, 0)))
    }

    /// Returns the time at which the memory was said.
    #[inline]
    pub fn at(&self, doc: usize) -> Timestamp {
        Timestamp::from_millisecond(i64::from_le_bytes(self.bytes(doc, 8))).unwrap_or_default()
    }

    /// Returns the times of the first and the last statement.
    pub(crate) fn time_span(&self) -> (Timestamp, Timestamp) {
        let at = |record: &[u8]| record[8..].first_chunk().map(|at| i64::from_le_bytes(*at));
        let all = || self.packed().chunks_exact(RECORD_BYTES).filter_map(at);
        let moment = |at: Option<i64>| Timestamp::from_millisecond(at?).ok();
        let (first, last) = (moment(all().min()), moment(all().max()));
        (first.unwrap_or(Timestamp::MIN), last.unwrap_or(Timestamp::MAX))
    }

    /// Returns the number of terms of the memory, by [`IndexField`].
    #[inline]
    pub(crate) fn lengths(&self, doc: usize) -> [u32; FIELD_COUNT] {
        let [a, b, c, d, e, f, g, h, tags, speaker] = self.bytes(doc, 16);
        let (name, description) = (u16::from_le_bytes([e, f]), u16::from_le_bytes([g, h]));
        let content = u32::from_le_bytes([a, b, c, d]);
        [content, name.into(), description.into(), tags.into(), speaker.into()]
    }

    /// Returns the kind of the memory.
    #[inline]
    pub fn kind(&self, doc: usize) -> Kind {
        Kind::ALL.get(usize::from(self.byte(doc, 26))).copied().unwrap_or(Kind::Turn)
    }

    /// Returns the status of the memory, which decides if it takes part in recall.
    #[inline]
    pub fn status(&self, doc: usize) -> Status {
        Status::ALL.get(usize::from(self.byte(doc, 27))).copied().unwrap_or(Status::Archived)
    }

    /// Returns `true` if the memory was deleted.
    #[inline]
    pub fn is_deleted(&self, doc: usize) -> bool {
        !self.deleted.is_empty() && self.deleted.binary_search(&(doc as u32)).is_ok()
    }

    /// Returns `true` if the text of the memory names a time.
    pub(crate) fn mentions_time(&self, doc: usize) -> bool {
        self.byte(doc, 28) & MENTIONS_TIME != 0
    }

    /// Returns the whole record of a memory.
    pub(crate) fn record(&self, doc: usize) -> DocRecord {
        DocRecord {
            address: self.address(doc),
            at: self.at(doc),
            lengths: self.lengths(doc),
            kind: self.kind(doc),
            status: self.status(doc),
            mentions_time: self.mentions_time(doc),
        }
    }

    /// Returns the position of an address in the run.
    pub(crate) fn index_of(&self, address: DocAddress) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.address(middle).cmp(&address) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Marks a memory as deleted.
    #[cfg(test)]
    pub(crate) fn mark_deleted(&mut self, doc: usize) {
        if let Err(index) = self.deleted.binary_search(&(doc as u32)) {
            self.deleted.insert(index, doc as u32);
        }
    }

    #[inline]
    fn byte(&self, doc: usize, offset: usize) -> u8 {
        self.records.packed[doc * RECORD_BYTES + offset]
    }

    #[inline]
    fn bytes<const N: usize>(&self, doc: usize, offset: usize) -> [u8; N] {
        let start = doc * RECORD_BYTES + offset;
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.records.packed[start..start + N]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(address: DocAddress) -> DocRecord {
        DocRecord {
            address,
            at: Timestamp::from_millisecond(-5).unwrap(),
            lengths: [70_000, 3, 70_000, 300, 1],
            kind: Kind::Feedback,
            status: Status::Superseded,
            mentions_time: true,
        }
    }

    #[test]
    fn a_record_comes_back_as_it_was_and_long_fields_end_at_their_limit() {
        let mut packed = Vec::new();
        record(DocAddress::new(7, 9)).pack(&mut packed);
        assert_eq!(packed.len(), RECORD_BYTES);
        let docs = Docs::from_packed(packed);
        assert_eq!(docs.address(0), DocAddress::new(7, 9));
        assert_eq!(docs.at(0).as_millisecond(), -5);
        assert_eq!(docs.lengths(0), [70_000, 3, 65_535, 255, 1]);
        assert_eq!(docs.lengths(0)[IndexField::Description as usize], 65_535);
        assert_eq!((docs.kind(0), docs.status(0)), (Kind::Feedback, Status::Superseded));
        assert!(docs.mentions_time(0) && !docs.is_deleted(0));
    }

    #[test]
    fn a_place_is_found_where_it_is_and_nowhere_else() {
        let mut packed = Vec::new();
        for position in [1, 4, 9] {
            record(DocAddress::new(1, position)).pack(&mut packed);
        }
        let docs = Docs::from_packed(packed);
        assert_eq!(docs.index_of(DocAddress::new(1, 4)), Some(1));
        assert_eq!(docs.index_of(DocAddress::new(1, 5)), None);
        assert_eq!(docs.index_of(DocAddress::new(2, 4)), None);
    }
}
