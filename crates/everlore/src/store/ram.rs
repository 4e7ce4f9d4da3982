//! Memories in RAM: the plainest store there is. Others are compared with it, and recall of a past day runs on it.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{
    Counts, EMBED_BATCH, JournalQuery, Key, Made, Order, Page, Place, Segment, Store,
    entry::{IndexEntry, segment_of},
    looks_different,
};
use crate::{
    error::{Error, Result},
    text::terms::Term,
    types::{
        Applied, Change, Entry, Erased, Fingerprint, Kind, Memory, MemoryId, ModelId, Scope,
        Timestamp, Vector, Vectors, Write,
    },
};

/// A store without a file.
#[derive(Debug, Default)]
pub struct RamStore {
    shelves: Mutex<BTreeMap<Scope, Shelf>>,
    /// The model in use.
    model: Mutex<Option<ModelId>>,
}

/// There is one model at a time, so its number says nothing.
const MODEL: u32 = 1;

/// Everything of one scope.
#[derive(Debug, Clone, Default)]
struct Shelf {
    rows: BTreeMap<Place, Memory>,
    /// The vectors of the texts that rows have now, with their models.
    vectors: HashMap<Place, (ModelId, Vector)>,
    /// Where each memory stands or, once removed, stood.
    places: HashMap<MemoryId, Place>,
    journal: Vec<Entry>,
    tombstones: BTreeSet<Fingerprint>,
    sessions: HashMap<String, u32>,
    /// How many places each session has given out.
    lengths: HashMap<u32, u32>,
}

impl RamStore {
    /// A store that holds these memories of one scope, with no history.
    pub fn holding(scope: &Scope, memories: Vec<Memory>) -> Self {
        let mut shelf = Shelf::default();
        for memory in memories {
            let place = shelf.place_for(&memory);
            shelf.rows.insert(place, memory);
        }
        Self { shelves: Mutex::new(BTreeMap::from([(scope.clone(), shelf)])), ..Self::default() }
    }

    fn shelves(&self) -> MutexGuard<'_, BTreeMap<Scope, Shelf>> {
        // Shelves are replaced whole, so one is never seen half changed, even after a panic.
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_use(&self) -> Option<ModelId> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The vectors of a write, if they are of the model in use; the first model that writes is.
    fn usable<'a>(&self, vectors: Option<&'a Vectors>) -> Option<&'a Vectors> {
        let made = vectors?;
        self.in_use().is_none_or(|model| model == made.model).then_some(made)
    }

    fn read<T>(&self, scope: &Scope, read: impl FnOnce(&Shelf) -> T) -> T {
        let empty = Shelf::default();
        read(self.shelves().get(scope).unwrap_or(&empty))
    }
}

