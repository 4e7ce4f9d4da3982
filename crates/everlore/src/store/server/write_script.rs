//! The statements of a write, in the order of its effects, all sent in one round trip with the commit.

use std::collections::HashMap;

use super::{
    driver::StatementResult,
    load::CaptureState,
    rows,
    scope_row::{LockedScope, ScopeKey},
    sql::{OnConflict, Statement, insert, list, sql, sql_row},
    tables::{CAPTURES, DELETIONS, DRAFTS, JOURNAL, SESSIONS, TOMBSTONES},
};
use crate::{
    error::{Error, Result},
    store::{
        DocAddress,
        plan::{CaptureDelta, Deletion, Effects, Erasure, JournalLine, SessionCounter},
        row::encode_image,
    },
    types::{
        AppliedChange, CaptureCheckpoint, Fingerprint, MemoryId, QuarantinedDraft, Timestamp,
        WriteBatch,
    },
};

/// Statements of a write, and which of their results go into erasure receipts.
pub(super) struct WriteScript {
    key: ScopeKey,
    statements: Vec<Statement>,
    counted: Vec<CountedStatement>,
}

/// Statement whose number of rows an erasure receipt tells.
struct CountedStatement {
    position: usize,
    /// Position of the erasure in the batch.
    change: usize,
    what: CountedTrace,
}

#[derive(Clone, Copy)]
enum CountedTrace {
    TokenVectors,
    CachedVectors,
    UsageLines,
}

/// Turns that a checkpoint passes: how many, and how many of them begin an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PassedTurns {
    pub(super) session: u32,
    pub(super) turns: usize,
    pub(super) exchanges: usize,
}

impl WriteScript {
    pub(super) fn new(key: ScopeKey) -> Self {
        Self { key, statements: Vec::new(), counted: Vec::new() }
    }

    /// Adds a statement, unless it has nothing to insert.
    pub(super) fn push(&mut self, statement: Statement) {
        if !statement.is_empty() {
            self.statements.push(statement);
        }
    }

    /// Adds statements.
    pub(super) fn extend(&mut self, statements: impl IntoIterator<Item = Statement>) {
        statements.into_iter().for_each(|statement| self.push(statement));
    }

    fn push_counted(&mut self, change: usize, what: CountedTrace, statement: Statement) {
        self.counted.push(CountedStatement { position: self.statements.len(), change, what });
        self.statements.push(statement);
    }

    /// Adds the counters of the scope.
    pub(super) fn put_counters(&mut self, scope: &LockedScope, effects: &Effects) {
        let counters = effects.counters;
        self.push(sql!(
            "UPDATE scopes SET changes = ?, sessions = ?, positions = ?, blocks = ? WHERE scope = ?",
            counters.changes,
            counters.sessions,
            counters.positions,
            scope.blocks,
            self.key
        ));
        let row = |(name, counter): &(String, SessionCounter)| {
            sql_row![self.key, name, counter.number, counter.positions]
        };
        let sessions = effects.sessions.iter().map(row).collect();
        self.push(insert(&SESSIONS, sessions, OnConflict::Replace));
    }

    /// Adds the changes of memories, of deletions and of the journal.
    pub(super) fn put_rows(
        &mut self,
        write: &WriteBatch,
        effects: &Effects,
        id: [u8; 16],
    ) -> Result<()> {
        let key = self.key;
        if !effects.removed.is_empty() {
            self.push(rows::delete(key, &effects.removed));
        }
        self.push(rows::put(key, &effects.updated, OnConflict::Replace)?);
        self.push(rows::put(key, &effects.inserted, OnConflict::Fail)?);
        self.delete_ids("deletions", &effects.restored);
        let row = |(id, Deletion { address, seq }): &(MemoryId, Deletion)| {
            sql_row![key, *id, *address, *seq]
        };
        let deleted = effects.deleted.iter().map(row).collect();
        self.push(insert(&DELETIONS, deleted, OnConflict::Replace));
        self.put_journal(write, &effects.journal, id)
    }

