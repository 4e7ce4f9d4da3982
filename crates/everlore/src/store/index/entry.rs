//! The index entry of a memory: its record and its terms, counted by field.

use std::{collections::HashMap, sync::Arc};

use crate::{
    text::{
        dates::mentions_time,
        terms::{TermHash, for_each_term},
    },
    types::{EmbeddingModelId, Memory, MemoryId, Slot, Vector, error_keys},
};

use super::segment::{
    DocRecord, Docs, FIELD_COUNT, IndexField, Posting, RECORD_BYTES, Segment, SegmentVectors,
    vector_bytes,
};
use crate::store::DocAddress;

/// Number of times a memory has a term, by field.
pub(crate) type FieldCounts = [u8; FIELD_COUNT];

/// Index entry of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) record: DocRecord,
    /// Terms with their counts, sorted by term.
    pub(crate) terms: Vec<(TermHash, FieldCounts)>,
    /// Number of the model and packed vector, if there is one.
    pub(crate) vector: Option<(u32, Vec<u8>)>,
}

impl IndexEntry {
    /// Analyses a memory at `address`.
    pub(crate) fn from_memory(memory: &Memory, address: DocAddress) -> Self {
        let mut counting = TermCounter::default();
        counting.add(IndexField::Content, &memory.content);
        if !memory.content.starts_with(&memory.name) {
            // A title that repeats the beginning of the text would count the same words twice.
            counting.add(IndexField::Name, &memory.name);
        }
        counting.add(IndexField::Description, &memory.description);
        for tag in &memory.tags {
            counting.add(IndexField::Tags, tag);
            counting.add_keyword("tag", tag);
        }
        counting.add(IndexField::Speaker, memory.source.speaker.as_deref().unwrap_or_default());
        if let Some(session) = &memory.source.session {
            counting.add_keyword("session", session);
        }
        if let Some(slot) = Slot::from_metadata(&memory.metadata) {
            counting.add_keyword("slot", &slot.key());
        }
        for turn in &memory.source.turns {
            counting.add_keyword("turn", &turn.to_string());
        }
        for key in error_keys(&memory.metadata) {
            counting.add_keyword("error", &key.to_string());
        }
        let record = DocRecord {
            address,
            at: memory.at,
            lengths: counting.lengths,
            kind: memory.kind,
            status: memory.status,
            mentions_time: mentions_time(&memory.content),
        };
        Self { record, terms: counting.into_sorted(), vector: None }
    }

    /// Appends the packed vector of this model, or an empty one.
    fn push_vector(&self, model: u32, size: usize, to: &mut Vec<u8>) {
        match &self.vector {
            Some((number, packed)) if *number == model && packed.len() == size => to.extend(packed),
            _ => to.resize(to.len() + size, 0),
        }
    }

    /// Encodes the entry: the record, then for each term its hash and its counts.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // 8 bytes a hash and mostly one for the counts.
        let mut bytes = Vec::with_capacity(RECORD_BYTES + self.terms.len() * 9);
        self.record.pack(&mut bytes);
        for (term, counts) in &self.terms {
            bytes.extend(term.0.to_le_bytes());
            push_counts(counts, &mut bytes);
        }
        bytes
    }

    /// Decodes the bytes of [`IndexEntry::encode`]; `None` if they are damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (packed, mut rest) = bytes.split_at_checked(RECORD_BYTES)?;
        let docs = Docs::from_packed(packed.to_vec());
        let mut terms = Vec::with_capacity(rest.len() / 9);
        while let Some((hash, tail)) = rest.split_first_chunk() {
            let (counts, tail) = take_counts(tail)?;
            terms.push((TermHash(u64::from_le_bytes(*hash)), counts));
            rest = tail;
        }
        let is_whole = rest.is_empty() && terms.is_sorted_by(|one, other| one.0 < other.0);
        is_whole.then(|| Self { record: docs.record(0), terms, vector: None })
    }
}

/// Returns the term of memories about the same attribute of the same subject.
pub(crate) fn slot_term(slot: &Slot) -> TermHash {
    keyword_term("slot", &slot.key())
}

/// Returns the term of memories that were extracted from a turn.
pub(crate) fn source_turn_term(turn: MemoryId) -> TermHash {
    keyword_term("turn", &turn.to_string())
}

/// Returns the term of experiences whose error signature has a key.
pub(crate) fn error_term(key: u64) -> TermHash {
    keyword_term("error", &key.to_string())
}

/// Returns the term of a whole tag or session name, which no word of a text can equal: words never contain a NUL.
pub(crate) fn keyword_term(what: &str, value: &str) -> TermHash {
    TermHash::of(&format!("{what}\0{value}"))
}

