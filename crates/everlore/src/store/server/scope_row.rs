//! The row of a scope: the lock of its writes, and the counters that they take numbers from.

use sha2::{Digest, Sha256};

use super::{
    driver::StatementResult,
    sql::{OnConflict, SqlRow, SqlValue, Statement, insert, sql, sql_row},
    tables::SCOPES,
    transaction::Transaction,
};
use crate::{
    error::{Error, Result},
    store::plan::ScopeCounters,
    text::terms::TERMS_VERSION,
    types::Scope,
};

/// Key of a scope in every table: a digest of its names, so that no lookup comes before a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ScopeKey([u8; 16]);

impl ScopeKey {
    /// Digests the names of a scope.
    pub(super) fn of(scope: &Scope) -> Self {
        let mut digest = Sha256::new().chain_update(b"everlore/scope\0");
        for name in [scope.agent(), scope.user()] {
            digest.update((name.len() as u64).to_le_bytes());
            digest.update(name);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&digest.finalize()[..16]);
        Self(key)
    }

    /// Returns the key as a number.
    pub(super) fn to_bits(self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

impl From<ScopeKey> for SqlValue {
    fn from(key: ScopeKey) -> Self {
        Self::from(key.0)
    }
}

/// Row of a scope, locked until the end of the transaction.
#[derive(Debug)]
pub(super) struct LockedScope {
    pub(super) counters: ScopeCounters,
    /// Index blocks so far.
    pub(super) blocks: i64,
    /// Usage lines so far.
    pub(super) usage_lines: i64,
    /// Id of the last write.
    pub(super) write_id: Option<Vec<u8>>,
}

const LOCK: &str = "SELECT changes, sessions, positions, blocks, usage_lines, index_version, write_id \
                    FROM scopes WHERE scope = ? FOR UPDATE";

/// Locks a scope and runs statements behind the lock, in one round trip; `None` if the scope has no row.
pub(super) async fn lock(
    tx: &mut Transaction,
    key: ScopeKey,
    statements: Vec<Statement>,
) -> Result<Option<(LockedScope, Vec<StatementResult>)>> {
    let lock = sql!(LOCK, key);
    let mut results = tx.run([vec![lock], statements].concat()).await?;
    let found = results.remove(0).rows.into_iter().next();
    found.map(|row| Ok((read(row)?, results))).transpose()
}

/// Returns the statement that creates the row of a scope. It counts as used from its first write on.
pub(super) fn create(scope: &Scope) -> Statement {
    let row = sql_row![ScopeKey::of(scope), scope.agent(), scope.user(), TERMS_VERSION];
    insert(&SCOPES, vec![row], OnConflict::Keep)
}

/// Decodes the row. An index that a newer program built is left alone: its terms are not ours.
fn read(mut row: SqlRow) -> Result<LockedScope> {
    let version = row.int(5)?;
    if version > TERMS_VERSION {
        return Err(Error::SchemaTooNew { found: version, known: TERMS_VERSION });
    }
    Ok(LockedScope {
        counters: ScopeCounters {
            changes: row.int(0)?,
            sessions: row.int(1)?,
            positions: row.int(2)?,
        },
        blocks: row.int(3)?,
        usage_lines: row.int(4)?,
        write_id: row.opt_bytes(6)?,
    })
}