    fn put_journal(
        &mut self,
        write: &WriteBatch,
        lines: &[JournalLine],
        write_id: [u8; 16],
    ) -> Result<()> {
        let first = lines.first().map(|line| line.seq);
        let row = |JournalLine { seq, id, op, before, .. }: &JournalLine| {
            Ok(sql_row![
                self.key,
                *seq,
                *id,
                *op as u8,
                write.at,
                write.actor as u8,
                &write.reason,
                write.run.as_ref(),
                write.cost,
                before.as_ref().map(encode_image).transpose()?,
                (Some(*seq) == first).then_some(write_id),
            ])
        };
        let lines = lines.iter().map(row).collect::<Result<Vec<_>>>()?;
        self.push(insert(&JOURNAL, lines, OnConflict::Fail));
        Ok(())
    }

    /// Adds to the counters of sessions that wait for capture. New turns create the row if there is none, and reopen a
    /// session that had ended.
    pub(super) fn put_captures(
        &mut self,
        deltas: &std::collections::BTreeMap<u32, CaptureDelta>,
        stored: &HashMap<u32, CaptureState>,
    ) {
        let mut created = Vec::new();
        for (session, CaptureDelta { turns, exchanges, last_at }) in deltas {
            match (last_at, stored.contains_key(session)) {
                (Some(at), false) => {
                    created.push(sql_row![self.key, *session, *turns, *exchanges, *at]);
                }
                (Some(at), true) => self.push(sql!(
                    "UPDATE captures SET turns = turns + ?, exchanges = exchanges + ?, last_at = ?, ended_at = NULL \
                     WHERE scope = ? AND session = ?",
                    *turns,
                    *exchanges,
                    *at,
                    self.key,
                    *session
                )),
                (None, _) => self.push(sql!(
                    "UPDATE captures SET turns = turns + ?, exchanges = exchanges + ? WHERE scope = ? AND session = ?",
                    *turns,
                    *exchanges,
                    self.key,
                    *session
                )),
            }
        }
        self.push(insert(&CAPTURES, created, OnConflict::Fail));
    }

    /// Removes the token vectors of replaced texts.
    pub(super) fn delete_token_vectors(&mut self, addresses: &[DocAddress]) {
        if !addresses.is_empty() {
            let addresses = list(addresses.iter().copied());
            let text = "DELETE FROM token_vectors WHERE scope = ? AND address IN ?";
            self.push(sql!(text, self.key, addresses));
        }
    }

    /// Removes rows of a table by the ids of memories or drafts.
    pub(super) fn delete_ids(&mut self, table: &str, ids: &[MemoryId]) {
        if !ids.is_empty() {
            let text = format!("DELETE FROM {table} WHERE scope = ? AND id IN ?");
            self.push(sql!(text, self.key, list(ids.iter().copied())));
        }
    }

    /// Removes the traces of a memory beyond its row and its index entry.
    pub(super) fn erase(&mut self, erasure: &Erasure) {
        let Erasure { change, id, address, cleared_lines, texts } = erasure;
        let text = "DELETE FROM token_vectors WHERE scope = ? AND address = ?";
        self.push_counted(*change, CountedTrace::TokenVectors, sql!(text, self.key, *address));
        if !cleared_lines.is_empty() {
            let text = "UPDATE journal SET image = NULL WHERE scope = ? AND seq IN ?";
            self.push(sql!(text, self.key, list(cleared_lines.iter().copied())));
        }
        let text = "DELETE FROM usage_log WHERE scope = ? AND memory = ?";
        self.push_counted(*change, CountedTrace::UsageLines, sql!(text, self.key, *id));
        let texts: Vec<Fingerprint> = texts.iter().copied().collect();
        if let Some(forgotten) = self.bury(&texts) {
            self.push_counted(*change, CountedTrace::CachedVectors, forgotten);
        }
    }

    /// Leaves a tombstone for each text; returns the statement that removes its cached vectors and those of all queries,
    /// which may have quoted it.
    #[must_use]
    pub(super) fn bury(&mut self, texts: &[Fingerprint]) -> Option<Statement> {
        if texts.is_empty() {
            return None;
        }
        let rows = texts.iter().map(|text| sql_row![self.key, *text]).collect();
        self.push(insert(&TOMBSTONES, rows, OnConflict::Keep));
        let text = "DELETE FROM cached_vectors WHERE scope = ? AND (is_query = 1 OR digest IN ?)";
        Some(sql!(text, self.key, list(texts.iter().copied())))
    }