/// Appends counts: a byte that names the fields and, if any count is above one, a byte for each named field.
pub(crate) fn push_counts(counts: &FieldCounts, to: &mut Vec<u8>) {
    let mask = (0..FIELD_COUNT)
        .filter(|&field| counts[field] > 0)
        .fold(0u8, |mask, field| mask | 1 << field);
    if counts.iter().all(|&count| count <= 1) {
        to.push(mask);
    } else {
        to.push(mask | COUNTS_FOLLOW);
        to.extend(counts.iter().filter(|&&count| count > 0));
    }
}

/// Decodes the bytes of [`push_counts`] and returns the rest.
pub(crate) fn take_counts(bytes: &[u8]) -> Option<(FieldCounts, &[u8])> {
    let (&head, mut rest) = bytes.split_first()?;
    let mut counts: FieldCounts = std::array::from_fn(|field| head >> field & 1);
    if head & COUNTS_FOLLOW != 0 {
        for count in counts.iter_mut().filter(|count| **count > 0) {
            (*count, rest) = rest.split_first().map(|(count, rest)| (*count, rest))?;
        }
    }
    Some((counts, rest))
}

/// Flag in the counts' first byte: counts above one follow.
const COUNTS_FOLLOW: u8 = 0x80;

#[derive(Default)]
struct TermCounter {
    terms: HashMap<TermHash, FieldCounts, std::hash::BuildHasherDefault<TermHasher>>,
    lengths: [u32; FIELD_COUNT],
}

impl TermCounter {
    fn add(&mut self, field: IndexField, text: &str) {
        let length = &mut self.lengths[field as usize];
        for_each_term(text, &mut |term| {
            let count = &mut self.terms.entry(TermHash::of(term)).or_default()[field as usize];
            *count = count.saturating_add(1);
            *length = length.saturating_add(1);
        });
    }

    /// Counts a value that is only looked up whole; it adds nothing to lengths.
    fn add_keyword(&mut self, what: &str, value: &str) {
        self.terms.entry(keyword_term(what, value)).or_default()[IndexField::Tags as usize] = 1;
    }

    fn into_sorted(self) -> Vec<(TermHash, FieldCounts)> {
        let mut terms: Vec<_> = self.terms.into_iter().collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        terms
    }
}

/// Hasher that passes terms through: they are hashes already, and hashing them again would only cost time.
#[derive(Default)]
struct TermHasher(u64);

impl std::hash::Hasher for TermHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Segment {
    /// Builds the segment of memories, which are in the order of their addresses, with the postings of `terms` and their
    /// vectors of `model`. A store without an index of its own answers
    /// [`SearchIndex::postings`](crate::store::SearchIndex::postings) with it.
    pub fn of_memories<'a>(
        memories: impl IntoIterator<Item = (DocAddress, &'a Memory, Option<&'a Vector>)>,
        terms: &[TermHash],
        model: Option<&EmbeddingModelId>,
    ) -> Self {
        // The number tells models apart in stored blocks; here there is one model.
        const MODEL: u32 = 1;
        let entry = |(address, memory, vector): (_, _, Option<&Vector>)| IndexEntry {
            vector: vector.map(|vector| (MODEL, vector.to_bytes())),
            ..IndexEntry::from_memory(memory, address)
        };
        let entries: Vec<_> = memories.into_iter().map(entry).collect();
        build_segment(&entries, terms, model.map(|model| (MODEL, model.dimensions)))
    }
}

/// Builds the segment of sorted entries, with the postings of `terms` and the vectors of the model with a number and a
/// size.
pub(crate) fn build_segment<'a>(
    entries: impl IntoIterator<Item = &'a IndexEntry>,
    terms: &[TermHash],
    model: Option<(u32, usize)>,
) -> Segment {
    let (mut packed, mut bytes) = (Vec::new(), Vec::new());
    let mut postings = vec![Vec::new(); terms.len()];
    for (doc, entry) in entries.into_iter().enumerate() {
        entry.record.pack(&mut packed);
        if let Some((number, dimensions)) = model {
            entry.push_vector(number, vector_bytes(dimensions), &mut bytes);
        }
        for (term, list) in terms.iter().zip(&mut postings) {
            if let Ok(found) = entry.terms.binary_search_by_key(term, |(term, _)| *term) {
                list.push(Posting { doc: doc as u32, counts: entry.terms[found].1 });
            }
        }
    }
    let vectors = model.map(|(_, dimensions)| SegmentVectors::new(Arc::new(bytes), dimensions));
    Segment { docs: Docs::from_packed(packed), postings, vectors }
}
