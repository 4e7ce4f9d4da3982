//! One write: it locks the scope and loads the rows it touches, plans, loads what its index changes need, and sends all
//! statements with the commit. These are two or three round trips, whatever the size of the batch.
//!
//! Every write has an id, which the transaction stores. When a connection breaks during a commit, the next attempt locks
//! the scope, which waits for the end of the lost transaction, and looks for the id before it writes again.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Mutex,
};

use super::{
    ServerStore,
    driver::{SqlError, SqlErrorKind, StatementResult, failure_kind},
    index_edit::{IndexEdit, IndexNeeds},
    load::{CaptureState, LoadedWrite, WriteKeys},
    models::{self, ModelRegistry, ModelUse},
    quarantine,
    scope_row::{self, LockedScope, ScopeKey, WriteIds, new_write_id},
    seal::check_first_write,
    sql::{Statement, list, sql},
    transaction::{RetryRule, Transaction},
    write_script::{PassedTurns, WriteScript},
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        capture_queue::{lease_lost, starts_exchange},
        index::IndexEntry,
        plan::{Effects, SessionCounter, analyze_entries, plan},
        row::MemoryRow,
        uri_conflict,
    },
    sync::{lock, run_blocking},
    types::{
        AppliedChange, CaptureCheckpoint, Change, Kind, Memory, MemoryId, QuarantinedDraft,
        WriteBatch,
    },
};

/// Writes with more changes than this are analysed away from the async threads.
const MAX_INLINE: usize = 8;

/// Most bytes of a uri, a session or a run: PostgreSQL keeps keys of 2,704 bytes, the scope included, MySQL of 3,072, and
/// columns of sessions and runs have 2,048.
const MAX_KEY_BYTES: usize = 2_048;

/// Write whose texts were analysed.
pub(super) struct AnalyzedWrite {
    pub(super) write: WriteBatch,
    /// The index entry of each change that stores a memory, without its address.
    entries: Vec<Option<IndexEntry>>,
    /// Id that no other write has.
    id: [u8; 16],
    /// Last attempt, if it may have been stored.
    uncertain: Mutex<Option<UncertainWrite>>,
}

/// Attempt whose commit has an unknown outcome.
#[derive(Clone)]
struct UncertainWrite {
    first_seq: i64,
    applied: Vec<AppliedChange>,
}

impl AnalyzedWrite {
    fn new(write: WriteBatch) -> Result<Self> {
        check_keys(&write)?;
        let (entries, id) = (analyze_entries(&write)?, new_write_id()?);
        Ok(Self { entries, write, id, uncertain: Mutex::default() })
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
            AnalyzedWrite::new(write)?
        } else {
            run_blocking(move || AnalyzedWrite::new(write)).await?
        };
        self.db
            .retried(RetryRule::Idempotent, || async {
                match self.try_apply(&prepared).await {
                    Err(error) if failure_kind(&error) == Some(SqlErrorKind::Unique) => {
                        Err(self.explain_unique(&prepared.write, error).await?)
                    }
                    outcome => outcome,
                }
            })
            .await
    }

    /// Returns the conflict behind a taken key. If no id and no uri is taken, another node of a cluster wrote the scope
    /// at the same time, and the same may succeed when tried again.
    async fn explain_unique(&self, write: &WriteBatch, error: Error) -> Result<Error> {
        let conflict = self.name_conflict(write).await?;
        Ok(conflict.unwrap_or_else(|| SqlError::new(SqlErrorKind::TryAgain, error).into()))
    }

    async fn try_apply(&self, prepared: &AnalyzedWrite) -> Result<Vec<AppliedChange>> {
        let write = &prepared.write;
        let (key, keys) = (ScopeKey::of(&write.scope), WriteKeys::of(write));
        let (mut tx, scope, results) = self.lock_scope(key, prepared, &keys).await?;
        if let Some(applied) = stored_before(&mut tx, key, &scope, prepared).await? {
            return Ok(applied);
        }
        check_first_write(&mut tx, &scope, &write.scope).await?;
        let loaded = keys.read(write, &scope, results)?;
        let attempt = WriteAttempt { store: self, prepared, key, scope };
        attempt.execute(tx, loaded).await
    }

    /// Locks the scope and loads; creates the row of a scope that has none.
    async fn lock_scope(
        &self,
        key: ScopeKey,
        prepared: &AnalyzedWrite,
        keys: &WriteKeys,
    ) -> Result<(Transaction, LockedScope, Vec<StatementResult>)> {
        let mut tx = self.db.begin().await?;
        if let Some((scope, results)) = scope_row::lock(&mut tx, key, keys.statements()).await? {
            return Ok((tx, scope, results));
        }
        drop(tx);
        // On its own: a transaction that inserts the row and then locks it would deadlock with another one.
        let created = vec![scope_row::create(&prepared.write.scope)];
        self.db.write(RetryRule::Idempotent, created).await?;
        let mut tx = self.db.begin().await?;
        let locked = scope_row::lock(&mut tx, key, keys.statements()).await?;
        let (scope, results) = locked.ok_or_else(|| Error::damaged("a scope was not stored"))?;
        Ok((tx, scope, results))
    }

    /// Returns the conflict of a write whose id or uri is taken.
    async fn name_conflict(&self, write: &WriteBatch) -> Result<Option<Error>> {
        let key = ScopeKey::of(&write.scope);
        let added = write.changes.iter().filter_map(|change| match change {
            Change::Add(memory) => Some(&**memory),
            _ => None,
        });
        let added: Vec<&Memory> = added.collect();
        let ids = list(added.iter().map(|memory| memory.id));
        let uris = list(added.iter().map(|memory| memory.uri.as_str()));
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
        Ok(added.iter().find(is_taken).map(|memory| uri_conflict(memory)))
    }
}

