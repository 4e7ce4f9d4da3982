//! Capture progress of each session: counters that change with the turns, a checkpoint that moves with what capture
//! stores, the lease and its failures.

use rusqlite::{Connection, Row, params_from_iter};

use super::{ScopeDb, quarantine, rows, rows::TurnRange, statements::Statements};
use crate::{
    error::{Error, Result},
    store::{
        CaptureFailure, ClaimRequest, DocAddress, PendingSession, SessionLease, UnreadTurns,
        capture_queue::{CONTEXT_TURNS, lease_lost, starts_exchange},
        plan::CaptureDelta,
        row::{MemoryRow, timestamp},
    },
    types::{CaptureCheckpoint, Scope, Timestamp},
};

/// Adds to the counters of a session. A delta with a time, which new turns have, creates the row if there is none and
/// reopens a session that had ended.
pub(super) fn apply_delta(db: ScopeDb<'_>, session: u32, delta: &CaptureDelta) -> Result<()> {
    let CaptureDelta { turns, exchanges, last_at } = delta;
    let changed = match last_at {
        Some(last_at) => db.run(
            "INSERT INTO captures (scope, session, turns, exchanges, last_at) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT DO UPDATE SET turns = turns + ?3, exchanges = exchanges + ?4, last_at = ?5, ended_at = NULL",
            (db.id, session, turns, exchanges, last_at.as_millisecond()),
        ),
        None => db.run(
            "UPDATE captures SET turns = turns + ?3, exchanges = exchanges + ?4 WHERE scope = ?1 AND session = ?2",
            (db.id, session, turns, exchanges),
        ),
    };
    changed.map(drop)
}

/// Moves the checkpoint of a session past the turns that were read, ends the lease and quarantines drafts; fails if the
/// lease was lost.
pub(super) fn commit(
    db: ScopeDb<'_>,
    checkpoint: &CaptureCheckpoint,
    now: Timestamp,
) -> Result<()> {
    let lost = || lease_lost(checkpoint.session.as_deref());
    let session = session_number(db, checkpoint.session.as_deref())?.ok_or_else(lost)?;
    let CaptureCheckpoint { owner, from, to, .. } = checkpoint;
    // The turns are only counted: any scope will do to decode them.
    let turns = rows::turns(db, turn_range(session, *from, *to))?;
    let exchanges = turns.iter().filter(|turn| starts_exchange(&turn.memory)).count();
    let (turns, exchanges) = (turns.len() as i64, exchanges as i64);
    let moved = db.run(
        "UPDATE captures SET extracted = ?4, turns = turns - ?5, exchanges = exchanges - ?6, owner = NULL, \
         until = NULL, failures = 0, invalid = 0, retry_at = NULL, error = NULL \
         WHERE scope = ?1 AND session = ?2 AND extracted = ?3 AND owner = ?7",
        (db.id, session, from, to, turns, exchanges, owner),
    )?;
    if moved == 0 {
        return Err(lost());
    }
    let sql = "UPDATE scopes SET extracted_at = ?2 WHERE id = ?1";
    db.run(sql, (db.id, now.as_millisecond()))?;
    quarantine::put(db, &checkpoint.quarantined, checkpoint.limits)
}

/// Leases the first session that is due.
pub(super) fn claim(db: &Connection, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
    let mut pending = pending(db, claim.scope.as_ref())?;
    let Some(due) = claim.pick_due(&pending) else { return Ok(None) };
    let PendingSession { scope, session, failures, invalid, .. } = pending.swap_remove(due);
    let lease = SessionLease { scope, session, owner: claim.owner.clone(), failures, invalid };
    let until = claim.now.as_millisecond() + claim.lease_duration.as_millis() as i64;
    if let Some((scope_id, session)) = session_key(db, &lease)? {
        let sql = "UPDATE captures SET owner = ?3, until = ?4 WHERE scope = ?1 AND session = ?2";
        db.run(sql, (scope_id, session, &lease.owner, until))?;
    }
    Ok(Some(lease))
}

/// Ends a lease, with a failure if there was one. A lease that was lost changes nothing.
pub(super) fn release(
    db: &Connection,
    lease: &SessionLease,
    failure: Option<&CaptureFailure>,
) -> Result<()> {
    let Some((scope_id, session)) = session_key(db, lease)? else { return Ok(()) };
    let released = match failure {
        None => db.run(
            "UPDATE captures SET owner = NULL, until = NULL WHERE scope = ?1 AND session = ?2 AND owner = ?3",
            (scope_id, session, &lease.owner),
        ),
        Some(CaptureFailure { error, is_invalid, retry_at }) => db.run(
            "UPDATE captures SET owner = NULL, until = NULL, failures = failures + 1, invalid = invalid + ?4, \
             retry_at = ?5, error = ?6 WHERE scope = ?1 AND session = ?2 AND owner = ?3",
            (scope_id, session, &lease.owner, is_invalid, retry_at.as_millisecond(), error),
        ),
    };
    released.map(drop)
}