#[async_trait]
impl Store for RamStore {
    async fn apply(&self, write: Write) -> Result<Vec<Applied>> {
        let mut shelves = self.shelves();
        let mut shelf = shelves.get(&write.scope).cloned().unwrap_or_default();
        let mut applied = Vec::with_capacity(write.changes.len());
        let vectors = self.usable(write.vectors.as_ref());
        for (index, change) in write.changes.iter().enumerate() {
            let made = vectors
                .and_then(|made| Some((made.model.clone(), made.vectors.get(index)?.clone()?)));
            applied.push(shelf.apply(&write, change, made)?);
        }
        shelf.tombstones.extend(&write.erased_texts);
        shelves.insert(write.scope, shelf);
        if let (None, Some(Vectors { model, .. })) = (self.in_use(), write.vectors) {
            *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model);
        }
        Ok(applied)
    }

    async fn get(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Option<Memory>>> {
        Ok(self.read(scope, |shelf| ids.iter().map(|id| shelf.memory(*id).cloned()).collect()))
    }

    async fn find(&self, scope: &Scope, key: &Key, limit: usize) -> Result<Vec<Memory>> {
        let fits = |memory: &&Memory| match key {
            Key::IdPrefix(prefix) => memory.id.to_string().replace('-', "").starts_with(prefix),
            Key::Uri(uri) => memory.kind != Kind::Turn && memory.uri == *uri,
            Key::Text(text) => memory.kind != Kind::Turn && memory.fingerprint() == *text,
        };
        Ok(self.read(scope, |shelf| {
            shelf.by_age().into_iter().filter(fits).take(limit).cloned().collect()
        }))
    }

    async fn list(&self, scope: &Scope, page: &Page) -> Result<Vec<Memory>> {
        let fits = |memory: &&Memory| {
            page.after.is_none_or(|after| match page.order {
                Order::NewestFirst => memory.id < after,
                Order::OldestFirst => memory.id > after,
            }) && page.filter.matches(memory)
        };
        Ok(self.read(scope, |shelf| {
            let mut all = shelf.by_age();
            if page.order == Order::NewestFirst {
                all.reverse();
            }
            all.into_iter().filter(fits).take(page.limit).cloned().collect()
        }))
    }

    async fn postings(
        &self,
        scope: &Scope,
        terms: &[Term],
        model: Option<&ModelId>,
    ) -> Result<Vec<Segment>> {
        let model = model.filter(|model| self.in_use().as_ref() == Some(model));
        Ok(self.read(scope, |shelf| {
            let entries: Vec<_> = shelf
                .rows
                .iter()
                .map(|(place, memory)| shelf.entry(memory, *place, model))
                .collect();
            vec![segment_of(&entries, terms, model.map(|model| (MODEL, model.dimensions)))]
        }))
    }

    async fn model(&self) -> Result<Option<ModelId>> {
        Ok(self.in_use())
    }

    async fn use_model(&self, model: &ModelId) -> Result<()> {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
        Ok(())
    }

    async fn unembedded(&self) -> Result<Vec<Memory>> {
        let Some(model) = self.in_use() else { return Ok(Vec::new()) };
        let waiting = |shelf: &Shelf| -> Vec<Memory> {
            let rows = shelf.rows.iter().filter(|(place, _)| !shelf.has_vector(**place, &model));
            rows.map(|(_, memory)| memory.clone()).take(EMBED_BATCH).collect()
        };
        Ok(self
            .shelves()
            .values()
            .map(waiting)
            .find(|waiting| !waiting.is_empty())
            .unwrap_or_default())
    }

    async fn embed(&self, scope: &Scope, model: &ModelId, made: Vec<Made>) -> Result<()> {
        if let Some(shelf) = self.shelves().get_mut(scope) {
            for Made { id, version, vector } in made {
                if shelf.memory(id).is_some_and(|memory| memory.version == version) {
                    shelf.vectors.insert(shelf.places[&id], (model.clone(), vector));
                }
            }
        }
        Ok(())
    }

    async fn at_places(&self, scope: &Scope, places: &[Place]) -> Result<Vec<(Place, Memory)>> {
        Ok(self.read(scope, |shelf| {
            places
                .iter()
                .filter_map(|place| Some((*place, shelf.rows.get(place)?.clone())))
                .collect()
        }))
    }

    async fn verify(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<bool>> {
        Ok(self.read(scope, |shelf| ids.iter().map(|id| shelf.memory(*id).is_some()).collect()))
    }

    async fn journal(&self, scope: &Scope, query: &JournalQuery) -> Result<Vec<Entry>> {
        let fits = |entry: &&Entry| {
            query.id.is_none_or(|id| entry.id == id)
                && query.run.as_ref().is_none_or(|run| entry.run.as_ref() == Some(run))
                && query.seq.is_none_or(|seq| entry.seq == seq)
                && query.before.is_none_or(|before| entry.seq < before)
        };
        let limit = query.limit.unwrap_or(usize::MAX);
        Ok(self.read(scope, |shelf| {
            shelf.journal.iter().rev().filter(fits).take(limit).cloned().collect()
        }))
    }

    async fn as_of(&self, scope: &Scope, at: Timestamp) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |shelf| {
            let mut then: BTreeMap<_, _> =
                shelf.rows.values().map(|memory| (memory.id, memory)).collect();
            for entry in shelf.journal.iter().rev().filter(|entry| entry.at > at) {
                match &entry.before {
                    Some(before) => then.insert(entry.id, before),
                    None => then.remove(&entry.id),
                };
            }
            then.into_values().cloned().collect()
        }))
    }

    async fn erased(&self, scope: &Scope, texts: &[Fingerprint]) -> Result<Vec<bool>> {
        Ok(self.read(scope, |shelf| {
            texts.iter().map(|text| shelf.tombstones.contains(text)).collect()
        }))
    }

    async fn tombstones(&self, scope: &Scope) -> Result<Vec<Fingerprint>> {
        Ok(self.read(scope, |shelf| shelf.tombstones.iter().copied().collect()))
    }

    async fn count(&self, scope: &Scope) -> Result<Counts> {
        Ok(self.read(scope, |shelf| {
            let mut memories = BTreeMap::new();
            for memory in shelf.rows.values() {
                *memories.entry((memory.kind, memory.status)).or_default() += 1;
            }
            Counts {
                memories: memories
                    .into_iter()
                    .map(|((kind, status), count)| (kind, status, count))
                    .collect(),
                changes: shelf.journal.len(),
                tombstones: shelf.tombstones.len(),
            }
        }))
    }

    async fn scopes(&self) -> Result<Vec<Scope>> {
        Ok(self.shelves().keys().cloned().collect())
    }

    async fn check(&self, _scope: &Scope) -> Result<Vec<String>> {
        // The index is made from the rows at every question, so the two cannot disagree.
        Ok(Vec::new())
    }

    async fn reindex(&self, scope: &Scope) -> Result<usize> {
        Ok(self.read(scope, |shelf| shelf.rows.len()))
    }

    async fn close(&self) {}
}

