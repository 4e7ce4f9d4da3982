//! Memories in RAM: the plainest store there is. Others are compared with it, and recall of a past day runs on it.

mod shelf;
mod life;
mod queue;
mod tree;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use self::{
    life::Life,
    shelf::{MODEL, Shelf},
};
use super::{
    Counts, EMBED_BATCH, JournalQuery, Key, Ledger, Made, MadeTokens, Order, Page, Place, Segment,
    Store, UsageLog, entry::segment_of,
};
use crate::{
    error::Result,
    text::terms::Term,
    types::{
        Applied, Entry, Fingerprint, Kind, Memory, MemoryId, ModelId, Scope, Timestamp, Vectors,
        Write,
    },
};

/// A store without a file.
#[derive(Debug, Default)]
pub struct RamStore {
    shelves: Mutex<BTreeMap<Scope, Shelf>>,
    /// The model in use.
    model: Mutex<Option<ModelId>>,
    life: Mutex<Life>,
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
        for erased in applied.iter_mut().filter(|applied| applied.erased.is_some()) {
            let lines = self.life().forget(&write.scope, erased.id);
            erased.erased.iter_mut().for_each(|receipt| receipt.usage_lines = lines);
        }
        shelf.tombstones.extend(&write.erased_texts);
        if let Some(extracted) = &write.extracted {
            shelf.extracted(extracted, write.at)?;
        }
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

    async fn embedded(&self) -> Result<(usize, usize)> {
        let model = self.in_use();
        let made = |shelf: &Shelf| {
            let has = |place: &&Place| {
                model.as_ref().is_some_and(|model| shelf.has_vector(**place, model))
            };
            shelf.rows.keys().filter(has).count()
        };
        let shelves = self.shelves();
        let made: usize = shelves.values().map(made).sum();
        Ok((made, shelves.values().map(|shelf| shelf.rows.len()).sum::<usize>() - made))
    }

    async fn unembedded(&self, scope: Option<&Scope>) -> Result<Vec<Memory>> {
        let Some(model) = self.in_use() else { return Ok(Vec::new()) };
        let waiting = |shelf: &Shelf| -> Vec<Memory> {
            let rows = shelf.rows.iter().filter(|(place, _)| !shelf.has_vector(**place, &model));
            rows.map(|(_, memory)| memory.clone()).take(EMBED_BATCH).collect()
        };
        Ok(self
            .shelves()
            .iter()
            .filter(|(owner, _)| scope.is_none_or(|scope| scope == *owner))
            .map(|(_, shelf)| waiting(shelf))
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

    async fn tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        places: &[Place],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let kept = |shelf: &Shelf, place| match shelf.tokens.get(place) {
            Some((made_by, tokens)) if made_by == model => Some(tokens.clone()),
            _ => None,
        };
        Ok(self.read(scope, |shelf| places.iter().map(|place| kept(shelf, place)).collect()))
    }

    async fn keep_tokens(
        &self,
        scope: &Scope,
        model: &ModelId,
        made: Vec<MadeTokens>,
    ) -> Result<()> {
        let mut shelves = self.shelves();
        for shelf in shelves.values_mut() {
            shelf.tokens.retain(|_, (made_by, _)| made_by == model);
        }
        let Some(shelf) = shelves.get_mut(scope) else { return Ok(()) };
        for MadeTokens { id, version, tokens } in made {
            if shelf.memory(id).is_some_and(|memory| memory.version == version) {
                shelf.tokens.insert(shelf.places[&id], (model.clone(), tokens));
            }
        }
        Ok(())
    }

    async fn unread(
        &self,
        scope: &Scope,
        model: &ModelId,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Memory>> {
        Ok(self.read(scope, |shelf| {
            let kept = |place| shelf.tokens.get(place).is_some_and(|(made_by, _)| made_by == model);
            let waits =
                |memory: &&Memory| after < Some(memory.id) && !kept(&shelf.places[&memory.id]);
            shelf.by_age().into_iter().filter(waits).take(limit).cloned().collect()
        }))
    }

    async fn count_read(&self, model: &ModelId) -> Result<(usize, usize)> {
        let shelves = self.shelves();
        let made = |shelf: &Shelf| shelf.tokens.values().filter(|(by, _)| by == model).count();
        let made: usize = shelves.values().map(made).sum();
        Ok((made, shelves.values().map(|shelf| shelf.rows.len()).sum::<usize>() - made))
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

    fn usage(&self) -> &dyn UsageLog {
        self
    }

    fn ledger(&self) -> &dyn Ledger {
        self
    }

    async fn vacuum(&self) -> Result<u64> {
        Ok(0)
    }

    async fn close(&self) {}
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