/// Returns the first turns after the checkpoint of a session, and some before them.
pub(super) fn unread_turns(
    db: ScopeDb<'_>,
    session: Option<&str>,
    limit: usize,
) -> Result<UnreadTurns> {
    let Some(session) = session_number(db, session)? else {
        return Ok(UnreadTurns::default());
    };
    let from = next_position(db, session)?;
    let unread = TurnRange { limit, ..turn_range(session, from, u32::MAX) };
    let context = TurnRange { last: true, limit: CONTEXT_TURNS, ..turn_range(session, 0, from) };
    let unread = rows::turns(db, unread)?;
    let context = rows::turns(db, context)?;
    let to = unread.last().map_or(from, |turn| turn.address.position() + 1);
    let memories = |turns: Vec<MemoryRow>| turns.into_iter().map(|turn| turn.memory).collect();
    Ok(UnreadTurns { context: memories(context), turns: memories(unread), from, to })
}

/// Marks a session as ended; `false` if it never had a turn.
pub(super) fn mark_ended(db: ScopeDb<'_>, session: &str, now: Timestamp) -> Result<bool> {
    let Some(session) = session_number(db, Some(session))? else { return Ok(false) };
    let sql = "UPDATE captures SET ended_at = ?3 WHERE scope = ?1 AND session = ?2";
    Ok(db.run(sql, (db.id, session, now.as_millisecond()))? > 0)
}

/// Returns every session with unread turns, of one scope or of all, those pending for longest first.
pub(super) fn pending(db: &Connection, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
    // From the scope to its sessions or, for all scopes, from the pending sessions: never through all sessions.
    let from = match scope {
        Some(_) => {
            "scopes s CROSS JOIN captures c INDEXED BY captures_waiting \
             ON c.scope = s.id AND s.agent = ?1 AND s.user = ?2"
        }
        None => "captures c INDEXED BY captures_waiting CROSS JOIN scopes s ON s.id = c.scope",
    };
    let sql = format!(
        "SELECT s.agent, s.user, n.name, c.turns, c.exchanges, c.last_at, c.ended_at, c.until, c.failures, c.invalid, \
         c.retry_at, c.error, s.extracted_at FROM {from} \
         LEFT JOIN sessions n ON n.scope = c.scope AND n.number = c.session \
         WHERE c.turns > 0 ORDER BY c.last_at, s.id, c.session"
    );
    let names = scope.into_iter().flat_map(|scope| [scope.agent(), scope.user()]);
    let pending = db.all(&sql, params_from_iter(names), |row| Ok(read_pending(row)))?;
    pending.into_iter().collect()
}

/// Returns the first position of a session that capture has not read yet; 0 if it has no row.
pub(super) fn next_position(db: ScopeDb<'_>, session: u32) -> Result<u32> {
    let sql = "SELECT extracted FROM captures WHERE scope = ?1 AND session = ?2";
    let position = db.one(sql, (db.id, session), |row| row.get(0))?;
    Ok(position.unwrap_or(0))
}

/// Returns the number of a session in its scope; 0 for turns outside of one, `None` for an unknown name.
pub(super) fn session_number(db: ScopeDb<'_>, session: Option<&str>) -> Result<Option<u32>> {
    let Some(name) = session else { return Ok(Some(0)) };
    let sql = "SELECT number FROM sessions WHERE scope = ?1 AND name = ?2";
    db.one(sql, (db.id, name), |row| row.get(0))
}

/// Returns the range of all turns from one position of a session to before another.
fn turn_range(session: u32, from: u32, to: u32) -> TurnRange {
    let address = |position| DocAddress::new(session, position);
    TurnRange { from: address(from), to: address(to), last: false, limit: usize::MAX }
}

fn read_pending(row: &Row<'_>) -> Result<PendingSession> {
    let time = |column: usize| -> Result<Option<Timestamp>> {
        row.get::<_, Option<i64>>(column)?.map(timestamp).transpose()
    };
    let count = |column: usize| row.get::<_, i64>(column).map(|count| count.max(0) as usize);
    let (agent, user): (String, String) = (row.get(0)?, row.get(1)?);
    Ok(PendingSession {
        scope: Scope::new(&agent, &user)?,
        session: row.get(2)?,
        turns: count(3)?,
        exchanges: count(4)?,
        last_at: time(5)?.ok_or_else(|| Error::damaged("a session without a time"))?,
        ended_at: time(6)?,
        leased_until: time(7)?,
        failures: row.get(8)?,
        invalid: row.get(9)?,
        retry_at: time(10)?,
        error: row.get(11)?,
        last_run_at: time(12)?,
    })
}

/// Returns the key of a leased session's row: scope and session number.
fn session_key(db: &Connection, lease: &SessionLease) -> Result<Option<(i64, u32)>> {
    let Some(db) = ScopeDb::find(db, &lease.scope)? else { return Ok(None) };
    let session = session_number(db, lease.session.as_deref())?;
    Ok(session.map(|session| (db.id, session)))
}