    /// Moves the checkpoint of a session past the turns that were read, ends the lease and quarantines drafts.
    pub(super) fn pass_turns(
        &mut self,
        checkpoint: &CaptureCheckpoint,
        passed: PassedTurns,
        now: Timestamp,
    ) -> Result<()> {
        self.push(sql!(
            "UPDATE captures SET checkpoint = ?, turns = turns - ?, exchanges = exchanges - ?, owner = NULL, \
             leased_until = NULL, failures = 0, invalid = 0, retry_at = NULL, error = NULL \
             WHERE scope = ? AND session = ?",
            checkpoint.to,
            passed.turns,
            passed.exchanges,
            self.key,
            passed.session
        ));
        self.push(sql!("UPDATE scopes SET captured_at = ? WHERE scope = ?", now, self.key));
        self.quarantine(checkpoint)
    }

    /// Stores drafts, each text once, and removes those that are too old or too many, the oldest rejected ones first.
    fn quarantine(&mut self, checkpoint: &CaptureCheckpoint) -> Result<()> {
        let drafts = last_of_each_text(&checkpoint.quarantined);
        if !drafts.is_empty() {
            let texts = list(drafts.iter().map(|draft| draft.memory.fingerprint()));
            let text = "DELETE FROM drafts WHERE scope = ? AND digest IN ?";
            self.push(sql!(text, self.key, texts));
        }
        let row = |draft: &&QuarantinedDraft| {
            let body = serde_json::to_string(draft).map_err(Error::store)?;
            let digest = draft.memory.fingerprint();
            Ok(sql_row![self.key, draft.id(), draft.at, draft.verdict as u8, digest, body])
        };
        let rows = drafts.iter().map(row).collect::<Result<Vec<_>>>()?;
        self.push(insert(&DRAFTS, rows, OnConflict::Fail));
        self.push(sql!(
            "DELETE FROM drafts WHERE scope = ? AND at < ?",
            self.key,
            checkpoint.limits.keep_since
        ));
        // The inner query has a name of its own, because MySQL does not delete from a table that it reads.
        self.push(sql!(
            "DELETE FROM drafts WHERE scope = ? AND id IN (SELECT id FROM (SELECT id FROM drafts WHERE scope = ? \
             ORDER BY verdict DESC, at DESC, id DESC LIMIT ? OFFSET ?) surplus)",
            self.key,
            self.key,
            i64::MAX,
            checkpoint.limits.max_drafts
        ));
        Ok(())
    }

    /// Takes the statements out, to be sent.
    pub(super) fn take_statements(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.statements)
    }

    /// Adds to the erasure receipts what the statements removed.
    pub(super) fn fill_receipts(&self, results: &[StatementResult], applied: &mut [AppliedChange]) {
        for CountedStatement { position, change, what } in &self.counted {
            let removed = results.get(*position).map_or(0, |result| result.affected as usize);
            let Some(receipt) = applied.get_mut(*change).and_then(|it| it.erasure.as_mut()) else {
                continue;
            };
            match what {
                CountedTrace::TokenVectors => receipt.vectors += removed,
                CountedTrace::CachedVectors => receipt.cached_vectors += removed,
                CountedTrace::UsageLines => receipt.usage_lines += removed,
            }
        }
    }
}

/// Returns the drafts without those whose text a later one repeats.
fn last_of_each_text(drafts: &[QuarantinedDraft]) -> Vec<&QuarantinedDraft> {
    let is_repeated = |index: usize, draft: &QuarantinedDraft| {
        let text = draft.memory.fingerprint();
        drafts[index + 1..].iter().any(|later| later.memory.fingerprint() == text)
    };
    let all = drafts.iter().enumerate();
    all.filter(|(index, draft)| !is_repeated(*index, draft)).map(|(_, draft)| draft).collect()
}