/// Refuses texts that are too long for a key.
fn check_keys(write: &WriteBatch) -> Result<()> {
    let memories = write.changes.iter().filter_map(|change| match change {
        Change::Add(memory) => Some(memory),
        _ => None,
    });
    let keys = memories.flat_map(|memory| [Some(&memory.uri), memory.source.session.as_ref()]);
    let too_long = keys.chain([write.run.as_ref()]).flatten().find(|it| it.len() > MAX_KEY_BYTES);
    let Some(key) = too_long else { return Ok(()) };
    let start: String = key.chars().take(40).collect();
    Err(Error::invalid(
        format!(
            "`{start}…` has {} bytes, and this database keeps names of {MAX_KEY_BYTES}",
            key.len()
        ),
        "use a shorter name",
    ))
}

/// Returns the outcome of an attempt before this one if it was stored after all.
async fn stored_before(
    tx: &mut Transaction,
    key: ScopeKey,
    scope: &LockedScope,
    prepared: &AnalyzedWrite,
) -> Result<Option<Vec<AppliedChange>>> {
    let Some(uncertain) = lock(&prepared.uncertain).clone() else { return Ok(None) };
    if scope.write_id == prepared.id {
        return Ok(Some(uncertain.applied));
    }
    let line = select_first_line(key, uncertain.first_seq, prepared.id);
    let found = tx.run(vec![line]).await?;
    Ok(found.first().filter(|it| !it.rows.is_empty()).map(|_| uncertain.applied))
}

/// Creates the query for the first journal line of a write.
fn select_first_line(key: ScopeKey, seq: i64, write_id: [u8; 16]) -> Statement {
    let text = "SELECT 1 FROM journal WHERE scope = ? AND seq = ? AND write_id = ?";
    sql!(text, key, seq, write_id)
}

/// Attempt at a write, with its scope locked.
pub(super) struct WriteAttempt<'a> {
    pub(super) store: &'a ServerStore,
    pub(super) prepared: &'a AnalyzedWrite,
    pub(super) key: ScopeKey,
    scope: LockedScope,
}

impl WriteAttempt<'_> {
    async fn execute(
        mut self,
        mut tx: Transaction,
        mut found: LoadedWrite,
    ) -> Result<Vec<AppliedChange>> {
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
                let SessionCounter { number, .. } =
                    found.loaded.sessions.get(name).ok_or_else(lost)?;
                *number
            }
        };
        let is_held = |state: &&CaptureState| {
            state.checkpoint == *from && state.owner.as_ref() == Some(owner)
        };
        found.captures.get(&number).filter(is_held).ok_or_else(lost)?;
        Ok(Some(number))
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
        script.put_counters(&self.scope, effects);
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
        let first_seq = self.scope.counters.changes + 1;
        let verify =
            applied.first().map(|_| select_first_line(self.key, first_seq, self.prepared.id));
        let ids = WriteIds { old: self.scope.write_id, new: self.prepared.id, verify };
        let dialect = self.store.db.dialect();
        match scope_row::commit(tx, dialect, self.key, ids, script.take_statements()).await {
            Ok(results) => {
                script.fill_receipts(&results, &mut applied);
                Ok(applied)
            }
            Err(error) => {
                if failure_kind(&error) == Some(SqlErrorKind::CommitUnknown) {
                    *lock(&self.prepared.uncertain) = Some(UncertainWrite { first_seq, applied });
                }
                Err(error)
            }
        }
    }
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
    let changed =
        changed.filter(|row| row.memory.kind == Kind::Turn && range.contains(&row.address));
    let turns: BTreeMap<DocAddress, &Memory> =
        stored.chain(changed).map(|row| (row.address, &row.memory)).collect();
    let exchanges = turns.values().filter(|turn| starts_exchange(turn)).count();
    PassedTurns { session, turns: turns.len(), exchanges }
}
