//! How far each session was read, in the file: counted with the turns, moved with what is drawn from them.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{failed, quarantine, rows, rows::decode_timestamp};
use crate::{
    error::{Error, Result},
    store::{
        CaptureFailure, ClaimRequest, DocAddress, PendingSession, SessionLease, UnreadTurns,
        capture_queue::{CONTEXT_TURNS, lease_lost, pick_due, starts_exchange},
    },
    types::{CaptureCheckpoint, Memory, Scope, Timestamp},
};

/// Counts a turn that was stored, unless it stands where was read already.
pub(super) fn note_turn_added(
    db: &Connection,
    scope: i64,
    turn: &Memory,
    place: DocAddress,
    now: Timestamp,
) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO captures (scope, session, turns, exchanges, last_at) VALUES (?1, ?2, 1, ?3, ?4) \
         ON CONFLICT DO UPDATE SET turns = turns + 1, exchanges = exchanges + ?3, last_at = ?4, ended_at = NULL \
         WHERE extracted <= ?5",
    )
    .and_then(|mut insert| {
        let at = now.as_millisecond();
        insert.execute(params![scope, place.session(), starts_exchange(turn), at, place.position()])
    })
    .map(drop)
    .map_err(failed)
}

/// Counts a turn that was removed, unless it was read already.
pub(super) fn note_turn_removed(
    db: &Connection,
    scope: i64,
    turn: &Memory,
    place: DocAddress,
) -> Result<()> {
    if turn.kind != crate::types::Kind::Turn {
        return Ok(());
    }
    db.prepare_cached(
        "UPDATE captures SET turns = turns - 1, exchanges = exchanges - ?3 \
         WHERE scope = ?1 AND session = ?2 AND extracted <= ?4",
    )
    .and_then(|mut update| {
        update.execute(params![scope, place.session(), starts_exchange(turn), place.position()])
    })
    .map(drop)
    .map_err(failed)
}

/// Moves on to what is unread now, if the lease is still the one's who read, and keeps what was not remembered.
pub(super) fn commit_extraction(
    db: &Connection,
    scope: i64,
    extracted: &CaptureCheckpoint,
    now: Timestamp,
) -> Result<()> {
    let refused = || lease_lost(extracted.session.as_deref());
    let session = session_number(db, scope, extracted.session.as_deref())?.ok_or_else(refused)?;
    let read = (DocAddress::new(session, extracted.from), DocAddress::new(session, extracted.to));
    let owner = Scope::default();
    let turns = rows::turns(db, &owner, scope, read, (false, usize::MAX))?;
    let exchanges = turns.iter().filter(|turn| starts_exchange(&turn.memory)).count();
    let moved = db
        .prepare_cached(
            "UPDATE captures SET extracted = ?4, turns = turns - ?5, exchanges = exchanges - ?6, owner = NULL, \
             until = NULL, failures = 0, invalid = 0, retry_at = NULL, error = NULL \
             WHERE scope = ?1 AND session = ?2 AND extracted = ?3 AND owner = ?7",
        )
        .and_then(|mut update| {
            update.execute(params![
                scope,
                session,
                extracted.from,
                extracted.to,
                turns.len() as i64,
                exchanges as i64,
                extracted.owner
            ])
        })
        .map_err(failed)?;
    if moved == 0 {
        return Err(refused());
    }
    db.prepare_cached("UPDATE scopes SET extracted_at = ?2 WHERE id = ?1")
        .and_then(|mut update| update.execute(params![scope, now.as_millisecond()]))
        .map_err(failed)?;
    quarantine::put(db, scope, &extracted.quarantined, extracted.limits)
}

/// Leases a session.
pub(super) fn claim(db: &Connection, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
    let waiting = pending_sessions(db, claim.scope.as_ref())?;
    let Some(chosen) = pick_due(&waiting, claim) else { return Ok(None) };
    let PendingSession { scope, session, failures, invalid, .. } = waiting[chosen].clone();
    let until = claim.now.as_millisecond() + claim.lease_duration.as_millis() as i64;
    let claimed = SessionLease { scope, session, owner: claim.owner.clone(), failures, invalid };
    update_session(db, &claimed, "owner = ?3, until = ?4", params![claimed.owner, until])?;
    Ok(Some(claimed))
}

/// Ends a lease, if it still is this one.
pub(super) fn release(
    db: &Connection,
    claimed: &SessionLease,
    failure: Option<&CaptureFailure>,
) -> Result<()> {
    let Some(failure) = failure else {
        let set = "owner = CASE owner WHEN ?3 THEN NULL ELSE owner END, until = CASE owner WHEN ?3 THEN NULL ELSE until END";
        return update_session(db, claimed, set, params![claimed.owner]);
    };
    let Some((scope, session)) = session_key(db, claimed)? else { return Ok(()) };
    db.prepare_cached(
        "UPDATE captures SET owner = NULL, until = NULL, failures = failures + 1, invalid = invalid + ?4, \
         retry_at = ?5, error = ?6 WHERE scope = ?1 AND session = ?2 AND owner = ?3",
    )
    .and_then(|mut update| {
        update.execute(params![
            scope,
            session,
            claimed.owner,
            failure.is_invalid,
            failure.retry_at.as_millisecond(),
            failure.error
        ])
    })
    .map(drop)
    .map_err(failed)
}

