//! The capture queue facet: sessions with unread turns, their leases, and quarantined drafts.

use async_trait::async_trait;

use super::{
    ServerStore,
    database::{Database, rows as result_rows},
    quarantine, rows,
    rows::TurnQuery,
    scope_row::{self, ScopeKey},
    sql::{OnConflict, SqlRow, SqlValue, Statement, insert, list, sql, sql_row},
    tables::DRAFTS,
    transaction::RetryRule,
};
use crate::{
    error::{Error, Result},
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, DocAddress, PendingSession, SessionLease,
        UnreadTurns, capture_queue::CONTEXT_TURNS, row::timestamp,
    },
    types::{MemoryId, QuarantinedDraft, Scope, Timestamp},
};

#[async_trait]
impl CaptureQueue for ServerStore {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        loop {
            // Most claims find nothing due: only the others lock a scope.
            let mut pending = self.pending(claim.scope.as_ref()).await?;
            let Some(due) = claim.pick_due(&pending) else { return Ok(None) };
            let scope = pending.swap_remove(due).scope;
            let claim = ClaimRequest { scope: Some(scope.clone()), ..claim.clone() };
            let lease = self
                .db
                .retried(RetryRule::Unchanged, || claim_in_scope(&self.db, &claim, &scope))
                .await?;
            // Another server leased a session of the scope meanwhile, so it is no longer due.
            if lease.is_some() {
                return Ok(lease);
            }
        }
    }

    async fn release(&self, lease: &SessionLease, failure: Option<&CaptureFailure>) -> Result<()> {
        let key = ScopeKey::of(&lease.scope);
        let (set, mut params) = match failure {
            None => ("owner = NULL, leased_until = NULL", Vec::new()),
            Some(CaptureFailure { error, is_invalid, retry_at }) => (
                "owner = NULL, leased_until = NULL, failures = failures + 1, invalid = invalid + ?, retry_at = ?, \
                 error = ?",
                vec![(*is_invalid).into(), (*retry_at).into(), error.into()],
            ),
        };
        let (condition, session) = session_condition(key, lease.session.as_deref());
        params.push(key.into());
        params.extend(session);
        params.push((&lease.owner).into());
        let text =
            format!("UPDATE captures SET {set} WHERE scope = ? AND {condition} AND owner = ?");
        let release = Statement::Plain { text: text.into(), params };
        self.db.write(RetryRule::Idempotent, vec![release]).await.map(drop)
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        self.db
            .retried(RetryRule::Idempotent, || unread_turns(&self.db, scope, session, limit))
            .await
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let key = ScopeKey::of(scope);
        let (condition, session) = session_condition(key, Some(session));
        let text = format!("UPDATE captures SET ended_at = ? WHERE scope = ? AND {condition}");
        let params = [vec![now.into(), key.into()], session].concat();
        let marked = vec![Statement::Plain { text: text.into(), params }];
        Ok(self.db.write(RetryRule::Idempotent, marked).await? != [0])
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        read_all_pending(self.db.read_one(select_pending(scope)).await?)
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        quarantine::read(self.db.read_one(quarantine::select(ScopeKey::of(scope))).await?)
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let text = "DELETE FROM drafts WHERE scope = ? AND id IN ?";
        let drop = vec![sql!(text, ScopeKey::of(scope), list(ids.iter().copied()))];
        let dropped = self.db.write(RetryRule::Unchanged, drop).await?;
        Ok(dropped.iter().sum::<u64>() as usize)
    }

    async fn put_back(&self, scope: &Scope, draft: &QuarantinedDraft) -> Result<()> {
        let (key, digest) = (ScopeKey::of(scope), draft.memory.fingerprint());
        let body = serde_json::to_string(draft).map_err(Error::store)?;
        let row = sql_row![key, draft.id(), draft.at, draft.verdict as u8, digest, body];
        let put = vec![
            sql!("DELETE FROM drafts WHERE scope = ? AND digest = ?", key, digest),
            insert(&DRAFTS, vec![row], OnConflict::Fail),
        ];
        self.db.write(RetryRule::Idempotent, put).await.map(std::mem::drop)
    }
}

/// Returns the condition for the row of a session in `captures`, and its parameters.
fn session_condition(key: ScopeKey, session: Option<&str>) -> (&'static str, Vec<SqlValue>) {
    match session {
        None => ("session = 0", Vec::new()),
        Some(name) => (
            "session = (SELECT number FROM sessions WHERE scope = ? AND name = ?)",
            vec![key.into(), name.into()],
        ),
    }
}

