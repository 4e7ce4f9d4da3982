//! The usage log in the file.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{SqliteStore, failed};
use crate::{
    error::Result,
    store::usage::{InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLog, UsageRecord},
    types::{ChangeOp, Fingerprint, MemoryId, Scope, Timestamp},
};

#[async_trait]
impl UsageLog for SqliteStore {
    async fn record(&self, scope: &Scope, prompt: Injection) -> Result<()> {
        self.write(scope.clone(), move |db, number| record(db, number, &prompt)).await
    }

    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
        let session = session.to_owned();
        self.read(scope, move |db, number| injected(db, number, &session)).await
    }

    async fn unanswered(&self, scope: &Scope, session: &str) -> Result<Vec<UsageRecord>> {
        let session = session.to_owned();
        let open = "usage_session WHERE scope = ?1 AND session = ?2 AND used IS NULL";
        self.read(scope, move |db, number| records(db, open, params![number, session])).await
    }

    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()> {
        let sql = "UPDATE usage SET used = ?3 WHERE scope = ?1 AND seq = ?2";
        self.write(scope.clone(), move |db, number| {
            let mut update = db.prepare_cached(sql).map_err(failed)?;
            verdicts.iter().try_for_each(|(seq, used)| {
                update.execute(params![number, *seq as i64, used]).map(drop).map_err(failed)
            })
        })
        .await
    }

    async fn awaiting_weight_update(&self, scope: &Scope) -> Result<Vec<UsageRecord>> {
        let waiting = "usage_unweighed WHERE scope = ?1 AND used IS NOT NULL AND weighed = 0";
        self.read(scope, move |db, number| records(db, waiting, params![number])).await
    }

    async fn mark_weights_updated(&self, scope: &Scope, weighed: Vec<u64>) -> Result<()> {
        let sql = "UPDATE usage SET weighed = 1 WHERE scope = ?1 AND seq = ?2";
        self.write(scope.clone(), move |db, number| {
            let mut update = db.prepare_cached(sql).map_err(failed)?;
            weighed.iter().try_for_each(|seq| {
                update.execute(params![number, *seq as i64]).map(drop).map_err(failed)
            })
        })
        .await
    }

    async fn counts(&self, scope: &Scope) -> Result<UsageCounts> {
        self.read(scope, counts).await
    }

    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize> {
        let owner = scope.clone();
        self.writer
            .run(move |db| match super::scope_number(db, &owner)? {
                Some(number) => prune(db, number, before),
                None => Ok(0),
            })
            .await
    }
}

/// Takes out every line of a memory.
pub(super) fn remove_memory(db: &Connection, scope: i64, id: MemoryId) -> Result<usize> {
    db.prepare_cached("DELETE FROM usage WHERE scope = ?1 AND memory = ?2")
        .and_then(|mut delete| delete.execute(params![scope, id.as_bytes()]))
        .map_err(failed)
}

