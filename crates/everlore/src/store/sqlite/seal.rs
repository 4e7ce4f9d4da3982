//! Seals and erasure of whole agents in the file.

use rusqlite::Connection;

use super::{ScopeDb, index, statements::Statements};
use crate::{
    error::{Error, Result},
    store::seal::{SEAL, seal_document},
    types::Scope,
};

/// Tables beside the index whose rows belong to a scope.
const SCOPE_TABLES: [&str; 10] = [
    "memories",
    "sessions",
    "gone",
    "changes",
    "tombstones",
    "tokens",
    "cached_vectors",
    "usage",
    "captures",
    "held",
];

/// Seals an agent for a holder. The writer's transaction excludes all other writes.
pub(super) fn seal(db: &Connection, agent: &str, holder: &str) -> Result<()> {
    let sql = "INSERT INTO documents VALUES (?1, 1, ?2) ON CONFLICT DO UPDATE SET text = ?2";
    db.run(sql, (seal_document(agent), holder))?;
    let sql = "UPDATE scopes SET index_version = index_version + ?2 \
               WHERE agent = ?1 AND index_version < ?2";
    db.run(sql, (agent, SEAL)).map(drop)
}

/// Ends the seal of an agent; only that of a holder if there is one.
pub(super) fn unseal(db: &Connection, agent: &str, holder: Option<&str>) -> Result<()> {
    let sql = "DELETE FROM documents WHERE name = ?1 AND text = coalesce(?2, text)";
    let ended = db.run(sql, (seal_document(agent), holder))?;
    if ended == 0 && holder.is_some() {
        return Ok(());
    }
    let sql = "UPDATE scopes SET index_version = index_version - ?2 \
               WHERE agent = ?1 AND index_version >= ?2 AND index_version < 2 * ?2";
    db.run(sql, (agent, SEAL)).map(drop)
}

/// Refuses to create a scope of a sealed agent.
pub(super) fn check_new_scope(db: &Connection, scope: &Scope) -> Result<()> {
    let sql = "SELECT 1 FROM documents WHERE name = ?1";
    if db.finds(sql, [seal_document(scope.agent())])? {
        return Err(Error::Sealed { agent: scope.agent().to_owned() });
    }
    Ok(())
}

/// Removes every row of an agent.
pub(super) fn erase_agent(db: &Connection, agent: &str) -> Result<()> {
    let sql = "SELECT user FROM scopes WHERE agent = ?1";
    let users: Vec<String> = db.all(sql, [agent], |row| row.get(0))?;
    for user in users {
        let scope = Scope::new(agent, &user)?;
        if let Some(db) = ScopeDb::find(db, &scope)? {
            erase_scope(db)?;
        }
    }
    Ok(())
}

fn erase_scope(db: ScopeDb<'_>) -> Result<()> {
    index::clear(db)?;
    for table in SCOPE_TABLES {
        db.run(&format!("DELETE FROM {table} WHERE scope = ?1"), [db.id])?;
    }
    db.run("DELETE FROM scopes WHERE id = ?1", [db.id]).map(drop)
}
