//! The usage log in SQLite.

use async_trait::async_trait;
use rusqlite::{Connection, Params, Row, params};

use super::{ScopeDb, SqliteStore, statements::Statements};
use crate::{
    error::Result,
    store::{
        InjectedMemory, InjectedTier, Injection, UsageCounts, UsageLines, UsageLog, UsageRecord,
        UsageSelection,
    },
    types::{ChangeOp, Fingerprint, MemoryId, Scope, Timestamp},
};

/// Columns of a line, in the order of [`read_record`].
const COLUMNS: &str = "seq, session, turn, query, at, memory, shown, asked, sketch, used";

/// Number of [`InjectedTier::HeldOut`] in the column `shown`.
const HELD_OUT: u8 = InjectedTier::HeldOut as u8;

#[async_trait]
impl UsageLog for SqliteStore {
    async fn record(&self, scope: &Scope, prompt: Injection) -> Result<()> {
        self.write(scope, move |db| record(db, &prompt)).await
    }

    async fn injected(&self, scope: &Scope, session: &str) -> Result<Vec<(MemoryId, Vec<u8>)>> {
        // With a single MAX, SQLite takes the other columns from the row that has it.
        let sql = "SELECT memory, sketch, MAX(seq) FROM usage INDEXED BY usage_session \
                   WHERE scope = ?1 AND session = ?2 AND shown <> ?3 GROUP BY memory ORDER BY memory";
        let session = session.to_owned();
        self.read(scope, move |db| {
            db.all(sql, (db.id, session, HELD_OUT), |row| {
                Ok((MemoryId::from_bytes(row.get(0)?), row.get(1)?))
            })
        })
        .await
    }

    async fn of_session(
        &self,
        scope: &Scope,
        session: &str,
        lines: UsageLines,
    ) -> Result<Vec<UsageRecord>> {
        let source = match lines {
            UsageLines::All => "usage_session WHERE scope = ?1 AND session = ?2",
            UsageLines::Unanswered => {
                "usage_session WHERE scope = ?1 AND session = ?2 AND used IS NULL"
            }
        };
        let session = session.to_owned();
        self.read(scope, move |db| records(&db, source, (db.id, session))).await
    }

    async fn of_scope(&self, scope: &Scope, lines: UsageSelection) -> Result<Vec<UsageRecord>> {
        self.read(scope, move |db| match lines {
            UsageSelection::Newest(limit) => newest(&db, limit),
            UsageSelection::AwaitingWeights => {
                let source =
                    "usage_unweighed WHERE scope = ?1 AND used IS NOT NULL AND weighed = 0";
                records(&db, source, [db.id])
            }
        })
        .await
    }

    async fn set_used(&self, scope: &Scope, verdicts: Vec<(u64, bool)>) -> Result<()> {
        let sql = "UPDATE usage SET used = ?3 WHERE scope = ?1 AND seq = ?2";
        self.write(scope, move |db| {
            verdicts
                .iter()
                .try_for_each(|(seq, used)| db.run(sql, (db.id, *seq as i64, used)).map(drop))
        })
        .await
    }

    async fn mark_weights_updated(&self, scope: &Scope, lines: Vec<u64>) -> Result<()> {
        let sql = "UPDATE usage SET weighed = 1 WHERE scope = ?1 AND seq = ?2";
        self.write(scope, move |db| {
            lines.iter().try_for_each(|seq| db.run(sql, (db.id, *seq as i64)).map(drop))
        })
        .await
    }

    async fn counts(&self, scope: &Scope) -> Result<UsageCounts> {
        self.read(scope, counts).await
    }

    async fn prune(&self, scope: &Scope, before: Timestamp) -> Result<usize> {
        let sql = "DELETE FROM usage WHERE scope = ?1 AND at < ?2";
        self.write(scope, move |db| db.run(sql, (db.id, before.as_millisecond()))).await
    }
}

fn newest(db: &ScopeDb<'_>, limit: usize) -> Result<Vec<UsageRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM usage WHERE scope = ?1 ORDER BY seq DESC LIMIT ?2");
    db.all(&sql, (db.id, limit as i64), read_record)
}

/// Removes every line of a memory and returns how many there were.
pub(super) fn forget(db: ScopeDb<'_>, id: MemoryId) -> Result<usize> {
    db.run("DELETE FROM usage WHERE scope = ?1 AND memory = ?2", (db.id, id.as_bytes()))
}

