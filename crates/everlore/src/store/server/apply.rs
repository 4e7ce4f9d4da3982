//! One write: it locks the scope and loads the rows it touches, plans, loads what its index changes need, and sends all
//! statements with the commit. That are two or three round trips, whatever the size of the batch.
//!
//! Every write has an id, which the transaction stores. When a connection breaks during a commit, the next attempt locks
//! the scope, which waits for the end of the lost transaction, and looks for the id before it writes again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
};

use super::{
    ServerStore,
    block_tables::{self, read_joined, read_tail, read_whole, select_rows, select_tail},
    driver::{SqlErrorKind, StatementResult, failure_kind},
    index_edit::{IndexEdit, IndexLoaded, IndexNeeds, IndexState},
    load::{CaptureState, LoadedWrite, WriteKeys},
    models::{self, ModelRegistry, ModelUse},
    quarantine, rows,
    rows::TurnRange,
    scope_row::{self, LockedScope, ScopeKey},
    sql::{SqlRow, Statement, sql},
    tables::BLOCK_DOCS,
    transaction::{RetryPolicy, Transaction, retried},
    write_script::{PassedTurns, WriteScript},
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        capture_queue::{lease_lost, starts_exchange},
        index::{
            Docs, IndexEntry,
            assemble::{BlockSnapshot, valid_docs},
            block_cache::{CachedBlock, CachedVectors},
        },
        plan::{Effects, SessionCounter, analyze_entries, plan},
        row::MemoryRow,
        uri_conflict,
    },
    sync::{lock, run_blocking},
    types::{AppliedChange, CaptureCheckpoint, Kind, Memory, MemoryId, QuarantinedDraft, WriteBatch},
};

/// Writes with more changes than this are analysed away from the async threads.
const MAX_INLINE: usize = 8;

/// Write whose texts were analysed.
struct PreparedWrite {
    write: WriteBatch,
    /// The index entry of each change that stores a memory, without its address.
    entries: Vec<Option<IndexEntry>>,
    /// Id that no other write has.
    id: [u8; 16],
    /// What the last attempt may have stored.
    uncertain: Mutex<Option<UncertainWrite>>,
}

/// Attempt whose commit has an unknown outcome.
#[derive(Clone)]
struct UncertainWrite {
    first_seq: i64,
    applied: Vec<AppliedChange>,
}

impl PreparedWrite {
    fn new(write: WriteBatch) -> Result<Self> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| Error::store(error.to_string()))?;
        Ok(Self { entries: analyze_entries(&write)?, write, id, uncertain: Mutex::default() })
    }

    /// Returns the entries with the vectors of the write, if the model with this number made them.
    fn entries(&self, model: Option<u32>) -> Vec<Option<IndexEntry>> {
        let mut entries = self.entries.clone();
        let (Some(model), Some(vectors)) = (model, &self.write.vectors) else { return entries };
        for (entry, vector) in entries.iter_mut().zip(&vectors.vectors) {
            if let Some(entry) = entry {
                entry.vector = vector.as_ref().map(|vector| (model, vector.to_bytes()));
            }
        }
        entries
    }
}

impl ServerStore {
    /// Applies all changes or none; returns when they are durable.
    pub(super) async fn apply_write(&self, write: WriteBatch) -> Result<Vec<AppliedChange>> {
        let prepared = if write.changes.len() <= MAX_INLINE {
            PreparedWrite::new(write)?
        } else {
            run_blocking(move || PreparedWrite::new(write)).await?
        };
        let outcome = retried(RetryPolicy::Idempotent, || self.try_apply(&prepared)).await;
        match outcome {
            Err(error) if failure_kind(&error) == Some(SqlErrorKind::Unique) => {
                Err(self.name_conflict(&prepared.write).await?.unwrap_or(error))
            }
            outcome => outcome,
        }
    }

    async fn try_apply(&self, prepared: &PreparedWrite) -> Result<Vec<AppliedChange>> {
        let write = &prepared.write;
        let (key, keys) = (ScopeKey::of(&write.scope), WriteKeys::of(write));
        let (mut tx, scope, results) = self.lock_scope(key, prepared, &keys).await?;
        if let Some(applied) = stored_before(&mut tx, key, &scope, prepared).await? {
            return Ok(applied);
        }
        let loaded = keys.read(write, &scope, results)?;
        let attempt = WriteAttempt { store: self, prepared, key, scope };
        attempt.execute(tx, loaded).await
    }