/// The turns that were not read, and some before them.
pub(super) fn unread_turns(
    db: &Connection,
    owner: &Scope,
    scope: i64,
    session: Option<&str>,
    limit: usize,
) -> Result<UnreadTurns> {
    let Some(session) = session_number(db, scope, session)? else {
        return Ok(UnreadTurns::default());
    };
    let extracted: Option<u32> = db
        .prepare_cached("SELECT extracted FROM captures WHERE scope = ?1 AND session = ?2")
        .and_then(|mut select| select.query_row((scope, session), |row| row.get(0)).optional())
        .map_err(failed)?;
    let Some(from) = extracted else { return Ok(UnreadTurns::default()) };
    let (start, cursor) = (DocAddress::new(session, 0), DocAddress::new(session, from));
    let end = DocAddress::new(session, u32::MAX);
    let turns = rows::turns(db, owner, scope, (cursor, end), (false, limit))?;
    let before = rows::turns(db, owner, scope, (start, cursor), (true, CONTEXT_TURNS))?;
    let to = turns.last().map_or(from, |turn| turn.address.position() + 1);
    let memories =
        |turns: Vec<rows::MemoryRow>| turns.into_iter().map(|turn| turn.memory).collect();
    Ok(UnreadTurns { context: memories(before), turns: memories(turns), from, to })
}

/// Notes that a session is over.
pub(super) fn mark_ended(
    db: &Connection,
    scope: i64,
    session: &str,
    now: Timestamp,
) -> Result<bool> {
    let Some(session) = session_number(db, scope, Some(session))? else { return Ok(false) };
    db.prepare_cached("UPDATE captures SET ended_at = ?3 WHERE scope = ?1 AND session = ?2")
        .and_then(|mut update| update.execute((scope, session, now.as_millisecond())))
        .map(|noted| noted > 0)
        .map_err(failed)
}

/// Every session with turns that wait, those that wait longest first.
pub(super) fn pending_sessions(
    db: &Connection,
    scope: Option<&Scope>,
) -> Result<Vec<PendingSession>> {
    // From the scope to its sessions or, for all scopes, from the sessions that wait: never through all that there are.
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
    let mut select = db.prepare_cached(&sql).map_err(failed)?;
    let mut rows = match scope {
        Some(scope) => select.query((scope.agent(), scope.user())),
        None => select.query([]),
    }
    .map_err(failed)?;
    let mut waiting = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        waiting.push(read_row(row)?);
    }
    Ok(waiting)
}

fn read_row(row: &Row<'_>) -> Result<PendingSession> {
    let time = |column: usize| -> Result<Option<Timestamp>> {
        row.get::<_, Option<i64>>(column).map_err(failed)?.map(decode_timestamp).transpose()
    };
    let count = |column: usize| row.get::<_, i64>(column).map_err(failed);
    let (agent, user): (String, String) =
        (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
    Ok(PendingSession {
        scope: Scope::new(&agent, &user)?,
        session: row.get(2).map_err(failed)?,
        turns: count(3)? as usize,
        exchanges: count(4)?.max(0) as usize,
        last_at: time(5)?.ok_or_else(|| Error::damaged("a session without a time"))?,
        ended_at: time(6)?,
        leased_until: time(7)?,
        failures: count(8)? as u32,
        invalid: count(9)? as u32,
        retry_at: time(10)?,
        error: row.get(11).map_err(failed)?,
        last_run_at: time(12)?,
    })
}

/// Sets columns of a session; parameters from the third on are the caller's.
fn update_session(
    db: &Connection,
    claimed: &SessionLease,
    set: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<()> {
    let Some((scope, session)) = session_key(db, claimed)? else { return Ok(()) };
    let sql = format!("UPDATE captures SET {set} WHERE scope = ?1 AND session = ?2");
    let mut all: Vec<&dyn rusqlite::ToSql> = vec![&scope, &session];
    all.extend(values);
    db.prepare_cached(&sql)
        .and_then(|mut update| update.execute(&all[..]))
        .map(drop)
        .map_err(failed)
}

fn session_key(db: &Connection, claimed: &SessionLease) -> Result<Option<(i64, u32)>> {
    let Some(scope) = super::scope_number(db, &claimed.scope)? else { return Ok(None) };
    Ok(session_number(db, scope, claimed.session.as_deref())?.map(|session| (scope, session)))
}

/// The number of a session; 0 outside of one.
fn session_number(db: &Connection, scope: i64, session: Option<&str>) -> Result<Option<u32>> {
    let Some(name) = session else { return Ok(Some(0)) };
    db.prepare_cached("SELECT number FROM sessions WHERE scope = ?1 AND name = ?2")
        .and_then(|mut select| select.query_row(params![scope, name], |row| row.get(0)).optional())
        .map_err(failed)
}
