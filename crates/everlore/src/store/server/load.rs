//! Loading of the rows that a write touches, in the round trip that locks its scope.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    block_tables::{read_blocks, select_blocks, select_model},
    driver::StatementResult,
    index_edit::IndexState,
    models, rows,
    scope_row::{LockedScope, ScopeKey},
    sql::{SqlRow, Statement, list, sql},
};
use crate::{
    error::{Error, Result},
    store::{
        plan::{Deletion, JournalImage, Loaded, SessionCounter, WriteNeeds},
        row::decode_image,
    },
    types::{EmbeddingModelId, MemoryId, WriteBatch},
};

/// Everything that one round trip loads for a write.
pub(super) struct LoadedWrite {
    pub(super) loaded: Loaded,
    pub(super) index: IndexState,
    pub(super) model: Option<EmbeddingModelId>,
    /// Sessions with a capture row, each with its checkpoint and lease.
    pub(super) captures: HashMap<u32, CaptureState>,
}

/// Checkpoint and holder of the lease of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct CaptureState {
    pub(super) checkpoint: u32,
    pub(super) owner: Option<String>,
}

/// Keys of the rows that a write loads.
pub(super) struct WriteKeys {
    key: ScopeKey,
    needs: WriteNeeds,
    /// Names of sessions: those of new memories, and the one that was captured.
    sessions: BTreeSet<String>,
    /// Query for a journal line of a batch that must be written once.
    repeated: Option<Statement>,
}

impl WriteKeys {
    pub(super) fn of(write: &WriteBatch) -> Self {
        let needs = WriteNeeds::of(write);
        let captured = write.checkpoint.iter().filter_map(|checkpoint| checkpoint.session.clone());
        let sessions = needs.sessions.iter().cloned().chain(captured).collect();
        let key = ScopeKey::of(&write.scope);
        let text = "SELECT seq FROM journal WHERE scope = ? AND run = ? AND reason = ? LIMIT 1";
        let repeated = write.single_run().map(|run| sql!(text, key, run, &write.reason));
        Self { key, needs, sessions, repeated }
    }

    /// Creates the queries; those for blocks only if the write changes stored memories.
    pub(super) fn statements(&self) -> Vec<Statement> {
        let Self { key, needs, .. } = self;
        let mut statements = vec![
            sql!("SELECT address, vector IS NOT NULL FROM tail WHERE scope = ?", *key),
            select_model(),
            self.select_sessions(),
            self.select_captures(),
            self.select_deletions(),
        ];
        if !needs.changed.is_empty() {
            statements.push(rows::by_ids(*key, needs.changed.iter().copied()));
            statements.push(self.select_images());
            statements.extend(select_blocks(*key));
        }
        self.repeated.iter().cloned().chain(statements).collect()
    }

    fn touched(&self) -> BTreeSet<MemoryId> {
        self.needs.added.union(&self.needs.changed).copied().collect()
    }

    fn select_sessions(&self) -> Statement {
        let names = list(self.sessions.iter().map(String::as_str));
        let text = "SELECT name, number, positions FROM sessions WHERE scope = ? AND name IN ?";
        sql!(text, self.key, names)
    }

    /// Creates the query for the capture rows of all sessions that the write can touch.
    fn select_captures(&self) -> Statement {
        let (key, ids) = (self.key, self.touched());
        sql!(
            "SELECT c.session, c.checkpoint, c.owner FROM captures c JOIN ( \
             SELECT 0 AS session UNION \
             SELECT number FROM sessions WHERE scope = ? AND name IN ? UNION \
             SELECT address >> 32 FROM memories WHERE scope = ? AND id IN ? UNION \
             SELECT address >> 32 FROM deletions WHERE scope = ? AND id IN ? \
             ) touched ON touched.session = c.session WHERE c.scope = ?",
            key,
            list(self.sessions.iter().map(String::as_str)),
            key,
            list(ids.iter().copied()),
            key,
            list(ids),
            key
        )
    }

    fn select_deletions(&self) -> Statement {
        let text = "SELECT id, address, seq FROM deletions WHERE scope = ? AND id IN ?";
        sql!(text, self.key, list(self.touched()))
    }

    fn select_images(&self) -> Statement {
        let text = "SELECT id, seq, image FROM journal WHERE scope = ? AND id IN ?";
        sql!(text, self.key, list(self.needs.erased.iter().copied()))
    }

    /// Decodes the results of [`WriteKeys::statements`].
    pub(super) fn read(
        &self,
        write: &WriteBatch,
        scope: &LockedScope,
        results: Vec<StatementResult>,
    ) -> Result<LoadedWrite> {
        let mut results = results.into_iter().map(|result| result.rows);
        let mut next = || results.next().unwrap_or_default();
        let is_repeated = self.repeated.is_some() && !next().is_empty();
        let (tail, in_use, sessions) = (read_tail_addresses(next())?, next(), next());
        let captures = read_captures(next())?;
        let deletions = read_deletions(next())?;
        let stored = rows::read_all(next(), &write.scope)?;
        let journal = read_images(next())?;
        let blocks = read_blocks(next(), next())?;
        let in_use = models::read_current(in_use)?;
        let checkpoint = |(session, state): (&u32, &CaptureState)| (*session, state.checkpoint);
        let loaded = Loaded {
            counters: scope.counters,
            rows: stored.into_iter().map(|row| (row.memory.id, row)).collect(),
            deletions,
            sessions: read_sessions(sessions)?,
            capture_checkpoints: captures.iter().map(checkpoint).collect(),
            is_repeated,
            journal,
        };
        let model = in_use.as_ref().map_or(0, |(number, _)| *number);
        let index = IndexState { tail, blocks, model };
        Ok(LoadedWrite { loaded, index, model: in_use.map(|(_, model)| model), captures })
    }
}

fn read_tail_addresses(rows: Vec<SqlRow>) -> Result<BTreeMap<crate::store::DocAddress, bool>> {
    let read = |mut row: SqlRow| Ok((row.address(0)?, row.int::<i64>(1)? != 0));
    rows.into_iter().map(read).collect()
}

fn read_sessions(rows: Vec<SqlRow>) -> Result<HashMap<String, SessionCounter>> {
    let read = |mut row: SqlRow| {
        Ok((row.text(0)?, SessionCounter { number: row.int(1)?, positions: row.int(2)? }))
    };
    rows.into_iter().map(read).collect()
}

fn read_captures(rows: Vec<SqlRow>) -> Result<HashMap<u32, CaptureState>> {
    let read = |mut row: SqlRow| {
        Ok((row.int(0)?, CaptureState { checkpoint: row.int(1)?, owner: row.opt_text(2)? }))
    };
    rows.into_iter().map(read).collect()
}

fn read_deletions(rows: Vec<SqlRow>) -> Result<HashMap<MemoryId, Deletion>> {
    let read = |mut row: SqlRow| {
        Ok((row.memory_id(0)?, Deletion { address: row.address(1)?, seq: row.int(2)? }))
    };
    rows.into_iter().map(read).collect()
}

fn read_images(rows: Vec<SqlRow>) -> Result<HashMap<MemoryId, Vec<JournalImage>>> {
    let mut images: HashMap<MemoryId, Vec<JournalImage>> = HashMap::new();
    for mut row in rows {
        let id = row.memory_id(0)?;
        let image = JournalImage { seq: row.int(1)?, before: decode_image(row.opt_bytes(2)?)? };
        images.entry(id).or_default().push(image);
    }
    Ok::<_, Error>(images)
}