    /// Locks the scope and loads; creates the row of a scope that has none.
    async fn lock_scope(
        &self,
        key: ScopeKey,
        prepared: &PreparedWrite,
        keys: &WriteKeys,
    ) -> Result<(Transaction, LockedScope, Vec<StatementResult>)> {
        let mut tx = self.db.begin().await?;
        if let Some((scope, results)) = scope_row::lock(&mut tx, key, keys.statements()).await? {
            return Ok((tx, scope, results));
        }
        drop(tx);
        // On its own: a transaction that inserts the row and then locks it would deadlock with another one.
        let created = vec![scope_row::create(&prepared.write.scope)];
        self.db.write(RetryPolicy::Idempotent, created).await?;
        let mut tx = self.db.begin().await?;
        let locked = scope_row::lock(&mut tx, key, keys.statements()).await?;
        let (scope, results) = locked.ok_or_else(|| Error::damaged("a scope was not stored"))?;
        Ok((tx, scope, results))
    }

    /// Returns the conflict of a write whose id or uri is taken.
    async fn name_conflict(&self, write: &WriteBatch) -> Result<Option<Error>> {
        let key = ScopeKey::of(&write.scope);
        let added = write.changes.iter().filter_map(|change| match change {
            crate::types::Change::Add(memory) => Some(&**memory),
            _ => None,
        });
        let added: Vec<&Memory> = added.collect();
        let ids = super::sql::list(added.iter().map(|memory| memory.id));
        let uris = super::sql::list(added.iter().map(|memory| memory.uri.as_str()));
        let text = "SELECT id, uri FROM memories WHERE scope = ? AND (id IN ? OR listed_uri IN ?)";
        let mut taken: Vec<(MemoryId, String)> = Vec::new();
        for mut row in self.db.read_one(sql!(text, key, ids, uris)).await? {
            taken.push((row.memory_id(0)?, row.text(1)?));
        }
        let is_taken = |memory: &&&Memory| {
            taken.iter().any(|(id, uri)| {
                *id == memory.id || memory.kind != Kind::Turn && *uri == memory.uri
            })
        };
        let conflict = added.iter().find(is_taken).or(added.first());
        Ok(conflict.map(|memory| uri_conflict(memory)))
    }
}

/// Returns the outcome of an attempt before this one if it was stored after all.
async fn stored_before(
    tx: &mut Transaction,
    key: ScopeKey,
    scope: &LockedScope,
    prepared: &PreparedWrite,
) -> Result<Option<Vec<AppliedChange>>> {
    let Some(uncertain) = lock(&prepared.uncertain).clone() else { return Ok(None) };
    if scope.write_id.as_deref() == Some(&prepared.id[..]) {
        return Ok(Some(uncertain.applied));
    }
    let text = "SELECT 1 FROM journal WHERE scope = ? AND seq = ? AND write_id = ?";
    let found = tx.run(vec![sql!(text, key, uncertain.first_seq, prepared.id)]).await?;
    Ok(found.first().filter(|it| !it.rows.is_empty()).map(|_| uncertain.applied))
}

/// Attempt at a write, with its scope locked.
struct WriteAttempt<'a> {
    store: &'a ServerStore,
    prepared: &'a PreparedWrite,
    key: ScopeKey,
    scope: LockedScope,
}

/// What the second round trip of a write loads, if there is one.
#[derive(Default)]
struct SecondLoad {
    index: IndexLoaded,
    drafts: Vec<QuarantinedDraft>,
    /// Stored turns that the checkpoint passes.
    passed: Vec<MemoryRow>,
}

