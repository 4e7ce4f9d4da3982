//! Seals and erasure of whole agents.

use super::{
    ServerStore, block_tables,
    scope_row::{LockedScope, NO_WRITE, ScopeKey},
    sql::{OnConflict, SqlRow, Statement, insert, list, sql, sql_row},
    tables::DOCUMENTS,
    transaction::{RetryRule, Transaction},
};
use crate::{
    error::{Error, Result},
    store::seal::{SEAL, seal_document},
    types::Scope,
};

/// Tables beside the index whose rows belong to a scope.
const SCOPE_TABLES: [&str; 10] = [
    "memories",
    "sessions",
    "deletions",
    "journal",
    "tombstones",
    "token_vectors",
    "cached_vectors",
    "usage_log",
    "captures",
    "drafts",
];

impl ServerStore {
    /// Seals an agent for a holder: the document first, at which the first write of a scope looks, then every scope that has a row. A
    /// scope whose row came too late for this was created after the document, and its first write is refused.
    pub(super) async fn seal_agent(&self, agent: &str, holder: &str) -> Result<()> {
        let row = sql_row![seal_document(agent), 1, holder];
        let document = insert(&DOCUMENTS, vec![row], OnConflict::Replace);
        self.db.write(RetryRule::Idempotent, vec![document]).await?;
        let unsealed = "SELECT scope FROM scopes WHERE agent = ? AND index_version < ?";
        loop {
            let found = self.db.read_one(sql!(unsealed, agent, SEAL)).await?;
            if found.is_empty() {
                return Ok(());
            }
            // By key, and so without locks on scopes of others. It waits for writes under way.
            let keys = found.into_iter().map(|mut row| row.id(0)).collect::<Result<Vec<_>>>()?;
            let text = "UPDATE scopes SET index_version = index_version + ? \
                        WHERE scope IN ? AND index_version < ?";
            let seal = vec![sql!(text, SEAL, list(keys), SEAL)];
            self.db.write(RetryRule::Idempotent, seal).await?;
        }
    }

    /// Ends the seal of an agent; only that of a holder if there is one. A document that is still there after its removal is
    /// that of another holder, whose sealing waits for the lock on its row until this is committed.
    pub(super) async fn unseal_agent(&self, agent: &str, holder: Option<&str>) -> Result<()> {
        let name = seal_document(agent);
        let remove = match holder {
            Some(holder) => {
                sql!("DELETE FROM documents WHERE name = ? AND body = ?", name.as_str(), holder)
            }
            None => sql!("DELETE FROM documents WHERE name = ?", name.as_str()),
        };
        let text = "UPDATE scopes SET index_version = index_version - ? \
                    WHERE agent = ? AND index_version >= ? AND index_version < ? \
                    AND NOT EXISTS (SELECT 1 FROM documents WHERE name = ?)";
        let unseal = vec![remove, sql!(text, SEAL, agent, SEAL, 2 * SEAL, name.as_str())];
        self.db.write(RetryRule::Idempotent, unseal).await.map(drop)
    }

    /// Removes every row of an agent, a scope at a time. The rows of its scopes stay, because numbers of index blocks are
    /// never given again; without a write they count as unused.
    pub(super) async fn erase_rows_of(&self, agent: &str) -> Result<()> {
        let text = "SELECT agent, user_name FROM scopes WHERE agent = ?";
        for mut row in self.db.read_one(sql!(text, agent)).await? {
            let key = ScopeKey::of(&scope_of(&mut row)?);
            for statement in erase_scope(key) {
                self.db.write(RetryRule::Idempotent, vec![statement]).await?;
            }
        }
        self.block_cache.clear();
        Ok(())
    }
}

fn scope_of(row: &mut SqlRow) -> Result<Scope> {
    Scope::new(&row.text(0)?, &row.text(1)?)
}

fn erase_scope(key: ScopeKey) -> Vec<Statement> {
    let delete = |table| sql!(format!("DELETE FROM {table} WHERE scope = ?"), key);
    let mut statements = block_tables::clear(key);
    statements.extend(SCOPE_TABLES.map(delete));
    let unused = "UPDATE scopes SET changes = 0, sessions = 0, positions = 0, usage_lines = 0, \
                  captured_at = NULL, write_id = ? WHERE scope = ?";
    statements.push(sql!(unused, NO_WRITE, key));
    statements
}

/// Refuses the first write of a scope whose agent is sealed.
pub(super) async fn check_first_write(
    tx: &mut Transaction,
    locked: &LockedScope,
    scope: &Scope,
) -> Result<()> {
    if locked.write_id != NO_WRITE {
        return Ok(());
    }
    let sealed = sql!("SELECT 1 FROM documents WHERE name = ?", seal_document(scope.agent()));
    let found = tx.run(vec![sealed]).await?;
    if found.iter().all(|result| result.rows.is_empty()) {
        return Ok(());
    }
    Err(Error::Sealed { agent: scope.agent().to_owned() })
}
