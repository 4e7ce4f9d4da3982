//! Quarantined drafts: their table, each draft as JSON.

use super::{
    scope_row::ScopeKey,
    sql::{SqlRow, Statement, sql},
};
use crate::{
    error::{Error, Result},
    store::plan::Erasure,
    types::{MemoryId, QuarantinedDraft},
};

/// Creates the query for all drafts of a scope, newest first.
pub(super) fn select(key: ScopeKey) -> Statement {
    sql!("SELECT body FROM drafts WHERE scope = ? ORDER BY at DESC, id DESC", key)
}

/// Decodes the rows of [`select`].
pub(super) fn read(rows: Vec<SqlRow>) -> Result<Vec<QuarantinedDraft>> {
    let decode = |mut row: SqlRow| {
        serde_json::from_str(&row.text(0)?)
            .map_err(|error| Error::damaged(format!("a quarantined draft: {error}")))
    };
    rows.into_iter().map(decode).collect()
}

/// Takes out the drafts that derive from an erased memory or have one of its texts, and returns their ids.
pub(super) fn take_derived(
    drafts: &mut Vec<&QuarantinedDraft>,
    erasure: &Erasure,
) -> Vec<MemoryId> {
    let derives = |draft: &&QuarantinedDraft| {
        draft.derives_from(erasure.id) || erasure.texts.contains(&draft.memory.fingerprint())
    };
    let derived = drafts.iter().filter(|draft| derives(draft)).map(|draft| draft.id()).collect();
    drafts.retain(|draft| !derives(draft));
    derived
}
