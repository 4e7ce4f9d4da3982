//! Quarantined drafts: the table `held`, each draft as JSON.

use std::collections::BTreeSet;

use rusqlite::params;

use super::{ScopeDb, statements::Statements};
use crate::{
    error::{Error, Result},
    types::{Fingerprint, MemoryId, QuarantineLimits, QuarantinedDraft},
};

/// Returns all drafts of a scope, newest first.
pub(super) fn list(db: ScopeDb<'_>) -> Result<Vec<QuarantinedDraft>> {
    let sql = "SELECT body FROM held WHERE scope = ?1 ORDER BY at DESC, id DESC";
    let bodies: Vec<String> = db.all(sql, [db.id], |row| row.get(0))?;
    let decode = |body: &String| {
        serde_json::from_str(body)
            .map_err(|error| Error::damaged(format!("a quarantined draft: {error}")))
    };
    bodies.iter().map(decode).collect()
}

/// Stores drafts, each text once, and removes those that are too old or too many, the oldest rejected ones first.
pub(super) fn put(
    db: ScopeDb<'_>,
    drafts: &[QuarantinedDraft],
    limits: QuarantineLimits,
) -> Result<()> {
    for draft in drafts {
        let text = draft.memory.fingerprint();
        db.run("DELETE FROM held WHERE scope = ?1 AND text = ?2", (db.id, text.as_bytes()))?;
        let body = serde_json::to_string(draft).map_err(Error::store)?;
        let (id, at) = (draft.id(), draft.at.as_millisecond());
        db.run(
            "INSERT INTO held VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![db.id, id.as_bytes(), at, draft.verdict as u8, text.as_bytes(), body],
        )?;
    }
    let sql = "DELETE FROM held WHERE scope = ?1 AND (at < ?2 OR id IN \
               (SELECT id FROM held WHERE scope = ?1 ORDER BY verdict DESC, at DESC, id DESC LIMIT -1 OFFSET ?3))";
    let (keep_since, max_drafts) = (limits.keep_since.as_millisecond(), limits.max_drafts as i64);
    db.run(sql, (db.id, keep_since, max_drafts)).map(drop)
}

/// Removes drafts and returns how many there were.
pub(super) fn remove(db: ScopeDb<'_>, ids: &[MemoryId]) -> Result<usize> {
    let sql = "DELETE FROM held WHERE scope = ?1 AND id = ?2";
    ids.iter().map(|id| db.run(sql, (db.id, id.as_bytes()))).sum()
}

/// Removes every draft that derives from an erased memory or has one of its texts, and returns how many there were.
pub(super) fn forget(
    db: ScopeDb<'_>,
    erased: MemoryId,
    texts: &BTreeSet<Fingerprint>,
) -> Result<usize> {
    let derives = |draft: &QuarantinedDraft| {
        draft.derives_from(erased) || texts.contains(&draft.memory.fingerprint())
    };
    let drafts = list(db)?;
    let derived: Vec<_> =
        drafts.iter().filter(|draft| derives(draft)).map(QuarantinedDraft::id).collect();
    remove(db, &derived)
}
