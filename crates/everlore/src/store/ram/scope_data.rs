//! Data of one scope in RAM.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::capture_queue::CaptureProgress;
use crate::{
    error::{Error, Result},
    store::{
        DocAddress, check_next_version, check_scope, index::IndexEntry, index_differs, uri_conflict,
    },
    types::{
        AppliedChange, Change, EmbeddingModelId, ErasureReceipt, Fingerprint, JournalEntry, Kind,
        Memory, MemoryId, Origin, QuarantinedDraft, Timestamp, Vector, WriteBatch,
    },
};

/// Data of one scope.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopeData {
    pub(super) rows: BTreeMap<DocAddress, Memory>,
    /// Vectors of the current texts, with their models.
    pub(super) vectors: HashMap<DocAddress, (EmbeddingModelId, Vector)>,
    /// Token vectors of the current texts, with their models.
    pub(super) token_vectors: HashMap<DocAddress, (EmbeddingModelId, Vec<u8>)>,
    /// Address of each memory, stored or deleted.
    pub(super) addresses: HashMap<MemoryId, DocAddress>,
    pub(super) journal: Vec<JournalEntry>,
    pub(super) tombstones: BTreeSet<Fingerprint>,
    pub(super) sessions: HashMap<String, u32>,
    /// Number of addresses that each session has given out.
    pub(super) session_lengths: HashMap<u32, u32>,
    /// Capture progress of each session.
    pub(super) captures: BTreeMap<u32, CaptureProgress>,
    /// Time of the last reading of a session.
    pub(super) extracted_at: Option<Timestamp>,
    /// Quarantined drafts.
    pub(super) quarantined: Vec<QuarantinedDraft>,
}

impl ScopeData {
    pub(super) fn memory(&self, id: MemoryId) -> Option<&Memory> {
        self.rows.get(self.addresses.get(&id)?)
    }

    pub(super) fn oldest_first(&self) -> Vec<&Memory> {
        let mut all: Vec<_> = self.rows.values().collect();
        all.sort_by_key(|memory| memory.id);
        all
    }

    /// Returns the earlier address of a memory, or the next one of its session.
    pub(super) fn address_for(&mut self, memory: &Memory) -> DocAddress {
        if let Some(address) = self.addresses.get(&memory.id) {
            return *address;
        }
        let session = match &memory.source.session {
            None => 0,
            Some(name) => {
                let next = self.sessions.len() as u32 + 1;
                *self.sessions.entry(name.clone()).or_insert(next)
            }
        };
        let length = self.session_lengths.entry(session).or_default();
        let address = DocAddress::new(session, *length);
        *length += 1;
        self.addresses.insert(memory.id, address);
        address
    }

    pub(super) fn has_vector(&self, address: DocAddress, model: &EmbeddingModelId) -> bool {
        self.vectors.get(&address).is_some_and(|(made_by, _)| made_by == model)
    }

