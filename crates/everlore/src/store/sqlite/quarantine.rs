//! Drafts that were not remembered, in the file.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::failed;
use crate::{
    error::{Error, Result},
    types::{Fingerprint, MemoryId, QuarantineLimits, QuarantinedDraft},
};

/// All of a scope, newest first.
pub(super) fn list(db: &Connection, scope: i64) -> Result<Vec<QuarantinedDraft>> {
    let mut select = db
        .prepare_cached("SELECT body FROM held WHERE scope = ?1 ORDER BY at DESC, id DESC")
        .map_err(failed)?;
    let rows = select.query_map([scope], |row| row.get::<_, String>(0)).map_err(failed)?;
    let body = |row: rusqlite::Result<String>| {
        serde_json::from_str(&row.map_err(failed)?)
            .map_err(|error| Error::damaged(format!("a draft that is held: {error}")))
    };
    rows.map(body).collect()
}

/// Keeps drafts, each text once, and lets those go that are too many or too old.
pub(super) fn put(
    db: &Connection,
    scope: i64,
    held: &[QuarantinedDraft],
    limits: QuarantineLimits,
) -> Result<()> {
    for draft in held {
        let text = draft.memory.fingerprint();
        db.prepare_cached("DELETE FROM held WHERE scope = ?1 AND text = ?2")
            .and_then(|mut delete| delete.execute(params![scope, text.as_bytes()]))
            .map_err(failed)?;
        let body = serde_json::to_string(draft).map_err(Error::store)?;
        db.prepare_cached("INSERT INTO held VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            .and_then(|mut insert| {
                insert.execute(params![
                    scope,
                    draft.id().as_bytes(),
                    draft.at.as_millisecond(),
                    draft.verdict as u8,
                    text.as_bytes(),
                    body
                ])
            })
            .map_err(failed)?;
    }
    db.prepare_cached(
        "DELETE FROM held WHERE scope = ?1 AND (at < ?2 OR id IN \
         (SELECT id FROM held WHERE scope = ?1 ORDER BY verdict DESC, at DESC, id DESC LIMIT -1 OFFSET ?3))",
    )
    .and_then(|mut delete| {
        delete.execute(params![scope, limits.keep_since.as_millisecond(), limits.max_drafts as i64])
    })
    .map(drop)
    .map_err(failed)
}

/// Removes drafts and returns how many there were.
pub(super) fn remove(db: &Connection, scope: i64, ids: &[MemoryId]) -> Result<usize> {
    let mut delete =
        db.prepare_cached("DELETE FROM held WHERE scope = ?1 AND id = ?2").map_err(failed)?;
    let mut gone = 0;
    for id in ids {
        gone += delete.execute(params![scope, id.as_bytes()]).map_err(failed)?;
    }
    Ok(gone)
}

/// Removes every draft that was taken from what is erased, or says the same.
pub(super) fn remove_derived(
    db: &Connection,
    scope: i64,
    erased: MemoryId,
    texts: &BTreeSet<Fingerprint>,
) -> Result<usize> {
    let derives = |held: &QuarantinedDraft| {
        held.derives_from(erased) || texts.contains(&held.memory.fingerprint())
    };
    let gone: Vec<_> =
        list(db, scope)?.iter().filter(|held| derives(held)).map(QuarantinedDraft::id).collect();
    remove(db, scope, &gone)
}