impl WriteAttempt<'_> {
    async fn execute(mut self, mut tx: Transaction, mut found: LoadedWrite) -> Result<Vec<AppliedChange>> {
        let write = &self.prepared.write;
        let mut script = WriteScript::new(self.key);
        let model = self.model_number(&mut tx, &mut found, &mut script).await?;
        let captured = self.check_lease(&found)?;
        let mut effects = plan(write, self.prepared.entries(model), found.loaded)?;
        let needs = IndexNeeds::of(&found.index, &effects);
        let second = self.second_load(&mut tx, &found.index, &needs, &effects, captured).await?;
        let passed = captured.map(|session| count_passed(session, write, &effects, &second.passed));
        let edit = IndexEdit::new(&found.index, &mut effects, needs.seals, second.index)?;
        for (erasure, vectors) in effects.erasures.iter().zip(&edit.erased_vectors) {
            if let Some(receipt) = &mut effects.applied[erasure.change].erasure {
                receipt.vectors += vectors;
            }
        }
        let may_merge = edit.changes_blocks();
        let index = edit.into_statements(self.key, &mut self.scope.blocks);
        self.write_script(&mut script, &mut effects, index, &found.captures, &second.drafts)?;
        if let (Some(checkpoint), Some(passed)) = (&write.checkpoint, passed) {
            script.pass_turns(checkpoint, passed, write.at)?;
        }
        let applied = self.commit(tx, script, effects.applied).await?;
        if may_merge {
            self.store.merge_later(&write.scope);
        }
        Ok(applied)
    }

    /// Returns the number of the model of the write's vectors if it is in use. The first model that writes is taken
    /// into use.
    async fn model_number(
        &self,
        tx: &mut Transaction,
        found: &mut LoadedWrite,
        script: &mut WriteScript,
    ) -> Result<Option<u32>> {
        let Some(vectors) = &self.prepared.write.vectors else { return Ok(None) };
        if let Some(in_use) = &found.model {
            return Ok((*in_use == vectors.model).then_some(found.index.model));
        }
        let select = ModelRegistry::select(&vectors.model, ModelUse::Embedder);
        let registry = ModelRegistry::read(tx.run(select).await?)?;
        let (number, statements) = registry.register(&vectors.model)?;
        if registry.in_use != 0 {
            found.index.model = registry.in_use;
            return Ok((registry.in_use == number).then_some(number));
        }
        script.extend(statements);
        script.push(models::take_into_use(number, ModelUse::Embedder));
        found.index.model = number;
        Ok(Some(number))
    }

    /// Returns the number of the session that was captured, if one was; an error if its lease was lost.
    fn check_lease(&self, found: &LoadedWrite) -> Result<Option<u32>> {
        let Some(checkpoint) = &self.prepared.write.checkpoint else { return Ok(None) };
        let CaptureCheckpoint { session, owner, from, .. } = checkpoint;
        let lost = || lease_lost(session.as_deref());
        let number = match session {
            None => 0,
            Some(name) => {
                let SessionCounter { number, .. } = found.loaded.sessions.get(name).ok_or_else(lost)?;
                *number
            }
        };
        let is_held = |state: &&CaptureState| {
            state.checkpoint == *from && state.owner.as_ref() == Some(owner)
        };
        found.captures.get(&number).filter(is_held).ok_or_else(lost)?;
        Ok(Some(number))
    }

    /// Loads what the index changes, the erasures and the checkpoint need, in one round trip, if they need anything.
    async fn second_load(
        &self,
        tx: &mut Transaction,
        state: &IndexState,
        needs: &IndexNeeds,
        effects: &Effects,
        captured: Option<u32>,
    ) -> Result<SecondLoad> {
        let mut second = SecondLoad::default();
        let uncached = self.cached_docs(state, needs, &mut second.index.docs);
        let statements = self.second_statements(needs, &uncached, effects, captured);
        if statements.is_empty() {
            return Ok(second);
        }
        let results = tx.run(statements).await?;
        let mut results = results.into_iter().map(|result| result.rows);
        let mut next = |is_there: bool| if is_there { results.next().unwrap_or_default() } else { Vec::new() };
        let docs = next(!uncached.is_empty());
        self.read_docs(docs, state, &uncached, &mut second.index.docs)?;
        let is_whole = !needs.whole.is_empty();
        let whole = [next(is_whole), next(is_whole), next(is_whole)];
        second.index.whole = read_whole_blocks(whole, state, &needs.whole)?;
        second.index.tail = read_tail(next(needs.seals))?;
        second.drafts = quarantine::read(next(!effects.erasures.is_empty()))?;
        second.passed = rows::read_all(next(captured.is_some()), &self.prepared.write.scope)?;
        Ok(second)
    }

    fn second_statements(
        &self,
        needs: &IndexNeeds,
        uncached: &[i64],
        effects: &Effects,
        captured: Option<u32>,
    ) -> Vec<Statement> {
        let key = self.key;
        let mut statements = Vec::new();
        if !uncached.is_empty() {
            statements.push(select_rows(&BLOCK_DOCS, key, uncached));
        }
        if !needs.whole.is_empty() {
            statements.extend(block_tables::select_whole(key, &needs.whole));
        }
        statements.extend(needs.seals.then(|| select_tail(key)));
        statements.extend((!effects.erasures.is_empty()).then(|| quarantine::select(key)));
        let checkpoint = self.prepared.write.checkpoint.as_ref();
        statements.extend(captured.zip(checkpoint).map(|(session, checkpoint)| {
            let address = |position| DocAddress::new(session, position);
            let (from, to) = (address(checkpoint.from), address(checkpoint.to));
            rows::turns(key, TurnRange { from, to, last: false, limit: usize::MAX })
        }));
        statements
    }

    /// Takes records from the cache; returns the blocks that it lacks.
    fn cached_docs(
        &self,
        state: &IndexState,
        needs: &IndexNeeds,
        docs: &mut HashMap<i64, Docs>,
    ) -> Vec<i64> {
        let cache = self.store.block_cache.of_scope(self.key.to_bits());
        let mut uncached = Vec::new();
        for block in &needs.docs {
            match cache.get(*block) {
                Some(known) => drop(docs.insert(*block, Docs::shared(known.docs, Vec::new()))),
                None => uncached.push(*block),
            }
        }
        debug_assert!(needs.docs.iter().all(|id| state.blocks.iter().any(|it| it.id() == *id)));
        uncached
    }

    fn read_docs(
        &self,
        rows: Vec<SqlRow>,
        state: &IndexState,
        wanted: &[i64],
        docs: &mut HashMap<i64, Docs>,
    ) -> Result<()> {
        let cache = self.store.block_cache.of_scope(self.key.to_bits());
        let mut loaded = read_joined(rows)?;
        for block in state.blocks.iter().filter(|block| wanted.contains(&block.id())) {
            let packed = loaded.remove(&block.id()).unwrap_or_default();
            let packed = std::sync::Arc::new(valid_docs(&block.snapshot.header, packed)?);
            docs.insert(block.id(), Docs::shared(packed.clone(), Vec::new()));
            cache.put(block.id(), CachedBlock { docs: packed, vectors: CachedVectors::NotRequested });
        }
        Ok(())
    }

    /// Adds all effects in their order, but for the checkpoint.
    fn write_script(
        &self,
        script: &mut WriteScript,
        effects: &mut Effects,
        index: Vec<Statement>,
        captures: &HashMap<u32, CaptureState>,
        drafts: &[QuarantinedDraft],
    ) -> Result<()> {
        script.put_counters(&self.scope, effects, self.prepared.id);
        script.put_rows(&self.prepared.write, effects, self.prepared.id)?;
        script.put_captures(&effects.captures, captures);
        script.delete_token_vectors(&effects.stale_token_vectors);
        script.delete_ids("drafts", &effects.accepted_drafts);
        script.extend(index);
        let mut left: Vec<&QuarantinedDraft> = drafts.iter().collect();
        for erasure in &effects.erasures {
            script.erase(erasure);
            let derived = quarantine::take_derived(&mut left, erasure);
            script.delete_ids("drafts", &derived);
            if let Some(receipt) = &mut effects.applied[erasure.change].erasure {
                receipt.drafts = derived.len();
            }
        }
        let forgotten = script.bury(&effects.erased_texts);
        script.extend(forgotten);
        Ok(())
    }

    async fn commit(
        &self,
        tx: Transaction,
        mut script: WriteScript,
        mut applied: Vec<AppliedChange>,
    ) -> Result<Vec<AppliedChange>> {
        match tx.commit(script.take_statements()).await {
            Ok(results) => {
                script.fill_receipts(&results, &mut applied);
                Ok(applied)
            }
            Err(error) => {
                if failure_kind(&error) == Some(SqlErrorKind::CommitUnknown) {
                    let first_seq = self.scope.counters.changes + 1;
                    *lock(&self.prepared.uncertain) = Some(UncertainWrite { first_seq, applied });
                }
                Err(error)
            }
        }
    }
}