/// Leases the first session of a scope that is due, under the scope's lock.
async fn claim_in_scope(
    db: &Database,
    claim: &ClaimRequest,
    scope: &Scope,
) -> Result<Option<SessionLease>> {
    let key = ScopeKey::of(scope);
    let mut tx = db.begin().await?;
    let read = vec![select_pending(Some(scope))];
    let Some((locked, results)) = scope_row::lock(&mut tx, key, read).await? else {
        return Ok(None);
    };
    let [pending] = result_rows(results)?;
    let mut pending = read_all_pending(pending)?;
    let Some(due) = claim.pick_due(&pending) else { return Ok(None) };
    let PendingSession { scope, session, failures, invalid, .. } = pending.swap_remove(due);
    let lease = SessionLease { scope, session, owner: claim.owner.clone(), failures, invalid };
    let until = claim.now.as_millisecond() + claim.lease_duration.as_millis() as i64;
    let (condition, session) = session_condition(key, lease.session.as_deref());
    let text =
        format!("UPDATE captures SET owner = ?, leased_until = ? WHERE scope = ? AND {condition}");
    let params = [vec![(&lease.owner).into(), until.into(), key.into()], session].concat();
    let leased = vec![Statement::Plain { text: text.into(), params }];
    locked.commit(tx, db.dialect(), key, leased).await?;
    Ok(Some(lease))
}

/// Returns the first turns after the checkpoint of a session, and some before them.
async fn unread_turns(
    db: &Database,
    scope: &Scope,
    session: Option<&str>,
    limit: usize,
) -> Result<UnreadTurns> {
    let key = ScopeKey::of(scope);
    let mut tx = db.snapshot().await?;
    let [found] = result_rows(tx.run(vec![select_checkpoint(key, session)]).await?)?;
    let Some(mut found) = found.into_iter().next() else {
        tx.finish();
        return Ok(UnreadTurns::default());
    };
    let (number, from) = (found.int(0)?, found.opt_int(1)?.unwrap_or(0));
    let address = |position| DocAddress::new(number, position);
    let unread = TurnQuery { from: address(from), to: address(u32::MAX), last: false, limit };
    let context =
        TurnQuery { from: address(0), to: address(from), last: true, limit: CONTEXT_TURNS };
    let read = vec![rows::turns(key, unread), rows::turns(key, context)];
    let [unread, context] = result_rows(tx.commit(read).await?)?;
    let unread = rows::read_all(unread, scope)?;
    let mut context = rows::read_memories(context, scope)?;
    context.reverse();
    let to = unread.last().map_or(from, |turn| turn.address.position() + 1);
    let turns = unread.into_iter().map(|turn| turn.memory).collect();
    Ok(UnreadTurns { context, turns, from, to })
}

/// Creates the query for the number and the checkpoint of a session.
fn select_checkpoint(key: ScopeKey, session: Option<&str>) -> Statement {
    match session {
        None => {
            sql!("SELECT 0, (SELECT checkpoint FROM captures WHERE scope = ? AND session = 0)", key)
        }
        Some(name) => sql!(
            "SELECT n.number, c.checkpoint FROM sessions n \
             LEFT JOIN captures c ON c.scope = n.scope AND c.session = n.number \
             WHERE n.scope = ? AND n.name = ?",
            key,
            name
        ),
    }
}

/// Creates the query for every session with unread turns, of one scope or of all, those pending for longest first.
fn select_pending(scope: Option<&Scope>) -> Statement {
    let text = format!(
        "SELECT s.agent, s.user_name, n.name, c.turns, c.exchanges, c.last_at, c.ended_at, c.leased_until, \
         c.failures, c.invalid, c.retry_at, c.error, s.captured_at FROM captures c \
         JOIN scopes s ON s.scope = c.scope \
         LEFT JOIN sessions n ON n.scope = c.scope AND n.number = c.session \
         WHERE c.turns > 0 {} ORDER BY c.last_at, s.agent, s.user_name, c.session",
        if scope.is_some() { "AND c.scope = ?" } else { "" }
    );
    let params = scope.map(|scope| ScopeKey::of(scope).into()).into_iter().collect();
    Statement::Plain { text: text.into(), params }
}

fn read_all_pending(rows: Vec<SqlRow>) -> Result<Vec<PendingSession>> {
    rows.into_iter().map(read_pending).collect()
}

fn read_pending(mut row: SqlRow) -> Result<PendingSession> {
    let scope = Scope::new(&row.text(0)?, &row.text(1)?)?;
    let mut time = |column: usize| row.opt_int(column)?.map(timestamp).transpose();
    let (ended_at, leased_until, retry_at, last_run_at) =
        (time(6)?, time(7)?, time(10)?, time(12)?);
    Ok(PendingSession {
        scope,
        session: row.opt_text(2)?,
        turns: row.int(3)?,
        exchanges: row.int(4)?,
        last_at: timestamp(row.int(5)?)?,
        ended_at,
        leased_until,
        failures: row.int(8)?,
        invalid: row.int(9)?,
        retry_at,
        error: row.opt_text(11)?,
        last_run_at,
    })
}
