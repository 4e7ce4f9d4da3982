//! The capture queue in RAM.

use async_trait::async_trait;

use super::{RamStore, scope_data::ScopeData};
use crate::{
    error::Result,
    store::{
        CaptureFailure, CaptureQueue, ClaimRequest, DocAddress, PendingSession, SessionLease,
        UnreadTurns,
        capture_queue::{CONTEXT_TURNS, lease_lost, starts_exchange},
    },
    types::{
        CaptureCheckpoint, Kind, Memory, MemoryId, QuarantineLimits, QuarantinedDraft, Scope,
        Timestamp,
    },
};

/// Capture progress of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct CaptureProgress {
    next_position: u32,
    last_at: Timestamp,
    ended_at: Option<Timestamp>,
    lease: Option<(String, Timestamp)>,
    failures: u32,
    invalid: u32,
    retry_at: Option<Timestamp>,
    error: Option<String>,
}

impl ScopeData {
    /// Counts a stored turn.
    pub(super) fn note_turn_added(&mut self, address: DocAddress, now: Timestamp) {
        let capture = self.captures.entry(address.session()).or_default();
        if capture.next_position <= address.position() {
            (capture.last_at, capture.ended_at) = (now, None);
        }
    }

    /// Moves the checkpoint past the turns that were read, if the reader still holds the lease.
    pub(super) fn commit_extraction(
        &mut self,
        extracted: &CaptureCheckpoint,
        now: Timestamp,
    ) -> Result<()> {
        let refused = || lease_lost(extracted.session.as_deref());
        let session = self.session_number(extracted.session.as_deref()).ok_or_else(refused)?;
        let capture = self.captures.get_mut(&session).ok_or_else(refused)?;
        let is_owner = capture.lease.as_ref().is_some_and(|(owner, _)| *owner == extracted.owner);
        if !is_owner || capture.next_position != extracted.from {
            return Err(refused());
        }
        *capture = CaptureProgress {
            next_position: extracted.to,
            last_at: capture.last_at,
            ended_at: capture.ended_at,
            ..CaptureProgress::default()
        };
        self.extracted_at = Some(now);
        self.quarantine(&extracted.quarantined, extracted.limits);
        Ok(())
    }

    fn quarantine(&mut self, drafts: &[QuarantinedDraft], limits: QuarantineLimits) {
        for draft in drafts {
            let text = draft.memory.fingerprint();
            self.quarantined.retain(|other| other.memory.fingerprint() != text);
            self.quarantined.push(draft.clone());
        }
        self.quarantined.retain(|draft| draft.at >= limits.keep_since);
        self.quarantined
            .sort_by_key(|draft| std::cmp::Reverse((draft.verdict, draft.at, draft.id())));
        self.quarantined.truncate(limits.max_drafts);
    }

    fn session_number(&self, session: Option<&str>) -> Option<u32> {
        session.map_or(Some(0), |name| self.sessions.get(name).copied())
    }

    fn leased_capture(&mut self, lease: &SessionLease) -> Option<&mut CaptureProgress> {
        let session = self.session_number(lease.session.as_deref())?;
        let capture = self.captures.get_mut(&session)?;
        let is_owner = capture.lease.as_ref().is_some_and(|(owner, _)| *owner == lease.owner);
        is_owner.then_some(capture)
    }

    fn turns_from(&self, session: u32, from: u32) -> impl Iterator<Item = (&DocAddress, &Memory)> {
        let range = DocAddress::new(session, from)..DocAddress::new(session, u32::MAX);
        self.rows.range(range).filter(|(_, memory)| memory.kind == Kind::Turn)
    }

    fn pending_sessions(&self, scope: &Scope) -> Vec<(u32, PendingSession)> {
        let pending = |(session, capture): (&u32, &CaptureProgress)| {
            let turns: Vec<_> = self.turns_from(*session, capture.next_position).collect();
            let begins = turns.iter().filter(|(_, turn)| starts_exchange(turn)).count();
            let name = self.sessions.iter().find(|(_, number)| *number == session);
            let pending = PendingSession {
                scope: scope.clone(),
                session: name.map(|(name, _)| name.clone()),
                turns: turns.len(),
                exchanges: begins,
                last_at: capture.last_at,
                ended_at: capture.ended_at,
                leased_until: capture.lease.as_ref().map(|(_, until)| *until),
                failures: capture.failures,
                invalid: capture.invalid,
                retry_at: capture.retry_at,
                error: capture.error.clone(),
                last_run_at: self.extracted_at,
            };
            (pending.turns > 0).then_some((*session, pending))
        };
        self.captures.iter().filter_map(pending).collect()
    }
}