fn record(db: &Connection, scope: i64, prompt: &Injection) -> Result<()> {
    let mut seq = max_or_zero(db, "SELECT MAX(seq) FROM usage WHERE scope = ?1", params![scope])?;
    let turn = "SELECT MAX(turn) FROM usage WHERE scope = ?1 AND session = ?2";
    let turn = max_or_zero(db, turn, params![scope, prompt.session])?;
    let turn = (turn + i64::from(!prompt.joins)).max(1);
    let mut insert = db
        .prepare_cached(
            "INSERT INTO usage (scope, seq, memory, session, turn, query, at, shown, asked, sketch) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .map_err(failed)?;
    for told in &prompt.memories {
        // What was erased while the prompt was made leaves no line.
        if is_erased(db, scope, told.id)? {
            continue;
        }
        seq += 1;
        insert
            .execute(params![
                scope,
                seq,
                told.id.as_bytes(),
                prompt.session,
                turn,
                prompt.query.as_bytes(),
                prompt.at.as_millisecond(),
                told.shown as u8,
                told.asked,
                told.sketch
            ])
            .map_err(failed)?;
    }
    db.prepare_cached("DELETE FROM usage WHERE scope = ?1 AND seq <= ?2")
        .and_then(|mut delete| delete.execute(params![scope, seq - prompt.most as i64]))
        .map(drop)
        .map_err(failed)
}

/// Whether the last that happened to a memory was its erasure.
fn is_erased(db: &Connection, scope: i64, id: MemoryId) -> Result<bool> {
    let sql = "SELECT 1 FROM gone JOIN changes USING (scope, seq) WHERE gone.scope = ?1 AND gone.id = ?2 AND op = ?3";
    db.prepare_cached(sql)
        .and_then(|mut select| select.exists(params![scope, id.as_bytes(), ChangeOp::Erase as u8]))
        .map_err(failed)
}

/// The largest number there is, or 0.
fn max_or_zero(db: &Connection, sql: &str, of: &[&dyn rusqlite::ToSql]) -> Result<i64> {
    let found = db
        .prepare_cached(sql)
        .and_then(|mut select| select.query_row(of, |row| row.get::<_, Option<i64>>(0)).optional());
    Ok(found.map_err(failed)?.flatten().unwrap_or(0))
}

fn injected(db: &Connection, scope: i64, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
    // With a single MAX, SQLite takes the other columns from the row that has it.
    let mut select = db
        .prepare_cached(
            "SELECT memory, sketch, MAX(seq) FROM usage INDEXED BY usage_session \
             WHERE scope = ?1 AND session = ?2 AND shown <> ?3 GROUP BY memory ORDER BY memory",
        )
        .map_err(failed)?;
    let held_out = InjectedTier::HeldOut as u8;
    let rows = select
        .query_map(params![scope, session, held_out], |row| {
            Ok((MemoryId::from_bytes(row.get(0)?), row.get(1)?))
        })
        .map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

/// Lines by an index. By itself SQLite would go through all lines of the scope, because they are in order.
fn records(db: &Connection, by: &str, of: &[&dyn rusqlite::ToSql]) -> Result<Vec<UsageRecord>> {
    let sql = format!(
        "SELECT seq, session, turn, query, at, memory, shown, asked, sketch, used \
         FROM usage INDEXED BY {by} ORDER BY seq"
    );
    let mut select = db.prepare_cached(&sql).map_err(failed)?;
    let rows = select.query_map(of, read_row).map_err(failed)?;
    rows.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<UsageRecord> {
    let shown = InjectedTier::ALL
        .get(usize::from(row.get::<_, u8>(6)?))
        .copied()
        .unwrap_or(InjectedTier::HeldOut);
    Ok(UsageRecord {
        seq: row.get::<_, i64>(0)? as u64,
        session: row.get(1)?,
        turn: row.get(2)?,
        query: Fingerprint::from_bytes(row.get(3)?),
        at: Timestamp::from_millisecond(row.get(4)?).unwrap_or(Timestamp::UNIX_EPOCH),
        injected: InjectedMemory {
            id: MemoryId::from_bytes(row.get(5)?),
            shown,
            asked: row.get(7)?,
            sketch: row.get(8)?,
        },
        used: row.get(9)?,
    })
}

fn counts(db: &Connection, scope: i64) -> Result<UsageCounts> {
    let sql = "SELECT SUM(shown <> 3), SUM(shown <> 3 AND used IS NOT NULL), SUM(shown <> 3 AND used = 1), \
               SUM(shown = 3 AND used IS NOT NULL), SUM(shown = 3 AND used = 1), \
               COUNT(DISTINCT CASE WHEN shown <> 3 THEN memory END), \
               COUNT(DISTINCT CASE WHEN shown <> 3 AND used = 1 THEN memory END) FROM usage WHERE scope = ?1";
    db.prepare_cached(sql)
        .and_then(|mut select| {
            select.query_row([scope], |row| {
                let figure = |at| row.get::<_, Option<i64>>(at).map(|n| n.unwrap_or(0) as u64);
                Ok(UsageCounts {
                    told: figure(0)?,
                    answered: figure(1)?,
                    used: figure(2)?,
                    held_out: figure(3)?,
                    held_out_used: figure(4)?,
                    memories: figure(5)?,
                    memories_used: figure(6)?,
                })
            })
        })
        .map_err(failed)
}

fn prune(db: &Connection, scope: i64, before: Timestamp) -> Result<usize> {
    db.prepare_cached("DELETE FROM usage WHERE scope = ?1 AND at < ?2")
        .and_then(|mut delete| delete.execute(params![scope, before.as_millisecond()]))
        .map_err(failed)
}