    /// Returns the memories in the order of their addresses, with their vectors of `model`.
    pub(super) fn indexed<'a>(
        &'a self,
        model: Option<&'a EmbeddingModelId>,
    ) -> impl Iterator<Item = (DocAddress, &'a Memory, Option<&'a Vector>)> {
        self.rows.iter().map(move |(address, memory)| {
            let vector = self.vectors.get(address).filter(|(made_by, _)| model == Some(made_by));
            (*address, memory, vector.map(|(_, vector)| vector))
        })
    }

    /// Stores the vector with the text: a new text has a new one, or none.
    fn update_vector(
        &mut self,
        id: MemoryId,
        before: Option<&Memory>,
        vector: Option<(EmbeddingModelId, Vector)>,
    ) {
        let address = self.addresses[&id];
        let after = self.rows.get(&address);
        match (before, after) {
            (Some(before), Some(after)) if !index_differs(before, after) => {}
            (_, Some(_)) if vector.is_some() => {
                drop(vector.map(|vector| self.vectors.insert(address, vector)))
            }
            _ => drop(self.vectors.remove(&address)),
        }
    }

    /// Refuses a batch that must be written once and was.
    pub(super) fn check_repeated(&self, write: &WriteBatch) -> Result<()> {
        let Some(run) = write.single_run() else { return Ok(()) };
        let is_same =
            |line: &JournalEntry| line.run.as_deref() == Some(run) && line.cause == write.reason;
        if self.journal.iter().any(is_same) {
            return Err(Error::Repeated { run: run.to_owned() });
        }
        Ok(())
    }

    pub(super) fn apply(
        &mut self,
        write: &WriteBatch,
        change: &Change,
        vector: Option<(EmbeddingModelId, Vector)>,
    ) -> Result<AppliedChange> {
        let id = change.id();
        let before = self.memory(id).cloned();
        let mut erased = None;
        match change {
            Change::Add(memory) => self.add(write, memory)?,
            Change::Update(memory) => self.update(write, memory)?,
            Change::Delete(id) => self.remove(*id)?,
            Change::Erase(id) => erased = Some(self.erase(*id)?),
        }
        self.update_vector(id, before.as_ref(), vector);
        let content = self.memory(id).map(|memory| &memory.content);
        if before.as_ref().map(|before| &before.content) != content {
            let removed = self.token_vectors.remove(&self.addresses[&id]);
            erased.iter_mut().for_each(|erased: &mut ErasureReceipt| {
                erased.vectors += usize::from(removed.is_some())
            });
        }
        let after = self.memory(id).cloned().map(Box::new);
        let before = if erased.is_some() { None } else { before.map(Box::new) };
        let seq = self.journal.len() as u64 + 1;
        self.journal.push(JournalEntry {
            seq,
            at: write.at,
            actor: write.actor,
            cause: write.reason.clone(),
            run: write.run.clone(),
            cost: write.cost,
            op: change.op(),
            id,
            before,
            after,
        });
        Ok(AppliedChange { seq, id, erasure: erased })
    }

    fn add(&mut self, write: &WriteBatch, memory: &Memory) -> Result<()> {
        check_scope(write, memory)?;
        let same_uri = |other: &Memory| other.kind != Kind::Turn && other.uri == memory.uri;
        if self.memory(memory.id).is_some()
            || memory.kind != Kind::Turn && self.rows.values().any(same_uri)
        {
            return Err(uri_conflict(memory));
        }
        let address = self.address_for(memory);
        self.rows.insert(address, memory.clone());
        match (memory.kind, memory.source.via) {
            (Kind::Turn, _) => self.note_turn_added(address, write.at),
            (_, Origin::Extract) => self.quarantined.retain(|draft| draft.id() != memory.id),
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, write: &WriteBatch, memory: &Memory) -> Result<()> {
        check_scope(write, memory)?;
        let stored = self.memory(memory.id).ok_or_else(|| Error::not_found("memory", memory.id))?;
        check_next_version(stored, memory)?;
        self.rows.insert(self.addresses[&memory.id], memory.clone());
        Ok(())
    }

    fn remove(&mut self, id: MemoryId) -> Result<()> {
        let address =
            self.addresses.get(&id).and_then(|address| self.rows.remove(address).map(|_| address));
        address.map(|_| ()).ok_or_else(|| Error::not_found("memory", id))
    }

    fn erase(&mut self, id: MemoryId) -> Result<ErasureReceipt> {
        let address = *self.addresses.get(&id).ok_or_else(|| Error::not_found("memory", id))?;
        let row = self.rows.remove(&address);
        let mut texts: BTreeSet<_> = row.iter().map(Memory::fingerprint).collect();
        let mut journal_images = 0;
        for entry in self.journal.iter_mut().filter(|entry| entry.id == id) {
            texts.extend(entry.before.iter().chain(&entry.after).map(|image| image.fingerprint()));
            journal_images += usize::from(entry.before.take().is_some());
            entry.after = None;
        }
        let before = self.quarantined.len();
        self.quarantined.retain(|draft| {
            !draft.derives_from(id) && !texts.contains(&draft.memory.fingerprint())
        });
        let erased = ErasureReceipt {
            drafts: before - self.quarantined.len(),
            rows: usize::from(row.is_some()),
            index_terms: row.map_or(0, |row| IndexEntry::from_memory(&row, address).terms.len()),
            vectors: usize::from(self.vectors.contains_key(&address)),
            cached_vectors: 0,
            usage_lines: 0,
            journal_images,
            tombstones: texts.len(),
        };
        self.tombstones.extend(texts);
        Ok(erased)
    }
}