#[async_trait]
impl CaptureQueue for RamStore {
    async fn claim(&self, claim: &ClaimRequest) -> Result<Option<SessionLease>> {
        let mut scopes = self.lock_scopes();
        let pending = all_pending(scopes.iter(), claim.scope.as_ref());
        let Some(chosen) = claim.pick_due(&pending) else { return Ok(None) };
        let PendingSession { scope, session, failures, invalid, .. } = pending[chosen].clone();
        let Some(data) = scopes.get_mut(&scope) else { return Ok(None) };
        let number = data.session_number(session.as_deref()).unwrap_or_default();
        let until = claim.now + claim.lease_duration;
        data.captures.entry(number).or_default().lease = Some((claim.owner.clone(), until));
        Ok(Some(SessionLease { scope, session, owner: claim.owner.clone(), failures, invalid }))
    }

    async fn release(&self, lease: &SessionLease, failure: Option<&CaptureFailure>) -> Result<()> {
        let mut scopes = self.lock_scopes();
        let data = scopes.get_mut(&lease.scope);
        let Some(capture) = data.and_then(|data| data.leased_capture(lease)) else {
            return Ok(());
        };
        capture.lease = None;
        if let Some(failure) = failure {
            capture.failures += 1;
            capture.invalid += u32::from(failure.is_invalid);
            capture.retry_at = Some(failure.retry_at);
            capture.error = Some(failure.error.clone());
        }
        Ok(())
    }

    async fn unread_turns(
        &self,
        scope: &Scope,
        session: Option<&str>,
        limit: usize,
    ) -> Result<UnreadTurns> {
        let unread = |data: &ScopeData| {
            let session = data.session_number(session)?;
            let from = data.captures.get(&session)?.next_position;
            let turns: Vec<_> = data.turns_from(session, from).take(limit).collect();
            let to = turns.last().map_or(from, |(address, _)| address.position() + 1);
            let mut context: Vec<Memory> = data
                .turns_from(session, 0)
                .filter(|(address, _)| address.position() < from)
                .map(|(_, turn)| turn.clone())
                .collect();
            context.drain(..context.len().saturating_sub(CONTEXT_TURNS));
            let turns = turns.into_iter().map(|(_, turn)| turn.clone()).collect();
            Some(UnreadTurns { context, turns, from, to })
        };
        Ok(self.read(scope, unread).unwrap_or_default())
    }

    async fn mark_ended(&self, scope: &Scope, session: &str, now: Timestamp) -> Result<bool> {
        let mut scopes = self.lock_scopes();
        let Some(data) = scopes.get_mut(scope) else { return Ok(false) };
        let number = data.session_number(Some(session));
        let capture = number.and_then(|number| data.captures.get_mut(&number));
        Ok(capture.map(|capture| capture.ended_at = Some(now)).is_some())
    }

    async fn pending(&self, scope: Option<&Scope>) -> Result<Vec<PendingSession>> {
        Ok(all_pending(self.lock_scopes().iter(), scope))
    }

    async fn quarantined(&self, scope: &Scope) -> Result<Vec<QuarantinedDraft>> {
        let mut drafts = self.read(scope, |data| data.quarantined.clone());
        drafts.sort_by_key(|draft| std::cmp::Reverse((draft.at, draft.id())));
        Ok(drafts)
    }

    async fn drop_quarantined(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize> {
        let mut scopes = self.lock_scopes();
        let Some(data) = scopes.get_mut(scope) else { return Ok(0) };
        let before = data.quarantined.len();
        data.quarantined.retain(|draft| !ids.contains(&draft.id()));
        Ok(before - data.quarantined.len())
    }

    async fn put_back(&self, scope: &Scope, draft: &QuarantinedDraft) -> Result<()> {
        let mut scopes = self.lock_scopes();
        let data = scopes.entry(scope.clone()).or_default();
        data.quarantine(std::slice::from_ref(draft), QuarantineLimits::NONE);
        Ok(())
    }
}

fn all_pending<'a>(
    scopes: impl Iterator<Item = (&'a Scope, &'a ScopeData)>,
    scope: Option<&Scope>,
) -> Vec<PendingSession> {
    let mut pending: Vec<_> = scopes
        .filter(|(owner, _)| scope.is_none_or(|scope| scope == *owner))
        .flat_map(|(owner, data)| data.pending_sessions(owner))
        .collect();
    pending.sort_by_key(|(number, it)| (it.last_at, *number));
    pending.into_iter().map(|(_, pending)| pending).collect()
}