fn read_whole_blocks(
    rows: [Vec<SqlRow>; 3],
    state: &IndexState,
    wanted: &[i64],
) -> Result<HashMap<i64, crate::store::index::IndexBlock>> {
    let wanted = state.blocks.iter().filter(|block| wanted.contains(&block.id()));
    let snapshots: Vec<&BlockSnapshot> = wanted.map(|block| &block.snapshot).collect();
    let blocks = read_whole(rows, &snapshots)?;
    Ok(snapshots.iter().map(|block| block.header.id).zip(blocks).collect())
}

/// Counts the turns that a checkpoint passes, as they are after the changes of the write.
fn count_passed(
    session: u32,
    write: &WriteBatch,
    effects: &Effects,
    stored: &[MemoryRow],
) -> PassedTurns {
    let (from, to) = write.checkpoint.as_ref().map_or((0, 0), |it| (it.from, it.to));
    let range = DocAddress::new(session, from)..DocAddress::new(session, to);
    let stored = stored.iter().filter(|row| !effects.removed.contains(&row.address));
    let changed = effects.updated.iter().chain(&effects.inserted);
    let changed = changed.filter(|row| row.memory.kind == Kind::Turn && range.contains(&row.address));
    let turns: BTreeMap<DocAddress, &Memory> =
        stored.chain(changed).map(|row| (row.address, &row.memory)).collect();
    let exchanges = turns.values().filter(|turn| starts_exchange(turn)).count();
    PassedTurns { session, turns: turns.len(), exchanges }
}
