//! What a scope has, in RAM.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::queue::Capture;
use crate::{
    error::{Error, Result},
    store::{Place, check_scope, check_successor, entry::IndexEntry, looks_different, taken},
    types::{
        Applied, Change, Entry, Erased, Fingerprint, Held, Kind, Memory, MemoryId, ModelId,
        Timestamp, Vector, Via, Write,
    },
};

/// There is one model at a time, so its number says nothing.
pub(super) const MODEL: u32 = 1;

/// Everything of one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    pub(super) rows: BTreeMap<Place, Memory>,
    /// The vectors of the texts that rows have now, with their models.
    pub(super) vectors: HashMap<Place, (ModelId, Vector)>,
    /// What a reranking model made of the words of these texts.
    pub(super) tokens: HashMap<Place, (ModelId, Vec<u8>)>,
    /// Where each memory stands or, once removed, stood.
    pub(super) places: HashMap<MemoryId, Place>,
    pub(super) journal: Vec<Entry>,
    pub(super) tombstones: BTreeSet<Fingerprint>,
    pub(super) sessions: HashMap<String, u32>,
    /// How many places each session has given out.
    pub(super) lengths: HashMap<u32, u32>,
    /// How far each session was read.
    pub(super) captures: BTreeMap<u32, Capture>,
    /// When one was last read.
    pub(super) extracted_at: Option<Timestamp>,
    /// Drafts that were not remembered.
    pub(super) held: Vec<Held>,
}

impl Shelf {
    pub(super) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.rows.get(self.places.get(&id)?)
    }

    pub(super) fn by_age(&self) -> Vec<&Memory> {
        let mut all: Vec<_> = self.rows.values().collect();
        all.sort_by_key(|memory| memory.id);
        all
    }

    /// The place a memory had before or the next one of its session.
    pub(super) fn place_for(&mut self, memory: &Memory) -> Place {
        if let Some(place) = self.places.get(&memory.id) {
            return *place;
        }
        let session = match &memory.source.session {
            None => 0,
            Some(name) => {
                let next = self.sessions.len() as u32 + 1;
                *self.sessions.entry(name.clone()).or_insert(next)
            }
        };
        let length = self.lengths.entry(session).or_default();
        let place = Place::new(session, *length);
        *length += 1;
        self.places.insert(memory.id, place);
        place
    }

    pub(super) fn has_vector(&self, place: Place, model: &ModelId) -> bool {
        self.vectors.get(&place).is_some_and(|(made_by, _)| made_by == model)
    }

    /// The index entry of a memory, with its vector if it is of this model.
    pub(super) fn entry(
        &self,
        memory: &Memory,
        place: Place,
        model: Option<&ModelId>,
    ) -> IndexEntry {
        let vector = self.vectors.get(&place).filter(|(made_by, _)| model == Some(made_by));
        let vector = vector.map(|(_, vector)| (MODEL, vector.to_slot()));
        IndexEntry { vector, ..IndexEntry::of(memory, place) }
    }

    /// Keeps the vector with the text: a new text has a new one, or none.
    fn keep_vector(
        &mut self,
        id: MemoryId,
        before: Option<&Memory>,
        made: Option<(ModelId, Vector)>,
    ) {
        let place = self.places[&id];
        let after = self.rows.get(&place);
        match (before, after) {
            (Some(before), Some(after)) if !looks_different(before, after) => {}
            (_, Some(_)) if made.is_some() => {
                drop(made.map(|made| self.vectors.insert(place, made)))
            }
            _ => drop(self.vectors.remove(&place)),
        }
    }

    pub(super) fn apply(
        &mut self,
        write: &Write,
        change: &Change,
        made: Option<(ModelId, Vector)>,
    ) -> Result<Applied> {
        let id = change.id();
        let before = self.memory(id).cloned();
        let mut erased = None;
        match change {
            Change::Add(memory) => self.add(write, memory)?,
            Change::Update(memory) => self.update(write, memory)?,
            Change::Delete(id) => self.remove(*id)?,
            Change::Erase(id) => erased = Some(self.erase(*id)?),
        }
        self.keep_vector(id, before.as_ref(), made);
        let content = self.memory(id).map(|memory| &memory.content);
        if before.as_ref().map(|before| &before.content) != content {
            let gone = self.tokens.remove(&self.places[&id]);
            erased
                .iter_mut()
                .for_each(|erased: &mut Erased| erased.vectors += usize::from(gone.is_some()));
        }
        let after = self.memory(id).cloned().map(Box::new);
        let before = if erased.is_some() { None } else { before.map(Box::new) };
        let seq = self.journal.len() as u64 + 1;
        self.journal.push(Entry {
            seq,
            at: write.at,
            actor: write.actor,
            cause: write.cause.clone(),
            run: write.run.clone(),
            cost: write.cost,
            op: change.op(),
            id,
            before,
            after,
        });
        Ok(Applied { seq, id, erased })
    }

    fn add(&mut self, write: &Write, memory: &Memory) -> Result<()> {
        check_scope(write, memory)?;
        let same_uri = |other: &Memory| other.kind != Kind::Turn && other.uri == memory.uri;
        if self.memory(memory.id).is_some()
            || memory.kind != Kind::Turn && self.rows.values().any(same_uri)
        {
            return Err(taken(memory));
        }
        let place = self.place_for(memory);
        self.rows.insert(place, memory.clone());
        match (memory.kind, memory.source.via) {
            (Kind::Turn, _) => self.turn_came(place, write.at),
            (_, Via::Extract) => self.held.retain(|held| held.id() != memory.id),
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, write: &Write, memory: &Memory) -> Result<()> {
        check_scope(write, memory)?;
        let stored = self.memory(memory.id).ok_or_else(|| Error::not_found("memory", memory.id))?;
        check_successor(stored, memory)?;
        self.rows.insert(self.places[&memory.id], memory.clone());
        Ok(())
    }

    fn remove(&mut self, id: MemoryId) -> Result<()> {
        let place = self.places.get(&id).and_then(|place| self.rows.remove(place).map(|_| place));
        place.map(|_| ()).ok_or_else(|| Error::not_found("memory", id))
    }

    fn erase(&mut self, id: MemoryId) -> Result<Erased> {
        let place = *self.places.get(&id).ok_or_else(|| Error::not_found("memory", id))?;
        let row = self.rows.remove(&place);
        let mut texts: BTreeSet<_> = row.iter().map(Memory::fingerprint).collect();
        let mut journal_images = 0;
        for entry in self.journal.iter_mut().filter(|entry| entry.id == id) {
            texts.extend(entry.before.iter().chain(&entry.after).map(|image| image.fingerprint()));
            journal_images += usize::from(entry.before.take().is_some());
            entry.after = None;
        }
        let held = self.held.len();
        self.held
            .retain(|held| !held.derives_from(id) && !texts.contains(&held.memory.fingerprint()));
        let erased = Erased {
            drafts: held - self.held.len(),
            rows: usize::from(row.is_some()),
            index_terms: row.map_or(0, |row| IndexEntry::of(&row, place).terms.len()),
            vectors: usize::from(self.vectors.contains_key(&place)),
            cached_vectors: 0,
            usage_lines: 0,
            journal_images,
            tombstones: texts.len(),
        };
        self.tombstones.extend(texts);
        Ok(erased)
    }
}
