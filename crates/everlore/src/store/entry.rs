//! The index entry of a memory: its record and its terms, counted by field.

use std::{collections::HashMap, sync::Arc};

use crate::{
    text::{
        dates::mentions_time,
        terms::{Term, for_each_term},
    },
    types::{Memory, MemoryId, Slot},
};

use super::{
    FIELDS, Field, Place, Posting, Segment, Slots,
    segment::{Docs, RECORD_BYTES, Record, slot_bytes},
};

/// How often a memory has a term, by field.
pub(crate) type Counts = [u8; FIELDS];

/// What the index keeps of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) record: Record,
    /// Sorted by term.
    pub(crate) terms: Vec<(Term, Counts)>,
    /// The number of the model and the slot of the vector, if one was made.
    pub(crate) vector: Option<(u32, Vec<u8>)>,
}

impl IndexEntry {
    /// Analyses a memory that stands at `place`.
    pub(crate) fn of(memory: &Memory, place: Place) -> Self {
        let mut counting = Counting::default();
        counting.add(Field::Content, &memory.content);
        if !memory.content.starts_with(&memory.name) {
            // A title that repeats the beginning of the text would count the same words twice.
            counting.add(Field::Name, &memory.name);
        }
        counting.add(Field::Description, &memory.description);
        for tag in &memory.tags {
            counting.add(Field::Tags, tag);
            counting.exact("tag", tag);
        }
        counting.add(Field::Speaker, memory.source.speaker.as_deref().unwrap_or_default());
        if let Some(session) = &memory.source.session {
            counting.exact("session", session);
        }
        if let Some(slot) = Slot::of(&memory.metadata) {
            counting.exact("slot", &slot.key());
        }
        for turn in &memory.source.turns {
            counting.exact("turn", &turn.to_string());
        }
        let record = Record {
            place,
            at: memory.at,
            lengths: counting.lengths,
            kind: memory.kind,
            status: memory.status,
            names_time: mentions_time(&memory.content),
        };
        Self { record, terms: counting.sorted(), vector: None }
    }

    /// Appends the vector of this model, or an empty slot.
    fn push_slot(&self, model: u32, size: usize, to: &mut Vec<u8>) {
        match &self.vector {
            Some((number, slot)) if *number == model && slot.len() == size => to.extend(slot),
            _ => to.resize(to.len() + size, 0),
        }
    }

    /// The entry as bytes: the record, then for each term its hash and its counts.
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

    /// Reads what [`IndexEntry::encode`] wrote; `None` if it is damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (packed, mut rest) = bytes.split_at_checked(RECORD_BYTES)?;
        let docs = Docs::from_packed(packed.to_vec());
        let mut terms = Vec::with_capacity(rest.len() / 9);
        while let Some((hash, tail)) = rest.split_first_chunk() {
            let (counts, tail) = take_counts(tail)?;
            terms.push((Term(u64::from_le_bytes(*hash)), counts));
            rest = tail;
        }
        rest.is_empty().then(|| Self { record: docs.record(0), terms, vector: None })
    }
}

/// The term of memories about the same attribute of the same subject.
pub fn slot_term(slot: &Slot) -> Term {
    exact_term("slot", &slot.key())
}

/// The term of memories that were drawn from a turn.
pub fn drawn_from_term(turn: MemoryId) -> Term {
    exact_term("turn", &turn.to_string())
}

/// The term of a whole tag or session name, which no word of a text can equal: words never contain a NUL.
pub(crate) fn exact_term(what: &str, value: &str) -> Term {
    Term::of(&format!("{what}\0{value}"))
}

/// Appends counts: a byte that tells the fields and, if any count is above one, a byte for each field told.
pub(crate) fn push_counts(counts: &Counts, to: &mut Vec<u8>) {
    let mask =
        (0..FIELDS).filter(|&field| counts[field] > 0).fold(0u8, |mask, field| mask | 1 << field);
    if counts.iter().all(|&count| count <= 1) {
        to.push(mask);
    } else {
        to.push(mask | MANY);
        to.extend(counts.iter().filter(|&&count| count > 0));
    }
}

/// Reads what [`push_counts`] wrote and returns the rest.
pub(crate) fn take_counts(bytes: &[u8]) -> Option<(Counts, &[u8])> {
    let (&head, mut rest) = bytes.split_first()?;
    let mut counts = Counts::default();
    for (field, count) in counts.iter_mut().enumerate().filter(|(field, _)| head & 1 << field != 0)
    {
        *count = 1;
        if head & MANY != 0 {
            let (&byte, tail) = rest.split_first()?;
            (*count, rest) = (byte, tail);
        }
        debug_assert!(field < FIELDS);
    }
    Some((counts, rest))
}

/// Set in the counts' first byte when counts above one follow.
const MANY: u8 = 0x80;

#[derive(Default)]
struct Counting {
    terms: HashMap<Term, Counts, std::hash::BuildHasherDefault<TermHasher>>,
    lengths: [u32; FIELDS],
}

impl Counting {
    fn add(&mut self, field: Field, text: &str) {
        let length = &mut self.lengths[field as usize];
        for_each_term(text, &mut |term| {
            let count = &mut self.terms.entry(Term::of(term)).or_default()[field as usize];
            *count = count.saturating_add(1);
            *length = length.saturating_add(1);
        });
    }

    /// Counts a value that is only looked up whole; it adds nothing to lengths.
    fn exact(&mut self, what: &str, value: &str) {
        self.terms.entry(exact_term(what, value)).or_default()[Field::Tags as usize] = 1;
    }

    fn sorted(self) -> Vec<(Term, Counts)> {
        let mut terms: Vec<_> = self.terms.into_iter().collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        terms
    }
}

/// Terms are hashes already; hashing them again would only cost time.
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

/// The segment of sorted entries, with the postings of `terms` and the vectors of the model with a number and a size.
pub(crate) fn segment_of<'a>(
    entries: impl IntoIterator<Item = &'a IndexEntry>,
    terms: &[Term],
    model: Option<(u32, usize)>,
) -> Segment {
    let (mut packed, mut bytes) = (Vec::new(), Vec::new());
    let mut postings = vec![Vec::new(); terms.len()];
    for (doc, entry) in entries.into_iter().enumerate() {
        entry.record.pack(&mut packed);
        if let Some((number, dimensions)) = model {
            entry.push_slot(number, slot_bytes(dimensions), &mut bytes);
        }
        for (term, list) in terms.iter().zip(&mut postings) {
            if let Ok(found) = entry.terms.binary_search_by_key(term, |(term, _)| *term) {
                list.push(Posting { doc: doc as u32, counts: entry.terms[found].1 });
            }
        }
    }
    let slots = model.map(|(_, dimensions)| Slots::new(Arc::new(bytes), dimensions));
    Segment { docs: Docs::from_packed(packed), postings, slots }
}
