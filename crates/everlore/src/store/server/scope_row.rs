//! The row of a scope: the lock of its writes, and the counters that they take numbers from.

use sha2::{Digest, Sha256};

use super::{
    driver::StatementResult,
    migrate::SCHEMA_VERSION,
    sql::{Dialect, OnConflict, SqlRow, SqlValue, Statement, insert, sql, sql_row},
    tables::SCOPES,
    transaction::Transaction,
};
use crate::{
    error::{Error, Result},
    store::{plan::ScopeCounters, seal::check_index_version},
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
    pub(super) write_id: [u8; 16],
}

/// Id of a scope whose row was created and never written.
pub(super) const NO_WRITE: [u8; 16] = [0; 16];

/// Creates an id that no other write has.
pub(super) fn new_write_id() -> Result<[u8; 16]> {
    let mut id = NO_WRITE;
    getrandom::fill(&mut id).map_err(|error| Error::store(error.to_string()))?;
    Ok(id)
}

const LOCK: &str = "SELECT changes, sessions, positions, blocks, usage_lines, index_version, write_id, agent, \
                    (SELECT value FROM meta WHERE name = 'min_writer') FROM scopes WHERE scope = ? FOR UPDATE";

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

/// Commits statements of a transaction that locked a scope, under a new write id. A lock holds within one node of a
/// Galera cluster; that the row is changed only if it is still what was locked, and that it has the id at the end and
/// after the commit, holds for all of them.
pub(super) async fn commit(
    tx: Transaction,
    dialect: Dialect,
    key: ScopeKey,
    ids: WriteIds,
    statements: Vec<Statement>,
) -> Result<Vec<StatementResult>> {
    let WriteIds { old, new, verify } = ids;
    let text = "UPDATE scopes SET write_id = ? WHERE scope = ? AND write_id = ?";
    let guard = dialect.guard_write(key, new);
    let find = guard.is_some().then(|| {
        verify.unwrap_or_else(|| {
            sql!("SELECT 1 FROM scopes WHERE scope = ? AND write_id = ?", key, new)
        })
    });
    let all = std::iter::once(sql!(text, new, key, old)).chain(statements).chain(guard).collect();
    let mut results = tx.commit_verified(all, find).await?;
    results.remove(0);
    Ok(results)
}

/// Ids of the write before and of this one, and the query that finds what it stored.
pub(super) struct WriteIds {
    pub(super) old: [u8; 16],
    pub(super) new: [u8; 16],
    /// The row of the scope tells if this is `None`.
    pub(super) verify: Option<Statement>,
}

impl LockedScope {
    /// Commits statements under a fresh write id.
    pub(super) async fn commit(
        &self,
        tx: Transaction,
        dialect: Dialect,
        key: ScopeKey,
        statements: Vec<Statement>,
    ) -> Result<Vec<StatementResult>> {
        let ids = WriteIds { old: self.write_id, new: new_write_id()?, verify: None };
        commit(tx, dialect, key, ids, statements).await
    }
}

/// Returns the statement that creates the row of a scope. It counts as used from its first write on.
pub(super) fn create(scope: &Scope) -> Statement {
    let row = sql_row![ScopeKey::of(scope), scope.agent(), scope.user(), TERMS_VERSION, NO_WRITE];
    insert(&SCOPES, vec![row], OnConflict::Keep)
}

/// Decodes the row. Fails if the scope is sealed, if a newer program indexed it, and if a newer program migrated the
/// database to a schema that this one cannot write.
fn read(mut row: SqlRow) -> Result<LockedScope> {
    let min_writer = row.opt_int(8)?.unwrap_or(0);
    if min_writer > SCHEMA_VERSION {
        return Err(Error::SchemaTooNew { found: min_writer, known: SCHEMA_VERSION });
    }
    let (version, agent) = (row.int(5)?, row.text(7)?);
    check_index_version(version, || agent)?;
    Ok(LockedScope {
        counters: ScopeCounters {
            changes: row.int(0)?,
            sessions: row.int(1)?,
            positions: row.int(2)?,
        },
        blocks: row.int(3)?,
        usage_lines: row.int(4)?,
        write_id: row.id(6)?,
    })
}