impl Shelf {
    fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.rows.get(self.places.get(&id)?)
    }

    fn by_age(&self) -> Vec<&Memory> {
        let mut all: Vec<_> = self.rows.values().collect();
        all.sort_by_key(|memory| memory.id);
        all
    }

    /// The place a memory had before or the next one of its session.
    fn place_for(&mut self, memory: &Memory) -> Place {
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

    fn has_vector(&self, place: Place, model: &ModelId) -> bool {
        self.vectors.get(&place).is_some_and(|(made_by, _)| made_by == model)
    }

    /// The index entry of a memory, with its vector if it is of this model.
    fn entry(&self, memory: &Memory, place: Place, model: Option<&ModelId>) -> IndexEntry {
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

    fn apply(
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
        super::check_scope(write, memory)?;
        let taken = |other: &Memory| other.kind != Kind::Turn && other.uri == memory.uri;
        if self.memory(memory.id).is_some()
            || memory.kind != Kind::Turn && self.rows.values().any(taken)
        {
            return Err(super::taken(memory));
        }
        let place = self.place_for(memory);
        self.rows.insert(place, memory.clone());
        Ok(())
    }

    fn update(&mut self, write: &Write, memory: &Memory) -> Result<()> {
        super::check_scope(write, memory)?;
        let stored = self.memory(memory.id).ok_or_else(|| Error::not_found("memory", memory.id))?;
        super::check_successor(stored, memory)?;
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
        let erased = Erased {
            rows: usize::from(row.is_some()),
            index_terms: row.map_or(0, |row| IndexEntry::of(&row, place).terms.len()),
            vectors: usize::from(self.vectors.contains_key(&place)),
            journal_images,
            tombstones: texts.len(),
        };
        self.tombstones.extend(texts);
        Ok(erased)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    async fn fresh() -> Arc<dyn Store> {
        Arc::new(RamStore::default())
    }

    crate::store::conformance::suite!(fresh);
}