fn record(db: ScopeDb<'_>, prompt: &Injection) -> Result<()> {
    let sql = "INSERT INTO usage (scope, seq, memory, session, turn, query, at, shown, asked, sketch) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let turn = next_turn(db, prompt)?;
    let mut seq = max_or_zero(&db, "SELECT MAX(seq) FROM usage WHERE scope = ?1", [db.id])?;
    for injected in &prompt.memories {
        // A memory that was erased while the prompt was built leaves no line.
        if is_erased(db, injected.id)? {
            continue;
        }
        seq += 1;
        let line = params![
            db.id,
            seq,
            injected.id.as_bytes(),
            prompt.session,
            turn,
            prompt.query.as_bytes(),
            prompt.at.as_millisecond(),
            injected.shown as u8,
            injected.query_term_digests,
            injected.sketch
        ];
        db.run(sql, line)?;
    }
    let surplus = "DELETE FROM usage WHERE scope = ?1 AND seq <= ?2";
    db.run(surplus, (db.id, seq - prompt.max_lines as i64)).map(drop)
}

/// Returns the number of a prompt in its session: the next one, or the last if the injection joins it.
fn next_turn(db: ScopeDb<'_>, prompt: &Injection) -> Result<i64> {
    let sql = "SELECT MAX(turn) FROM usage WHERE scope = ?1 AND session = ?2";
    let last = max_or_zero(&db, sql, (db.id, &prompt.session))?;
    Ok((last + i64::from(!prompt.is_same_prompt)).max(1))
}

/// Returns `true` if the newest change of a memory is its erasure.
fn is_erased(db: ScopeDb<'_>, id: MemoryId) -> Result<bool> {
    let sql = "SELECT 1 FROM gone JOIN changes USING (scope, seq) WHERE gone.scope = ?1 AND gone.id = ?2 AND op = ?3";
    db.finds(sql, (db.id, id.as_bytes(), ChangeOp::Erase as u8))
}

/// Reads a maximum; 0 over no rows.
fn max_or_zero(db: &Connection, sql: &str, values: impl Params) -> Result<i64> {
    let max = db.one(sql, values, |row| row.get::<_, Option<i64>>(0))?;
    Ok(max.flatten().unwrap_or(0))
}

/// Reads lines by a named index. By itself SQLite would go through all lines of the scope, because they are in order.
fn records(db: &Connection, source: &str, values: impl Params) -> Result<Vec<UsageRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM usage INDEXED BY {source} ORDER BY seq");
    db.all(&sql, values, read_record)
}

fn read_record(row: &Row<'_>) -> rusqlite::Result<UsageRecord> {
    let tier = InjectedTier::ALL.get(usize::from(row.get::<_, u8>(6)?)).copied();
    Ok(UsageRecord {
        seq: row.get::<_, i64>(0)? as u64,
        session: row.get(1)?,
        turn: row.get(2)?,
        query: Fingerprint::from_bytes(row.get(3)?),
        at: Timestamp::from_millisecond(row.get(4)?).unwrap_or(Timestamp::UNIX_EPOCH),
        injected: InjectedMemory {
            id: MemoryId::from_bytes(row.get(5)?),
            shown: tier.unwrap_or(InjectedTier::HeldOut),
            query_term_digests: row.get(7)?,
            sketch: row.get(8)?,
        },
        used: row.get(9)?,
    })
}

fn counts(db: ScopeDb<'_>) -> Result<UsageCounts> {
    let sql = "SELECT SUM(shown <> ?2), SUM(shown <> ?2 AND used IS NOT NULL), SUM(shown <> ?2 AND used = 1), \
               SUM(shown = ?2 AND used IS NOT NULL), SUM(shown = ?2 AND used = 1), \
               COUNT(DISTINCT CASE WHEN shown <> ?2 THEN memory END), \
               COUNT(DISTINCT CASE WHEN shown <> ?2 AND used = 1 THEN memory END) FROM usage WHERE scope = ?1";
    let counts = db.one(sql, (db.id, HELD_OUT), |row| {
        let figure = |column| row.get::<_, Option<i64>>(column).map(|n| n.unwrap_or(0) as u64);
        Ok(UsageCounts {
            injected: figure(0)?,
            answered: figure(1)?,
            used: figure(2)?,
            held_out: figure(3)?,
            held_out_used: figure(4)?,
            memories: figure(5)?,
            memories_used: figure(6)?,
        })
    })?;
    Ok(counts.unwrap_or_default())
}
