//! The usage facet.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::{
    ServerStore,
    database::{Database, number, rows as result_rows},
    scope_row::{self, ScopeKey},
    sql::{OnConflict, SqlRow, SqlValue, Statement, insert, list, sql, sql_row},
    tables::USAGE,
    transaction::RetryRule,
};
use crate::{
    error::Result,
    store::{
        InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLines, UsageLog, UsageRecord,
        UsageSelection,
        row::{by_number, timestamp},
    },
    types::{ChangeOp, Fingerprint, MemoryId, Scope, Timestamp},
};

/// Number of [`InjectedTier::HeldOut`] in the column `shown`.
const HELD_OUT: u8 = InjectedTier::HeldOut as u8;

#[async_trait]
impl UsageLog for ServerStore {
    async fn record(&self, scope: &Scope, prompt: Injection) -> Result<()> {
        self.db.retried(RetryRule::Unchanged, || record(&self.db, scope, &prompt)).await
    }

    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
        let text = "SELECT memory, sketch FROM usage_log WHERE scope = ? AND session = ? AND shown <> ? ORDER BY seq";
        let lines = self.db.read_one(sql!(text, ScopeKey::of(scope), session, HELD_OUT)).await?;
        let read = |mut row: SqlRow| Ok((row.memory_id(0)?, row.bytes(1)?));
        let newest: BTreeMap<MemoryId, Vec<u8>> =
            lines.into_iter().map(read).collect::<Result<_>>()?;
        Ok(newest.into_iter().collect())
    }

    async fn of_session(
        &self,
        scope: &Scope,
        session: &str,
        lines: UsageLines,
    ) -> Result<Vec<UsageRecord>> {
        let condition = match lines {
            UsageLines::All => "AND session = ? ORDER BY seq",
            UsageLines::Unanswered => "AND session = ? AND was_used IS NULL ORDER BY seq",
        };
        self.usage_records(scope, condition, vec![session.into()]).await
    }

    async fn of_scope(&self, scope: &Scope, lines: UsageSelection) -> Result<Vec<UsageRecord>> {
        let (condition, params) = match lines {
            UsageSelection::Newest(limit) => ("ORDER BY seq DESC LIMIT ?", vec![limit.into()]),
            UsageSelection::AwaitingWeights => {
                ("AND was_used IS NOT NULL AND is_weighed = 0 ORDER BY seq", Vec::new())
            }
        };
        self.usage_records(scope, condition, params).await
    }

    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()> {
        let text = "UPDATE usage_log SET was_used = ? WHERE scope = ? AND seq IN ?";
        let set = |used: bool| {
            let lines = verdicts.iter().filter(|(_, it)| *it == used).map(|(seq, _)| *seq);
            sql!(text, used, ScopeKey::of(scope), list(lines))
        };
        self.db.write(RetryRule::Idempotent, vec![set(true), set(false)]).await.map(drop)
    }

    async fn mark_weights_updated(&self, scope: &Scope, lines: Vec<u64>) -> Result<()> {
        let text = "UPDATE usage_log SET is_weighed = 1 WHERE scope = ? AND seq IN ?";
        let mark = vec![sql!(text, ScopeKey::of(scope), list(lines))];
        self.db.write(RetryRule::Idempotent, mark).await.map(drop)
    }

    async fn counts(&self, scope: &Scope) -> Result<UsageCounts> {
        let found = self.db.read_one(select_counts(ScopeKey::of(scope))).await?;
        let Some(mut row) = found.into_iter().next() else { return Ok(UsageCounts::default()) };
        Ok(UsageCounts {
            injected: row.int(0)?,
            answered: row.int(1)?,
            used: row.int(2)?,
            held_out: row.int(3)?,
            held_out_used: row.int(4)?,
            memories: row.int(5)?,
            memories_used: row.int(6)?,
        })
    }

    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize> {
        let text = "DELETE FROM usage_log WHERE scope = ? AND at < ?";
        let prune = vec![sql!(text, ScopeKey::of(scope), before)];
        let removed = self.db.write(RetryRule::Unchanged, prune).await?;
        Ok(removed.iter().sum::<u64>() as usize)
    }
}

impl ServerStore {
    async fn usage_records(
        &self,
        scope: &Scope,
        condition: &str,
        params: Vec<SqlValue>,
    ) -> Result<Vec<UsageRecord>> {
        let text = format!(
            "SELECT seq, session, turn, query_digest, at, memory, shown, query_terms, sketch, was_used \
             FROM usage_log WHERE scope = ? {condition}"
        );
        let params = std::iter::once(ScopeKey::of(scope).into()).chain(params).collect();
        let found = self.db.read_one(Statement::Plain { text: text.into(), params }).await?;
        found.into_iter().map(read_record).collect()
    }
}

fn read_record(mut row: SqlRow) -> Result<UsageRecord> {
    Ok(UsageRecord {
        seq: row.int(0)?,
        session: row.text(1)?,
        turn: row.int(2)?,
        query: Fingerprint::from_bytes(row.id(3)?),
        at: timestamp(row.int(4)?)?,
        injected: InjectedMemory {
            id: row.memory_id(5)?,
            shown: by_number(&InjectedTier::ALL, row.int(6)?, "part of a memory")?,
            query_term_digests: row.bytes(7)?,
            sketch: row.bytes(8)?,
        },
        used: row.opt_int::<i64>(9)?.map(|used| used != 0),
    })
}

async fn record(db: &Database, scope: &Scope, prompt: &Injection) -> Result<()> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let read = vec![
        sql!(
            "SELECT max(turn) FROM usage_log WHERE scope = ? AND session = ?",
            key,
            &prompt.session
        ),
        select_erased(key, prompt),
    ];
    let Some((locked, results)) = scope_row::lock(&mut tx, key, read).await? else { return Ok(()) };
    let [last, erased] = result_rows(results)?;
    let turn = (number(last)? + i64::from(!prompt.is_same_prompt)).max(1);
    let erased: BTreeSet<MemoryId> =
        erased.into_iter().map(|mut row| row.memory_id(0)).collect::<Result<_>>()?;
    let lines = prompt.memories.iter().filter(|injected| !erased.contains(&injected.id));
    let line = |(seq, injected): (i64, &InjectedMemory)| {
        sql_row![
            key,
            seq,
            injected.id,
            &prompt.session,
            turn,
            prompt.query,
            prompt.at,
            injected.shown as u8,
            injected.query_term_digests.clone(),
            injected.sketch.clone(),
        ]
    };
    let lines: Vec<_> = (locked.usage_lines + 1..).zip(lines).map(line).collect();
    let last = locked.usage_lines + lines.len() as i64;
    let kept_after = last - i64::try_from(prompt.max_lines).unwrap_or(i64::MAX);
    let statements = vec![
        insert(&USAGE, lines, OnConflict::Fail),
        sql!("DELETE FROM usage_log WHERE scope = ? AND seq <= ?", key, kept_after),
        sql!("UPDATE scopes SET usage_lines = ? WHERE scope = ?", last, key),
    ];
    locked.commit(tx, db.dialect(), key, statements).await.map(drop)
}

/// Creates the query for the memories of a prompt that were erased while it was built: they leave no line.
fn select_erased(key: ScopeKey, prompt: &Injection) -> Statement {
    let text = "SELECT d.id FROM deletions d JOIN journal j ON j.scope = d.scope AND j.seq = d.seq \
                WHERE d.scope = ? AND d.id IN ? AND j.op = ?";
    let ids = list(prompt.memories.iter().map(|injected| injected.id));
    sql!(text, key, ids, ChangeOp::Erase as u8)
}

fn select_counts(key: ScopeKey) -> Statement {
    let count = |condition: &str| format!("count(CASE WHEN {condition} THEN 1 END)");
    let distinct =
        |condition: &str| format!("count(DISTINCT CASE WHEN {condition} THEN memory END)");
    let (told, held) = (format!("shown <> {HELD_OUT}"), format!("shown = {HELD_OUT}"));
    let columns = [
        count(&told),
        count(&format!("{told} AND was_used IS NOT NULL")),
        count(&format!("{told} AND was_used = 1")),
        count(&format!("{held} AND was_used IS NOT NULL")),
        count(&format!("{held} AND was_used = 1")),
        distinct(&told),
        distinct(&format!("{told} AND was_used = 1")),
    ];
    sql!(format!("SELECT {} FROM usage_log WHERE scope = ?", columns.join(", ")), key)
}
